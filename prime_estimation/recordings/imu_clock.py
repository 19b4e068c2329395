# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""IMU clock: delay of the IMU's stamps against those of the joints, from standing feet."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..config.policies import IMU_CLOCK
from ..contact.foot_pairs import FootPairs
from ..contact.leg_forces import LegForces
from ..contact.sole_turns import SoleTurns
from ..mhe.imu_mount import ImuMount
from ..robot import GRAVITY, Robot
from ..types import Measurement


@dataclass(frozen=True)
class Lateness:
    """Delay of the stamps of a stream [s], and its standard deviation.

    `gain`: share of the weighted squares that it explains. `pairs`: number of pairs of feet, or of
    soles, used.
    """

    seconds: float
    stddev: float
    gain: float
    pairs: int


@dataclass(frozen=True)
class _Turn:
    """Joints and turning of the base over the step that ends at a measurement."""

    stamp_ns: int
    position: np.ndarray
    velocity: np.ndarray
    torque: np.ndarray | None
    rate: np.ndarray  # (3,) rad/s of the base, its axes
    force: np.ndarray  # (3,) m/s^2, base axes


class ImuClock:
    """Estimates the delay of the IMU's stamps while the robot walks.

    Two standing feet i, j do not move relative to each other: `s_i' - s_j' = 0` for their soles,
    with the rates of their legs and the angular velocity w of the base. A gyro that is late by d
    shows `w(t - d)`, so that

        (s_i' - s_j')(w_read) + d w_read' x (s_i - s_j) = 0

    is linear in d. Pairs that move (swings, impacts, slip) are outliers: weights
    `(1 + |e|^2/slip^2)^-2`, iterated.

    A robot on two soles seldom stands on both. A standing sole i does not turn: with its angular
    velocity w_i against the base

        l (w_i + w_read + d w_read') = 0

    counts as the motion of a pair, for which it is multiplied by a length l, `IMU_CLOCK.sole`.

    Args:
        robot: with legs and an IMU.

    Attributes:
        late_ns: delay found so far, which is subtracted from the stamps [ns].
    """

    def __init__(self, robot: Robot):
        self._pairs, self._mount = FootPairs(robot, LegForces(robot)), ImuMount(robot)
        self._soles = SoleTurns(robot)
        self.late_ns = 0
        self.reset()

    @classmethod
    def of(cls, robot: Robot) -> ImuClock | None:
        """For robots that can tell: two feet and an IMU on a floating base."""
        floating = robot.config.floating_base and robot.imu_joint is not None
        return cls(robot) if floating and len(robot.feet) > 1 else None

    def reset(self) -> None:
        """Forget what was seen; what has been found stays."""
        self._turns: deque[_Turn] = deque(maxlen=3)
        self._rows: deque[np.ndarray] = deque(maxlen=IMU_CLOCK.nodes)
        self._seen = self._agreed = 0

    def learn(self, m: Measurement) -> int:
        """Look at the next measurement: by how much more its stamps turn out to be late [ns]."""
        turn = self._turn(m)
        if turn is None:
            self._turns.clear()
            return 0
        self._turns.append(turn)
        if len(self._turns) < 3:
            return 0
        self._rows.append(self._compare(*self._turns))
        self._seen += 1
        if self._seen % IMU_CLOCK.every:
            return 0
        late = self.lateness()
        told = late is not None and self._tells(late) and self._lasts(late)
        self._agreed = self._agreed + 1 if told else 0
        if self._agreed < IMU_CLOCK.looks:
            return 0
        found = round(1e9 * late.seconds)
        self.late_ns += found
        self.reset()
        return found

    def lateness(self, part: slice = slice(None), least: int = IMU_CLOCK.pairs) -> Lateness | None:
        """What the newest measurements tell; None where fewer than `least` pairs of feet stood.

        Args:
            part: of these measurements.
            least: of all of them.
        """
        rows = list(self._rows)[part]
        count = sum(row.shape[1] for row in rows)
        if count < least:
            return None
        (moved, mixed, by_delay), d = np.concatenate(rows, axis=1), 0.0
        for _ in range(IMU_CLOCK.iterations):
            square = moved + d * (2.0 * mixed + d * by_delay)
            weight = 1.0 / (1.0 + square / IMU_CLOCK.slip**2) ** 2
            information = weight @ by_delay
            if information <= 0.0:
                return None
            d = -(weight @ mixed) / information
        before = weight @ moved
        left = before - d**2 * information
        variance = left / (3.0 * weight.sum()) / information
        return Lateness(float(d), float(np.sqrt(variance)), float(1.0 - left / before), count)

    def _tells(self, late: Lateness) -> bool:
        """Whether it is worth taking off: certain, and more than the residuals' other causes."""
        size = abs(late.seconds)
        if size < IMU_CLOCK.certain * late.stddev or size > IMU_CLOCK.most:
            return False
        if self.late_ns:  # what is left of one that is known
            return size > IMU_CLOCK.rest and len(self._rows) == IMU_CLOCK.nodes
        return size > IMU_CLOCK.least and late.gain > IMU_CLOCK.gain

    def _lasts(self, late: Lateness) -> bool:
        """Both halves of what was seen tell it: feet that sink where they land do not."""
        half = len(self._rows) // 2
        parts = slice(half), slice(half, None)
        told = [self.lateness(part, IMU_CLOCK.pairs // 2) for part in parts]
        return all(
            part is not None
            and abs(part.seconds - late.seconds) < IMU_CLOCK.alike * abs(late.seconds)
            and (self.late_ns or part.gain > IMU_CLOCK.gain)
            for part in told
        )

    def _turn(self, m: Measurement) -> _Turn | None:
        seen = (m.position, m.velocity, m.gyro, m.accelerometer)
        if any(value is None for value in seen) or m.imu_dead is not None:
            return None
        base_M_imu, moved = self._mount.motion(m.position, m.velocity)
        R = base_M_imu.rotation
        rate, force = R @ (m.gyro - moved.angular), R @ m.accelerometer
        if not math.hypot(*force) > IMU_CLOCK.felt * GRAVITY:
            return None
        return _Turn(m.stamp_ns, m.position, m.velocity, m.torque, rate, force)

    def _compare(self, before: _Turn, now: _Turn, after: _Turn) -> np.ndarray:
        """Of the feet that stand, by pair or sole: squares (3, n) of their motion.

        With e the motion [m/s] and g its derivative by the delay: e^T e, e^T g, g^T g.
        """
        seconds = 1e-9 * (now.stamp_ns - before.stamp_ns)
        if after.stamp_ns - now.stamp_ns != now.stamp_ns - before.stamp_ns:
            return np.zeros((3, 0))
        up = now.force / math.hypot(*now.force)
        world_quat_base = pin.Quaternion.FromTwoVectors(up, np.array([0.0, 0.0, 1.0]))
        read = now.position, now.velocity, now.torque
        feet = self._pairs.soles(*read, seconds, world_quat_base, now.rate)
        change = (after.rate - before.rate) / (2.0 * seconds)
        if self._soles.known:
            moved, by_delay = self._turning(now, feet[2], change, seconds)
        else:
            moved, apart = self._pairs.apart(*feet)
            by_delay = np.cross(world_quat_base.toRotationMatrix() @ change, apart)
        good = (moved**2).sum(axis=1) < IMU_CLOCK.fastest**2
        moved, by_delay = moved[good], by_delay[good]
        products = moved * moved, moved * by_delay, by_delay * by_delay
        return np.stack([product.sum(axis=1) for product in products])

    def _turning(
        self, now: _Turn, normal: np.ndarray, change: np.ndarray, seconds: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Turns (n, 3) of soles that stand, as motions [m/s], and their derivatives by the delay.

        Args:
            now: joints and turning of the base.
            normal: (nf,) forces [N].
            change: (3,) of the base's angular velocity, base axes [rad/s2].
            seconds: of the step over which rates are means.
        """
        middle = now.position - 0.5 * seconds * now.velocity
        turns = self._soles.against_base(middle, now.velocity) + now.rate
        moved = IMU_CLOCK.sole * turns[self._pairs.standing(normal)]
        return moved, np.broadcast_to(IMU_CLOCK.sole * change, moved.shape)
