# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A node of a walking Go2, and a cost-to-come of its state, for calls that the core refuses."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.nodes import random_node

from prime_estimation import _core


@pytest.fixture(scope="module")
def node():
    return random_node("go2", "forward", "coulomb", "stance", 14)


@pytest.fixture
def arrival(node):
    state = node.problem.state
    return _core.ActionArrival(state, state.zero(), np.eye(node.problem.ndx))
