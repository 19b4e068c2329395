# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Continuous joints whose encoders begin anew after a turn.

Between readings of 3.1 and -3.1 rad lies pi, not zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

TURN = 2.0 * np.pi


class AngleUnwrapper:
    """Unwraps angles: adds the whole turns that bring a reading next to the one before.

    Args:
        joints: indices of the continuous joints; the readings of others stay as they are.
    """

    def __init__(self, joints: Sequence[int] = ()):
        self._joints = np.array(joints, int)
        self._last: np.ndarray | None = None

    def unwrap(self, position: np.ndarray) -> None:
        """Bring a row of joint positions (nj,) [rad] next to the last believed one, in place."""
        if not self._joints.size:
            return
        reading = position[self._joints]
        last = reading if self._last is None else self._last
        position[self._joints] = reading + TURN * np.round((last - reading) / TURN)

    def believe(self, position: np.ndarray) -> None:
        """Bring the next readings next to this row (nj,) of unwrapped positions [rad]."""
        self._last = position[self._joints]
