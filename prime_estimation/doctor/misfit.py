# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Misfit between a recording and the mechanics of its robot, in figures that can be compared."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, fields

import numpy as np
from scipy.ndimage import minimum_filter1d

from ..robot import GRAVITY
from .legs import Legs, Motion
from .signals import STEP, Signals

_LOADED = 0.25  # share of a foot's mean load above which it stands
_LIFTED = 0.025  # m above the lowest foot: it swings
_LOW = 0.015  # m: feet that probably stand are no further above the lowest one
_NEAR = 0.03  # m: standing feet are no further above the lowest one
_STEPS = 6  # of the grid, over which velocity by a foot and by the IMU are compared
_TOGETHER = 0.1  # m/s: feet whose implied velocities of the base differ less may both stand
_SETTLED = 0.03  # s after landing and before lifting that are left out
_TOLERANCE = 0.1  # rad beyond a joint's limits that zeros may be off
_TRIMMED = 0.8  # share of the samples that count: a robot also lies, falls and is lifted
_PAIRS = 20  # of standing feet, fewer tell nothing


def _figure(floor: float, worst: float):
    """A misfit: below `floor` a smaller one is no better, `worst` stands for nothing seen."""
    return field(default=float("nan"), metadata=dict(floor=floor, worst=worst))


@dataclass(frozen=True)
class Misfit:
    """Robust rms misfits; NaN: not to be had.

    Attributes:
        force, moment: of what motion and IMU ask for and the feet do not give, as shares of the
            weight (a common factor of the forces left out), and of weight times leg length.
        swing: median force on feet in the air, as a share of a foot's mean load.
        slip: difference of the base velocities that two standing feet imply [m/s].
        level: difference of the heights of two standing feet [m].
        alone: share of low feet that agree with no other one, where nothing else tells which stand.
        tilt: mean angle of the base to the vertical, in that case [rad].
        carried: difference of the changes of velocity that low feet and IMU tell, then [m/s].
        beyond: share of the joint positions that are beyond the limits of the URDF.
    """

    force: float = _figure(0.02, 2.0)
    moment: float = _figure(0.01, 1.0)
    swing: float = _figure(0.05, 2.0)
    slip: float = _figure(0.01, 0.5)
    level: float = _figure(0.005, 0.2)
    alone: float = _figure(0.05, 1.0)
    tilt: float = _figure(0.5, 3.0)
    carried: float = _figure(0.01, 0.5)
    beyond: float = _figure(0.02, 1.0)

    def gain(self, other: "Misfit", figures: tuple[str, ...] = ()) -> float:
        """Log of the factor by which `other` fits better, in all figures or the given ones."""
        total = 0.0
        for f in fields(self):
            if figures and f.name not in figures:
                continue
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if np.isnan(mine):  # what there was nothing to measure with cannot get better
                continue
            if np.isnan(theirs):  # and what is lost is no better than what there was
                theirs = max(f.metadata["worst"], mine)
            floor = f.metadata["floor"]
            total += np.log(max(mine, floor) / max(theirs, floor))
        return float(total)

    def to_dict(self) -> dict[str, float]:
        """Plain values."""
        return {f.name: float(getattr(self, f.name)) for f in fields(self)}


def misfit(legs: Legs, signals: Signals, rows: np.ndarray) -> Misfit:
    """Misfit of signals at some rows."""
    motion = legs.at(signals, rows)
    beyond = _beyond(legs, signals, rows)
    if signals.torque is None and signals.standing is None:
        later = np.clip(rows + _STEPS, 0, len(signals.t) - 1)
        return _kinematics(motion, legs.at(signals, later), beyond)
    slips, levels = _pairs(motion, standing(legs, signals, motion, rows))
    figures = {"slip": _trimmed(slips), "level": _trimmed(levels), "beyond": beyond}
    if signals.torque is not None:
        figures.update(_dynamics(legs, motion, legs.robot.total_mass * GRAVITY))
    return Misfit(**figures)


def _beyond(legs: Legs, signals: Signals, rows: np.ndarray) -> float:
    """Share of the joint positions that are beyond the limits of the URDF."""
    low, high = legs.robot.joint_range
    position = signals.position[rows]
    return float(((position < low - _TOLERANCE) | (position > high + _TOLERANCE)).mean())


