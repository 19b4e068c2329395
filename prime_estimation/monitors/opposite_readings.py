# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Opposite readings: a gyro of the opposite sign, joints of left and right legs exchanged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..config.policies import IMU_AXES, OPPOSITE
from ..contact.foot_pairs import FootPairs
from ..contact.leg_forces import LegForces
from ..contact.points import contact_points
from ..contact.sole_turns import SoleTurns
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY, Robot
from ..types import Measurement, SensorHealth
from ..types.arrays import finite
from .monitor import Monitor
from .stance_motion import MOTION


@dataclass(frozen=True)
class Mistake:
    """What may be wrong: `sign` of the gyro, feet (nf,) whose legs' readings are the others'."""

    said: str
    sign: float
    exchanged: np.ndarray


class OppositeReadings(Monitor):
    """Compares how standing feet move against one another as read, and if readings were mistaken.

    With the soles s and rates s' of two standing feet in the base, and its angular velocity w,

        e = s_i' - s_j' + w x (s_i - s_j),   loss e^2 / (e^2 + slip^2)

    is small for what was read, and not with -w, or with legs exchanged. A sole of a humanoid that
    stands does not turn either: with its angular velocity w_i against the base, `e = w_i + w` tells
    the gyro's sign on one foot. Where the loss of a mistake is smaller, in the mean over nodes that
    tell the two apart, readings are mistaken. A start batch finds some motion for either. Needs
    torques, which tell the feet that stand.

    Args:
        problem: whose robot has legs and an IMU.

    Attributes:
        mistake: what is found to be wrong; None: nothing.
    """

    def __init__(self, problem: Problem):
        self.problem, robot = problem, problem.robot
        able = problem.legs is not None and problem.has_imu and len(robot.feet) > 1
        self._pairs = FootPairs(robot, LegForces(robot)) if able else None
        self._order, self._mistakes = _mistakes(robot, self._pairs) if able else (None, ())
        self._weight = robot.total_mass * GRAVITY
        self._soles = SoleTurns(robot)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.mistake: Mistake | None = None
        # sums of differences of losses, and their number, by mistake
        self._worse, self._told = np.zeros((2, len(self._mistakes)))
        self._open = list(range(len(self._mistakes)))  # those that are not known not to be
        self._looks = OPPOSITE.nodes if self._mistakes else 0

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Look at the next measurement, until nothing is found to be wrong."""
        if not self._looks or m.torque is None or m.gyro is None:
            return situation
        turns = math.hypot(*m.gyro.tolist()) > IMU_AXES.turns
        if turns and finite(m.gyro, m.position, m.velocity, m.torque):
            self._looks -= self.mistake is None
            self._compare(m)
            self._decide()
        return situation

    def _compare(self, m: Measurement) -> None:
        base_M_imu, swings = self.problem.mount.motion(m.position, m.velocity)
        rate, own = base_M_imu.rotation @ m.gyro, base_M_imu.rotation @ swings.angular
        read = self._feet(m, slice(None))
        if self._soles.known and 0 in self._open:
            turns = read[2], self._soles.against_base(m.position, m.velocity)
            self._learn(0, self._turning(*turns, rate - own), self._turning(*turns, -rate - own))
        as_read = self._loss(*read, rate - own)
        by_pairs = [k for k in self._open if k > 0 or not self._soles.known]
        if math.isnan(as_read) or not by_pairs:
            return
        others = self._feet(m, self._order)
        for k in by_pairs:
            mistake = self._mistakes[k]
            feet = [np.where(mistake.exchanged, b.T, a.T).T for a, b in zip(read, others)]
            self._learn(k, as_read, self._loss(*feet, mistake.sign * rate - own))

    def _learn(self, k: int, as_read: float, loss: float) -> None:
        """Losses of what was read, and of mistake k: nothing if both can be, or none."""
        if min(loss, as_read) < 0.5 < max(loss, as_read):
            kept = 1.0 - 1.0 / OPPOSITE.memory
            self._worse[k] = kept * self._worse[k] + loss - as_read
            self._told[k] = kept * self._told[k] + 1.0

    def _feet(self, m: Measurement, order) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Soles (nf, 3), their rates, and normal forces (nf,), base axes, of joints in an order."""
        position, velocity, torque = m.position[order], m.velocity[order], m.torque[order]
        return self._pairs.soles(position, velocity, torque, self.problem.dt)

    def _loss(self, soles, rates, normal, rate: np.ndarray) -> float:
        """Of the two standing feet that move least against each other; NaN: there are none."""
        moved, apart = self._pairs.apart(soles, rates, normal)
        if not len(moved):
            return math.nan
        errors = moved + np.cross(rate, apart)
        square = float(np.sum(errors * errors, axis=1).min())
        return square / (square + OPPOSITE.slip**2)

    def _turning(self, normal: np.ndarray, turns: np.ndarray, rate: np.ndarray) -> float:
        """Loss of the standing sole that turns least; NaN: none stands."""
        squares = np.sum((turns + rate) ** 2, axis=1)[normal >= OPPOSITE.sole * self._weight]
        square = float(squares.min()) if len(squares) else math.nan
        return square / (square + OPPOSITE.turn**2)

    def _decide(self) -> None:
        known = self._told >= OPPOSITE.told
        mean = np.where(known, self._worse / np.maximum(self._told, 1.0), 0.0)
        if self.mistake is not None:
            again = mean[self._mistakes.index(self.mistake)] < 0.0
            self.mistake = self.mistake if again else None
        elif mean.min() < -OPPOSITE.margin:
            self.mistake = self._mistakes[int(mean.argmin())]
        else:
            self._open = [k for k in self._open if mean[k] < OPPOSITE.margin]
            self._looks *= bool(self._open)

    @property
    def said(self) -> str:
        """What is wrong; empty when nothing is."""
        if self.mistake is None:
            return ""
        return f"{self.mistake.said}: feet that stand would move against one another otherwise"

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says what is wrong."""
        return (SensorHealth(MOTION, False, self.said),) if self.mistake else ()


def _mistakes(robot: Robot, pairs: FootPairs) -> tuple[np.ndarray, tuple[Mistake, ...]]:
    """Order (nj,) of joints with left and right legs exchanged, and what may be wrong."""
    nobody = np.zeros(len(robot.feet), dtype=bool)
    gyro = Mistake("the gyro has the opposite sign", -1.0, nobody)
    order, found = np.arange(robot.nj), []
    for left, right, own, others in _sides(robot, pairs):
        order[own], order[others] = others, own
        which = nobody.copy()
        which[[left, right]] = True
        found.append((f"{robot.feet[left]} and {robot.feet[right]}", which))
    if len(found) > 1:
        both = np.any([which for _, which in found], axis=0)
        found.append((", ".join(names for names, _ in found), both))
    told = [Mistake(f"the legs of {names} are exchanged", 1.0, which) for names, which in found]
    return order, (gyro, *told)


def _sides(robot: Robot, pairs: FootPairs) -> list[tuple[int, int, list[int], list[int]]]:
    """Feet left and right of each other, and the joints of their legs, from the trunk outwards."""
    model, count = robot.model, len(robot.feet)
    at_rest = np.zeros(robot.nj)
    soles, out = pairs.soles(at_rest, at_rest, None, 0.0)[0], []
    joint = [next(c.joint for c in contact_points(robot) if c.foot == f) for f in range(count)]
    for pair in combinations(range(count), 2):
        left, right = sorted(pair, key=lambda foot: -soles[foot][1])
        across = soles[left][1] - soles[right][1]
        away = soles[left] * [1.0, -1.0, 1.0] - soles[right]
        if not np.linalg.norm(away) < OPPOSITE.mirrored * across:
            continue
        own, others = (
            [model.joints[j].idx_v - (model.nv - robot.nj) for j in robot.joints_to(joint[foot])]
            for foot in (left, right)
        )
        if len(own) == len(others) and not set(own) & set(others):
            out.append((left, right, own, others))
    return out
