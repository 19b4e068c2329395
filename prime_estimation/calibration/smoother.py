# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Full-information estimate: Newton's method on the problem of a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import DataError
from .banded import Factorization, NormalEquations
from .factor import Factor
from .offsets import Offsets
from .problem import KinematicProblem
from .rotations import rotate
from .trajectory import Trajectory

ITERATIONS = 30
TOLERANCE = 1e-9  # of the cost that a step promises to gain, relative
ARMIJO = 1e-4  # share of the decrease along the slope that a step must give
SHORTEST = 2.0**-12  # step
ROUGH = 1e-6  # the same while outliers are weighed
ROUNDS = 8  # of weighing outliers
SETTLED = 0.05  # relative change of their scales


@dataclass(frozen=True)
class Smoothed:
    """Optimum of a problem.

    Attributes:
        trajectory, offsets: where it is.
        covariance: (k, k) of the free offsets.
        cost: half the weighted sum of squares. iterations: steps taken.
        converged: the last step promised nothing more.
        misfit: mean whitened square of each factor's active rows.
        outliers: share of each factor's rows whose noise is taken to be twice as large or more.
        scales: (m, r) factors on the noise of each factor that has outliers.
    """

    trajectory: Trajectory
    offsets: Offsets
    covariance: np.ndarray
    cost: float
    iterations: int
    converged: bool
    misfit: dict[str, float] = field(default_factory=dict)
    outliers: dict[str, float] = field(default_factory=dict)
    scales: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Start:
    """Iterate that an estimate goes on from: states, offsets, and `Smoothed.scales`."""

    trajectory: Trajectory
    offsets: Offsets
    scales: dict[str, np.ndarray]


@dataclass(frozen=True)
class Minimum:
    """Iterate of a problem at which its minimization ended: states, offsets, residuals, cost."""

    trajectory: Trajectory
    offsets: Offsets
    found: list[Factor]
    cost: float
    iterations: int
    converged: bool


def minimize(
    problem: KinematicProblem,
    x: Trajectory,
    o: Offsets,
    iterations: int = ITERATIONS,
    stop: Callable[[], bool] = lambda: False,
    tolerance: float = TOLERANCE,
) -> Minimum:
    """Minimize a problem by Newton's method from a first guess.

    A step that makes it worse is halved: damping would hold what a whole trajectory does together,
    which nothing but the sum of stiff steps tells, long before it holds what goes too far.
    """
    found = problem.factors(x, o)
    cost, converged, count = problem.cost_of(found, o), False, 0
    while count < iterations and not converged and not stop():
        count += 1
        equations, factorization = descent_equations(problem, x, o, found)
        dx, do = factorization.solve(-equations.gradient, -equations.parameter_gradient)
        slope = float(np.sum(dx * equations.gradient) + do @ equations.parameter_gradient)
        full = np.zeros(o.size)
        full[problem.free] = do
        step, before = 1.0, cost
        while step >= SHORTEST:
            there = x.carried(step * dx), o.moved(step * full) if len(do) else o
            trial = problem.factors(*there)
            cost = problem.cost_of(trial, there[1])
            # near the optimum what is gained is below the rounding of the sum
            if cost <= before + ARMIJO * step * slope + 1e-10 * abs(before):
                break
            step *= 0.5
        else:
            return Minimum(x, o, found, before, count, False)
        (x, o), found = there, trial
        converged = step == 1.0 and -0.5 * slope <= tolerance * max(1.0, cost)
    return Minimum(x, o, found, cost, count, converged)


def descent_equations(
    problem: KinematicProblem, x: Trajectory, o: Offsets, found: list[Factor]
) -> tuple[NormalEquations, Factorization]:
    """Newton's equations of the states, or Gauss-Newton's where these lead to no minimum."""
    equations = problem.equations(x, o, found, curved=True)
    try:
        return equations, equations.factorized()
    except DataError:
        equations = problem.equations(x, o, found)
        return equations, equations.factorized()


def smooth(
    problem: KinematicProblem,
    trajectory: Trajectory | None = None,
    offsets: Offsets | None = None,
    iterations: int = ITERATIONS,
    stop: Callable[[], bool] = lambda: False,
    tolerance: float = TOLERANCE,
) -> Smoothed:
    """`minimize` from a first guess (that of motion capture and the nominal offsets)."""
    x = problem.origin if trajectory is None else trajectory
    o = problem.nominal if offsets is None else offsets
    end = minimize(problem, x, o, iterations, stop, tolerance)
    misfit, outliers, scales = {}, {}, {}
    for f in end.found:
        squares = np.sum(f.residual * rotate(problem.information[f.name], f.residual), axis=1)
        active = problem.covariance[f.name].active
        misfit[f.name] = float(squares.sum() / max(1, active.sum()))
        scale = problem.covariance[f.name].scale
        outliers[f.name] = 0.0 if scale is None else float(np.mean(scale > 2.0))
        scales |= {} if scale is None else {f.name: scale}
    return Smoothed(
        end.trajectory,
        end.offsets,
        _covariance(problem, end),
        end.cost,
        end.iterations,
        end.converged,
        misfit,
        outliers,
        scales,
    )


def _covariance(problem: KinematicProblem, end: Minimum) -> np.ndarray:
    """(k, k) of the free offsets, from Gauss-Newton's matrix: that of the expected curvature."""
    if not len(problem.free):
        return np.zeros((0, 0))
    equations = problem.equations(end.trajectory, end.offsets, end.found)
    return equations.factorized().parameter_covariance


def reweight(problem: KinematicProblem, result: Smoothed) -> float:
    """Weigh outliers by Student's t distribution; the largest relative change of a scale."""
    change = 0.0
    for f in problem.factors(result.trajectory, result.offsets):
        covariance = problem.covariance[f.name]
        if covariance.heavy:
            change = max(change, covariance.reweight(f.residual, problem.noise))
    problem.weigh()
    return change


def smooth_robustly(
    problem: KinematicProblem,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda fraction: None,
    start: Start | None = None,
) -> Smoothed:
    """`smooth` with iteratively reweighted outliers, from a start or from motion capture.

    `stop` keeps the last iterate.
    """
    x, o = (start.trajectory, start.offsets) if start else (None, None)
    if start:
        for name, scale in start.scales.items():
            problem.covariance[name].scale = scale
        problem.weigh()
    result, count = smooth(problem, x, o, tolerance=ROUGH, stop=stop), 0
    for i in range(ROUNDS):
        progress((i + 1.0) / (ROUNDS + 1.0))
        count += result.iterations
        if stop() or reweight(problem, result) < SETTLED:
            break
        result = smooth(problem, result.trajectory, result.offsets, tolerance=ROUGH, stop=stop)
    result = smooth(problem, result.trajectory, result.offsets, stop=stop)
    progress(1.0)
    return replace(result, iterations=count + result.iterations)
