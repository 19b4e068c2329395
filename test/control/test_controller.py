# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Walking controller: states carried to now, commands that age, starts that begin anew."""

import numpy as np
import pytest

from prime_estimation.control.controller import WalkingController
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.control.supervisor import Mode

MS = 1_000_000
START = 1_700_000_000_000_000_000  # ns
REST = np.zeros(6)
FORWARDS = VelocityCommand(vx=0.5, yaw_rate=0.2, height=-0.02)


@pytest.fixture
def controller(go2) -> WalkingController:
    """Of a Go2 that stands, told of its state at START."""
    controller = WalkingController(go2, gait="trot")
    tell(controller, START)
    return controller


def tell(controller: WalkingController, stamp_ns: int, twist=REST) -> None:
    posture = controller.mpc.posture
    controller.on_odometry(stamp_ns, posture[:7], np.array(twist))
    controller.on_joints(stamp_ns, posture[7:], np.zeros(12))
    controller.on_contacts(stamp_ns, np.full(4, 40.0))


def test_a_velocity_command_ages(controller):
    controller.on_velocity(START, FORWARDS)
    assert controller._command(START + 499 * MS, 9.0).vx == pytest.approx(0.5)
    for late in (501, -501):  # also one of a clock that is ahead
        aged = controller._command(START + late * MS, 9.0)
        assert (aged.vx, aged.yaw_rate, aged.height) == (0.0, 0.0, -0.02)


def test_a_velocity_command_that_is_none_is_not_taken(controller):
    controller.on_velocity(START, FORWARDS)
    controller.on_velocity(START, VelocityCommand(vx=float("nan")))
    controller.on_velocity(START, VelocityCommand(lean=(float("inf"), 0.0)))
    assert controller._wish is FORWARDS


def test_the_state_is_carried_to_now(controller):
    tell(controller, START, (0.5, 0.0, 0.0, 0.0, 0.0, 1.0))
    q, v = controller._state(START + 20 * MS)
    assert q[:2] == pytest.approx([0.01, 0.5 * 0.01 * 0.02], abs=1e-5)  # on an arc
    assert 2.0 * np.arcsin(q[5]) == pytest.approx(0.02)
    assert v[:6] == pytest.approx([0.5, 0.0, 0.0, 0.0, 0.0, 1.0]) and not v[6:].any()


def test_joints_are_carried_by_what_they_were_told(controller, monkeypatch):
    begins = []

    def moved(begin_ns: int, end_ns: int):
        begins.append((begin_ns, end_ns))
        return np.full(12, 0.01), np.full(12, 0.3)

    monkeypatch.setattr(controller._feedback, "moved", moved)
    q, v = controller._state(START + 20 * MS)
    assert q[7:] == pytest.approx(controller.mpc.posture[7:] + 0.01)
    assert v[6:] == pytest.approx(np.full(12, 0.3))
    # rates are means over the estimator's step: of the time half a step ago
    half = round(0.5e9 * controller.config.estimator_step)
    assert half > 0 and begins == [(START, START + 20 * MS), (START - half, START + 20 * MS)]


def test_a_robot_that_resumes_begins_anew(controller):
    now = START
    for _ in range(5):
        tell(controller, now)
        controller.on_velocity(now, FORWARDS)
        controller.follow(controller.solve(now))
        assert controller.command(now) is not None
        now += 20 * MS
    walked = controller._limiter._now[0]
    assert walked == pytest.approx(5 * 0.02 * controller.config.acceleration)
    controller.supervisor.stop("by hand")
    assert controller.solve(now) is None
    braking = controller.command(now)
    assert not braking.kp.any() and braking.kd.all()
    assert controller.supervisor.resume()
    later = now + 5000 * MS
    tell(controller, later)
    assert controller.command(later) is None  # no plan yet
    controller.mpc.feet.ground = 7.0  # of another place
    plan = controller.solve(later)
    assert controller.supervisor.mode is Mode.ACTIVE and plan.stamp_ns == later
    assert controller.plan is None and controller.command(later) is None
    assert controller._limiter._now[0] == 0.0  # the wish has aged
    assert not controller._feedback.moved(START, later)[0].any() and not controller._feedback._trail
    assert controller.mpc.feet.ground == pytest.approx(0.0, abs=0.01)


def test_a_step_of_time_does_not_go_backwards(controller):
    controller.solve(START)
    tell(controller, START)
    controller.on_velocity(START, FORWARDS)
    before = controller._limiter._now.copy()
    assert controller.solve(START - 5 * MS) is not None  # a clock that was set back a little
    assert (controller._limiter._now == before).all()
