# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A mistake that a recording may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..signals import Signals

EVERY = ("position", "velocity", "acceleration", "torque")
MOTION = ("position", "velocity", "acceleration")
TORQUE = ("torque",)
Gain = Callable[["Hypothesis"], float]


@dataclass(frozen=True)
class Hypothesis:
    """A mistake: name of its kind, words for it, and the signals without it.

    Attributes:
        subject: what it is about, for the evidence.
        figures: of the misfit, that tell it by themselves, where others have reasons of their own.
        refine: finds the value of the mistake at which a gain in fit, of a hypothesis, is largest;
            None where it has no value.
    """

    kind: str
    text: str
    subject: dict
    corrected: Callable[[Signals], Signals]
    proposal: dict | str = ""
    figures: tuple[str, ...] = ()
    refine: Callable[[Gain], "Hypothesis | None"] | None = None

    def refined(self, gain: Gain) -> "Hypothesis | None":
        """With the value that makes the gain largest; None: a value too small for a mistake."""
        return self if self.refine is None else self.refine(gain)
