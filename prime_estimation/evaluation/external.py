# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of the external wrench: what acts on the base that is neither ground nor gravity."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Slerp

from .motion import Motion
from .statistics import NODE, at, centred_mean, check_overlap, rms, settled, times, xyz

PUSHED = 5.0  # N, above which something pushes


def external_figures(
    messages: list, truth: list, motion: Motion, start_ns: int, settle: float
) -> dict:
    """Errors of the external force and moment, while something pushes and while nothing does.

    Args:
        messages: geometry_msgs/WrenchStamped at the origin and in the axes of the base.
        truth: the same in world axes, a mean over its sample interval.
        motion: the true one; turns the estimate into world axes.
        start_ns: where times begin.
        settle: s at the start that are left out.
    """
    t, t_true = times(messages, start_ns), times(truth, start_ns)
    keep = settled(t, t_true, settle)
    t = t[keep]
    check_overlap(t, "external wrench", settle)
    mean = centred_mean(t_true, _wrenches(truth), 2 * NODE, triangular=True)
    reference, estimate = at(t, t_true, mean), _wrenches(messages)[keep]
    rotation = Slerp(motion.t, motion.rotation)(np.clip(t, motion.t[0], motion.t[-1]))
    force = rotation.apply(estimate[:, :3]) - reference[:, :3]
    moment = rotation.apply(estimate[:, 3:]) - reference[:, 3:]
    pushed = np.linalg.norm(reference[:, :3], axis=1) > PUSHED
    free, any_push = ~pushed, pushed.any()
    relative = rms(force[pushed]) / rms(reference[pushed, :3]) if any_push else None
    return {
        "force_rmse_pushed_N": rms(force[pushed]) if any_push else None,
        "relative_rmse_pushed": relative,
        "force_rmse_free_N": rms(force[free]) if free.any() else None,
        "moment_rmse_pushed_Nm": rms(moment[pushed]) if any_push else None,
    }


def _wrenches(messages: list) -> np.ndarray:
    """(n, 6) force and moment."""
    return np.array([xyz(m.wrench.force) + xyz(m.wrench.torque) for m in messages])
