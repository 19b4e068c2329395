# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Push: a force on the base of a simulated robot that is neither ground nor gravity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..config.values import are_numbers
from ..errors import ConfigError


@dataclass(frozen=True)
class Push:
    """A constant force on the base for a while: a hand, a rope, a kick.

    Attributes:
        force: (3,) world axes [N].
        begin, duration: s from the start of the recording.
    """

    force: tuple[float, float, float]
    begin: float
    duration: float

    def __post_init__(self):
        times = (self.begin, self.duration)
        if not (are_numbers(self.force, 3) and are_numbers(times, 2) and self.duration > 0):
            raise ConfigError(
                f"a push needs three finite forces, a begin and a positive duration, got {self}",
                self,
            )


def force_at(pushes: tuple[Push, ...], time: float) -> np.ndarray:
    """(3,) sum of the pushes at `time` s, world axes [N]."""
    forces = [p.force for p in pushes if p.begin <= time < p.begin + p.duration]
    return np.sum([np.zeros(3), *forces], axis=0)
