# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Mount of motion capture: where its body sits on the base, its clock, and its world."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from ..types import PoseSample
from .tracker import EstimationProblem

NAME = "mocap"  # of the sensor, its residual, and the parameters of its body's rotation
# parameter blocks where mounts are parameters
POSITION, DELAY, WORLD = "mocap_position", "mocap_delay", "mocap_world"


@dataclass(frozen=True)
class MocapMount:
    """What a state says of it, beside the model.

    Attributes:
        rotation, position: (3,) of the tracked body in the base [rad, m].
        tilt: (3,) rotation of its world against gravity [rad]. delay: of its stamps [s].
    """

    rotation: np.ndarray
    position: np.ndarray
    tilt: np.ndarray
    delay: float

    @staticmethod
    def of(problem: EstimationProblem, x: np.ndarray) -> MocapMount:
        """Mount at a state; zeros where it is no parameter."""
        part = problem.layout.part
        rotation, position = part(x, NAME), part(x, POSITION)
        if not position.size:
            return MocapMount(rotation, np.zeros(3), np.zeros(3), 0.0)
        tilt = np.array([*part(x, WORLD).tolist(), 0.0])
        return MocapMount(rotation, position, tilt, float(part(x, DELAY)[0]))

    @property
    def body(self) -> pin.SE3:
        """Pose of the tracked body in the base."""
        return pin.SE3(pin.exp3(np.array(self.rotation)), np.array(self.position))

    @property
    def world(self) -> pin.SE3:
        """Pose of our world in that of motion capture."""
        return pin.SE3(pin.exp3(np.array(self.tilt)), np.zeros(3))


def turned_back(pose: PoseSample, turn: np.ndarray, place: np.ndarray) -> PoseSample:
    """Pose of the base, whose tracked body is turned: `R = R' C`, `p = p' + (R' - R) l`.

    Args:
        pose: that it would have by the mount of the YAML, R' and p'.
        turn: (3, 3) C, of the body beyond that.
        place: (3,) l of the body in the base [m].
    """
    before = pin.Quaternion(np.array(pose.quat_world_body)).normalized().toRotationMatrix()
    after = before @ turn
    position = np.asarray(pose.position_world) + (before - after) @ place
    return replace(
        pose, position_world=position, quat_world_body=pin.Quaternion(after).coeffs().copy()
    )
