# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Messages to samples: order by name, absent fields, refusals that are counted."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.errors import DataError
from prime_estimation.io.joint_order import JointOrder
from prime_estimation.io.messages import MessageReader, stamp_ns
from prime_estimation.types import CommandSample, ImuSample, JointSample, PoseSample

NAMES = ["FL_hip", "FL_thigh", "FL_calf"]
STAMP = 1_700_000_000_123_456_789


def header(stamp: int = STAMP):
    return SimpleNamespace(
        stamp=SimpleNamespace(sec=stamp // 10**9, nanosec=stamp % 10**9), frame_id=""
    )


def joints(
    names=("FL_calf", "arm", "FL_hip", "FL_thigh"),
    position=(3.0, 9.0, 1.0, 2.0),
    velocity=(),
    effort=(),
    stamp=STAMP,
):
    return SimpleNamespace(
        header=header(stamp), name=list(names), position=position, velocity=velocity, effort=effort
    )


def xyz(*v):
    return SimpleNamespace(**dict(zip("xyzw", v)))


def imu(
    gyro=(0.1, 0.2, 0.3),
    acceleration=(0.0, 0.0, 9.8),
    orientation=(0.0, 0.0, 0.0, 0.0),
    covariance=0.0,
):
    return SimpleNamespace(
        header=header(),
        angular_velocity=xyz(*gyro),
        linear_acceleration=xyz(*acceleration),
        orientation=xyz(*orientation),
        orientation_covariance=[covariance] + [0.0] * 8,
    )


def pose(position=(1.0, 2.0, 3.0), orientation=(0.0, 0.0, 0.0, 1.0)):
    return SimpleNamespace(
        header=header(),
        pose=SimpleNamespace(position=xyz(*position), orientation=xyz(*orientation)),
    )


def test_stamp_keeps_nanoseconds():
    assert stamp_ns(header()) == STAMP


def test_joints_are_picked_by_name_and_others_ignored():
    sample = MessageReader(NAMES).sample(
        "joint_states", joints(velocity=(0.3, 0.9, 0.1, 0.2), effort=(30, 90, 10, 20))
    )
    assert isinstance(sample, JointSample) and sample.stamp_ns == STAMP
    np.testing.assert_array_equal(sample.position, [1, 2, 3])
    np.testing.assert_array_equal(sample.velocity, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(sample.effort, [10, 20, 30])


@pytest.mark.parametrize("absent", [(), np.zeros(0), [np.nan] * 4])
def test_absent_rate_and_effort_are_none(absent):
    sample = MessageReader(NAMES).sample("joint_states", joints(velocity=absent, effort=absent))
    assert sample.velocity is None and sample.effort is None


def test_locked_joint_that_moves_is_said_and_counted():
    """The model holds a further joint at 9 rad; a fresh message says whether that is true."""
    inbound = MessageReader(NAMES, {"arm": 9.0, "absent": 0.0})
    inbound.sample("joint_states", joints())
    assert inbound.trouble == "" and not inbound.counts
    assert inbound.sample("joint_states", joints(position=(3.0, 9.2, 1.0, 2.0))) is not None
    assert inbound.trouble == "arm is locked at 9 rad but stands at 9.20 rad"
    inbound.sample("joint_states", joints())
    assert inbound.trouble == "" and inbound.counts == {
        "joint_states: a locked joint is not in its place": 1
    }


def test_order_changes_with_the_list_of_names():
    inbound = MessageReader(NAMES)
    inbound.sample("joint_states", joints())
    sample = inbound.sample("joint_states", joints(names=NAMES, position=(1, 2, 3)))
    np.testing.assert_array_equal(sample.position, [1, 2, 3])


def test_missing_joints_are_listed_with_what_was_seen():
    with pytest.raises(
        DataError,
        match=(
            r"lacks 1 of 3 joints: FL_calf; it has FL_hip, FL_thigh, FL_shin. Wrong robot, "
            r"renamed joints, or"
        ),
    ):
        JointOrder(NAMES, ["FL_hip", "FL_thigh", "FL_shin"])
    with pytest.raises(DataError, match="twice: FL_hip"):
        JointOrder(NAMES, [*NAMES, "FL_hip"])


def test_a_stream_that_never_has_all_joints_is_an_error():
    inbound = MessageReader(NAMES)
    with pytest.raises(DataError, match="lacks 2 of 3 joints"):
        for _ in range(100):
            assert inbound.sample("joint_states", joints(names=["FL_hip"], position=[1.0])) is None
    short = MessageReader(NAMES)
    short.sample("joint_states", joints(names=["FL_hip"], position=[1.0]))
    with pytest.raises(DataError, match="lacks 2 of 3 joints"):
        short.check_joints_seen()


def test_a_second_publisher_with_other_joints_is_counted_only():
    inbound = MessageReader(NAMES)
    for _ in range(200):
        assert (
            inbound.sample("joint_states", joints(names=["arm"], position=[1.0])) is None
            or pytest.fail()
        )
        assert inbound.sample("joint_states", joints()) is not None
    assert inbound.counts == {"joint_states: not all joints of the robot": 200}
    inbound.check_joints_seen()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("role", "make"),
    [
        ("joint_states", lambda b: joints(position=(3.0, 9.0, b, 2.0))),
        ("joint_states", lambda b: joints(velocity=(3.0, 9.0, b, 2.0))),
        ("joint_states", lambda b: joints(effort=(3.0, 9.0, b, 2.0))),
        ("joint_commands", lambda b: joints(effort=(3.0, 9.0, b, 2.0))),
        ("imu", lambda b: imu(gyro=(0, b, 0))),
        ("imu", lambda b: imu(acceleration=(0, b, 0))),
        ("mocap", lambda b: pose(position=(0, b, 0))),
    ],
)
def test_nan_and_infinity_are_refused_and_counted(role, make, bad):
    inbound = MessageReader(NAMES)
    assert inbound.sample(role, make(bad)) is None
    assert inbound.counts == {f"{role}: NaN or infinite value": 1}


def test_nan_of_a_joint_that_is_not_ours_does_not_matter():
    assert (
        MessageReader(NAMES).sample("joint_states", joints(position=(3.0, np.nan, 1.0, 2.0)))
        is not None
    )


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (joints(position=(1.0,)), "array and name list differ in length"),
        (joints(position=()), "no positions"),
    ],
)
def test_malformed_joint_messages(message, reason):
    inbound = MessageReader(NAMES)
    assert inbound.sample("joint_states", message) is None
    assert inbound.counts == {f"joint_states: {reason}": 1}


