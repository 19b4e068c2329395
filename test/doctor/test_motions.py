# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motions, mistakes and remedies with known answers."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from prime_estimation.config.parameters import Config
from prime_estimation.doctor.checks import (
    arm,
    delays,
    feet,
    imu,
    imu_orientation,
    mocap,
    mocap_velocity,
    rates,
    timing,
    torques,
    units,
    weight,
)
from prime_estimation.doctor.checks.imu_orientation import _tilt
from prime_estimation.doctor.clocks import _offsets, _settings
from prime_estimation.doctor.delays import Delay
from prime_estimation.doctor.hypotheses import orders, zeros
from prime_estimation.doctor.legs import Legs
from prime_estimation.doctor.mocap import mocap_signals
from prime_estimation.doctor.recording import Recording, Stream
from prime_estimation.doctor.signals import STEP, Signals, _on_grid, upwards
from prime_estimation.joint_friction import FRICTION_VELOCITY
from prime_estimation.robot import GRAVITY, Robot

T = np.arange(0.0, 4.0, STEP)
POSE = np.array([0.0, 0.8, -1.5] * 4)


def robot(name: str = "go2", **settings) -> Robot:
    return Robot(Config.load(name).updated({"robot": settings}).robot)


def signals(position: np.ndarray, **values) -> Signals:
    """Of joints that rest, on the grid."""
    n, one = len(T), np.ones((len(T), 1))
    told = {name: one * np.array(value, float) for name, value in values.items()}
    told.setdefault("velocity", np.zeros((n, len(position))))
    still = np.zeros((n, len(position)))
    return Signals(T, np.ones(n, bool), one * position, acceleration=still, **told)


def test_up_goes_with_the_gyro():
    """Of a body that rolls over at a radian a second."""
    turn = Rotation.from_rotvec(np.column_stack([T, 0.0 * T, 0.0 * T]))
    up = turn.inv().apply([0.0, 0.0, 1.0])
    found = upwards(np.tile([1.0, 0.0, 0.0], (len(T), 1)), GRAVITY * up)
    # the first second, in which it is thought to rest, is forgotten by the end
    assert np.arccos(np.clip((found * up).sum(axis=1), -1.0, 1.0))[-100:].max() < 0.03


def test_a_signal_that_is_late_is_taken_later():
    late = signals(POSE, torque=np.zeros(12))
    late = replace(late, torque=np.sin(3.0 * (T - 0.05))[:, None] * np.ones(12))
    inside = slice(50, -50)
    corrected = late.later("torque", 0.05).torque[inside, 0]
    np.testing.assert_allclose(corrected, np.sin(3.0 * T[inside]), atol=1e-4)


def test_base_of_an_imu_beside_it():
    """Specific force of the base's origin about which the robot turns, and feet below it."""
    of = robot(imu_position=[0.2, 0.1, 0.05], imu_rotation=[0.3, -0.2, 1.0])
    place, rate = of.imu_placement, np.array([0.0, 0.0, 2.0])
    lever = place.translation
    felt = np.array([0.0, 0.0, GRAVITY]) + np.cross(rate, np.cross(rate, lever))
    turned = place.rotation.T
    up = turned @ [0.0, 0.0, 1.0]
    found = Legs(of).at(
        signals(POSE, gyro=turned @ rate, force=turned @ felt, up=up), np.array([100, 200])
    )
    np.testing.assert_allclose(found.rate, [rate, rate], atol=1e-12)
    np.testing.assert_allclose(found.force, 2 * [[0.0, 0.0, GRAVITY]], atol=1e-9)
    model, q = of.model, np.concatenate([np.zeros(6), [1.0], POSE])
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for f, contact in enumerate(of.contacts):
        centre = data.oMf[model.getFrameId(contact.frame)].act(np.array(contact.position, float))
        np.testing.assert_allclose(found.point[0, f], centre - [0.0, 0.0, contact.radius])
        np.testing.assert_allclose(found.speed[0, f], np.cross(rate, found.point[0, f]), atol=1e-12)


