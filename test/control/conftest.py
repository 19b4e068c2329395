# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots that controllers are tested on."""

import pytest

from prime_estimation.robot import Robot


@pytest.fixture
def go2() -> Robot:
    return Robot.load("go2")
