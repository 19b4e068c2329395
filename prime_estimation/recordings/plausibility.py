# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Plausibility of readings before any estimate: units, order of joints, axes, clocks."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pinocchio as pin

from ..robot import GRAVITY, Robot
from ..types import ImuSample, JointSample, Sample

EVERY_NS = 15_000_000  # least time between two readings that are looked at,
NEWEST, FEWEST = 64, 16  # of which the newest ones count, about a second, and so many are needed
AGAIN = 8  # readings from one look to the next
# rad beyond its range at which a joint stays: stops give way by less (recorded falls and real
# robots reach 0.11 for an instant, and stay 0.2 within), joints in another order stay 0.6 to 1.8
# beyond theirs
BEYOND = 0.25
# of gravity that a robot feels in the mean of a second, whatever it does: a hop that flies half the
# time feels all of it. In g it reads 0.1, without gravity a trotting Go2 0.3
LEAST_FELT, MOST_FELT = 0.4, 3.0
# m/s^2 as which all beyond counts: one glitch turns the mean by 12 degrees at most
IMPACT = 100.0
# rad/s in the median of a second: a recorded fall that rolls over turns with 11, a gyro in
# degrees/s reads 39 on a trotting Go2 (a calmer one does not fit: policy/contradictions.py)
FASTEST_TURN = 18.0
# rad between up as the IMU's orientation has it and as it is felt, over a second: a robot that
# speeds up at half of gravity all the time shows as much, a wrong order or convention turns by more
UP_APART = 0.5
MOVES = 0.2  # rad that a joint goes within a second, on a robot whose IMU feels it
# readings of all joints, 0.5 s, that are the same while the base turns by this rate [rad/s] in the
# median: no robot on its legs turns so without moving one of them
STOPPED, TURNS = 32, 0.4
APART_NS = 50_000_000  # by which joints and IMU may be apart: as long as the nodes wait


class Plausibility:
    """Looks at the newest readings of joints and IMU, and names what they cannot be.

    Args:
        robot: whose readings these are.
    """

    def __init__(self, robot: Robot):
        self._names, self._turning = robot.joint_names, robot.turning
        self._base_R_imu = None if robot.imu_joint is None else robot.imu_placement.rotation
        self._lower, self._upper = robot.joint_range
        if not robot.config.floating_base:  # a pendulum may turn as far as it likes
            self._lower, self._upper = (np.full(robot.nj, x) for x in (-np.inf, np.inf))
        self.reset()

    def reset(self) -> None:
        """Forget all readings."""
        self._joints: deque[np.ndarray] = deque(maxlen=NEWEST)
        self._imu: deque[np.ndarray] = deque(maxlen=NEWEST)
        self._seen_ns: dict[type, int] = {}
        self._newest_ns: dict[type, int] = {}
        self._fresh, self._doubts = 0, ("", "")

    def take(self, sample: Sample) -> None:
        """Look at a reading, whether it is used or not."""
        kind, stamp = type(sample), sample.stamp_ns
        if kind not in (JointSample, ImuSample):
            return
        self._newest_ns[kind] = stamp
        if abs(stamp - self._seen_ns.get(kind, stamp - EVERY_NS)) < EVERY_NS:
            return
        self._seen_ns[kind] = stamp
        if kind is ImuSample:
            self._keep(self._imu, felt(sample))
        elif sample.position is not None and np.isfinite(sample.position).all():
            self._keep(self._joints, np.array(sample.position, float))

    def _keep(self, rows: deque[np.ndarray], row: np.ndarray) -> None:
        if math.isfinite(row[0]):
            rows.append(row)
            self._fresh += 1

    @property
    def doubts(self) -> list[str]:
        """What the newest readings cannot be, in words; empty when nothing speaks against them."""
        if self._fresh >= AGAIN:
            self._fresh = 0
            joints, imu = np.array(self._joints), np.array(self._imu)
            of_imu = (_dead(joints, imu) or self._of_imu(imu)) if len(imu) >= FEWEST else ""
            of_joints = self._of_joints(joints) if len(joints) >= FEWEST else ""
            self._doubts = of_joints or ("" if of_imu else _stopped(joints, imu)), of_imu
        return [doubt for doubt in self._doubts if doubt]

    @property
    def hints(self) -> list[str]:
        """The same, and what may be right but seldom is: for words, not for decisions."""
        out = list(self.doubts)
        if len(self._imu) >= FEWEST and self._base_R_imu is not None:
            up = self._base_R_imu @ np.array(self._imu)[:, 2:5].mean(axis=0)
            if up[2] < -0.5 * GRAVITY:
                told = "by its accelerometer the robot lies on its back"
                out.append(f"{told}: at rest it must read +{GRAVITY:.2f} m/s^2 upwards")
        return out

    @property
    def apart(self) -> str:
        """That joints and IMU have no time in common; empty when they have, or one is missing."""
        if len(self._newest_ns) < 2:
            return ""
        late = self._newest_ns[ImuSample] - self._newest_ns[JointSample]
        if abs(late) <= APART_NS:
            return ""
        seconds = 1e-9 * abs(late)
        by = f"{seconds:.4g} s" if seconds >= 1.0 else f"{1e3 * seconds:.0f} ms"
        side = "before" if late > 0 else "after"
        most = f"{1e-6 * APART_NS:.0f} ms"
        return (
            f"joints are stamped {by} {side} the IMU, and nodes wait {most} at most: "
            f"stamp both by one clock, when they are measured"
        )

    def _of_joints(self, position: np.ndarray) -> str:
        """What positions (n, nj) say against themselves."""
        middle = np.median(position, axis=0)
        beyond = np.maximum(self._lower - middle, middle - self._upper)
        worst, turns = int(np.argmax(beyond)), np.delete(np.abs(middle), self._turning)
        if not beyond[worst] > BEYOND:
            return ""
        if turns.max() > 2.0 * math.pi:
            far = f"joint positions reach {turns.max():.0f} rad, more than a turn"
            return f"{far}: are they in degrees? Radians are needed"
        stands = f"{self._names[worst]} stands at {middle[worst]:.2f} rad"
        limits = f"its range of {self._lower[worst]:.2f} to {self._upper[worst]:.2f} rad"
        others = int((beyond > BEYOND).sum()) - 1
        also = f", {others} more beyond theirs" if others else ""
        return (
            f"{stands}, beyond {limits}{also}: is the order of the joints right, and their zeros?"
        )

    def _of_imu(self, rows: np.ndarray) -> str:
        """What rows (n, 8) of an IMU say against themselves; the first that is wrong."""
        rate, force = float(np.median(rows[:, 0])), float(rows[:, 1].mean())
        if doubt := no_specific_force(force):
            return doubt
        if rate > FASTEST_TURN:
            return f"the gyro reads {rate:.0f} rad/s in the median: is it in degrees/s?"
        up = rows[:, 5:].mean(axis=0)
        if not np.isfinite(up).all():
            return ""
        angle = math.atan2(math.hypot(up[0], up[1]), up[2])
        if angle < UP_APART:
            return ""
        told = (
            f"the IMU's orientation and accelerometer differ by {math.degrees(angle):.0f} degrees"
        )
        return f"{told} in where up is: order of its quaternion (x, y, z, w), axes, world (z up)?"


