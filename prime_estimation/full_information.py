# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Full-information estimate: one window over all measurements, solved to convergence. The reference that the sliding window is held to."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from . import _core
from .errors import InitializationError
from .estimator import Estimator
from .start import give_poses, prior_root, state_inputs
from .types import Measurement
from .window import Window

ROUNDS, ITERATIONS = 20, 5  # the weights of slipping feet are renewed after every round


def full_information(estimator: Estimator, measurements: Iterable[Measurement]) -> Window:
    """Window over all measurements from the first complete one on, converged.

    The sliding window's smoothed states are its initial guess: from there a multiple-shooting solution takes a handful of
    iterations, however long the data. Parameters are constant over the whole span (no random walk).

    Args:
        estimator: a fresh estimator; its problem defines models and noise.
        measurements: of consecutive nodes.

    Raises:
        InitializationError: the sliding window could not be carried through the data.
    """
    problem = estimator.problem
    ms = {m.stamp_ns: m for m in measurements}
    states, controls = {}, {}
    for m in ms.values():
        if estimator.update(m) is None and states:
            raise InitializationError("full information: the sliding window was lost on the way", m)
        if estimator.window is not None:
            states.update(zip(estimator.window.stamps, estimator.window.xs))
            controls.update(zip(estimator.window.stamps, estimator.window.us))
    if len(states) < 2:
        raise InitializationError("full information: too few measurements for a start", len(ms))
    stamps = sorted(states)
    inputs = state_inputs(problem, [ms[t] for t in stamps])
    for given, t in zip(inputs, stamps[1:]):
        problem.dynamics_input(given, ms[t])
    for t in stamps:
        give_poses(problem, ms[t].mocap, inputs, stamps)
    first = 2 * problem.nv + problem.nq - problem.nv
    xs = [np.concatenate([states[t][:first], states[stamps[-1]][first:]]) for t in stamps]
    root = prior_root(problem, any(m.mocap for m in ms.values()))
    reference = np.concatenate([xs[0][:first], estimator.prior_parameters])
    arrival = _core.ActionArrival(problem.state, reference, root @ root.T)
    window = Window(problem, arrival, inputs, stamps, xs, [controls[t] for t in stamps[:-1]])
    cost = np.inf
    for _ in range(ROUNDS):
        window.solve(ITERATIONS)
        if abs(cost - window.solver.cost) < 1e-7 * cost:
            break
        cost = window.solver.cost
    return window
