# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One optimum: parameters out of the state or in it, every rollout, both eliminations, both
manifolds."""

from __future__ import annotations

from functools import lru_cache

import crocoddyl
import numpy as np
import pytest
from core.test_window_solver import _input
from helpers.models import config, robot, sphere_bottoms

from prime_estimation import _core
from prime_estimation.inertia import from_theta, to_theta
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window

NODES = 6


@lru_cache(maxsize=None)
def soft(name: str, manifold: str = "log_cholesky") -> Problem:
    """A contact law under which all ways lead to one optimum.

    Under a sharper one rollouts through the dynamics have others.
    """
    return Problem(
        robot(name),
        config(name, manifold=manifold).updated({"robot": {"kappa": 1000.0}}),
        ("mocap",),
    )


@lru_cache(maxsize=None)
def truth(name: str) -> tuple[list, list]:
    """States and inputs of a robot that stands on bent legs, sways and is pushed about, its base a
    kilogram heavier than the model says."""
    of, rng = soft(name), np.random.default_rng(1)
    x, first = np.zeros(of.nq + of.nv + of.np), of.nq + of.nv
    x[: of.nq] = [0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0, *[0.0, 0.8, -1.6] * 4]
    x[of.nq : of.nq + 6] = [0.1, -0.1, 0.0, 0.3, -0.2, 0.2]
    pi = from_theta(of.theta_nominal[:10], "log_cholesky")[0] + np.eye(10)[0]
    values = {
        "theta": to_theta(pi, "log_cholesky"),
        "height": sphere_bottoms(of.robot, x[: of.nq]),
        "friction": [np.log(0.8)],
    }
    for block, value in values.items():
        of.parameter(x, block)[:] = value
    posture, node = x[7 : of.nq].copy(), of.node()
    data, xs, inputs = node.createData(), [x], []
    for _ in range(NODES):
        inputs.append(_reading(of, rng, xs[-1], posture))
        node.input = inputs[-1]
        node.calc(
            data,
            xs[-1],
            np.concatenate([0.5 * rng.normal(size=of.nv), 0.02 * rng.normal(size=of.dynamics.nxi)]),
        )
        xs.append(np.concatenate([data.xnext[:first], x[first:]]))
    return xs, [*inputs, _reading(of, rng, xs[-1], posture)]


def _reading(of, rng, x, posture):
    """Sensors at x, and the torques of a joint position controller."""
    given, v = _input(of, rng, x), x[of.nq : of.nq + of.nv]
    given.set("gyro", v[3:6] + 0.002 * rng.normal(size=3), given.weight("gyro"))
    given.set("accelerometer", given.value("accelerometer"), np.zeros(3))
    given.torque = 60.0 * (posture - x[7 : of.nq]) - 1.0 * v[6:]
    noise = of.config.noise
    given.weight_force = 1.0 / np.array(
        [noise.base_force] * 3 + [noise.base_moment] * 3 + [0.3] * of.nj
    )
    return given


def window(name: str, manifold: str = "log_cholesky") -> Window:
    """The estimation problem, started where nobody pushes, with the inertia of the model."""
    of = soft(name, manifold)
    xs, inputs = truth(name)
    guess = [x.copy() for x in xs]
    for x in guess:
        of.layout.p(x)[:] = of.layout.p(xs[0])
        of.parameter(x, "theta")[:] = of.theta_nominal
    root = of.first.root(True)
    return Window(
        of,
        _core.ActionArrival(of.state, guess[0], root @ root.T),
        inputs,
        list(range(NODES + 1)),
        guess,
    )


def solved(w: Window, rollout: str = "multiple", method: str = "schur") -> Window:
    w.solver.rollout = getattr(_core.Rollout, rollout)
    w.solver.method = getattr(_core.ParameterMethod, method)
    w.solver.th_stop = 1e-15
    w.solver.solve([w.xs[0], *w.xs], [np.zeros(w.problem.ndx), *w.us], 200)
    w.xs = w.solver.states()[1:]
    return w


@lru_cache(maxsize=None)
def expected() -> tuple[Window, np.ndarray]:
    """The optimum, and the standard deviation of the head's tangent there."""
    w = solved(window("go2"))
    w.posterior()
    return w, np.sqrt(np.diag(w.head_covariance()))


def assert_same_optimum(w: Window, xs, cost: float) -> None:
    """Same cost to 1e-9; states and parameters to 1e-6, or to 1e-4 of a standard deviation where
    they are hardly known."""
    reference, stddev = expected()
    assert abs(cost / reference.solver.cost - 1.0) < 1e-9
    differences = np.abs([w.problem.state.diff(a, b) for a, b in zip(xs, reference.xs)])
    assert np.all(differences < np.maximum(1e-6, 1e-4 * stddev))


def test_augmented_state():
    """Crocoddyl's solver with the parameters in the state."""
    w = window("go2")
    fddp = crocoddyl.SolverFDDP(w.solver.problem)
    fddp.th_stop = 1e-18
    fddp.solve([w.xs[0], *w.xs], [np.zeros(w.problem.ndx), *w.us], 200, False, 1e-9)
    assert_same_optimum(w, list(fddp.xs)[1:], fddp.cost)


@pytest.mark.parametrize("rollout", ["multiple", "feasible", "single"])
@pytest.mark.parametrize("method", ["schur", "nullspace"])
def test_rollouts_and_eliminations(rollout, method):
    w = solved(window("go2"), rollout, method)
    assert_same_optimum(w, w.xs, w.solver.cost)


def test_manifolds_agree():
    """The prior's shape differs away from its mean, the data decide: mass and centre of mass agree
    within a fraction of their interval."""
    bodies = []
    for w in (expected()[0], solved(window("go2", "exponential_eigenvalue"))):
        w.posterior()
        theta = w.problem.columns("theta")
        pi, jacobian = w.problem.inertias(w.xs[-1])[0]
        bodies.append(
            (pi, np.sqrt(np.diag(jacobian @ w.head_covariance()[theta, theta] @ jacobian.T)))
        )
    (a, std), (b, other) = bodies
    assert np.all(abs(a - b)[:4] < 0.2 * std[:4])
    np.testing.assert_allclose(std[:4], other[:4], rtol=0.2)


def test_truth_is_within_the_interval():
    """The kilogram that the model does not know of."""
    w, _ = expected()
    w.posterior()
    theta = w.problem.columns("theta")
    pi, jacobian = w.problem.inertias(w.xs[-1])[0]
    true = from_theta(truth("go2")[0][0][w.problem.nq + w.problem.nv :][:10], "log_cholesky")[0]
    stddev = np.sqrt((jacobian @ w.head_covariance()[theta, theta] @ jacobian.T)[0, 0])
    assert abs(pi[0] - true[0]) < 3.0 * stddev
