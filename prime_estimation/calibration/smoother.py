# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Full-information estimate: Gauss-Newton with damping on the problem of a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from .banded import Factorization
from .offsets import Offsets
from .problem import KinematicProblem
from .rotations import rotate
from .trajectory import Trajectory

ITERATIONS = 30
TOLERANCE = 1e-9  # of the cost that a step promises to gain, relative
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
    misfit, outliers, scales = {}, {}, {}
    for f in problem.factors(x, o):
        squares = np.sum(f.residual * rotate(problem.information[f.name], f.residual), axis=1)
        active = problem.covariance[f.name].active
        misfit[f.name] = float(squares.sum() / max(1, active.sum()))
        scale = problem.covariance[f.name].scale
        outliers[f.name] = 0.0 if scale is None else float(np.mean(scale > 2.0))
        scales |= {} if scale is None else {f.name: scale}
    return Smoothed(
        x, o, factorization.parameter_covariance, cost, count, converged, misfit, outliers, scales
    )


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
