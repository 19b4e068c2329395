# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Fixtures of the window's tests."""

from __future__ import annotations

import pytest
from helpers.choreography import stood


@pytest.fixture
def standing():
    """Estimator of a robot that stands, and the measurement that comes next."""
    estimator, (last,) = stood(0.8, to_come=1)
    return estimator, last