def _kinematics(motion: Motion, later: Motion, beyond: float) -> Misfit:
    """Where nothing tells which feet stand: each low foot with the one that agrees best with it.

    And with the IMU: the base's velocity by a standing foot changes as the specific force says.
    """
    low = motion.height < _LOW
    count = low.shape[1]
    apart = np.full((*low.shape, count), np.inf)
    for i, j in itertools.permutations(range(count), 2):
        both = low[:, i] & low[:, j]
        distance = np.linalg.norm(motion.speed[both, i] - motion.speed[both, j], axis=1)
        apart[both, i, j] = distance
    nearest = apart.min(axis=2)
    together = nearest[np.isfinite(nearest)]
    share = len(together) / max(1, low.sum())
    alone = 1.0 - share * float((together < _TOGETHER).mean()) if len(together) else 1.0
    tilt = float(np.arccos(np.clip(motion.up.mean(axis=0)[2], -1.0, 1.0)))
    return Misfit(
        slip=_trimmed(together),
        alone=alone,
        tilt=tilt,
        carried=_trimmed(_carried(motion, later)),
        beyond=beyond,
    )


def _carried(motion: Motion, later: Motion) -> np.ndarray:
    """Difference of the changes of velocity that a low foot and the IMU tell [m/s]."""

    def change(m: Motion) -> np.ndarray:
        return (m.force - GRAVITY * m.up)[:, None, :] + np.cross(m.rate[:, None, :], m.speed)

    felt = 0.5 * STEP * _STEPS * (change(motion) + change(later))
    low = (motion.height < _LOW) & (later.height < _LOW)
    return np.linalg.norm(motion.speed - later.speed - felt, axis=2)[low]


def standing(
    legs: Legs, signals: Signals, motion: Motion, rows: np.ndarray, settled: float = _SETTLED
) -> np.ndarray:
    """(n, nf) feet that stand, those about to land or lift left out.

    By their load where there are torques, else by the recording's own flags, else those that are
    low and imply one velocity of the base.

    Args:
        legs: mechanics of the robot.
        signals: where its torques and flags are.
        motion: at `rows`.
        rows: instants.
        settled: time after landing and before lifting that is left out [s].
    """
    low = motion.height < _NEAR
    if signals.torque is not None:
        weight = legs.robot.total_mass * GRAVITY
        load = np.einsum("nfk,nk->nf", motion.load, motion.up)
        found = load > _LOADED * weight / load.shape[1]
    elif signals.standing is not None:
        found = signals.standing[rows]
    else:
        found = np.zeros(low.shape, bool)
        for i, j in itertools.combinations(range(low.shape[1]), 2):
            apart = np.linalg.norm(motion.speed[:, i] - motion.speed[:, j], axis=1)
            both = (apart < _TOGETHER) & low[:, i] & low[:, j]
            found[:, i] |= both
            found[:, j] |= both
    if len(rows) < 2:
        return found
    spacing = float(np.median(np.diff(rows))) * STEP
    width = 2 * max(1, round(settled / spacing)) + 1
    return minimum_filter1d(found.astype(np.uint8), width, axis=0).astype(bool)


def _pairs(motion: Motion, stands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Differences of velocity and of height of every two feet that stand together."""
    z = np.einsum("nfk,nk->nf", motion.point, motion.up)
    slips, levels = [], []
    for i, j in itertools.combinations(range(stands.shape[1]), 2):
        both = stands[:, i] & stands[:, j]
        slips.append(np.linalg.norm(motion.speed[both, i] - motion.speed[both, j], axis=1))
        levels.append(np.abs(z[both, i] - z[both, j]))
    return np.concatenate(slips), np.concatenate(levels)


def _dynamics(legs: Legs, motion: Motion, weight: float) -> dict[str, float]:
    reach = float(np.median(np.linalg.norm(motion.point, axis=2)))
    given = motion.needed[:, :3] - motion.residual[:, :3]
    asked = motion.needed[:, :3]
    # a payload, or a wrong gain of all torques, is a finding of its own
    factor = np.clip((given * asked).sum() / max((asked**2).sum(), 1e-9), 0.6, 1.6)
    force = np.linalg.norm(given - factor * asked, axis=1) / weight
    moment = np.linalg.norm(motion.residual[:, 3:], axis=1) / (weight * reach)
    swinging = legs.lifted(motion, _LIFTED)
    loads = np.linalg.norm(motion.load[swinging], axis=1) / (weight / len(legs.feet))
    return {
        "force": _trimmed(force),
        "moment": _trimmed(moment),
        "swing": float(np.median(loads)) if len(loads) >= _PAIRS else float("nan"),
    }


def _trimmed(values: np.ndarray) -> float:
    """Root mean square of the smaller `_TRIMMED` share."""
    if len(values) < _PAIRS:
        return float("nan")
    kept = np.sort(values**2)[: max(1, int(_TRIMMED * len(values)))]
    return float(np.sqrt(kept.mean()))
