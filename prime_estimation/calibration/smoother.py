# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Full-information estimate: Gauss-Newton with damping on the problem of a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .banded import Factorization
from .offsets import Offsets
from .problem import KinematicProblem
from .rotations import rotate
from .trajectory import Trajectory

ITERATIONS = 30
TOLERANCE = 1e-9  # of the cost that a step promises to gain, relative
OUTLIER = 25.0  # whitened squares: for three to six rows chi-square below one in a thousand
LOOSE = 0.3  # standard deviation added to outliers [m, m/s, rad]
ROUNDS = 3  # of looking for outliers


@dataclass(frozen=True)
class Smoothed:
    """Optimum of a problem.

    Attributes:
        trajectory, offsets: where it is.
        covariance: (k, k) of the free offsets.
        cost: half the weighted sum of squares. iterations: steps taken.
        converged: the last step promised nothing more.
        misfit: mean whitened square of each factor's active rows.
        rejected: share of each factor's rows that were taken for outliers.
    """

    trajectory: Trajectory
    offsets: Offsets
    covariance: np.ndarray
    cost: float
    iterations: int
    converged: bool
    misfit: dict[str, float] = field(default_factory=dict)
    rejected: dict[str, float] = field(default_factory=dict)


def smooth(
    problem: KinematicProblem,
    trajectory: Trajectory | None = None,
    offsets: Offsets | None = None,
    iterations: int = ITERATIONS,
    stop: Callable[[], bool] = lambda: False,
    tolerance: float = TOLERANCE,
) -> Smoothed:
    """Minimize a problem from a first guess (that of motion capture and the nominal offsets).

    A step that makes it worse is tried again with Levenberg-Marquardt damping.
    """
    x = problem.origin if trajectory is None else trajectory
    o = problem.nominal if offsets is None else offsets
    damping, converged, count = 0.0, False, 0
    equations = problem.equations(x, o)
    factorization = equations.factorized()
    while count < iterations and not converged and not stop():
        count += 1
        dx, do = factorization.solve(-equations.gradient, -equations.parameter_gradient)
        promised = -0.5 * float(np.sum(dx * equations.gradient) + do @ equations.parameter_gradient)
        full = np.zeros(o.size)
        full[problem.free] = do
        trial = problem.cost(x.moved(dx), o.moved(full))
        if not trial <= equations.cost + 1e-10 * abs(equations.cost):
            damping = max(10.0 * damping, 1e-6)
            if damping > 1e3:
                break
            factorization = equations.factorized(damping)
            continue
        x, o = x.moved(dx), o.moved(full)
        converged = promised <= tolerance * max(1.0, trial)
        damping = 0.1 * damping if damping > 1e-6 else 0.0
        equations = problem.equations(x, o)
        factorization = equations.factorized(damping)
    final = factorization if damping == 0.0 else equations.factorized()
    return _smoothed(problem, x, o, final, equations.cost, count, converged)


def _smoothed(
    problem: KinematicProblem,
    x: Trajectory,
    o: Offsets,
    factorization: Factorization,
    cost: float,
    count: int,
    converged: bool,
) -> Smoothed:
    misfit, rejected = {}, {}
    for f in problem.factors(x, o):
        squares = np.sum(f.residual * rotate(problem.information[f.name], f.residual), axis=1)
        active = problem.covariance[f.name].active
        misfit[f.name] = float(squares.sum() / max(1, active.sum()))
        rejected[f.name] = float(np.mean(~active.any(axis=1)))
    return Smoothed(
        x, o, factorization.parameter_covariance, cost, count, converged, misfit, rejected
    )


def reject_outliers(problem: KinematicProblem, result: Smoothed) -> int:
    """Take the weight of leg and mocap residuals that no noise explains; how many these are."""
    count = 0
    for f in problem.factors(result.trajectory, result.offsets):
        if not f.name.startswith(("leg", "foothold", "mocap")):
            continue
        squares = np.sum(f.residual * rotate(problem.information[f.name], f.residual), axis=1)
        bad = squares > OUTLIER
        problem.covariance[f.name].loosen(bad, LOOSE)
        count += int(bad.sum())
    problem.set_noise(problem.noise)
    return count


def smooth_robustly(
    problem: KinematicProblem,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Smoothed:
    """`smooth`, with outliers left out in a few rounds; `stop` keeps the last iterate."""
    result = smooth(problem, stop=stop)
    for i in range(ROUNDS):
        progress((i + 1.0) / (ROUNDS + 1.0))
        if stop() or reject_outliers(problem, result) == 0:
            break
        result = smooth(problem, result.trajectory, result.offsets, stop=stop)
    progress(1.0)
    return result
