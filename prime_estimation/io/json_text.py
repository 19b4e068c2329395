# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""JSON that every reader takes: plain values, and no numbers that JSON does not have."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

import numpy as np


def json_text(values) -> str:
    """Indented JSON of nested values and arrays; NaN and infinities, which it lacks, are null."""
    return json.dumps(_plain(values), indent=1, allow_nan=False)


def _plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
