# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Messages of an estimator as rows of numbers."""

import numpy as np
import pytest
from helpers.messages import random_message
from helpers.motions import HEIGHT, SPEED, START_NS, gliding, heavier, messages

from prime_estimation.errors import DataError
from prime_estimation.io.typestore import typestore
from prime_estimation.output_messages import TOPICS
from prime_estimation.robot import Robot
from prime_estimation.types import ContactState
from prime_estimation.viz.browser.track import STALE_NS, Track

SECOND = 1_000_000_000


def put(track: Track, estimate, only=TOPICS) -> None:
    for topic, message in messages(track.robot, estimate).items():
        if topic in only:
            track.put(topic, message)


def test_types_are_those_of_the_messages(robot):
    published = {t: m.__msgtype__ for t, m in messages(robot, gliding(robot, 0)).items()}
    assert set(TOPICS) - set(published) <= {"external_wrench"}
    assert all(published.get(topic, kind) == kind for topic, kind in TOPICS.items())


def test_a_moment_is_what_was_said(robot, glide):
    moment = glide.at(START_NS + SECOND)
    assert moment.stamp_ns == START_NS + SECOND
    np.testing.assert_allclose(moment.odometry["position"], [SPEED, 0.0, HEIGHT])
    np.testing.assert_allclose(
        moment.odometry["covariance"], np.diag([1e-6, 4e-6, 9e-6]), atol=1e-12
    )
    np.testing.assert_allclose(moment.joints["position"], gliding(robot, 0).joint_position)
    assert moment.inertia["total_mass"] == pytest.approx(robot.total_mass + 3.0)
    assert moment.status["solve_time_ms"] == 1.5
    np.testing.assert_allclose(moment.push["force"], gliding(robot, 100).external.force_base)
    assert moment.troubles == ("mocap: no data",)
    # forces come one node later than the state: those of its time, once they are there
    assert moment.contacts["stamp_ns"] == START_NS + SECOND
    assert glide.at(glide.span_ns[1]).contacts["stamp_ns"] == glide.span_ns[1] - 10_000_000
    np.testing.assert_allclose(moment.contacts["force"], np.tile([0.0, 0.0, 40.0], (4, 1)))
    np.testing.assert_allclose(moment.contacts["ground"], 0.02, atol=1e-7)


def test_between_two_nodes_the_older_one_counts(glide):
    assert glide.at(START_NS + 19_999_999).stamp_ns == START_NS + 10_000_000
    assert glide.at(START_NS - 1) is None
    assert glide.at(START_NS + 100 * SECOND).stamp_ns == glide.span_ns[1]


def test_joints_and_contacts_go_by_name(robot):
    track, estimate = Track(robot), gliding(robot, 0)
    message = messages(robot, estimate)["joint_states"]
    order = np.random.default_rng(0).permutation(robot.nj)
    message.name = [message.name[k] for k in order]
    message.position = message.position[order]
    track.put("joint_states", message)
    row = track.series["joint_states"].at(START_NS)
    np.testing.assert_array_equal(row["position"], estimate.joint_position)
    forces = messages(robot, estimate)["contact_wrenches"]
    forces.contacts = forces.contacts[2:3]
    track.put("contact_wrenches", forces)
    row = track.series["contact_wrenches"].at(START_NS)
    assert row["force"][2, 2] == 40.0 and (row["state"] == [0, 0, 1, 0]).all()


def test_the_ground_is_where_a_foot_stood_last(robot):
    track = Track(robot)
    for node, (height, state) in enumerate(
        [(0.0, ContactState.OPEN), (0.03, ContactState.SLIPPING), (0.1, ContactState.OPEN)]
    ):
        message = messages(robot, gliding(robot, node))["contact_wrenches"]
        message.contacts[0].position.z, message.contacts[0].state = height, int(state)
        track.put("contact_wrenches", message)
    rows = track.series["contact_wrenches"].between(0, 2**62, 10)["ground"][:, 0]
    np.testing.assert_allclose(rows, [np.nan, 0.03, 0.03], atol=1e-7)


def test_a_new_run_begins_the_track_anew(robot):
    track = Track(robot)
    for node in (500, 501, 499, 0):  # 499 is late, 0 is a second run
        put(track, gliding(robot, node))
        if node == 499:
            first = START_NS + 5 * SECOND
            assert track.restarts == 0 and track.span_ns == (first, first + 10_000_000)
    assert track.restarts == 1 and track.span_ns == (START_NS, START_NS)


def test_a_topic_that_has_fallen_silent_says_nothing_about_now(robot):
    track = Track(robot)
    put(track, gliding(robot, 0))
    later = 1 + STALE_NS // 10_000_000
    for node in range(1, later + 2):
        put(track, gliding(robot, node), only=("odometry", "joint_states"))
    assert track.at(START_NS).inertia is not None
    assert track.at(START_NS + 10_000_000 * (later + 1)).contacts is None


def test_inertia_goes_by_link(robot):
    track, parameters = Track(robot), heavier(robot, 3.0)
    body = gliding(robot, 0).bodies[0]
    changed = type(body)(body.link, parameters, body.covariance, 0.1, body.com_stddev, False)
    put(track, gliding(robot, 0, bodies=(changed,)))
    row = track.series["inertial_parameters"].at(START_NS)
    np.testing.assert_allclose(row["parameters"][0], parameters, atol=1e-12)
    assert not row["observable"][0] and row["mass_stddev"][0] == 0.1


def test_the_push_is_taken_where_it_is_published(robot):
    track = Track(robot)
    put(track, gliding(robot, 0, external=None))
    message = random_message("geometry_msgs/msg/WrenchStamped", np.random.default_rng(0))
    message.header = messages(robot, gliding(robot, 0))["odometry"].header
    track.put("external_wrench", message)
    force = message.wrench.force
    np.testing.assert_array_equal(track.at(START_NS).push["force"], [force.x, force.y, force.z])


def test_what_is_no_number_is_left_out(robot):
    track = Track(robot)
    put(track, gliding(robot, 0))
    spoilt = messages(robot, gliding(robot, 1))
    spoilt["odometry"].pose.pose.orientation.w = np.nan
    spoilt["joint_states"].position = np.zeros(0)
    for topic in ("odometry", "joint_states"):
        track.put(topic, spoilt[topic])
    assert track.span_ns == (START_NS, START_NS)


def test_joints_of_another_robot_are_refused(robot):
    other = Robot.load("g1")
    with pytest.raises(DataError, match="lacks 12 of 12 joints"):
        Track(robot).put("joint_states", messages(other, gliding(other, 0))["joint_states"])


def test_a_robot_without_contacts(robot):
    kind = typestore().types["prime_estimation_msgs/msg/ContactWrenches"]
    robot = Robot.load("go2")
    robot.contacts = []
    track = Track(robot)
    header = messages(Robot.load("go2"), gliding(Robot.load("go2"), 0))["odometry"].header
    track.put("contact_wrenches", kind(header=header, contacts=[]))
    assert track.series["contact_wrenches"].at(START_NS)["force"].shape == (0, 3)
