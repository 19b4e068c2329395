# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Poses of motion capture that stay while the robot goes on, by what its IMU feels."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import config, robot

from prime_estimation.mhe.problem import Problem
from prime_estimation.sensors.stuck_poses import StuckPoses
from prime_estimation.types import Measurement, PoseSample

STEP_NS, NODES = 10_000_000, 10
NOISE = 0.001  # m
WEIGHT = np.full(6, 1000.0)
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def problem():
    return Problem(robot("go2"), config("go2"), {"mocap"})


def strides(t: float) -> np.ndarray:
    """Place [m] of a robot that walks on at 0.3 m/s, to and fro and up and down."""
    sway = 0.01 * np.sin(2.0 * np.pi * 2.0 * t)
    return np.array([0.3 * t, sway, 0.3 + 0.5 * sway])


def setting_off(t: float) -> np.ndarray:
    """Stands for 1 s, then speeds up by 0.8 m/s^2."""
    return np.array([0.4 * max(t - 1.0, 0.0) ** 2, 0.0, 0.3])


def halting(t: float) -> np.ndarray:
    """Goes at 0.4 m/s, and stands from 1 s on, within 0.1 s."""
    return np.array([0.4 * min(t, 1.0) + 0.02 * (1.0 - np.exp(-20.0 * max(t - 1.0, 0.0))), 0, 0.3])


class Walk:
    """A window that follows a robot, and the poses that a tracker sees of it."""

    def __init__(self, problem, place):
        self.problem, self.place = problem, place
        self.noise = np.random.default_rng(1)
        self.stuck = StuckPoses(problem)
        self.window = SimpleNamespace(inputs=[], stamps=[], xs=[], size=NODES)

    def state(self, t: float) -> np.ndarray:
        x, part = np.zeros(self.problem.layout.nx), self.problem.layout.part
        part(x, "position")[:], part(x, "rotation")[:] = self.place(t), LEVEL
        part(x, "velocity")[:] = (self.place(t + 1e-4) - self.place(t - 1e-4)) / 2e-4
        return x

    def input(self, t: float):
        h = 0.5e-9 * STEP_NS
        felt = (self.place(t + 2 * h) - 2.0 * self.place(t) + self.place(t - 2 * h)) / (2 * h) ** 2
        given = self.problem.state_input(measurement(t))
        given.set("accelerometer", felt + [0.0, 0.0, 9.81], np.full(3, 5.0))
        given.set("mocap", np.r_[self.place(t), LEVEL], WEIGHT)
        return given

    def move(self, t: float) -> None:
        """Let the window move to a node."""
        window, stamp = self.window, round(1e9 * t)
        window.inputs.append(self.input(t))
        window.stamps.append(stamp)
        window.xs.append(self.state(t))
        for entries in (window.inputs, window.stamps, window.xs):
            del entries[: -NODES - 1]
        window.size = len(window.stamps) - 1

    def see(self, t: float, place: np.ndarray, fits: bool = True) -> bool:
        """Whether a pose is stuck at a node."""
        self.move(t)
        seen = place + NOISE * self.noise.standard_normal(3)
        pose, head = PoseSample(round(1e9 * t), seen, LEVEL), self.window.xs[-1]
        return self.stuck.holds(pose, self.window, head, 0.0, fits)


def measurement(t: float):
    joints = np.zeros(12)
    return Measurement(round(1e9 * t), joints, joints, np.zeros(3))


def times(start: float, end: float) -> np.ndarray:
    return np.arange(start, end, 1e-9 * STEP_NS)


@pytest.mark.parametrize("place", [strides, setting_off, halting])
def test_poses_that_go_along(place, problem):
    walk = Walk(problem, place)
    assert not any(walk.see(t, place(t)) for t in times(0.0, 3.0))


