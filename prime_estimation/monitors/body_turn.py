# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Body turn: finds the rotation between base and tracked body, whatever the mount of the YAML."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import deque

import numpy as np
import pinocchio as pin

from ..config.policies import BODY_TURN
from ..mhe.batch_attitude import nearest_rotation
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement, SensorHealth
from ..types.arrays import finite
from .imu_axes import ImuAxes
from .monitor import Monitor


class BodyTurn(Monitor):
    """Compares rotations of the tracked body with rotations of the gyro.

    If the frame of the body is rotated by C relative to the base, the body rotates by `b = C g`
    while the base rotates by g, wherever the body and its world are. With sums over pairs of poses
    that are `BODY_TURN.span` apart, or somewhat more:

        M = sum b g^T = U S V^T,   C = U diag(1, 1, det(U V^T)) V^T   (Wahba)

    Markers may be glued on in any direction. If C is far from the mount of the YAML and explains
    the poses where that does not, all poses are corrected by C, and the estimate restarts. What
    remains is the parameter `mocap`. Once C is known to agree with the mount, the comparison ends.

    Args:
        problem: whose poses these are.
        axes: knows whether it is the IMU that is turned.
    """

    def __init__(self, problem: Problem, axes: ImuAxes):
        self.problem, self._axes = problem, axes
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._void = self._settled = False
        self._clear()

    def _clear(self) -> None:
        self._G = np.eye(3)  # attitude of the base by the gyro alone
        self._nodes: deque[tuple[int, np.ndarray, np.ndarray]] = deque(maxlen=BODY_TURN.nodes)
        self._poses: deque[tuple[int, np.ndarray, np.ndarray]] = deque(maxlen=BODY_TURN.nodes)
        self._M, self._squares, self._pairs = np.zeros((3, 3)), 0.0, 0.0

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """What is estimated from now on is of the body as it is turned by now."""
        self._void = False

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Follow gyro and poses; the estimate starts anew where the body is found to be turned."""
        if self._settled or self._axes.wrong:
            return situation
        unseen = not finite(m.gyro, m.position, *(() if m.velocity is None else (m.velocity,)))
        late = self._nodes and m.stamp_ns - self._nodes[-1][0] > 1.5e9 * self.problem.dt
        if unseen or late:
            self._clear()
        if unseen:
            return situation
        self._follow(m)
        for pose in m.mocap:
            self._take(pose)
        turn = self._found() if m.mocap and not self._axes.pending else None
        if turn is None:
            return situation
        self.problem.turn_body(turn)
        self._clear()
        self._void = True
        return situation.having(restart=situation.restart or self._what())

    @property
    def angle(self) -> float:
        """By which the body is turned beyond the YAML's mount [rad]; 0: it is not."""
        turn = self.problem.body_turn
        return 0.0 if turn is None else float(np.linalg.norm(pin.log3(turn)))

    def unlearned(self, state: np.ndarray | None) -> np.ndarray | None:
        """State to start anew from; None after one in which the body was turned otherwise."""
        void, self._void = self._void, False
        return None if void else state

    def _follow(self, m: Measurement) -> None:
        rate = self.problem.mount.base_rate(m.gyro, m.position, m.velocity)
        self._nodes.append((m.stamp_ns, self._G, rate))
        self._G = self._G @ pin.exp3(self.problem.dt * rate)

    def _take(self, pose) -> None:
        """Pair a pose with the one before it that is far enough back."""
        k = bisect_left(self._nodes, pose.stamp_ns, key=lambda node: node[0])
        if k == len(self._nodes):
            return
        stamp, before, rate = self._nodes[k]  # before: at the begin of the step that ends there
        into = self.problem.dt - 1e-9 * (stamp - pose.stamp_ns)
        newest = self._poses[-1][0] if self._poses else 0
        if into < 0.0 or pose.stamp_ns <= newest:
            return
        quat = pin.Quaternion(np.array(pose.quat_world_body)).normalized()
        seen, turned = quat.toRotationMatrix(), before @ pin.exp3(into * rate)
        self._poses.append((pose.stamp_ns, seen, turned))
        span = round(1e9 * BODY_TURN.span)
        k = bisect_right(self._poses, pose.stamp_ns - span, key=lambda pose: pose[0])
        then, seen_then, turned_then = self._poses[max(k - 1, 0)]
        if not span <= pose.stamp_ns - then < 2 * span:
            return
        b, g = pin.log3(seen_then.T @ seen), pin.log3(turned_then.T @ turned)
        kept = math.exp(-self.problem.dt / BODY_TURN.memory)
        self._M = kept * self._M + np.outer(b, g)
        self._squares = kept * self._squares + float(b @ b + g @ g)
        self._pairs = kept * self._pairs + 1.0

    def _found(self) -> np.ndarray | None:
        """C (3, 3) where it is known well, and is not near the mount of the YAML."""
        alone = self._pairs * self.problem.dt / BODY_TURN.span  # pairs that share no time
        if alone < 2.0:
            return None
        C = nearest_rotation(self._M)
        explained = 2.0 * float(np.sum(C * self._M))
        left = self._squares - explained  # sum of |b - C g|^2
        stddev = math.sqrt(max(left, 0.0) / max(explained, np.finfo(float).tiny) / alone)
        if left > BODY_TURN.left * self._squares or stddev > BODY_TURN.known:
            return None
        # about an axis that is the only one about which it turns nothing tells: what is explained
        # beyond the YAML's mount must come from it
        better = explained - 2.0 * float(np.trace(self._M))
        far = better > (1.0 - math.cos(BODY_TURN.angle)) * explained
        angle = float(np.linalg.norm(pin.log3(C)))
        self._settled = angle < 0.5 * BODY_TURN.angle
        return C if far and angle > BODY_TURN.angle else None

    def _what(self) -> str:
        return f"the tracked body is turned by {math.degrees(self.angle):.0f} degrees"

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says by how much it is turned."""
        if self.problem.body_turn is None:
            return ()
        x, y, z = pin.rpy.matrixToRpy(self._mount()).tolist()
        rpy = f"[{x:.2f}, {y:.2f}, {z:.2f}]"
        what = f"{self._what()}: taken out; robot.mocap_rotation is about {rpy}"
        return (SensorHealth("mocap_turn", True, what),)

    def _mount(self) -> np.ndarray:
        """Rotation (3, 3) of the tracked body in the base."""
        mount = self.problem.robot.mocap_placement.rotation
        return self.problem.body_turn.T @ mount
