# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stepping the simulated world, with state and forces in the conventions of this package."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from ..control.torque_limits import torque_limits
from ..errors import PrimeError
from ..robot import Robot
from .ground import Ground
from .model import PHYSICS, SLIDES, build
from .payload import Payload
from .scene import check_scene


class SimulationError(PrimeError):
    """The robot fell, or the simulation became unstable."""


@dataclass(frozen=True)
class Step:
    """State at one physics step, and the forces and accelerations that act at it."""

    q: np.ndarray  # (nq,) Pinocchio: base position (world), quaternion xyzw, joints
    v: np.ndarray  # (nv,) Pinocchio: base linear, angular (base frame), joint rates
    a: np.ndarray  # (nv,) d/dt v, gravity not included
    tau_motor: np.ndarray  # (nj,) Nm, after clipping
    tau_friction: np.ndarray  # (nj,) Nm, dry friction and joint limits
    contact_force: np.ndarray  # (contacts, 3) N, force of the ground on the sphere, world axes
    # (contacts, 3) Nm, of that force about the origin of the contact's frame, world axes
    contact_moment: np.ndarray
    external: np.ndarray  # (6,) N and Nm, on the base by a push: world axes, about its origin
    load_shift: np.ndarray  # (2,) m, of a sliding load along x and y of its link