def test_forces_of_feet_and_what_they_leave():
    """Of a Go2 at rest whose torques hold given forces, half of its weight in all."""
    of, force = robot(), np.random.default_rng(2).normal([0.0, 0.0, 20.0], 5.0, (4, 3))
    model, q = of.model, np.concatenate([np.zeros(6), [1.0], POSE])
    data = model.createData()
    left = pin.computeGeneralizedGravity(model, data, q).copy()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    for contact, f in zip(of.contacts, force):
        frame = model.getFrameId(contact.frame)
        point = data.oMf[frame].act(np.array(contact.position, float)) - [0.0, 0.0, contact.radius]
        jacobian = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        lever = pin.skew(point - data.oMf[frame].translation)
        left -= (jacobian[:3] - lever @ jacobian[3:]).T @ f
    up = of.imu_placement.rotation.T @ [0.0, 0.0, 1.0]
    given = signals(POSE, torque=left[6:], gyro=np.zeros(3), force=GRAVITY * up, up=up)
    found = Legs(of).at(given, np.array([100, 200]))
    np.testing.assert_allclose(found.load, [force, force], atol=1e-9)
    np.testing.assert_allclose(found.residual, [left[:6], left[:6]], atol=1e-9)


def test_a_joint_that_turns_on_is_not_smoothed_over_its_seam():
    angle = np.column_stack([2.0 * T, 0.1 * T])
    read = Stream(T, T, {"position": (angle + np.pi) % (2.0 * np.pi) - np.pi})
    np.testing.assert_allclose(_on_grid(read, "position", T, [0]), angle, atol=1e-12)


def test_base_below_an_imu_that_a_joint_turns():
    """A waist that turns over a base that stands: its rate is none of the base's."""
    of = robot("g1", imu_frame="imu_in_torso")
    waist = of.joint_names.index("waist_yaw_joint")
    velocity = np.zeros(of.nj)
    velocity[waist] = 0.7
    turned = of.imu_placement.rotation.T
    lever = of.imu_placement.translation * [1.0, 1.0, 0.0]
    felt = np.array([0.0, 0.0, GRAVITY]) - 0.7**2 * lever
    up = turned @ [0.0, 0.0, 1.0]
    given = signals(np.zeros(of.nj), velocity=velocity, gyro=0.7 * up, force=turned @ felt, up=up)
    found = Legs(of).at(given, np.array([100, 200]))
    np.testing.assert_allclose(found.rate, np.zeros((2, 3)), atol=1e-9)
    np.testing.assert_allclose(found.force, 2 * [[0.0, 0.0, GRAVITY]], atol=0.02)


def test_orders_are_what_their_words_say():
    """What is called A in the recording is B without the mistake."""
    go2, legs = robot(), Legs(robot())
    recorded = signals(np.arange(12.0))
    names = {foot: legs.joints_of(f) for f, foot in enumerate(go2.feet)}
    names |= {joint: np.array([j]) for j, joint in enumerate(go2.joint_names)}
    found = list(orders.hypotheses(legs, recorded))
    told = 0
    for hypothesis in found:
        position = hypothesis.corrected(recorded).position[0]
        for called, true in re.findall(r"what is called (\w+) is (\w+)", hypothesis.text):
            np.testing.assert_array_equal(position[names[true]], names[called])
            told += 1
        if pair := re.search(r"(\w+) and (\w+) are exchanged", hypothesis.text):
            np.testing.assert_array_equal(position[names[pair[1]]], names[pair[2]])
    assert told > 50
    by_kind = np.concatenate(legs.places)
    (of_kinds,) = (h for h in found if "kind after kind, not" in h.text)
    as_told = of_kinds.corrected(replace(recorded, position=recorded.position[:, by_kind]))
    np.testing.assert_array_equal(as_told.position[0], np.arange(12.0))


