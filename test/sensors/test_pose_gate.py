# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pose gate: which poses are outliers, and which outliers are followed in the end."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, robot

from prime_estimation.mhe.problem import Problem
from prime_estimation.sensors.pose_gate import (
    AGREEING,
    DISTANCE,
    DRIFT,
    SETTLED_NS,
    TURN,
    UNLIKE,
    PoseGate,
)
from prime_estimation.types import Measurement, PoseSample

STEP_NS, NODES = 10_000_000, 10
HERE = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.4])), np.array([1.0, 2.0, 0.3]))


@pytest.fixture(scope="module")
def problem():
    return Problem(robot("go2"), config("go2"), {"mocap"})


class Stood:
    """A robot that stands, or is thought to go at a velocity (6,), and the gate of its poses."""

    def __init__(self, problem, velocity=np.zeros(6)):
        self.gate, self.problem, self.velocity = PoseGate(problem), problem, velocity
        self.rng = np.random.default_rng(0)

    def window(self, t_ns: int):
        """States of the nodes up to the first one that is not older than a time."""
        head = -(-t_ns // STEP_NS)
        stamps = [STEP_NS * k for k in range(head - NODES, head + 1)]
        xs = [self._state(1e-9 * stamp) for stamp in stamps]
        joints = np.zeros(12)
        inputs = [
            self.problem.state_input(Measurement(s, joints, joints, np.zeros(3))) for s in stamps
        ]
        return SimpleNamespace(stamps=stamps, xs=xs, inputs=inputs, size=NODES)

    def at(self, t: float) -> pin.SE3:
        """Estimated pose of the base at a time [s]."""
        return HERE * pin.exp6(t * self.velocity)

    def _state(self, t: float) -> np.ndarray:
        x, part = np.zeros(self.problem.layout.nx), self.problem.layout.part
        part(x, "position")[:] = self.at(t).translation
        part(x, "rotation")[:] = pin.Quaternion(self.at(t).rotation).coeffs()
        self.problem.layout.v(x)[:6] = self.velocity
        return x

    def passes(self, t_ns: int, away=(0.0, 0.0, 0.0), turned=(0.0, 0.0, 0.0), world=None) -> bool:
        """Whether a pose passes that lies apart [m, rad], in a world that has been moved."""
        seen = (world or pin.SE3.Identity()) * self.at(1e-9 * t_ns)
        noise = 1e-5 * self.rng.standard_normal(3)  # no two poses are the same
        place = seen.translation + away + noise
        quat = pin.Quaternion(seen.rotation @ pin.exp3(np.array(turned))).coeffs()
        return self.gate.passes(PoseSample(t_ns, place, np.array(quat)), self.window(t_ns))


@pytest.mark.parametrize("share, fits", [(0.98, True), (1.02, False)])
@pytest.mark.parametrize("axis", range(3))
def test_an_outlier_lies_further_than_noise_explains(axis, share, fits, problem):
    to = share * np.eye(3)[axis]
    for where in ({"away": DISTANCE * to}, {"turned": TURN * to}, {"away": -DISTANCE * to}):
        stood = Stood(problem)
        assert stood.passes(0, **where) is fits and stood.gate.refused == (not fits)


@pytest.mark.parametrize("silence", [0.2, 1.0])
def test_the_estimate_drifts_while_no_pose_fits(silence, problem):
    for share, fits in ((0.98, True), (1.02, False)):
        for name, least in (("away", DISTANCE), ("turned", TURN)):
            stood, most = Stood(problem), least + DRIFT * silence
            assert stood.passes(0)
            where = {name: (share * most, 0.0, 0.0)}
            assert stood.passes(round(1e9 * silence), **where) is fits


@pytest.mark.parametrize("age_ns", [0, 3_000_000, 9_000_000])
def test_it_is_compared_with_the_estimate_at_its_stamp(age_ns, problem):
    """Of a robot at 4 m/s, which goes 36 mm in 9 ms."""
    velocity = np.array([4.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    for sign in (1.0, -1.0):
        for share, fits in ((0.98, True), (1.02, False)):
            ahead = sign * share * DISTANCE * HERE.rotation[:, 0]
            assert Stood(problem, velocity).passes(STEP_NS - age_ns, away=ahead) is fits


def test_a_world_that_was_moved_is_followed_after_a_while(problem):
    """By 0.7 rad about the vertical and by 0.5 m: the motion is told."""
    stood = Stood(problem, np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.5]))
    world = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.7])), np.array([0.5, -0.2, 0.1]))
    between = STEP_NS - 7_000_000  # of two nodes
    told = [stood.passes(STEP_NS * k + between, world=world) for k in range(AGREEING + 1)]
    assert told == [False] * AGREEING + [True]
    moved = stood.gate.moved
    assert moved.yaw == pytest.approx(0.7, abs=1e-3)
    np.testing.assert_allclose(moved.shift, world.translation, atol=1e-3)
    assert stood.gate.jumps == 1 and stood.gate.refused == AGREEING
    assert stood.passes(STEP_NS * 12, world=world)  # the window has still to be moved
    stood.gate.moved = None
    assert not stood.passes(STEP_NS * 13, world=world)
    assert "jumps followed: 1" in stood.gate.remark()


