# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint targets instead of torque: they weigh the load that torque would, and it is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.streams import STEP, both, feed, imu, joint

from prime_estimation.alignment.held_targets import target_torque
from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import MessageReader
from prime_estimation.io.sensor_messages import imu as imu_message
from prime_estimation.io.sensor_messages import joint_state
from prime_estimation.io.to_messages import header
from prime_estimation.io.typestore import typestore
from prime_estimation.io.unitree import FAMILIES
from prime_estimation.io.unitree_commands import LowCmdWriter, commanded
from prime_estimation.recordings.pipeline import Pipeline
from prime_estimation.recordings.replay import replay
from prime_estimation.robot import Robot
from prime_estimation.sensors.joint_targets import NAME, TargetSample
from prime_estimation.sensors.joints import Torque
from prime_estimation.sensors.sensor import Wearer
from prime_estimation.types import ImuSample, JointSample

MS = 1_000_000
FIELDS = ("position", "velocity", "effort", "stiffness", "damping")


def make(name: str) -> type:
    return typestore().types[name]


# --- torque of targets ----------------------------------------------------------------------------


def test_targets_hold_until_the_next_ones():
    """One joint at q = 1, dq = 2; kp 10, kd 3, feed-forward 5; the target jumps from 2 to 4."""
    stamps = np.array([0, 2, 4, 6]) * MS
    targets = np.array([[2.0, 0.0, 5.0, 10.0, 3.0], [4.0, 0.0, 5.0, 10.0, 3.0]])
    torque, gains = target_torque(
        stamps, np.ones((4, 1)), np.full((4, 1), 2.0), np.array([-1, 3]) * MS, targets
    )
    assert torque[:, 0].tolist() == [9.0, 9.0, 29.0, 29.0]
    np.testing.assert_array_equal(gains, np.full((4, 2, 1), [[10.0], [3.0]]))


def test_rates_that_are_not_measured_are_differences_of_positions():
    stamps = np.array([0, 2, 4]) * MS
    position = np.array([[0.0], [0.01], [0.02]])  # 5 rad/s
    targets = np.array([[0.0, 0.0, 0.0, 0.0, 2.0]])
    args = (stamps, position, np.full((3, 1), np.nan), np.array([0]), targets)
    np.testing.assert_allclose(target_torque(*args)[0], -10.0)


def test_nothing_is_made_of_targets_that_are_not_in_force_yet():
    stamps, zeros = np.array([0, 2]) * MS, np.zeros((2, 1))
    assert target_torque(stamps, zeros, zeros, np.array([1 * MS]), np.zeros((1, 5))) is None


@pytest.fixture
def aligned():
    """Nodes of joints that stand at 0 beside targets at times [ms], with position 2 and kp 10."""

    def nodes(times, effort=None, until=200):
        start = joint(0.0).stamp_ns
        ones, zeros = np.ones(3), np.zeros(3)
        told = [
            TargetSample(start + t * MS, 2 * ones, zeros, zeros, 10 * ones, zeros) for t in times
        ]
        still = dict(position=zeros, velocity=zeros, effort=effort)
        readings = [s for t in range(0, until, 2) for s in (joint(t, **still), imu(t))]
        wearer = Wearer(("a", "b", "c"), (), 0.01)
        sync = Synchronizer(STEP, 3, sensors=(NAME,), wearer=wearer)
        samples = sorted([*told, *readings], key=lambda s: s.stamp_ns)
        return {round((m.stamp_ns - start) / MS): m for m in feed(sync, samples)}

    return nodes


def test_torque_of_nodes(aligned):
    nodes = aligned([5, 105])
    assert nodes[20].torque is None  # no target was in force at its beginning
    for t in (40, 90, 150):
        np.testing.assert_allclose(nodes[t].torque, 20.0)
        np.testing.assert_allclose(nodes[t].readings[NAME].stiffness, 10.0)


def test_targets_that_stop_are_given_up(aligned):
    nodes = aligned([0])
    assert nodes[90].torque is not None and nodes[150].torque is None


def test_measured_torque_comes_first(aligned):
    nodes = aligned([0, 50, 100, 150], effort=np.full(3, 7.0))
    assert all(NAME not in m.readings for m in nodes.values())
    np.testing.assert_allclose(nodes[100].torque, 7.0)


def test_it_is_known_less_well_than_a_measured_one(aligned):
    noise, m = Config().noise, aligned([0, 50, 100, 150])[100]
    made, measured = Torque.stddev(m, noise), Torque.stddev(replace(m, readings={}), noise)
    assert (made > 2.0 * measured).all() and (made > noise.joint_targets).all()
    assert Torque().remark(m) == "made of joint targets, not measured"
    assert not Torque().remark(replace(m, readings={}, torque_commanded=False))


def test_nobody_asked_for_targets():
    sync = Synchronizer(STEP, 3)
    samples = both(range(0, 40, 2))
    five = (np.zeros(3),) * 5
    assert feed(sync, [TargetSample(samples[0].stamp_ns, *five), *samples])