def test_a_zero_is_taken_off_the_readings():
    go2 = robot(joint_zeros={"FL_calf_joint": 0.05})
    legs = Legs(go2)
    found = zeros._zero(legs, 0, 2, 0.2)
    assert "robot.joint_zeros: {FL_calf_joint: 0.250}" in found.proposal
    given = signals(POSE)
    moved = found.corrected(given).position[0] - given.position[0]
    np.testing.assert_allclose(moved, -0.2 * np.eye(12)[2], atol=1e-12)


def test_motion_capture_is_taken_later():
    """Of a pose that comes half a second late; beyond its ends, and in gaps, none is known."""
    stamps = np.delete(np.arange(0.5, 3.0, 0.01), slice(100, 130))
    there = np.sin(2.0 * (stamps - 0.5))
    values = {
        "position_world": np.column_stack([there, 0.0 * there, 0.3 + 0.0 * there]),
        "quat_world_body": np.tile([0.0, 0.0, 0.0, 1.0], (len(stamps), 1)),
    }
    recording = Recording("run", {"mocap/pose": Stream(stamps, stamps, values)}, {}, 4.0)
    found = mocap_signals(recording, T, 0.5)
    quiet = found.known & (T > 0.2) & ((T < 0.9) | (T > 1.4)) & (T < 2.2)
    np.testing.assert_allclose(found.position[quiet, 0], np.sin(2.0 * T[quiet]), atol=2e-3)
    assert not found.known[(T > 1.0) & (T < 1.28)].any() and not found.known[T > 2.5].any()
    assert found.known[(T > 0.0) & (T < 0.98)].all()


@pytest.mark.parametrize(
    ("column", "size", "words"),
    [
        (0, 0.01, "their radius were 32 mm, not 22 mm"),
        (1, -0.03, "30 mm shorter than"),
        (1, 0.03, "30 mm longer than"),
    ],
)
def test_feet_that_differ_in_one_thing(column, size, words):
    rows = np.random.default_rng(7).normal(size=(3000, 5))
    right = size * rows[:, column] + np.random.default_rng(8).normal(0.0, 1e-3, 3000)
    case = SimpleNamespace(legs=SimpleNamespace(feet=[SimpleNamespace(radius=0.022)] * 4))
    finding = feet._finding(case, rows, right)
    assert words in finding.text and finding.severity == "fault"


@pytest.mark.parametrize(("felt", "hint"), [(9.3, True), (9.9, False), (10.3, True)])
def test_gravity_that_is_missed(felt, hint):
    case = SimpleNamespace(signals=signals(POSE, force=[0, 0, felt], up=[0, 0, 1]))
    assert ("imu.bias" in [f.name for f in imu._gravity(case)]) == hint


def test_a_gyro_that_rests_beyond_its_setting():
    configured = Config.load("go2").noise.gyro_bias
    for factor, hint in ((3.0, False), (5.0, True)):
        rest = signals(POSE, gyro=[0, -factor * configured, 0], force=[0, 0, 9.81])
        case = SimpleNamespace(signals=rest, config=Config.load("go2"))
        found = {f.name: f for f in imu._rest(case)}
        assert ("imu.gyro_bias" in found) == hint and "imu.rest" in found


def test_tilt_of_the_imus_own_orientation():
    """Of an IMU that leans by 0.4 rad, by a filter that knows 0.1 of it."""
    felt = Rotation.from_rotvec([0.4, 0.0, 0.0]).inv().apply([0.0, 0.0, GRAVITY])
    n = 50
    values = {
        "linear_acceleration": np.tile(felt, (n, 1)),
        "quat_world_imu": np.tile(Rotation.from_rotvec([0.1, 0.0, 0.0]).as_quat(), (n, 1)),
    }
    stream = Stream(0.1 * np.arange(n), 0.1 * np.arange(n), values)
    assert _tilt(stream, np.ones(n, bool)) == pytest.approx(0.3)