def test_poses_that_stay_are_stuck_until_they_are_found_again(problem):
    walk = Walk(problem, strides)
    assert not any(walk.see(t, strides(t)) for t in times(0.0, 1.0))
    told = [walk.see(t, strides(1.0)) for t in times(1.0, 3.0)]
    assert 3 < told.index(True) < 15 and all(told[told.index(True) :])
    assert not walk.see(3.0, strides(3.0))


def test_what_was_taken_meanwhile_is_withdrawn(problem):
    walk = Walk(problem, strides)
    for t in times(0.0, 1.0):
        walk.see(t, strides(t))
    assert next(t for t in times(1.0, 2.0) if walk.see(t, strides(1.0))) < 1.15
    taken = [given.weight("mocap").any() for given in walk.window.inputs]
    assert taken[:2] == [True] * 2 and taken[-8:] == [False] * 8


def test_a_robot_that_sets_off_without_them(problem):
    walk = Walk(problem, setting_off)
    told = [walk.see(t, setting_off(0.0)) for t in times(0.0, 3.0)]
    assert 100 < told.index(True) < 140 and all(told[140:])


def test_they_are_believed_again_where_both_rest(problem):
    """As near each other as before, 0.4 s after the robot has come to rest, else not."""

    def to_and_fro(t):
        return np.array([0.1 * (1.0 - np.cos(2.0 * np.pi * min(t, 3.0))), 0.0, 0.3])

    for away, believed in ((0.0, True), (0.2, False)):
        walk = Walk(problem, to_and_fro)
        held = np.array([0.0, 0.0, 0.3])
        told = [walk.see(t, to_and_fro(t) if t < 2.0 else held) for t in times(0.0, 3.0)]
        assert told[-1] and not any(told[:200])
        walk.place = lambda t, away=away: to_and_fro(3.0) + [away, 0.0, 0.0]
        told = [walk.see(t, held, fits=False) for t in times(3.0, 4.5)]
        assert told[-1] is not believed


def test_poses_that_stray_are_none_of_them(problem):
    walk = Walk(problem, strides)
    for t in times(0.0, 3.0):
        stray = round(1e2 * t) % 10 == 5
        at = strides(t) + stray * walk.noise.normal(0.0, 0.5, 3)
        assert not walk.see(t, at, fits=not stray)


def test_a_robot_that_halts_while_no_pose_comes(problem):
    """What was felt in the gap is not known."""
    walk = Walk(problem, halting)
    walk.place = lambda t: halting(t) + [0.0, 0.0, 0.002 * np.sin(2.0 * np.pi * 5.0 * t)]
    for t in times(0.0, 3.0):
        silent = 0.9 < t < 1.15
        if silent:
            walk.move(t)
        else:
            assert not walk.see(t, walk.place(t))


def test_a_jump_of_the_world_while_the_robot_stands(problem):
    walk = Walk(problem, lambda t: np.array([0.0, 0.0, 0.3]))
    jump = np.array([0.5, 0.0, 0.0])
    assert not any(walk.see(t, walk.place(t)) for t in times(0.0, 1.0))
    assert not any(walk.see(t, walk.place(t) + jump, fits=t > 1.1) for t in times(1.0, 2.0))


def slide(stuck: StuckPoses, speed: float) -> None:
    """Nine poses that move along x [m/s]."""
    for k in range(9):
        place = [speed * 1e-9 * STEP_NS * k, 1.0, 0.3]
        stuck._seen.append(SimpleNamespace(stamp_ns=STEP_NS * k, place=place))


@pytest.mark.parametrize("speed, rests", [(0.0, True), (0.05, True), (0.09, False), (0.2, False)])
def test_poses_rest_that_move_less_than_their_noise_tells(speed, rests, problem):
    """Nine poses with 1 mm: their velocity is known to 13 mm/s, and 30 mm/s are rest."""
    stuck = StuckPoses(problem)
    slide(stuck, speed)
    assert stuck._rests() is rests
    for _ in range(7):
        stuck._seen.popleft()
    assert not stuck._rests()  # two tell no velocity


