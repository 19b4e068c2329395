# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Fields of messages as arrays. Duck-typed: the objects of rosbags, Cyclone DDS and rclpy alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..types.arrays import finite as all_finite


def finite(*arrays: np.ndarray | None) -> tuple[np.ndarray | None, ...]:
    """The arrays; ValueError where one holds NaN or infinity."""
    if not all_finite(*(a for a in arrays if a is not None)):
        raise ValueError("NaN or infinite value")
    return arrays


def by_name(message, fields: Iterable[str], names: Sequence[str], what: str) -> list[np.ndarray]:
    """Fields of a message with a list of names, each (n,) in the order of `names`.

    ValueError where `what` of a name is missing, lengths differ, or a value is not finite.
    """
    given = list(message.name)
    if missing := [name for name in names if name not in given]:
        raise ValueError(f"no {what} of {', '.join(missing)}")
    arrays = [np.asarray(getattr(message, field), float) for field in fields]
    if any(array.size != len(given) for array in arrays):
        raise ValueError("array and name list differ in length")
    picked = [given.index(name) for name in names]
    return list(finite(*(array[picked] for array in arrays)))


def vector(v) -> np.ndarray:
    """(3,) of a message with x, y, z."""
    return np.array((v.x, v.y, v.z), dtype=float)


def quaternion(q) -> np.ndarray | None:
    """(4,) xyzw, normalized; None if it is none (all zero: the sensor has no orientation)."""
    quat = np.array((q.x, q.y, q.z, q.w), dtype=float)
    norm = np.sqrt(quat @ quat)
    return quat / norm if abs(norm - 1.0) < 0.01 else None