@pytest.mark.parametrize(("degrees", "named"), [(14.0, []), (16.0, ["imu.orientation"])])
def test_an_orientation_that_is_not_what_is_felt(degrees, named):
    values = {
        "angular_velocity": np.zeros((50, 3)),
        "linear_acceleration": np.tile([0.0, 0.0, GRAVITY], (50, 1)),
        "quat_world_imu": np.tile(
            Rotation.from_euler("y", degrees, degrees=True).as_quat(), (50, 1)
        ),
    }
    at = 0.1 * np.arange(50)
    recording = Recording("run", {"imu": Stream(at, at, values)}, {}, 5.0)
    case = SimpleNamespace(recording=recording, signals=SimpleNamespace(gyro=np.zeros((50, 3))))
    _, found = imu_orientation.examine(case)
    assert [f.name for f in found] == named
    assert not found or f"{degrees:.0f} degrees from what" in found[0].text


@pytest.mark.parametrize(("degrees", "severity"), [(3.5, "fact"), (4.5, "hint")])
def test_an_imu_that_leans_against_the_forces_of_the_feet(degrees, severity):
    """About an axis in the plane: about the vertical forces tell little."""
    asked = np.random.default_rng(3).normal([0.0, 0.0, 150.0], [30.0, 30.0, 20.0], (300, 3))
    lean = Rotation.from_rotvec(np.radians(degrees) * np.array([0.6, 0.8, 0.0]))
    zero = np.zeros((300, 3))
    motion = SimpleNamespace(
        needed=np.hstack([asked, zero]), residual=np.hstack([asked - lean.apply(asked), zero])
    )
    given = SimpleNamespace(torque=asked)
    case = SimpleNamespace(legged=True, carried=True, signals=given, motion=motion)
    (finding,) = imu._axes(case)
    assert finding.severity == severity and f"by {degrees} degrees" in finding.text


@pytest.mark.parametrize(("turning", "named"), [([], ["units.position"]), ([0], [])])
def test_a_joint_that_turns_as_far_as_it_likes_is_not_in_degrees(turning, named):
    swings = 50.0 + np.sin(T)[:, None] * np.ones(12)
    position = np.where(np.arange(12) == 0, swings, POSE)
    rates = np.gradient(position, STEP, axis=0)
    case = SimpleNamespace(
        robot=SimpleNamespace(nj=12, turning=np.array(turning, int)),
        signals=replace(signals(POSE), position=position, velocity=rates),
        with_units=lambda stream, factors: case,
        with_signals=lambda found: case,
    )
    _, found = units._positions(case)
    assert [f.name for f in found] == named


@pytest.mark.parametrize(
    ("changes", "differs"),
    [
        ({}, True),
        ({"armature": 0.0139}, False),  # 1.4 times the model's, or less
        ({"armature": 0.0072}, False),
        ({"armature": 0.0070}, True),
        ({"armature": -0.02}, False),
        ({"residual": 0.74}, False),  # 1.5 times what is left with it
        ({"excited": 19.0}, False),
    ],
)
def test_an_armature_that_is_worth_a_word(changes, differs):
    fit = {"armature": 0.0141, "armature_model": 0.01, "excited": 21.0}
    assert torques._differs({**fit, "residual": 0.76, "fitted": 0.5, **changes}) == differs