def _dead(joints: np.ndarray, imu: np.ndarray) -> str:
    """That an IMU (n, 8) says the same, to the last digit, while joints (m, nj) move."""
    full = min(len(joints), len(imu)) == NEWEST
    if not full or np.ptp(imu[:, :5], axis=0).any() or np.ptp(joints, axis=0).max() < MOVES:
        return ""
    return f"the IMU has said the same for {NEWEST} readings while joints move: is it dead?"


def _stopped(joints: np.ndarray, imu: np.ndarray) -> str:
    """That all joints (m, nj) say the same, to the last digit, while the IMU (n, 8) turns."""
    joints, imu = joints[-STOPPED:], imu[-STOPPED:]
    full = min(len(joints), len(imu)) == STOPPED
    if not full or np.ptp(joints, axis=0).any() or np.median(imu[:, 0]) < TURNS:
        return ""
    told = f"the joints have said the same for {STOPPED} readings while the IMU turns"
    return f"{told}: do they live?"


def no_specific_force(mean: float) -> str:
    """What the mean size of a specific force [m/s^2] over a second and more cannot be, or empty."""
    if LEAST_FELT * GRAVITY <= mean <= MOST_FELT * GRAVITY:
        return ""
    told = f"the accelerometer reads {mean:.3g} m/s^2 in the mean, gravity is {GRAVITY:.2f}"
    unit = "is it in g?" if 0.8 < mean < 1.2 else "is gravity taken out, or the unit wrong?"
    return f"{told}: {unit} Specific force in m/s^2 is needed"


def felt(sample: ImuSample) -> np.ndarray:
    """What is looked at of an IMU (8,); NaN where a value is not finite or not there.

    Norms of rate and force, the force in axes of the IMU, and in those of its orientation's world.
    """
    rate, force, quat = sample.angular_velocity, sample.linear_acceleration, sample.quat_world_imu
    norms = math.hypot(*rate), math.hypot(*force)
    if not all(map(math.isfinite, norms)):
        return np.full(8, np.nan)
    force = np.array(force, float) * min(1.0, IMPACT / max(norms[1], 1e-9))
    world = np.full(3, np.nan)
    if quat is not None and abs(float(np.dot(quat, quat)) - 1.0) < 0.2:
        world = pin.Quaternion(np.array(quat, float)).normalized() * force
    return np.array([norms[0], min(norms[1], IMPACT), *force, *world])
