# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Foot planner: which contacts stand over the horizon, and where the feet in the air go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..robot import Robot
from .footholds import foothold
from .gait import FOREVER, Gait, GaitSchedule
from .motion_types import RobotState, VelocityCommand
from .swing import DEPTH, Swing
from .trunk import TrunkReference

EARLY = 0.4  # share of a swing from which on a load is a touch-down
DETECTION = 0.02  # s after touch-down, by which a foot carries if it has come down
LATEST = 0.1  # s after touch-down, until which a foot without load searches for the ground,
SEARCH_SPEED = 0.4  # m/s, downwards,
SEARCH_NODES = 2  # in the next nodes,
SEARCH_WEIGHT = 20.0  # with so many times the usual weight
UNHEARD = 0.1  # s without news of what carries, after which feet are taken to do as scheduled
GROUND_TIME = 0.1  # s, of the low pass of the height of the ground


@dataclass(frozen=True)
class FeetPlan:
    """Plan of the feet at the nodes of a horizon.

    Attributes:
        stands: (n, contacts) bool.
        position, velocity: (n, contacts, 3) of those in the air, world [m, m/s].
        weight: (n, contacts) factor of the cost of position and velocity.
    """

    stands: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    weight: np.ndarray

    @staticmethod
    def standing(n: int, contacts: int) -> FeetPlan:
        """All contacts stand."""
        shape = (n, contacts, 3)
        return FeetPlan(
            np.ones((n, contacts), bool), np.zeros(shape), np.zeros(shape), np.zeros((n, contacts))
        )