def test_commands():
    sample = MessageReader(NAMES).sample("joint_commands", joints(effort=(30, 90, 10, 20)))
    assert isinstance(sample, CommandSample)
    np.testing.assert_array_equal(sample.effort, [10, 20, 30])


def test_imu_without_orientation():
    inbound = MessageReader(NAMES)
    assert (
        isinstance(sample := inbound.sample("imu", imu()), ImuSample)
        and sample.quat_world_imu is None
    )
    assert (
        inbound.sample("imu", imu(orientation=(0, 0, 0, 1), covariance=-1.0)).quat_world_imu is None
    )
    assert not inbound.counts
    assert inbound.sample("imu", imu(orientation=(0, 0, 0, 2))).quat_world_imu is None
    assert inbound.sample("imu", imu(orientation=(np.nan, 0, 0, 1))).quat_world_imu is None
    assert inbound.counts == {"imu: orientation is no unit quaternion, ignored": 2}


def test_imu_with_orientation_is_normalized():
    sample = MessageReader(NAMES).sample("imu", imu(orientation=(0, 0, 0.601, 0.8)))
    np.testing.assert_allclose(np.linalg.norm(sample.quat_world_imu), 1.0)


def test_mocap():
    inbound = MessageReader(NAMES)
    sample = inbound.sample("mocap", pose(), arrival_ns=STAMP + 8_000_000)
    assert isinstance(sample, PoseSample) and (sample.stamp_ns, sample.arrival_ns) == (
        STAMP,
        STAMP + 8_000_000,
    )
    assert inbound.sample("mocap", pose(orientation=(0, 0, 0, 0))) is None
    assert inbound.counts == {"mocap: orientation is no unit quaternion": 1}


def test_mocap_of_a_body_that_is_not_the_base():
    """The pose that is read is the base's: pose_world_base = pose_world_body pose_base_body^-1."""
    world_M_base, base_M_body = (
        pin.SE3(pin.rpy.rpyToMatrix(*angles), np.array(place))
        for angles, place in [((0.3, -0.2, 2.0), (1.0, -2.0, 0.4)), ((0.1, 1.5, -0.4), (0.2, 0, 0))]
    )
    x, y, z, *quat = pin.SE3ToXYZQUAT(world_M_base * base_M_body)
    tracked = pin.Quaternion(base_M_body.rotation).coeffs(), base_M_body.translation
    reader = MessageReader(NAMES, tracked_body=tracked)
    sample = reader.sample("mocap", pose(position=(x, y, z), orientation=quat))
    assert sample.position_world == pytest.approx(world_M_base.translation, abs=1e-12)
    found = pin.Quaternion(sample.quat_world_body).matrix()
    assert found == pytest.approx(world_M_base.rotation, abs=1e-12)
    assert np.linalg.norm(sample.quat_world_body) == pytest.approx(1.0, abs=1e-15)


def test_without_stamp_the_arrival_counts():
    inbound = MessageReader(NAMES)
    assert inbound.sample("joint_states", joints(stamp=0), arrival_ns=77).stamp_ns == 77
    assert inbound.counts == {"joint_states: no stamp, arrival time taken": 1}
