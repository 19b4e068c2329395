# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Whole-body feedback between two solves: plan and newest state in, joint command out."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..robot import Robot
from .motion_types import JointCommand, Plan


def joint_command(robot: Robot, plan: Plan, stamp_ns: int, q, v, kp, kd) -> JointCommand:
    t = (stamp_ns - plan.stamp_ns) * 1e-9 / plan.step
    k = int(np.clip(np.floor(t), 0, len(plan.gains) - 1))
    s = float(np.clip(t - k, 0.0, 1.0))
    nq = robot.model.nq
    a, b = plan.states[k], plan.states[k + 1]
    q_ref = pin.interpolate(robot.model, a[:nq], b[:nq], s)
    v_ref = a[nq:] + s * (b[nq:] - a[nq:])
    dx = np.concatenate([pin.difference(robot.model, q_ref, q), v - v_ref])
    u = plan.torques[k] - plan.gains[k] @ dx
    return q_ref, v_ref, u
