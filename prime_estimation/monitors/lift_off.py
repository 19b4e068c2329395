# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Lift-off: detects that something other than its feet carries the robot."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace

import numpy as np

from ..config.policies import ACTIVITY, LIFT
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..sensors.imu import tilt
from ..types import Measurement, SensorHealth
from ..types.arrays import finite
from .monitor import Monitor

PULL = "by their torques they pull at the ground"  # how a remark begins that no robot explains


class LiftDetector(Monitor):
    """Compares the weight measured by the IMU with the foot forces that the leg torques imply.

    If there is an estimate, it must confirm a lift-off. The feet carry the robot again when they
    have done so for the duration of a start batch; the estimate then restarts from this batch. A
    hand that still holds part of the weight would look like a missing mass. Therefore the feet must
    carry the same load as before, or carry it for so long that the load itself must have changed.

    Without torques only the attitude is used: the feet do not carry a robot that has turned over,
    until it has been upright and quiet for a start batch.

    Attributes:
        suspended: something other than the feet carries the robot. since_ns: stamp of the first
            measurement for which it does.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._legs = problem.legs if problem.has_imu else None
        self._batch = problem.config.estimator.start_nodes
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.suspended = False
        self.since_ns = 0
        self._missing: deque[float] = deque(maxlen=LIFT.nodes)
        self._mean = 1.0  # of the missing shares
        self._stamps: deque[int] = deque(maxlen=LIFT.nodes)
        self._previous: Measurement | None = None
        self._ground: np.ndarray | None = None  # heights that were left
        self._standing = 0  # nodes for which the feet have carried the robot
        self._shares: deque[float] = deque(maxlen=self._batch)  # that were missing of late
        self._usual, self._walked = 0.0, 0  # mean share on its feet, and nodes of it
        self._settled: deque[float] = deque(maxlen=2 * LIFT.nodes)  # that it follows
        self._quiet = 0  # nodes for which the IMU has felt gravity and nothing else
        # nodes in a row without torque in which it has turned over, and is upright; the former
        # are why it is suspended
        self._turned_over, self._upright, self._by_attitude = 0, 0, False
        self._idle = True  # no torque has been other than zero

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Who carries the robot; the estimate must start anew when that has changed."""
        was = self.suspended
        before, self._previous = self._previous, m
        self._quiet = self._quiet + 1 if _is_quiet(m) else 0
        if m.torque is None and self._legs is not None and window is not None:
            self._look_at_attitude(m, window)
        else:
            self._turned_over, self._upright, self._by_attitude = 0, 0, False
            self._update(before, m, window)
        since = self.since_ns if self.suspended else None
        if was == self.suspended:
            if not self.suspended:
                return situation
            found = {"resting": self._quiet >= LIFT.quiet_nodes, "landing": self._mean < LIFT.found}
            return replace(situation, suspended_since_ns=since, **found)
        if self.suspended and m.torque is None:
            return replace(situation, suspended_since_ns=since)  # a batch would be none of a floor
        what = "do not carry the robot any more" if self.suspended else "carry the robot again"
        return replace(situation, suspended_since_ns=since, restart=f"the feet {what}")

    def _update(self, before: Measurement | None, m: Measurement, window: Window | None) -> None:
        self._idle = self._idle and (m.torque is None or m.unpowered)
        missing = self._missing_share(before, m)
        if missing is None:
            return
        self._missing.append(missing)
        self._shares.append(missing)
        self._settled.append(missing)
        self._stamps.append(m.stamp_ns)
        if len(self._missing) < LIFT.nodes:
            return
        mean = self._mean = sum(self._missing) / len(self._missing)
        self._standing = self._standing + 1 if mean < LIFT.found else 0
        was = self.suspended
        self.suspended = not self._stands() if was else self._is_lost(mean, window)
        if self.suspended and not was:
            shares = zip(self._stamps, self._missing)
            self.since_ns = next(stamp for stamp, share in shares if share > LIFT.found)
        elif not self.suspended and window is not None:
            # the newest ones may already be those of a robot that is taken off its feet
            self._walked = min(self._walked + 1, LIFT.usual_nodes)
            self._usual += (self._settled[0] - self._usual) / self._walked

    def _look_at_attitude(self, m: Measurement, window: Window) -> None:
        if self.suspended and not self._by_attitude:
            # torques have said so, and none says otherwise; but if these were nothing but zeros
            self.suspended = not self._idle
            return
        leans = tilt(window.up())
        self._turned_over = self._turned_over + 1 if leans > ACTIVITY.overturned else 0
        self._upright = self._upright + 1 if leans < ACTIVITY.upright else 0
        if self._turned_over == 1 and not self.suspended:
            self.since_ns = m.stamp_ns
        stands = min(self._quiet, self._upright) >= self._batch
        stands = stands or self._upright >= LIFT.reloaded * self._batch
        self.suspended = not stands if self.suspended else self._turned_over >= ACTIVITY.nodes
        self._by_attitude = self.suspended

    def _stands(self) -> bool:
        """The feet have carried the robot for a start batch, and nothing else does any more."""
        if self._standing < self._batch:
            return False
        return self._lacking < LIFT.same or self._standing >= LIFT.reloaded * self._batch

    @property
    def as_before(self) -> bool:
        """The feet carry as much as they did before something else carried the robot."""
        return self._walked > 0 and abs(self._lacking) < LIFT.same

    @property
    def _lacking(self) -> float:
        """Share of the weight that feet carried on the average, and did not in the last batch."""
        return sum(self._shares) / self._batch - self._usual if self._walked else 0.0

    def _missing_share(self, before: Measurement | None, m: Measurement) -> float | None:
        """Share of the weight that the feet ought to carry, and do not; of two nodes in a row.

        None where nothing tells.
        """
        if self._legs is None or before is None:
            return None
        if before.position is None or m.torque is None or m.accelerometer is None:
            return None
        rates = np.zeros(len(m.torque)) if before.velocity is None else before.velocity
        base_M_imu, _ = self.problem.mount.motion(before.position, rates)
        felt = base_M_imu.rotation @ m.accelerometer
        if not finite(felt, before.position, rates, m.torque):
            return None
        return self._legs.deficit(felt, before.position, rates, m.torque)

    def _is_lost(self, missing: float, window: Window | None) -> bool:
        """The feet do not carry the robot any more: torques say so, and the estimate agrees."""
        if window is None:
            return missing > LIFT.hanging
        if missing <= LIFT.lost:
            return False
        if self.problem.contacts.unsupported(window.inputs[:-1]):
            return True  # contact flags and accelerometer say the same as the torques
        base = window.solver.first_residuals(3)
        return float(np.sqrt(np.mean(base**2))) > LIFT.unexplained

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """The ground of an estimate that begins on its feet is where that found it."""
        if not situation.suspended:
            self._ground = None

    def ground_under(self, previous_state: np.ndarray | None) -> np.ndarray | None:
        """State from which an estimate starts anew.

        On its feet again, the robot stands on the ground that it had left.
        """
        if previous_state is None:
            return None
        heights = self.problem.parameter(previous_state, "height")
        if self.suspended and self._ground is None:
            self._ground = heights.copy()
        elif not self.suspended and self._ground is not None:
            previous_state = previous_state.copy()
            self.problem.parameter(previous_state, "height")[:] = self._ground
            self._ground = None
        return previous_state

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says that the feet do not carry the robot."""
        if not situation.suspended:
            return ()
        what = "they do not carry the robot, which is held or has fallen; inertia is not estimated"
        if sum(self._shares) > LIFT.pulls * self._batch:
            what = f"{PULL}, as no foot does: signs of torques and accelerometer?"
        return (SensorHealth("feet", False, what),)


def _is_quiet(m: Measurement) -> bool:
    """The IMU turns and accelerates so little that it may rest."""
    if m.gyro is None or m.accelerometer is None:
        return False
    felt = math.hypot(*m.accelerometer.tolist())
    turns = math.hypot(*m.gyro.tolist())
    return turns < LIFT.quiet_rate and abs(felt - GRAVITY) < LIFT.quiet_force
