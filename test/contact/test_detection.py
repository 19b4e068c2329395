# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact flags: against the truth of recorded runs, on motions with a known answer, and with
sensors that say nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from helpers.choreography import POSTURES, perform, standing_pose
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.contact.detection import ContactFlags, LoadHysteresis
from prime_estimation.errors import ConfigError, RobotError
from prime_estimation.io.bag import BagReader
from prime_estimation.robot import Robot

SECONDS = 6.0  # of each recorded run
RUNS = {  # F1 of the flags, with the torques and without
    "go2_nominal": (0.98, 0.88),
    "go2_trot2_nominal": (0.975, 0.88),
    "go2_hop_payload3": (0.98, 0.9),
    "go2_ideal": (0.97, 0.88),
    "go2_payload3_hard": (0.98, 0.88),
    "go1_nominal": (0.98, 0.88),
    "go1_top72": (0.98, 0.93),
    "g1_walk_nominal": (0.98, 0.94),
    "g1_walk_payload29": (0.98, 0.94),
    "g1_dance102_nominal": (0.98, 0.96),
}


@pytest.mark.parametrize("run", RUNS)
def test_flags_of_recorded_runs(run, recorded_runs):
    config = Config.load(run.split("_")[0])
    robot = Robot(config.robot)
    nodes = measurements(recorded_runs / run, robot, config, SECONDS, mocap=False)
    stamps = np.array([m.stamp_ns for m in nodes]) - 10_000_000  # flags are about the node before
    force = np.stack([true_force(recorded_runs / run, foot, stamps) for foot in robot.feet], axis=1)
    truth = force[50:] > 0.05 * 9.81 * robot.total_mass
    for wanted, seen in zip(RUNS[run], (nodes, [replace(m, torque=None) for m in nodes])):
        flags = ContactFlags(robot)
        found = np.array([flags.update(m) for m in seen])[50:]
        agree, differ = np.sum(found & truth, axis=0), np.sum(found ^ truth, axis=0)
        assert np.mean(2 * agree / (2 * agree + differ)) > wanted


def true_force(bag: Path, foot: str, stamps: np.ndarray) -> np.ndarray:
    """Normal force at `stamps`, mean with triangular weight over +-10 ms."""
    with BagReader(bag) as reader:
        found = [(m.header.stamp.sec * 10**9 + m.header.stamp.nanosec, m.wrench.force.z)
                 for _, _, m in reader.messages([f"/ground_truth/contacts/{foot}"])]  # fmt: skip
    t, force = np.array(found).T
    offsets = np.linspace(-9e6, 9e6, 19)
    weights = 1.0 - np.abs(offsets) / 1e7
    return (
        sum(w * np.interp(stamps + o, t, force) for o, w in zip(offsets, weights)) / weights.sum()
    )


@cache
def standing(name: str, imu: str | None = None) -> tuple[Config, Robot, np.ndarray]:
    config = Config.load(name)
    config = config.updated({"robot": {"imu_frame": imu}}) if imu else config
    robot = Robot(config.robot)
    return config, robot, standing_pose(robot, POSTURES[name])


def shaken(robot: Robot, q: np.ndarray):
    """All joints and the base move about: feet need not rest for the forces to be known."""
    rng = np.random.default_rng(3)
    size = np.concatenate(
        [np.full(3, 0.02), np.full(3, 0.1), np.full(robot.nj, 0.05)]
    ) * rng.choice([-1.0, 1.0], robot.model.nv)
    return lambda t: pin.integrate(
        robot.model, q, size * np.sin(8.0 * t + np.arange(robot.model.nv))
    )


