# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise levels: estimates how much noisier sensors and disturbances are than configured."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from ..config.parameters import Config
from ..config.policies import NOISE_LEVELS
from ..declaration import with_values
from ..mhe.knowledge import widen
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement, SensorHealth
from .monitor import Monitor
from .pose_noise import pose_noise


@dataclass(frozen=True)
class Part:
    """Part of a node's residual whose noise level may grow.

    Attributes:
        levels: noise parameters that its factor multiplies.
        most: upper bound of the factor on standard deviations. Small for the IMU, which a wrong
            model would otherwise disable, and for forces on the base, which would otherwise carry
            the robot.
        slow: the factor changes slowly, because a payload disturbs the part until it is known.
        lasting: errors last longer than a node, as those of leg kinematics do during a stance.
            White noise with the same information has their long-run variance.
    """

    levels: tuple[str, ...]
    most: float
    slow: bool = True
    lasting: bool = False


POSES = "mocap_position", "mocap_rotation"
CONTACT = "contact_normal", "contact_tangential", "contact_roll", "contact_yaw"
PARTS = {
    "base_force": Part(("base_force",), 3.0),
    "base_moment": Part(("base_moment",), 3.0),
    "joint_torque": Part(("joint_torque", "joint_model", "joint_targets"), 10.0),
    "contact": Part(CONTACT, 3.0),
    "encoders": Part(("encoder",), 10.0, slow=False),
    "rates": Part(("joint_velocity",), 30.0, slow=False),
    "gyro": Part(("gyro",), 2.0),
    "accelerometer": Part(("accelerometer", "accelerometer_model"), 3.0),
    POSES[0]: Part(POSES[:1], 30.0),
    POSES[1]: Part(POSES[1:], 10.0),
}
# of feet that touch in a point: up to what a leg does whose links are off by 1 or 2 %
POINT_FEET = Part(CONTACT, 10.0, slow=False, lasting=True)
FORCES = "base_force", "base_moment", "joint_torque"  # which no torque tells from contact forces


