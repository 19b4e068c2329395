# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Poses of motion capture that stay where they are while the robot goes on.

A tracker that has lost its body sends the last pose again and again, to the last bit or as its
filter has it, with noise. Within a node such a pose is not far from the estimate, which goes with
it. What tells it is the IMU: `p(t) - s(t)`, with `s` the specific force less gravity integrated
twice, is a straight line in time, whatever velocity the robot has.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from .mocap_mount import MocapMount
from .stray_poses import REACH, SPEED

MOVING = 0.05  # m/s, rad/s of a robot of which two poses are not the same to the last bit
SPAN_NS, REST_NS = 500_000_000, 80_000_000  # that are compared, of which the pose rests at last
REST = 0.03  # m/s of a pose that rests
BENT = 0.005  # m: rms of p(t) - s(t) about a straight line that a bias of 0.5 m/s^2 makes,
STDDEV = 3.0  # and standard deviations of a pose, of its velocity at rest, and of what is felt
KINK = 0.072 * 0.5  # s: rms of a line about a straight one, by its change of slope half way
FEWEST = 3  # poses that tell a velocity
NEAR, APART = 0.02, 0.5  # m, share: ways of poses and robot in SPAN_NS that are the same
PLACE = 0.05  # m: as far apart poses and robot may have come, where both are at rest


@dataclass(frozen=True)
class Seen:
    """A pose, the state that tells it, and how long after it that is [s]."""

    stamp_ns: int
    place: list[float]
    x: np.ndarray
    age: float


@dataclass(frozen=True)
class Felt:
    """Specific force at a node [m/s^2], IMU axes, its standard deviation, and the node's state."""

    stamp_ns: int
    force: np.ndarray
    stddev: float
    x: np.ndarray


