# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robot: Pinocchio model, joint losses, contact points, IMU; everything is looked up by name."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import pinocchio as pin

from ..config.parameters import Config, RobotConfig
from ..errors import DataError, RobotError
from ..types import Measurement
from .checks import check_base, check_estimated_links, check_feet, check_zeros
from .model import frame_id, load_model, moving_links

NO_LIMIT = 1e3  # rad: a joint whose range is larger has none
_SAMPLES = [f"{name}_samples" for name in ("velocity", "gyro", "torque", "accelerometer")]


class Robot:
    """Pinocchio model of a robot, with what its URDF does not contain: motors, friction, contacts.

    Attributes:
        model: pin.Model with the motors' armature; fixed links are lumped into the body of their
            joint.
        source: name or file that it was loaded from; empty if it was made from a configuration.
        joint_names: actuated joints in the order of the model, which is the order of every joint
            array in this package.
        turning: indices of the continuous joints in that order.
        joint_friction, joint_damping, torque_limit: (nj,) Nm, Nm s/rad, Nm (0: unknown).
        gear_loss: (nj,) share of torque lost in the gear.
        friction_lead: (nj,) s, by which dry friction changes sign before the joint rate.
        stribeck, stribeck_velocity: (nj,) Nm, rad/s: additional friction of joints that start to
            move, and the rate at which most of it is gone.
        torque_scale, torque_offset: (nj,) reading per torque; reading at zero torque [Nm].
        contacts: contact spheres; `feet`: their distinct feet, in order.
        links: name of the moving body of each joint id; `links[1]` of a free-flyer is the base.
        base_frame: name of the base in odometry and tf.
        imu_joint, imu_placement: joint id that carries the IMU and its pose in that joint's frame;
            None without IMU. imu_frame_id: of its frame in the model.
        mocap_placement: pose of the tracked body in the base.
    """

    def __init__(self, config: RobotConfig):
        if not isinstance(config, RobotConfig):
            what = "Robot takes the section `robot` of a Config; by name or file: Robot.load"
            raise RobotError(f"{what}; got a {type(config).__name__}", config)
        self.config, self.source = config, ""
        self.model = load_model(config)
        self.joint_ids = list(range(2 if config.floating_base else 1, self.model.njoints))
        self.joint_names = [self.model.names[i] for i in self.joint_ids]
        self.nj = len(self.joint_names)
        joints = ("position", "position_carried", "velocity", "torque")
        sizes = dict.fromkeys(joints, self.nj) | {"gyro": 3, "accelerometer": 3}
        sizes |= {"quat_world_imu": 4, "imu_dead": 6}
        self._shapes = [(name, (size,)) for name, size in sizes.items()]  # of a measurement
        # continuous joints have the coordinates (cos, sin): more than rates
        first_q = [self.model.joints[i].idx_q for i in self.joint_ids]
        self.turning = [j for j, i in enumerate(self.joint_ids) if self.model.joints[i].nq == 2]
        self._first_q = np.array(first_q, int) - (first_q[0] if first_q else 0)
        self._set_losses()
        self.links = moving_links(self.model)
        self.base_frame = config.base_frame or self.links[1 if config.floating_base else 0]
        check_base(self)
        self.contacts = [replace(c, foot=c.foot or c.frame) for c in config.contacts]
        self.feet = list(dict.fromkeys(c.foot for c in self.contacts))
        check_feet(self)
        self._place_sensors()
        check_zeros(self)
        links = [self._carrier(link) for link in config.estimated_links]
        self.estimated_links = list(dict.fromkeys(links)) or (
            [self.links[1]] if config.floating_base else []
        )
        check_estimated_links(self)

    @staticmethod
    def load(robot: str) -> Robot:
        """Robot by name (`go1`, `go2`, ...) or by the path of its YAML file."""
        loaded = Robot(Config.load(robot).robot)
        loaded.source = robot
        return loaded

    @property
    def name(self) -> str:
        """As in the configuration: go1, go2, ..."""
        return self.config.name

    @cached_property
    def total_mass(self) -> float:
        """Nominal total mass [kg]."""
        return float(pin.computeTotalMass(self.model))

    @cached_property
    def joint_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest position (nj,) of the joints [rad]; infinite where none is known."""
        first = [self.model.idx_qs[i] for i in self.joint_ids]
        limits = self.model.lowerPositionLimit, self.model.upperPositionLimit
        lower, upper = (np.array([limit[i] for i in first]) for limit in limits)
        known = (lower < upper) & (upper - lower < NO_LIMIT)  # a URDF may leave them out
        known[self.turning] = False
        return np.where(known, lower, -np.inf), np.where(known, upper, np.inf)

    def coordinates(self, position: np.ndarray) -> np.ndarray:
        """Coordinates of the joints in the model from their positions (nj,) [rad].

        The same without continuous joints.
        """
        if not self.turning:
            return position
        q = np.zeros(len(position) + len(self.turning))
        q[self._first_q] = position
        angle, first = np.asarray(position)[self.turning], self._first_q[self.turning]
        q[first], q[first + 1] = np.cos(angle), np.sin(angle)
        return q

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Joint positions (nj,) [rad] in a configuration (nq,) of the model.

        Continuous joints in [-pi, pi].
        """
        joints = q[len(q) - self.nj - len(self.turning) :]
        position = joints[self._first_q]
        if self.turning:
            first = self._first_q[self.turning]
            position[self.turning] = np.arctan2(joints[first + 1], joints[first])
        return position

    def check(self, m: Measurement) -> Measurement:
        """Return the measurement; DataError if it is none, or its sizes are not the robot's."""
        if not isinstance(m, Measurement):
            told = f"an estimator takes a Measurement (Synchronizer.pop), got {type(m).__name__}"
            raise DataError(told, m)
        what = ""
        for name, shape in self._shapes:
            value = getattr(m, name)
            if value is None or getattr(value, "shape", None) == shape:
                continue
            what = f"{name} must have the shape {shape}, has {np.shape(value)}"
            if not isinstance(value, np.ndarray):
                what = f"{name} must be an array of the shape {shape}, is a {type(value).__name__}"
        for name in _SAMPLES:
            if not getattr(m, name) > 0.0:
                what = f"{name} must be above 0, is {getattr(m, name)}"
        if what:
            raise DataError(f"measurement for {self.name}: {what}", m)
        return m

    def check_contacts(self) -> Robot:
        """The robot itself; RobotError where its base floats and nothing can carry it."""
        if self.config.floating_base and not self.feet:
            what = "a robot with a floating base needs contacts; name its feet in robot.contacts"
            raise RobotError(f"{self.name}: {what}", self.config)
        return self

    def link_joint(self, link: str) -> int:
        """Joint id whose moving body is `link`."""
        if link not in self.links[1:]:
            moving = (
                f"moving links are {', '.join(self.links[1:])} (fixed links are lumped into them)"
            )
            raise RobotError(f"{self.name}: no moving link '{link}'; {moving}", link)
        return self.links.index(link)

    def joints_to(self, joint: int) -> list[int]:
        """Ids of the robot's joints from the base to a joint, that one included: a leg's own."""
        return [int(j) for j in self.model.supports[joint] if j in self.joint_ids]

    @property
    def joint_zeros(self) -> np.ndarray:
        """(nj,) reading minus true position [rad]."""
        return np.array([float(self.config.joint_zeros.get(n, 0.0)) for n in self.joint_names])

    def motor_torque(self, reading: np.ndarray) -> np.ndarray:
        """Torque of the motors (..., nj) [Nm] by their readings (..., nj) [Nm]."""
        return (reading - self.torque_offset) / self.torque_scale

    def _set_losses(self) -> None:
        """Losses and gains of the joints, and the motors' inertia in the model."""
        self.joint_friction = self._per_joint("joint_friction")
        self.joint_damping = self._per_joint("joint_damping")
        self.gear_loss = self._per_joint("gear_loss")
        self.friction_lead = self._per_joint("friction_lead")
        self.stribeck = self._per_joint("stribeck")
        unspecified = type(self.config).stribeck_velocity
        self.stribeck_velocity = self._per_joint("stribeck_velocity", unspecified)
        self.torque_scale = self._per_joint("torque_scale", 1.0)
        self.torque_offset = self._per_joint("torque_offset")
        self.torque_limit = self._per_joint("torque_limit")
        self.model.armature[self.model.nv - self.nj :] = self._per_joint("armature")

    def _place_sensors(self) -> None:
        """Poses of the IMU, which gets a frame of its own, and of the tracked body."""
        config = self.config
        self.imu_joint, self.imu_placement, self.imu_frame_id = None, None, None
        if config.imu_frame:
            frame = self.model.frames[frame_id(self.model, config.imu_frame, self.name, "IMU")]
            turn = pin.rpy.rpyToMatrix(*config.imu_rotation)
            place = pin.SE3(
                frame.placement.rotation @ turn,
                frame.placement.translation + np.array(config.imu_position),
            )
            self.imu_joint, self.imu_placement = frame.parentJoint, place
            # a link of the URDF, or a foot, may be in the frame that is named: it stays there
            own = f"{config.imu_frame} (IMU)"
            imu = pin.Frame(own, frame.parentJoint, frame.parentFrame, place, pin.FrameType.SENSOR)
            self.imu_frame_id = self.model.addFrame(imu, False)  # it weighs nothing
        self.mocap_placement = pin.SE3(
            pin.rpy.rpyToMatrix(*config.mocap_rotation), np.array(config.mocap_position)
        )

    def _carrier(self, link: str) -> str:
        """The moving link that a link belongs to once joints are locked."""
        if self.config.locked_joints and self.model.existBodyName(link):
            return self.links[
                self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)].parentJoint
            ]
        return self.links[self.link_joint(link)]

    def _per_joint(self, key: str, otherwise: float = 0.0) -> np.ndarray:
        value = getattr(self.config, key)
        if not isinstance(value, dict):
            return np.full(self.nj, float(value))
        unknown = set(value) - set(self.joint_names) - set(self.config.locked_joints) - {"default"}
        if unknown:
            known = ", ".join(self.joint_names)
            raise RobotError(
                f"{self.name}: {key} names unknown joints {', '.join(sorted(unknown))}; joints "
                f"are {known}",
                value,
            )
        default = value.get("default", otherwise)
        return np.array([float(value.get(n, default)) for n in self.joint_names])