class FootPlanner:
    """Follows each contact through its swings; corners of one sole swing together.

    Args:
        robot: floating base, contacts.
        posture: (nq,) nominal standing posture.
        gait: the first one.
        clearance: apex of a swing above its ends [m].

    Attributes:
        nominal: (contacts, 2) places of the contacts in the heading frame, standing [m].
        ground: height of the ground under the standing feet [m]; None before the first state.
        schedule: of the swings.
    """

    def __init__(self, robot: Robot, posture: np.ndarray, gait: Gait, clearance: float):
        self._model, self._data = robot.model, robot.model.createData()
        self._frames = [robot.model.getFrameId(c.frame) for c in robot.contacts]
        self._offsets = [np.array(c.position, float) for c in robot.contacts]
        self._radius = np.array([c.radius for c in robot.contacts])
        self._foot = [robot.feet.index(c.foot) for c in robot.contacts]
        self._clearance = clearance
        self.nominal = self.centres(posture)[:, :2] - posture[:2]
        ahead, left = (self.nominal - self.nominal.mean(axis=0)).T > 0.0
        quarter = {foot: 2 * (not a) + (not b) for foot, a, b in zip(self._foot, ahead, left)}
        self.schedule = GaitSchedule([quarter[foot] for foot in range(len(robot.feet))], gait)
        self.reset()

    def reset(self) -> None:
        """Forget what was observed; the gait goes on."""
        self.ground: float | None = None
        self._lifted: list[np.ndarray | None] = [None] * len(self._foot)
        self._landed = [-FOREVER] * len(self._foot)
        self._carried = [-FOREVER] * len(self._foot)

    def centres(self, q: np.ndarray) -> np.ndarray:
        """(contacts, 3) centres of the contact spheres, world [m]."""
        pin.framesForwardKinematics(self._model, self._data, q)
        return np.array([self._data.oMf[f] * o for f, o in zip(self._frames, self._offsets)])

    def bottoms(self, q: np.ndarray) -> np.ndarray:
        """(contacts,) heights of the lowest points of the contact spheres, world [m]."""
        return self.centres(q)[:, 2] - self._radius

    def observe(self, state: RobotState, time: float, dt: float) -> None:
        """Take notice of where the feet are and which ones carry, dt [s] after the last time.

        What carries is known of an earlier time, and is news about the phase of that time: a foot
        that carried before it was lifted has not come down since.
        """
        self._now = self.centres(state.q)
        self._known = 1e-9 * state.contacts_ns
        bottoms = self._now[:, 2] - self._radius
        standing, unheard = [], time - self._known > UNHEARD
        for i, foot in enumerate(self._foot):
            stood = unheard or (state.carries[i] and self._stood(i, foot))
            if stood and not self.schedule.phase(foot, time).swinging:
                self._lifted[i] = self._now[i].copy()
                standing.append(bottoms[i])
        if self.ground is None:
            self.ground = float(bottoms.min())
        elif standing:
            self.ground += min(1.0, dt / GROUND_TIME) * (float(np.mean(standing)) - self.ground)

    def _stood(self, i: int, foot: int) -> bool:
        """Take notice that a contact carried at the known time; whether it had come down for it."""
        self._carried[i] = self._known
        phase = self.schedule.phase(foot, self._known)
        lands = phase.swinging and phase.progress(self._known) > EARLY
        if lands:
            self._landed[i] = phase.touch_down
        return lands or not phase.swinging

    def swinging(self, time: float) -> np.ndarray:
        """(contacts,) which contacts are scheduled to be in the air at a time [s]."""
        return np.array([self.schedule.phase(foot, time).swinging for foot in self._foot])

    def middle(self) -> np.ndarray:
        """(2,) mean of the contacts' places at the last observation, world [m]."""
        return self._now[:, :2].mean(axis=0)

    def plan(
        self,
        state: RobotState,
        trunk: TrunkReference,
        command: VelocityCommand,
        times: np.ndarray,
        velocity_error: np.ndarray,
        shift: np.ndarray,
    ) -> FeetPlan:
        """Stances and swings at the nodes.

        Args:
            state: the present one.
            trunk: reference of the base.
            command: the velocity command that is followed.
            times: (n,) of the nodes [s], the first one now.
            velocity_error: (2,) of the base, smoothed, world [m/s].
            shift: (2,) of the centre of mass from the middle of the feet, heading frame [m].
        """
        plan = FeetPlan.standing(len(times), len(self._foot))
        half = 0.5 * (times[1] - times[0])
        for i, foot in enumerate(self._foot):
            start = self._lifted[i] if self._lifted[i] is not None else self._now[i]
            swing: Swing | None = None
            for k, time in enumerate(times):
                phase = self.schedule.phase(foot, time + half)
                if not phase.swinging or self._landed[i] == phase.touch_down:
                    continue
                if swing is None or swing.touch_down != phase.touch_down:
                    ahead = max(0.0, phase.touch_down - times[0])
                    end = self._end(i, ahead, state, trunk, command, velocity_error, shift)
                    start = start if swing is None else swing.end
                    swing = Swing(phase.lift_off, phase.touch_down, start, end, self._clearance)
                plan.stands[k, i], plan.weight[k, i] = False, 1.0
                plan.position[k, i], plan.velocity[k, i] = swing.at(time)
            if self._searches(i, times[0]):
                self._search(plan, i, times)
        return plan

    def _searches(self, i: int, now: float) -> bool:
        """Whether a foot that is due is known to carry nothing."""
        last = self.schedule.last_touch_down(self._foot[i], now)
        due = DETECTION <= self._known - last and now - last < LATEST
        return due and self._carried[i] < last - EARLY * self.schedule.gait.swing

    def _search(self, plan: FeetPlan, i: int, times: np.ndarray) -> None:
        for k in range(min(SEARCH_NODES, len(times))):
            depth = SEARCH_SPEED * (times[k] - times[0])
            plan.stands[k, i], plan.weight[k, i] = False, SEARCH_WEIGHT
            plan.position[k, i] = self._now[i] - [0.0, 0.0, depth]
            plan.velocity[k, i] = [0.0, 0.0, -SEARCH_SPEED]

    def _end(self, i, ahead, state, trunk, command, velocity_error, shift) -> np.ndarray:
        """(3,) where a contact comes down so many seconds from now."""
        place, yaw, _ = trunk.ahead(command, np.array([ahead]))
        base = place[0] - trunk.position + state.q[:2]
        height = state.q[2] - self.ground
        stance = self.schedule.gait.stance
        xy = foothold(
            self.nominal[i] + shift, base, float(yaw[0]), command, stance, velocity_error, height
        )
        return np.array([*xy, self.ground + self._radius[i] - DEPTH])
