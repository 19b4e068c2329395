# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Excitation: along which directions of the inertia a motion is more than its noise."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import scipy.linalg

from ..config.policies import EXCITATION
from ..robot import GRAVITY
from .problem import Problem
from .window import Window

UP = np.array([0.0, 0.0, GRAVITY])


class Excitation:
    """How the links whose inertia is estimated have moved of late, against the noise of that.

    The wrench that moves a link is `Y(f, omega, alpha) pi`, by its specific force and its angular
    velocity and acceleration. What motion tells of pi, and what its noise would seem to tell:

        A = mean Y^T W Y,   B = E Y(n_f, 0, n_alpha)^T W Y(n_f, 0, n_alpha),   A v = rho B v

    with W of the base's disturbances, n_f and n_alpha of accelerometer and gyro. Along a direction
    v with a rho of 1 the regressors are noise. Of a robot that stands they are that along seven of
    ten, all but the mass and the centre of mass across gravity; of one that walks along none.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._joints = [problem.robot.link_joint(n) for n in problem.robot.estimated_links]
        self._data = problem.robot.model.createData()
        units = [_regressors(np.zeros(3), unit) for unit in np.eye(6)]
        self._by_force, self._by_turn = units[:3], units[3:]
        self.reset()

    def reset(self) -> None:
        """Forget how they have moved."""
        self._grams: list[np.ndarray] | None = None

    def look(self, window: Window, k: int) -> None:
        """Take how they move at running node k."""
        robot, data = self.problem.robot, self._data
        pin.forwardKinematics(robot.model, data, *window.motion(k))
        grams = []
        for joint in self._joints:
            v, a = data.v[joint], data.a[joint]
            force = a.linear + np.cross(v.angular, v.linear) + data.oMi[joint].rotation.T @ UP
            grams.append(self._gram([_regressors(v.angular, np.r_[force, a.angular])]))
        if self._grams is None:
            self._grams = grams
        for mean, new in zip(self._grams, grams):
            mean += EXCITATION.gain * (new - mean)

    def _gram(self, regressors: list[np.ndarray]) -> np.ndarray:
        """Sum (10, 10) of Y^T W Y."""
        noise = self.problem.config.noise
        weights = np.repeat([noise.base_force**-2, noise.base_moment**-2], 3)[:, None]
        return sum(y.T @ (weights * y) for y in regressors)

    def missing(self, x: np.ndarray, least: float) -> np.ndarray:
        """Directions along which the links have moved little more than their noise.

        Args:
            x: state.
            least: rho of those along which they have.

        Returns:
            Orthonormal basis (ntheta, k), in units of the root of the prior's covariance.
        """
        noise = self.problem.measurements.noise
        force = math.hypot(noise.accelerometer, noise.accelerometer_model)
        turn = math.sqrt(2.0) * noise.gyro / self.problem.dt
        of_noise = force**2 * self._gram(self._by_force) + turn**2 * self._gram(self._by_turn)
        out = []
        for i, (gram, (_, jacobian)) in enumerate(zip(self._grams, self.problem.inertias(x))):
            link = slice(10 * i, 10 * i + 10)
            scaled = jacobian @ self.problem.theta_prior_root[link, link]
            said = scaled.T @ of_noise @ scaled + EXCITATION.worth * np.eye(10)
            ratios, vectors = scipy.linalg.eigh(scaled.T @ gram @ scaled, said)
            out.append(np.linalg.qr(vectors[:, ratios < least])[0])
        return scipy.linalg.block_diag(*out)


def _regressors(rate: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """Y (6, 10): of the wrench on a link, for its (f, alpha)."""
    still = np.zeros(3)
    return pin.bodyRegressor(
        pin.Motion(still, rate), pin.Motion(acceleration[:3], acceleration[3:])
    )
