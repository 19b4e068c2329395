# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torque from joint targets: those in force at each joint sample, with its position and rate."""

from __future__ import annotations

import numpy as np


def target_torque(
    relative_ns: np.ndarray,
    position: np.ndarray,
    velocity: np.ndarray,
    target_ns: np.ndarray,
    targets: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    """PD torque `tau_ff + kp (q_des - q) + kd (dq_des - dq)` at joint samples.

    Targets hold until the next ones. Rates that are not measured are differences of positions.

    Args:
        relative_ns: (n,) stamps of the joint samples [ns], increasing.
        position: (n, nj) rad.
        velocity: (n, nj) rad/s; NaN: not measured.
        target_ns: (m,) stamps of the targets, increasing, of the same origin.
        targets: (m, 5 nj) q_des, dq_des, tau_ff, kp, kd.

    Returns:
        Torque (n, nj) [Nm] and the gains (n, 2, nj); None where none is in force at the first
        sample.
    """
    index = np.searchsorted(target_ns, relative_ns, side="right") - 1
    if index[0] < 0:
        return None
    q_des, dq_des, effort, kp, kd = np.split(targets[index], 5, axis=1)
    if not np.isfinite(velocity).all():
        if len(relative_ns) < 2:
            return None
        velocity = np.gradient(position, 1e-9 * relative_ns, axis=0)
    torque = effort + kp * (q_des - position) + kd * (dq_des - velocity)
    return torque, np.stack([kp, kd], axis=1)
