# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Jacobians of all residuals against a complex step on the manifold."""

import numpy as np
import pytest
from helpers.swaying_robot import bent, shipped_noise, sway, swaying

from prime_estimation.calibration import problem as problem_module
from prime_estimation.calibration.banded import node_covariances
from prime_estimation.calibration.problem import KinematicProblem
from prime_estimation.calibration.sensitivity import curvature
from prime_estimation.calibration.trajectory import FEET, POSITION, ROTATION, VELOCITY

H = 1e-30


@pytest.fixture(scope="module", params=["go2", "g1"])
def case(request):
    """Feet that roll on spheres, and soles that lie."""
    robot, noise = swaying(request.param), shipped_noise(request.param)
    problem = KinematicProblem(robot, sway(robot, bent(robot), 12), bent(robot), noise)
    rng = np.random.default_rng(0)
    x = problem.origin
    d = 0.05 * rng.normal(size=(len(x), x.width))
    offsets = problem.nominal.moved(0.02 * rng.normal(size=problem.nominal.size))
    return problem, x.moved(d), offsets


def names(case):
    return [f.name for f in case[0].factors(*case[1:])]


def test_jacobians_by_the_states(case):
    problem, x, offsets = case
    factors = problem.factors(x, offsets)
    rng, w = np.random.default_rng(1), x.width
    d = rng.normal(size=(len(x), w))
    moved = problem.factors(x.moved(1j * H * d), offsets)
    both = np.concatenate([d, np.roll(d, -1, axis=0)], axis=1)
    for f, m in zip(factors, moved):
        local = both[f.node][:, f.columns]
        expected = np.einsum("mrc,mc->mr", f.jacobian, local)
        np.testing.assert_allclose(m.residual.imag / H, expected, atol=1e-9, err_msg=f.name)


def test_jacobians_by_the_offsets(case):
    problem, x, offsets = case
    d = np.random.default_rng(2).normal(size=offsets.size)
    moved = problem.factors(x, offsets.moved(1j * H * d))
    for f, m in zip(problem.factors(x, offsets), moved):
        expected = np.zeros_like(f.residual)
        if f.offset_jacobian is not None:
            expected = f.offset_jacobian @ d[f.parameters]
        np.testing.assert_allclose(m.residual.imag / H, expected, atol=1e-9, err_msg=f.name)


