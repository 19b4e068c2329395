# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Frame of an external odometry: its key frame, jumps, and late readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..types import NO_DATA
from .frames import turned_about_vertical
from .past_poses import PastPoses, base_pose
from .sensor import take_back
from .tracker import EstimationProblem, SlidingWindow

NAME, FRAME = "external_odometry", "odometry_frame"  # of the sensor, of its parameters
KEY_DISTANCE = 1.0  # m from the key frame, after which the newest reading becomes the key frame
JUMP_DISTANCE, JUMP_TURN = 0.1, 0.1  # m, rad: smallest change between two readings that is a jump
JUMP_STDDEV = 6.0  # and in standard deviations of a reading
AGREEING = 10  # readings in a row that agree with each other after a jump, before they are followed
EXACT = 1e-6  # standard deviation of a pure change of variables [m, rad]
SILENT_NS = 500_000_000  # after which the odometry is said to have dropped out


@dataclass(frozen=True)
class Reading:
    """One reading as nodes take it: relative to the key frame, at the time of a node."""

    relative: pin.SE3  # of the base, in the key frame
    velocity: np.ndarray | None
    stddev: np.ndarray  # (3,) m, rad, m/s


class OdometryFrame:
    """Keeps the key frame of an external odometry, and handles its jumps and late readings.

    A reading that is older than the window is transformed to the first node by the estimated motion
    in between. After a jump, readings are refused until they agree with each other for a while;
    then the frame is defined again by the estimated pose of the base.

    Attributes:
        jumps: how often the odometry has jumped. refused: readings that were not used.
    """

    block = FRAME

    def __init__(self, problem: EstimationProblem):
        self.problem = problem
        self.jumps = self.refused = 0
        self._key: pin.SE3 | None = None  # of the base in the odometry's frame
        self._nominal = pin.SE3.Identity()  # (p_0, R_0): of the key frame in the world
        self._given: dict[int, Reading] = {}  # by stamp of their node
        self._past = PastPoses(problem)
        self._newest_ns = 0  # stamp of the newest reading
        self._now_ns = 0
        self._apart = 0  # readings in a row that do not fit
        self._last_error: np.ndarray | None = None
        self._message = ""

    def reset(self) -> None:
        """Forget the frame: the window begins anew."""
        self._key = None
        self._given.clear()
        self._past.clear()
        self._message, self._newest_ns = "", 0

    def motions(self, x: np.ndarray) -> np.ndarray:
        """Change (6, 3) of `odometry_frame` by motions of the world, as of `FrameTracker`."""
        shift, out = self.problem.parameter(x, FRAME), np.zeros((6, 3))
        away = self._nominal.translation + shift[:3] - x[:3]
        out[:2, :2] = np.eye(2)
        out[:2, 2] = -away[1], away[0]
        out[3:, 2] = turned_about_vertical(shift[3:])
        return out

    def health(self) -> str:
        """What is wrong with the odometry; empty when nothing is."""
        silent = self._now_ns - self._newest_ns > SILENT_NS
        return NO_DATA if silent else self._message

    def give(self, samples: Sequence, window: SlidingWindow) -> None:
        """Hand new readings to the nodes of a window that has just moved."""
        self._remember(window)
        for sample in samples:
            self.refused += not self._take(sample, window)

    # --- one reading ------------------------------------------------------------------------------

    def _take(self, sample, window: SlidingWindow) -> bool:
        """Use a reading; False when it is refused."""
        self._newest_ns = max(self._newest_ns, sample.stamp_ns)
        there = self._past.at(sample.stamp_ns)
        if there is None:
            return False
        k, age, carried = self._node(sample, window, there)
        seen = sample.pose * carried  # at the time of the node, or `age` before it
        if self._key is None:
            self._anchor(seen, k, window)
        if self._has_jumped(sample, there * carried, seen):
            if self._apart < AGREEING:
                return False
            self.jumps += 1
            self._message = (
                f"jumped by {np.linalg.norm(self._last_error[:3]):.2f} m; followed from there"
            )
            self._anchor(seen, k, window)
        stddev = self._stddev(sample)
        self._given[window.stamps[k]] = Reading(
            self._key.actInv(seen), sample.velocity_base, stddev
        )
        self._fill(window, k, age)
        if np.linalg.norm(self._key.actInv(seen).translation) > KEY_DISTANCE:
            self._carry_on(seen, window)
        return True

    def _node(self, sample, window: SlidingWindow, there: pin.SE3) -> tuple[int, float, pin.SE3]:
        """Index of the node that takes a sample, how long before it [s], and a motion.

        The motion of the base from the sample to there, for one that is older than the window.
        """
        if sample.stamp_ns <= window.stamps[0]:
            return 0, 0.0, there.actInv(base_pose(self.problem, window.xs[0]))
        k = int(np.searchsorted(window.stamps, sample.stamp_ns))
        return k, 1e-9 * (window.stamps[k] - sample.stamp_ns), pin.SE3.Identity()

    def _stddev(self, sample) -> np.ndarray:
        noise = self.problem.config.noise
        least = [noise.odometry_position, noise.odometry_rotation, noise.odometry_velocity]
        said = [sample.position_stddev, sample.rotation_stddev, sample.velocity_stddev]
        return np.maximum(least, said)

    def _has_jumped(self, sample, expected: pin.SE3, seen: pin.SE3) -> bool:
        """Whether a reading lies apart from the frame by more than noise and drift."""
        frame = self._frame(self._latest)
        error = pin.log6(expected.actInv(frame * self._key.actInv(seen))).vector
        stddev = self._stddev(sample)
        limit = np.maximum([JUMP_DISTANCE, JUMP_TURN], JUMP_STDDEV * stddev[:2])
        size = np.array([np.linalg.norm(error[:3]), np.linalg.norm(error[3:])])
        last, self._last_error = self._last_error, error
        if (size < limit).all():
            self._apart, self._message = 0, ""
            return False
        again = last is not None and np.linalg.norm(error[:3] - last[:3]) < limit[0]
        self._apart = self._apart + 1 if again else 1
        self._message = f"lies {size[0]:.2f} m and {size[1]:.2f} rad apart; not used"
        return True

    # --- the key frame ----------------------------------------------------------------------------

    def _frame(self, x: np.ndarray) -> pin.SE3:
        """Pose of the key frame in the world, as estimated."""
        shift = self.problem.parameter(x, FRAME)
        rotation = pin.exp3(np.array(shift[3:])) @ self._nominal.rotation
        return pin.SE3(rotation, self._nominal.translation + shift[:3])

    def _anchor(self, seen: pin.SE3, k: int, window: SlidingWindow) -> None:
        """Place the frame such that this reading is the base's own pose at a node.

        The frame knows then what is known of the base, and nothing more.
        """
        self._key, self._nominal = seen, base_pose(self.problem, window.xs[k])
        self._given.clear()
        self._apart, self._last_error = 0, None
        rows = np.zeros((6, self.problem.ndx))
        R = base_pose(self.problem, window.arrival.reference).rotation
        rows[:3, self.problem.columns("position")] = R
        rows[3:, self.problem.columns("rotation")] = R
        noise = self.problem.config.noise
        stddev = [noise.odometry_position] * 3 + [noise.odometry_rotation] * 3
        window.tie(FRAME, list(range(6)), rows, np.zeros(6), np.array(stddev))
        for given in window.inputs:
            take_back(given, NAME)

    def _carry_on(self, seen: pin.SE3, window: SlidingWindow) -> None:
        """Make the newest reading the key frame: the same knowledge, about another place."""
        relative = self._key.actInv(seen)
        shift = self.problem.parameter(window.xs[-1], FRAME).copy()
        moved = self._frame(window.xs[-1]) * relative
        nominal = self._nominal * relative
        columns = self.problem.columns(FRAME)
        rows = np.zeros((6, self.problem.ndx))
        rows[:, columns] = np.eye(6)
        arm = pin.exp3(np.array(shift[3:])) @ self._nominal.rotation @ relative.translation
        rows[:3, columns.start + 3 : columns.stop] = -pin.skew(arm)
        self._key, self._nominal = seen, nominal
        value = np.concatenate([moved.translation - nominal.translation, shift[3:]])
        window.tie(FRAME, list(range(6)), rows, value, np.full(6, EXACT))
        self._given = {
            stamp: Reading(relative.actInv(r.relative), r.velocity, r.stddev)
            for stamp, r in self._given.items()
        }
        for k, stamp in enumerate(window.stamps):
            if stamp in self._given:
                self._fill(window, k, window.inputs[k].age(NAME))

    def _fill(self, window: SlidingWindow, k: int, age: float) -> None:
        """Write a reading into the input of its node."""
        reading, nominal = self._given[window.stamps[k]], self._nominal
        velocity = np.zeros(3) if reading.velocity is None else reading.velocity
        value = np.concatenate(
            [
                nominal.translation,
                pin.Quaternion(nominal.rotation).coeffs(),
                reading.relative.translation,
                pin.Quaternion(reading.relative.rotation).coeffs(),
                velocity,
            ]
        )
        weight = np.repeat(1.0 / reading.stddev, 3)
        weight[6:] *= reading.velocity is not None
        window.inputs[k].set(NAME, value, weight, age)

    # --- what has been estimated ------------------------------------------------------------------

    def _remember(self, window: SlidingWindow) -> None:
        """Keep smoothed states, also of nodes that have left the window."""
        self._latest, self._now_ns = window.xs[-1], window.stamps[-1]
        self._past.remember(window)
        first = window.stamps[0]
        self._given = {stamp: r for stamp, r in self._given.items() if stamp >= first}
