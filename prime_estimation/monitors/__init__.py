# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Monitors: each checks one assumption of the estimator."""

from __future__ import annotations

from collections.abc import Iterator

from ..config.policies import CONSISTENCY
from ..mhe.horizon import Horizon
from ..mhe.problem import Problem
from ..mhe.situation import ON_ITS_FEET, Situation
from ..mhe.window import Window
from ..types import Measurement
from .accelerometer_bias import AccelerometerBias
from .activity import ActivityMonitor
from .body_turn import BodyTurn
from .consistency import ConsistencyMonitor
from .contact_agreement import ContactAgreement
from .gyro_rest import GyroRest
from .imu_axes import ImuAxes
from .inertia_hold import InertiaHold
from .joint_fit import JointFit
from .leg_weight import LegWeight
from .lift_off import LiftDetector
from .load_place import LoadPlace
from .monitor import Monitor
from .mount_fit import MountFit
from .noise_levels import NoiseLevels
from .opposite_readings import OppositeReadings
from .payload_change import PayloadDetector
from .push import PushDetector
from .stance_motion import StanceMotion
from .support import Support
from .swaying_load import SwayingLoad


class Monitors:
    """All monitors, in the order in which they refine a situation.

    Attributes:
        lift, agreement, hold, consistency, payload, push, place, sway, rest, bias, stance, support,
            joints, mounts, opposite, axes, turn, levels, activity: each of them.
        weight: load of the legs, which two of them look at.
    """

    def __init__(self, problem: Problem):
        self.lift, self.hold = LiftDetector(problem), InertiaHold(problem)
        self.weight = LegWeight(problem)
        self.agreement = ContactAgreement(problem, self.weight)
        self.consistency, self.payload = ConsistencyMonitor(), PayloadDetector(problem, self.weight)
        self.push, self.place = PushDetector(problem), LoadPlace(problem)
        self.sway = SwayingLoad(problem, self.payload)
        self.rest, self.support = GyroRest(problem), Support(problem, self.agreement)
        self.stance, self.joints = StanceMotion(problem, self.rest), JointFit(problem)
        self.mounts, self.axes = MountFit(problem, self.stance), ImuAxes(problem)
        self.turn = BodyTurn(problem, self.axes)
        self.levels, self.activity = NoiseLevels(problem), ActivityMonitor(problem)
        self.bias, self.opposite = AccelerometerBias(problem), OppositeReadings(problem)

        carried = (self.lift, self.agreement, self.hold, self.consistency)
        loads = (self.payload, self.push, self.place, self.sway)
        watched = (self.rest, self.stance, self.support, self.opposite)
        sensors = (self.joints, self.mounts, self.axes, self.turn, self.levels, self.bias)
        self._all = (*carried, *loads, *watched, *sensors, self.activity)

    def __iter__(self) -> Iterator[Monitor]:
        return iter(self._all)

    @property
    def last_restart(self) -> tuple[int, str]:
        """Number of restarts so far, and the reason of the last one."""
        return self.consistency.restarts, self.consistency.reason

    def reset(self) -> None:
        """Forget everything."""
        for monitor in self:
            monitor.reset()

    def start(self, horizon: Horizon, situation: Situation) -> str:
        """Try to start from the stored batch. Returns why this failed; empty if it did not."""
        self.hold.outlast(None, situation.suspended, self.lift.as_before)
        if horizon.gathered:
            self.levels.expect(horizon.batch)
        return horizon.start(situation) or self.begin(horizon, situation)

    def begin(self, horizon: Horizon, situation: Situation) -> str:
        """Check the window of a start batch, if there is one. Returns as `judge`."""
        if horizon.window is None:
            return ""
        for monitor in self:
            monitor.begin(horizon.window, horizon.batch, situation)
        return self.judge(horizon.window, situation)

    def restart(self, why: str, horizon: Horizon, situation: Situation) -> str:
        """Give up an estimate and restart. Returns why that is not possible yet; else empty."""
        self.consistency.restarted(why)
        self.hold.outlast(horizon.window, situation.suspended, self.lift.as_before)
        previous = self.activity.unlearned(self.lift.ground_under(horizon.previous_state()))
        previous = self.turn.unlearned(previous)
        failure = horizon.restart(situation, previous)
        if not failure:  # even if a monitor objects, these data give no better window
            self.begin(horizon, situation)
        return failure

    def break_off(self, stamp_ns: int, horizon: Horizon) -> bool:
        """End an estimate at a gap of the data, which begin again at a stamp.

        Returns False if the gap is negative or so long that nothing can be assumed of the robot.
        """
        gap = 1e-9 * (stamp_ns - (horizon.newest_ns or stamp_ns))
        if horizon.window is not None:
            back = f"a stamp {abs(gap):.2f} s before the newest"
            self.consistency.restarted(f"no data for {gap:.2f} s" if gap > 0.0 else back)
        if not 0.0 < gap < CONSISTENCY.longest_gap:
            return False
        if horizon.window is not None:
            self.hold.keep(horizon.window)
        horizon.break_off()
        return True

    def assess(self, m: Measurement, window: Window | None) -> Situation:
        """Situation of the next node."""
        situation = ON_ITS_FEET
        for monitor in self:
            situation = monitor.assess(m, window, situation)
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Check a window that has been solved. Returns why it is lost; empty if it is not."""
        situation = situation.holding(self.hold.held)
        return next(filter(None, [monitor.judge(window, situation) for monitor in self]), "")
