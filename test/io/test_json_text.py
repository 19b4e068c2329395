# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""JSON that other readers than Python's understand."""

import json

import numpy as np

from prime_estimation.io.json_text import json_text


def refuse(word: str):
    raise ValueError(word)


def test_numbers_that_json_has_no_words_for_are_null():
    friction = {"value": float("nan"), "stddev": np.float64("inf")}
    text = json_text({"friction": friction, "rows": [(1.5, float("-inf")), "NaN"], "none": None})
    found = json.loads(text, parse_constant=refuse)
    assert found["friction"] == {"value": None, "stddev": None}
    assert found["rows"] == [[1.5, None], "NaN"] and found["none"] is None
