# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Examination of a recording: what does not fit its robot's model, and what cannot be told."""

from .examination import Examination, examine
from .finding import Finding

__all__ = ["Examination", "Finding", "examine"]
