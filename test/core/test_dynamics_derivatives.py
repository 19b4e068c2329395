# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Analytic derivatives of the contact step against differences on the manifold, for quadrupeds, an
arm and a humanoid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.differences import jacobian, relative_error
from helpers.models import ROBOTS, SITUATIONS, problem, random_point
from helpers.nodes import exact_dynamics

TOLERANCE = 1e-5
ARGUMENTS = ("q", "v", "force", "xi")


def step(dynamics, p, guess, derivatives=False):
    return dynamics.step(p.q, p.v, p.force, p.xi, p.parameters, guess, derivatives)


def moved(model, p, name, dx):
    """The point with one of its arguments moved by a tangent vector."""
    if name == "q":
        return replace(p, q=pin.integrate(model, p.q, dx))
    if name == "friction":
        return replace(p, friction=p.friction * np.exp(dx[0]))
    return replace(p, **{name: getattr(p, name) + dx})


def by(out, p, name, prefix="d"):
    """Derivative by one argument; of the friction coefficient by its logarithm."""
    sizes = {"theta": len(p.theta), "height": len(p.height), "friction": min(len(p.height), 1)}
    sizes |= {"slope": len(p.slope), "softness": len(p.softness)}
    if name not in sizes:
        return out[prefix + name]
    ends = dict(zip(sizes, np.cumsum(list(sizes.values()))))
    return out[prefix + "parameters"][:, ends[name] - sizes[name] : ends[name]]


@pytest.mark.parametrize("cone", ["coulomb", "convex"])
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("name", ROBOTS)
def test_step(name, situation, cone):
    if name == "kinova_free" and (situation, cone) != ("stance", "coulomb"):
        pytest.skip("no contact: one situation says it all")
    model_problem = problem(name, cone=cone)
    dynamics, model = exact_dynamics(model_problem), model_problem.robot.model
    rng = np.random.default_rng(SITUATIONS.index(situation))
    worst = {}
    for _ in range(1 if name == "g1" else 3):
        p = random_point(model_problem, rng, situation)
        out = step(dynamics, p, p.v, derivatives=True)
        for argument in (*ARGUMENTS, "theta", "height", "friction", "slope", "softness"):
            analytic = by(out, p, argument)
            if analytic.shape[1] == 0:
                continue
            expected = jacobian(
                lambda dx, a=argument: step(dynamics, moved(model, p, a, dx), out["v_next"])[
                    "v_next"
                ],
                analytic.shape[1],
            )
            worst[argument] = max(
                worst.get(argument, 0.0), relative_error(analytic, expected, 1e-3)
            )
    assert max(worst.values()) < TOLERANCE, worst


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_step_by_inertia_on_the_exponential_eigenvalue_manifold(name):
    model_problem = problem(name, manifold="exponential_eigenvalue")
    dynamics = exact_dynamics(model_problem)
    p = random_point(model_problem, np.random.default_rng(1), "stance")
    out = step(dynamics, p, p.v, derivatives=True)
    expected = jacobian(
        lambda dx: step(dynamics, replace(p, theta=p.theta + dx), out["v_next"])["v_next"],
        len(p.theta),
    )
    assert relative_error(by(out, p, "theta"), expected, 1e-3) < TOLERANCE
