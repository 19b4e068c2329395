# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Encoder glitches: joint positions that jump against their rates, and come back."""

from __future__ import annotations

import numpy as np

LONGEST_NS = 20_000_000  # of a glitch: what lasts longer is a step, and followed
JUMP = 0.1  # rad; noise and quantization of any encoder lie far below
# s by which stamps and readings of one joint may be apart: jitter, readings that are held for a
# few samples
APART = 0.005
FASTEST = 40.0  # rad/s, of joints whose rates are not measured
HARDEST = 1500.0  # rad/s2, of the knee of a Go1 that comes down: between two samples, unseen


class GlitchCheck:
    """Compares each joint sample with the last accepted one.

    A position is a glitch if

        |q_1 - q_0 - (dq_0 + dq_1) dt/2| > JUMP + APART |dq| + HARDEST dt^2 / 4

    Rates that are not measured are bounded by FASTEST. No sample is delayed for the check. A
    position that has been refused for LONGEST_NS is accepted, so that a true step, or a wrong first
    reading, has no longer effect.

    Args:
        nj: number of joints.
    """

    def __init__(self, nj: int):
        self._nj = nj
        self.reset()

    def reset(self) -> None:
        """Forget the last sample; the next one is believed."""
        self._stamp_ns: int | None = None
        self._believed = np.zeros(2 * self._nj)

    def believe(self, stamp_ns: int, row: np.ndarray) -> None:
        """Compare what comes with this sample (2 nj,) from now on."""
        self._stamp_ns = stamp_ns
        self._believed[:] = row

    def glitch(self, stamp_ns: int, row: np.ndarray) -> int | None:
        """Index of the joint that jumps most; None where no joint jumps.

        Args:
            stamp_ns: of the sample.
            row: (2 nj,) positions [rad] and rates [rad/s]; NaN: not measured.
        """
        if self._stamp_ns is None or not 0 < stamp_ns - self._stamp_ns <= LONGEST_NS:
            return None
        excess = self._excess(1e-9 * (stamp_ns - self._stamp_ns), row)
        return int(excess.argmax()) if np.maximum.reduce(excess) > 0.0 else None

    def _excess(self, dt: float, row: np.ndarray) -> np.ndarray:
        """By how much each position (nj,) [rad] has jumped too far; negative: it has not."""
        nj, before = self._nj, self._believed
        moved = row[:nj] - before[:nj]
        if row[nj] != row[nj] or before[nj] != before[nj]:
            return np.abs(moved) - (JUMP + (dt + APART) * FASTEST)
        rates = before[nj:], row[nj:]
        fast = np.maximum(np.abs(rates[0]), np.abs(rates[1]))
        most = JUMP + 0.25 * HARDEST * dt**2 + APART * fast
        return np.abs(moved - 0.5 * dt * (rates[0] + rates[1])) - most
