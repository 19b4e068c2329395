# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint parameters of a recording: losses, motor gains, encoder zeros, jointly with the inertia."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..errors import DataError
from ..evaluation.statistics import HALF_WIDTH_95
from ..inertia import from_theta
from ..mhe.joint_parameters import GAINS, MODEL_ERROR, ZEROS, JointBlock
from ..mhe.layout import block_diagonal
from ..mhe.problem import Problem
from ..mhe.window import Window
from .posterior import SHRUNK, fused
from .systematic import COMMON, scale_response

CONTRADICTION = 4.0  # standard deviations between two recordings
UNKNOWN_GAIN = 0.1  # of the mean of all gains, where the mass tells it
KNOWN_MASS_STDDEV = 0.005  # kg, of a mass that is said to be known: kitchen or luggage scales


@dataclass(frozen=True)
class JointQuantity:
    """Value of a joint parameter with its 95 % interval, beside the prior's.

    A quantity that is not observable has the prior's value and interval.
    """

    kind: str
    label: str
    unit: str
    value: float
    interval: tuple[float, float]
    prior: float
    prior_interval: tuple[float, float]
    observable: bool

    @property
    def stddev(self) -> float:
        """Half the width of the interval as a standard deviation."""
        return (self.interval[1] - self.interval[0]) / (2.0 * HALF_WIDTH_95)

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            **{k: getattr(self, k) for k in self.__dataclass_fields__},
            "interval": list(self.interval),
            "prior_interval": list(self.prior_interval),
            "stddev": self.stddev,
        }


@dataclass(frozen=True)
class JointPosterior:
    """Gaussian knowledge of joint parameters and inertia together, in their coordinates.

    Systematic errors are in it (`with_errors`), but for the mean of all gains, which is apart.

    Attributes:
        blocks: of the joint parameters.
        mean: (n,) of z = (theta, joint parameters). covariance: (n, n).
        by_mass: (n,) derivative of the estimated links' mass [kg]. mass: the robot's [kg].
        by_gain: (n,) derivative in the mean of all gains, which no motion tells.
        gain_stddev: what is known of that mean. scale_stddev: relative error of masses that are
            found with these joints, as by a factor on all torques.
        still: names of the joints that do not move: their priors are kept, but for zeros.
        lead: by which dry friction was found to turn before its joints [s].
    """

    blocks: tuple[JointBlock, ...]
    mean: np.ndarray
    covariance: np.ndarray
    by_mass: np.ndarray
    mass: float
    by_gain: np.ndarray
    gain_stddev: float
    scale_stddev: float
    still: tuple[str, ...] = ()
    lead: float = 0.0

    @property
    def total_covariance(self) -> np.ndarray:
        """(n, n) with the mean of all gains."""
        return self.covariance + self.gain_stddev**2 * np.outer(self.by_gain, self.by_gain)

    @staticmethod
    def of_window(window: Window) -> "JointPosterior | None":
        """Posterior of a solved window after `Window.posterior`; None: nothing is estimated."""
        problem, x = window.problem, window.xs[-1]
        if not problem.joints:
            return None
        mean = np.concatenate([problem.parameter(x, name) for name in _names(problem)])
        columns = _columns(problem)
        covariance = MODEL_ERROR**2 * window.solver.posterior(1)[np.ix_(columns, columns)]
        mass, by_mass = _mass(problem, x, len(mean))
        by_gain = np.zeros(len(mean))
        if any(b.name == GAINS for b in problem.joints):
            # were the mean of all gains larger, readings would count for less
            by_gain = -scale_response(window)[columns]
            by_gain[-_behind(problem.joints, GAINS)[0] :][: problem.nj] += 1.0
        spread = problem.config.noise.torque_scale
        told = mean, covariance, by_mass, mass, by_gain
        return JointPosterior(tuple(problem.joints), *told, spread, spread)

    def with_errors(self, window: Window, steps: dict[str, np.ndarray]) -> "JointPosterior":
        """The posterior with systematic errors: by cause, `systematic.responses` of the window."""
        columns = _columns(window.problem)
        errors = [step[columns] for cause, step in steps.items() if cause != COMMON]
        extra = sum((np.outer(e, e) for e in errors), np.zeros_like(self.covariance))
        return replace(self, covariance=self.covariance + extra)

    def of_mass(self, known: float) -> "JointPosterior":
        """The posterior of a robot whose total mass [kg] is known (a tare)."""
        others = np.sqrt(self.by_mass @ self.covariance @ self.by_mass + KNOWN_MASS_STDDEV**2)
        free = replace(self, gain_stddev=UNKNOWN_GAIN).total_covariance
        spread = free @ self.by_mass
        variance = float(self.by_mass @ spread) + KNOWN_MASS_STDDEV**2
        gain = spread / variance
        return replace(
            self,
            mean=self.mean + gain * (known - self.mass),
            covariance=free - np.outer(gain, spread),
            mass=known,
            gain_stddev=0.0,
            scale_stddev=float(others / abs(self.by_mass @ self.by_gain)),
        )

    def part(self, block: JointBlock) -> slice:
        """Where a block lies in z."""
        behind, size = _behind(self.blocks, block.name)
        first = len(self.mean) - behind
        return slice(first, first + size)

    def parameters(self, block: JointBlock) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of a block's parameters."""
        part = self.part(block)
        variance = np.diag(self.total_covariance)[part]
        return self.mean[part], np.sqrt(np.maximum(variance, 0.0))

    def quantities(self) -> list[JointQuantity]:
        """All joint parameters, as numbers with a unit."""
        return [q for block in self.blocks for q in self.of_block(block)]

    def of_block(self, block: JointBlock) -> list[JointQuantity]:
        """Those of one block."""
        mean, stddev = self.parameters(block)
        bounds = (0.0, -HALF_WIDTH_95, HALF_WIDTH_95)
        said = [block.values(mean + k * stddev)[0] for k in bounds]
        prior = [block.values(block.mean + k * block.stddev)[0] for k in bounds]
        out, d, still = [], block.declaration, self._still(block)
        for i, label in enumerate(block.labels):
            value, low, high = (float(v[i]) for v in said)
            before, least, most = (float(v[i]) for v in prior)
            observable = bool(high - low < SHRUNK * (most - least)) and i not in still
            own = (value, (low, high)) if observable else (before, (least, most))
            out.append(
                JointQuantity(d.name, label, d.unit, *own, before, (least, most), observable)
            )
        return out

    def _still(self, block: JointBlock) -> set[int]:
        """Parameters of which no joint moves. A zero is told by what the joint carries, too.

        A joint that sticks bears any torque up to its dry friction, so it tells no gain either.
        """
        if block.name == ZEROS or not self.still:
            return set()
        moving = {g for n, g in zip(block.joints, block.group) if n not in self.still}
        return set(range(len(block.labels))) - moving


