# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Load of feet where no torque tells it: what the IMU feels must be carried by something."""

from __future__ import annotations

import numpy as np

from ..config.policies import GROUND
from ..contact.leg_forces import FREE_FALL
from ..robot import GRAVITY
from ..sensors.contact_flags import NAME as FLAGS
from .problem import Problem
from .window import Window


class LoadByMotion:
    """Normal forces of legs whose torques are not measured."""

    def __init__(self, problem: Problem):
        self.problem = problem

    def forces(self, window: Window, above: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Normal forces (nf,) [N] at the newest complete node: slow and low feet share the weight.

        Feet are compared with each other, so that some carry even where base and ground have
        drifted apart.

        Args:
            window: solved.
            above: (nf,) heights of the soles over their ground [m].
            rates: (nf, 3) of the soles [m/s].
        """
        felt = float(np.linalg.norm(window.inputs[-2].value("accelerometer")))
        if felt < FREE_FALL * GRAVITY:
            return np.zeros(len(above))
        slow = np.linalg.norm(rates, axis=1) / GROUND.slow
        flags = self.problem.measurements.trackers.get(FLAGS)
        if flags is not None and flags.known:
            # the lowest feet are not those that stand where the ground is not level
            near = flags.odds
        else:
            near = np.exp(-0.5 * ((above - above.min()) / GROUND.near) ** 2)
        likely = near * np.exp(-0.5 * slow**2) + np.finfo(float).tiny
        return self.problem.robot.total_mass * felt * likely / likely.sum()

    def left_hanging(self, window: Window, normal: np.ndarray, least: float) -> np.ndarray:
        """(nf,) feet that ought to carry the robot and do not in the newest nodes.

        All of them where nothing carries it; one alone where flags say that it does.

        Args:
            window: solved.
            normal: (nf,) what they ought to carry [N].
            least: of a foot that stands [N].
        """
        nodes = range(-min(GROUND.missed_nodes, window.size), 0)
        carried = np.array([window.foot_forces(k) for k in nodes])
        ought = GROUND.hanging_share * normal.sum()
        hangs = np.full(len(normal), carried[-GROUND.hanging_nodes :].sum(axis=1).max() < ought)
        flags = self.problem.measurements.trackers.get(FLAGS)
        if flags is not None and flags.known:
            hangs |= carried.max(axis=0) < GROUND.missed_share * normal
        return hangs & (normal > least)
