# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Logs that are no bags become bags: a mapping says what their columns are (docs/convert.md)."""

from .conversion import Conversion, convert
from .mapping import Mapping
from .mapping_file import load_mapping

__all__ = ["Conversion", "Mapping", "convert", "load_mapping"]
