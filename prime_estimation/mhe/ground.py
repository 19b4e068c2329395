# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground height under each foot.

A parameter of the window that belongs to one stance and is placed anew at touch-down.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..contact.detection import Stance
from ..contact.leg_forces import CLEARANCE, LegForces
from ..robot import GRAVITY
from .problem import Problem
from .window import Window

GATE = 0.004  # a foot that touches down within this of the known ground stands on it [m]
# bounds of the coefficient: above, the contact step of a bent leg can have no solution (jamming)
FRICTION = (0.1, 1.2)
FRICTION_STDDEV = 0.05  # of its logarithm, once it has been put back to a bound
CAUTION = 4.0  # a robot that is held touches the ground only where a leg clearly carries
SINK = 0.004  # an unloaded foot this far below the known ground proves it wrong [m]
RELEASE_NODES = 3  # without load before a foot counts as lifted: an early release costs mass
REST = 0.3  # a foot slower than this [m/s, vertical] has arrived on the ground


class Terrain:
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
        on = min(max(15.0, 0.08 * weight), 0.15 * weight)
        self.stance = Stance(problem.dynamics.nfeet, on, on / 3.0, RELEASE_NODES)
        self._arriving = np.zeros(problem.dynamics.nfeet, bool)

    @property
    def airborne(self) -> np.ndarray:
        """(nf,) feet that carried nothing at last.

        None of a robot on a fixed base, whose feet are not followed.
        """
        return ~self.stance.loaded if self.legs is not None else np.zeros_like(self.stance.loaded)

    def process_noise(self, held: bool) -> np.ndarray:
        """Root (ndx, np) of the random walk of all parameters over one step.

        That of the inertia is left out while it is held.
        """
        problem, noise, e = self.problem, self.problem.config.noise, self.problem.config.estimator
        root = np.zeros((problem.ndx, problem.np))
        step = np.sqrt(problem.dt)

        def diagonal(name: str, std: float) -> None:
            rows = range(*problem.columns(name).indices(problem.ndx))
            for row in rows:
                root[row, row - 2 * problem.nv] = std

        diagonal("accelerometer_bias", noise.accelerometer_bias_walk * step)
        diagonal("gyro_bias", noise.gyro_bias_walk * step)
        diagonal("height", e.terrain_walk)
        diagonal("friction", e.friction_walk * step)
        theta = problem.columns("theta")
        if not held:
            root[theta, theta.start - 2 * problem.nv : theta.stop - 2 * problem.nv] = (
                step * problem.theta_walk_root
            )
        return root

    def update(self, window: Window) -> None:
        """Look at the newest complete node: who has touched down, and on which ground."""
        if self.legs is None or window.inputs[-2].ground_depth > 0.0:
            return
        problem, nq = self.problem, self.problem.nq
        before, after = window.xs[-2], window.xs[-1]
        v = before[nq : nq + problem.nv]
        a = (after[nq : nq + problem.nv] - v) / problem.dt
        points, rates, normal = self.legs.evaluate(
            before[:nq], v, a, np.array(window.inputs[-2].torque)
        )
        sole, rate = points[:, 2], rates[:, 2]
        # a foot on its way up does not touch down
        touchdown = self.stance.update(
            np.where(rate < REST, normal, 0.0), CAUTION if problem.carried else 1.0
        )
        above = sole - problem.parameter(after, "height")
        settled = self._arriving & (np.abs(rate) < REST)
        self._arriving = (self._arriving | touchdown) & self.stance.loaded & ~settled
        reach = np.where(settled, 0.0, problem.dt * np.maximum(-rate, 0.0))
        wrong = (touchdown | settled) & ((above > GATE + reach) | (above < -GATE))
        wrong |= ~self.stance.loaded & (above < -SINK)
        if problem.carried:
            # base and ground drift against each other: the ground stays away until a foot carries
            # load
            away = ~self.stance.loaded & (above < 0.5 * CLEARANCE)
            wrong, above = wrong | away, above - CLEARANCE * away
        if wrong.any():
            self._place(window, np.flatnonzero(wrong), above)
        self._bound_friction(window)

    def _bound_friction(self, window: Window) -> None:
        """Keep the friction coefficient where the contact law has a solution.

        While nothing slips, it is hardly observed.
        """
        problem = self.problem
        column, shift = problem.columns("friction").start, problem.nq - problem.nv
        value = window.xs[-1][column + shift]
        bound = np.clip(value, *np.log(FRICTION))
        if value == bound:
            return
        rows, change = np.zeros((1, problem.ndx)), bound - window.arrival.reference[column + shift]
        window.arrival.redefine(
            [int(column)], rows, np.array([FRICTION_STDDEV]), np.array([change])
        )
        for x in window.xs:
            x[column + shift] = bound

    def _place(self, window: Window, feet: np.ndarray, above: np.ndarray) -> None:
        """Put the ground under the soles of these feet.

        Height = height of the base + what the leg says (terrain_stddev).
        """
        problem, arrival = self.problem, window.arrival
        first = problem.columns("height").start
        shift = problem.nq - problem.nv
        R = _rotation(arrival.reference)
        rows = np.zeros((len(feet), problem.ndx))
        rows[:, :3] = R[2]
        # the prior speaks of its reference, which the head has left by the corrections of base and
        # heights
        columns, head, reference = first + shift + feet, window.xs[0], arrival.reference
        change = above[feet] + (head[columns] - reference[columns]) - (head[2] - reference[2])
        arrival.redefine(
            [int(first + f) for f in feet],
            rows,
            np.full(len(feet), problem.config.estimator.terrain_stddev),
            change,
        )
        for x in window.xs:
            x[columns] += above[feet]


def _rotation(x: np.ndarray) -> np.ndarray:
    return pin.Quaternion(x[3:7]).toRotationMatrix()
