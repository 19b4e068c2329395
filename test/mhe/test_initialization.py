# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the first batch needs, and what it says when it does not get it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, robot
from helpers.runs import measurements, truth, velocity_errors

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import STANCE
from prime_estimation.errors import InitializationError
from prime_estimation.estimator import Estimator
from prime_estimation.mhe import initialization as start
from prime_estimation.mhe.first_state import CREDIBLE, inertia_deviation
from prime_estimation.mhe.initialization import start_window
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.recordings import samples
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement

STEP = 10_000_000


def standing(name: str, n: int, posture: float = 0.0) -> list[Measurement]:
    """Readings of a robot at rest without torque."""
    of = robot(name)
    return [
        Measurement(
            stamp_ns=k * STEP,
            position=np.full(of.nj, posture),
            velocity=np.zeros(of.nj),
            gyro=np.zeros(3),
            accelerometer=np.array([0.0, 0.0, 9.81]),
        )
        for k in range(1, n + 1)
    ]


def test_needs_joints():
    ms = [replace(m, position=None) for m in standing("go2", 20)]
    with pytest.raises(InitializationError, match="no joint positions"):
        start_window(Problem(robot("go2"), config("go2")), ms)


def test_needs_to_know_where_up_is():
    ms = [replace(m, accelerometer=None) for m in standing("go2", 20)]
    with pytest.raises(InitializationError, match="up is unknown"):
        start_window(Problem(robot("go2"), config("go2")), ms)


def test_starts_at_the_first_complete_measurement():
    ms = standing("go2", 20)
    ms[:4] = [replace(m, velocity=None) for m in ms[:4]]
    window = start_window(Problem(robot("go2"), config("go2")), ms)
    assert window.stamps[0] == ms[4].stamp_ns and window.size == 15


def test_attitude_from_the_specific_force():
    """A robot that stands on a slope of 0.2 rad."""
    up = np.array([-np.sin(0.2), 0.0, np.cos(0.2)]) * 9.81
    ms = [replace(m, accelerometer=up) for m in standing("go2", 20)]
    problem = Problem(robot("go2"), config("go2"))
    x = start_window(problem, ms).xs[-1]
    vertical = pin.Quaternion(x[3:7]).toRotationMatrix().T @ [0.0, 0.0, 1.0]
    assert np.arccos(vertical @ up / 9.81) < 0.05


@pytest.mark.parametrize("name", ["kinova", "kinova_free"])
def test_arm_with_continuous_joints(name):
    """Continuous joints have more coordinates than rates.

    The window stands where the encoders say.
    """
    of = robot(name)
    problem = Problem(of, config(name))
    angles = np.linspace(-2.0, 2.5, of.nj)
    rest = dict(position=angles, velocity=np.zeros(of.nj), gyro=None, accelerometer=None)
    ms = [
        Measurement(stamp_ns=k * STEP, torque=_holding(of, angles), torque_samples=5.0, **rest)
        for k in range(1, 21)
    ]
    x = start_window(problem, ms).xs[-1]
    expected = pin.integrate(of.model, pin.neutral(of.model), angles)
    np.testing.assert_allclose(of.coordinates(angles), expected, atol=1e-12)
    np.testing.assert_allclose(of.positions(expected), angles, atol=1e-12)
    np.testing.assert_allclose(pin.difference(of.model, expected, x[: problem.nq]), 0.0, atol=0.01)
    estimates = [
        e
        for e in map(Estimator(of, config(name), False).update, _continued(ms, 80))
        if e is not None
    ]
    assert len(estimates) > 20
    np.testing.assert_allclose(estimates[-1].joint_position, angles, atol=0.01)
    np.testing.assert_allclose(estimates[-1].joint_velocity, 0.0, atol=0.02)


@pytest.mark.parametrize(
    "failure",
    [
        _core.SolveError("the Hessian is not positive definite"),
        InitializationError("cannot start: lost"),
    ],
)
def test_another_way_where_the_first_leads_astray(monkeypatch, failure):
    ways, solve = [], start.solve_batch

    def first_fails(problem, ms, previous_state, way, situation):
        ways.append(way)
        if len(ways) == 1:
            raise failure
        return solve(problem, ms, previous_state, way, situation)

    monkeypatch.setattr(start, "solve_batch", first_fails)
    estimator = Estimator(robot("go2"), config("go2"), False)
    assert [estimator.update(m) for m in standing("go2", 50)][-1] is not None
    # without torque, friction is held
    assert estimator.monitors.last_restart[0] == 0 and ways == list(start.WAYS[1:3])


