# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Estimates to messages.

Frames, covariances, inertia conventions, and that every message goes over the wire and back.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.estimates import make_estimate
from scipy.spatial.transform import Rotation

from prime_estimation.config.parameters import EstimatorConfig
from prime_estimation.io import inertia_messages
from prime_estimation.io import to_messages as outbound
from prime_estimation.io.typestore import typestore
from prime_estimation.output_messages import Outputs
from prime_estimation.robot import Robot
from prime_estimation.types import JointParameter

MAKE = typestore().types.__getitem__


@pytest.fixture(scope="module")
def robot():
    return Robot.load("go2")


def xyz(v):
    return np.array([v.x, v.y, v.z])


def same(a, b) -> bool:
    """Deep equality of two messages, NaN equal to NaN."""
    if hasattr(a, "__dataclass_fields__"):
        return all(
            same(getattr(a, f), getattr(b, f)) for f in a.__dataclass_fields__ if f != "__msgtype__"
        )
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    numbers = isinstance(a, np.ndarray | float)
    return bool(np.array_equal(a, b, equal_nan=True)) if numbers else a == b


def test_every_output_survives_the_wire(robot):
    outputs = Outputs(robot, EstimatorConfig(adapt_joints=False), MAKE)
    store, estimate = typestore(), make_estimate(robot)
    messages = outputs.messages(estimate)
    for topic, message in messages:
        kind = message.__msgtype__
        assert same(message, store.deserialize_cdr(store.serialize_cdr(message, kind), kind)), topic
    kinds = {t: m.__msgtype__ for t, m in messages}
    assert kinds == outputs.topics()


def test_joint_parameters_have_a_topic_where_they_are_estimated(robot):
    config = EstimatorConfig(joint_parameters="losses")
    outputs, store = Outputs(robot, config, MAKE), typestore()
    told = (
        JointParameter("armature", "calf_joint", 0.011, 0.001, True),
        JointParameter("gear_loss", "hip_joint", 0.0, 0.02, False),
    )
    estimate = replace(make_estimate(robot), joint_parameters=told)
    message = dict(outputs.messages(estimate))["joint_parameters"]
    kind = message.__msgtype__
    assert outputs.topics()["joint_parameters"] == kind
    assert same(message, store.deserialize_cdr(store.serialize_cdr(message, kind), kind))
    assert message.kinds == ["armature", "gear_loss"] and message.names[0] == "calf_joint"
    assert message.observable.tolist() == [True, False]
    np.testing.assert_array_equal(message.values, [0.011, 0.0])
    np.testing.assert_array_equal(message.stddevs, [0.001, 0.02])


def test_external_wrench_is_that_of_the_base_with_its_covariance_in_the_status(robot):
    estimate = make_estimate(robot)
    messages = dict(Outputs(robot, EstimatorConfig(), MAKE).messages(estimate))
    message, external = messages["external_wrench"], estimate.external
    assert message.header.frame_id == robot.base_frame
    stamp = message.header.stamp
    assert stamp.sec * 1_000_000_000 + stamp.nanosec == external.stamp_ns
    np.testing.assert_array_equal(xyz(message.wrench.force), external.force_base)
    np.testing.assert_array_equal(xyz(message.wrench.torque), external.moment_base)
    covariance = messages["status"].external_wrench_covariance.reshape(6, 6)
    np.testing.assert_array_equal(covariance, external.covariance)


def test_no_external_wrench_where_none_is_told(robot):
    estimate = replace(make_estimate(robot), external=None)
    messages = dict(Outputs(robot, EstimatorConfig(), MAKE).messages(estimate))
    assert "external_wrench" not in messages
    assert not messages["status"].external_wrench_covariance.any()


