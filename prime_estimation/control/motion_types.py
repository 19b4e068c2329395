# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The nouns of control: state in, velocity command in, plan and joint command out; frozen, SI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
import pinocchio as pin

from ..errors import ConfigError


@dataclass(frozen=True)
class RobotState:
    """State of a robot as its estimator tells it, in Pinocchio's coordinates.

    Attributes:
        stamp_ns: time of the state.
        q: (nq,) base position (world), quaternion xyzw, joints.
        v: (nv,) base linear and angular velocity (base axes), joint rates.
        carries: (contacts,) whether each contact carried load at `contacts_ns`.
        contacts_ns: time up to which that is known; forces are estimated later than motion.
    """

    stamp_ns: int
    q: np.ndarray
    v: np.ndarray
    carries: np.ndarray
    contacts_ns: int

    @property
    def rotation(self) -> np.ndarray:
        """(3, 3) world from base."""
        return pin.Quaternion(self.q[3:7]).toRotationMatrix()

    @property
    def heading(self) -> float:
        """Yaw of the base [rad]."""
        R = self.rotation
        return float(np.arctan2(R[1, 0], R[0, 0]))


@dataclass(frozen=True)
class VelocityCommand:
    """Velocity that the base shall have in its heading frame, and how it shall be held meanwhile.

    `height` is added to the nominal one; `lean` (2,) moves the base over its feet while they stand.

    Raises:
        ConfigError: one of them is no number.
    """

    vx: float = 0.0  # m/s, forwards
    vy: float = 0.0  # m/s, to the left
    yaw_rate: float = 0.0  # rad/s
    height: float = 0.0  # m
    lean: tuple[float, float] = (0.0, 0.0)  # m, forwards and to the left

    def __post_init__(self):
        for name in ("vx", "vy", "yaw_rate", "height"):
            if not isinstance(value := getattr(self, name), Real):
                what = f"{name} of a velocity command must be a number, got {value!r:.60}"
                raise ConfigError(what, value)
        lean = self.lean
        listed = isinstance(lean, Sequence | np.ndarray) and len(lean) == 2
        if not listed or not all(isinstance(value, Real) for value in lean):
            what = f"lean of a velocity command must be two numbers [m], got {lean!r:.60}"
            raise ConfigError(what, lean)


@dataclass(frozen=True)
class Plan:
    """Motion over the horizon of one solve, with the feedback gains of its first nodes.

    Attributes:
        stamp_ns: time of the first state.
        step: duration of a node [s].
        states: (nodes + 1, nq + nv).
        torques: (nodes, nj) of the links: friction of the joints is not in them [Nm].
        gains: (k, nj, 2 nv) `u = torque - K (x (-) state)` of the first k nodes.
        stands: (nodes, contacts) which contacts are planned to stand.
        forces, points: (contacts, 3) force of the ground in the first node [N], and where [m].
    """

    stamp_ns: int
    step: float
    states: np.ndarray
    torques: np.ndarray
    gains: np.ndarray
    stands: np.ndarray
    forces: np.ndarray
    points: np.ndarray


@dataclass(frozen=True)
class JointCommand:
    """Motor command `tau = effort + kp (position - q) + kd (velocity - qd)`; (nj,) each."""

    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    kp: np.ndarray
    kd: np.ndarray

    def torque(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """(nj,) torque of the motors at a state of the joints [Nm]."""
        return (
            self.effort
            + self.kp * (self.position - position)
            + self.kd * (self.velocity - velocity)
        )
