# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Faults of streams in a walk: found, counted, said, and without much effect on the estimate."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import truth
from helpers.spoiling import shifted, trot, write

from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.recordings.pipeline import Intake, Pipeline
from prime_estimation.recordings.replay import replay
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import choose_topics
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """Messages of a trot of 2.4 s."""
    return trot(tmp_path_factory.mktemp("trot"))[1]


@pytest.fixture(scope="module")
def go2():
    config = Config.load("go2")
    return Robot(config.robot), config


def play(path, robot, config, mocap=True, predicted=None):
    """Estimates and pipeline of a bag; those carried to IMU samples are appended to `predicted`."""
    pipeline, estimates = Pipeline(robot, config, mocap), []
    with BagReader(path) as bag:
        used = choose_topics(bag, robot, mocap)
        for _, sample in sensor_samples(bag, used, pipeline.intake.reader):
            estimates += pipeline.push(sample)
            if predicted is not None and isinstance(sample, ImuSample):
                predicted.append(pipeline.estimator.predict(sample))
    return estimates, pipeline


def said(estimate, name):
    return next(s for s in estimate.status.sensors if s.name == name)


def moved(message, by):
    """A pose that lies elsewhere [m]."""
    place = message.pose.position
    there = dataclasses.replace(place, x=place.x + by)
    return dataclasses.replace(message, pose=dataclasses.replace(message.pose, position=there))


@pytest.mark.parametrize("late", [0.0, 0.005, -0.005, 0.012])
def test_how_late_the_stamps_of_the_imu_are(late, walk, go2, tmp_path):
    path = write(
        tmp_path / "late.mcap",
        walk,
        lambda topic, _, m: shifted(m, late) if topic == "/imu" else m,
    )
    robot, config = go2
    intake = Intake(robot, config.estimator.step, False, imu_clock=True)
    nodes = []
    with BagReader(path) as bag:
        for _, sample in sensor_samples(bag, choose_topics(bag, robot, False), intake.reader):
            nodes += intake.take(sample)
    assert intake.reader.imu_late_ns == pytest.approx(1e9 * late, rel=0.15, abs=0.8e6)
    assert intake.counts["imu_clock"] == (late != 0.0) and intake.dropped == 0
    steps = np.diff([node.measurement.stamp_ns for node in nodes])
    assert (steps == 10_000_000).all() and not any(node.apart for node in nodes)
    assert all(node.measurement.gyro is not None for node in nodes)


def test_it_is_said_and_can_be_switched_off(walk, go2, tmp_path):
    path = write(
        tmp_path / "late.mcap",
        walk,
        lambda topic, _, m: shifted(m, 0.005) if topic == "/imu" else m,
    )
    robot, config = go2
    estimates, _ = play(path, robot, config, mocap=False)
    imu = said(estimates[-1], "imu")
    assert imu.ok and "ms late against the joints: corrected" in imu.message
    off = dataclasses.replace(config.estimator, adapt_imu_clock=False)
    estimates, pipeline = play(path, robot, dataclasses.replace(config, estimator=off), mocap=False)
    assert not said(estimates[-1], "imu").message and not pipeline.counts["imu_clock"]


def test_outliers_of_motion_capture_are_refused_and_counted(walk, go2, tmp_path):
    spoiled = []

    def spoil(topic, seconds, m):
        if topic == "/mocap/pose" and any(0.0 <= seconds - t < 0.0085 for t in (1.31, 1.62, 2.1)):
            spoiled.append(seconds)
            return moved(m, 0.2)
        return m

    robot, config = go2
    clean, _ = play(write(tmp_path / "clean.mcap", walk, lambda *a: a[2]), robot, config)
    spoilt, pipeline = play(write(tmp_path / "outliers.mcap", walk, spoil), robot, config)
    assert pipeline.counts == {"mocap_outlier": len(spoiled)} and len(spoiled) >= 3
    assert spoilt[-1].status.dropped_samples == len(spoiled)
    assert (
        f"outliers refused: {len(spoiled)}, the last 0.20 m apart"
        in said(spoilt[-1], "mocap").message
    )
    apart = [a.position_world - b.position_world for a, b in zip(clean, spoilt)]
    assert np.abs(apart).max() < 0.003
    assert not any(said(e, "mocap").message for e in clean)


MOVED = pin.SE3(pin.exp3(np.array([0.0, 0.0, 1.2])), np.array([0.3, -0.1, 0.04]))


def of_another_world(message):
    """A pose in a world whose origin was moved and turned."""
    place, turn = message.pose.position, message.pose.orientation
    old = np.array([getattr(place, i) for i in "xyz"] + [getattr(turn, i) for i in "xyzw"])
    new = pin.SE3ToXYZQUAT(MOVED * pin.XYZQUATToSE3(old)).tolist()
    pose = dataclasses.replace(
        message.pose,
        position=dataclasses.replace(place, **dict(zip("xyz", new[:3]))),
        orientation=dataclasses.replace(turn, **dict(zip("xyzw", new[3:]))),
    )
    return dataclasses.replace(message, pose=pose)


