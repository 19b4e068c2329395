# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Order of joints: the robot's joints out of a message's arrays, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import DataError

# by how much a locked joint may differ from its place before the model is wrong [rad]
LOCKED_TOLERANCE = 0.05


class JointOrder:
    """Picks the robot's joints out of a message's arrays, by name. Built once per list of names.

    Args:
        wanted: `Robot.joint_names`.
        seen: names in the message, in its order; further joints are ignored.
        locked: position [rad] at which the model holds further joints.

    Raises:
        DataError: joints are missing or named twice.
    """

    def __init__(
        self, wanted: Sequence[str], seen: Sequence[str], locked: Mapping[str, float] | None = None
    ):
        self.seen = tuple(seen)
        missing = [n for n in wanted if n not in self.seen]
        if missing:
            listed = ", ".join(self.seen) or "no joint"
            lacks = (
                f"joint_states lacks {len(missing)} of {len(wanted)} joints: {', '.join(missing)}"
            )
            raise DataError(
                f"{lacks}; it has {listed}. Wrong robot, renamed joints, or some for "
                "robot.locked_joints?",
                missing,
            )
        double = sorted({n for n in wanted if self.seen.count(n) > 1})
        if double:
            raise DataError(f"joint_states names joints twice: {', '.join(double)}", double)
        self._index = np.array([self.seen.index(n) for n in wanted])
        self._locked = [
            (n, self.seen.index(n), position)
            for n, position in (locked or {}).items()
            if n in self.seen
        ]

    def pick(self, values) -> np.ndarray | None:
        """(nj,) the robot's joints.

        None for an empty array or one that the driver filled with NaN (it has no such sensor).
        """
        values = np.asarray(values, dtype=float)
        if values.size == 0:
            return None
        if values.size != len(self.seen):
            raise ValueError("array and name list differ in length")
        picked = values[self._index]
        return None if picked[0] != picked[0] and np.isnan(picked).all() else picked

    def unlocked(self, positions) -> list[str]:
        """Locked joints that are not where the model holds them."""
        away = [
            (name, float(positions[i]), place)
            for name, i, place in self._locked
            if abs(positions[i] - place) > LOCKED_TOLERANCE
        ]
        return [
            f"{name} is locked at {place:g} rad but stands at {position:.2f} rad"
            for name, position, place in away
        ]
