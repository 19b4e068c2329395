# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Frame of an orientation filter: where it lies, what is known of it, and when it is moved."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, robot
from helpers.windows import GivenWindow

from prime_estimation import _core
from prime_estimation.mhe.problem import Problem
from prime_estimation.sensors.imu_orientation import AGREEING, FRAME, JUMP, NAME, ROWS
from prime_estimation.types import NO_DATA

TURN = 2.5  # rad, of the filter's world in ours
HEADING = 0.4  # rad, of the base


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem(robot("go2"), config("go2"), {NAME})


@pytest.fixture
def window(problem) -> GivenWindow:
    """Two states of a robot with a heading, of which the covariance is one."""
    x = problem.first.neutral()
    quat = pin.Quaternion(pin.rpy.rpyToMatrix(0.05, -0.1, HEADING))
    problem.layout.part(x, "rotation")[:] = quat.coeffs()
    out = GivenWindow(problem, [x.copy(), x.copy()])
    out.inputs = [_core.NodeInput(problem.measurements.core) for _ in out.xs]
    out.arrival = _core.ActionArrival(problem.state, x, np.eye(problem.ndx))
    return out


@pytest.fixture
def frame(problem):
    tracker = problem.measurements.trackers[NAME]
    tracker.reset()
    tracker.jumps = tracker.refused = 0
    return tracker


def about_z(angle: float) -> np.ndarray:
    return pin.exp3(np.array([0.0, 0.0, angle]))


def reading(problem, window, turn: float, lean: float = 0.0) -> np.ndarray:
    """What a filter says whose world is turned in ours, and leans about our x [rad]."""
    x = window.xs[-1]
    base = pin.Quaternion(np.array(problem.layout.part(x, "rotation"))).toRotationMatrix()
    imu = base @ problem.imu_motion(x)[0].rotation
    tilted = about_z(-turn) @ pin.exp3(np.array([-lean, 0.0, 0.0]))
    return pin.Quaternion(tilted @ imu).coeffs().copy()


def test_the_first_reading_tells_how_its_world_lies(problem, window, frame):
    seen = reading(problem, window, TURN)
    frame.give(seen, window)
    given, noise = window.inputs[-1], config("go2").noise
    value, weight = given.value(ROWS), given.weight(ROWS)
    world = pin.Quaternion(np.array(value[:4])).toRotationMatrix()
    np.testing.assert_allclose(world, about_z(TURN), atol=1e-12)
    np.testing.assert_array_equal(value[4:], seen)
    tilt, yaw = noise.orientation_tilt, noise.orientation_yaw
    np.testing.assert_allclose(1.0 / weight, [tilt, tilt, yaw])
    assert not given.present("tilt") and not given.present("heading")
    assert frame.health() == "" and (frame.refused, frame.jumps) == (0, 0)


def test_of_its_heading_is_known_what_is_known_of_the_base(problem, window, frame):
    """And the noise of one reading on top; of its lean nothing has changed."""
    base, own = problem.columns("rotation"), problem.columns(FRAME)
    frame.give(reading(problem, window, TURN), window)
    covariance = window.arrival.covariance
    up = pin.Quaternion(np.array(problem.layout.part(window.xs[0], "rotation")))
    expected = up.toRotationMatrix()[2]
    np.testing.assert_allclose(covariance[own.start + 2, base], expected, atol=1e-12)
    yaw = config("go2").noise.orientation_yaw
    assert covariance[own.start + 2, own.start + 2] == pytest.approx(1.0 + yaw**2)
    np.testing.assert_allclose(covariance[own.start : own.start + 2, base], 0.0, atol=1e-12)
    # again from the same window: nothing is tied twice
    frame.give(reading(problem, window, TURN), window)
    np.testing.assert_array_equal(window.arrival.covariance, covariance)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_jump_is_refused_until_it_has_lasted(problem, window, frame, sign):
    frame.give(reading(problem, window, TURN), window)
    for number in range(1, AGREEING):
        window.inputs[-1] = _core.NodeInput(problem.measurements.core)
        frame.give(reading(problem, window, TURN + 0.7 * sign), window)
        assert (frame.refused, frame.jumps) == (number, 0)
        assert not window.inputs[-1].present(ROWS)
        assert frame.health() == "lies 0.70 rad apart; not used"
    frame.give(reading(problem, window, TURN + 0.7 * sign), window)
    assert (frame.refused, frame.jumps) == (AGREEING - 1, 1)
    world = pin.Quaternion(np.array(window.inputs[-1].value(ROWS)[:4])).toRotationMatrix()
    np.testing.assert_allclose(world, about_z(TURN + 0.7 * sign), atol=1e-12)
    frame.give(reading(problem, window, TURN + 0.7 * sign), window)
    assert frame.health() == "" and frame.refused == AGREEING - 1


def test_readings_that_agree_again_end_a_jump(problem, window, frame):
    frame.give(reading(problem, window, TURN), window)
    for turn in ([TURN + 0.7] * (AGREEING - 1) + [TURN]) * 2:
        frame.give(reading(problem, window, turn), window)
    assert (frame.refused, frame.jumps) == (2 * (AGREEING - 1), 0)


def test_what_is_small_is_no_jump_and_a_lean_is_one(problem, window, frame):
    frame.give(reading(problem, window, TURN), window)
    for turn, lean in ((0.9 * JUMP, 0.0), (-0.9 * JUMP, 0.0), (0.0, 0.9 * JUMP)):
        frame.give(reading(problem, window, TURN + turn, lean), window)
        assert frame.refused == 0
    frame.give(reading(problem, window, TURN, lean=1.1 * JUMP), window)
    assert frame.refused == 1 and "lies 0.11 rad apart" in frame.health()


def test_a_window_that_begins_anew_and_one_without_readings(problem, window, frame):
    assert frame.health() == NO_DATA
    frame.give(reading(problem, window, TURN), window)
    frame.give((), window)
    assert frame.health() == NO_DATA
    frame.reset()
    frame.give(reading(problem, window, TURN + 1.0), window)  # it defines the frame
    assert (frame.refused, frame.jumps) == (0, 0) and frame.health() == ""
    world = pin.Quaternion(np.array(window.inputs[-1].value(ROWS)[:4])).toRotationMatrix()
    np.testing.assert_allclose(world, about_z(TURN + 1.0), atol=1e-12)
