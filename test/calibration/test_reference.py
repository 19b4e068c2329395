# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The smoother against IPOPT on a CasADi model of the same problem."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, shipped_noise, sway, swaying

from prime_estimation.calibration.problem import KinematicProblem
from prime_estimation.calibration.smoother import smooth


@pytest.mark.parametrize(
    ("name", "nodes"), [("go2", 30), ("g1", 30), pytest.param("go2", 200, marks=pytest.mark.slow)]
)
def test_optimum_is_that_of_ipopt(name, nodes):
    """With noise, one foot lifted for a while; on spheres, and on soles."""
    pytest.importorskip("casadi")
    from reference.kinematic_casadi import Reference

    robot = swaying(name)
    truth, rng = bent(robot), np.random.default_rng(8)
    clean = sway(robot, truth, nodes)
    stance = clean.stance.copy()
    stance[nodes // 3 : nodes // 2, -2] = False
    recording = replace(
        clean,
        stance=stance,
        angle=clean.angle + 0.003 * rng.normal(size=clean.angle.shape),
        rate=clean.rate + 0.05 * rng.normal(size=clean.rate.shape),
        gyro=clean.gyro + 0.01 * rng.normal(size=clean.gyro.shape),
    )
    noise = shipped_noise(name)
    problem = KinematicProblem(robot, recording, truth, noise, mocap_nodes=nodes // 3)
    found = smooth(problem, tolerance=1e-22)
    tangents, cost = Reference(robot, problem, truth).solve()
    expected = problem.origin.moved(tangents)
    assert found.cost == pytest.approx(cost, rel=1e-9)
    x = found.trajectory
    for part in ("position", "rotation", "velocity", "feet", "gyro_bias", "accelerometer_bias"):
        np.testing.assert_allclose(
            getattr(x, part), getattr(expected, part), atol=1e-7, err_msg=part
        )