def test_odometry_twist_is_in_the_child_frame_and_pose_in_the_world(robot):
    estimate = make_estimate(robot)
    message = outbound.odometry(MAKE, estimate, "odom", "base")
    assert (message.header.frame_id, message.child_frame_id) == ("odom", "base")
    np.testing.assert_array_equal(xyz(message.pose.pose.position), estimate.position_world)
    np.testing.assert_array_equal(xyz(message.twist.twist.linear), estimate.linear_velocity_base)
    np.testing.assert_array_equal(xyz(message.twist.twist.angular), estimate.angular_velocity_base)
    np.testing.assert_array_equal(message.twist.covariance.reshape(6, 6), estimate.twist_covariance)


def test_pose_covariance_is_in_fixed_axes(robot):
    """Sampled: perturb the pose in the base's tangent, take the spread of position and of the
    fixed-axes rotation vector."""
    estimate = make_estimate(robot)
    rng = np.random.default_rng(1)
    tangent = rng.multivariate_normal(np.zeros(6), estimate.pose_covariance, size=200_000)
    rotation = Rotation.from_quat(estimate.quat_world_base)
    position = rotation.apply(tangent[:, :3])
    turned = (rotation * Rotation.from_rotvec(tangent[:, 3:]) * rotation.inv()).as_rotvec()
    sampled = np.cov(np.hstack([position, turned]).T)
    stated = outbound.odometry(MAKE, estimate, "odom", "base").pose.covariance.reshape(6, 6)
    np.testing.assert_allclose(stated, sampled, atol=0.02 * np.abs(sampled).max())


def test_inertia_message_is_about_the_com():
    """A point mass off the origin has no inertia about its com."""
    com, mass = np.array([0.1, -0.2, 0.3]), 2.0
    message = inertia_messages.inertia_message(
        MAKE, pin.Inertia(mass, com, np.zeros((3, 3))).toDynamicParameters()
    )
    assert message.m == mass
    np.testing.assert_allclose(xyz(message.com), com)
    np.testing.assert_allclose(
        [message.ixx, message.ixy, message.ixz, message.iyy, message.iyz, message.izz],
        0.0,
        atol=1e-15,
    )


def test_inertia_round_trip():
    for seed in range(10):
        pin.seed(seed)
        parameters = pin.Inertia.Random().toDynamicParameters()
        np.testing.assert_allclose(
            inertia_messages.inertia_parameters(inertia_messages.inertia_message(MAKE, parameters)),
            parameters,
            rtol=1e-12,
            atol=1e-14,
        )


def test_products_of_inertia_keep_their_names():
    tensor = np.array([[0.05, 0.01, 0.02], [0.01, 0.06, 0.03], [0.02, 0.03, 0.07]])
    message = inertia_messages.inertia_message(
        MAKE, pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), tensor).toDynamicParameters()
    )
    np.testing.assert_allclose([message.ixy, message.ixz, message.iyz], [0.01, 0.02, 0.03])


def test_wrench_in_the_foot_frame_is_the_same_wrench(robot):
    contact = make_estimate(robot).contacts[0]
    pin.seed(3)
    pose = pin.SE3.Random()
    wrench = outbound.wrench_stamped(MAKE, [contact], 5, "FL_foot", pose).wrench
    about_origin = pose.act(pin.Force(xyz(wrench.force), xyz(wrench.torque)))
    np.testing.assert_allclose(about_origin.linear, contact.force_world)
    np.testing.assert_allclose(
        about_origin.angular, np.cross(contact.position_world, contact.force_world), atol=1e-12
    )


def test_wrench_uses_the_posture_of_its_own_time(robot):
    """Forces belong to the node before: its posture gives the axes."""
    first = make_estimate(robot, stamp_ns=10_000_000, seed=1)
    second = make_estimate(robot, stamp_ns=20_000_000, seed=2)
    outputs = Outputs(robot, EstimatorConfig(), MAKE)
    outputs.messages(first)
    message = dict(outputs.messages(second))["wrench/FL_foot"]
    data = robot.model.createData()
    q = np.concatenate([first.position_world, first.quat_world_base, first.joint_position])
    pin.framesForwardKinematics(robot.model, data, q)
    rotation = data.oMf[robot.model.getFrameId("FL_foot")].rotation
    np.testing.assert_allclose(rotation @ xyz(message.wrench.force), second.contacts[0].force_world)
    assert (message.header.stamp.nanosec, message.header.frame_id) == (10_000_000, "FL_foot")


