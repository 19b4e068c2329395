# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Delay of one signal against another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Delay:
    """A delay and how well the signals agree with it.

    Attributes:
        seconds: by how much the signal is late.
        agreement: correlation there, or gain in fit (see `Misfit.gain`); `before`: without delay.
    """

    seconds: float
    agreement: float
    before: float


def lag(late: np.ndarray, reference: np.ndarray, longest: float, step: float) -> Delay:
    """Delay of `late` (n, k) against `reference` (n, k), both sampled every `step` [s].

    Where their correlation, over all columns together, is largest within `longest` [s].
    """
    late, reference = (x - x.mean(axis=0) for x in (late, reference))
    count = min(round(longest / step), len(late) // 2 - 1)
    shifts = np.arange(-count, count + 1)
    inside = slice(count, len(late) - count)
    fixed = reference[inside]
    power = np.sqrt((fixed**2).sum())
    correlation = np.zeros(len(shifts))
    for i, shift in enumerate(shifts):
        moved = late[count + shift : len(late) - count + shift]
        norm = power * np.sqrt((moved**2).sum())
        correlation[i] = (fixed * moved).sum() / norm if norm > 0.0 else 0.0
    place, height = _peak(shifts * step, correlation)
    return Delay(place, height, float(correlation[count]))


def best_shift(gain: Callable[[float], float], longest: float, step: float) -> Delay:
    """Shift [s] at which `gain(shift)` is largest: within `longest`, to a fraction of `step`.

    First every third step, then every one about the best of these, then between.
    """
    count = round(longest / (3.0 * step))
    coarse = 3 * np.arange(-count, count + 1)
    gains = {int(k): gain(step * k) for k in coarse}
    best = max(gains, key=gains.__getitem__)
    for k in range(best - 3, best + 4):
        if k not in gains and abs(k) <= 3 * count:
            gains[k] = gain(step * k)
    best = max(gains, key=gains.__getitem__)
    near = [k for k in (best - 1, best, best + 1) if k in gains]
    place, height = _peak(step * np.array(near), np.array([gains[k] for k in near]))
    return Delay(place, height, gains[0])


def _peak(places: np.ndarray, heights: np.ndarray) -> tuple[float, float]:
    """Place and height of the largest value, by a parabola through its neighbours."""
    k = int(np.argmax(heights))
    if k in (0, len(heights) - 1):
        return float(places[k]), float(heights[k])
    left, top, right = heights[k - 1 : k + 2]
    curve = left - 2.0 * top + right
    shift = 0.5 * (left - right) / curve if curve < 0.0 else 0.0
    return float(places[k] + shift * (places[1] - places[0])), float(top)
