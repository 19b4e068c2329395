# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of the contacts: force on each foot, its stated covariance, and contact itself."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..types import CONTACT_SHARE
from .statistics import (
    NODE,
    SMOOTH,
    at,
    centred_mean,
    check_overlap,
    coverage95,
    rms,
    settled,
    times,
    worst_second,
    xyz,
)


def contact_figures(
    messages: list,
    ref: dict,
    weight: float,
    start_ns: int,
    settle: float,
    heading: Rotation | None = None,
) -> dict | None:
    """Force of each foot (sum of its corners) against the truth, and contact as F1.

    The truth is its triangular mean over +-10 ms.

    Args:
        messages: of the estimate, forces in the axes of its world.
        ref: those of the truth, by topic.
        weight: of the robot [N].
        start_ns: where times begin.
        settle: s at the start that are left out.
        heading: turn of the estimate's world to that of the truth; None: they are the same.
    """
    feet = {
        topic.rsplit("/", 1)[1]: m
        for topic, m in ref.items()
        if topic.startswith("/ground_truth/contacts/")
    }
    if not feet:
        return None
    t = times(messages, start_ns)
    out: dict = {}
    for foot, truth in feet.items():
        corners = [
            [c for c in m.contacts if c.name == foot or c.name.startswith(f"{foot}/")]
            for m in messages
        ]
        if not any(corners):
            out[foot] = {"error": "no contact of this name"}
            continue
        force = np.array(
            [np.sum([np.zeros(3), *(xyz(c.wrench.force) for c in cs)], axis=0) for cs in corners]
        )
        f_true = np.array([xyz(m.wrench.force) for m in truth])
        # corners of a foot share their errors, and how is not stated
        covariance = _covariances(corners) if max(map(len, corners)) == 1 else None
        if heading is not None:
            force, A = heading.apply(force), heading.as_matrix()
            covariance = None if covariance is None else A @ covariance @ A.T
        out[foot] = _foot_figures(
            t, force, covariance, times(truth, start_ns), f_true, weight, settle
        )
    scored = [v for v in out.values() if "relative_rmse" in v]
    for figure in ("relative_rmse", "relative_rmse_40ms", "contact_f1", "coverage95"):
        values = [v[figure] for v in scored if v[figure] is not None]
        if values:
            out[f"mean_{figure}"] = float(np.mean(values))
    return out


def _covariances(corners: list) -> np.ndarray:
    """(n, 3, 3) force covariance of a foot with one contact; NaN where none is stated."""
    unknown = np.full((3, 3), np.nan)
    return np.array(
        [np.reshape(cs[0].force_covariance, (3, 3)) if cs else unknown for cs in corners]
    )


def _foot_figures(
    t: np.ndarray,
    force: np.ndarray,
    covariance: np.ndarray | None,
    t_true: np.ndarray,
    f_true: np.ndarray,
    weight: float,
    settle: float,
) -> dict:
    """Figures of one foot; coverage while it truly carries load, None where nothing is stated."""
    keep = settled(t, t_true, settle)
    check_overlap(t[keep], "contact", settle)
    reference = at(t[keep], t_true, centred_mean(t_true, f_true, 2 * NODE, triangular=True))
    error = force[keep] - reference
    grid = t_true[(t_true > t[keep][0] + 0.05) & (t_true < t[keep][-1])]
    smooth_true = at(grid, t_true, centred_mean(t_true, f_true, SMOOTH))
    smooth = at(grid, t_true, centred_mean(t_true, at(t_true, t, force), SMOOTH))
    said, is_so = (
        force[keep][:, 2] > CONTACT_SHARE * weight,
        reference[:, 2] > CONTACT_SHARE * weight,
    )
    hits = np.sum(said & is_so)
    return {
        "force_rmse_N": rms(error),
        "normal_rmse_N": rms(error[:, 2:]),
        "relative_rmse": rms(error) / max(rms(reference), 1e-9),
        "relative_rmse_40ms": rms(smooth - smooth_true) / max(rms(smooth_true), 1e-9),
        "worst_second_N_40ms": worst_second(grid, np.sum((smooth - smooth_true) ** 2, axis=1)),
        "contact_f1": float(2 * hits / max(2 * hits + np.sum(said ^ is_so), 1)),
        "coverage95": None
        if covariance is None
        else coverage95(error[is_so], covariance[keep][is_so]),
    }
