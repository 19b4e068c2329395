# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Random walk of the parameters from node to node, by which the estimate forgets old data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .problem import Problem


def random_walks(problem: Problem) -> dict[bool, np.ndarray]:
    """Roots (ndx, k) of the random walk over one step, by whether the inertia is held.

    Of the k parameters that walk: what is held has no noise.
    """
    e, step = problem.config.estimator, np.sqrt(problem.dt)
    root = np.zeros((problem.ndx, problem.np))
    walks = {
        "height": e.terrain_walk,
        "friction": e.friction_walk * step,
        "softness": e.softness_walk * step,
    }
    for name, block in problem.measurements.parameter_priors().items():
        walks[name] = block.walk * step
    for name, std in walks.items():
        columns, rows = problem.columns(name), problem.layout.parameter_rows(name)
        root[columns, rows] = np.diag(np.full(columns.stop - columns.start, std))
    for block in problem.free_joints:
        columns, rows = problem.columns(block.name), problem.layout.parameter_rows(block.name)
        root[columns, rows] = step * block.walk_root
    estimated = root.copy()
    columns, rows = problem.columns("theta"), problem.layout.parameter_rows("theta")
    estimated[columns, rows] = step * problem.theta_walk_root
    return {held: walk[:, walk.any(axis=0)] for held, walk in ((True, root), (False, estimated))}
