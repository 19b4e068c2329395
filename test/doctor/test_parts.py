# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Delays, noise levels, scales and single checks with known answers."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.messages import random_message

from prime_estimation.config.parameters import Config
from prime_estimation.doctor import examine
from prime_estimation.doctor.checks import (
    feet,
    levels,
    mocap,
    presence,
    rates,
    stuck,
    timing,
    units,
)
from prime_estimation.doctor.checks.levels import noise_level
from prime_estimation.doctor.checks.units import rate_scale
from prime_estimation.doctor.delays import best_shift, lag
from prime_estimation.doctor.hypotheses import imu as imu_hypotheses
from prime_estimation.doctor.legs import Legs
from prime_estimation.doctor.misfit import Misfit
from prime_estimation.doctor.recording import Recording, Stream, read_recording
from prime_estimation.doctor.signals import Signals, signals_of
from prime_estimation.io.bag import BagWriter
from prime_estimation.io.sensor_messages import foot_forces, imu, joint_state
from prime_estimation.io.unitree import FAMILIES
from prime_estimation.robot import Robot

T = np.arange(0.0, 10.0, 0.004)


def test_lag():
    def signal(t):
        return np.stack([np.sin(3.1 * t) + 0.4 * np.sin(7.7 * t), np.cos(5.3 * t)], axis=1)

    delay = lag(signal(T - 0.123), signal(T), 0.5, 0.004)
    assert delay.seconds == pytest.approx(0.123, abs=5e-4)
    assert delay.agreement > 0.999 > delay.before


def test_best_shift():
    delay = best_shift(lambda s: -((s - 0.0173) ** 2), 0.06, 0.004)
    assert delay.seconds == pytest.approx(0.0173, abs=1e-6)
    assert delay.before == pytest.approx(-(0.0173**2))


