# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Without torque on bumps, under motion capture: nothing weighs the robot, nor says who carries."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.runs import measurements, truth

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot

SECONDS = 3.0


def test_base_is_where_motion_capture_sees_it(tmp_path):
    """A foot on a bump of less than 12 mm hung in the air, and the base fell onto the others."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    ground = simulate.Ground(bump_height=0.035)
    load = simulate.Payload(3.0, (0.05, 0.02, 0.1))
    run = simulate.run(
        "go2", "trot", SECONDS, tmp_path / "run", payload=load, terrain=ground, seed=5, start=1.0
    )
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    ms = measurements(run, robot, config, SECONDS, effort=False)
    out = [e for m in ms if (e := estimator.update(m)) is not None]
    linear = lambda m: [getattr(m.twist.twist.linear, i) for i in "xyz"]  # noqa: E731
    stamps, velocity = truth(run, "/ground_truth/odom", linear)
    at = np.array([e.stamp_ns for e in out])
    true = np.stack([np.interp(at, stamps, column) for column in velocity.T], axis=1)
    error = (np.array([e.linear_velocity_base for e in out]) - true)[50:]
    stddev = np.sqrt([np.diag(e.twist_covariance)[:3] for e in out])[50:]
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.015
    assert np.mean(np.abs(error) < 1.96 * stddev) > 0.9
