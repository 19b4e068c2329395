# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Learnt load: weight and place of what a robot carries beside its model, from its soles."""

from __future__ import annotations

import numpy as np

from .controller import PERIOD

LEARNING = 1.0  # s, time constant of the load's weight and place


class LearntLoad:
    """Weight of a robot with its load, and offset of its true centre of mass.

    Args:
        weight: of the model [N].
        rate: of the inverted pendulum [1/s].

    Attributes:
        offset: (2,) true centre of mass less that of the model [m].
    """

    def __init__(self, weight: float, rate: float):
        self._model_weight = self._weight = weight
        self._rate = rate
        self.offset = np.zeros(2)
        self._ahead, self._slow_velocity = np.zeros(2), np.zeros(2)

    def learn(self, normal_force: np.ndarray, points: np.ndarray, data) -> None:
        """Learn from normal forces at points: the offset is the mean of `p - c + c''/w^2`.

        c'' is the change of c'.

        Args:
            normal_force: (n,) of the contacts [N].
            points: (n, 3) where they are, world axes [m].
            data: of the model, with its centre of mass.
        """
        total = normal_force.sum()
        if total < 0.3 * self._weight:
            return
        share = PERIOD / LEARNING
        self._weight += share * (total - self._weight)
        velocity = data.vcom[0][:2]
        acceleration = (velocity - self._slow_velocity) / LEARNING
        self._slow_velocity = self._slow_velocity + PERIOD * acceleration
        pressure = normal_force @ points[:, :2] / total
        self._ahead = self._ahead + share * (pressure - data.com[0][:2] - self._ahead)
        self.offset = self._ahead + acceleration / self._rate**2

    def base_wrench(self, data) -> np.ndarray:
        """Wrench (6,) that the load adds to the base's equation of motion, base axes.

        Joints above the base are not told of it, and give way.
        """
        force = np.array([0.0, 0.0, self._weight - self._model_weight])
        moment = self._weight * np.array([self.offset[1], -self.offset[0], 0.0])
        base = data.oMi[1]
        moment += np.cross(data.com[0] - base.translation, force)
        return np.concatenate([base.rotation.T @ force, base.rotation.T @ moment])
