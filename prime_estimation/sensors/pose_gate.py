# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pose gate: refuses motion capture poses where the robot cannot be, and poses that are stuck."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
import pinocchio as pin

from .. import _core
from .fixed_pose import FixedPose
from .frames import WorldMotion
from .mocap_mount import MocapMount
from .past_poses import pose_before
from .pose_scale import PoseScale
from .stray_poses import agreeing_poses
from .stuck_poses import StuckPoses
from .tracker import EstimationProblem, SlidingWindow

DISTANCE, TURN = 0.05, 0.2  # m, rad: smallest distance from the estimate of an outlier,
STDDEV = 10.0  # and in standard deviations of a pose
DRIFT = 0.1  # m/s and rad/s by which the estimate may have drifted since the last pose that fitted
AGREEING = 10  # poses in a row that show one motion of the world, before it is accepted
SAME, SAME_TURN = 0.02, 0.1  # m, rad: smallest difference of two such motions,
SAME_STDDEV = 7.0  # and in standard deviations of a pose: five of their difference
UNLIKE = 30  # poses in a row near each other, after which the estimate is considered wrong
SETTLED_NS = 500_000_000  # for which poses must fit again, before the next ones can be outliers


class PoseGate:
    """Compares each pose with the window that has just been shifted.

    A pose is refused if its position or rotation is further from the estimate at its stamp than
    noise and drift explain. Two kinds of refused poses are accepted in the end: poses that all show
    the same motion of the world, because its origin has been moved; and, later, poses that are only
    near each other, because then the estimate was wrong. A pose that repeats the previous one while
    the robot moves is held by a tracker that has lost the body; one whose place or orientation
    alone stays the same has none.

    Attributes:
        refused: number of refused poses. held: number of these that repeat the previous pose.
        fixed: number of these whose place or orientation stays. jumps: how often the estimate
            followed the poses. moved: motion of the world that the newest poses show, until the
            window has been moved by it; None: none.
    """

    def __init__(self, problem: EstimationProblem):
        self.problem = problem
        self.refused = self.held = self.fixed = self.jumps = 0
        self._fixed = FixedPose(problem)
        self._far, self._stuck, self._scale = 0.0, StuckPoses(problem), PoseScale()
        self.reset()

    def reset(self) -> None:
        """Forget what was seen: the window begins anew.

        Counts of what was refused go on, and what explains them: distances covered by refused
        poses. Poses in another unit may be why the window has to begin anew.
        """
        self._near, self._following = 0, False
        self._apart: list[tuple[pin.SE3, pin.SE3]] = []  # estimates and poses that tell one motion
        self._error: np.ndarray | None = None
        self._fitted_ns: int | None = None
        self._apart_ns: int | None = None
        self._stuck.reset()
        self._scale.begin_anew()
        self.moved: WorldMotion | None = None

    def passes(self, sample, window: SlidingWindow) -> bool:
        """Whether a pose may be used; `window`: its head is not older than the pose."""
        if self.moved is not None:
            return True  # in the world to which the window has not been moved yet
        at = self._at(sample, window)
        error = self._errors(sample, *at)
        fits = self._fits(sample, error)
        fixed = self._fixed.holds(sample, window)
        if self._stuck.repeats(sample, window) or self._stuck.holds(sample, window, *at, fits):
            self.refused, self.held = self.refused + 1, self.held + 1
            return False
        if fixed:
            self.refused, self.fixed = self.refused + 1, self.fixed + 1
            return False
        if fits:
            self._near, self._fitted_ns = 0, sample.stamp_ns
            self._apart.clear()
            self._scale.reset()
            settled = not self._following or sample.stamp_ns - self._apart_ns > SETTLED_NS
            self._following = not settled
            return True
        self._apart_ns = sample.stamp_ns
        last, self._error = self._error, error
        again = last is not None and np.linalg.norm(error[:3] - last[:3]) < DISTANCE
        self._near = self._near + 1 if again and self._near else 1
        if self._following or self._tells_motion(sample, *at):
            return True
        if self._near > UNLIKE:
            self._following, self.jumps = True, self.jumps + 1
            return True
        self.refused += 1
        self._far = float(np.linalg.norm(error[:3]))
        here = self.problem.layout.q(at[0])[:3]
        self._scale.take(sample.stamp_ns, sample.position_world, here)
        return False

    def sift(self, poses: list) -> list[bool]:
        """Which poses of a start batch may be used, oldest first."""
        agree = agreeing_poses(poses)
        kept = [pose for pose, agrees in zip(poses, agree) if agrees]
        for pose in (p for p, agrees in zip(poses, agree) if not agrees):
            others = kept or [other for other in poses if other is not pose]
            near = min(others, key=lambda other: abs(other.stamp_ns - pose.stamp_ns))
            self._far = float(np.linalg.norm(pose.position_world - near.position_world))
            self.refused += 1
        return agree

    def remark(self) -> str:
        """What was refused so far; empty when nothing."""
        told, outliers = [], self.refused - self.held - self.fixed
        if outliers:
            told.append(f"outliers refused: {outliers}, the last {self._far:.2f} m apart")
            told += filter(None, [self._scale.remark()])
        if self.held:
            told.append(f"poses held, or late, while the robot moved, refused: {self.held}")
        if self.fixed:
            same = "place or orientation the same while the robot moved"
            told.append(f"{same}, refused: {self.fixed}")
        if self.jumps:
            told.append(f"jumps followed: {self.jumps}")
        return "; ".join(told)

    def _tells_motion(self, sample, x: np.ndarray, age: float) -> bool:
        """Whether the newest poses show one motion of the world, which is then `moved`."""
        mount = MocapMount.of(self.problem, x)
        base = pose_before(self.problem, x, age + mount.delay)
        here = mount.world * base * mount.body
        quat = pin.Quaternion(np.array(sample.quat_world_body)).normalized()
        there = pin.SE3(quat.toRotationMatrix(), np.array(sample.position_world))
        if self._apart and not self._alike(here, there):
            self._apart.clear()
        self._apart.append((here, there))
        if len(self._apart) <= AGREEING:
            return False
        motion = WorldMotion.between(*(list(poses) for poses in zip(*self._apart)))
        left = pin.log3(there.rotation @ (motion.turn @ here.rotation).T)
        self._apart.clear()
        if np.linalg.norm(left) > self._turn():
            return False  # the body has been turned on the robot, or the world has been tilted
        self.moved, self.jumps = motion, self.jumps + 1
        self._near, self._fitted_ns = 0, sample.stamp_ns
        return True

    def _alike(self, here: pin.SE3, there: pin.SE3) -> bool:
        """Whether a pose shows the same motion as the first one."""
        noise = self.problem.noise
        first = WorldMotion.between(*([pose] for pose in self._apart[0]))
        own = WorldMotion.between([here], [there])
        away = there.translation - first.points(here.translation[None])[0]
        turn = math.remainder(own.yaw - first.yaw, 2.0 * math.pi)
        near = np.linalg.norm(away) < max(SAME, SAME_STDDEV * noise.mocap_position)
        return bool(near) and abs(turn) < max(SAME_TURN, SAME_STDDEV * noise.mocap_rotation)

    def _at(self, sample, window: SlidingWindow) -> tuple[np.ndarray, float]:
        """The first state that is not older than a sample, and the time between them [s]."""
        k = min(bisect_left(window.stamps, sample.stamp_ns), window.size)
        return window.xs[k], 1e-9 * (window.stamps[k] - sample.stamp_ns)

    def _errors(self, sample, x: np.ndarray, age: float) -> np.ndarray:
        """Position and rotation (6,) of the estimate minus those of a pose [m, rad]."""
        layout, mount = self.problem.layout, MocapMount.of(self.problem, x)
        base = layout.q(x)[:7], layout.v(x)[:6]
        body = mount.rotation, mount.position, mount.tilt, age + mount.delay
        return _core.pose_error(*base, *body, sample.position_world, sample.quat_world_body)

    def _turn(self) -> float:
        """Largest rotation that noise and the unknown mount of the tracked body explain [rad]."""
        noise = self.problem.noise
        return max(TURN, STDDEV * noise.mocap_rotation, STDDEV * noise.mocap_offset)

    def _fits(self, sample, error: np.ndarray) -> bool:
        silence = 0.0 if self._fitted_ns is None else 1e-9 * (sample.stamp_ns - self._fitted_ns)
        drift = DRIFT * max(silence, 0.0)
        place = max(DISTANCE, STDDEV * self.problem.noise.mocap_position) + drift
        *away, x, y, z = error.tolist()
        return math.hypot(*away) < place and math.hypot(x, y, z) < self._turn() + drift