def test_another_way_where_the_first_leads_to_an_inertia_of_no_load(monkeypatch):
    """Such a trunk stays as it is whatever the feet do, so that the residuals are small."""
    ways, solve = [], start.solve_batch

    def first_explodes(problem, ms, previous_state, way, situation):
        ways.append(way)
        batch = solve(problem, ms, previous_state, way, situation)
        if len(ways) == 1:
            for x in batch.xs:
                problem.parameter(x, "theta")[3] += 10.0  # kg m^2 times e^20
        return batch

    monkeypatch.setattr(start, "solve_batch", first_explodes)
    problem = Problem(robot("go2"), config("go2"))
    begun = start.first_window(problem, standing("go2", 50), None)
    assert ways == list(start.WAYS[1:3])
    away = inertia_deviation(problem, begun.window.xs[-1])
    assert np.abs(away).max() < CREDIBLE


def test_says_why_no_way_leads_to_a_start(monkeypatch):
    def fails(problem, ms, previous_state, way, situation):
        raise _core.SolveError(f"soft {way.soft}")

    monkeypatch.setattr(start, "solve_batch", fails)
    ms = standing("go2", 50)
    reason = f"no motion of the model fits the first measurements (soft {start.WAYS[-1].soft})"
    begun = start.first_window(Problem(robot("go2"), config("go2")), ms, None)
    assert begun.window is None and begun.reason == reason
    estimator = Estimator(robot("go2"), config("go2"), False)
    assert all(estimator.update(m) is None for m in ms)
    assert estimator.monitors.last_restart[1] == f"cannot start: {reason}"


# where the first way ends on the wrong feet
@pytest.mark.parametrize(
    ("run", "first"),
    [
        ("go2_trot2_nominal", 56),
        ("go2_trot2_nominal", 980),
        ("go2_nominal", 583),
        # and fits well, on feet that slide
        ("go2_trot2_nominal", 225),
        ("go2_trot2_nominal", 575),
        ("go2_trot2_nominal", 750),
    ],
)
def test_starts_while_trotting(recorded_runs, run, first):
    estimator = Estimator(robot("go2"), config("go2"), False)
    ms = batch(recorded_runs / run, first)
    estimate = [estimator.update(m) for m in ms][-1]
    assert estimator.monitors.last_restart[0] == 0
    assert velocity_error(recorded_runs / run, estimate) < 0.1


def test_starts_on_stairs(recorded_runs):
    """Ground that steps is not found soft: the base went down through it with up to 1.6 m/s."""
    bag = recorded_runs / "go2_stairs_payload3"
    settings = Config.load("go2")
    of = Robot(settings.robot)
    located = samples.measurements(bag, of, settings.estimator.step)[750:850]
    ms = [replace(m, readings={**m.readings, "mocap": ()}) for m in located]
    estimator = Estimator(of, settings, False)
    estimates = [e for m in ms if (e := estimator.update(m)) is not None]
    assert np.abs(velocity_errors(bag, estimates)).max() < 0.05


def test_no_start_on_feet_that_slide(recorded_runs, monkeypatch):
    """Where no way gives feet that stand, the next half second is waited for."""
    bag = recorded_runs / "go2_trot2_nominal"
    ms, problem = batch(bag, 56), Problem(robot("go2"), config("go2"))
    located = measurements(bag, robot("go2"), config("go2"), 1.0)
    monkeypatch.setattr(start, "stance_speed", lambda window: 1.5)
    begun = start.first_window(problem, ms, None)
    assert begun.window is None and begun.reason.startswith("feet that carry move at 1.50 m/s")
    assert start.first_window(Problem(robot("go2"), config("go2"), {"mocap"}), located, None).window


def test_speed_of_feet_that_carry(recorded_runs):
    """Of a robot that trots: small when its velocity is right, and else its error."""
    estimator = Estimator(robot("go2"), config("go2"), False)
    for m in batch(recorded_runs / "go2_nominal", 300):
        estimator.update(m)
    window = estimator.window
    assert start.stance_speed(window) < STANCE.slow
    wrong = [x.copy() for x in window.xs]
    for x in wrong:
        estimator.problem.layout.part(x, "velocity")[1] += 2.0
    parts = window.problem, window.arrival, window.inputs, window.stamps
    assert start.stance_speed(Window(*parts, wrong)) == pytest.approx(2.0, abs=0.2)


def batch(bag, first: int, nodes: int | None = None):
    """Measurements without motion capture from a node on; as many as a start takes, or more."""
    settings = config("go2")
    last = first + (nodes or settings.estimator.start_nodes)
    seconds = (last + 5) * settings.estimator.step
    return measurements(bag, robot("go2"), settings, seconds, mocap=False)[first:last]


def velocity_error(bag, estimate) -> float:
    """Of an estimate of the base [m/s]."""
    t, v = truth(
        bag, "/ground_truth/odom", lambda m: [getattr(m.twist.twist.linear, a) for a in "xyz"]
    )
    now = np.argmin(np.abs(t - estimate.stamp_ns))
    return float(np.linalg.norm(estimate.linear_velocity_base - v[now]))


def _continued(ms, n):
    return [replace(ms[0], stamp_ns=k * STEP) for k in range(1, n + 1)]


def _holding(of, angles):
    q = pin.integrate(of.model, pin.neutral(of.model), angles)
    return pin.computeGeneralizedGravity(of.model, of.model.createData(), q)
