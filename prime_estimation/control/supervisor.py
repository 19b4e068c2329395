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

from ..sensors.imu import tilt, vertical
from .feet import UNHEARD
from .motion_types import JointCommand, Plan
from .parameters import ControlConfig

log = logging.getLogger("prime.supervisor")
CLOCKS = 10.0  # s, beyond which an age is likelier the difference of two clocks


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
        refused: states, contact forces and plans that were not finite so far.
    """

    def __init__(self, config: ControlConfig):
        self._config, self._lock = config, threading.RLock()
        self.refused = 0
        self._wait()

    @_alone
    def resume(self) -> bool:
        """Let a stopped robot move again once there is a state; False: it moves, and goes on."""
        if self.mode is Mode.ACTIVE:
            return False
        self._wait()
        return True

    def _wait(self) -> None:
        self.mode, self.reason = Mode.WAITING, "no state yet"
        self._odometry_ns: int | None = None
        self._joints_ns: int | None = None
        self._contacts_ns: int | None = None
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
            turn = _angle_between(pose[3:], self._pose[3:])
            if turn > self._config.largest_turn:
                self.stop(f"odometry turned by {math.degrees(turn):.0f} degrees at once")
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
    def contacts(self, stamp_ns: int, normal_force: np.ndarray) -> bool:
        """Take note of normal forces (contacts,); False: not to be used."""
        if not self._finite(normal_force):
            return False
        self._contacts_ns = stamp_ns
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
            elif self._tilt > self._config.largest_tilt:
                self.stop(f"tilted by {math.degrees(self._tilt):.0f} degrees")
        return self.mode

    @_alone
    def ready(self, now_ns: int) -> bool:
        """Whether there is a fresh state of a robot that waits; `reason` says what there is not."""
        if self.mode is not Mode.WAITING:
            return False
        missing = self._state_too_old(now_ns)
        self.reason = missing or self.reason
        return not missing

    @_alone
    def begin(self, now_ns: int, height: float, nominal: float) -> Mode:
        """Let a robot that waits move, its base at a height [m] above its feet, if it stands."""
        if not self.ready(now_ns):
            return self.mode  # stopped, or to begin anew, since it was
        low, high = self._config.lowest_start * nominal, self._config.highest_start * nominal
        if not low <= height <= high:
            self.reason = (
                f"it does not stand: base {height:.2f} m above its feet, "
                f"{low:.2f} to {high:.2f} m expected"
            )
        elif self._tilt >= self._config.largest_start_tilt:
            tilted, most = map(math.degrees, (self._tilt, self._config.largest_start_tilt))
            self.reason = f"it does not stand: tilted by {tilted:.0f} degrees, {most:.0f} at most"
        else:
            self.mode, self.reason, self._plan_ns = Mode.ACTIVE, "", now_ns
        return self.mode

    @_alone
    def doubt(self, now_ns: int) -> str:
        """What a robot that moves has to do without, and goes on; empty where it has everything."""
        if self.mode is not Mode.ACTIVE:
            return ""
        silent = "no contact forces yet"
        if self._contacts_ns is not None:
            silent = _off_time("contact forces", now_ns - self._contacts_ns, UNHEARD)
        return silent and f"{silent}; feet are taken to do as scheduled"

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
        plan = _off_time("plan", now_ns - self._plan_ns, self._config.plan_timeout)
        return self._state_too_old(now_ns) or plan

    def _state_too_old(self, now_ns: int) -> str:
        stamps = {"odometry": self._odometry_ns, "joint states": self._joints_ns}
        missing = [name for name, stamp_ns in stamps.items() if stamp_ns is None]
        if missing:
            return f"no {' and no '.join(missing)} yet"
        off = (
            _off_time(name, now_ns - stamp_ns, self._config.state_timeout)
            for name, stamp_ns in stamps.items()
        )
        return next(filter(None, off), "")

    @property
    def _tilt(self) -> float:
        """Of the base [rad]."""
        return tilt(vertical(self._pose[3:7]))

    def _finite(self, *arrays: np.ndarray) -> bool:
        if all(np.isfinite(a).all() for a in arrays):
            return True
        self.refused += 1
        return False


def _off_time(name: str, age_ns: int, timeout: float) -> str:
    """What is wrong with a stamp of this age; empty within the timeout [s], to either side."""
    age = age_ns * 1e-9
    if age < -timeout:
        return f"{name} stamped {-age:.3g} s ahead: another clock, or one that was set back"
    if age > CLOCKS:
        return f"no {name} for {age:.3g} s: none came, or stamped by another clock"
    return f"no {name} for {1e3 * age:.0f} ms" if age > timeout else ""


def _angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Angle [rad] of the rotation between two unit quaternions."""
    return 2.0 * math.acos(min(1.0, abs(float(np.dot(a, b)))))