def test_a_pose_that_comes_late_tells_nothing(problem):
    """It lies where the robot was, and would be a way back."""
    walk = Walk(problem, strides)
    for t in times(0.0, 1.0):
        assert not walk.see(t, strides(t))
    seen = len(walk.stuck._seen)
    pose = PoseSample(round(0.9e9), strides(0.9), LEVEL)
    assert not walk.stuck.holds(pose, walk.window, walk.window.xs[-1], 0.1, True)
    assert len(walk.stuck._seen) == seen and walk.stuck._seen[-1].place[0] > 0.28


@pytest.mark.parametrize("off", [0.0, 0.4])
def test_poses_apart_from_the_robot_are_believed_again_where_they_were(off, problem):
    """Of a body that is not where the model has it: what counts is by how much that changes."""

    def to_and_fro(t):
        return np.array([0.1 * (1.0 - np.cos(2.0 * np.pi * min(t, 3.0))), 0.0, 0.3])

    walk, apart = Walk(problem, to_and_fro), np.array([0.0, off, 0.0])
    held = to_and_fro(2.0) + apart
    told = [walk.see(t, to_and_fro(t) + apart if t < 2.0 else held) for t in times(0.0, 3.0)]
    assert told[-1]
    told = [walk.see(t, held, fits=False) for t in times(3.0, 4.5)]
    assert not told[-1] and 35 < told.index(False) < 60


def test_they_are_not_believed_while_the_robot_moves_on_in_place(problem):
    """It sways by 15 mm and more about the place where they stay."""

    def sways(t):
        return np.array([0.04 * np.sin(2.0 * np.pi * 2.0 * t), 0.0, 0.3])

    walk = Walk(problem, sways)
    told = [walk.see(t, sways(t) if t < 1.0 else sways(1.0)) for t in times(0.0, 3.0)]
    first = told.index(True)
    assert 100 < first < 130 and sum(told[first:]) > 0.8 * len(told[first:])


def test_a_bias_of_the_accelerometer_moves_no_robot(problem):
    """Its estimate is taken off: a robot that stands had accelerated by 1.5 m/s^2."""
    walk, state, felt = Walk(problem, lambda t: np.array([0.0, 0.0, 0.3])), Walk.state, Walk.input
    bias = np.array([1.5, 0.0, 0.0])

    def biased_state(t):
        x = state(walk, t)
        problem.layout.part(x, "accelerometer_bias")[:] = bias
        return x

    def biased_input(t):
        given = felt(walk, t)
        given.set("accelerometer", given.value("accelerometer") + bias, np.full(3, 5.0))
        return given

    walk.state, walk.input = biased_state, biased_input
    assert not any(walk.see(t, walk.place(t)) for t in times(0.0, 2.0))


def test_without_the_imu_in_between_nothing_is_told(problem):
    """Of half a second, one node of which has no specific force."""
    walk, felt = Walk(problem, strides), Walk.input

    def silent_input(t):
        given = felt(walk, t)
        if abs(t - 1.02) < 1e-3:
            given.set("accelerometer", np.zeros(3), np.zeros(3))
        return given

    walk.input = silent_input
    told = [walk.see(t, strides(min(t, 1.0))) for t in times(0.0, 3.0)]
    assert 145 < told.index(True) < 170


def plain(noise: float = 1e-6) -> StuckPoses:
    """Stuck poses of a tracker whose noise is known [m], for thresholds in plain numbers."""
    options = SimpleNamespace(estimator=SimpleNamespace(step=1e-9 * STEP_NS))
    return StuckPoses(SimpleNamespace(noise=SimpleNamespace(mocap_position=noise), config=options))


@pytest.mark.parametrize("speed, held", [(0.048, False), (0.052, True)])
@pytest.mark.parametrize("axis", [0, 5])
def test_a_robot_that_moves_has_no_two_equal_poses(axis, speed, held, problem):
    x, stuck = np.zeros(problem.layout.nx), StuckPoses(problem)
    problem.layout.v(x)[axis] = -speed
    pose, window = PoseSample(0, np.ones(3), LEVEL), SimpleNamespace(xs=[x])
    assert [stuck.repeats(pose, window) for _ in range(2)] == [False, held]