def test_a_body_that_was_turned_is_no_motion_of_the_world(problem):
    """Nor is one whose poses each tell another motion; both are followed for being near."""
    stood = Stood(problem)
    told = [stood.passes(STEP_NS * k, turned=(0.6, 0.0, 0.0)) for k in range(UNLIKE + 2)]
    assert told == [False] * UNLIKE + [True] * 2
    assert stood.gate.moved is None and stood.gate.jumps == 1


def test_poses_that_are_each_elsewhere_are_never_followed(problem):
    stood, rng = Stood(problem), np.random.default_rng(1)
    assert stood.passes(0)
    for k in range(1, 3 * UNLIKE):
        assert not stood.passes(STEP_NS * k, away=rng.normal(0.0, 2.0, 3), turned=(0.5, 0.0, 0.0))
    assert stood.gate.jumps == 0 and stood.gate.moved is None
    told = stood.gate.remark()
    assert told.startswith(f"outliers refused: {3 * UNLIKE - 1}, the last ") and "held" not in told


def test_one_that_fits_in_between_makes_them_begin_anew(problem):
    stood, world = Stood(problem), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    for k in range(6 * AGREEING):
        fits = k % AGREEING == AGREEING - 1
        assert stood.passes(STEP_NS * k, world=None if fits else world) is fits
    assert stood.gate.moved is None and not stood.gate.jumps


@pytest.mark.parametrize(
    "fit_ns, passes", [(SETTLED_NS - STEP_NS, True), (510_000_000, False), (490_000_000, True)]
)
def test_where_poses_were_followed_none_is_an_outlier_until_they_have_fitted(
    fit_ns, passes, problem
):
    stood = Stood(problem)
    last = STEP_NS * UNLIKE
    assert [stood.passes(STEP_NS * k, turned=(0.6, 0, 0)) for k in range(UNLIKE + 1)][-1]
    for t_ns in range(last + STEP_NS, last + fit_ns + 1, STEP_NS):
        assert stood.passes(t_ns)  # the estimate has come to them
    assert stood.passes(last + fit_ns + STEP_NS, away=(0.5, 0.0, 0.0)) is passes


def test_what_is_remembered_of_a_motion_is_forgotten_with_the_window(problem):
    stood, world = Stood(problem), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    for k in range(AGREEING):
        assert not stood.passes(STEP_NS * k, world=world)
    stood.gate.reset()
    assert not stood.passes(STEP_NS * AGREEING, world=world) and stood.gate.moved is None
    assert stood.gate.refused == AGREEING + 1  # which goes on


def test_a_pose_that_repeats_is_held_where_the_robot_moves(problem):
    for speed, held in ((0.5, 5), (0.0, 0)):
        stood = Stood(problem, np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0]))
        place, quat = HERE.translation.copy(), np.array(pin.Quaternion(HERE.rotation).coeffs())
        told = [
            stood.gate.passes(PoseSample(STEP_NS * k, place, quat), stood.window(STEP_NS * k))
            for k in range(6)
        ]
        assert told == [True] + [not held] * 5 and stood.gate.held == stood.gate.refused == held
        assert (f"while the robot moved, refused: {held}" in stood.gate.remark()) is bool(held)


def test_stray_poses_of_a_start_are_counted(problem):
    gate, level = PoseGate(problem), np.array([0.0, 0.0, 0.0, 1.0])
    poses = [
        PoseSample(STEP_NS * k, np.array([3.0 * (k == 4), 0.0, 0.3]), level) for k in range(10)
    ]
    assert gate.sift(poses) == [k != 4 for k in range(10)]
    assert gate.remark() == "outliers refused: 1, the last 3.00 m apart"


