# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimate that an identification rests on.

All nodes at once, a sharper contact law, heavy tails for impacts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..mhe.window import Window
from .full_information import no_stop

FIRST_ITERATIONS = 2  # with the online contact law, before the sharper one
ITERATIONS = 30  # at most; a run of 1000 nodes takes about 10 in all
FEW = 6  # of a solution that is only compared with others
# of a standard deviation: the change of the inertia in one iteration at which it has converged
TOLERANCE = 0.1
COST_TOLERANCE = 1e-3  # and the relative change of the cost
PATIENCE = 2  # iterations in a row
# the law's kappa in the end, relative to the online one: its creep falls, and friction comes out
# right
SHARPENING = 10.0
LARGEST_KAPPA = 1e5


@dataclass(frozen=True)
class Iterate:
    """Iteration: cost, largest gap of the dynamics, sharpness of the law, parameters p."""

    cost: float
    gap: float
    kappa: float
    parameters: np.ndarray


@dataclass
class Solution:
    """Solution of a run, all its data together.

    Attributes:
        window: all nodes; `window.posterior()` has been called.
        history: one entry per iteration.
        converged: False when it was stopped, or ran out of iterations that tell its parameters.
        seconds: of computing, from the measurements on; set by who knows when that began.
        told: mean and covariance of parameter blocks that were found otherwise (`uneven`).
    """

    window: Window
    history: list[Iterate] = field(default_factory=list)
    converged: bool = False
    seconds: float = 0.0
    told: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def parameters(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of a parameter block (`theta`, `friction`, ...)."""
        if name in self.told:
            return self.told[name]
        window = self.window
        columns = window.problem.columns(name)
        return window.problem.parameter(window.xs[-1], name).copy(), window.solver.posterior(1)[
            columns, columns
        ]


def solve(
    window: Window,
    progress: Callable[[float], None] = lambda fraction: None,
    stop: Callable[[], bool] = no_stop,
) -> Solution:
    """Solve a window whose guess the sliding window made.

    Parameters are constant over the whole span.

    Some iterations with the online contact law, then on to convergence with a sharper one (kappa
    schedule). Both the feet's slips and the unexplained forces have heavy tails, by iterated
    reweighting.

    Args:
        window: `ForwardPass.window`.
        progress: called with the fraction done.
        stop: asked after every iteration; True leaves the last iterate.
    """
    result = Solution(window)
    approach(result, ITERATIONS, progress, stop)
    window.posterior()
    progress(1.0)
    return result


def approach(
    result: Solution,
    iterations: int,
    progress: Callable[[float], None] = lambda fraction: None,
    stop: Callable[[], bool] = no_stop,
) -> None:
    """Solve `result.window`: `FIRST_ITERATIONS` with the online contact law, then sharper ones."""
    kappa = result.window.problem.config.robot.kappa
    for stage, (factor, number) in enumerate(((1.0, FIRST_ITERATIONS), (SHARPENING, iterations))):
        result.window.set_kappa(min(LARGEST_KAPPA, factor * kappa))
        result.converged = converge(
            result, lambda f, k=stage: progress(0.5 * (k + f)), stop, number
        )
        if stop():
            break


class RestoreOnExit:
    """Something is tried on a window.

    At the end iterate, prior and weights are what they were before.

    The weights of the unexplained forces stay, so that costs can be compared.
    """

    def __init__(self, window: Window):
        self.window = window

    def __enter__(self) -> Window:
        window, arrival = self.window, self.window.arrival
        self.iterate = [x.copy() for x in window.xs], [np.array(u) for u in window.us]
        self.weights = [(np.array(g.weight_force), np.array(g.weight_xi)) for g in window.inputs]
        self.arrival = arrival.reference, arrival.mean, arrival.L
        self.force_dof, window.force_dof = window.force_dof, np.inf
        return window

    def __exit__(self, *_) -> None:
        window, arrival = self.window, self.window.arrival
        window.xs, window.us = self.iterate
        arrival.reference, arrival.mean, arrival.L = self.arrival
        self._restore_weights()
        window.solve(0)  # nodes and cost belong to the iterate again
        self._restore_weights()
        window.force_dof = self.force_dof

    def _restore_weights(self) -> None:
        for given, (force, xi) in zip(self.window.inputs, self.weights):
            given.weight_force, given.weight_xi = force, xi


def converge(
    result: Solution,
    progress: Callable[[float], None] = lambda fraction: None,
    stop: Callable[[], bool] = no_stop,
    iterations: int = ITERATIONS,
) -> bool:
    """Gauss-Newton steps on `result.window` until neither parameters nor cost move.

    The weights of slipping feet are renewed after each.
    """
    window, quiet, cost = result.window, 0, np.inf
    problem = window.problem
    kappa = window.inputs[0].law.kappa
    inertia = problem.columns("theta")
    slow = slice(inertia.start - 2 * problem.nv, inertia.stop - 2 * problem.nv)
    before = window.xs[-1][-problem.np :].copy()
    for k in range(iterations):
        window.solve(1)
        now = window.xs[-1][-problem.np :].copy()
        result.history.append(
            Iterate(float(window.solver.cost), float(window.solver.largest_gap), kappa, now)
        )
        if k == 0:  # hardly changes later
            window.posterior()
            spread = np.sqrt(np.diag(window.solver.posterior(1))[-problem.np :])
        step = np.abs(now - before)[slow] / spread[slow]
        still = (
            step.max(initial=0.0) < TOLERANCE
            and abs(cost - window.solver.cost) < COST_TOLERANCE * window.solver.cost
        )
        quiet = quiet + 1 if still else 0
        before, cost = now, window.solver.cost
        progress((k + 1) / iterations)
        if quiet >= PATIENCE or stop():
            break
    progress(1.0)
    return quiet >= PATIENCE
