# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Whole-body feedback between two solves: plan and newest base state in, joint command out."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..robot import Robot
from .motion_types import JointCommand, Plan
from .parameters import ControlConfig

KEPT = 128  # references that are remembered
SOFT_RATE = 0.1  # rad/s: dry friction of a joint that turns slower is given in part only


@dataclass(frozen=True)
class Reference:
    """Reference of a plan at one instant.

    Attributes:
        q, v: (nq,), (nv,) state.
        torque: (nj,) of the links.
        gain: (nj, 2 nv).
    """

    q: np.ndarray
    v: np.ndarray
    torque: np.ndarray
    gain: np.ndarray


def reference_at(robot: Robot, plan: Plan, stamp_ns: int) -> Reference:
    """The plan at a time: states between two nodes are interpolated, torque and gain hold."""
    nodes = (stamp_ns - plan.stamp_ns) * 1e-9 / plan.step
    k = int(np.clip(np.floor(nodes), 0, len(plan.gains) - 1))
    share = float(np.clip(nodes - k, 0.0, 1.0))
    nq = robot.model.nq
    before, after = plan.states[k], plan.states[k + 1]
    q = pin.interpolate(robot.model, before[:nq], after[:nq], share)
    v = before[nq:] + share * (after[nq:] - before[nq:])
    return Reference(q, v, plan.torques[k], plan.gains[k])


class Feedback:
    """Turns plans into joint commands at joint rate.

        tau = u - K_b (b (-) b_ref) + d qd_ref + f tanh(qd_ref/0.1)
              + kp (q_ref - q) + kd (qd_ref - qd)

    K_b: the columns of the Riccati gain that belong to the base b, which the joints' own encoders
        do not
    see. The motors close the last two terms on their own encoders. d, f: viscous and dry friction
    of the joints, which the plan's torques do not contain.
    """

    def __init__(self, robot: Robot, config: ControlConfig, torque_limit: np.ndarray):
        self._robot, self._limit = robot, torque_limit
        self._kp = np.full(robot.nj, config.stiffness)
        self._kd = np.full(robot.nj, config.damping)
        self._trail: deque[tuple[int, np.ndarray, np.ndarray]] = deque(maxlen=KEPT)
        self._plan: Plan | None = None
        self._lock = threading.Lock()  # plans are made and followed by different threads

    def command(self, plan: Plan, stamp_ns: int, q: np.ndarray, v: np.ndarray) -> JointCommand:
        """The command at a time, for the state (q, v) that is known of it."""
        nv = self._robot.model.nv
        reference = reference_at(self._robot, plan, stamp_ns)
        dx = pin.difference(self._robot.model, reference.q, q)[:6]
        dv = v[:6] - reference.v[:6]
        rate = reference.v[6:]
        effort = (
            reference.torque
            - reference.gain[:, :6] @ dx
            - reference.gain[:, nv : nv + 6] @ dv
            + self._robot.joint_damping * rate
            + self._robot.joint_friction * np.tanh(rate / SOFT_RATE)
        )
        self._follow(plan, stamp_ns, reference)
        return JointCommand(
            reference.q[7:], rate, np.clip(effort, -self._limit, self._limit), self._kp, self._kd
        )

    def _follow(self, plan: Plan, stamp_ns: int, reference: Reference) -> None:
        """Sum up how the joints were told to move; a jump from plan to plan is not a motion."""
        q, v = reference.q[7:], reference.v[6:]
        with self._lock:
            _, dq, dv = self._trail[-1] if self._trail else (0, np.zeros_like(q), np.zeros_like(v))
            if plan is self._plan:
                dq, dv = dq + q - self._last[0], dv + v - self._last[1]
            self._trail.append((stamp_ns, dq, dv))
            self._plan, self._last = plan, (q, v)

    def moved(self, begin_ns: int, end_ns: int) -> tuple[np.ndarray, np.ndarray]:
        """Change (nj,) of the joints' wanted positions and rates between two times in the past."""
        with self._lock:
            trail = list(self._trail)
        if not trail:
            return np.zeros(self._robot.nj), np.zeros(self._robot.nj)
        stamps = [entry[0] for entry in trail]
        begin, end = (
            trail[min(bisect_left(stamps, t), len(stamps) - 1)] for t in (begin_ns, end_ns)
        )
        return end[1] - begin[1], end[2] - begin[2]

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._trail.clear()
            self._plan = None
