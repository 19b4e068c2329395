# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The smoother against IPOPT on a CasADi model of the same problem."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, shipped_noise, sway

from prime_estimation.calibration.problem import KinematicProblem
from prime_estimation.calibration.smoother import smooth


@pytest.mark.parametrize("nodes", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_optimum_is_that_of_ipopt(nodes):
    """With noise, one foot lifted for a while."""
    pytest.importorskip("casadi")
    from reference.kinematic_casadi import Reference

    robot = go2_on_points(0.022)
    truth, rng = bent(robot), np.random.default_rng(8)
    clean = sway(robot, truth, nodes)
    stance = clean.stance.copy()
    stance[nodes // 3 : nodes // 2, 2] = False
    recording = replace(
        clean,
        stance=stance,
        angle=clean.angle + 0.003 * rng.normal(size=clean.angle.shape),
        rate=clean.rate + 0.05 * rng.normal(size=clean.rate.shape),
        gyro=clean.gyro + 0.01 * rng.normal(size=clean.gyro.shape),
    )
    problem = KinematicProblem(robot, recording, truth, shipped_noise(), mocap_nodes=nodes // 3)
    found = smooth(problem, tolerance=1e-22)
    tangents, cost = Reference(robot, problem, truth).solve()
    expected = problem.origin.moved(tangents)
    assert found.cost == pytest.approx(cost, rel=1e-9)
    x = found.trajectory
    for name in ("position", "rotation", "velocity", "feet", "gyro_bias", "accelerometer_bias"):
        np.testing.assert_allclose(
            getattr(x, name), getattr(expected, name), atol=1e-7, err_msg=name
        )
