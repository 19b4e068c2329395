# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Frank-Wolfe descent on noise covariances around the full-information estimate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from .noise import NoiseModel
from .oracles import CovarianceBounds, cholesky_oracle, semidefinite_oracle

SUFFICIENT, SHRINK = 1e-3, 0.5  # Armijo's share of the promised decrease; factor of the step
SMALLEST_STEP = 2.0**-6
# a whole one ends where a covariance is all but singular, if the trust region is wide
FIRST_STEP = 0.5
ORACLES = ("semidefinite", "cholesky")


@dataclass(frozen=True)
class Iterate:
    """One iteration: loss, duality gap, step, radius of the trust region."""

    loss: float
    gap: float
    step: float
    radius: float


@dataclass(frozen=True)
class Descent:
    """Result: covariances, loss before and after, history, and whether the gap closed.

    With the radius of the trust region it is all that a descent needs to go on.
    """

    noise: NoiseModel
    before: float
    after: float
    history: list[Iterate]
    converged: bool
    radius: float


class Objective:
    """Objective that is minimized: `value(noise)` and `gradient(noise)`, blocks by name."""

    def value(self, noise: NoiseModel) -> float:
        """Loss of covariances."""
        raise NotImplementedError

    def gradient(self, noise: NoiseModel) -> Mapping[str, np.ndarray]:
        """Derivative (d, d) by each block."""
        raise NotImplementedError


def frank_wolfe(
    objective: Objective,
    noise: NoiseModel,
    oracle: str = "semidefinite",
    iterations: int = 20,
    tolerance: float = 1e-3,
    bounds: CovarianceBounds = CovarianceBounds(),
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda fraction: None,
    start: Descent | None = None,
    keep: Callable[[Descent], None] = lambda descent: None,
) -> Descent:
    """Minimize over all blocks at once, which an oracle's linear programs do one by one.

    The step is Armijo's on the way to the oracle's answer, from twice the last one on; the trust
    region follows it. It ends where the duality gap is below `tolerance` times the loss.

    Args:
        objective: loss and its gradient.
        noise: first covariances; their variances are the units.
        oracle: `semidefinite` (full blocks) or `cholesky` (closed form).
        iterations: at most.
        tolerance: of the gap, relative.
        bounds: of the blocks.
        stop: ends it and keeps the last iterate.
        progress: takes the fraction done.
        start: descent that goes on.
        keep: takes every iterate.
    """
    units = {k: np.sqrt(np.diag(S)) for k, S in noise.blocks.items()}
    if start is None:
        before = objective.value(noise)
        start = Descent(noise, before, before, [], False, bounds.radius)
    noise, before, loss = start.noise, start.before, start.after
    history, converged, bounds = [*start.history], False, replace(bounds, radius=start.radius)
    for i in range(len(history), iterations):
        progress(i / iterations)
        gradient = objective.gradient(noise)
        path, gap = _direction(noise, gradient, units, oracle, bounds)
        converged = gap <= tolerance * abs(loss)
        if converged or stop():
            history.append(Iterate(loss, gap, 0.0, bounds.radius))
            break
        first = _first_step(history)
        step, trial, value = _search(objective, path, first, loss, gap)
        history.append(Iterate(loss, gap, step if step >= SMALLEST_STEP else 0.0, bounds.radius))
        if step < SMALLEST_STEP:
            if bounds.radius < 0.02:
                break
            bounds = replace(bounds, radius=0.25 * bounds.radius)
        else:
            noise, loss = trial, value
            growth = 0.7 if step < first else 1.5 if step == 1.0 else 1.0
            bounds = replace(bounds, radius=min(0.8, growth * bounds.radius))
        keep(Descent(noise, before, loss, [*history], False, bounds.radius))
    progress(1.0)
    return Descent(noise, before, loss, history, converged, bounds.radius)


def _search(
    objective: Objective,
    path: Callable[[float], NoiseModel],
    step: float,
    loss: float,
    gap: float,
) -> tuple[float, NoiseModel | None, float]:
    """Step by Armijo's rule, with its covariances and loss; below SMALLEST_STEP there is none."""
    trial, value = None, loss
    while step >= SMALLEST_STEP:
        trial = path(step)
        value = objective.value(trial)
        if value <= loss - SUFFICIENT * step * gap:
            break
        step *= SHRINK
    return step, trial, value


def _first_step(history: list[Iterate]) -> float:
    """Twice the last one, for every step that goes too far costs a solution of the lower level."""
    return min(1.0, 2.0 * history[-1].step) if history and history[-1].step > 0.0 else FIRST_STEP


def _direction(
    noise: NoiseModel, gradient: Mapping, units: Mapping, oracle: str, bounds: CovarianceBounds
) -> tuple[Callable[[float], NoiseModel], float]:
    """Path from the covariances to the oracle's answer, by the step in [0, 1], and duality gap."""
    ends, gap = {}, 0.0
    for name, g in gradient.items():
        D = np.outer(units[name], units[name])
        T, relative = noise.blocks[name] / D, g * D
        if oracle == "semidefinite":
            end = semidefinite_oracle(relative, T, bounds)
            gap -= float(np.sum(relative * (end - T)))
            ends[name] = (T, end, D)
        else:
            F, end = np.linalg.cholesky(T), cholesky_oracle(relative, T, bounds)
            gap -= float(np.sum(2.0 * (relative @ F) * (end - F)))
            ends[name] = (F, end, D)

    def path(step: float) -> NoiseModel:
        blocks = {}
        for name, (start, end, D) in ends.items():
            there = start + step * (end - start)
            blocks[name] = D * (there if oracle == "semidefinite" else there @ there.T)
        return noise.with_blocks(blocks)

    return path, gap