@pytest.mark.parametrize(
    "noise, speed, rests", [(1e-6, 0.029, True), (1e-6, 0.031, False), (0.01, 0.4, True)]
)
def test_a_pose_that_rests_is_slower_than_3_cm_a_second(noise, speed, rests):
    """And than three deviations of its velocity, of which 0.1 m at 80 ms tell 0.39 m/s."""
    stuck = plain(noise)
    slide(stuck, speed)
    assert stuck._rests() is rests
    if noise > 1e-3:
        for seen in stuck._seen:
            seen.place[0] *= 1.1
        assert not stuck._rests()


def test_three_poses_tell_a_velocity():
    stuck = plain()
    for k in range(3):
        stuck._seen.append(SimpleNamespace(stamp_ns=4 * STEP_NS * k, place=[0.0, 0.0, 0.3]))
    assert stuck._rests()


@pytest.mark.parametrize(
    "noise, felt, rms",
    [
        (1e-9, 1e-9, 0.005),  # m, alone
        (0.01, 1e-9, np.hypot(0.005, 3.0 * 0.01)),
        (1e-9, 1.0, np.hypot(0.005, 3.0 * 0.036 * 0.01 * np.sqrt(51.0))),  # by a force of 1 m/s2
    ],
)
def test_a_path_is_bent_beyond_noise_and_what_the_imu_missed(noise, felt, rms):
    """Poses about a straight line, of which their own noise and that of the IMU explain a part."""
    t = np.arange(51.0)
    line = np.column_stack([np.ones_like(t), t])
    shape = np.random.default_rng(2).standard_normal((51, 3))
    shape -= line @ np.linalg.lstsq(line, shape, rcond=None)[0]
    shape /= np.sqrt(np.mean(np.sum(shape**2, axis=1)))
    for share, bent in ((0.97, False), (1.03, True)):
        stuck = plain(noise)
        for k in range(51):
            stamp, still = STEP_NS * k, np.zeros(3)
            force = SimpleNamespace(stamp_ns=stamp, acceleration=still, stddev=felt)
            stuck._felt.append(force)
            stuck._seen.append(SimpleNamespace(stamp_ns=stamp, imu=share * rms * shape[k]))
        assert stuck._bent() is bent


@pytest.mark.parametrize(
    "gone, seen, off, span, along",
    [
        (0.0, 0.019, 0.0, 0.45, True),  # m: both rest
        (0.0, 0.021, 0.0, 0.45, False),
        (0.019, 0.0, 0.0, 0.45, True),
        (0.021, 0.0, 0.0, 0.45, False),
        (0.0, 0.0, 0.048, 0.45, True),  # as near as before
        (0.0, 0.0, 0.052, 0.45, False),
        (0.038, 0.038, 0.0, 0.45, False),  # too little of a way to tell two equal ones
        (0.042, 0.042, 0.0, 0.45, True),
        (0.1, 0.148, 0.0, 0.45, True),
        (0.1, 0.152, 0.0, 0.45, False),
        (0.1, 0.052, 0.0, 0.45, True),
        (0.1, 0.048, 0.0, 0.45, False),
        (0.1, 0.1, 0.0, 0.39, False),  # s: too short a time
        (0.1, 0.1, 0.0, 0.41, True),
    ],
)
def test_poses_go_along_that_go_as_far(gone, seen, off, span, along):
    stuck = plain()
    for share in (0.0, 1.0):
        # apart by `off` at the end, to the side
        base = np.array([share * gone, 0.0, 0.3])
        place = base + [share * (seen - gone), off, 0.0]
        stuck._seen.append(
            SimpleNamespace(
                stamp_ns=round(1e9 * share * span),
                place=place,
                base=SimpleNamespace(translation=base),
            )
        )
    assert stuck._goes_along() is along
