# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""JSON of results: numbers that JSON has no words for, NaN and infinities, are null."""

from __future__ import annotations

import json
import math


def json_text(result: object) -> str:
    """Text of plain values, which every reader of JSON understands."""
    return json.dumps(_finite(result), indent=1, allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
