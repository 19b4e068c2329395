# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scene of an instant: everything that is drawn of one robot, as plain geometry in the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...robot import GRAVITY, Robot
from ...types import ContactState
from .shapes import (
    RADIUS_95,
    Array,
    Arrow,
    Box,
    Cone,
    Ellipsoid,
    confidence_ellipsoid,
    equivalent_box,
    friction_cone,
)
from .track import Moment

WEIGHT_LENGTH = 1.2  # arrow of the robot's weight per length of its legs
# of the base's covariance: a millimetre with motion capture, and metres after a walk without
ZOOMS = (20.0, 10.0, 5.0, 2.0, 1.0)
LARGE = 0.4  # of the legs' length: an ellipsoid that needs no more zoom


@dataclass(frozen=True)
class BodyScene:
    """An estimated body as boxes in the frame of its joint; None where no box has its inertia."""

    link: str
    joint: int
    nominal: Box | None
    estimated: Box | None
    observable: bool
    mass: float  # kg
    mass_stddev: float  # kg
    nominal_mass: float  # kg


@dataclass(frozen=True)
class ContactScene:
    """A contact: point, force as an arrow from there, its cone, the 95 % ellipsoid of its tip."""

    name: str
    position: Array  # (3,) m, world
    state: ContactState
    probability: float
    normal_force: float  # N
    force: Arrow
    cone: Cone
    tip: Ellipsoid
    ground: float  # m, height at which it stood last; NaN before it ever stood


@dataclass(frozen=True)
class RobotScene:
    """One robot at one instant, in its own world frame.

    Attributes:
        joint_poses: (njoints, 7) pose of each joint of the model, position and xyzw.
        joint_placements: (njoints, 7) the same in the frame of the joint before.
        covariance: 95 % ellipsoid of the base position, enlarged by `zoom`.
        push: what neither the ground nor gravity does to the base; None where it is not published.
    """

    stamp_ns: int
    position: Array
    quat: Array
    joint_poses: Array
    joint_placements: Array
    covariance: Ellipsoid
    zoom: float
    bodies: tuple[BodyScene, ...]
    contacts: tuple[ContactScene, ...]
    push: Arrow | None
    total_mass: float  # kg; NaN where unknown
    total_mass_stddev: float  # kg
    solve_time_ms: float
    troubles: tuple[str, ...]


class SceneBuilder:
    """Scenes of a robot, from what its estimator said.

    Args:
        robot: model for forward kinematics and nominal inertia.
        friction: coefficient of the ground, which the output topics do not carry.
    """

    def __init__(self, robot: Robot, friction: float):
        self.robot, self.friction = robot, friction
        self._data = robot.model.createData()
        self.leg_length = leg_length(robot)
        self.metres_per_newton = WEIGHT_LENGTH * self.leg_length / (GRAVITY * robot.total_mass)
        self._nominal = [
            robot.model.inertias[robot.link_joint(link)].toDynamicParameters()
            for link in robot.estimated_links
        ]

    def build(self, moment: Moment) -> RobotScene:
        """The scene of a moment."""
        odometry, inertia, status = moment.odometry, moment.inertia, moment.status
        position, quat = odometry["position"], odometry["quat"]
        self._move(position, quat, moment.joints["position"])
        zoom = self._zoom(odometry["covariance"])
        return RobotScene(
            moment.stamp_ns,
            position,
            quat,
            np.array([pin.SE3ToXYZQUAT(pose) for pose in self._data.oMi]),
            np.array([pin.SE3ToXYZQUAT(placement) for placement in self._data.liMi]),
            confidence_ellipsoid(position, odometry["covariance"], zoom),
            zoom,
            self._bodies(inertia) if inertia is not None else (),
            self._contacts(moment.contacts) if moment.contacts is not None else (),
            self._push(position, quat, moment.push["force"]) if moment.push is not None else None,
            float(inertia["total_mass"]) if inertia is not None else np.nan,
            float(inertia["total_mass_stddev"]) if inertia is not None else np.nan,
            float(status["solve_time_ms"]) if status is not None else np.nan,
            moment.troubles,
        )

    def _move(self, position: Array, quat: Array, joints: Array) -> None:
        q = self.robot.coordinates(joints)
        if self.robot.config.floating_base:
            q = np.concatenate([position, quat, q])
        pin.forwardKinematics(self.robot.model, self._data, q)

    def _zoom(self, covariance: Array) -> float:
        longest = RADIUS_95 * np.sqrt(max(np.trace(covariance), 0.0))
        return next((z for z in ZOOMS if z * longest <= LARGE * self.leg_length), ZOOMS[-1])

    def _bodies(self, inertia: np.void) -> tuple[BodyScene, ...]:
        return tuple(
            BodyScene(
                link,
                self.robot.link_joint(link),
                equivalent_box(nominal),
                equivalent_box(inertia["parameters"][k]),
                bool(inertia["observable"][k]),
                float(inertia["parameters"][k, 0]),
                float(inertia["mass_stddev"][k]),
                float(nominal[0]),
            )
            for k, (link, nominal) in enumerate(zip(self.robot.estimated_links, self._nominal))
        )

    def _contacts(self, row: np.void) -> tuple[ContactScene, ...]:
        return tuple(self._contact(row, k, c.name) for k, c in enumerate(self.robot.contacts))

    def _contact(self, row: np.void, k: int, name: str) -> ContactScene:
        scale, position = self.metres_per_newton, row["position"][k].astype(float)
        force = row["force"][k].astype(float)
        tip = position + scale * force
        return ContactScene(
            name,
            position,
            ContactState(int(row["state"][k])),
            float(row["probability"][k]),
            force[2],
            Arrow(position, tip),
            friction_cone(position, force[2], self.friction, scale),
            confidence_ellipsoid(tip, row["covariance"][k].astype(float), scale),
            float(row["ground"][k]),
        )

    def _push(self, position: Array, quat: Array, force_base: Array) -> Arrow:
        force_world = pin.Quaternion(quat).toRotationMatrix() @ force_base
        return Arrow(position, position + self.metres_per_newton * force_world)


def leg_length(robot: Robot) -> float:
    """Largest distance of a contact from the base's origin with all joints at zero [m].

    The size of a robot without contacts is that of its joints.
    """
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    root = data.oMi[1].translation if robot.config.floating_base else np.zeros(3)
    frames = [data.oMf[model.getFrameId(c.frame)] for c in robot.contacts]
    points = [pose.translation for pose in frames or data.oMi[1:]]
    return float(max(np.linalg.norm(point - root) for point in points)) or 1.0