def test_noise_level_of_a_moving_sensor():
    rng = np.random.default_rng(0)
    t = np.arange(0.0, 8.0, 0.002)
    values = 0.5 * np.sin(12.0 * t)[:, None] + rng.normal(0.0, 0.003, (len(t), 1))
    stream = Stream(t, t, {"position": values})
    assert noise_level(stream, "position") == pytest.approx(0.003, rel=0.25)
    # held readings are no noise of another size
    held = Stream(t, t, {"position": values[np.arange(len(t)) // 2 * 2]})
    assert noise_level(held, "position") == pytest.approx(0.003, rel=0.3)
    short = Stream(t[:6], t[:6], {"position": values[:6]})
    assert np.isnan(noise_level(short, "position"))


def test_scale_of_rates():
    position = np.stack([np.sin(2.0 * T), 1e-4 * np.sin(2.0 * T)], axis=1)
    rate = np.degrees(np.stack([2.0 * np.cos(2.0 * T), 0.0 * T], axis=1))
    usable = T < 8.0
    rate[~usable] = 30.0  # of a gap
    slopes = rate_scale(Signals(T, usable, position, rate, 0.0 * rate))
    assert slopes[0] == pytest.approx(57.3, rel=0.01) and np.isnan(slopes[1])


def test_gain_of_misfits():
    worse, better = Misfit(force=0.2, slip=0.1), Misfit(force=0.1, slip=0.1)
    assert worse.gain(better) == pytest.approx(np.log(2.0))
    assert better.gain(worse) == pytest.approx(-np.log(2.0))
    # below its floor nothing gets better, and nothing can by being seen for the first time
    assert Misfit(slip=0.005).gain(Misfit(slip=0.001)) == 0.0
    assert Misfit(force=0.1).gain(Misfit(force=0.1, swing=0.1)) == 0.0
    assert Misfit(force=0.1, slip=0.1).gain(Misfit(force=0.1)) < 0.0
    # feet of a Go2 that ran on a treadmill, seen at 50 Hz: 2.6 m/s apart is better than unseen
    assert Misfit(force=0.1, slip=2.6).gain(Misfit(force=0.1)) == 0.0


@pytest.fixture
def standing():
    """A Go2 that stands and sways a little, without forces: streams that can be spoilt."""
    robot = Robot.load("go2")
    rng = np.random.default_rng(3)
    t = np.arange(0.0, 6.0, 0.002)
    pose = np.array([0.0, 0.8, -1.5] * 4)
    sway = 0.1 * np.sin(2.0 * t)[:, None]
    joints = {
        "position": pose + sway + rng.normal(0.0, 0.001, (len(t), 12)),
        "velocity": np.repeat(0.2 * np.cos(2.0 * t)[:, None], 12, axis=1),
    }
    imu = {
        "angular_velocity": rng.normal(0.0, 0.005, (len(t), 3)),
        "linear_acceleration": rng.normal([0.0, 0.0, 9.81], 0.1, (len(t), 3)),
    }
    streams = {"joint_states": Stream(t, t, joints), "imu": Stream(t, t, imu)}
    return robot, Recording("run", streams, {}, 6.0)


def examined(robot, recording):
    """By the checks that need no mechanics."""
    checks = [check.examine for check in (presence, timing, units, rates, levels)]
    return examine(recording, robot, Config.load("go2"), checks=checks)


def faults(robot, recording) -> list[str]:
    """Names of what is wrong."""
    return [f.name for f in examined(robot, recording).faults]


def spoilt(recording, name: str, change):
    """The recording with the values of one stream changed in place."""
    stream = recording.streams[name]
    values = {field: value.copy() for field, value in stream.values.items()}
    change(values)
    return replace(recording, streams={**recording.streams, name: replace(stream, values=values)})


@pytest.mark.parametrize(
    ("stream", "field", "factor", "named"),
    [
        ("imu", "linear_acceleration", 1.0 / 9.80665, ["units.accelerometer"]),
        ("joint_states", "position", 180.0 / np.pi, ["units.position"]),
        ("joint_states", "velocity", 60.0 / (2.0 * np.pi), ["units.velocity"]),
        ("joint_states", "velocity", 1.0 / (2.0 * np.pi), ["units.velocity"]),
        ("imu", "linear_acceleration", 1e3 / 9.80665, ["units.accelerometer"]),
        ("joint_states", "velocity", 180.0 / np.pi, ["units.velocity"]),
    ],
)
def test_units(stream, field, factor, named, standing):
    robot, recording = standing
    assert faults(robot, recording) == []
    bad = spoilt(recording, stream, lambda v: v.__setitem__(field, v[field] * factor))
    assert faults(robot, bad) == named


def test_a_gyro_in_degrees(standing):
    """Of a robot that turns by 17 degrees/s in the mean, and none that does so in radians."""
    robot, recording = standing
    turns = 0.3 * np.sign(np.sin(recording.streams["imu"].stamps))[:, None] * [0.0, 0.0, 1.0]
    swings = spoilt(recording, "imu", lambda v: v.update(angular_velocity=turns))
    assert faults(robot, swings) == []
    (found,) = examined(robot, spoilt(swings, "imu", to_degrees)).faults
    assert found.name == "units.gyro" and found.evidence["median"] == pytest.approx(17.2, abs=0.1)


def to_degrees(values) -> None:
    values["angular_velocity"] = np.degrees(values["angular_velocity"])


def test_settings_are_told_from_data_without_the_mistake(standing):
    """In another unit, or with stamps that repeat, noise is no noise."""
    robot, recording = standing
    level = {f.name: f.evidence for f in examined(robot, recording).findings}["level.encoder"]
    bad = spoilt(
        recording, "joint_states", lambda v: v.update({k: np.degrees(x) for k, x in v.items()})
    )
    found = examined(robot, bad).findings
    assert {f.name: f.evidence for f in found}["level.encoder"]["level"] == pytest.approx(
        level["level"], rel=1e-6
    )
    loud = spoilt(recording, "imu", lambda v: v.update({k: 20.0 * x for k, x in v.items()}))
    assert proposals(robot, loud)
    stamps = loud.streams["imu"].stamps // 0.01 * 0.01
    imu = replace(loud.streams["imu"], stamps=stamps)
    assert not proposals(robot, replace(loud, streams={**loud.streams, "imu": imu}))


def proposals(robot, recording) -> list[dict]:
    """Changes of the configuration that are proposed."""
    found = examined(robot, recording).findings
    return [f.proposal for f in found if isinstance(f.proposal, dict)]


def test_nothing_is_told_without_gravity(standing):
    robot, recording = standing
    bad = spoilt(recording, "imu", lambda v: v["linear_acceleration"].__isub__([0.0, 0.0, 9.81]))
    found = examine(bad, robot, Config.load("go2"))
    assert [f.name for f in found.faults] == ["units.accelerometer"]
    assert not [f for f in found.findings if f.severity == "hint"] and not found.complete


def test_torques_that_are_all_zero(standing):
    """They are not measured: the robot does not hang."""
    robot, recording = standing
    bad = spoilt(recording, "joint_states", lambda v: v.update(effort=0.0 * v["position"]))
    found = {f.name: f for f in examine(bad, robot, Config.load("go2")).findings}
    assert found["sensors.torque_zero"].severity == "hint"
    assert not any("hangs" in f.text for f in found.values())


def test_an_encoder_that_is_stuck(standing):
    robot, recording = standing
    bad = spoilt(recording, "joint_states", lambda v: v["position"].__setitem__((..., 5), -1.6))
    found = examine(bad, robot, Config.load("go2"), checks=[stuck.examine])
    assert [f.name for f in found.faults] == ["joints.stuck"]
    assert robot.joint_names[5] in found.faults[0].text
    # a robot that stands has no leg that moves
    still = spoilt(recording, "joint_states", lambda v: v["position"].__setitem__(..., -1.6))
    assert not examine(still, robot, Config.load("go2"), checks=[stuck.examine]).faults


def test_whatever_never_changes_on_a_robot_that_moves(standing):
    robot, recording = standing
    k = np.arange(len(recording.streams["joint_states"]))
    swing = 0.2 * np.sin(0.01 * k)[:, None]
    moves = spoilt(recording, "joint_states", lambda v: v.update(position=v["position"] + swing))

    def faults(stream: str, change) -> list:
        bad = spoilt(moves, stream, change)
        return examine(bad, robot, Config.load("go2"), checks=[stuck.examine]).faults

    assert not faults("imu", lambda v: None)
    torque = swing * (np.arange(12) % 3 != 0)
    (found,) = faults("joint_states", lambda v: v.update(effort=torque))
    assert found.name == "joints.torque_stuck"
    assert found.evidence == {"joints": robot.joint_names[::3]}
    (found,) = faults("imu", lambda v: v["angular_velocity"].__setitem__(..., 0.01))
    assert found.text.startswith("imu: gyro x, y, z never changes")
    (found,) = faults("imu", lambda v: v["linear_acceleration"].__setitem__((..., 2), 9.81))
    assert found.evidence == {"axes": {"linear_acceleration": ["z"]}}
    quat = np.tile([0.0, 0.0, 0.0, 1.0], (100, 1))
    poses = {"position_world": np.ones((100, 3)), "quat_world_body": quat}
    at = np.linspace(0.0, 6.0, 100)
    streams = {**moves.streams, "mocap/pose": Stream(at, at, poses)}
    (found,) = examine(
        replace(moves, streams=streams), robot, Config.load("go2"), checks=[stuck.examine]
    ).faults
    assert found.name == "mocap.stuck"
    rates = np.sin(0.01 * k)[:, None] * np.ones(12)
    still = spoilt(recording, "joint_states", lambda v: v["position"].__setitem__(..., 0.3))
    bad = spoilt(still, "joint_states", lambda v: v.update(velocity=rates))
    (found,) = examine(bad, robot, Config.load("go2"), checks=[stuck.examine]).faults
    assert found.name == "joints.stuck" and len(found.evidence["joints"]) == 12


def sparse(recording, keep):
    """The recording with those readings of all streams whose time [s] is to be kept."""
    streams = {name: s.at(np.flatnonzero(keep(s.stamps))) for name, s in recording.streams.items()}
    return replace(recording, streams=streams)


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        (lambda t: t < 0.2, "have 0.2 s in common, an examination wants 2.4 s and better 10"),
        (lambda t: np.isclose(t % 0.1, 0.0), "in none of the 5.9 s .* for 0.4 s"),
        (lambda t: (t % 1.0) < 0.7, "1.8 s of the 5.7 s .* are 0.2 s away from a gap of 50 ms"),
    ],
)
def test_what_cannot_be_examined_says_why_and_is_not_without_fault(keep, told, standing):
    robot, recording = standing
    found = examined(robot, sparse(recording, keep))
    assert re.search(told, found.void) and "0.0 s" not in found.void
    assert not found.faults and not found.complete
    assert not examined(robot, recording).void
    # a fault is something that was told
    no_imu = {"joint_states": sparse(recording, keep).streams["joint_states"]}
    assert not examined(robot, replace(recording, streams=no_imu)).void


def moved(recording, name: str, stamps: float, arrivals: float):
    """The recording with a stream that is stamped, and that comes, later [s]."""
    stream = recording.streams[name]
    late = replace(stream, stamps=stream.stamps + stamps, arrivals=stream.arrivals + arrivals)
    return replace(recording, streams={**recording.streams, name: late})


def test_streams_of_other_clocks(standing):
    """By their arrivals they are told and moved; without, they have no time in common."""
    robot, recording = standing
    found = examined(robot, moved(recording, "imu", 100.0, 0.0))
    assert [f.name for f in found.faults] == ["clock.imu"]
    assert "signals" not in [f.name for f in found.findings]
    assert found.faults[0].evidence["seconds"] == pytest.approx(100.0)
    # of two clocks the recorder's is the right one
    found = examined(robot, moved(recording, "imu", -100.0, 0.0))
    assert [f.name for f in found.faults] == ["clock.imu"]
    found = examined(robot, moved(recording, "imu", 100.0, 100.0))
    assert [f.name for f in found.faults] == ["clock.imu"]
    assert "signals" in [f.name for f in found.findings]
    assert "no time in common" in found.faults[0].text
    # all by one clock that is not the recorder's
    both = moved(moved(recording, "imu", -1e6, 0.0), "joint_states", -1e6, 0.0)
    assert not examined(robot, both).faults


@pytest.mark.parametrize("seconds", [-0.5, 0.3])
def test_a_clock_that_was_set_by_less_than_a_second(seconds, standing):
    """Stamps that stay behind or ahead; messages that were only held up come back."""
    robot, recording = standing
    stream = recording.streams["imu"]

    def with_imu(stamps, arrivals):
        late = replace(stream, stamps=stamps, arrivals=arrivals)
        return replace(recording, streams={**recording.streams, "imu": late})

    t = stream.stamps
    found = examined(robot, with_imu(np.where(t < 2.0, t, t + seconds), t)).faults
    assert [f.name for f in found] == ["timing.imu.step"]
    assert found[0].evidence["steps"] == pytest.approx([seconds])
    assert not faults(robot, with_imu(t, np.where((t > 2.0) & (t < 2.5), 2.5, t)))


@pytest.mark.parametrize("seconds", [-1.7e9, -1.5, 40.0])
def test_a_clock_that_was_set_while_it_was_recorded(seconds, standing):
    """Two of the six seconds are by another setting, up to which no grid reaches."""
    robot, recording = standing
    for name, stream in recording.streams.items():
        stamps = stream.stamps + np.where(stream.stamps < 2.0, seconds, 0.0)
        recording = replace(
            recording, streams={**recording.streams, name: replace(stream, stamps=stamps)}
        )
    found = examined(robot, recording)
    assert [f.name for f in found.faults] == ["clock.joint_states.set", "clock.imu.set"]
    assert found.faults[0].evidence == {"seconds": pytest.approx(seconds), "count": 1000}
    assert "signals" not in [f.name for f in found.findings]


def test_one_stamp_that_is_missing(standing):
    robot, recording = standing
    for name, stream in recording.streams.items():
        stamps = np.where(np.arange(len(stream)) == 900, 0.0, stream.stamps)
        recording = replace(
            recording, streams={**recording.streams, name: replace(stream, stamps=stamps)}
        )
    found = examined(robot, recording).faults
    assert [f.evidence["count"] for f in found] == [1, 1] and "1 of 3000" in found[0].text


def test_stamps_in_another_unit_are_no_grid(standing):
    robot, recording = standing
    for name, stream in recording.streams.items():
        other = replace(stream, stamps=1e3 * stream.stamps)
        recording = replace(recording, streams={**recording.streams, name: other})
    found = [f for f in examined(robot, recording).findings if f.name == "signals"]
    assert "in 6.0 s of recording: are they of a clock" in found[0].text


def test_contacts_of_feet_that_are_not_always_told(tmp_path):
    """A message with one foot less, and flags that are no numbers."""
    robot = Robot.load("go2")
    for value in (1.0, np.nan):
        with BagWriter(tmp_path / f"run{value}.mcap") as bag:
            make = bag.message_class
            for k in range(1500):
                stamp = 1_700_000_000_000_000_000 + 2_000_000 * k
                joints = joint_state(make, stamp, robot.joint_names, position=np.full(12, 0.3))
                bag.write("/joint_states", stamp, joints)
                at_rest = {
                    "angular_velocity": np.zeros(3),
                    "linear_acceleration": np.array([0.0, 0.0, 9.81]),
                }
                bag.write("/imu", stamp, imu(make, stamp, "imu", **at_rest))
                feet = robot.feet[: 3 if k % 10 == 0 else 4]
                bag.write("/contacts", stamp, foot_forces(make, stamp, feet, [value] * len(feet)))
        recording = read_recording(tmp_path / f"run{value}.mcap", robot)
        assert recording.streams["contacts"].values["force"].shape == (1500, 4)
        standing = signals_of(recording, robot).standing
        assert standing is None if np.isnan(value) else standing.all()


def test_readings_are_those_of_the_robots_yaml(tmp_path):
    """Without zeros and delay that it knows, up to the second that was asked for."""
    known = {"joint_zeros": {"FL_calf_joint": 0.05}, "mocap_delay": 0.2}
    robot = Robot(Config.load("go2").updated({"robot": known}).robot)
    message = random_message("geometry_msgs/msg/PoseStamped", np.random.default_rng(0))
    q = message.pose.orientation
    q.x, q.y, q.z, q.w = 0.0, 0.0, 0.0, 1.0
    with BagWriter(tmp_path / "run.mcap") as bag:
        make = bag.message_class
        for k in range(300):
            stamp = 1_700_000_000_000_000_000 + 10_000_000 * k
            joints = joint_state(make, stamp, robot.joint_names, position=np.full(12, 0.3))
            bag.write("/joint_states", stamp, joints)
            rest = {"angular_velocity": np.zeros(3), "linear_acceleration": np.array([0, 0, 9.81])}
            bag.write("/imu", stamp, imu(make, stamp, "imu", **rest))
            message.header = joints.header
            bag.write("/mocap/pose", stamp, message)
    recording = read_recording(tmp_path / "run.mcap", robot, longest=1.0)
    joints, mocap_poses = (recording.streams[name] for name in ("joint_states", "mocap/pose"))
    at = robot.joint_names.index("FL_calf_joint")
    np.testing.assert_allclose(joints.values["position"][0], 0.3 - 0.05 * np.eye(12)[at])
    assert mocap_poses.stamps[0] == mocap_poses.arrivals[0] == pytest.approx(-0.2)
    assert recording.seconds == 1.0 and joints.stamps[-1] == pytest.approx(1.0, abs=0.011)


@pytest.mark.parametrize(
    ("off", "named"),
    [
        ([0.0, -0.04, 0.0, 0.002], "FR_foot does not roll"),
        ([-0.014, -0.012, -0.015, -0.01], ""),
        ([0.0, -0.007, 0.0, 0.002], ""),  # soft ground gives as much
    ],
)
def test_one_foot_is_no_statement_about_all(off, named):
    """An encoder that is off makes its foot roll otherwise; nobody asks for another radius."""
    rng = np.random.default_rng(5)
    rows, of = rng.normal(0.0, 1.0, (2400, 5)), np.arange(2400) // 3 % 4
    right = rows[:, 0] * np.array(off)[of] + rows[:, 2:] @ [0.01, 0.0, 0.02]
    right += rng.normal(0.0, 0.005, len(right))
    robot = Robot.load("go2")
    case = SimpleNamespace(robot=robot, legs=SimpleNamespace(feet=robot.feet))
    finding = feet._of_some(case, rows, right, of)
    assert (finding.text if finding else "").startswith(named) and bool(finding) == bool(named)
    assert not finding or "encoders of this leg" in finding.proposal


@pytest.mark.parametrize(
    ("axes", "named"),
    [([0, 1, 2], "mocap.axes"), ([1, 2, 0], "mocap.axes"), ([1, 0, 2], "mocap.hand")],
)
def test_exchanged_axes_are_no_rotation(axes, named):
    """Of a gyro with two axes exchanged no turn of the tracked body is asked."""
    felt = np.random.default_rng(6).normal(0.0, 0.5, (400, 3))
    legs = SimpleNamespace(at=lambda signals, rows: SimpleNamespace(rate=felt))
    case = SimpleNamespace(legs=legs, signals=None)
    _, finding = mocap._axes(case, SimpleNamespace(rate=felt[:, axes]), np.arange(400))
    assert finding.name == named
    assert (finding.severity == "fault") == (axes != [0, 1, 2])


def test_a_rate_with_the_opposite_sign(standing):
    robot, recording = standing
    bad = spoilt(
        recording,
        "joint_states",
        lambda v: v["velocity"].__setitem__((..., 4), -v["velocity"][:, 4]),
    )
    found = examined(robot, bad).faults
    assert [f.name for f in found] == ["rates.sign"] and robot.joint_names[4] in found[0].text


def test_rates_of_other_joints(standing):
    robot, recording = standing
    rng = np.random.default_rng(1)
    bad = spoilt(
        recording,
        "joint_states",
        lambda v: v["velocity"].__setitem__((..., 2), rng.normal(0.0, 0.3, len(v["velocity"]))),
    )
    assert "rates.foreign" in faults(robot, bad)


def without(recording, name: str, begin: float, end: float):
    """The recording without some seconds of a stream."""
    stream = recording.streams[name]
    there = stream.at((stream.stamps < begin) | (stream.stamps > end))
    return replace(recording, streams={**recording.streams, name: there})


def test_an_imu_of_a_robot_that_hardly_turns(standing):
    """Up is all that it tells: not whether the gyro, or the accelerometer's sign, fits."""
    robot, recording = standing
    signals = signals_of(recording, robot)
    found = list(imu_hypotheses.hypotheses(Legs(robot), signals))
    assert {h.kind for h in found} == {"imu_axes"} and all("hardly turns" in h.text for h in found)
    swings = replace(signals, gyro=signals.gyro + 0.3 * np.sin(signals.t)[:, None])
    found = list(imu_hypotheses.hypotheses(Legs(robot), swings))
    assert "sign.accelerometer" in {h.kind for h in found}
    assert not any("hardly turns" in h.text for h in found)


def test_rates_beside_a_gap(standing):
    """What is interpolated between its ends is no reading that rates could belong to."""
    robot, recording = standing
    turns = np.sin(2.0 * np.pi * recording.streams["joint_states"].stamps)[:, None] * np.ones(12)

    def turn(v):
        v.update(position=turns, velocity=np.gradient(turns, 0.002, axis=0))

    gap = without(spoilt(recording, "joint_states", turn), "joint_states", 2.0, 5.0)
    found = examined(robot, gap)
    assert not found.faults
    assert [f.name for f in found.findings if f.name == "rates"]


def test_a_sensor_that_is_there_for_some_time_only(standing):
    robot, recording = standing
    found = {f.name: f for f in examined(robot, without(recording, "imu", 4.0, 7.0)).findings}
    assert found["timing.imu.part"].severity == "hint"
    assert "after 4.0 s" in found["timing.imu.part"].text
    assert "timing.joint_states.part" not in found


def test_clocks(standing):
    robot, recording = standing
    stream = recording.streams["imu"]
    stamps = stream.stamps.copy()
    stamps[100:200:2] = stamps[101:201:2]
    bad = replace(recording, streams={**recording.streams, "imu": replace(stream, stamps=stamps)})
    assert "timing.imu" in faults(robot, bad)
    rows = np.arange(len(stream)) // 3 * 3
    held = spoilt(recording, "imu", lambda v: v.update({k: x[rows] for k, x in v.items()}))
    found = examined(robot, held).findings
    assert any(f.name == "timing.imu.held" and "67 %" in f.text for f in found)


def test_messages_with_something_wrong_need_not_be_refused(standing):
    """Those without a stamp are used, at the time of their arrival."""
    robot, recording = standing
    counts = {"imu: no stamp, arrival time taken": 3000}
    (found,) = examined(robot, replace(recording, refused=counts)).faults
    assert found.text == ("messages with something wrong: imu: no stamp, arrival time taken (3000)")


def test_what_is_missing_is_named(standing):
    robot, recording = standing
    joints = {"joint_states": recording.streams["joint_states"]}
    assert faults(robot, replace(recording, streams=joints)) == ["sensors.imu"]
    effort = Stream(T, T, {"effort": np.ones((len(T), 12))})
    streams = {**recording.streams, "joint_commands": effort}
    found = {f.name: f for f in examined(robot, replace(recording, streams=streams)).findings}
    assert "torque is commanded, not measured" in found["sensors.torque"].text


def test_too_short(standing):
    robot, recording = standing
    short = {
        name: Stream(s.stamps[:300], s.arrivals[:300], {k: v[:300] for k, v in s.values.items()})
        for name, s in recording.streams.items()
    }
    found = examine(replace(recording, streams=short), robot, Config.load("go2")).findings
    assert any("examination wants" in f.text for f in found)
    assert not [f for f in found if f.severity == "fault"]


def test_raw_messages_of_unitree(tmp_path):
    """A bag of LowState is read as joint states and IMU."""
    robot = Robot.load("go2")
    message = random_message(FAMILIES["unitree_go"].type, np.random.default_rng(2))
    with BagWriter(tmp_path / "run.mcap") as bag:
        for k in range(100):
            message.tick = 1000 + 2 * k
            for motor in message.motor_state:
                motor.q, motor.dq, motor.tau_est = 0.5, 0.0, 1.0
            message.imu_state.accelerometer = np.array([0.0, 0.0, 9.81], np.float32)
            message.imu_state.gyroscope = np.zeros(3, np.float32)
            bag.write("/lowstate", 1_700_000_000_000_000_000 + 2_000_000 * k, message)
    recording = read_recording(tmp_path / "run.mcap", robot)
    assert set(recording.streams) == {"joint_states", "imu"}
    assert recording.streams["joint_states"].values["effort"].shape == (100, 12)
    assert np.diff(recording.streams["imu"].stamps) == pytest.approx(np.full(99, 0.002))
