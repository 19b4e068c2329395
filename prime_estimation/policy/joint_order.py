# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint orders of the usual training frameworks, by name, and the way from one to the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import ConfigError
from ..io.unitree import family_of
from ..robot import Robot
from ..sensors.choice import texts
from .arguments import numbers

# joints of one leg after the other, as they stand in the URDF or MJCF
DEPTH_FIRST = ("pinocchio", "isaac_gym", "mujoco", "newton")
BREADTH_FIRST = ("isaac_lab",)  # first joints of all legs, then the second ones: PhysX
FRAMEWORKS = (*DEPTH_FIRST, *BREADTH_FIRST, "unitree")


class JointArrays:
    """Arrays of joints in an order of one's own, and in that of the robot.

    Args:
        robot: whose joints.
        order: one of FRAMEWORKS, or the names of all joints of the robot.

    Attributes:
        names: in the chosen order.

    Raises:
        ConfigError: there is no such framework, or the names are not those of the robot's joints.
    """

    def __init__(self, robot: Robot, order: str | Sequence[str] = "pinocchio"):
        expected = f"joints must be {', '.join(FRAMEWORKS)}, or a list of the names of the joints"
        named = isinstance(order, str)
        self.names = joint_order(robot, order) if named else texts(order, expected)
        known, given = set(robot.joint_names), set(self.names)
        if known != given or len(self.names) != robot.nj:
            wrong = ", ".join(sorted(known ^ given)) or "a joint that is named twice"
            what = f"a joint order needs each of its {robot.nj} joints once"
            raise ConfigError(f"{robot.name}: {what}; it differs in {wrong}", order)
        self._to_robot = np.array([self.names.index(n) for n in robot.joint_names], int)
        self._from_robot = np.argsort(self._to_robot)

    def to_robot(self, values) -> np.ndarray:
        """Values (nj,) of one's own order in the order of `Robot.joint_names`."""
        values = numbers(values, "joints")
        if values.shape != (len(self.names),):
            raise ConfigError(
                f"an array of joints must have the shape ({len(self.names)},), has {values.shape}",
                values,
            )
        return values[self._to_robot]

    def from_robot(self, values: np.ndarray) -> np.ndarray:
        """Values (nj,) of the order of `Robot.joint_names` in one's own."""
        return np.asarray(values)[self._from_robot]


def joint_order(robot: Robot, framework: str) -> tuple[str, ...]:
    """Names of a robot's joints in the order of a framework.

    `isaac_lab`: breadth first, as PhysX numbers joints; `isaac_gym`, `mujoco` (joints, not
    actuators), `newton`, `pinocchio`: depth first, siblings as Pinocchio sorts them, which is the
    order of the published models of Go2 and G1; `unitree`: motor numbers of LowState.

    Raises:
        ConfigError: there is no such framework.
    """
    if framework in DEPTH_FIRST:
        return tuple(robot.joint_names)
    if framework in BREADTH_FIRST:
        supports = robot.model.supports
        depth = {robot.model.names[i]: len(supports[i]) for i in robot.joint_ids}
        return tuple(sorted(robot.joint_names, key=depth.__getitem__))  # a stable sort
    if framework == "unitree":
        return tuple(n for n in family_of(robot.name).joints if n in robot.joint_names)
    raise ConfigError(f"no joint order '{framework}'; there are {', '.join(FRAMEWORKS)}", framework)