@pytest.mark.parametrize("name, imu", [("go2", None), ("g1", None), ("g1", "imu_in_torso")])
def test_forces_of_a_moving_robot_are_those_that_accelerate_it(name, imu):
    config, robot, q = standing(name, imu)
    config = config.updated(
        {
            "noise": {
                k: 1e-4
                for k in ("encoder", "joint_velocity", "joint_torque", "gyro", "accelerometer")
            }
        }
    )
    path, data, h = shaken(robot, q), robot.model.createData(), 1e-3
    flags, totals, expected = ContactFlags(robot), [], []
    for k, m in enumerate(perform(config, path, lambda t: 1.0, 1.0)):
        flags.update(m)
        before, now, after = (
            pin.centerOfMass(robot.model, data, path(0.01 * (k - 1) + d))[2].copy()
            for d in (-h, 0.0, h)
        )
        totals.append(flags.normal_force.sum())
        expected.append(robot.total_mass * (9.81 + (after - 2.0 * now + before) / h**2))
    totals, expected = np.array(totals)[20:], np.array(expected)[20:]
    assert np.std(expected) > 0.05 * 9.81 * robot.total_mass
    assert np.sqrt(np.mean((totals - expected) ** 2)) < 0.01 * 9.81 * robot.total_mass


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_all_feet_up(name):
    """A robot that is lifted: torques tell, and in free fall the IMU does without them."""
    config, robot, q = standing(name)
    nodes = perform(config, lambda t: q, lambda t: float(t < 0.5), 1.0)
    flags = ContactFlags(robot)
    found = np.array([flags.update(m) for m in nodes])
    assert found[:50].all() and not found[55:].any()

    def falling(t):
        return np.concatenate([q[:2], [q[2] - 0.5 * 9.81 * max(0.0, t - 0.5) ** 2], q[3:]])

    flags = ContactFlags(robot)
    nodes = perform(config, falling, lambda t: float(t < 0.5), 0.7)
    found = np.array([flags.update(replace(m, torque=None)) for m in nodes])
    assert found[:50].all() and not found[55:].any()


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_sensors_that_say_nothing(name):
    config, robot, q = standing(name)
    nodes = perform(config, lambda t: q, lambda t: 1.0, 1.0)
    flags, feet = ContactFlags(robot), len(robot.feet)
    for k, m in enumerate(nodes):
        if 20 <= k < 40:
            field = ("position", "velocity", "gyro", "accelerometer")[k // 2 % 4]
            m = replace(m, **{field: None if k % 2 else np.full_like(getattr(m, field), np.nan)})
        if 50 <= k < 60:
            torque = m.torque.copy()
            torque[0] = np.nan  # one joint of the first leg
            m = replace(m, torque=torque)
        if 70 <= k < 80:
            m = replace(m, torque=None)
        assert flags.update(m).tolist() == [True] * feet
        known = np.isfinite(flags.normal_force)
        if 50 <= k < 60:
            assert known.sum() == feet - 1
        if 70 <= k < 80:
            assert not known.any()
    held = flags.flags
    late = replace(nodes[-1], stamp_ns=nodes[-1].stamp_ns + 10**9)
    np.testing.assert_array_equal(flags.update(late), held)  # a gap: nothing to compare with
    flags.reset()
    assert flags.flags.all()


def test_flags_without_joint_rates(recorded_runs):
    """Rates by positions tell which feet are in the air; all would be thought to stand."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    nodes = measurements(recorded_runs / "go2_trot2_nominal", robot, config, 4.0)
    with_rates, without = ContactFlags(robot), ContactFlags(robot)
    found = np.array([with_rates.update(m) for m in nodes])
    told = [replace(m, velocity=None, position_carried=None) for m in nodes]
    alone = np.array([without.update(m) for m in told])
    assert found[50:].mean() < 0.8 and (found == alone)[50:].mean() > 0.85


def load_of(velocity, height, loaded, torque=None) -> np.ndarray:
    """Evidence of the feet as a share of the force that it takes to touch down."""
    _, robot, _ = standing("go2")
    flags = ContactFlags(robot)
    flags.height, flags._hysteresis.loaded = np.array(height), np.array(loaded, bool)
    if torque is not None:
        flags.normal_force = torque * flags._trigger[0] * np.ones(4)
    return flags._load(np.array(velocity), False) / flags._trigger[0]


def test_feet_that_are_low_and_slow_stand_where_no_torque_tells():
    """Those that are higher or faster by half move; between the two nothing is told."""
    low, slow = ContactFlags.LOW, ContactFlags.SLOW
    height = [0.9 * low, 1.2 * low, 1.6 * low, 0.0]
    still = load_of(np.zeros((4, 3)), height, np.zeros(4))
    off, on = 0.5, 1.0  # of the thresholds
    np.testing.assert_allclose(still, [2.0, 0.5 * (off + on), 0.0, 2.0])
    along = np.outer(slow * np.array([0.9, 1.2, 1.6, 0.0]), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(load_of(along, np.zeros(4), np.zeros(4)), still)
    falls = ContactFlags(standing("go2")[1])
    assert not falls._load(np.zeros((4, 3)), True).any()


def test_a_rising_foot_does_not_touch_down_but_one_that_stands_stays():
    up = np.outer([0.9, 1.1, 0.9, 1.1], [0.0, 0.0, ContactFlags.RISING])
    load = load_of(up, np.zeros(4), [False, False, True, True], torque=3.0)
    np.testing.assert_allclose(load, [3.0, 0.75, 3.0, 3.0])


def test_the_base_velocity_is_that_of_feet_that_stood_before(monkeypatch):
    """One that lands now has moved through the step."""
    config, robot, q = standing("go2")
    flags, seen = ContactFlags(robot), []
    monkeypatch.setattr(flags._odometry, "correct", lambda feet, dt: seen.append(len(feet)))
    flags._hysteresis.loaded[0] = flags._stood[0] = False
    nodes = perform(config, lambda t: q, lambda t: 1.0, 0.1)
    for m in nodes[:5]:
        flags.update(m)
    assert seen[:3] == [3, 4, 4]


def test_a_gap_is_no_step():
    """Rates on both sides of it are no acceleration."""
    config, robot, q = standing("go2")
    nodes = perform(config, lambda t: q, lambda t: 1.0, 0.1)
    flags = ContactFlags(robot)
    flags.update(nodes[3])
    before = flags.normal_force.copy()
    gap = ContactFlags.SILENCE_NS + 1
    flags.update(replace(nodes[4], stamp_ns=nodes[3].stamp_ns + gap))
    np.testing.assert_array_equal(flags.normal_force, before)
    flags.update(replace(nodes[5], stamp_ns=nodes[3].stamp_ns + gap + 10_000_000))
    assert np.isfinite(flags.normal_force).all()


def test_hysteresis():
    stance = LoadHysteresis(1, 10.0, 5.0, 2)
    signal = [0.0, 9.0, 11.0, 6.0, 4.0, 6.0, 4.0, 4.0, 9.0, 12.0, np.inf, 0.0, 0.0]
    loaded = []
    for force in signal:
        stance.update(np.array([force]))
        loaded.append(bool(stance.loaded[0]))
    assert loaded == [
        False,
        False,
        True,
        True,
        True,
        True,
        True,
        False,
        False,
        True,
        True,
        True,
        False,
    ]


def test_what_cannot_have_flags_is_refused():
    config = Config.load("go2")
    with pytest.raises(RobotError, match="an IMU"):
        ContactFlags(Robot(config.updated({"robot": {"imu_frame": ""}}).robot))
    with pytest.raises(ConfigError, match="off <= on"):
        ContactFlags(Robot(config.robot), on=0.02, off=0.04)


def test_an_imu_that_says_zeros_at_first_spoils_nothing():
    """A driver without readings yet: the vertical is that of the first force that is felt."""
    config, robot, pose = standing("go2")
    flags = ContactFlags(robot)
    nothing = dict(velocity=np.zeros(robot.nj), gyro=np.zeros(3), accelerometer=np.zeros(3))
    for k, m in enumerate(perform(config, lambda t: pose, lambda t: 1.0, 0.4)):
        found = flags.update(replace(m, **nothing) if k < 10 else m)
        assert found.all()
    assert np.isfinite(flags.height).all() and flags.height.max() < 0.01
