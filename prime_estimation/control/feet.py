# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Foot planner: which contacts stand over the horizon, and where the feet in the air go."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..robot import Robot
from .footholds import foothold
from .gait import FOREVER, Gait, GaitSchedule
from .motion_types import RobotState, VelocityCommand
from .swing import DEPTH, Swing
from .trunk import TrunkReference

EARLY = 0.5  # share of a swing from which on a load is a touch-down
LATE_SPEED = 0.4  # m/s, downwards, of a foot that should stand and does not
SEARCH = 20.0
DETECTION = 0.04
LATEST = 0.1  # s, that it is searched for
GROUND_TIME = 0.1  # s, of the low pass of the height of the ground


class FootPlanner:
    """Follows each foot through its swings.

    Contacts of one foot (corners of a sole) stand and swing together.

    Args:
        robot: floating base, contacts.
        posture: (nq,) nominal standing posture.
        gait: the first one.
        clearance: apex of a swing above its ends [m].

    Attributes:
        ground: height of the ground under the standing feet [m].
        schedule: of the swings.
    """

    def __init__(self, robot: Robot, posture: np.ndarray, gait: Gait, clearance: float):
        self._model, self._data = robot.model, robot.model.createData()
        self._frames = [robot.model.getFrameId(c.frame) for c in robot.contacts]
        self._offsets = [np.array(c.position, float) for c in robot.contacts]
        self._radius = np.array([c.radius for c in robot.contacts])
        self._foot = [robot.feet.index(c.foot) for c in robot.contacts]
        self._clearance = clearance
        self.nominal = self.points(posture)[:, :2] - posture[:2]
        centre = self.nominal.mean(axis=0)
        quarter = [0] * len(robot.feet)
        for contact, foot in enumerate(self._foot):
            x, y = self.nominal[contact] - centre
            quarter[foot] = 2 * int(x < 0.0) + int(y < 0.0)
        self.schedule = GaitSchedule(quarter, gait)
        self.ground: float | None = None
        self._start: list[np.ndarray | None] = [None] * len(self._foot)
        self._landed = [-FOREVER] * len(self._foot)
        self._carried = [-FOREVER] * len(self._foot)

    def points(self, q: np.ndarray) -> np.ndarray:
        """(contacts, 3) centres of the contact spheres, world [m]."""
        pin.framesForwardKinematics(self._model, self._data, q)
        return np.array([self._data.oMf[f] * o for f, o in zip(self._frames, self._offsets)])

    def observe(self, state: RobotState, time: float, dt: float) -> None:
        """Take notice of where the feet are and which ones carry."""
        self._now = self.points(state.q)
        bottoms = self._now[:, 2] - self._radius
        for i, foot in enumerate(self._foot):
            phase = self.schedule.phase(foot, time)
            if phase.swinging:
                progress = (time - phase.lift_off) / (phase.touch_down - phase.lift_off)
                if progress > EARLY and state.carries[i]:
                    self._landed[i] = phase.touch_down
            elif state.carries[i]:
                self._start[i] = self._now[i].copy()
            if state.carries[i]:
                self._carried[i] = time
        standing = [
            b
            for i, b in enumerate(bottoms)
            if state.carries[i] and not self.schedule.phase(self._foot[i], time).swinging
        ]
        if self.ground is None:
            self.ground = float(bottoms.min())
        elif standing:
            share = min(1.0, dt / GROUND_TIME)
            self.ground += share * (float(np.mean(standing)) - self.ground)

    def plan(
        self,
        state: RobotState,
        trunk: TrunkReference,
        command: VelocityCommand,
        times: np.ndarray,
        velocity: np.ndarray,
        com_shift: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Stances (n, contacts), positions and velocities (n, contacts, 3) of the feet in the air.

        Args:
            state, trunk, command: present state, reference and command.
            times: (n,) of the nodes [s].
            velocity: (2,) of the base, smoothed, world [m/s].
            com_shift: (2,) of the centre of mass from above the feet's nominal middle, heading frame.
        """
        n = len(times)
        step = times[1] - times[0]
        contacts = len(self._foot)
        stands = np.ones((n, contacts), bool)
        position, speed = np.zeros((n, contacts, 3)), np.zeros((n, contacts, 3))
        weight = np.zeros((n, contacts))
        wanted = trunk.ahead(command, np.zeros(1))[2][0]
        for i, foot in enumerate(self._foot):
            swings: dict[float, Swing] = {}
            previous = self._start[i] if self._start[i] is not None else self._now[i]
            for k, t in enumerate(times):
                phase = self.schedule.phase(foot, t + 0.5 * step)
                if not phase.swinging or self._landed[i] == phase.touch_down:
                    continue
                stands[k, i], weight[k, i] = False, 1.0
                if phase.touch_down not in swings:
                    end = self._end(i, phase.touch_down, state, trunk, command, times[0], velocity - wanted, com_shift)
                    swings[phase.touch_down] = Swing(phase.lift_off, phase.touch_down, previous, end, self._clearance)
                    previous = end
                position[k, i], speed[k, i] = swings[phase.touch_down].at(t)
            self._search(i, foot, times, stands, position, speed, weight)
        return stands, position, speed, weight

    def _search(self, i, foot, times, stands, position, speed, weight) -> None:
        """A foot that is due and does not carry goes on downwards for the next two nodes."""
        now = times[0]
        phase = self.schedule.phase(foot, now)
        swing = self.schedule.gait.swing
        if phase.swinging or not self.schedule.gait.period:
            return
        last = phase.touch_down - self.schedule.gait.period if phase.touch_down < FOREVER else -FOREVER
        if not DETECTION <= now - last < LATEST or self._carried[i] > last - EARLY * swing:
            return
        for k in range(2):
            if times[k] + 0.5 * (times[1] - times[0]) >= phase.lift_off:
                break
            stands[k, i], weight[k, i] = False, SEARCH
            position[k, i] = self._now[i] - [0.0, 0.0, LATE_SPEED * (times[k] - now)]
            speed[k, i] = [0.0, 0.0, -LATE_SPEED]

    def _end(self, i, touch_down, state, trunk, command, now, velocity_error, com_shift) -> np.ndarray:
        ahead = max(0.0, touch_down - now)
        place, yaw, _ = trunk.ahead(command, np.array([ahead]))
        base = place[0] - trunk.position + state.q[:2]
        stance = self.schedule.stance_after(touch_down)
        xy = foothold(
            self.nominal[i] + com_shift, base, float(yaw[0]), command, stance, velocity_error, state.q[2] - self.ground
        )
        return np.array([*xy, self.ground + self._radius[i] - DEPTH])