class NoiseLevels(Monitor):
    """Estimates for each part of the residual by which factor its noise exceeds the configuration.

    Expectation-maximization: with the whitened residual r of a part and the posterior covariance P,
    `E |r|^2 = |r|^2 + tr(H P H^T)` equals the number of rows if the level is right. A row that no
    other data determine contributes 1 whatever its level is; therefore rows are weighted by their
    redundancy. Lasting errors add their covariance with those of earlier looks,
    `2 sum_j E r_k r_(k-j)`, over the nodes in between. The logarithm of the factor is filtered, and
    bounded by 1 from below (levels never fall below the configuration) and by `most`: fast at
    first, then within one or ten seconds. Factors survive a restart.

    Of motion capture only what differs from one node to the next is noise, `|r_k - r_(k-1)|^2 / 2`
    without the robust weights: errors that last are those of its mount and clock (`mount_fit`). It
    begins with the noise that the poses of the start batch show by themselves.

    Attributes:
        factors: by part, on standard deviations.
    """

    def __init__(self, problem: Problem):
        self.problem, self._configured = problem, problem.config
        contacts = problem.robot.contacts
        points = len(contacts) == len({c.foot for c in contacts})
        self._kinds = PARTS | ({"contact": POINT_FEET} if points else {})
        self._parts: dict[str, slice | np.ndarray] | None = None
        self.reset()

    def reset(self) -> None:
        """Forget all factors."""
        self.factors = dict.fromkeys(PARTS, 1.0)
        self._nodes = self._looks = 0
        self._past: deque[np.ndarray] = deque(maxlen=NOISE_LEVELS.looks_back)
        self._lasting = dict.fromkeys(PARTS, 0.0)  # covariance with errors before
        self._used: dict[str, float] = {}  # factors that the problem has
        self._largest = 1.0  # factor of contacts so far
        self._use()

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """Residuals of the window before have nothing to do with those of this one."""
        self._past.clear()

    def expect(self, batch: list[Measurement]) -> None:
        """Before there is an estimate, take the noise that poses show by themselves.

        Args:
            batch: measurements of which the first window is made.
        """
        noise, adapts = self._configured.noise, self._configured.estimator.adapt_noise
        poses = [pose for m in batch for pose in m.mocap]
        if self._looks or not adapts or (seen := pose_noise(poses)) is None:
            return
        for name, deviation in zip(POSES, seen):
            factor = deviation / getattr(noise, name)
            seen_louder = factor > NOISE_LEVELS.worth_saying  # a start batch tells no less
            self.factors[name] = min(factor, self._kinds[name].most) if seen_louder else 1.0
        self._use()

    def retune(self, config: Config) -> None:
        """Take other configured levels; factors go on, as long as they adapt."""
        self._configured, self._used = config, {}
        if not config.estimator.adapt_noise:
            self.factors = dict.fromkeys(PARTS, 1.0)
        self._use()

    def learn(self, window: Window, situation: Situation) -> None:
        """Look at the middle of a solved window, every few nodes.

        Not beside a second iteration, as far as that can wait: a node's time is limited.
        """
        self._nodes += 1
        waits = window.solver.iter > 1 and self._nodes < 2 * NOISE_LEVELS.every
        if not self._configured.estimator.adapt_noise or self._nodes < NOISE_LEVELS.every or waits:
            return
        self._nodes = 0
        k = window.size // 2
        given = window.inputs[k]
        if situation.suspended or given.ground_depth:
            self._past.clear()
            return
        if window.unevenness > NOISE_LEVELS.uneven:
            self._past.clear()  # ground and intervals know of feet on edges
        window.posterior(k)
        r, square, seen = window.errors(k)
        self._looks += 1
        square = np.minimum(square, NOISE_LEVELS.outlier)
        for name, rows in self._rows().items():
            weights = seen[rows]
            total = float(weights.sum())
            if total and (given.weighed or name not in FORCES):
                level = float(square[rows] @ weights) / total
                self._follow(name, level + self._lasting_part(name, r[rows], weights))
        self._follow_poses(window, k)
        self._past.append(r)
        self._unlearn(window)
        self._use()

    def _follow_poses(self, window: Window, k: int) -> None:
        """Noise of motion capture, from the last two poses up to running node k."""
        if "mocap" not in self.problem.measurements.rows:
            return
        errors = (window.reading(j, "mocap") for j in range(k, -1, -1))
        found = [error for error in errors if error is not None][:2]
        if len(found) == 2:
            now, before = found
            square = np.minimum(0.5 * (now - before) ** 2, NOISE_LEVELS.outlier)
            for name, part in zip(POSES, (square[:3], square[3:])):
                self._follow(name, float(part.mean()))

    def _unlearn(self, window: Window) -> None:
        """Feet that move more than was said have told less of tilt and its bias than it seemed."""
        before, self._largest = self._largest, max(self._largest, self.factors["contact"])
        if self._largest > before and self.problem.has_imu:
            most = self._configured.noise.accelerometer_bias
            widen(window, "accelerometer_bias", self._largest / before, most)

    def _follow(self, name: str, level: float) -> None:
        gain = NOISE_LEVELS.slow_gain if self._kinds[name].slow else NOISE_LEVELS.gain
        gain = max(gain, 1.0 / (self._looks + NOISE_LEVELS.first))
        factor = self.factors[name] * math.exp(
            0.5 * gain * math.log(max(level, NOISE_LEVELS.least))
        )
        self.factors[name] = min(max(factor, 1.0), self._kinds[name].most)

    def _lasting_part(self, name: str, r: np.ndarray, seen: np.ndarray) -> float:
        """Mean covariance of errors with those of all nodes before, of a part where they last."""
        if not self._kinds[name].lasting or len(self._past) < self._past.maxlen:
            return 0.0
        rows, most = self._rows()[name], NOISE_LEVELS.outlier
        products = [np.clip(r * before[rows], -most, most) for before in self._past]
        found = 2 * NOISE_LEVELS.every * np.average(np.sum(products, axis=0), weights=seen)
        self._lasting[name] += NOISE_LEVELS.gain * (found - self._lasting[name])
        return self._lasting[name]

    def _rows(self) -> dict[str, slice | np.ndarray]:
        """Rows of a node's residual by part."""
        if self._parts is None:
            problem, rows = self.problem, self.problem.measurements.rows
            nb = problem.nv - problem.robot.nj
            parts = {"joint_torque": slice(nb, problem.nv)}
            if nb:
                parts |= {"base_force": slice(0, 3), "base_moment": slice(3, nb)}
            named = {name: rows[name] for name in PARTS if name in rows}
            whole = {n: s[0] if len(s) == 1 else np.r_[tuple(s)] for n, s in named.items()}
            self._parts = parts | whole
        return self._parts

    def _use(self) -> None:
        """Let the problem take the levels for the nodes that come."""
        if self.factors == self._used:
            return
        self._used, noise = dict(self.factors), self._configured.noise
        levels = {
            level: self.factors[name] * getattr(noise, level)
            for name, part in PARTS.items()
            for level in part.levels
        }
        self.problem.use_noise(with_values(noise, **levels))

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Names the parts that are far noisier than configured."""
        loud = {n: f for n, f in self.factors.items() if f > NOISE_LEVELS.worth_saying}
        if not loud:
            return ()
        levels = ", ".join(f"{name} {factor:.1f}" for name, factor in loud.items())
        return (SensorHealth("noise", True, f"levels as seen, times the configured: {levels}"),)
