# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Each mistake made on purpose in ten seconds of data is named in one line, and nothing else is."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.spoiling import shifted
from scipy.spatial.transform import Rotation

HINTS = ("hint", "fault")


def joint(message, **fields):
    """The message with functions of its arrays in their place."""
    return replace(
        message, **{name: f(np.array(getattr(message, name))) for name, f in fields.items()}
    )


def only_joints(change):
    return lambda topic, seconds, message: change(message) if topic == "/joint_states" else message


def exchanged(message):
    """FL and FR under each other's names."""
    names = [n.replace("FL", "?").replace("FR", "FL").replace("?", "FR") for n in message.name]
    return replace(message, name=names)


def flipped(message):
    """FR_thigh_joint about the opposite axis."""
    sign = np.array([-1.0 if name == "FR_thigh_joint" else 1.0 for name in message.name])
    return joint(message, **{f: lambda x: x * sign for f in ("position", "velocity", "effort")})


def turned(topic, seconds, message):
    """An IMU whose x points to the robot's left."""
    if topic != "/imu":
        return message
    parts = {}
    for name in ("angular_velocity", "linear_acceleration"):
        v = getattr(message, name)
        parts[name] = replace(v, x=v.y, y=-v.x)
    return replace(message, **parts)


def late_torque(seconds: float, rate: float = 500.0):
    """Torques that were read before."""
    past = []

    def spoil(topic, _, message):
        if topic != "/joint_states":
            return message
        past.append(np.array(message.effort))
        return replace(message, effort=past[max(0, len(past) - 1 - round(seconds * rate))])

    return spoil


def negated(sensor, axes="xyz"):
    """One sensor of the IMU, or axes of it, with the opposite sign: no turn does that."""

    def spoil(topic, seconds, message):
        if topic != "/imu":
            return message
        v = getattr(message, sensor)
        return replace(message, **{sensor: replace(v, **{a: -getattr(v, a) for a in axes})})

    return spoil


def of_joints(message, kind: str, value: float, other: float) -> np.ndarray:
    """(12,) one value for joints of a name, another for the others."""
    return np.array([value if kind in name else other for name in message.name])


def calf_torques(message):
    """All calves' torques with the opposite sign."""
    return joint(message, effort=lambda x: x * of_joints(message, "calf", -1.0, 1.0))


def hips_are_calves(message):
    """Hip and calf of every leg under each other's names."""
    names = [
        n.replace("hip", "?").replace("calf", "hip").replace("?", "calf") for n in message.name
    ]
    return replace(message, name=names)


def off_zero(message):
    """FR_calf_joint reads 0.3 rad too much."""
    return joint(message, position=lambda x: x + of_joints(message, "FR_calf", 0.3, 0.0))


def in_order(order):
    """Function of a message that takes its readings in another order, names as they were."""
    fields = ("position", "velocity", "effort")
    return lambda m: joint(m, **{f: lambda x: x[order] for f in fields})


by_kind = in_order(np.arange(12).reshape(4, 3).T.ravel())
anyhow = in_order([4, 8, 2, 10, 1, 6, 0, 11, 5, 3, 9, 7])


def mirrored(topic, seconds, message):
    """Motion capture with a y that points to the right, but orientations as they were."""
    if topic != "/mocap/pose":
        return message
    p = message.pose.position
    return replace(message, pose=replace(message.pose, position=replace(p, y=-p.y)))


def of_imu(rotation):
    """An IMU that is turned against its frame."""

    def spoil(topic, seconds, message):
        if topic != "/imu":
            return message
        parts = {}
        for name in ("angular_velocity", "linear_acceleration"):
            v = getattr(message, name)
            parts[name] = replace(v, **dict(zip("xyz", rotation.apply([v.x, v.y, v.z]))))
        return replace(message, **parts)

    return spoil


def y_up(topic, seconds, message):
    """Motion capture in a world whose y points upwards."""
    if topic != "/mocap/pose":
        return message
    p, q = message.pose.position, message.pose.orientation
    lies = Rotation.from_euler("x", -90.0, degrees=True)
    turned = (lies * Rotation.from_quat([q.x, q.y, q.z, q.w])).as_quat()
    pose = replace(
        message.pose,
        position=replace(p, **dict(zip("xyz", lies.apply([p.x, p.y, p.z])))),
        orientation=replace(q, **dict(zip("xyzw", turned))),
    )
    return replace(message, pose=pose)


