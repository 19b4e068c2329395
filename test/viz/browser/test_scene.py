# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scene of an instant, against what one computes by hand."""

import numpy as np
import pinocchio as pin
import pytest
from helpers.messages import random_message
from helpers.motions import HEIGHT, SPEED, START_NS, gliding, heavier, messages

from prime_estimation.output_messages import TOPICS
from prime_estimation.types import ContactState
from prime_estimation.viz.browser.scene import LARGE, WEIGHT_LENGTH, SceneBuilder
from prime_estimation.viz.browser.shapes import RADIUS_95
from prime_estimation.viz.browser.track import Track

FRICTION = 0.8
SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def builder(robot):
    return SceneBuilder(robot, FRICTION)


def scene_of(builder: SceneBuilder, estimate, push=None):
    track = Track(builder.robot)
    for topic, message in messages(builder.robot, estimate).items():
        if topic in TOPICS:
            track.put(topic, message)
    if push is not None:
        message = random_message(TOPICS["external_wrench"], np.random.default_rng(0))
        message.header = messages(builder.robot, estimate)["odometry"].header
        message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = push
        track.put("external_wrench", message)
    return builder.build(track.at(estimate.stamp_ns))


def test_the_robot_stands_where_its_odometry_says(robot, glide, builder):
    scene = builder.build(glide.at(START_NS + SECOND))
    q = np.concatenate([[SPEED, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0], gliding(robot, 0).joint_position])
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    for k in range(1, robot.model.njoints):
        np.testing.assert_allclose(scene.joint_poses[k], pin.SE3ToXYZQUAT(data.oMi[k]), atol=1e-9)
        placed = data.oMi[robot.model.parents[k]] * pin.XYZQUATToSE3(scene.joint_placements[k])
        assert placed.isApprox(data.oMi[k], 1e-9)
    np.testing.assert_allclose(scene.position, [SPEED, 0.0, HEIGHT])


def test_sizes_follow_the_robot(robot, builder):
    # hip 4.65 cm and thigh 9.55 cm aside, thigh and shank 21.3 cm long, foot frame at their end
    assert builder.leg_length == pytest.approx(
        np.linalg.norm([0.1934, 0.0465 + 0.0955, 0.426]), abs=1e-6
    )
    weight = 9.81 * robot.total_mass * builder.metres_per_newton
    assert weight == pytest.approx(WEIGHT_LENGTH * builder.leg_length)


def test_forces_are_arrows_inside_their_cones(builder):
    estimate = gliding(builder.robot, 0)
    contact = scene_of(builder, estimate).contacts[0]
    scale, point = builder.metres_per_newton, [0.2, 0.2, 0.02]
    np.testing.assert_allclose(contact.force.tail, point, atol=1e-7)
    np.testing.assert_allclose(contact.force.tip, [0.2, 0.2, 0.02 + 40.0 * scale], atol=1e-7)
    assert contact.cone.height == pytest.approx(40.0 * scale)
    assert contact.cone.radius == pytest.approx(FRICTION * 40.0 * scale)
    assert contact.state is ContactState.STICKING and contact.normal_force == 40.0
    assert contact.ground == pytest.approx(0.02)


def test_the_tips_interval_is_that_of_the_force(builder):
    tip = scene_of(builder, gliding(builder.robot, 0)).contacts[3].tip
    axes = builder.metres_per_newton * RADIUS_95 * np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(np.sort(tip.semi_axes), axes, rtol=1e-6)
    longest = pin.Quaternion(tip.quat).toRotationMatrix()[:, np.argmax(tip.semi_axes)]
    np.testing.assert_allclose(np.abs(longest), [0.0, 0.0, 1.0], atol=1e-6)


def test_the_covariance_of_the_base_is_enlarged_as_stated(builder):
    stddev = np.array([1e-3, 2e-3, 3e-3])
    scene = scene_of(builder, gliding(builder.robot, 0))
    shape = scene.covariance
    np.testing.assert_allclose(np.sort(shape.semi_axes), scene.zoom * RADIUS_95 * stddev, rtol=1e-5)
    np.testing.assert_allclose(shape.centre, [0.0, 0.0, HEIGHT])
    assert scene.zoom == 10.0 and max(shape.semi_axes) < LARGE * builder.leg_length


@pytest.mark.parametrize(("stddev", "zoom"), [(1e-4, 20.0), (0.01, 5.0), (0.5, 1.0)])
def test_the_zoom_leaves_room_for_the_robot(stddev, zoom, builder):
    wide = np.diag([stddev**2, 0, 0, 0, 0, 0])
    assert scene_of(builder, gliding(builder.robot, 0, pose_covariance=wide)).zoom == zoom


def test_estimated_and_nominal_box(robot, builder):
    body = gliding(robot, 0).bodies[0]
    parameters = heavier(robot, 3.0)
    changed = type(body)(body.link, parameters, body.covariance, 0.05, body.com_stddev, True)
    (drawn,) = scene_of(builder, gliding(robot, 0, bodies=(changed,))).bodies
    nominal = robot.model.inertias[1]
    assert (drawn.link, drawn.joint) == (robot.estimated_links[0], 1)
    assert drawn.nominal_mass == pytest.approx(nominal.mass)
    assert drawn.mass == pytest.approx(nominal.mass + 3.0)
    np.testing.assert_allclose(drawn.nominal.centre, nominal.lever)
    centre = (nominal.mass * nominal.lever + 3.0 * np.array([0.0, 0.0, 0.1])) / drawn.mass
    np.testing.assert_allclose(drawn.estimated.centre, centre, atol=1e-12)
    box = pin.SE3(pin.Quaternion(drawn.estimated.quat), drawn.estimated.centre)
    made = box.act(pin.Inertia.FromBox(drawn.mass, *drawn.estimated.edges))
    np.testing.assert_allclose(made.toDynamicParameters(), parameters, atol=1e-9)


def test_the_push_is_turned_into_the_world(robot, builder):
    quarter = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # 90 degrees to the left
    scene = scene_of(
        builder, gliding(robot, 0, quat_world_base=quarter, external=None), push=(10.0, 0.0, 5.0)
    )
    way = np.array([0.0, 10.0, 5.0]) * builder.metres_per_newton
    np.testing.assert_allclose(scene.push.tip - scene.push.tail, way, atol=1e-9)
    np.testing.assert_allclose(scene.push.tail, scene.position)
    assert scene_of(builder, gliding(robot, 0, external=None)).push is None


def test_without_a_word_about_them_there_are_neither_forces_nor_mass(robot, builder):
    track = Track(robot)
    for topic in ("odometry", "joint_states"):
        track.put(topic, messages(robot, gliding(robot, 0))[topic])
    scene = builder.build(track.at(START_NS))
    assert scene.contacts == () and scene.bodies == () and np.isnan(scene.total_mass)
