# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Without motion capture no sensor sees place and heading: what is known of them must not grow."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from helpers.choreography import POSTURE, perform, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot

START, SHIFTS = 0.6, 100  # s, nodes


def information(window) -> tuple[np.ndarray, np.ndarray]:
    """Motions of the world along x, y and around z in the tangent at the arrival cost's reference
    (ndx, 3), and what it knows of each."""
    x = window.arrival.reference
    R, motions = pin.Quaternion(x[3:7]).toRotationMatrix(), np.zeros((window.problem.ndx, 3))
    motions[:3] = R.T @ np.column_stack(
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], np.cross([0.0, 0.0, 1.0], x[:3])]
    )
    motions[3:6, 2] = R[2]
    return motions, np.sum(np.linalg.solve(window.arrival.L, motions) ** 2, axis=0)


def test_place_and_heading_stay_unknown():
    """A robot that sways and turns on slipping feet, known to 1 m and 0.1 rad.

    So it stays while a hundred nodes leave the window.
    """
    config = Config.load("go2")
    robot = Robot(config.robot)
    q, slow = standing_pose(robot, POSTURE), 2.0 * np.pi

    def path(t):
        moved = q.copy()
        moved[:2] = 1.0 + 0.02 * np.sin(slow * t), -2.0
        moved[3:7] = pin.Quaternion(
            pin.rpy.rpyToMatrix(0.05 * np.sin(slow * t), 0.0, 0.2 * t)
        ).coeffs()
        return moved

    estimator, before = Estimator(robot, config, mocap=False), None
    for k, m in enumerate(perform(config, path, lambda t: 1.0, START + 0.01 * SHIFTS)):
        estimator.update(m)
        if before is None and k > 100 * START:
            motions, _ = information(estimator.window)
            estimator.window.arrival.inflate_covariance(motions * [1.0, 1.0, 0.1])
            _, before = information(estimator.window)
    assert estimator.monitors.last_restart[0] == 0
    _, after = information(estimator.window)
    np.testing.assert_allclose(after, before, rtol=1e-2)
