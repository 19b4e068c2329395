# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A DDS domain that nobody else on this machine uses, on loopback only."""

import os

import pytest


@pytest.fixture(scope="session")
def local_domain():
    """Number of a domain for this test run."""
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return 20 + os.getpid() % 80