def test_armature_damping_and_friction_of_a_swinging_leg():
    """With outliers, as where the foot hits something."""
    rng = np.random.default_rng(4)
    terms = rng.normal(size=(600, 3)) * [50.0, 5.0, 1.0]
    values = terms @ [0.02, 0.1, 0.3] + rng.normal(0.0, 0.05, 600)
    values[::20] += 5.0
    found = torques._fit(terms, values, terms @ [0.01, 0.1, 0.3], 0.01)
    told = [found[name] for name in ("armature", "damping", "friction")]
    assert told == pytest.approx([0.02, 0.1, 0.3], abs=0.02)
    assert found["armature"] == pytest.approx(0.02, abs=5e-4)
    assert found["fitted"] == pytest.approx(0.05, rel=0.2)
    assert found["residual"] == pytest.approx(0.5, rel=0.15)  # 0.01 times 50 rad/s2
    assert found["excited"] == pytest.approx(50.0, rel=0.1)


def test_stamps_that_jump_tell_no_clock():
    """Of a stream that arrives in heaps no clock is told; of one that does not it is."""
    at = np.arange(0.0, 4.0, 0.01)

    def offsets(heaps: float):
        late = 100.0 + heaps * np.linspace(0.0, 1.0, len(at))
        streams = {"joint_states": Stream(at, at, {}), "imu": Stream(at + late, at, {})}
        return dict(_offsets(Recording("run", streams, {}, 4.0)))

    assert offsets(0.24) == {"imu": pytest.approx(100.12)}
    assert offsets(0.26) == {}


def swings_of_an_arm(late: float, signs: np.ndarray):
    """Findings about a RicMonk whose torques are late [s], and have these signs."""
    of = robot("ricmonk", joint_friction=0.3, joint_damping=0.1)
    size, pace = np.array([0.8, 0.6, 0.7]), np.array([4.0, 7.0, 5.0])

    def motion(t):
        phase = pace * t[:, None]
        return size * np.sin(phase), size * pace * np.cos(phase), -size * pace**2 * np.sin(phase)

    def torque(t):
        data, (angle, rate, change) = of.model.createData(), motion(t)
        links = [
            pin.rnea(of.model, data, of.coordinates(q), v, a)
            for q, v, a in zip(angle, rate, change)
        ]
        sign = rate / np.hypot(rate, FRICTION_VELOCITY)
        return np.array(links) + of.joint_damping * rate + of.joint_friction * sign

    position, velocity, acceleration = motion(T)
    told = signs * torque(T - late)
    given = Signals(T, np.ones(len(T), bool), position, velocity, acceleration, torque=told)
    _, found = arm.examine(SimpleNamespace(robot=of, signals=given))
    return of, {f.name: f for f in found}


@pytest.mark.parametrize("late", [0.0, 0.008, -0.008, 0.012, -0.012])
def test_torques_of_an_arm_that_are_late(late):
    _, found = swings_of_an_arm(late, np.ones(3))
    delay = found["delay.torque"]
    assert delay.evidence["delay_s"] == pytest.approx(late, abs=5e-4)
    assert delay.severity == ("fault" if abs(late) > 0.01 else "fact")
    assert not late or ("late" if late > 0.0 else "early") in delay.text
    assert found["torques"].severity == "fact" and "sign.torque" not in found
    if not late:
        assert max(found["torques"].evidence["residual"].values()) < 1e-9


def test_a_torque_of_an_arm_with_the_opposite_sign():
    of, found = swings_of_an_arm(0.0, np.array([1.0, -1.0, 1.0]))
    assert found["sign.torque"].severity == "fault"
    assert found["sign.torque"].evidence == {"joint": of.joint_names[1]}
    assert list(found["torques"].evidence["residual"]) == of.joint_names[::2]  # what fits


def test_an_imu_that_is_turned_is_turned_back():
    of = robot(imu_rotation=[0.2, 0.4, -0.3])
    mounted, turn = of.imu_placement.rotation, Rotation.from_rotvec([0.1, 0.3, -0.2])
    true = np.array([0.3, -0.5, 0.8])  # rad/s of the base
    reads = mounted.T @ turn.as_matrix() @ true
    given = signals(POSE, gyro=reads, force=reads, up=reads)
    case = SimpleNamespace(robot=of, signals=given, with_signals=lambda s: s)
    corrected, finding = mocap._imu_turned(case, turn)
    np.testing.assert_allclose(mounted @ corrected.gyro[0], true, atol=1e-12)
    back = Rotation.from_euler("xyz", finding.evidence["rpy"]).apply(reads)
    np.testing.assert_allclose(mounted @ back, true, atol=1e-3)