class StuckPoses:
    """Compares the way of poses with that of the IMU.

    Poses are stuck from where they rest although the IMU says that the robot cannot, until they go
    as far as the robot does. Those that were taken for its way meanwhile are withdrawn.

    Args:
        problem: whose window takes the poses.
    """

    def __init__(self, problem):
        self.problem = problem
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: the window begins anew."""
        self.stuck = False
        self._last: tuple[bytes, bytes] | None = None
        self._seen: deque[Seen] = deque()
        self._felt: deque[Felt] = deque()
        self._apart = np.zeros(3)  # from robot to poses, before they were stuck

    def repeats(self, sample, window) -> bool:
        """Whether a pose is the one before it to the last bit, of a robot that moves."""
        pose = sample.position_world.tobytes(), sample.quat_world_body.tobytes()
        same, self._last = pose == self._last, pose
        if not same:
            return False
        return bool(np.abs(self.problem.layout.v(window.xs[-1])[:6]).max() > MOVING)

    def holds(self, sample, window, fits: bool) -> bool:
        """Whether a pose is stuck, in a window that has just moved and is not solved yet.

        Args:
            sample: of which single ones that stray are left out.
            window: with a head that is not older than the pose.
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
        self._see(sample.stamp_ns, place, window)
        if self.stuck:
            self.stuck = not self._goes_along()
        elif self._rests() and self._bent():
            self.stuck, first = True, self._seen[0]
            self._apart = np.array(first.place) - self._base(first)
            self._withdraw(window)
            self._seen.clear()
        return self.stuck

    def _feel(self, window) -> None:
        """Take the specific force of each node whose step has ended."""
        felt = self._felt
        newest = felt[-1].stamp_ns if felt else -1
        first = window.size
        while first > 0 and window.stamps[first - 1] > newest:
            first -= 1
        if first == 0 and window.stamps[0] - newest > 1.5e9 * self.problem.config.estimator.step:
            felt.clear()  # no pose came for longer than a window
        for k in range(first, window.size):
            given = window.inputs[k]
            if not given.present("accelerometer"):
                felt.clear()
                continue
            stddev = 1.0 / float(given.weight("accelerometer").min())
            felt.append(Felt(window.stamps[k], given.value("accelerometer"), stddev, window.xs[k]))
        while felt and felt[0].stamp_ns < window.stamps[-1] - 2 * SPAN_NS:
            felt.popleft()

    def _jumps(self, stamp_ns: int, place: list[float]) -> bool:
        """Whether a pose lies where no robot comes from the one before."""
        if not self._seen:
            return False
        last = self._seen[-1]
        return math.dist(place, last.place) > REACH + 1e-9 * SPEED * (stamp_ns - last.stamp_ns)

    def _see(self, stamp_ns: int, place: list[float], window) -> None:
        """Remember a pose beside the first state that is not older."""
        stamps, k = window.stamps, window.size
        while k > 0 and stamps[k - 1] >= stamp_ns:
            k -= 1
        self._seen.append(Seen(stamp_ns, place, window.xs[k], 1e-9 * (stamps[k] - stamp_ns)))
        while self._seen[0].stamp_ns < stamp_ns - SPAN_NS:
            self._seen.popleft()

    def _rests(self) -> bool:
        """Whether the newest poses lie still, as far as their noise lets it be told."""
        noise, since = self.problem.config.noise.mocap_position, self._seen[-1].stamp_ns - REST_NS
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
        way = np.cumsum(
            np.cumsum(self._accelerations() * dt[:, None], axis=0) * dt[:, None], axis=0
        )
        t = 1e-9 * np.array([seen.stamp_ns - start for seen in self._seen])
        left = self._places() - np.column_stack([np.interp(t, ends, axis) for axis in way.T])
        line = np.column_stack([np.ones_like(t), t])
        left -= line @ np.linalg.lstsq(line, left, rcond=None)[0]
        missed = KINK * np.linalg.norm(dt * [felt.stddev for felt in self._felt])
        noise = self.problem.config.noise.mocap_position
        expected = BENT**2 + STDDEV**2 * (noise**2 + missed**2)
        return bool(np.mean(np.sum(left**2, axis=1)) > expected)

    def _accelerations(self) -> np.ndarray:
        """Of the IMU in the world (n, 3), by node [m/s^2]."""
        xs = np.array([felt.x for felt in self._felt])
        bias = self.problem.layout.coordinates["accelerometer_bias"]
        forces = np.array([felt.force for felt in self._felt]) - xs[:, bias]
        turned = self._rotations(xs) @ self._mounts(xs)[0] @ forces[:, :, None]
        return turned[:, :, 0] + self.problem.robot.model.gravity.linear

    def _places(self) -> np.ndarray:
        """Where the IMU is by each pose (n, 3) [m]."""
        xs = np.array([seen.x for seen in self._seen])
        lever = self._rotations(xs) @ self._mounts(xs)[1][:, :, None]
        return np.array([seen.place for seen in self._seen]) + lever[:, :, 0]

    def _rotations(self, xs: np.ndarray) -> np.ndarray:
        """Of the base at states (n, 3, 3)."""
        return Rotation.from_quat(xs[:, self.problem.layout.coordinates["rotation"]]).as_matrix()

    def _mounts(self, xs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (n or 1, 3, 3) and place (n or 1, 3) of the IMU in the base [m]."""
        mount, layout = self.problem.mount, self.problem.layout
        states = xs[:1] if mount.rigid else xs
        poses = [mount.motion_at(np.array(layout.q(x)), np.array(layout.v(x)))[0] for x in states]
        return np.array([p.rotation for p in poses]), np.array([p.translation for p in poses])

    def _base(self, seen: Seen) -> np.ndarray:
        """Where the base was by the estimate at a pose [m]."""
        layout = self.problem.layout
        late = seen.age + MocapMount.of(self.problem, seen.x).delay
        velocity = self._rotations(seen.x[None])[0] @ layout.v(seen.x)[:3]
        return layout.q(seen.x)[:3] - late * velocity

    def _goes_along(self) -> bool:
        """Whether poses have gone as far as the estimate without them, or rest where it rests."""
        first, last = self._seen[0], self._seen[-1]
        if last.stamp_ns - first.stamp_ns < 0.8 * SPAN_NS:
            return False
        here, there = self._base(first), self._base(last)
        seen, gone = math.dist(first.place, last.place), float(np.linalg.norm(there - here))
        if gone < NEAR / APART:
            near = np.linalg.norm(last.place - there - self._apart) < PLACE
            return bool(max(gone, seen) < NEAR and near)
        return abs(seen - gone) < APART * gone

    def _withdraw(self, window) -> None:
        """Take back what nodes were given since the poses came to rest."""
        since = self._seen[-1].stamp_ns - REST_NS
        slots = self.problem.measurements.sensors.residuals.count("mocap")
        for given, stamp in zip(window.inputs, window.stamps):
            for slot in range(slots if stamp >= since else 0):
                if given.present("mocap", slot):
                    given.set("mocap", given.value("mocap", slot), np.zeros(6), 0.0, slot)
