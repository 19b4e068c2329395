# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Supervisor of a walking robot: whether it may move, and when its motors must brake."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from enum import Enum
from functools import wraps

import numpy as np

from .motion_types import JointCommand, Plan
from .parameters import ControlConfig

log = logging.getLogger("prime.supervisor")


class Mode(Enum):
    """Mode of the robot: what it is allowed.

    WAITING: no complete state of a robot that stands; nothing is commanded. ACTIVE: it follows the
    plans. DAMPING: the motors brake, until `resume`.
    """

    WAITING = "waiting"
    ACTIVE = "active"
    DAMPING = "damping"


def _alone(method: Callable) -> Callable:
    """A method that no other thread comes between: a stop that falls into it stays a stop."""

    @wraps(method)
    def locked(self, *args, **options):
        with self._lock:
            return method(self, *args, **options)

    return locked


class Supervisor:
    """Judges state, plans and their age. What it stops stays stopped until `resume`.

    Messages, plans and commands may come in threads of their own.

    Attributes:
        mode: at present.
        reason: why the robot waits or was stopped; empty otherwise.
        refused: states and plans that were not finite so far.
    """

    def __init__(self, config: ControlConfig):
        self._config, self._lock = config, threading.RLock()
        self.refused = 0
        self.resume()

    @_alone
    def resume(self) -> None:
        """Let the robot move again once there is a state."""
        self.mode, self.reason = Mode.WAITING, "no state yet"
        self._odometry_ns: int | None = None
        self._joints_ns: int | None = None
        self._plan_ns: int | None = None
        self._pose: np.ndarray | None = None

    @_alone
    def odometry(self, stamp_ns: int, pose: np.ndarray, twist: np.ndarray) -> bool:
        """Take note of a pose (7,) and a twist (6,); False: not to be used."""
        if not self._finite(pose, twist):
            return False
        if self._pose is not None and self.mode is Mode.ACTIVE:
            jump = math.dist(pose[:3], self._pose[:3])
            if jump > self._config.largest_jump:
                self.stop(f"odometry jumped by {jump:.2f} m")
        self._odometry_ns, self._pose = stamp_ns, np.array(pose, float)
        return True

    @_alone
    def joints(self, stamp_ns: int, position: np.ndarray, velocity: np.ndarray) -> bool:
        """Take note of positions and rates (nj,) of the joints; False: not to be used."""
        if not self._finite(position, velocity):
            return False
        self._joints_ns = stamp_ns
        return True

    @_alone
    def plan(self, plan: Plan) -> bool:
        """Take note of a plan; False: not to be used."""
        if not self._finite(plan.states, plan.torques, plan.gains):
            return False
        self._plan_ns = plan.stamp_ns
        return True

    @_alone
    def judge(self, now_ns: int) -> Mode:
        """The mode at this time."""
        if self.mode is Mode.ACTIVE:
            old = self._too_old(now_ns)
            if old:
                self.stop(old)
            elif self._upright() < np.cos(self._config.largest_tilt):
                self.stop(f"tilted by {np.degrees(np.arccos(self._upright())):.0f} degrees")
        return self.mode

    @_alone
    def ready(self, now_ns: int) -> bool:
        """Whether there is a fresh state of a robot that waits."""
        return (
            self.mode is Mode.WAITING
            and self._odometry_ns is not None
            and self._joints_ns is not None
            and not self._state_too_old(now_ns)
        )

    @_alone
    def begin(self, now_ns: int, height: float, nominal: float) -> Mode:
        """Let a robot that waits move, its base at a height [m] above its feet, if it stands."""
        if not self.ready(now_ns):
            return self.mode  # stopped, or to begin anew, since it was
        low, high = self._config.lowest_start * nominal, self._config.highest_start * nominal
        if low <= height <= high and self._upright() > np.cos(self._config.largest_start_tilt):
            self.mode, self.reason, self._plan_ns = Mode.ACTIVE, "", now_ns
        else:
            self.reason = (
                f"it does not stand: base {height:.2f} m above its feet, "
                f"{low:.2f} to {high:.2f} m expected"
            )
        return self.mode

    @_alone
    def stop(self, reason: str) -> None:
        """Brake, until `resume`: the emergency stop."""
        if self.mode is not Mode.DAMPING:
            self.mode, self.reason = Mode.DAMPING, reason
            log.error("the robot is stopped: %s", reason)

    def braking(self, nj: int) -> JointCommand:
        """Command under which all joints brake."""
        zero = np.zeros(nj)
        return JointCommand(zero, zero, zero, zero, np.full(nj, self._config.braking))

    def _too_old(self, now_ns: int) -> str:
        age = (now_ns - self._plan_ns) * 1e-9
        late = f"no plan for {1e3 * age:.0f} ms" if age > self._config.plan_timeout else ""
        return self._state_too_old(now_ns) or late

    def _state_too_old(self, now_ns: int) -> str:
        stamps = {"odometry": self._odometry_ns, "joint states": self._joints_ns}
        for name, stamp_ns in stamps.items():
            age = (now_ns - stamp_ns) * 1e-9
            if age > self._config.state_timeout:
                return f"no {name} for {1e3 * age:.0f} ms"
        return ""

    def _upright(self) -> float:
        """Cosine of the base's tilt: 1 - 2 (x^2 + y^2) of its quaternion."""
        x, y = self._pose[3:5]
        return float(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0))

    def _finite(self, *arrays: np.ndarray) -> bool:
        if all(np.isfinite(a).all() for a in arrays):
            return True
        self.refused += 1
        return False