def test_a_world_of_motion_capture_that_lies():
    """Its y points upwards, of a tracked body that is turned on the base."""
    turn, world = Rotation.from_rotvec([0.0, 0.0, 0.7]), Rotation.from_rotvec([np.pi / 2, 0, 0])
    lean = Rotation.from_rotvec([0.5, 0.0, 0.0])
    up = lean.inv().apply([0.0, 0.0, 1.0])
    motion = SimpleNamespace(up=np.tile(up, (5, 1)))
    case = SimpleNamespace(legs=SimpleNamespace(at=lambda s, rows: motion), signals=None)

    def vertical(upright):
        poses = Rotation.from_quat(np.tile((upright * lean * turn).as_quat(), (5, 1)))
        return mocap._vertical(case, SimpleNamespace(rotation=poses), np.arange(5), turn)

    assert not vertical(Rotation.identity())
    (finding,) = vertical(world.inv())
    assert "+y points upwards (90 degrees from z)" in finding.text


def test_place_and_unit_of_a_tracked_body():
    rng = np.random.default_rng(9)
    rate, place = rng.normal(size=(400, 3)), np.array([0.1, -0.2, 0.3])
    found, stddev = mocap_velocity._place(rate, np.cross(rate, place))
    np.testing.assert_allclose(found, place, atol=1e-6)
    assert stddev.max() < 1e-3
    by_feet = rng.normal(size=(400, 3))
    for factor, unit in ((1e3, "in mm"), (1e2, "in cm"), (1 / 0.1, "another unit than metres")):
        units = {}
        case = SimpleNamespace(with_units=lambda stream, factors, u=units: u.update(factors))
        _, (finding,) = mocap_velocity._compared(case, rate, by_feet, factor * by_feet)
        assert unit in finding.text
        assert units["position_world"] == pytest.approx(1.0 / factor)
    away = SimpleNamespace(robot=robot(mocap_position=[0.1, -0.2, 0.0]))
    (finding,) = mocap_velocity._elsewhere(away, place, np.full(3, 1e-3))
    assert "300 mm from its place" in finding.text
    assert not list(mocap_velocity._elsewhere(away, place - [0, 0, 0.3], np.full(3, 1e-3)))


@pytest.mark.parametrize(
    ("size", "late", "named"),
    [
        (1.0, 0.0, []),
        (0.7, 0.0, ["rates.scale"]),
        (1.3, 0.0, ["rates.scale"]),
        (1.0, 0.012, ["rates.delay"]),
        (1.0, -0.012, ["rates.delay"]),
    ],
)
def test_rates_of_another_size_or_late(size, late, named):
    change = np.sin(3.0 * T)[:, None]
    velocity = size * np.sin(3.0 * (T - late))[:, None]
    found = rates._details(change, velocity, np.array([size]), np.array(["knee"]))
    assert [f.name for f in found] == ["rates", *named]
    assert not late or f"12 ms {'late' if late > 0.0 else 'early'} against" in found[1].text


