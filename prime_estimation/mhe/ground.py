# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground height under each foot.

A parameter of the window that belongs to one stance and is placed anew at touch-down.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..config.policies import GROUND
from ..contact.detection import LoadHysteresis
from ..contact.leg_forces import CLEARANCE, FREE_FALL, LegForces
from ..robot import GRAVITY
from .problem import Problem
from .process_model import Situation
from .window import Window


class Ground:
    """Follows touch-downs and keeps the ground heights of the window right.

    A foot that touches down near the height known for it keeps that height (with a random walk): on
    level ground the height of the base stays tied to it. Elsewhere the height becomes that of the
    foot, correlated with the height of the base. A foot comes down with 2-3 m/s, 3 cm per node:
    what is within its reach in one node is judged when it has come to rest.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.legs = LegForces(problem.robot) if problem.dynamics.nc and problem.floating else None
        weight = GRAVITY * problem.robot.total_mass
        # the noise of leg forces grows with the weight; a light robot's feet carry less
        on = min(max(GROUND.load, GROUND.load_share * weight), GROUND.load_most * weight)
        feet = problem.dynamics.nfeet
        self.stance = LoadHysteresis(feet, on, on * GROUND.release_share, GROUND.release_nodes)
        self._arriving = np.zeros(feet, bool)

    @property
    def airborne(self) -> np.ndarray:
        """(nf,) feet that carried nothing at last.

        None of a robot on a fixed base, whose feet are not followed.
        """
        return ~self.stance.loaded if self.legs is not None else np.zeros_like(self.stance.loaded)

    def update(self, window: Window, situation: Situation) -> None:
        """Look at the newest complete node: who has touched down, and on which ground."""
        if self.legs is None or window.inputs[-2].ground_depth > 0.0:
            return
        problem, after = self.problem, window.xs[-1]
        points, rates, normal = self._feet(window)
        sole, rate = points[:, 2], rates[:, 2]
        above = sole - problem.parameter(after, "height")
        weighed = window.inputs[-2].weighed
        if not weighed:
            normal = self._load_by_motion(window, above, rates)
        # a foot on its way up does not touch down
        caution = GROUND.caution if situation.suspended else 1.0
        touchdown = self.stance.update(np.where(rate < GROUND.rest, normal, 0.0), caution)
        settled = self._arriving & (np.abs(rate) < GROUND.rest)
        self._arriving = (self._arriving | touchdown) & self.stance.loaded & ~settled
        reach = np.where(settled, 0.0, problem.dt * np.maximum(-rate, 0.0))
        gate = GROUND.gate if weighed else GROUND.gate_by_motion
        wrong = (touchdown | settled) & ((above > gate + reach) | (above < -gate))
        wrong |= ~self.stance.loaded & (above < -gate)
        if not weighed:
            wrong |= self._left_hanging(window, normal)
        if situation.suspended:
            # base and ground drift against each other: the ground stays away until a foot carries
            # load
            away = ~self.stance.loaded & (above < 0.5 * CLEARANCE)
            wrong, above = wrong | away, above - CLEARANCE * away
        if wrong.any():
            self._place(window, np.flatnonzero(wrong), above)
        self._bound_friction(window)

    def _feet(self, window: Window) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Soles [m], their rates [m/s] and normal forces [N] of the feet at the newest complete node."""
        layout, (before, after) = self.problem.layout, window.xs[-2:]
        v = layout.v(before)
        a = (layout.v(after) - v) / self.problem.dt
        return self.legs.evaluate(layout.q(before), v, a, np.array(window.inputs[-2].torque))

    def _load_by_motion(self, window: Window, above: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Normal forces (nf,) [N] of legs without torque: the slow and low feet share the weight.

        What the IMU feels must be carried by something. Feet are compared with each other, so that
        some carry even where base and ground have drifted apart.
        """
        felt = float(np.linalg.norm(window.inputs[-2].value("accelerometer")))
        if felt < FREE_FALL * GRAVITY:
            return np.zeros(len(above))
        lift = (above - above.min()) / GROUND.near
        slow = np.linalg.norm(rates, axis=1) / GROUND.slow
        likely = np.exp(-0.5 * (lift**2 + slow**2)) + np.finfo(float).tiny
        return self.problem.robot.total_mass * felt * likely / likely.sum()

    def _left_hanging(self, window: Window, normal: np.ndarray) -> np.ndarray:
        """(nf,) feet that ought to carry a robot which no foot carries in the newest window."""
        steps = range(window.size - GROUND.hanging_nodes, window.size)
        carried = max(window.foot_forces(k).sum() for k in steps)
        hangs = carried < GROUND.hanging_share * normal.sum()
        return hangs & (normal > self.stance.on)

    def _bound_friction(self, window: Window) -> None:
        """Keep the friction coefficient where the contact law has a solution.

        While nothing slips, it is hardly observed.
        """
        value = self.problem.parameter(window.xs[-1], "friction")[0]
        bound = np.clip(value, np.log(GROUND.least_friction), np.log(GROUND.most_friction))
        if value == bound:
            return
        column = self.problem.columns("friction").start
        reference = self.problem.parameter(window.arrival.reference, "friction")[0]
        window.arrival.replace_prior(
            [int(column)],
            np.zeros((1, self.problem.ndx)),
            np.array([GROUND.bounded_stddev]),
            np.array([bound - reference]),
        )
        window.set_parameter("friction", np.array([bound]))

    def _place(self, window: Window, feet: np.ndarray, above: np.ndarray) -> None:
        """Put the ground under the soles of these feet.

        Height = height of the base + what the leg says (terrain_stddev).
        """
        problem, arrival = self.problem, window.arrival
        first, head, reference = problem.columns("height").start, window.xs[0], arrival.reference
        rows = np.zeros((len(feet), problem.ndx))
        rows[:, :3] = pin.Quaternion(reference[3:7].copy()).toRotationMatrix()[2]
        # the prior speaks of its reference, which the head has left by the corrections of base and
        # heights
        moved = problem.parameter(head, "height") - problem.parameter(reference, "height")
        change = above[feet] + moved[feet] - (head[2] - reference[2])
        stddev = np.full(len(feet), problem.config.estimator.terrain_stddev)
        arrival.replace_prior([int(first + f) for f in feet], rows, stddev, change)
        heights = problem.parameter(head, "height").copy()
        heights[feet] += above[feet]
        window.set_parameter("height", heights)
