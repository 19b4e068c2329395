# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torques that a motion of a fixed-base machine needs, by named parameters, at all nodes at once.

tau = M(q) a + c(q, v) - J^T m g(tilt) + armature a + stiffness q + loss(v)
0   = tau - gain u(t - delay) - offset
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import pinocchio as pin

from .. import _core
from ..errors import ConfigError
from ..joint_friction import FRICTION_VELOCITY
from ..robot import Robot
from .friction import FRICTION, friction
from .payload import Payload, Payloads

# dynamic parameters of a body about its joint: m, m c, inertia
INERTIA = ("mass", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
JOINT = ("armature", "stiffness", *FRICTION, "gear_loss", "gain", "offset", "zero")
WHOLE = ("tilt_x", "tilt_y", "tilt_z", "delay")
STRIBECK_VELOCITY = 0.1  # rad/s, until it is estimated


@dataclass(frozen=True)
class Loads:
    """Torques (n, nj) of a motion with derivatives: (n, nj, nj), by parameters (n, nj, np)."""

    torque: np.ndarray
    by_position: np.ndarray
    by_rate: np.ndarray
    by_acceleration: np.ndarray
    by_parameters: np.ndarray


@dataclass(frozen=True)
class Motors:
    """Torques (n, nj) of motors behind gears; derivatives by the joints' rates, by parameters."""

    torque: np.ndarray
    by_rate: np.ndarray
    by_parameters: np.ndarray


class Machine:
    """Fixed-base robot with its parameters, which have names.

    Of a body `LINK.mass`, `LINK.mx` ... `LINK.Izz` (dynamic parameters about its joint: kg, kg m,
    kg m^2); of a joint `JOINT.armature` [kg m^2], `.stiffness` [Nm/rad], `.viscous` [Nm s/rad],
    `.dry`, `.stribeck` [Nm], `.stribeck_velocity` [rad/s], `.gain` (of torque), `.gear_loss`
    (share of the motor's torque), `.offset` [Nm], `.zero` (by which the joint's angle exceeds what
    its encoder reads [rad]); of a payload `PAYLOAD.mass` [kg] and `.along` [m]; of the whole
    `tilt_x`, `tilt_y`, `tilt_z` (rotation of gravity [rad]) and `delay` (of torque [s]).

    Attributes:
        names: of all parameters. nominal: their values in the robot's description.

    Raises:
        ConfigError: the base of the robot is free, or a payload is on no link of it.
    """

    def __init__(
        self,
        robot: Robot,
        friction_velocity: float = FRICTION_VELOCITY,
        payloads: Sequence[Payload] = (),
    ):
        if not isinstance(robot, Robot):
            raise ConfigError(f"Machine takes a Robot (Robot.load), got {robot!r:.60}", robot)
        if robot.config.floating_base:
            raise ConfigError(f"{robot.name} has a free base: its YAML needs floating_base: false")
        self.nj, self.friction_velocity = robot.nj, friction_velocity
        model = robot.model.copy()
        self._gravity = model.gravity.linear.copy()
        armature = np.array(model.armature)
        model.armature[:] = 0.0
        self._dynamics = _core.InverseDynamics(model)
        links = [f"{robot.links[j]}.{name}" for j in robot.joint_ids for name in INERTIA]
        joints = [f"{joint}.{name}" for name in JOINT for joint in robot.joint_names]
        self._payloads = Payloads([robot.links[j] for j in robot.joint_ids], payloads)
        self.names = (*links, *joints, *self._payloads.names, *WHOLE)
        self._of_payloads = slice(len(links) + len(joints), -len(WHOLE))
        self._index = {name: i for i, name in enumerate(self.names)}
        pi = np.concatenate(
            [robot.model.inertias[j].toDynamicParameters() for j in robot.joint_ids]
        )
        per_joint = dict.fromkeys(JOINT, np.zeros(self.nj)) | {
            "armature": armature,
            "viscous": robot.joint_damping,
            "dry": robot.joint_friction,
            "stribeck": robot.stribeck,
            "stribeck_velocity": np.where(
                robot.stribeck > 0.0, robot.stribeck_velocity, STRIBECK_VELOCITY
            ),
            "gear_loss": robot.gear_loss,
            # a robot's scale, offset, delay and zeros are those of readings, these of what is true
            "gain": 1.0 / robot.torque_scale,
            "offset": -robot.torque_offset / robot.torque_scale,
            "zero": -robot.joint_zeros,
        }
        whole = np.zeros(len(self._payloads.names) + len(WHOLE))
        whole[-1] = -robot.config.torque_delay
        self.nominal = np.concatenate([pi, *per_joint.values(), whole])

    def index(self, name: str) -> int:
        """Place of a parameter.

        Raises:
            ConfigError: there is none of that name.
        """
        if name not in self._index:
            near = get_close_matches(name, self.names, n=3, cutoff=0.3)
            raise ConfigError(f"no parameter is called {name!r}; near it: {', '.join(near)}", name)
        return self._index[name]

    def values(self, changes: Mapping[str, float]) -> np.ndarray:
        """All parameters: nominal, but for `changes`.

        Raises:
            ConfigError: there is none of that name, or its value is not finite.
        """
        out = self.nominal.copy()
        for name, value in changes.items():
            if not np.isfinite(value):
                raise ConfigError(f"{name} is {value}, expected a finite number", name)
            out[self.index(name)] = value
        return out

    def part(self, values: np.ndarray, kind: str) -> np.ndarray:
        """(nj,) parameters of the joints of one kind."""
        return values[self._columns(kind)]

    def _columns(self, kind: str) -> slice:
        first = 10 * self.nj + self.nj * JOINT.index(kind)
        return slice(first, first + self.nj)

    def delay(self, values: np.ndarray) -> float:
        """Time by which a torque acts after its stamp [s]."""
        return float(values[-1])

    def loads(self, values: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Loads:
        """Torques that the motion (n, nj) needs, without motors; q as the encoders read it."""
        n, nj = q.shape
        q = q + self.part(values, "zero")
        tilt = values[-4:-1]
        turn = pin.exp3(tilt)
        dynamics = self._dynamics
        added, by_payloads = self._payloads.bodies(values[self._of_payloads])
        dynamics.evaluate(values[: 10 * nj] + added, turn @ self._gravity, q, v, a)
        armature, stiffness = self.part(values, "armature"), self.part(values, "stiffness")
        loss = friction(
            {kind: self.part(values, kind) for kind in FRICTION}, v, self.friction_velocity
        )
        by_parameters = np.zeros((n, nj, len(values)))
        by_parameters[:, :, : 10 * nj] = dynamics.by_inertia.reshape(n, nj, -1)
        by_parameters[:, :, self._of_payloads] = by_parameters[:, :, : 10 * nj] @ by_payloads
        by_tilt = -turn @ pin.skew(self._gravity) @ pin.Jexp3(tilt)
        by_parameters[:, :, -4:-1] = (dynamics.by_gravity @ by_tilt).reshape(n, nj, 3)
        joint = np.arange(nj)
        for kind, by in {"armature": a, "stiffness": q, **loss.by_parameters}.items():
            by_parameters[:, joint, joint + self._columns(kind).start] = by
        by_q, by_v, by_a = (
            np.array(by.reshape(n, nj, nj)) for by in (dynamics.by_q, dynamics.by_v, dynamics.by_a)
        )
        for by, extra in ((by_q, stiffness), (by_v, loss.by_rate), (by_a, armature)):
            by[:, joint, joint] += extra
        by_parameters[:, :, self._columns("zero")] = by_q
        torque = dynamics.torque.reshape(n, nj) + armature * a + stiffness * q + loss.torque
        return Loads(torque, by_q, by_v, by_a, by_parameters)

    def motors(
        self, values: np.ndarray, control: np.ndarray, control_by_delay: np.ndarray, v: np.ndarray
    ) -> Motors:
        """Torque that reaches the joints at rates v (n, nj) of a control (n, nj)."""
        n, nj = control.shape
        gain, lost, joint = self.part(values, "gain"), self.part(values, "gear_loss"), np.arange(nj)
        size = np.hypot(v, self.friction_velocity)
        sign, size_of = v / size, np.abs(gain * control)
        passed = 1.0 - lost * np.sign(gain * control) * sign  # share that the gear lets through
        by = np.zeros((n, nj, len(values)))
        for kind, column in {
            "gain": passed * control,
            "gear_loss": -size_of * sign,
            "offset": np.ones_like(v),
        }.items():
            by[:, joint, joint + self._columns(kind).start] = column
        by[:, :, -1] = gain * passed * control_by_delay
        torque = gain * control - lost * size_of * sign + self.part(values, "offset")
        return Motors(torque, -lost * size_of * self.friction_velocity**2 / size**3, by)
