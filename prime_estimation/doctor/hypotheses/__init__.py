# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Single mistakes that a recording may have, one kind a file, and how it looks without each."""

from __future__ import annotations

import itertools

from ..legs import Legs
from ..signals import Signals
from . import imu, orders, signs, torques, zeros
from .hypothesis import Hypothesis

__all__ = ["Hypothesis", "all_hypotheses"]


def all_hypotheses(legs: Legs, signals: Signals) -> list[Hypothesis]:
    """Orders and signs of the joints, axes and signs of the IMU, late or scaled torques, zeros."""
    kinds = (orders, signs, imu, torques, zeros)
    return list(itertools.chain.from_iterable(kind.hypotheses(legs, signals) for kind in kinds))
