# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Excitation: finds the directions of the inertia that a motion excites beyond its noise."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from ..config.policies import EXCITATION
from ..robot import GRAVITY
from .layout import block_diagonal
from .problem import Problem
from .window import Window

UPWARDS = pin.Motion(np.array([0.0, 0.0, GRAVITY]), np.zeros(3))


class Excitation:
    """Compares the recent motion of the links whose inertia is estimated with its noise.

    The wrench that moves a link is `Y(f, omega, alpha) pi`, a function of its specific force f,
    angular velocity omega and angular acceleration alpha. The information about pi from the motion
    (A), the part of it that lasts from one look to the next (S), and the apparent information of
    noise alone (B) are

        A = mean Y_k^T W Y_k,   S = mean (Y_k^T W Y_{k-1} + Y_{k-1}^T W Y_k) / 2,
        B = E Y(n_f, 0, n_alpha)^T W Y(n_f, 0, n_alpha),   (A / a + S+ / s) v = rho B v

    with S+ of the positive eigenvalues of S by B, W of the base's disturbances, n_f and n_alpha of
    accelerometer and gyro. Fast motion is larger than noise, slow motion lasts, as noise does not.
    Of a robot that stands the regressors are noise along seven directions of ten, all but the mass
    and the centre of mass across gravity; of one that walks along none.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._joints = [problem.robot.link_joint(n) for n in problem.robot.estimated_links]
        self._data = problem.robot.model.createData()
        # (6, 6, 10) of one unit of each part of f and alpha
        parts = np.eye(6)
        self._units = np.array([pin.bodyRegressor(pin.Motion.Zero(), pin.Motion(e)) for e in parts])
        self.reset()

    def reset(self) -> None:
        """Forget how they have moved."""
        self._before: list[np.ndarray] = []  # W^1/2 Y of each, at the last look
        self._squares, self._lasting = np.zeros((2, len(self._joints), 10, 10))
        self._looks = 0

    def look(self, window: Window, k: int) -> None:
        """Take how they move at running node k."""
        robot, data = self.problem.robot, self._data
        pin.forwardKinematics(robot.model, data, *window.motion(k))
        self._looks += 1
        gain = max(EXCITATION.gain, 1.0 / self._looks)
        now = [self._root_weights * self._regressors(joint) for joint in self._joints]
        for i, (y, before) in enumerate(zip(now, self._before or now)):
            lasting = y.T @ before
            self._squares[i] += gain * (y.T @ y - self._squares[i])
            self._lasting[i] += gain * ((lasting + lasting.T) / 2.0 - self._lasting[i])
        self._before = now

    @property
    def _root_weights(self) -> np.ndarray:
        """W^1/2 (6, 1)."""
        noise = self.problem.config.noise
        return 1.0 / np.repeat([noise.base_force, noise.base_moment], 3)[:, None]

    def _regressors(self, joint: int) -> np.ndarray:
        """Y (6, 10) of the wrench on a link, its own axes."""
        data = self._data
        return pin.bodyRegressor(data.v[joint], data.a[joint] + data.oMi[joint].actInv(UPWARDS))

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
        stddev = np.repeat([force, turn], 3)[:, None, None]
        rows = (stddev * self._root_weights * self._units).reshape(-1, 10)
        out = []
        for i, (_, jacobian) in enumerate(self.problem.inertias(x)):
            link = slice(10 * i, 10 * i + 10)
            scaled = jacobian @ self.problem.theta_prior_root[link, link]
            noise_rows = rows @ scaled
            said = noise_rows.T @ noise_rows + EXCITATION.worth * np.eye(10)
            if _exceeds(scaled.T @ self._squares[i] @ scaled / EXCITATION.fast, least * said):
                out.append(np.zeros((10, 0)))  # of a robot that walks: S+ only adds to that
                continue
            # of the factors, for an inertia far off leaves no digit of `worth` in their product
            worth = math.sqrt(EXCITATION.worth) * np.eye(10)
            root = np.linalg.inv(np.linalg.qr(np.vstack([noise_rows, worth]), mode="r")).T
            white = root @ scaled.T  # where B is 1
            # motion that comes back the other way does not speak against what is seen of it
            lasts, along = np.linalg.eigh(white @ self._lasting[i] @ white.T)
            slow = along * (np.maximum(lasts, 0.0) / EXCITATION.slow) @ along.T
            fast = white @ self._squares[i] @ white.T / EXCITATION.fast
            ratios, vectors = np.linalg.eigh(fast + slow)
            still = root.T @ vectors[:, ratios < least]
            out.append(np.linalg.qr(still)[0] if still.size else still)
        return block_diagonal(out)


def _exceeds(A: np.ndarray, B: np.ndarray) -> bool:
    """Whether A - B is positive definite, of symmetric matrices (n, n)."""
    try:
        np.linalg.cholesky(A - B)
    except np.linalg.LinAlgError:
        return False
    return True
