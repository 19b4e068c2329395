# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One recording as a window over all its nodes: what its residuals say of the noise levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from .. import _core
from ..config.parameters import Config
from ..estimator import Estimator
from ..identify.full_information import smooth_forward
from ..mhe.batch_solution import batch_inputs
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import Robot
from ..types import Measurement
from .workers import never, silent

ROUNDS = 8  # of Gauss-Newton steps, each with new weights of outliers, at most
TOLERANCE = 1e-5  # relative change of the cost
DIFFERENCE = 1e-3  # of a level's logarithm
LEAST_SHARE = 1e-4  # of a level in the variance of a row that it has to do with
ENOUGH = 100  # rows
OUTLIER = 30.0  # of a squared whitened residual: an impact is no noise


@dataclass(frozen=True)
class WindowSegment:
    """A recording and where its estimate is by now; plain arrays, for it travels.

    Attributes:
        config: shipped levels. optional: sensors that are expected.
        measurements: of all nodes.
        xs, us: states and controls. reference: mean of the first state.
        situation: who carries the robot.
    """

    robot: Robot
    config: Config
    optional: tuple[str, ...]
    measurements: list[Measurement]
    xs: list[np.ndarray]
    us: list[np.ndarray]
    reference: np.ndarray
    situation: Situation

    def window(self, levels: Mapping[str, float]) -> Window:
        """Window with noise levels, at the iterate."""
        config = self.config.updated({"noise": dict(levels)})
        problem = Problem(self.robot, config, self.optional, holds=True)
        inputs = batch_inputs(problem, self.measurements, self.situation)
        root = problem.first.root(any(m.mocap for m in self.measurements))
        arrival = _core.ActionArrival(problem.state, self.reference, root @ root.T)
        stamps = [m.stamp_ns for m in self.measurements]
        return Window(problem, arrival, inputs, stamps, self.xs, self.us)


@dataclass(frozen=True)
class LevelStatistics:
    """Sums over the rows i of all nodes, `a_iL` the share of level L in the variance of row i.

    Attributes:
        squares: (l,) of `a r^2`, r the whitened residual.
        seen: (l,) of `a s`, s what the other readings tell of the row's error (0 to 1).
        information: (l, l) of `a_L a_M s^2`: half of Fisher's on the levels' logarithms.
        shares, rows: (l,) of `a`, and of rows that tell the level.
    """

    squares: np.ndarray
    seen: np.ndarray
    information: np.ndarray
    shares: np.ndarray
    rows: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """(l,) mean share of the levels in the rows that tell them."""
        return self.shares / np.maximum(self.rows, 1.0)

    def __add__(self, other: LevelStatistics) -> LevelStatistics:
        return LevelStatistics(
            self.squares + other.squares,
            self.seen + other.seen,
            self.information + other.information,
            self.shares + other.shares,
            self.rows + other.rows,
        )


def carry_through(
    robot: Robot,
    config: Config,
    measurements: list[Measurement],
    stop: Callable[[], bool] = never,
    progress: Callable[[float], None] = silent,
) -> WindowSegment:
    """First guess of all states, by the sliding window."""
    # the sliding window's states are only a guess: one iteration per node
    way = config.updated({"estimator": {"iterations": 1, "adapt_joints": False}})
    estimator = Estimator(robot, way, any(m.mocap for m in measurements))
    passage = smooth_forward(estimator, measurements, progress, stop)
    window = passage.window()
    return WindowSegment(
        robot,
        way,
        tuple(estimator.problem.optional),
        passage.measurements,
        window.xs,
        window.us,
        np.array(window.arrival.reference),
        passage.situation,
    )


def look(
    segment: WindowSegment, levels: Mapping[str, float]
) -> tuple[LevelStatistics, WindowSegment]:
    """Statistics at the optimum under noise levels, and the segment there."""
    window, cost = segment.window(levels), np.inf
    for _ in range(ROUNDS):
        window.solve(1)
        if abs(cost - window.solver.cost) < TOLERANCE * window.solver.cost:
            break
        cost = window.solver.cost
    window.posterior()
    errors = [window.errors(k) for k in range(window.size)]
    r, _, seen = (np.array(part) for part in zip(*errors))
    expected = seen * kept(seen, *tails(window.problem))
    squares = np.minimum(r**2, OUTLIER)
    return (
        _statistics(squares, expected, shares(segment, levels)),
        replace(segment, xs=window.xs, us=window.us),
    )