def _names(problem: Problem) -> list[str]:
    return ["theta", *(b.name for b in problem.joints)]


def _columns(problem: Problem) -> np.ndarray:
    """Tangent columns of z."""
    return np.concatenate([np.r_[problem.columns(name)] for name in _names(problem)]).astype(int)


def _behind(blocks, name: str) -> tuple[int, int]:
    """Joint parameters from the begin of a block on, and its own."""
    sizes = {b.name: len(b.labels) for b in blocks}
    names = list(sizes)
    return sum(sizes[n] for n in names[names.index(name) :]), sizes[name]


def fuse_joints(posteriors: list[JointPosterior], names: list[str]) -> JointPosterior:
    """Joint parameters of several recordings of one robot; the prior counts once.

    As `fused` makes them of what posteriors are by noise alone: they are `MODEL_ERROR` wider, and
    so is the prior's part in them.

    Raises:
        DataError: two recordings contradict each other.
    """
    if len(posteriors) == 1:
        return posteriors[0]
    blocks = posteriors[0].blocks
    parts = [slice(len(p.mean) - sum(len(b.labels) for b in blocks), None) for p in posteriors]
    means = [p.mean[rows] for p, rows in zip(posteriors, parts)]
    covariances = [p.covariance[rows, rows] for p, rows in zip(posteriors, parts)]
    labels = [f"{b.declaration.label} of {label}" for b in blocks for label in b.labels]
    for i, k in combinations(range(len(means)), 2):
        stddev = np.sqrt(np.diag(covariances[i]) + np.diag(covariances[k]))
        distance = np.abs(means[i] - means[k]) / stddev
        if distance.max() > CONTRADICTION:
            which = labels[int(distance.argmax())]
            what = f"{names[i]} and {names[k]} contradict each other in the {which}"
            raise DataError(f"{what}. Another machine? Identify them one by one", names)
    prior_mean = np.concatenate([b.mean for b in blocks])
    root = block_diagonal([b.prior_root for b in blocks])
    mean, by_noise = fused(means, [c / MODEL_ERROR**2 for c in covariances], prior_mean, root)
    first = posteriors[0]
    by_gain = np.mean([p.by_gain[rows] for p, rows in zip(posteriors, parts)], axis=0)
    none = np.zeros(len(mean))
    told = mean, MODEL_ERROR**2 * by_noise, none, first.mass, by_gain
    scales = first.gain_stddev, first.scale_stddev
    still = tuple(n for n in first.still if all(n in p.still for p in posteriors))
    return JointPosterior(
        blocks, *told, *scales, still, float(np.mean([p.lead for p in posteriors]))
    )


def _mass(problem: Problem, x: np.ndarray, size: int) -> tuple[float, np.ndarray]:
    """Total mass [kg] of the robot at a state, and its derivative in z."""
    robot, by_mass = problem.robot, np.zeros(size)
    mass = robot.total_mass
    theta = problem.parameter(x, "theta")
    for i, link in enumerate(robot.estimated_links):
        rows = slice(10 * i, 10 * i + 10)
        pi, jacobian = from_theta(theta[rows], problem.config.estimator.manifold)
        mass += pi[0] - robot.model.inertias[robot.link_joint(link)].mass
        by_mass[rows] = jacobian[0]
    return float(mass), by_mass
