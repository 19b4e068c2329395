# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What monitors remember of a window that was lost is not held against the next one."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import AGREEMENT, STANCE
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.situation import ON_ITS_FEET
from prime_estimation.monitors.stance_motion import MOTION
from prime_estimation.robot import Robot


@pytest.fixture
def standing():
    """Estimator of a Go2 that has stood for a second, and the measurements that follow."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    q, estimator = standing_pose(robot, POSTURE), Estimator(robot, config, mocap=False)
    ms = list(perform(config, lambda t: q, lambda t: 1.0, 1.5))
    for m in ms[:100]:
        estimator.update(m)
    return estimator, ms[100:]


def test_wrong_contacts_and_moving_feet_end_with_the_window(standing):
    estimator, to_come = standing
    monitors = estimator.monitors
    monitors.agreement._differed.extend([True] * AGREEMENT.nodes)
    monitors.stance._speeds.extend([0.6] * STANCE.soles)
    assert monitors.restart("a test", estimator.horizon, ON_ITS_FEET) == ""
    found = [estimator.update(m) for m in to_come[:20]]
    said = {s.name for e in found for s in e.status.sensors}
    assert not said & {MOTION, "contacts"}
    assert not monitors.hold.held and found[-1].status.restarts == 1


def test_ground_that_was_left_is_not_that_of_a_later_start(standing):
    estimator, _ = standing
    state = estimator.window.xs[-1].copy()
    heights = estimator.problem.parameter(state, "height")
    lift = estimator.monitors.lift
    lift.suspended = True
    lift.ground_under(state)
    lift.suspended = False
    estimator.monitors.begin(estimator.horizon, ON_ITS_FEET)
    heights += 1.0
    kept = lift.ground_under(state)
    assert estimator.problem.parameter(kept, "height") == pytest.approx(heights)


def test_inertia_kept_over_a_lift_is_decided_on_by_the_start_that_follows(standing):
    estimator, _ = standing
    hold, problem = estimator.monitors.hold, estimator.problem
    theta = problem.theta_nominal + 0.1
    hold._outlasting = theta, 1e-4 * np.eye(len(theta))
    estimator.horizon.reset()  # the starts while it was carried have failed
    assert estimator.monitors.start(estimator.horizon, ON_ITS_FEET) == ""
    assert hold._outlasting is None


def test_the_first_guess_of_a_start_does_not_outlast_a_lift(standing):
    """A robot that lay down was said to weigh 160 kg until it stood up again."""
    estimator, to_come = standing
    hold, problem = estimator.monitors.hold, estimator.problem
    for m in to_come[: AGREEMENT.nodes]:
        estimator.update(m)
    hold.outlast(estimator.window, suspended=True, as_before=False)
    assert hold._outlasting is not None
    hold.reset()
    estimator.window.set_parameter("theta", problem.theta_nominal + 3.0)
    estimator.update(to_come[AGREEMENT.nodes])
    hold.outlast(estimator.window, suspended=True, as_before=False)
    assert hold._outlasting is None


def test_nothing_of_intervals_and_doubts_outlasts_a_reset(standing):
    estimator, to_come = standing
    estimator.monitors.consistency._fit["model"] = 50.0
    estimator._reporter._contacts.slipping = 0.7
    estimator.reset()
    found = [e for e in map(estimator.update, to_come) if e is not None]
    assert found and estimator._reporter._contacts.slipping < 0.1
    assert estimator.monitors.consistency._fit["model"] < 5.0


def test_what_a_rest_told_of_the_gyro_outlasts_the_window(standing):
    estimator, _ = standing
    rest, told = estimator.monitors.rest, np.array([0.001, -0.002, 0.003])
    rest.bias, rest._variance = told, np.full(3, 1e-8)
    assert estimator.monitors.restart("a test", estimator.horizon, ON_ITS_FEET) == ""
    problem, window = estimator.problem, estimator.window
    stddev = np.sqrt(np.diag(window.arrival.covariance)[problem.columns("gyro_bias")])
    assert problem.parameter(window.xs[-1], "gyro_bias") == pytest.approx(told, abs=5e-4)
    assert stddev.max() < 3e-4


def test_all_estimates_after_a_reset_are_those_of_a_new_estimator(standing):
    """Whatever came before: no torque, a dead axis, feet that carry nothing, missing data."""
    estimator, to_come = standing

    def spoilt(k: int, m):
        if k < 10:
            return replace(m, torque=None)
        return replace(m, torque=0.0 * m.torque, imu_dead=(np.arange(6) == 2) if k > 20 else None)

    for k, m in enumerate(to_come):
        if not 40 <= k < 44:
            estimator.update(spoilt(k, m))
    assert estimator.monitors.last_restart[0] > 0
    estimator.reset()
    new = Estimator(estimator.robot, estimator.config, mocap=False)
    after = [(new.update(m), estimator.update(m)) for m in to_come]
    assert after[-1][0] is not None
    np.testing.assert_equal(*([_numbers(e) for e in own] for own in zip(*after)))


def _numbers(estimate) -> dict:
    """All that an estimate says, but for times and the counters, which outlast a reset."""
    if estimate is None:
        return {}
    said = asdict(estimate)
    for name in ("solve_time_ms", "latency_ms", "restarts", "refused_steps"):
        del said["status"][name]
    return said