def _statistics(squares: np.ndarray, seen: np.ndarray, share: np.ndarray) -> LevelStatistics:
    used = np.array([np.where((seen > 0.0) & telling(a, seen > 0.0), a, 0.0) for a in share])
    return LevelStatistics(
        np.einsum("lki,ki->l", used, squares),
        np.einsum("lki,ki->l", used, seen),
        np.einsum("lki,mki,ki->lm", used, used, seen**2),
        used.sum(axis=(1, 2)),
        (used > 0.0).sum(axis=(1, 2)).astype(float),
    )


def tails(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """(nr,) degrees of freedom of each row's Student-t, and rows that are an outlier together."""
    rows, noise = problem.measurements.rows, problem.config.noise
    dof = np.full(sum(s.stop - s.start for parts in rows.values() for s in parts), np.inf)
    together, force, contact = np.ones(len(dof)), rows["force"][0], rows["contact"][0]
    dof[force], dof[contact] = noise.force_dof, noise.contact_dof
    together[force.start : force.stop - problem.nj] = 3.0
    feet = problem.dynamics.nfeet
    together[contact] = (contact.stop - contact.start) / max(1, feet)
    return dof, together


def kept(seen: np.ndarray, dof: np.ndarray, together: np.ndarray) -> np.ndarray:
    """(n, nr) share of a Gaussian's square that the weights of outliers leave of it.

    `E w s z^2 / E s z^2`, z^2 of d degrees of freedom, `w = min(1, (dof + d) / (dof + s z^2))`:
    levels are standard deviations of what is no outlier.
    """
    out, grid = np.ones(seen.shape), np.linspace(0.0, 1.0, 51)
    middle = (np.arange(400) + 0.5) / 400.0
    for nu, d in set(zip(dof, together)):
        if np.isfinite(nu):
            square = chi2.ppf(middle, d)
            weight = np.minimum(1.0, (nu + d) / (nu + grid[:, None] * square))
            share = np.mean(weight * square, axis=1) / np.mean(square)
            rows = (dof == nu) & (together == d)
            out[:, rows] = np.interp(seen[:, rows], grid, share)
    return out


def telling(share: np.ndarray, active: np.ndarray) -> np.ndarray:
    """(n, nr) bool: rows that tell a level.

    Where it makes up most of the variance, the quieter half of those rows: in the others, of
    impacts, the rest of the variance is large, and wrong.
    """
    most = active & (share > 0.5)
    if most.sum() < ENOUGH:
        return active & (share > LEAST_SHARE)
    return most & (share >= np.median(share[most]))


def shares(segment: WindowSegment, levels: Mapping[str, float]) -> np.ndarray:
    """(l, n, nr) share of each level in the variance of each row, `d log R / d log s^2`."""
    config = segment.config.updated({"noise": dict(levels)})
    problem = Problem(segment.robot, config, segment.optional, holds=True)

    def log_weights() -> np.ndarray:
        inputs = batch_inputs(problem, segment.measurements, segment.situation)[:-1]
        return np.array([_log_weights(problem, given) for given in inputs])

    before, out = log_weights(), []
    for name, level in levels.items():
        noise = replace(config.noise, **{name: level * np.exp(DIFFERENCE)})
        problem.use_noise(noise)
        out.append((before - log_weights()) / DIFFERENCE)
    return np.array(out)


def _log_weights(problem: Problem, given: "_core.NodeInput") -> np.ndarray:
    """(nr,) logarithms of the weights of a node's rows, zero where it has no reading."""
    rows = problem.measurements.rows
    weights = np.zeros(sum(s.stop - s.start for parts in rows.values() for s in parts))
    for name, parts in rows.items():
        for slot, part in enumerate(parts):
            weights[part] = _weight(given, name, slot)
    return np.log(weights, out=np.zeros_like(weights), where=weights > 0.0)


def _weight(given: "_core.NodeInput", name: str, slot: int) -> np.ndarray:
    if name == "force":
        return given.nominal_force
    if name == "contact":
        return given.nominal_xi
    return given.weight(name, slot)