def test_streams_that_are_slow_late_or_have_gaps():
    def named(stamps, delay):
        stream = Stream(stamps, stamps + delay, {"position": np.sin(stamps)[:, None]})
        return {f.name: f for f in timing._stream("joint_states", stream)}

    even = np.arange(0.0, 5.0, 0.004)
    assert set(named(even, 0.01)) == {"timing.joint_states"}
    assert "timing.joint_states.late" in named(even, 0.06)
    assert "timing.joint_states.slow" in named(np.arange(0.0, 5.0, 0.02), 0.0)
    holes = np.delete(even, [*range(100, 110), *range(300, 303)])
    found = named(holes, 0.0)["timing.joint_states.gaps"]
    assert "1 gaps, the longest of 44 ms" in found.text
    for longest, gaps in ((0.039, False), (0.041, True)):  # four times the usual
        steps = np.full(400, 0.01)
        steps[200] = longest
        assert ("timing.joint_states.gaps" in named(np.cumsum(steps), 0.0)) == gaps
    for share, jitters in ((0.16, False), (0.18, True)):  # a quarter, as a standard deviation
        steps = 0.004 * (1.0 + share * np.tile([-1.0, 0.0, 1.0], 300))
        assert ("timing.joint_states.jitter" in named(np.cumsum(steps), 0.0)) == jitters


@pytest.mark.parametrize(
    ("ratio", "said", "proposed"),
    [
        (1.04, "", None),
        (0.96, "", None),
        (1.06, "17.05 kg, the model weighs 16.09 kg (+6.0 %)", "torque_scale: 1.272"),
        (0.94, "(-6.0 %)", "torque_scale: 1.128"),
        (0.81, "(-19.0 %)", "torque_scale: 0.972"),
        (0.79, "which no load explains", "look at the unit of the torques"),
    ],
)
def test_weight_that_torques_carry(ratio, said, proposed):
    """Of readings that are divided by 1.2: they carry the weight without more of that."""
    of = robot(torque_scale=1.2)
    given = signals(POSE, torque=np.zeros(12), force=[0, 0, GRAVITY], up=[0, 0, 1])

    def at(signals, rows):
        needed = np.tile([0.0, 0.0, of.total_mass * GRAVITY, 0.0, 0.0, 0.0], (len(rows), 1))
        up = np.tile([0.0, 0.0, 1.0], (len(rows), 1))
        load = 0.25 * ratio * needed[:, None, :3] * np.ones((1, 4, 1))
        return SimpleNamespace(needed=needed, residual=(1.0 - ratio) * needed, up=up, load=load)

    case = SimpleNamespace(
        robot=of,
        signals=given,
        legs=SimpleNamespace(at=at),
        legged=True,
        carried=True,
        sound=lambda *streams: True,
    )
    _, (finding,) = weight.examine(case)
    assert finding.severity == ("hint" if said else "fact") and said in finding.text
    assert finding.evidence["mass_kg"] == pytest.approx(ratio * of.total_mass)
    assert proposed is None or proposed in finding.proposal


@pytest.mark.parametrize(
    ("name", "values", "held"),
    [
        ("mocap/pose", T // 0.02, True),  # five times the same
        ("mocap/pose", 0.0 * T, False),  # what stands still holds nothing
        ("contacts", T // 0.5, False),  # flags stay for a step
    ],
)
def test_samples_that_are_held(name, values, held):
    found = timing._stream(name, Stream(T, T, {"values": values[:, None]}))
    assert (f"timing.{name}.held" in [f.name for f in found]) == held


def test_remedies_of_delays():
    late = Delay(0.03, 1.0, 0.0)
    assert "by -30 ms (imu.delay: 0.030" in delays._finding("imu", "IMU", late, {}, 0.0).proposal
    torque = delays._finding("torque", "torques", late, {}, 0.0)
    assert "joints.command_delay: -0.030" in torque.proposal and "30 ms late" in torque.text
    mocap_late = delays._mocap_finding(late, {}, 0.2)
    assert "by -0.030 s (robot.mocap_delay: 0.230" in mocap_late.proposal


def test_stamps_that_jump_all_the_time_are_no_settings():
    arrivals = np.arange(0.0, 4.0, 0.01)
    for every, parts in ((2, 1), (200, 2)):
        ahead = np.where(np.arange(400) // every % 2, 5.0, 0.0)
        assert len(_settings(Stream(arrivals + ahead, arrivals, {}))) == parts
