# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stuck motion capture poses: they stay where they are while the robot moves on.

A tracker that has lost its body repeats the last pose, exactly or with the noise of its filter. In
each node such a pose is near the estimate, which follows it. The IMU reveals it: with `s` the
double integral of the specific force without gravity, `p(t) - s(t)` is a straight line in time for
true positions p, whatever the velocity of the robot.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio as pin

from .mocap_mount import NAME, MocapMount
from .past_poses import base_pose, pose_before
from .stray_poses import REACH, SPEED
from .tracker import EstimationProblem, SlidingWindow

MOVING = 0.05  # m/s, rad/s: a robot that moves faster never has two exactly equal poses
SPAN_NS, REST_NS = 500_000_000, 80_000_000  # of the comparison; of it the pose rests at the end
REST = 0.03  # m/s of a pose that rests
BENT = 0.005  # m: rms of p(t) - s(t) about a straight line due to a bias of 0.5 m/s^2,
STDDEV = 3.0  # and standard deviations of a pose, of its velocity at rest, and of s
KINK = 0.072 * 0.5  # s: rms of a line about a straight one, by its change of slope half way
FEWEST = 3  # poses that determine a velocity
NEAR, APART = 0.02, 0.5  # m, share by which equal paths of poses and robot in SPAN_NS may differ
PLACE = 0.05  # m by which poses and robot may have moved apart, when both are at rest


@dataclass(frozen=True)
class Seen:
    """A pose, the first state that is not older, and the time between them [s]."""

    problem: EstimationProblem
    stamp_ns: int
    place: list[float]
    x: np.ndarray
    age: float

    @cached_property
    def base(self) -> pin.SE3:
        """Estimated pose of the base at the time of the pose."""
        late = self.age + MocapMount.of(self.problem, self.x).delay
        return pose_before(self.problem, self.x, late)

    @cached_property
    def imu(self) -> np.ndarray:
        """Position of the IMU according to the pose (3,) [m]."""
        lever = self.problem.imu_motion(self.x)[0].translation
        return self.base.rotation @ lever + self.place


@dataclass(frozen=True)
class Felt:
    """Specific force at a node [m/s^2], IMU axes, its standard deviation, and the node's state."""

    problem: EstimationProblem
    stamp_ns: int
    force: np.ndarray
    stddev: float
    x: np.ndarray

    @cached_property
    def acceleration(self) -> np.ndarray:
        """Of the IMU in the world (3,) [m/s^2]."""
        problem, x = self.problem, self.x
        turn = base_pose(problem, x).rotation @ problem.imu_motion(x)[0].rotation
        own = self.force - problem.layout.part(x, "accelerometer_bias")
        return turn @ own + problem.robot.model.gravity.linear


