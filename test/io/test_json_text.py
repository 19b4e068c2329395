# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""JSON of results."""

import json

import numpy as np
import pytest

from prime_estimation.io.json_text import json_text


def test_numbers_that_json_does_not_have_are_null():
    values = {
        "friction": float("nan"),
        "rows": (1.5, np.float64("-inf"), np.array([[1.0, np.nan]])),
        "plain": [True, None, 3, "NaN", np.int64(4)],
    }

    def refuse(word: str):
        raise AssertionError(word)

    read = json.loads(json_text(values), parse_constant=refuse)
    assert read == {
        "friction": None,
        "rows": [1.5, None, [[1.0, None]]],
        "plain": [True, None, 3, "NaN", 4],
    }


def test_what_is_no_value_is_refused():
    with pytest.raises(TypeError):
        json_text({"a": object()})
