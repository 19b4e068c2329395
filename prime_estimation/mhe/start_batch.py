# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Start batch: nodes whose base is guessed, and where motion capture has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..contact.leg_forces import LegForces
from ..sensors.mocap_mount import MocapMount
from ..sensors.past_poses import base_pose
from ..types import Measurement
from .batch_attitude import ImuMotion
from .problem import Problem


@dataclass(frozen=True)
class Batch:
    """Nodes of a start batch while their base is guessed.

    Attributes:
        problem: models, priors. ms: measurements of the nodes.
        xs: states of the nodes, into which the guess is written. imu: motion that the IMU tells.
        legs: forces of the legs with the losses of the robot's YAML.
        previous_state: of an estimate that goes on in this batch, or None.
    """

    problem: Problem
    ms: list[Measurement]
    xs: list[np.ndarray]
    imu: ImuMotion
    legs: LegForces
    previous_state: np.ndarray | None

    @property
    def located(self) -> bool:
        """Motion capture tells the base's place."""
        return any(m.mocap for m in self.ms)

    def move_base(self, R0: np.ndarray, velocity: np.ndarray, position: np.ndarray) -> np.ndarray:
        """Write the motion of the base into the nodes; returns its places (n, 3) [m].

        Args:
            R0: attitude (3, 3) at the first node.
            velocity: (n, 3) [m/s], world axes.
            position: (3,) at the first node [m].
        """
        part, steps = self.problem.layout.part, self.problem.dt * np.cumsum(velocity, axis=0)
        places = position + steps - steps[0]
        nodes = zip(self.xs, places, self.imu.turns, velocity, self.imu.rates)
        for x, place, turn, v, rate in nodes:
            R = R0 @ turn
            part(x, "position")[:], part(x, "rotation")[:] = place, pin.Quaternion(R).coeffs()
            part(x, "velocity")[:], part(x, "rate")[:] = R.T @ v, rate
        return places

    def mocap_offset(self) -> np.ndarray | None:
        """Mean place (3,) [m] that motion capture says, less that of the states; None without."""
        pairs = zip(self.ms, self.xs)
        offsets = [pose.position_world - self._tracked(x) for m, x in pairs for pose in m.mocap]
        return np.mean(offsets, axis=0) if offsets else None

    def rise(self) -> np.ndarray:
        """Heights (n,) [m] by which the states rise faster than motion capture says."""
        ages, above = [], []
        for k, (m, x) in enumerate(zip(self.ms, self.xs)):
            ages += [k] * len(m.mocap)
            above += [(self._tracked(x) - pose.position_world)[2] for pose in m.mocap]
        away = np.array(ages) - np.mean(ages)
        rate = away @ above / max(away @ away, 1.0)
        return rate * (np.arange(len(self.xs)) - np.mean(ages))

    def _tracked(self, x: np.ndarray) -> np.ndarray:
        """Place (3,) of the tracked body, which may have been learned to be beside the model's."""
        mount = MocapMount.of(self.problem, x)
        return mount.world.act(base_pose(self.problem, x).act(mount.position))