def test_corners_of_a_flat_foot_add_up():
    """`wrench/<foot>` is the sum of `wrench/<foot>/<corner>`, and gives the centre of pressure that
    the estimate has."""
    robot = Robot.load("g1")
    estimate = make_estimate(robot)
    rng = np.random.default_rng(4)
    loads = [
        replace(
            c,
            position_world=rng.normal(size=3),
            force_world=np.array([5.0, -3.0, rng.uniform(10.0, 60.0)]),
        )
        for c in estimate.contacts
    ]
    estimate = replace(estimate, contacts=tuple(loads))
    out = dict(Outputs(robot, EstimatorConfig(), MAKE).messages(estimate))
    foot = estimate.feet[0]
    assert (
        foot.name == "left_ankle_roll_link"
        and len(estimate.feet) == 2
        and len([t for t in out if t.startswith("wrench/")]) == 10
    )
    total = out["wrench/left_ankle_roll_link"].wrench
    corners = [
        out[f"wrench/left_ankle_roll_link/{c}"].wrench
        for c in ("heel_left", "heel_right", "toe_left", "toe_right")
    ]
    np.testing.assert_allclose(xyz(total.force), sum(xyz(c.force) for c in corners))
    np.testing.assert_allclose(xyz(total.torque), sum(xyz(c.torque) for c in corners), atol=1e-12)
    # the same wrench about the centre of pressure, in the world
    data = robot.model.createData()
    pin.framesForwardKinematics(
        robot.model,
        data,
        np.concatenate(
            [estimate.position_world, estimate.quat_world_base, estimate.joint_position]
        ),
    )
    pose = data.oMf[robot.model.getFrameId("left_ankle_roll_link")]
    about = pin.SE3(np.eye(3), foot.centre_of_pressure_world).actInv(
        pose.act(pin.Force(xyz(total.force), xyz(total.torque)))
    )
    np.testing.assert_allclose(about.linear, foot.force_world)
    np.testing.assert_allclose(about.angular, foot.moment_world, atol=1e-9)
    weights = np.array([c.force_world[2] for c in loads[:4]])
    np.testing.assert_allclose(
        foot.centre_of_pressure_world,
        weights @ np.array([c.position_world for c in loads[:4]]) / weights.sum(),
    )


def test_a_foot_in_the_air_has_no_centre_of_pressure(robot):
    contact = replace(make_estimate(robot).contacts[0], force_world=np.zeros(3))
    foot = replace(make_estimate(robot), contacts=(contact,)).feet[0]
    assert np.isnan(foot.centre_of_pressure_world).all() and not foot.force_world.any()


def test_validity(robot):
    good = make_estimate(robot)
    assert inertia_messages.may_be_used(good, 0.2)
    assert not inertia_messages.may_be_used(good, 0.01)
    body = good.bodies[0]
    impossible = np.array(body.parameters)
    impossible[4] = -1.0
    changed = type(body)(body.link, impossible, body.covariance, 0.05, body.com_stddev, True)
    assert not inertia_messages.may_be_used(make_estimate(robot, bodies=(changed,)), 0.2)
    unseen = type(body)(body.link, body.parameters, body.covariance, 0.05, body.com_stddev, False)
    assert not inertia_messages.may_be_used(make_estimate(robot, bodies=(unseen,)), 0.2)


def test_sequence_grows(robot):
    outputs = Outputs(robot, EstimatorConfig(), MAKE)
    numbers = [
        dict(outputs.messages(make_estimate(robot)))["inertial_parameters"].sequence
        for _ in range(3)
    ]
    assert numbers == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "topic"), [("FL_foot", "wrench/FL_foot"), ("left_foot/2", "wrench/left_foot/c2")]
)
def test_contact_topic_is_a_valid_ros_name(name, topic):
    assert outbound.contact_topic(name) == topic
