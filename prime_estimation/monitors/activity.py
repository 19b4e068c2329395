# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Activity of the robot (standing, walking, falling...), from support, attitude and motion."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace

import numpy as np
import pinocchio as pin

from ..config.policies import ACTIVITY, GROUND, INTERVAL
from ..contact.leg_forces import FREE_FALL
from ..contact.points import contact_points
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY, Robot
from ..sensors.imu import tilt
from ..types import Activity, Measurement
from .monitor import Monitor

UP = np.array([0.0, 0.0, 1.0])


class ActivityMonitor(Monitor):
    """Classifies the activity of a floating-base robot.

    A robot on its feet walks if feet touch down or the base moves; otherwise it stands. A robot off
    its feet is falling while nothing carries it or it turns over; it has fallen if it then lies on
    its side or back; it is lying if its legs are folded and the IMU is quiet; otherwise it is
    suspended.

    While a robot gets up, its feet slide and its trunk is pushed from below. Without torques this
    biases tilt and accelerometer bias, so that the estimate restarts once the robot stands still.

    Attributes:
        activity: at present.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._legs = problem.legs if problem.has_imu else None
        self._reach = _reach(problem.robot) if self._legs else 1.0
        self._weight = GRAVITY * problem.robot.total_mass
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.activity = self._seen = Activity.UNKNOWN
        self._nodes = 0  # in a row that show what was seen last
        self._lay, self._got_up = False, False  # since the last start; the next one is for that
        self._stood = 0  # nodes for which it has stood still since
        self._loaded: list[bool] | None = None
        self._since_step = ACTIVITY.step_nodes  # nodes since a foot was put down or lifted
        self._since_turn = ACTIVITY.calm_nodes  # and since the robot has turned fast, or fell
        self._tumbled = False  # and has neither rested nor stood since
        self._since_hung = ACTIVITY.untold_nodes  # nodes since something else carried it
        # specific force in base axes, and tilt
        self._up = np.zeros((ACTIVITY.calm_nodes, 3))
        self._felt = 0  # nodes, whose forces are there in turn
        self._tilts: deque[float] = deque(maxlen=ACTIVITY.calm_nodes)

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Look at the next measurement; the estimate starts anew where the robot has got up."""
        self._got_up = False
        if self._legs is None or m.accelerometer is None or m.gyro is None or m.position is None:
            return situation
        self._feel(m)
        seen = self._off_its_feet(m, window, situation) or self._on_its_feet(window)
        self._nodes = self._nodes + 1 if seen == self._seen else 1
        self._seen = seen
        if self._nodes >= ACTIVITY.nodes or Activity.UNKNOWN in (seen, self.activity):
            self.activity = seen
        self._got_up = m.torque is None and self._has_got_up(window)
        if not self._got_up:
            return situation
        return replace(situation, restart=situation.restart or "the robot has got up")

    def judge(self, window: Window, situation: Situation) -> str:
        """What a gantry does evenly no IMU feels, and of the impacts of a fall it feels a part."""
        window.place.unfelt = self._unfelt(window, situation)
        return ""

    def _unfelt(self, window: Window, situation: Situation) -> float:
        """Deviation of a lasting velocity [m/s].

        What a fall leaves of it lasts until the robot rests or stands. Without torques nothing but
        time tells that a robot which hung, legs stretched, has been put down.
        """
        down = situation.resting or self.activity in (Activity.STANDING, Activity.WALKING)
        falls, hangs = self.activity is Activity.FALLING, self.activity is Activity.SUSPENDED
        self._tumbled = falls or (self._tumbled and not down)
        if self._tumbled:
            return INTERVAL.tumble
        self._since_hung = 0 if hangs else self._since_hung + 1
        untold = not window.weighed() and self._since_hung < ACTIVITY.untold_nodes
        return INTERVAL.hoist if hangs or untold else 0.0

    def _has_got_up(self, window: Window | None) -> bool:
        """Stands still after it has lain."""
        lies = self.activity.base_contact
        self._lay = (self._lay or lies) and window is not None
        stands = self._lay and not lies and self._is_still()
        self._stood = self._stood + 1 if stands else 0
        if self._stood < self.problem.config.estimator.start_nodes:
            return False
        self._lay = False
        return True

    def unlearned(self, state: np.ndarray | None) -> np.ndarray | None:
        """State to start anew from, without what was learned while the robot got up."""
        if state is None or not self._got_up:
            return state
        state = state.copy()
        self.problem.parameter(state, "accelerometer_bias")[:] = 0.0
        return state

    def _feel(self, m: Measurement) -> None:
        base_M_imu, _ = self.problem.mount.motion(m.position, m.velocity)
        self._up[self._felt % len(self._up)] = base_M_imu.rotation @ m.accelerometer
        self._felt += 1
        turns = math.hypot(*m.gyro.tolist()) > ACTIVITY.turning
        falls = math.hypot(*m.accelerometer.tolist()) < FREE_FALL * GRAVITY
        self._since_turn = 0 if turns or falls else self._since_turn + 1

    def _off_its_feet(
        self, m: Measurement, window: Window | None, situation: Situation
    ) -> Activity | None:
        """What a robot does that its feet do not carry; None where they do."""
        up = self._up[: self._felt].sum(axis=0)
        up /= max(math.hypot(*up.tolist()), 1e-9)
        leans = self._tilt(up, window)
        self._tilts.append(leans)
        rests = situation.resting or (m.torque is None and self._is_still())
        off = situation.suspended or leans > ACTIVITY.overturned
        folded = (off or rests) and leans < ACTIVITY.upright and self._is_folded(m, up)
        if not (off or folded):
            return None
        was = self.activity
        fell = was in (Activity.FALLING, Activity.FALLEN)
        if self._since_turn < ACTIVITY.calm_nodes and was is not Activity.FALLEN:
            nothing_carries = math.hypot(*m.accelerometer.tolist()) < FREE_FALL * GRAVITY
            tips = leans > max(ACTIVITY.upright, self._tilts[0])  # put upright, it leans less
            if was is Activity.FALLING or nothing_carries or tips:
                return Activity.FALLING
        if leans > ACTIVITY.overturned and (fell or rests):
            return Activity.FALLEN
        return Activity.LYING if folded and (rests or was is Activity.LYING) else Activity.SUSPENDED

    def _tilt(self, up: np.ndarray, window: Window | None) -> float:
        """Angle between the base's vertical axis and the vertical [rad]."""
        if window is not None and self._since_turn < ACTIVITY.calm_nodes:
            up = window.up()
        return tilt(up)

    def _is_still(self) -> bool:
        """The specific force has been the same for a while."""
        full = self._felt >= len(self._up)
        return full and float(np.std(self._up, axis=0).max()) < ACTIVITY.still

    def _is_folded(self, m: Measurement, up: np.ndarray) -> bool:
        """No foot is far enough below the base to carry it."""
        rotation = pin.Quaternion.FromTwoVectors(up, UP).toRotationMatrix()
        q, rates = self.problem.robot.coordinates(m.position), np.zeros(len(m.position))
        soles = self._legs.kinematics(rotation, q, rates, None)[1]
        return -float(soles[:, 2].min()) < ACTIVITY.folded * self._reach

    def _on_its_feet(self, window: Window | None) -> Activity:
        if window is None:
            return Activity.UNKNOWN
        before, self._loaded = self._loaded, self._on_the_ground(window)
        stepped = before is not None and before != self._loaded
        self._since_step = 0 if stepped else self._since_step + 1
        forward, left, _ = self.problem.layout.part(window.xs[-1], "velocity").tolist()
        speed = math.hypot(forward, left)
        moves = self._since_step < ACTIVITY.step_nodes or speed > ACTIVITY.speed
        return Activity.WALKING if moves else Activity.STANDING

    def _on_the_ground(self, window: Window) -> list[bool]:
        """Feet that stand: that carry or, where no torque tells how much, that do not move."""
        if window.weighed():
            evidence = window.foot_forces().tolist()
            on, off = ACTIVITY.loaded * self._weight, ACTIVITY.unloaded * self._weight
        else:
            evidence = [-math.hypot(*rate) for rate in window.legs()[1].tolist()]
            on, off = -GROUND.still, -GROUND.slow
        before = self._loaded or [False] * len(evidence)
        return [value > (off if was else on) for value, was in zip(evidence, before)]


def _reach(robot: Robot) -> float:
    """Length of the longest leg, stretched, from its second joint to the sole [m]."""
    model, legs = robot.model, []
    for contact in contact_points(robot):
        joints = robot.joints_to(contact.joint)[1:]
        links = sum(float(np.linalg.norm(model.jointPlacements[j].translation)) for j in joints)
        legs.append(links + float(np.linalg.norm(contact.position)) + contact.radius)
    return max(legs)