class StuckPoses:
    """Compares the path of the poses with that of the IMU.

    Poses are stuck from the time at which they rest although the IMU shows that the robot does not,
    until they move as far as the robot again. Stuck poses that have already been used are withdrawn
    from the window.

    Args:
        problem: whose window takes the poses.
    """

    def __init__(self, problem: EstimationProblem):
        self.problem = problem
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: the window begins anew."""
        self.stuck = False
        self._last: tuple[bytes, bytes] | None = None
        self._seen: deque[Seen] = deque()
        self._felt: deque[Felt] = deque()
        self._apart = np.zeros(3)  # from robot to poses, before they were stuck

    def repeats(self, sample, window: SlidingWindow) -> bool:
        """Whether a pose is the one before it to the last bit, of a robot that moves."""
        pose = sample.position_world.tobytes(), sample.quat_world_body.tobytes()
        same, self._last = pose == self._last, pose
        if not same:
            return False
        return bool(np.abs(self.problem.layout.v(window.xs[-1])[:6]).max() > MOVING)

    def holds(self, sample, window: SlidingWindow, x: np.ndarray, age: float, fits: bool) -> bool:
        """Whether a pose is stuck, in a window that has just moved and is not solved yet.

        Args:
            sample: of which single ones that stray are left out.
            window: with a head that is not older than the pose.
            x: (nx,) first state of it that is not older.
            age: of the pose then [s].
            fits: it is no outlier.
        """
        self._feel(window)
        if self._seen and sample.stamp_ns <= self._seen[-1].stamp_ns:
            return self.stuck
        place = sample.position_world.tolist()
        if self._jumps(sample.stamp_ns, place):
            if not fits:
                return self.stuck
            self.stuck = False  # the tracker has found the body again
            self._seen.clear()
        self._seen.append(Seen(self.problem, sample.stamp_ns, place, x, age))
        while self._seen[0].stamp_ns < sample.stamp_ns - SPAN_NS:
            self._seen.popleft()
        if self.stuck:
            self.stuck = not self._goes_along()
        elif self._rests() and self._bent():
            self.stuck, first = True, self._seen[0]
            self._apart = np.array(first.place) - first.base.translation
            self._withdraw(window)
            self._seen.clear()
        return self.stuck

    def _feel(self, window: SlidingWindow) -> None:
        """Take the specific force of each node whose step has ended."""
        felt = self._felt
        if not self.problem.has_imu:
            return  # nothing tells how a pose ought to have moved
        newest = felt[-1].stamp_ns if felt else -1
        first = window.size
        while first > 0 and window.stamps[first - 1] > newest:
            first -= 1
        if first == 0 and window.stamps[0] - newest > 1.5e9 * self.problem.config.estimator.step:
            felt.clear()  # no pose came for longer than a window
        for k in range(first, window.size):
            given = window.inputs[k]
            weight = min(given.weight("accelerometer").tolist())
            if not weight:  # of an axis, at least
                felt.clear()
                continue
            stddev = 1.0 / weight
            force, x = given.value("accelerometer"), window.xs[k]
            felt.append(Felt(self.problem, window.stamps[k], force, stddev, x))
        while felt and felt[0].stamp_ns < window.stamps[-1] - 2 * SPAN_NS:
            felt.popleft()

    def _jumps(self, stamp_ns: int, place: list[float]) -> bool:
        """Whether a pose lies where no robot comes from the one before."""
        if not self._seen:
            return False
        last = self._seen[-1]
        return math.dist(place, last.place) > REACH + 1e-9 * SPEED * (stamp_ns - last.stamp_ns)

    def _rests(self) -> bool:
        """Whether the newest poses lie still, as far as their noise lets it be told."""
        noise, since = self.problem.noise.mocap_position, self._seen[-1].stamp_ns - REST_NS
        newest: list[Seen] = []
        for seen in reversed(self._seen):
            if seen.stamp_ns < since:
                break
            newest.append(seen)
        away = math.dist(newest[0].place, newest[-1].place)
        if len(newest) < FEWEST or away > 1e-9 * REST * REST_NS + 2.0 * STDDEV * noise:
            return False
        t = 1e-9 * np.array([seen.stamp_ns - since for seen in newest])
        t -= t.mean()
        square = float(t @ t)
        velocity = t @ np.array([seen.place for seen in newest]) / square
        return bool(np.linalg.norm(velocity) < REST + STDDEV * noise / math.sqrt(square))

    def _bent(self) -> bool:
        """Whether poses less what the IMU felt are no straight line."""
        start = self._seen[0].stamp_ns
        if len(self._seen) < 2 * FEWEST or not self._felt or self._felt[0].stamp_ns > start:
            return False
        nodes = 1e-9 * np.array([felt.stamp_ns - start for felt in self._felt])
        ends = np.append(nodes[1:], nodes[-1] + self.problem.config.estimator.step)
        dt = ends - nodes
        accelerations = np.array([felt.acceleration for felt in self._felt])
        velocity = np.cumsum(accelerations * dt[:, None], axis=0)
        way = np.cumsum(velocity * dt[:, None], axis=0)
        t = 1e-9 * np.array([seen.stamp_ns - start for seen in self._seen])
        left = np.array([seen.imu for seen in self._seen])
        left -= np.column_stack([np.interp(t, ends, axis) for axis in way.T])
        line = np.column_stack([np.ones_like(t), t])
        left -= line @ np.linalg.lstsq(line, left, rcond=None)[0]
        missed = KINK * np.linalg.norm(dt * [felt.stddev for felt in self._felt])
        noise = self.problem.noise.mocap_position
        expected = BENT**2 + STDDEV**2 * (noise**2 + missed**2)
        return bool(np.mean(np.sum(left**2, axis=1)) > expected)

    def _goes_along(self) -> bool:
        """Whether poses have gone as far as the estimate without them, or rest where it rests."""
        first, last = self._seen[0], self._seen[-1]
        if last.stamp_ns - first.stamp_ns < 0.8 * SPAN_NS:
            return False
        seen = math.dist(first.place, last.place)
        there = last.base.translation
        gone = float(np.linalg.norm(there - first.base.translation))
        if gone < NEAR / APART:
            near = np.linalg.norm(last.place - there - self._apart) < PLACE
            return bool(max(gone, seen) < NEAR and near)
        return abs(seen - gone) < APART * gone

    def _withdraw(self, window: SlidingWindow) -> None:
        """Take back what nodes were given since the poses came to rest."""
        since = self._seen[-1].stamp_ns - REST_NS
        rested = (given for given, t in zip(window.inputs, window.stamps) if t >= since)
        self.problem.measurements.withdraw(NAME, rested)