def test_motion_capture_whose_origin_is_moved_is_followed(walk, go2, tmp_path):
    """The estimate goes with the world: taken for a motion, it was 0.6 m/s and turned the base."""
    path = write(
        tmp_path / "moved.mcap",
        walk,
        lambda topic, t, m: of_another_world(m) if topic == "/mocap/pose" and t > 1.4 else m,
    )
    robot, config = go2
    clean, _ = play(write(tmp_path / "clean.mcap", walk, lambda *a: a[2]), robot, config)
    estimates, pipeline = play(path, robot, config)
    assert pipeline.counts["mocap_outlier"] == 10
    assert "jumps followed: 1" in said(estimates[-1], "mocap").message
    apart = [a.linear_velocity_base - b.linear_velocity_base for a, b in zip(clean, estimates)]
    assert np.abs(apart).max() < 0.02
    expected, pose = (pin.XYZQUATToSE3(np.r_[e.position_world, e.quat_world_base])
                      for e in (clean[-1], estimates[-1]))  # fmt: skip
    error = pin.log6((MOVED * expected).actInv(pose)).vector
    stddev = np.sqrt(np.diag(estimates[-1].pose_covariance))
    assert (np.abs(error) < 3.0 * stddev).all() and np.abs(error).max() < 0.005
    assert estimates[-1].total_mass == pytest.approx(clean[-1].total_mass, abs=0.03)


@pytest.mark.parametrize("noise", [0.0, 0.0005])
def test_poses_that_a_tracker_holds_are_refused(noise, walk, go2, tmp_path):
    """Ten of them agree with each other: the estimate went to where the robot was."""
    last, rng = {}, np.random.default_rng(1)

    def spoil(topic, seconds, m):
        if topic == "/mocap/pose" and 1.4 < seconds < 1.9:
            return moved(dataclasses.replace(m, pose=last["pose"]), noise * rng.standard_normal())
        last.update({"pose": m.pose} if topic == "/mocap/pose" else {})
        return m

    robot, config = go2
    clean, _ = play(write(tmp_path / "clean.mcap", walk, lambda *a: a[2]), robot, config)
    spoilt, pipeline = play(write(tmp_path / "held.mcap", walk, spoil), robot, config)
    assert pipeline.counts["mocap_outlier"] >= 46
    assert "poses held, or late, while the robot moved" in said(spoilt[-1], "mocap").message
    apart = [a.linear_velocity_base - b.linear_velocity_base for a, b in zip(clean, spoilt)]
    assert np.abs(apart).max() < 0.02


def test_a_place_that_motion_capture_does_not_tell_for_a_while(walk, go2, tmp_path):
    """Its deviation grows with the way, and is there no more once poses come again."""
    silent = 1.2, 2.1

    def spoil(topic, seconds, m):
        return None if topic == "/mocap/pose" and silent[0] < seconds < silent[1] else m

    robot, config = go2
    clean, _ = play(write(tmp_path / "clean.mcap", walk, lambda *a: a[2]), robot, config)
    spoilt, _ = play(write(tmp_path / "silent.mcap", walk, spoil), robot, config)
    apart = [np.abs(a.position_world - b.position_world) for a, b in zip(clean, spoilt)]
    stddev = [np.sqrt(np.diag(e.pose_covariance)[:3]) for e in spoilt]
    ago = 2.4 - 1e-9 * np.array([spoilt[-1].stamp_ns - e.stamp_ns for e in spoilt])
    without = (ago > silent[0] + 0.4) & (ago < silent[1] - 0.05)
    assert (np.array(apart)[without] < 3.0 * np.array(stddev)[without]).all()
    assert np.linalg.norm(stddev, axis=1)[without].max() > 0.004
    assert np.linalg.norm(stddev[-1]) < 0.002 and np.linalg.norm(apart[-1]) < 0.002


@pytest.mark.parametrize("seconds", [0.1, 0.3])
def test_nobody_falls_because_nothing_is_read(seconds, walk, go2, tmp_path):
    """Without joints and IMU the ground was taken away: a fall of 3 m/s in 0.3 s."""
    start, reads = 1.4, ("/joint_states", "/imu", "/mocap/pose")

    def spoil(topic, at, m):
        return None if topic in reads and start < at < start + seconds else m

    robot, config = go2
    clean, _ = play(write(tmp_path / "clean.mcap", walk, lambda *a: a[2]), robot, config, False)
    spoilt, _ = play(write(tmp_path / "gap.mcap", walk, spoil), robot, config, False)
    assert len(spoilt) == len(clean) and spoilt[-1].status.restarts == 0
    apart = [a.linear_velocity_base - b.linear_velocity_base for a, b in zip(clean, spoilt)]
    speed = np.linalg.norm(apart, axis=1)
    assert speed.max() < 0.5 and speed[-10:].max() < 0.03
    height = [a.position_world[2] - b.position_world[2] for a, b in zip(clean, spoilt)]
    assert np.abs(height[-10:]).max() < 0.01


