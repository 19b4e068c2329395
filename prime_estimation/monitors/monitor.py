# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Monitor: base class of the checks of the estimator's assumptions."""

from __future__ import annotations

from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement, SensorHealth


class Monitor:
    """Checks one assumption of the estimator.

    Before the window moves, each monitor in turn refines the situation of the next node (`assess`).
    After the window has been solved, each may declare it lost, or change what the next solve starts
    from (`judge`).
    """

    def reset(self) -> None:
        """Forget everything."""

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """Take note of a window that was made of a start batch."""

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Refine the situation of the next node.

        Args:
            m: the next measurement.
            window: window of the previous measurements, solved; None while there is none.
            situation: as the monitors before this one have decided.
        """
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Check a window that has been solved. Returns why it is lost; empty if it is not."""
        return ""

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Entries of the status about this assumption; none while it holds."""
        return ()