@pytest.mark.parametrize("creeps", ["away", "turned"])
def test_a_world_that_is_still_being_moved_is_not_taken_for_moved(creeps, problem):
    """By 3 mm, or 15 mrad, from pose to pose: none of ten shows the motion that the first did."""
    stood, told = Stood(problem), []
    for k in range(UNLIKE + 1):
        if creeps == "away":
            told.append(stood.passes(STEP_NS * k, away=(0.3 + 0.003 * k, 0.0, 0.0)))
        else:
            told.append(stood.passes(STEP_NS * k, turned=(0.0, 0.0, 0.5 + 0.015 * k)))
    assert told == [False] * UNLIKE + [True] and stood.gate.moved is None


def test_a_world_that_was_turned_by_half_a_turn(problem):
    """Angles about pi, which are of either sign, are one motion."""
    stood = Stood(problem)
    for k in range(AGREEING + 1):
        stood.passes(STEP_NS * k, turned=(0.0, 0.0, np.pi + 0.01 * (-1) ** k))
    assert abs(stood.gate.moved.yaw) == pytest.approx(np.pi, abs=0.011)


def test_a_motion_that_was_followed_ends_the_silence(problem):
    """A second without poses, then a moved world: from there on the estimate has not drifted."""
    stood, world = Stood(problem), pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))
    assert stood.passes(0)
    for k in range(100, 100 + AGREEING + 1):
        stood.passes(STEP_NS * k, world=world)
    assert stood.gate.moved is not None
    stood.gate.moved = None
    assert not stood.passes(STEP_NS * (101 + AGREEING), away=(0.1, 0.0, 0.0))


def test_an_orientation_that_stays_while_the_robot_turns_is_refused(problem):
    stood = Stood(problem, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.5]))
    quat, told = np.array(pin.Quaternion(HERE.rotation).coeffs()), []
    for k in range(30):
        place = HERE.translation + 1e-5 * k
        window = stood.window(STEP_NS * k)
        told.append(stood.gate.passes(PoseSample(STEP_NS * k, place, quat), window))
    assert all(told[:9]) and not any(told[13:])
    assert stood.gate.fixed == stood.gate.refused == told.count(False)
    assert stood.gate.remark().startswith("place or orientation the same while the robot moved")


@pytest.fixture(scope="module")
def noisy():
    """The same with poses of 10 mm and 40 mrad."""
    noise = {"mocap_position": 0.01, "mocap_rotation": 0.04}
    return Problem(robot("go2"), config("go2").updated({"noise": noise}), {"mocap"})


def test_how_far_an_outlier_is_in_numbers(problem, noisy):
    """50 mm, and 0.2 rad; ten deviations where these are more; 100 mm more for a second's drift."""
    for of, silence_ns, away, turned in (
        (problem, 0, 0.05, 0.2),
        (problem, 1_000_000_000, 0.15, 0.3),
        (noisy, 0, 0.1, 0.4),
    ):
        for share, fits in ((0.98, True), (1.02, False)):
            for where in (
                {"away": (0.0, share * away, 0.0)},
                {"turned": (0.0, 0.0, share * turned)},
            ):
                stood = Stood(of)
                assert not silence_ns or stood.passes(0)
                assert stood.passes(silence_ns, **where) is fits


def test_how_many_poses_are_followed_in_numbers(problem):
    """Eleven that show one motion of the world; thirty-one that are near each other."""
    for where, number in (({"away": (0.5, 0.0, 0.0)}, 11), ({"turned": (0.6, 0.0, 0.0)}, 31)):
        stood = Stood(problem)
        told = [stood.passes(STEP_NS * k, **where) for k in range(number)]
        assert told == [False] * (number - 1) + [True]


@pytest.mark.parametrize("share, same", [(0.97, True), (1.03, False)])
def test_how_alike_motions_of_one_world_are_in_numbers(share, same, problem, noisy):
    """Within 20 mm and 0.1 rad of the first; seven deviations where these are more."""
    for of, away, turned in ((problem, 0.02, 0.1), (noisy, 0.07, 0.28)):
        for axis, first, step in (("away", 0.5, away), ("turned", 0.7, turned)):
            stood = Stood(of)
            for k in range(11):
                by = first + (step * share if k else 0.0)
                where = (by, 0.0, 0.0) if axis == "away" else (0.0, 0.0, by)
                stood.passes(STEP_NS * k, **{axis: where})
            assert (stood.gate.moved is not None) is same
