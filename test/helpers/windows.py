# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Windows whose states are given, not solved for."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window


class GivenWindow(Window):
    """States of a window, and the torques of its nodes; there are no nodes to solve.

    Args:
        problem: model.
        xs: N + 1 states.
        torque: (nj,) of all nodes [Nm].
    """

    def __init__(self, problem: Problem, xs: list[np.ndarray], torque: np.ndarray | None = None):
        self.problem, self.xs, self.size = problem, xs, len(xs) - 1
        self.inputs = [SimpleNamespace(weighed=True, torque=torque, torque_change=0.0)] * len(xs)
        self.creeping, self._legs = False, {}