def twist_apart(clean, spoilt):
    """Differences (n, 6) of the twists at stamps that both have, and their stated deviations."""
    by_stamp = {e.stamp_ns: e for e in clean if e is not None}
    pairs = [(by_stamp[e.stamp_ns], e) for e in spoilt if e is not None and e.stamp_ns in by_stamp]
    return np.array(
        [
            np.r_[
                b.linear_velocity_base - a.linear_velocity_base,
                b.angular_velocity_base - a.angular_velocity_base,
            ]
            for a, b in pairs
        ]
    ), np.array([np.sqrt(np.diag(b.twist_covariance)) for _, b in pairs])


@pytest.mark.parametrize("axis", ["x", "z"])
@pytest.mark.parametrize("sensor", ["angular_velocity", "linear_acceleration"])
def test_one_axis_of_an_imu_that_dies(sensor, axis, walk, go2, tmp_path):
    """It is used nowhere, and named; what is published instead is stated to what it is worth."""

    def spoil(topic, at, m):
        if topic != "/imu" or at < 1.4:
            return m
        dead = dataclasses.replace(getattr(m, sensor), **{axis: 0.5})
        return dataclasses.replace(m, **{sensor: dead})

    robot, config = go2
    good, bad = [], []
    path = write(tmp_path / "clean.mcap", walk, lambda *a: a[2])
    clean, _ = play(path, robot, config, False, good)
    spoilt, _ = play(write(tmp_path / "dead.mcap", walk, spoil), robot, config, False, bad)
    name = "gyro" if sensor == "angular_velocity" else "accelerometer"
    assert said(spoilt[-1], "imu").message.endswith(f"the same all the time: {name} {axis}")
    own = "xyz".index(axis) + (3 if name == "gyro" else 0)
    for (apart, stddev), last in ((twist_apart(clean, spoilt), 20), (twist_apart(good, bad), 100)):
        square = (apart / stddev)[-last:] ** 2
        assert square.mean(axis=0).max() < 4.0
        others = np.delete(np.arange(6), own)
        assert np.abs(apart[-last:][:, others]).max() < 0.05
        assert stddev[-last:, others].max() < 0.05 and stddev[-last:, own].max() < 0.6


@pytest.mark.parametrize("field", ["velocity", "effort"])
def test_fields_that_a_driver_fills_with_zeros(field, walk, go2, tmp_path):
    """The same estimate as without them, once the legs have moved."""
    robot, config = go2

    def filled(topic, _, m):
        zeros = np.zeros(len(m.name)) if topic == "/joint_states" else None
        return m if zeros is None else dataclasses.replace(m, **{field: zeros})

    def without(topic, _, m):
        none = np.zeros(0)
        return dataclasses.replace(m, **{field: none}) if topic == "/joint_states" else m

    zero, pipeline = play(write(tmp_path / "zero.mcap", walk, filled), robot, config, False)
    none, _ = play(write(tmp_path / "none.mcap", walk, without), robot, config, False)
    name = {"velocity": "joint_rate_zero", "effort": "joint_torque_zero"}[field]
    assert pipeline.counts[name] > 400
    apart = zero[-1].linear_velocity_base - none[-1].linear_velocity_base
    assert np.linalg.norm(apart) < 0.05


def test_the_rate_of_one_joint_that_a_driver_does_not_tell(walk, go2, tmp_path):
    """The other rates are left out with it, and it is named; the estimate had been given up."""
    robot, config = go2

    def spoilt(topic, _, m):
        if topic != "/joint_states":
            return m
        rates = np.array(m.velocity)
        rates[list(m.name).index("FL_thigh_joint")] = 0.0
        return dataclasses.replace(m, velocity=rates)

    def without(topic, _, m):
        none = np.zeros(0)
        return dataclasses.replace(m, velocity=none) if topic == "/joint_states" else m

    zero, pipeline = play(write(tmp_path / "zero.mcap", walk, spoilt), robot, config, False)
    none, _ = play(write(tmp_path / "none.mcap", walk, without), robot, config, False)
    assert pipeline.counts["joint_rate_zero"] > 400
    assert "rates of FL_thigh_joint are zero" in said(zero[-1], "joint_states").message
    apart = zero[-1].linear_velocity_base - none[-1].linear_velocity_base
    assert len(zero) > 0.9 * len(none) and np.linalg.norm(apart) < 0.05


