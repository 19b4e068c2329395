# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Offline identification.

Inertial parameters of chosen links from whole recordings, with what is known of their errors.
"""

from .fusion import fuse
from .posterior import Posterior, Quantity
from .single import Run, identify_run

__all__ = ["Posterior", "Quantity", "Run", "fuse", "identify_run"]
