# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Supervisor of a walking robot: whether it may move, and what its motors do when it may not."""

from __future__ import annotations

import logging
from enum import Enum

import numpy as np

from ..robot import Robot
from .motion_types import JointCommand, Plan
from .parameters import ControlConfig

log = logging.getLogger("prime.supervisor")


class Mode(Enum):
    """What the robot is allowed.

    WAITING: no complete state yet; the motors hold the posture they have. ACTIVE: it follows the
    plans. DAMPING: motors brake, until `resume`.
    """

    WAITING = "waiting"
    ACTIVE = "active"
    DAMPING = "damping"


class Supervisor:
    """Judges state, plans and their age. What it stops stays stopped until `resume`.

    Attributes:
        mode: at present.
        reason: why the robot was stopped; empty otherwise.
        refused: states that were not finite so far.
    """

    def __init__(self, robot: Robot, config: ControlConfig):
        self._robot, self._config = robot, config
        self.mode, self.reason, self.refused = Mode.WAITING, "", 0
        self._odometry_ns: int | None = None
        self._joints_ns: int | None = None
        self._plan_ns: int | None = None
        self._since_ns: int | None = None
        self._pose: np.ndarray | None = None
        self._held: np.ndarray | None = None

    def odometry(self, stamp_ns: int, pose: np.ndarray, twist: np.ndarray) -> bool:
        """Take note of a pose (7,) and a twist (6,); False: not to be used."""
        if not self._finite(pose, twist):
            return False
        if self._pose is not None and self.mode is Mode.ACTIVE:
            jump = float(np.linalg.norm(np.asarray(pose)[:3] - self._pose[:3]))
            if jump > self._config.largest_jump:
                self.stop(f"odometry jumped by {jump:.2f} m")
        self._odometry_ns, self._pose = stamp_ns, np.array(pose, float)
        return True

    def joints(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray) -> bool:
        """Take note of positions and rates (nj,) of the joints; False: not to be used."""
        if not self._finite(position, velocity):
            return False
        self._joints_ns = stamp_ns
        if self._held is None:
            self._held = np.array(position, float)
        return True

    def plan(self, stamp_ns: int, plan: Plan) -> bool:
        """Take note of a plan; False: not to be used."""
        if not self._finite(plan.states, plan.torques, plan.gains):
            return False
        self._plan_ns = stamp_ns
        return True

    def judge(self, now_ns: int) -> Mode:
        """The mode at this time."""
        if self.mode is Mode.DAMPING:
            return self.mode
        if self._odometry_ns is None or self._joints_ns is None:
            return self.mode
        old = {
            "odometry": self._age(now_ns, self._odometry_ns),
            "joint states": self._age(now_ns, self._joints_ns),
        }
        if self.mode is Mode.WAITING:
            if max(old.values()) <= self._config.state_timeout:
                self.mode, self._plan_ns = Mode.ACTIVE, now_ns
            return self.mode
        for name, age in old.items():
            if age > self._config.state_timeout:
                return self.stop(f"no {name} for {1e3 * age:.0f} ms")
        age = self._age(now_ns, self._plan_ns)
        if age > self._config.plan_timeout:
            return self.stop(f"no plan for {1e3 * age:.0f} ms")
        x, y = self._pose[3:5]  # of the quaternion: upright is 1 - 2 (x^2 + y^2)
        upright = 1.0 - 2.0 * (x * x + y * y)
        if upright < np.cos(self._config.largest_tilt):
            return self.stop(f"tilted by {np.degrees(np.arccos(upright)):.0f} degrees")
        return self.mode

    def stop(self, reason: str) -> Mode:
        """Brake, until `resume`: the emergency stop."""
        if self.mode is not Mode.DAMPING:
            self.mode, self.reason = Mode.DAMPING, reason
            log.error("the robot is stopped: %s", reason)
        return self.mode

    def resume(self) -> None:
        """Let the robot move again once there is a state."""
        self.mode, self.reason = Mode.WAITING, ""
        self._odometry_ns = self._joints_ns = self._plan_ns = self._held = self._pose = None

    def passive(self) -> JointCommand:
        """What the motors do without a plan: hold the first posture, or brake."""
        nj, config = self._robot.nj, self._config
        zero = np.zeros(nj)
        if self.mode is Mode.DAMPING or self._held is None:
            return JointCommand(zero, zero, zero, zero, np.full(nj, config.braking))
        return JointCommand(
            self._held,
            zero,
            zero,
            np.full(nj, config.holding_stiffness),
            np.full(nj, config.holding_damping),
        )

    def _finite(self, *arrays: np.ndarray) -> bool:
        if all(np.isfinite(a).all() for a in arrays):
            return True
        self.refused += 1
        return False

    @staticmethod
    def _age(now_ns: int, stamp_ns: int) -> float:
        return (now_ns - stamp_ns) * 1e-9
