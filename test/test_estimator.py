# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator on simulated robots whose truth is known.

Payloads that come and go, missing torque, standing, faults.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import measurements

pytest.importorskip("mujoco")

from prime_estimation import simulate
from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.inertia import from_theta
from prime_estimation.robot import Robot

PAYLOAD = simulate.Payload(3.0, (0.05, 0.02, 0.1))
SWITCH = 1.5  # s, when a payload comes or goes
START = 0.5  # s, the first batch


class Run:
    """Measurements of a simulated Go2, and what the estimator makes of them."""

    def __init__(self, folder, motion: str, seconds: float, payload=None):
        self.config = Config.load("go2")
        self.robot = Robot(self.config.robot)
        self.path = simulate.run("go2", motion, seconds, folder, payload=payload, start=1.0, seed=6)
        self.seconds = seconds

    def measurements(self, **options):
        return measurements(self.path, self.robot, self.config, self.seconds, **options)

    def play(self, ms, mocap: bool = True):
        """(estimator, time since the first measurement [s], estimates)."""
        estimator = Estimator(self.robot, self.config, mocap)
        estimates = [e for e in map(estimator.update, ms) if e is not None]
        return (
            estimator,
            np.array([e.stamp_ns - ms[0].stamp_ns for e in estimates]) * 1e-9,
            estimates,
        )


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Function: a simulated run by motion and payload, made once."""
    made = {}

    def make(motion: str, seconds: float, payload=None) -> Run:
        key = (motion, seconds, payload)
        if key not in made:
            made[key] = Run(tmp_path_factory.mktemp("estimator") / "run", motion, seconds, payload)
        return made[key]

    return make


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "heavy", "near"),
    [("put on", 3.0, 0.3), ("taken off", 3.0, 0.3), ("put on", 1.0, 0.15)],
)
def test_payload_is_noticed_within_a_second(runs, event, heavy, near):
    """Mass near that of the payload one second after the change, and it stays there.

    One second before, the old mass.
    """
    payload = replace(PAYLOAD, mass=heavy, **{"t_on" if event == "put on" else "t_off": SWITCH})
    run = runs("trot", 3.5, payload)
    estimator, t, estimates = run.play(run.measurements())
    mass = np.array([e.total_mass for e in estimates]) - run.robot.total_mass
    before, after = (0.0, heavy) if event == "put on" else (heavy, 0.0)
    assert abs(mass[(t > 1.2) & (t < SWITCH - 0.03)] - before).max() < near
    assert abs(mass[t > SWITCH + 1.0] - after).max() < near
    assert estimator.monitors.last_restart[0] == 0


def test_no_alarm_without_a_change(runs):
    """A payload that was there from the beginning is found by the start, not by the detector.

    Its interval covers it.
    """
    run = runs("trot", 2.0, PAYLOAD)
    estimator, t, estimates = run.play(run.measurements())
    assert estimator.monitors.payload.alarms == 0
    last = estimates[-1]
    assert abs(last.total_mass - run.robot.total_mass - 3.0) < min(
        0.3, 3.0 * last.total_mass_stddev
    )


def test_without_torque_there_is_an_estimate_with_less_confidence(runs):
    run = runs("trot", 2.0, PAYLOAD)
    _, _, estimates = run.play(run.measurements())
    estimator, t, blind = run.play(run.measurements(effort=False))
    assert len(blind) == len(estimates) and estimator.monitors.last_restart[0] == 0
    torque = next(s for s in blind[-1].status.sensors if s.name == "torque")
    assert not torque.ok and torque.message == "no data"
    assert blind[-1].total_mass_stddev > 3.0 * estimates[-1].total_mass_stddev
    assert not blind[-1].bodies[0].observable
    # motion capture and joints still tell where the base is
    error = [
        np.linalg.norm(a.position_world - b.position_world)
        for a, b in zip(blind[20:], estimates[20:])
    ]
    assert max(error) < 0.01


def test_without_mocap_or_torque_the_base_is_still_followed(runs):
    run = runs("trot", 2.0, PAYLOAD)
    _, _, estimates = run.play(run.measurements())
    estimator, _, blind = run.play(run.measurements(effort=False, mocap=False), mocap=False)
    assert estimator.monitors.last_restart[0] == 0
    error = [
        np.linalg.norm(a.linear_velocity_base - b.linear_velocity_base)
        for a, b in zip(blind[20:], estimates[20:])
    ]
    assert np.sqrt(np.mean(np.square(error))) < 0.1


def test_motion_capture_that_is_not_expected_is_not_used(runs):
    """Neither for a start, whose place and heading no node would hold."""
    run = runs("trot", 1.0, PAYLOAD)
    heard, unheard = (
        run.play(run.measurements(mocap=mocap), mocap=False)[2] for mocap in (True, False)
    )
    assert len(heard) == len(unheard) > 20
    for a, b in zip(heard, unheard):
        np.testing.assert_array_equal(a.position_world, b.position_world)
        np.testing.assert_array_equal(a.quat_world_base, b.quat_world_base)


def test_standing_still_shows_the_weight_and_nothing_else(runs):
    """The legs weigh the trunk.

    Nothing turns it, so its rotational inertia stays as unknown as it was.
    """
    run = runs("stand", 2.0, PAYLOAD)
    estimator, _, estimates = run.play(run.measurements())
    body, problem = estimates[-1].bodies[0], estimator.problem
    truth = run.robot.total_mass + 3.0
    sticking = sticking_force(problem, estimator.window.xs[-1]) / 9.81
    assert abs(estimates[-1].total_mass - truth) < 3.0 * estimates[-1].total_mass_stddev + sticking
    prior = run.robot.model.inertias[run.robot.link_joint(body.link)].toDynamicParameters()
    by_theta = from_theta(problem.theta_nominal, run.config.estimator.manifold)[1]
    prior_std = np.linalg.norm(by_theta @ problem.theta_prior_root, axis=1)
    posterior_std = np.sqrt(np.diag(body.covariance))
    heavier = body.parameters[0] / prior[0]
    assert np.all(posterior_std[[4, 6, 9]] > 0.3 * prior_std[[4, 6, 9]] * min(1.0, heavier))
    assert body.com_stddev[2] > 0.3 * run.config.estimator.com_stddev


def sticking_force(problem, x) -> float:
    """Vertical force [N] that dry friction can hide in joints that do not move.

    Sum over legs of |J^-T| friction.
    """
    model = problem.robot.model
    data, total = model.createData(), 0.0
    pin.computeJointJacobians(model, data, x[: problem.nq])
    pin.updateFramePlacements(model, data)
    for contact in problem.robot.contacts:
        J = pin.getFrameJacobian(
            model, data, model.getFrameId(contact.frame), pin.LOCAL_WORLD_ALIGNED
        )[:3]
        leg = [c for c in np.flatnonzero(abs(J).max(axis=0) > 1e-9) if c >= 6]
        total += (
            abs(np.linalg.inv(J[:, leg].T)[2]) @ problem.robot.joint_friction[np.array(leg) - 6]
        )
    return total


@pytest.mark.parametrize("mocap", [True, False])
def test_start_while_walking(runs, mocap):
    """The first estimate comes after the start batch, and is good at once."""
    run = runs("trot", 2.0, PAYLOAD)
    estimator, t, estimates = run.play(run.measurements(mocap=mocap), mocap)
    assert t[0] == pytest.approx(START - 0.01, abs=1e-6) and estimator.monitors.last_restart[0] == 0
    # the reference: with motion capture, which has seen more by then
    _, _, later = run.play(run.measurements())
    first, reference = estimates[5], later[5]
    assert np.linalg.norm(first.linear_velocity_base - reference.linear_velocity_base) < 0.1


def test_start_that_nothing_explains_is_refused(runs):
    """A gyro that says 20 rad/s in the first batch.

    No estimate from it, the reason is told, and the next batch makes a good start.
    """
    run = runs("trot", 2.0, PAYLOAD)
    measurements = run.measurements()
    nodes = round(START / 0.01)
    estimator, t, estimates = run.play(
        [replace(m, gyro=m.gyro + 20.0) for m in measurements[:nodes]] + measurements[nodes:], True
    )
    restarts, reason = estimator.monitors.last_restart
    assert restarts >= 1 and "no motion of the model fits" in reason
    assert START < t[0] <= 2.0 * START
    _, _, expected = run.play(measurements)
    assert (
        np.linalg.norm(estimates[-1].linear_velocity_base - expected[-1].linear_velocity_base)
        < 0.05
    )


@pytest.mark.parametrize(
    "field, size, reason",
    [
        ("torque", 12, "joint_not_finite"),
        ("gyro", 3, "imu_not_finite"),
        ("accelerometer", 3, "imu_not_finite"),
    ],
)
def test_a_reading_that_is_not_finite_is_refused_and_counted(runs, field, size, reason):
    """Such readings do not pass the synchronizer; if one did, the estimate goes on without it."""
    run = runs("trot", 2.0, PAYLOAD)
    ms = run.measurements()
    k = 100
    broken = replace(ms[k], **{field: np.full(size, np.nan)})
    estimator = Estimator(run.robot, run.config)
    estimates = [estimator.update(m) for m in [*ms[:k], broken, *ms[k + 1 :]]]
    assert estimator.problem.measurements.refused[reason] == 1
    assert all(e is not None for e in estimates[k - 1 :])
    good = [e for e in estimates if e is not None]
    assert all(np.isfinite(e.position_world).all() and np.isfinite(e.total_mass) for e in good)
    assert estimates[-1].status.restarts == 0
    assert abs(estimates[-1].total_mass - run.robot.total_mass - 3.0) < 0.5


def test_reset_forgets(runs):
    """After a reset the same measurements give the same estimates."""
    run = runs("trot", 2.0, PAYLOAD)
    ms = run.measurements()[:80]
    estimator = Estimator(run.robot, run.config)
    first = [e for e in map(estimator.update, ms) if e is not None]
    estimator.reset()
    again = [e for e in map(estimator.update, ms) if e is not None]
    assert len(first) == len(again)
    np.testing.assert_array_equal(first[-1].position_world, again[-1].position_world)
    np.testing.assert_array_equal(first[-1].bodies[0].covariance, again[-1].bodies[0].covariance)