def test_gradient_and_normal_equations_are_those_of_the_cost(case):
    problem, x, offsets = case
    rng = np.random.default_rng(3)
    d, do = rng.normal(size=(len(x), x.width)), rng.normal(size=offsets.size)
    g, gp = problem.gradient(x, offsets)
    h = 1e-6
    problem.free = np.arange(offsets.size)
    ends = [problem.cost(x.moved(s * h * d), offsets.moved(s * h * do)) for s in (-1.0, 1.0)]
    slope = (ends[1] - ends[0]) / (2.0 * h)
    assert np.sum(g * d) + gp @ do == pytest.approx(slope, rel=1e-6)
    equations = problem.equations(x, offsets)
    np.testing.assert_allclose(equations.gradient, g, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(equations.parameter_gradient, gp, rtol=1e-9, atol=1e-6)
    assert equations.cost == pytest.approx(problem.cost(x, offsets), rel=1e-12)


def symmetric(e):
    """Matrix of the states of normal equations, dense."""
    n, w = e.gradient.shape
    dense = np.zeros((n * w, (n + 1) * w))
    for i, rows in enumerate(e.rows):
        dense[i * w : (i + 1) * w, i * w : (i + 2) * w] = rows
    upper = np.triu(dense[:, : n * w])
    return upper + np.triu(upper, 1).T


@pytest.mark.parametrize(
    "name", ["imu", "start", "mocap", *(f"{k}_{i}" for k in ("leg", "foothold") for i in (0, 1))]
)
def test_second_derivatives_of_each_residual(case, monkeypatch, name):
    """Against complex steps of the gradient by every column; half of it and its transpose."""
    problem, x, offsets = case
    own = [f for f in problem.factors(x, offsets) if f.name == name]
    monkeypatch.setattr(problem_module, "carried_bends", lambda x, gradient: [])
    found = symmetric(problem.equations(x, offsets, own, curved=True))
    straight = symmetric(problem.equations(x, offsets, own))
    every = problem.factors
    monkeypatch.setattr(problem, "factors", lambda *at: [f for f in every(*at) if f.name == name])
    columns = np.eye(found.shape[0]).reshape(-1, len(x), x.width)
    exact = np.stack([curvature(problem, x, offsets, d).ravel() for d in columns], axis=1)
    exact = 0.5 * (exact + exact.T)
    bent_part = np.abs(exact - straight).max()
    if name.startswith("foothold") and problem.legs[0].flat:
        # that of a sole is linear
        np.testing.assert_array_equal(found, straight)
        np.testing.assert_allclose(found, exact, rtol=0.0, atol=1e-12 * np.abs(exact).max())
    else:
        assert bent_part > 0.0
        np.testing.assert_allclose(found, exact, rtol=0.0, atol=1e-8 * bent_part)


def test_second_derivative_along_carried_steps(case):
    """Of the whole cost, by Richardson's extrapolation."""
    problem, x, offsets = case
    H = symmetric(problem.equations(x, offsets, curved=True))
    d = np.random.default_rng(4).normal(size=(len(x), x.width))

    def second(h):
        low, middle, high = (problem.cost(x.carried(s * h * d), offsets) for s in (-1.0, 0.0, 1.0))
        return (low - 2.0 * middle + high) / h**2

    expected = (4.0 * second(5e-4) - second(1e-3)) / 3.0
    assert d.ravel() @ H @ d.ravel() == pytest.approx(expected, rel=1e-8)


def test_carried_steps_move_the_whole_exactly(case):
    """A turn about the vertical of the world, and a shift, change no motion."""
    problem, x, offsets = case
    w, shift = np.array([0.0, 0.0, 0.7]), np.array([1.0, -2.0, 0.5])
    d = np.zeros((len(x), x.width))
    d[:, POSITION], d[:, ROTATION] = np.cross(w, x.position) + shift, x.rotation.swapaxes(1, 2) @ w
    d[:, VELOCITY] = np.cross(w, x.velocity)
    d[:, FEET:] = (np.cross(w, x.feet) + shift).reshape(len(x), -1)
    there = problem.factors(x.carried(d), offsets)
    for before, after in zip(problem.factors(x, offsets), there):
        if before.name not in ("start", "mocap") and not before.name.startswith("foothold"):
            np.testing.assert_allclose(after.residual, before.residual, atol=1e-12)


def test_covariances_of_the_nodes_are_those_of_the_dense_matrix(case):
    problem, x, offsets = case
    e = problem.equations(x, offsets)
    n, w = len(x), x.width
    H = symmetric(e)
    scale = 1.0 / np.sqrt(np.diag(H))
    P = scale[:, None] * np.linalg.inv(scale[:, None] * H * scale) * scale
    found = node_covariances(e)
    for i in range(n):
        expected = P[i * w : (i + 1) * w, i * w : (i + 1) * w]
        size = np.sqrt(np.diag(expected))
        np.testing.assert_allclose(
            found[i] / np.outer(size, size), expected / np.outer(size, size), atol=1e-6
        )


def test_banded_solution_is_the_dense_one(case):
    problem, x, offsets = case
    problem.free = np.arange(offsets.size)
    e = problem.equations(x, offsets)
    n, w, k = len(x), x.width, offsets.size
    dense = np.zeros((n * w + k, n * w + k))
    dense[: n * w, : n * w] = symmetric(e)
    dense[: n * w, n * w :] = e.border.reshape(n * w, k)
    dense[n * w :, : n * w], dense[n * w :, n * w :] = dense[: n * w, n * w :].T, e.corner
    scale = 1.0 / np.sqrt(np.diag(dense))
    rhs = np.concatenate([e.gradient.ravel(), e.parameter_gradient])
    expected = scale * np.linalg.solve(scale[:, None] * dense * scale, scale * rhs)
    dx, do = e.factorized().solve(e.gradient, e.parameter_gradient)
    found = np.concatenate([dx.ravel(), do])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)
