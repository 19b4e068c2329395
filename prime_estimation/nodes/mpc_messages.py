# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Messages of the MPC node: motor commands, joint commands, planned contact forces, diagnostics."""

from __future__ import annotations

import numpy as np

from ..control.motion_types import JointCommand, Plan
from ..io.to_messages import Make
from ..robot import Robot
from .diagnostics import diagnostic_status


class MpcMessages:
    """Builds what the MPC node sends.

    Args:
        robot: gives names.
        make: function from a message type's name to its class.
    """

    def __init__(self, robot: Robot, make: Make, node: str = "mpc"):
        self._robot, self._make, self._node = robot, make, node
        self._names = list(robot.joint_names)

    def motor_commands(self, stamped, command: JointCommand):
        """prime_estimation_msgs/MotorCommands."""
        return self._make("prime_estimation_msgs/msg/MotorCommands")(
            header=stamped,
            name=self._names,
            position=command.position,
            velocity=command.velocity,
            effort=command.effort,
            stiffness=command.kp,
            damping=command.kd,
        )

    def joint_commands(self, stamped, command: JointCommand, torque: np.ndarray):
        """sensor_msgs/JointState with the torque that the command amounts to."""
        return self._make("sensor_msgs/msg/JointState")(
            header=stamped,
            name=self._names,
            position=command.position,
            velocity=command.velocity,
            effort=torque,
        )

    def contact_wrenches(self, stamped, plan: Plan):
        """prime_estimation_msgs/ContactWrenches of the first node of a plan."""
        make = self._make
        point, vector = make("geometry_msgs/msg/Point"), make("geometry_msgs/msg/Vector3")
        contacts = [
            make("prime_estimation_msgs/msg/ContactWrench")(
                name=contact.name,
                position=point(x=float(p[0]), y=float(p[1]), z=float(p[2] - contact.radius)),
                wrench=make("geometry_msgs/msg/Wrench")(
                    force=vector(x=float(f[0]), y=float(f[1]), z=float(f[2])),
                    torque=vector(x=0.0, y=0.0, z=0.0),
                ),
                force_covariance=np.zeros(9),
                probability=float(stands),
                state=int(stands),
            )
            for contact, f, p, stands in zip(
                self._robot.contacts, plan.forces, plan.points, plan.stands[0], strict=True
            )
        ]
        return make("prime_estimation_msgs/msg/ContactWrenches")(header=stamped, contacts=contacts)

    def diagnostics(self, stamped, values: dict, reason: str, doubt: str):
        """diagnostic_msgs/DiagnosticArray; an error while there is a reason not to walk.

        A warning while there is a doubt only.
        """
        make = self._make
        kind = make("diagnostic_msgs/msg/DiagnosticStatus")
        level = kind.ERROR if reason else kind.WARN if doubt else kind.OK
        name, said = f"{self._node}: controller", reason or doubt or values["mode"]
        status = diagnostic_status(make, name, level, said, values)
        return make("diagnostic_msgs/msg/DiagnosticArray")(header=stamped, status=[status])