def test_a_recorded_walk_with_all_faults(recorded_runs, go2):
    """IMU 4 ms late, joint stamps +-1 ms, bursts of 48 ms, encoder glitches, mocap outliers."""
    run = recorded_runs / "go2_streams_payload3"
    if not run.is_dir():
        pytest.skip("that run is not among the recorded ones")
    estimates, pipeline = play(run, *go2)
    counts, late = pipeline.counts, pipeline.intake.reader.imu_late_ns
    glitches = {"RL_thigh_joint": 2, "RL_hip_joint": 2, "FR_thigh_joint": 2, "RL_calf_joint": 2}
    assert pipeline.intake.sync.glitches == glitches and counts["mocap_outlier"] == 3
    assert late == pytest.approx(4e6, abs=0.8e6) and counts["imu_clock"] >= 1
    assert counts["joint_bridged"] and counts["joint_missing"] == 0
    twist = "/ground_truth/odom", lambda m: [getattr(m.twist.twist.linear, i) for i in "xyz"]
    joints = "/ground_truth/joint_states", lambda m: m.position
    stamps = np.array([e.stamp_ns for e in estimates])
    settled = stamps > stamps[0] + 1_500_000_000
    (t, velocity), (tq, angle) = truth(run, *twist), truth(run, *joints)
    true = np.stack([np.interp(stamps, t, velocity[:, i]) for i in range(3)], axis=1)
    told = np.array([e.linear_velocity_base for e in estimates])
    assert np.sqrt(((told - true)[settled] ** 2).sum(axis=1).mean()) < 0.01

    def angles(at):
        return np.stack([np.interp(at, tq, angle[:, i]) for i in range(12)], axis=1)

    rate = (angles(stamps) - angles(stamps - 10_000_000)) / 0.01
    off = np.array([e.joint_velocity for e in estimates]) - rate
    assert np.sqrt((off[settled] ** 2).mean()) < 0.1  # 0.12 rad/s of the sensor


def test_torques_that_are_filled_with_zeros_weigh_nothing(walk, go2, tmp_path):
    """What they seemed to say before that was understood is not kept."""

    def filled(topic, _, m):
        return dataclasses.replace(m, effort=np.zeros(12)) if topic == "/joint_states" else m

    robot, config = go2
    estimates, _ = play(write(tmp_path / "zero.mcap", walk, filled), robot, config, False)
    last = estimates[-1]
    assert abs(last.total_mass - robot.total_mass) < 0.1 and last.total_mass_stddev > 1.0


def test_an_orientation_that_a_driver_fills_in_is_none(walk, go2, tmp_path):
    """The identity, whatever the gyro reads: tilt and velocity as without it."""

    def level(topic, _, m):
        if topic != "/imu":
            return m
        quat = dataclasses.replace(m.orientation, x=0.0, y=0.0, z=0.0, w=1.0)
        return dataclasses.replace(m, orientation=quat, orientation_covariance=np.zeros(9))

    def without(topic, _, m):
        if topic != "/imu":
            return m
        return dataclasses.replace(m, orientation_covariance=np.array([-1.0, *np.zeros(8)]))

    robot, config = go2
    said, pipeline = play(write(tmp_path / "level.mcap", walk, level), robot, config, False)
    none, _ = play(write(tmp_path / "none.mcap", walk, without), robot, config, False)
    assert pipeline.counts["imu_orientation_held"] > 500
    turned = pin.Quaternion(said[-1].quat_world_base).angularDistance(
        pin.Quaternion(none[-1].quat_world_base)
    )
    assert turned < 0.005
    assert np.linalg.norm(said[-1].linear_velocity_base - none[-1].linear_velocity_base) < 0.01


@pytest.mark.parametrize("rate", [150.0, 1e180])
def test_a_reading_of_the_imu_that_is_refused_is_not_carried_into_odometry(
    rate, walk, go2, tmp_path
):
    glitch = next(m.header.stamp for topic, _, m in walk[1800:] if topic == "/imu")

    def spoil(topic, _, m):
        if topic != "/imu" or m.header.stamp != glitch:
            return m
        turning = dataclasses.replace(m.angular_velocity, y=rate)
        return dataclasses.replace(m, angular_velocity=turning)

    robot, config = go2
    path, out = write(tmp_path / "glitch.mcap", walk, spoil), tmp_path / "out.mcap"
    summary = replay(path, robot, config, out, mocap=False)
    assert summary.counts["imu_out_of_range"] == 1
    with BagReader(out) as bag:
        turns = [m.twist.twist.angular for _, _, m in bag.messages(["/prime/odometry"])]
    assert max(abs(turn.y) for turn in turns) < 20.0  # and not NaN
