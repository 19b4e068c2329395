# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robustness of the contact step.

Thousands of states that no robot has seen, and the error where there is no solution.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.models import problem, random_point, sphere_bottoms


def wild_points(of, n: int, seed: int):
    """Each foot from 5 cm deep in the ground to far in the air.

    Speeds to 20 rad/s, forces to 500 N, friction 0.1 to 1.5.
    """
    rng = np.random.default_rng(seed)
    for _ in range(n):
        p = random_point(of, rng, "stance")
        bottoms = sphere_bottoms(of.robot, p.q)
        low = np.array(
            [
                min(b for b, c in zip(bottoms, of.robot.contacts) if c.foot == foot)
                for foot in of.robot.feet
            ]
        )
        gaps = rng.choice(
            [rng.uniform(-0.05, 0.0), rng.uniform(-1e-3, 1e-3), rng.uniform(0.0, 0.1)], len(low)
        )
        v = rng.uniform(-1.0, 1.0, of.nv) * 20.0 ** rng.uniform(-1.0, 1.0)
        force = rng.uniform(-1.0, 1.0, of.nv) * 500.0 ** rng.uniform(0.0, 1.0)
        yield replace(p, v=v, force=force, height=low - gaps, friction=rng.uniform(0.1, 1.5))


@pytest.mark.parametrize("cone", ["coulomb", "convex"])
@pytest.mark.parametrize("name, n", [("go2", 1500), ("g1", 300)])
def test_always_converges(name, n, cone, record_property):
    of = problem(name, cone=cone)
    iterations = []
    for p in wild_points(of, n, 0):
        out = of.dynamics.step(p.q, p.v, p.force, p.xi, p.parameters, p.v)
        g = of.dynamics.residual(p.q, p.v, p.force, p.xi, p.parameters, out["v_next"])
        assert abs(g).max() < 1e-6 * max(1.0, abs(out["impulse"]).max())
        iterations.append(out["iterations"])
    for share in (50, 90, 99, 100):
        record_property(f"iterations_p{share}", float(np.percentile(iterations, share)))
    assert np.percentile(iterations, 50) < 20


def test_warm_start_takes_few_iterations():
    """From the solution of a neighbour, as the estimator does it."""
    of, rng = problem("go2"), np.random.default_rng(1)
    iterations = []
    for p in wild_points(of, 200, 2):

        def step(at, guess):
            return of.dynamics.step(at.q, at.v, at.force, at.xi, at.parameters, guess)

        guess = step(p, p.v)["v_next"]
        near = replace(
            p, v=p.v + 1e-3 * rng.normal(size=of.nv), force=p.force + 0.1 * rng.normal(size=of.nv)
        )
        iterations.append(step(near, guess)["iterations"])
    assert np.median(iterations) <= 4 and np.percentile(iterations, 95) <= 10


def test_error_says_what_was_infeasible():
    """One iteration is not enough: the message names residual, speed, force and gap."""
    from prime_estimation import _core
    from prime_estimation.contact.points import contact_points
    from prime_estimation.mhe.contact_model import _options

    of = problem("go2")
    robot, options = of.robot, _options(of.config)
    options.max_iterations = 1
    contacts = contact_points(robot)
    links = [robot.link_joint(link) for link in robot.estimated_links]
    joints = _core.JointModel(robot.joint_damping, robot.joint_friction)
    weak = _core.SmoothedDynamics(robot.model, contacts, links, joints, True, options)
    p = replace(random_point(of, np.random.default_rng(3), "deep"), v=np.full(of.nv, 7.0))
    message = (
        r"no solution after \d+ Newton iterations \(residual .*largest speed 7, largest force "
        r".*, lowest gap -0\.0"
    )
    with pytest.raises(_core.SolveError, match=message):
        weak.step(p.q, p.v, p.force, p.xi, p.parameters, p.v)