def other_clock(topic, seconds, message):
    return shifted(message, 10.0) if topic == "/mocap/pose" else message


def late_mocap(topic, seconds, message):
    return shifted(message, 0.33) if topic == "/mocap/pose" else message


def moved_mocap(place):
    """The tracked body at another place of the base [m], turned as the base."""

    def spoil(topic, seconds, message):
        if topic != "/mocap/pose":
            return message
        p, q = message.pose.position, message.pose.orientation
        x, y, z = Rotation.from_quat([q.x, q.y, q.z, q.w]).apply(place)
        position = replace(p, x=p.x + x, y=p.y + y, z=p.z + z)
        return replace(message, pose=replace(message.pose, position=position))

    return spoil


@pytest.mark.slow
def test_a_tracked_body_on_the_head_is_not_the_base(findings):
    """As on a Go2 whose markers sat 0.21 m before the base: legs and turning tell where."""
    place = np.array([0.21, -0.01, 0.09])
    found = {f.name: f for f in findings(moved_mocap(place)).findings}
    assert found["mocap.place"].severity == "hint"
    proposed = found["mocap.place"].proposal["robot"]["mocap_position"]
    assert np.array(proposed) == pytest.approx(place, abs=0.03)
    assert found["mocap.velocity"].evidence["slope_of_base"] == pytest.approx(1.0, abs=0.05)
    assert [f.name for f in found.values() if f.severity in HINTS] == ["mocap.place"]