# --- messages -------------------------------------------------------------------------------------


def motor_commands(sample: TargetSample, names, make=make):
    arrays = {name: getattr(sample, name) for name in FIELDS}
    return make("prime_estimation_msgs/msg/MotorCommands")(
        header=header(make, sample.stamp_ns, ""), name=list(names), **arrays
    )


def test_message_by_name_of_joint():
    reader = MessageReader(["a", "b"])
    sample = TargetSample(7, *(np.array([k, k + 0.5, 9.0]) for k in range(5)))
    read = reader.sample(NAME, motor_commands(sample, ["b", "a", "c"]))
    assert read.stamp_ns == 7
    for k, name in enumerate(FIELDS):
        assert getattr(read, name).tolist() == [k + 0.5, k]
    assert reader.sample(NAME, motor_commands(sample, ["b", "x", "c"])) is None
    assert reader.reason == "no target of a"


@pytest.mark.parametrize("family, count", [("unitree_go", 12), ("unitree_hg", 29)])
def test_lowcmd(family, count):
    """What a LowCmd was made of comes out; motors that are not named give no torque."""
    names, rng = FAMILIES[family].joints, np.random.default_rng(1)
    values = [rng.normal(size=count - 1) for _ in FIELDS]
    message = LowCmdWriter(FAMILIES[family], make).write(names[1:], *values)
    read = commanded(message)
    for name, value in zip(FIELDS, values):
        np.testing.assert_allclose(getattr(read, name)[1:], value)
        assert getattr(read, name)[0] == 0.0
    sample = MessageReader(list(names)).sample(NAME, message, arrival_ns=123)
    assert sample.stamp_ns == 123 and sample.stiffness[3] == values[3][2]


def test_lowcmd_in_motor_coordinates_is_refused():
    message = LowCmdWriter(FAMILIES["unitree_hg"], make).write([], *([],) * 5)
    message.mode_pr = 1
    reader = MessageReader(["left_knee_joint"])
    assert reader.sample(NAME, message, 5) is None and "motor coordinates" in reader.reason


# --- a robot that follows targets -----------------------------------------------------------------


@pytest.fixture(scope="module")
def run():
    pytest.importorskip("mujoco")
    from helpers.target_runs import squats

    return squats(seconds=3.0)


def without_effort(sample):
    return replace(sample, effort=None) if isinstance(sample, JointSample) else sample


def estimates(run, sensors) -> list:
    config = Config.load("go2")
    pipeline = Pipeline(Robot(config.robot), config, False, sensors)
    return [e for s in run.samples for e in pipeline.push(without_effort(s))]


@pytest.mark.slow
def test_load_is_weighed_without_torque(run):
    last = estimates(run, (NAME,))[-1]
    health = {s.name: s for s in last.status.sensors}
    assert health["torque"].ok
    assert health["torque"].message == "made of joint targets, not measured"
    assert last.bodies[0].observable and last.total_mass_stddev < 1.2
    assert abs(last.total_mass - run.mass) < min(0.4, 2.0 * last.total_mass_stddev)
    without = estimates(run, ())[-1]
    assert not without.bodies[0].observable


@pytest.mark.parametrize("raw", [False, True])
def test_replay_of_a_bag(run, tmp_path, raw):
    """Targets of MotorCommands, or of the LowCmd that the robot was sent."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    with BagWriter(tmp_path / "run.mcap") as writer:
        for sample in run.samples:
            arrival = sample.stamp_ns + 2 * MS
            writer.write(*message_of(sample, arrival, robot, writer.message_class, raw))
    heard = []
    summary = replay(
        tmp_path / "run.mcap", robot, config, tmp_path / "out.mcap", observer=heard.append
    )
    assert summary.topics[NAME] == ("/lowcmd" if raw else "/joint_targets")
    assert abs(heard[-1].total_mass - run.mass) < 0.5
    with BagReader(tmp_path / "out.mcap") as bag:
        *_, (_, _, status) = bag.messages(["/prime/status"])
    assert [s.message for s in status.sensors if s.name == "torque"] == [
        "made of joint targets, not measured"
    ]


def message_of(sample, arrival_ns: int, robot: Robot, make, raw: bool) -> tuple:
    """Topic, arrival and message of a sample."""
    stamp = sample.stamp_ns
    if isinstance(sample, JointSample):
        fields = dict(position=sample.position, velocity=sample.velocity)
        return "/joint_states", arrival_ns, joint_state(make, stamp, robot.joint_names, **fields)
    if isinstance(sample, ImuSample):
        readings = sample.angular_velocity, sample.linear_acceleration
        return "/imu", arrival_ns, imu_message(make, stamp, "imu", *readings)
    if raw:
        arrays = [getattr(sample, name) for name in FIELDS]
        return (
            "/lowcmd",
            stamp,
            LowCmdWriter(FAMILIES["unitree_go"], make).write(robot.joint_names, *arrays),
        )
    return "/joint_targets", arrival_ns, motor_commands(sample, robot.joint_names, make)