class World:
    """A robot on the ground. Joint arrays are in the order of `Robot.joint_names`.

    Args:
        robot, payload, ground, seed: the scene.
        begins: time of the world that is 0 in errors, when its recording begins [s].
    """

    def __init__(
        self,
        robot: Robot,
        payload: Payload | None,
        ground: Ground,
        seed: int,
        begins: float = 0.0,
    ):
        check_scene(payload, ground, seed)
        self.robot, self._begins = robot, begins
        self._ground, self._seed = ground, seed
        sliding = payload is not None and payload.slides
        # a load that slides is there from the beginning: it brings joints of its own
        self.bare = build(robot, payload if sliding else None, ground, seed)
        lumped = payload is not None and not sliding
        self.loaded = build(robot, payload, ground, seed) if lumped else self.bare
        self.model = self.bare
        self.data = mujoco.MjData(self.bare)
        joints = self._joints(robot.joint_names)
        self._jq, self._jv = self.bare.jnt_qposadr[joints], self.bare.jnt_dofadr[joints]
        self._slides = self.bare.jnt_qposadr[self._joints(list(SLIDES))] if sliding else None
        self._base = mujoco.mj_name2id(self.bare, mujoco.mjtObj.mjOBJ_BODY, robot.links[1])
        self._geom = {
            mujoco.mj_name2id(self.bare, mujoco.mjtObj.mjOBJ_GEOM, c.name): i
            for i, c in enumerate(robot.contacts)
        }
        self._limit = torque_limits(robot)
        self._pressed = bool(robot.gear_loss.any() or robot.stribeck.any())
        offsets = [np.array(c.position, float) for c in robot.contacts]
        frames = [robot.model.frames[robot.model.getFrameId(c.frame)] for c in robot.contacts]
        self._frame_offset = [f.placement.rotation @ o for f, o in zip(frames, offsets)]

    def _joints(self, names: list[str]) -> list[int]:
        return [mujoco.mj_name2id(self.bare, mujoco.mjtObj.mjOBJ_JOINT, n) for n in names]

    @property
    def dt(self) -> float:
        """Step of the simulation [s]."""
        return PHYSICS["dt"]

    def load(self, on: bool) -> None:
        """Weld the payload on, or take it off; the motion goes on with the velocity it has."""
        # The two models differ in inertias only, so the data of one serves the other.
        self.model = self.loaded if on else self.bare

    @property
    def total_mass(self) -> float:
        """Of the robot and what it carries [kg]."""
        return float(self.model.body_mass.sum())

    def push(self, force_world: np.ndarray) -> None:
        """Let a force (3,) [N], world axes, act at the base's origin where that is now.

        Its moment stays as it is: while the base turns, it is to be said again before each step.
        """
        force = np.asarray(force_world, float)
        lever = self.data.xpos[self._base] - self.data.xipos[self._base]
        self.data.xfrc_applied[self._base] = np.concatenate([force, cross(lever, force)])

    def place(self, q: np.ndarray) -> None:
        """Put the robot at rest at configuration q."""
        mujoco.mj_resetData(self.model, self.data)
        x, y, z, w = q[3:7]
        self.data.qpos[:7] = [*q[:3], w, x, y, z]
        self.data.qpos[self._jq] = q[7:]

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) now, in Pinocchio's convention."""
        d = self.data
        w, x, y, z = d.qpos[3:7]
        q = np.concatenate([d.qpos[:3], [x, y, z, w], d.qpos[self._jq]])
        v = np.concatenate([rotation(q[3:7]).T @ d.qvel[:3], d.qvel[3:6], d.qvel[self._jv]])
        return q, v

    def step(self, torque: np.ndarray) -> Step:
        """Advance by one physics step with these motor torques (clipped to the limits)."""
        d = self.data
        q, v = self.state()
        if self._ground.patch_friction:
            self._take_friction()
        external = self._external()
        shift = np.zeros(2) if self._slides is None else d.qpos[self._slides].copy()
        tau = np.clip(torque, -self._limit, self._limit)
        d.qfrc_applied[self._jv] = tau
        if self._pressed:
            self.model.dof_frictionloss[self._jv] = self._dry_friction(v[6:], tau)
        before, now = d.qpos.copy(), d.time - self._begins  # MuJoCo resets what is unstable
        mujoco.mj_step(self.model, d)
        if d.warning[mujoco.mjtWarning.mjWARN_BADQACC].number or not np.isfinite(d.qacc).all():
            raise SimulationError(
                f"the simulation of {self.robot.name} became unstable {when(now)}", q
            )
        # d(R^T pdot)/dt = R^T pddot - omega x v; MuJoCo's free joint has pddot in world and omega
        # in body axes
        linear = rotation(q[3:7]).T @ d.qacc[:3] - cross(v[3:6], v[:3])
        a = np.concatenate([linear, d.qacc[3:6], d.qacc[self._jv]])
        force, moment = self._contacts()
        return Step(q, v, a, tau, self._friction(before), force, moment, external, shift)

    def _dry_friction(self, rate: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """Of the joints [Nm]. A gear loses to either side: friction that the torque presses."""
        robot = self.robot
        breakaway = robot.stribeck * np.exp(-((rate / robot.stribeck_velocity) ** 2))
        return robot.joint_friction + breakaway + robot.gear_loss * np.abs(torque)

    def _take_friction(self) -> None:
        """Give each contact sphere the friction of the place where it is."""
        for geom in self._geom:
            xy = self.data.geom_xpos[geom, :2]
            self.model.geom_friction[geom, 0] = self._ground.friction_at(xy, self._seed)

    def _external(self) -> np.ndarray:
        """(6,) force and moment of the push about the origin of the base, world axes."""
        force, moment = np.split(self.data.xfrc_applied[self._base].copy(), 2)
        lever = self.data.xipos[self._base] - self.data.xpos[self._base]
        return np.concatenate([force, moment + cross(lever, force)])

    def _contacts(self) -> tuple[np.ndarray, np.ndarray]:
        d = self.data
        force, moment = np.zeros((len(self._geom), 3)), np.zeros((len(self._geom), 3))
        local = np.zeros(6)
        for j in range(d.ncon):
            contact = d.contact[j]
            first = int(contact.geom1) in self._geom
            i = self._geom[int(contact.geom1 if first else contact.geom2)]
            mujoco.mj_contactForce(self.model, d, j, local)
            # contact frames point from geom1 to geom2, the force is the one on geom2
            f = (contact.frame.reshape(3, 3).T @ local[:3]) * (-1 if first else 1)
            geom = contact.geom1 if first else contact.geom2
            body = self.model.geom_bodyid[geom]
            origin = d.geom_xpos[geom] - d.xmat[body].reshape(3, 3) @ self._frame_offset[i]
            force[i] += f
            moment[i] += cross(contact.pos - origin, f)
        return force, moment

    def _friction(self, qpos: np.ndarray) -> np.ndarray:
        """Generalized force of dry friction and joint limits.

        The constraint rows that are not contacts.
        """
        d = self.data
        generalized = np.zeros(self.model.nv)
        friction = slice(d.ne, d.ne + d.nf)
        generalized[d.efc_id[friction]] = d.efc_force[friction]
        for row in range(d.ne + d.nf, d.ne + d.nf + d.nl):
            joint = d.efc_id[row]
            low, high = self.model.jnt_range[joint]
            position = qpos[self.model.jnt_qposadr[joint]]
            sign = 1.0 if position - low < high - position else -1.0
            generalized[self.model.jnt_dofadr[joint]] += sign * d.efc_force[row]
        return generalized[self._jv]


def when(time: float) -> str:
    """A time [s] of a recording in words; the robot settles and moves before it begins."""
    return f"at t = {time:.2f} s" if time >= 0.0 else f"{-time:.2f} s before the recording"


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross product of two 3-vectors; np.cross costs twenty times as much on a single pair."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def rotation(quat: np.ndarray) -> np.ndarray:
    """Rotation matrix of a unit quaternion xyzw."""
    x, y, z, w = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def heading(q: np.ndarray) -> float:
    """Yaw of the base [rad]."""
    R = rotation(q[3:7])
    return float(np.arctan2(R[1, 0], R[0, 0]))


def about_vertical(yaw: float) -> np.ndarray:
    """Rotation (3, 3) by an angle [rad] about the vertical."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def wrapped(angle: float) -> float:
    """An angle [rad], in [-pi, pi)."""
    return float((angle + np.pi) % (2 * np.pi) - np.pi)
