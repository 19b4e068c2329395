# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Figures of the joints: position, and mean rate over a node, beside those of the sensor."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from .statistics import NODE, at, check_overlap, settled, times

# share of the joints' motion in which estimate and readings differ: an estimate keeps to its
# encoders within a few thousandths, another recording of the same gait is off by all of it
LARGEST_SHARE = 0.5
MOVES = 0.02  # rad rms, of joints whose motion tells one recording from another


def joint_figures(est: list, ref: dict, start_ns: int, settle: float) -> dict | None:
    """Joint position, and mean rate over the node that ends at the stamp; of the sensor too.

    Raises:
        DataError: estimate and truth have no joint in common, or are of two recordings.
    """
    truth, sensor = ref.get("/ground_truth/joint_states"), ref.get("/joint_states")
    if not truth or not sensor:
        return None
    names = [n for n in truth[0].name if n in est[0].name]
    if not names:
        raise DataError(
            "estimate and ground truth have no joint in common: are these bags of the same robot?",
            est[0].name,
        )
    _check_same_run(est, sensor, names, start_ns)
    t_true, q_true, _ = _joint_arrays(truth, names, start_ns)
    out: dict = {"joints": len(names)}
    begins = times(est[:1], start_ns)[0]  # of both, for they are compared
    for label, messages in (("estimate", est), ("sensor", sensor)):
        t, q, rate = _joint_arrays(messages, names, start_ns)
        if label == "sensor":
            step = float(np.median(np.diff(t)))  # 0: without stamps of their own
            rate = _trailing_mean(rate, max(1, round(NODE / step)) if step > 0.0 else 1)
        keep = settled(t, t_true, settle, begins)
        t = t[keep]
        check_overlap(t, "joint", settle)
        true_now = at(t, t_true, q_true)
        true_rate = (true_now - at(t - NODE, t_true, q_true)) / NODE
        out[label] = {
            "position_rmse_rad": float(np.sqrt(np.mean((q[keep] - true_now) ** 2))),
            "velocity_rmse_radps": float(np.sqrt(np.mean((rate[keep] - true_rate) ** 2))),
        }
    return out


def _check_same_run(est: list, sensor: list, names: list[str], start_ns: int) -> None:
    """DataError where the estimated joints go otherwise than those that were read."""
    t, q, _ = _joint_arrays(est, names, start_ns)
    t_read, read, _ = _joint_arrays(sensor, names, start_ns)
    order = np.argsort(t_read, kind="stable")
    keep = (t > t_read.min()) & (t < t_read.max())
    there = at(t[keep], t_read[order], read[order])
    told = np.isfinite(there).all(axis=1)
    there, q = there[told], q[keep][told]
    # about the mean: zeros of encoders may be found to be others
    moves, apart = (
        float(np.sqrt(np.mean(np.var(x, axis=0)))) if len(x) else 0.0 for x in (there, q - there)
    )
    if moves > MOVES and apart > LARGEST_SHARE * moves:
        raise DataError(
            f"the estimate is of another recording: its joints are {apart:.2g} rad off those that "
            f"were read, which move by {moves:.2g} rad",
            apart,
        )


def _joint_arrays(
    messages: list, names: list[str], start_ns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    order = [list(messages[0].name).index(n) for n in names]
    unread = np.full(len(messages[0].name), np.nan)

    def rows(field: str) -> np.ndarray:
        read = (np.asarray(getattr(m, field)) for m in messages)
        return np.array([(values if values.size else unread)[order] for values in read])

    return times(messages, start_ns), rows("position"), rows("velocity")


def _trailing_mean(x: np.ndarray, width: int) -> np.ndarray:
    total = np.cumsum(np.vstack([np.zeros((1, x.shape[1])), x]), axis=0)
    return np.vstack([x[: width - 1], (total[width:] - total[:-width]) / width])
