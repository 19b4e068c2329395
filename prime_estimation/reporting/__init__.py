# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""From a solved window to the frozen `Estimate`, with covariances of its posterior."""

from .contacts import SLIP_SPEED
from .reporter import Reporter

__all__ = ["SLIP_SPEED", "Reporter"]
