# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Monitor: the shape that all judges of the estimator share."""

from __future__ import annotations

from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement, SensorHealth


class Monitor:
    """Watches one assumption of the estimator.

    Before the window moves, each monitor in turn refines the situation of the next node (`assess`);
    after it has been solved, each may say that it is lost, or act on what the next solve starts
    from (`judge`).
    """

    def reset(self) -> None:
        """Forget everything."""

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """Look at a window that a start batch gave."""

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """The situation of the next node, refined by what this monitor knows.

        Args:
            m: the next measurement.
            window: solved for the measurements before; None while there is none.
            situation: what the monitors before this one have decided.
        """
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Why a window that has just been solved is lost; empty when it is not."""
        return ""

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """What the status should say of the assumption; nothing while it holds."""
        return ()
