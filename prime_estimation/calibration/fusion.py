# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Offsets of one machine from several recordings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from ..evaluation.statistics import HALF_WIDTH_95
from ..robot import Robot
from .offsets import Offsets
from .single import RunCalibration

DISAGREEMENT = 4.0  # standard deviations between two recordings: not one machine
OBSERVED = 0.5  # of the prior's standard deviation, at most, is left


@dataclass(frozen=True)
class FusedOffsets:
    """Posterior of the offsets.

    Attributes:
        offsets: the estimate. nominal: what the deviations are from.
        free: (k,) columns of the parameters estimated.
        deviation: (k,) from nominal.
        statistical: (k, k) covariance from the noise, and from the spread between recordings.
        systematic: (k, k) covariance of what more data do not reduce.
        prior_stddev: (k,).
    """

    offsets: Offsets
    nominal: Offsets
    free: np.ndarray
    deviation: np.ndarray
    statistical: np.ndarray
    systematic: np.ndarray
    prior_stddev: np.ndarray

    @property
    def stddev(self) -> np.ndarray:
        """(k,) of statistical and systematic part together."""
        return np.sqrt(np.diag(self.statistical + self.systematic))

    def rows(self, robot: Robot) -> list[dict]:
        """Name, unit, value and intervals of each parameter, plain values."""
        names = self.offsets.names(robot)
        values = self.offsets.values(Offsets.nominal(robot))[self.free]
        out = []
        for i, column in enumerate(self.free):
            name, unit = names[column]
            value, stddev = float(values[i]), float(self.stddev[i])
            prior = float(self.prior_stddev[i])
            out.append(
                {
                    "name": name,
                    "unit": unit,
                    "value": value,
                    "stddev": stddev,
                    "statistical": float(np.sqrt(self.statistical[i, i])),
                    "systematic": float(np.sqrt(self.systematic[i, i])),
                    "interval": [value - HALF_WIDTH_95 * stddev, value + HALF_WIDTH_95 * stddev],
                    "observable": bool(stddev < OBSERVED * prior),
                }
            )
        return out


def fuse(runs: list[RunCalibration]) -> FusedOffsets:
    """Product of the recordings' likelihoods with the prior, in the deviations from nominal.

    Where recordings disagree by more than their noise says, the covariance is widened by the ratio
    (Birge).
    """
    first = runs[0]
    prior = first.prior
    total = np.diag(prior) + sum(r.information for r in runs)
    weighted = sum(np.linalg.inv(r.result.covariance) @ r.deviation for r in runs)
    statistical = np.linalg.inv(total)
    deviation = statistical @ weighted
    if len(runs) > 1 and len(deviation):
        squares = sum(
            (r.deviation - deviation) @ r.information @ (r.deviation - deviation) for r in runs
        )
        ratio = squares / ((len(runs) - 1) * len(deviation))
        if ratio > DISAGREEMENT**2:
            raise DataError(
                f"the recordings differ by {np.sqrt(ratio):.0f} standard deviations: they are not "
                "of one machine, or the motion capture body was moved",
                ratio,
            )
        statistical = statistical * max(1.0, ratio)
    share = [statistical @ r.information for r in runs]
    shifts = sum(r.shifts @ s.T for r, s in zip(runs, share)) if len(runs) > 1 else first.shifts
    full = np.zeros(first.nominal.size)
    full[first.free] = deviation
    return FusedOffsets(
        first.nominal.moved(full),
        first.nominal,
        first.free,
        deviation,
        statistical,
        shifts.T @ shifts,
        1.0 / np.sqrt(prior),
    )