def test_nothing_is_found_where_nothing_is_wrong(findings):
    found = findings().findings
    assert [f.text for f in found if f.severity in HINTS] == []
    told = {f.name: f.evidence for f in found}
    assert told["weight"]["mass_kg"] == pytest.approx(16.085, rel=0.01)
    assert abs(told["delay.mocap"]["seconds"]) < 0.01
    for key, level in (("encoder", 0.002), ("joint_velocity", 0.05), ("gyro", 0.005)):
        assert told[f"level.{key}"]["level"] == pytest.approx(level, rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "spoil", "said", "evidence"),
    [
        ("legs", only_joints(exchanged), "FL_foot and FR_foot are exchanged", {}),
        (
            "sign.joint",
            only_joints(flipped),
            "joint FR_thigh_joint: position, rate and torque have the opposite sign",
            {"joint": "FR_thigh_joint"},
        ),
        (
            "imu_axes",
            turned,
            "the IMU is turned by 90 degrees: x, y, z of its frame in the model are",
            # what it reports, turned so, is what its frame in the model would
            {"rotation": [[0, -1, 0], [1, 0, 0], [0, 0, 1]]},
        ),
        ("delay.torque", late_torque(0.03), "ms late", {"seconds": pytest.approx(0.03, abs=0.003)}),
        (
            "delay.mocap",
            late_mocap,
            "motion capture is 0.33",
            {"seconds": pytest.approx(0.33, abs=0.005)},
        ),
        (
            "units.torque",
            only_joints(lambda m: joint(m, effort=lambda x: 1e3 * x)),
            "are they in Nm?",
            {},
        ),
        (
            "units.velocity",
            only_joints(lambda m: joint(m, velocity=np.degrees)),
            "joint rates are in degrees per second",
            {"slope": pytest.approx(57.3, rel=0.03)},
        ),
        (
            "sign.accelerometer",
            negated("linear_acceleration"),
            "accelerometer has the opposite sign",
            {},
        ),
        *(
            (
                "sign.accelerometer",
                negated("linear_acceleration", axis),
                f"the {axis} axis of the accelerometer has the opposite sign",
                {"axis": axis},
            )
            for axis in "xyz"
        ),
        *(
            pytest.param(
                "sign.gyro",
                negated("angular_velocity", axis),
                f"the {axis} axis of the gyro has the opposite sign",
                {"axis": axis},
                marks=pytest.mark.slow,
            )
            for axis in "xyz"
        ),
        (
            "signs.torque",
            only_joints(calf_torques),
            "RR_calf_joint: torque has the opposite sign in every leg",
            {"joints": [f"{leg}_calf_joint" for leg in ("FL", "FR", "RL", "RR")]},
        ),
        (
            "zero",
            only_joints(off_zero),
            "FR_calf_joint: the zero of its encoder is off by about +0.",
            {"joint": "FR_calf_joint", "offset": pytest.approx(0.3, abs=0.05)},
        ),
        (
            "units.torque",
            only_joints(lambda m: joint(m, effort=lambda x: 0.1 * x)),
            "times larger they fit",
            {"factor": pytest.approx(10.0, rel=0.05)},
        ),
        (
            "clock.mocap/pose",
            other_clock,
            "its stamps are 10.000 s ahead",
            {"seconds": pytest.approx(10.0, abs=0.01)},
        ),
        pytest.param("joints", only_joints(by_kind), "kind after kind", {}, marks=pytest.mark.slow),
        pytest.param(
            "mechanics", only_joints(anyhow), "contradict each other", {}, marks=pytest.mark.slow
        ),
        ("mocap.vertical", y_up, "+y points upwards", {}),
        pytest.param(
            "imu.turned",
            of_imu(Rotation.from_euler("z", 45.0, degrees=True)),
            "the IMU is turned by 4",
            {"rpy": pytest.approx([0.0, 0.0, -np.pi / 4.0], abs=0.1)},
            marks=pytest.mark.slow,
        ),
        pytest.param("mocap.positions", mirrored, "+x -y +z", {}, marks=pytest.mark.slow),
        pytest.param(
            "sign.gyro", negated("angular_velocity"), "gyro has", {}, marks=pytest.mark.slow
        ),
        pytest.param(
            "joints",
            only_joints(hips_are_calves),
            "what is called FL_hip_joint is FL_calf_joint",
            {},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_mistake_is_named_and_nothing_else(name, spoil, said, evidence, findings):
    examination = findings(spoil)
    faults = examination.faults
    assert [f.name for f in faults] == [name], [f.text for f in faults]
    # and no setting is made of data that are wrong
    assert [f.text for f in examination.findings if isinstance(f.proposal, dict)] == []
    assert said in faults[0].text and "\n" not in faults[0].text and faults[0].proposal
    assert {key: faults[0].evidence[key] for key in evidence} == evidence


def orientation(of):
    """Spoil the IMU's own orientation: `of` gives its (x, y, z, w) from the newest of the body."""
    newest = []

    def spoil(topic, seconds, m):
        if topic == "/mocap/pose":
            q = m.pose.orientation
            newest[:] = [np.array([q.x, q.y, q.z, q.w])]
        if topic != "/imu" or not newest:
            return m
        read = replace(m.orientation, **dict(zip("xyzw", of(newest[0]))))
        return replace(m, orientation=read, orientation_covariance=np.zeros(9))

    return spoil


@pytest.mark.parametrize(
    ("of", "severity", "said"),
    [
        (np.array, None, ""),
        (lambda q: np.roll(q, 1), "fault", "degrees from what its accelerometer feels as up"),
        (lambda q: q * [-1.0, -1.0, -1.0, 1.0], "fault", "does not turn as its gyro does"),
        (lambda q: np.array([0.0, 0.0, 0.0, 1.0]), "hint", "stays the same while it turns"),
    ],
)
def test_the_imus_own_orientation(of, severity, said, findings):
    found = [f for f in findings(orientation(of)).findings if f.name == "imu.orientation"]
    assert [f.severity for f in found] == ([severity] if severity else [])
    assert all(said in f.text for f in found)


def test_motion_capture_that_turns_otherwise(findings):
    """Its quaternion begins with the scalar."""

    def wxyz(topic, seconds, m):
        if topic != "/mocap/pose":
            return m
        q = m.pose.orientation
        other = replace(q, x=q.w, y=q.x, z=q.y, w=q.z)
        return replace(m, pose=replace(m.pose, orientation=other))

    faults = findings(wxyz).faults
    assert "delay.mocap" in [f.name for f in faults]
    assert "does not turn as the gyro does" in faults[0].text and "quaternion" in faults[0].proposal


@pytest.mark.slow
def test_feet_of_the_wrong_radius(findings):
    faults = findings(radius=0.036).faults
    assert [f.name for f in faults] == ["feet.radius"], [f.text for f in faults]
    assert faults[0].evidence["radius_m"] == pytest.approx(0.022, abs=0.004)
