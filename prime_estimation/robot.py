# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A robot as the estimator sees it: Pinocchio model, joint losses, contact points, IMU.

Everything looked up by name.
"""

from __future__ import annotations

import os
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

import numpy as np
import pinocchio as pin

from .config.parameters import Config, RobotConfig
from .errors import DataError, RobotError
from .types import Measurement

GRAVITY = -float(pin.Model().gravity.linear[2])  # m/s2, downwards in every model


class Robot:
    """Pinocchio model of a robot with what its URDF does not say.

    Motors, friction, contact spheres.

    Attributes:
        model: pin.Model with the motors' armature; fixed links are lumped into the body of their
            joint.
        joint_names: the actuated joints, in model order: the order of every joint array in this
            package.
        turning: indices of the continuous joints in that order.
        joint_friction, joint_damping, torque_limit: (nj,) Nm, Nm s/rad, Nm (0: unknown).
        gear_loss, torque_scale: (nj,) share of torque lost in the gear; reading per torque.
        friction_lead: (nj,) s, by which dry friction is ahead of the rate.
        contacts: contact spheres; `feet`: their distinct feet, in order.
        links: name of the moving body of each joint id; `links[1]` of a free-flyer is the base.
        base_frame: name of the base in odometry and tf.
        imu_joint, imu_placement: joint id that carries the IMU and its pose in that joint's frame;
            None without IMU.
        mocap_placement: pose of the tracked body in the base.
    """

    def __init__(self, config: RobotConfig):
        self.config = config
        self.model = model = _load_model(config)
        self.joint_ids = list(range(2 if config.floating_base else 1, model.njoints))
        self.joint_names = [model.names[i] for i in self.joint_ids]
        self.nj = len(self.joint_names)
        joints = ("position", "position_carried", "velocity", "torque")
        sizes = dict.fromkeys(joints, self.nj) | {"gyro": 3, "accelerometer": 3}
        sizes["quat_world_imu"] = 4
        self._shapes = [(name, (size,)) for name, size in sizes.items()]  # of a measurement
        # continuous joints have the coordinates (cos, sin): more than rates
        first_q = [model.joints[i].idx_q for i in self.joint_ids]
        self.turning = [j for j, i in enumerate(self.joint_ids) if model.joints[i].nq == 2]
        self._first_q = np.array(first_q, int) - (first_q[0] if first_q else 0)
        self.joint_friction = self._per_joint("joint_friction")
        self.joint_damping = self._per_joint("joint_damping")
        self.gear_loss = self._per_joint("gear_loss")
        self.friction_lead = self._per_joint("friction_lead")
        self.torque_scale = self._per_joint("torque_scale", 1.0)
        self.torque_limit = self._per_joint("torque_limit")
        model.armature[model.nv - self.nj :] = self._per_joint("armature")
        self.links = _moving_links(model)
        self.base_frame = config.base_frame or self.links[1 if config.floating_base else 0]
        self._check_base()
        self.contacts = [replace(c, foot=c.foot or c.frame) for c in config.contacts]
        self.feet = list(dict.fromkeys(c.foot for c in self.contacts))
        self._check_feet()
        self.imu_joint, self.imu_placement = None, None
        if config.imu_frame:
            frame = model.frames[self._frame(config.imu_frame, "IMU")]
            turn = pin.rpy.rpyToMatrix(*config.imu_rotation)
            frame.placement = pin.SE3(
                frame.placement.rotation @ turn,
                frame.placement.translation + np.array(config.imu_position),
            )
            self.imu_joint, self.imu_placement = frame.parentJoint, frame.placement
        self.mocap_placement = pin.SE3(
            pin.rpy.rpyToMatrix(*config.mocap_rotation), np.array(config.mocap_position)
        )
        self._check_zeros()
        links = [self._carrier(link) for link in config.estimated_links]
        self.estimated_links = list(dict.fromkeys(links)) or (
            [self.links[1]] if config.floating_base else []
        )
        self._check_estimated()

    @staticmethod
    def load(robot: str) -> "Robot":
        """Robot by name (`go1`, `go2`, ...) or by the path of its YAML file."""
        return Robot(Config.load(robot).robot)

    @property
    def name(self) -> str:
        """As in the configuration: go1, go2, ..."""
        return self.config.name

    @cached_property
    def total_mass(self) -> float:
        """Nominal total mass [kg]."""
        return float(pin.computeTotalMass(self.model))

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

    def check(self, m: Measurement) -> None:
        """DataError where a measurement has another number of joints or axes than the robot."""
        for name, shape in self._shapes:
            value = getattr(m, name)
            if value is not None and np.shape(value) != shape:
                what = f"{name} must have the shape {shape}, has {np.shape(value)}"
                raise DataError(f"measurement for {self.name}: {what}", m)

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

    def _carrier(self, link: str) -> str:
        """The moving link that a link belongs to once joints are locked."""
        if self.config.locked_joints and self.model.existBodyName(link):
            return self.links[
                self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)].parentJoint
            ]
        return self.links[self.link_joint(link)]

    def _check_base(self) -> None:
        """The pose of the estimate is that of the root.

        Under the name of another frame it would be wrong, or hang nowhere in tf.
        """
        model, name = self.model, self.base_frame
        # it may have a prefix for tf
        name = name if model.existFrame(name) else name.rpartition("/")[2]
        frame = model.frames[model.getFrameId(name)] if model.existFrame(name) else None
        if self.config.floating_base and (
            frame is None or frame.parentJoint != 1 or not frame.placement.isIdentity(1e-6)
        ):
            raise RobotError(
                f"{self.name}: base_frame {self.base_frame} is not at the root of the URDF, which "
                f"is {self.links[1]}",
                name,
            )

    @property
    def joint_zeros(self) -> np.ndarray:
        """(nj,) reading minus true position [rad]."""
        return np.array([float(self.config.joint_zeros.get(n, 0.0)) for n in self.joint_names])

    def _check_zeros(self) -> None:
        unknown = sorted(set(self.config.joint_zeros) - set(self.joint_names))
        if unknown:
            known = ", ".join(self.joint_names)
            what = f"joint_zeros names unknown joints {', '.join(unknown)}; joints are {known}"
            raise RobotError(f"{self.name}: {what}", unknown)

    def _check_estimated(self) -> None:
        """Estimated inertias are physical, so they must begin as such."""
        for link in self.estimated_links:
            if (
                np.linalg.eigvalsh(
                    self.model.inertias[self.link_joint(link)].toPseudoInertia().toMatrix()
                )[0]
                <= 0.0
            ):
                what = "a moment is negative, or exceeds the sum of the two others"
                raise RobotError(
                    f"{self.name}: the URDF's inertia of {link} is that of no physical body "
                    f"({what})",
                    link,
                )

    def _check_feet(self) -> None:
        """Refuses feet on several links, or on the base: the torques in front tell the force."""
        carriers: dict[str, set] = {}
        for contact in self.contacts:
            carriers.setdefault(contact.foot, set()).add(
                self.model.frames[self._frame(contact.frame, "contact")].parentJoint
            )
        for foot, joints in carriers.items():
            if len(joints) > 1:
                links = ", ".join(self.links[j] for j in sorted(joints))
                raise RobotError(
                    f"{self.name}: foot '{foot}' has contacts on several links ({links}); each "
                    "needs a foot of its own",
                    foot,
                )
            if self.config.floating_base and joints == {1}:
                raise RobotError(
                    f"{self.name}: foot '{foot}' is on the base ({self.links[1]}), where no joint "
                    "feels its force",
                    foot,
                )

    def _frame(self, name: str, what: str) -> int:
        if not self.model.existFrame(name):
            names = [f.name for f in self.model.frames if f.type == pin.FrameType.BODY]
            close = [n for n in names if name.lower() in n.lower()] or get_close_matches(
                name, names
            )
            hint = (
                f"did you mean {' or '.join(close[:3])}?"
                if close
                else f"the URDF has {_few(names)}"
            )
            raise RobotError(f"{self.name}: no frame '{name}' for the {what}; {hint}", name)
        return self.model.getFrameId(name)

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


def _load_model(config: RobotConfig) -> pin.Model:
    path = urdf_path(config)
    if not path.is_file():
        raise RobotError(f"no URDF at {path}", path)
    if path.suffix == ".xacro":
        raise RobotError(
            f"{path} is a xacro; make a URDF of it: xacro {path.name} > "
            f"{path.stem.removesuffix('.urdf')}.urdf",
            path,
        )
    try:
        root = (pin.JointModelFreeFlyer(),) if config.floating_base else ()
        model = pin.buildModelFromUrdf(str(path), *root)
    except (ValueError, RuntimeError) as error:
        raise RobotError(
            f"{path} is not a usable URDF: {' '.join(str(error).split())}", path
        ) from error
    if config.locked_joints:
        model = _lock(model, config)
    if model.njoints == 1:
        raise RobotError(f"{path}: nothing moves, neither the base nor a joint", path)
    several = [
        name
        for joint, name in list(zip(model.joints, model.names))[1 + config.floating_base :]
        if joint.nv != 1
    ]
    if several:
        remedy = (
            "a free base is robot.floating_base, no joint of the URDF"
            if config.floating_base
            else "make one joint of each"
        )
        raise RobotError(
            f"{path}: only joints with one degree of freedom are supported, unlike "
            f"{_few(several)}; {remedy}",
            several,
        )
    massless = [model.names[i] for i in range(1, model.njoints) if model.inertias[i].mass <= 0.0]
    if massless:
        remedy = (
            "the dynamics need <inertial> on every moving link; joints that do not move can be put "
            "into robot.locked_joints"
        )
        raise RobotError(
            f"{path}: the body moved by {_few(massless)} has no mass; {remedy}", massless
        )
    return model


def urdf_path(config: RobotConfig) -> Path:
    """Where the URDF of a robot lies; RobotError when the configuration names none."""
    if not config.urdf:
        raise RobotError("the robot's configuration names no URDF (robot.urdf)", config)
    if config.urdf.startswith("package://"):
        return _in_package(*config.urdf.removeprefix("package://").partition("/")[::2])
    if not config.urdf.startswith("example-robot-data:"):
        return Path(config.urdf).expanduser()
    from example_robot_data.robots_loader import ROBOTS, getModelPath

    name = config.urdf.split(":", 1)[1]
    if name not in ROBOTS:
        raise RobotError(f"example-robot-data has no robot '{name}'", name)
    loader = ROBOTS[name]
    subpath = f"{loader.path}/{loader.urdf_subpath}/{loader.urdf_filename}"
    return Path(getModelPath(subpath)) / subpath


def _in_package(package: str, file: str) -> Path:
    shares = [
        Path(prefix) / "share" / package
        for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":")
        if prefix
    ]
    share = next((folder for folder in shares if folder.is_dir()), None)
    if share is None:
        raise RobotError(
            f"no ROS package '{package}' in AMENT_PREFIX_PATH: source its workspace, or give "
            "robot.urdf as a path",
            package,
        )
    return share / file


def urdf_text(config: RobotConfig) -> str:
    """The URDF for a viewer.

    Meshes of example-robot-data by their files, since it need not be a package of the ROS
    installation.
    """
    path = urdf_path(config)
    home = next((folder for folder in path.parents if folder.name == "example-robot-data"), None)
    text = path.read_text()
    return text.replace("package://example-robot-data/", f"{home.as_uri()}/") if home else text


def _lock(model: pin.Model, config: RobotConfig) -> pin.Model:
    first = 2 if config.floating_base else 1
    unknown = [n for n in config.locked_joints if n not in model.names.tolist()[first:]]
    if unknown:
        raise RobotError(
            f"{config.name}: locked_joints names unknown joints {', '.join(unknown)}", unknown
        )
    q = pin.neutral(model)
    for name, value in config.locked_joints.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nv != 1:
            raise RobotError(
                f"{config.name}: locked_joints: {name} has more than one degree of freedom", name
            )
        # two: continuous
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            value if joint.nq == 1 else [np.cos(value), np.sin(value)]
        )
    return pin.buildReducedModel(model, [model.getJointId(n) for n in config.locked_joints], q)


def _moving_links(model: pin.Model) -> list[str]:
    """Name of the body that each joint moves: the first BODY frame attached to it."""
    links = ["universe"] * model.njoints
    for frame in reversed(model.frames.tolist()):
        if frame.type == pin.FrameType.BODY:
            links[frame.parentJoint] = frame.name
    return links


def _few(names: list[str]) -> str:
    """Names in a message: the first ones of many."""
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
