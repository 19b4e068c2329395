# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The sliding median is the median of the newest values."""

from collections import deque
from statistics import median

import numpy as np
import pytest

from prime_estimation.monitors.sliding_median import SlidingMedian


@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_equals_the_median_of_the_newest(size):
    newest, sliding = deque(maxlen=size), SlidingMedian(size)
    for value in np.random.default_rng(size).integers(0, 9, 100).tolist():  # with equal ones
        newest.append(float(value))
        sliding.add(float(value))
        assert sliding.value == median(newest) and len(sliding) == len(newest)
    sliding.clear()
    assert len(sliding) == 0
    sliding.add(3.0)
    assert sliding.value == 3.0
