# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Every parameter, declared once: default, unit, range, meaning.

YAML, ROS descriptors, docs and help derive from here.
"""

from __future__ import annotations

import difflib
import math
import typing
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path

from ..declaration import param
from ..errors import ConfigError
from ..sensors import SENSORS, Sensor
from .files import built_in_robots, config_dir, is_yaml, read_yaml
from .values import beside, check_names, is_file_name, laid_over, three_numbers


@dataclass(frozen=True)
class ContactConfig:
    """Contact sphere, centred at `position` in `frame`.

    `name` is `<foot frame>` or `<foot frame>/<corner>`.
    """

    name: str = param("", "name of the contact in the output")
    frame: str = param("", "URDF frame that carries the sphere")
    position: list = param([0.0, 0.0, 0.0], "centre of the sphere in the frame", "m")
    radius: float = param(0.0, "radius of the sphere", "m", 0.0, 1.0)
    foot: str = param(
        "", "contacts of one foot share disturbance and ground height; default: the frame"
    )


@dataclass(frozen=True)
class RobotConfig:
    """What the estimator must know about a robot beyond its URDF (`config/robots/<name>.yaml`)."""

    name: str = param("", "name of the robot; default: that of its YAML file")
    urdf: str = param(
        "",
        "path (from the YAML file or the working folder), `package://<package>/<path>` or "
        "`example-robot-data:<name>`",
    )
    floating_base: bool = param(True, "the root moves freely")
    base_frame: str = param(
        "",
        "name of the base in odometry and tf (may have a prefix); default: the root link of the "
        "URDF",
    )
    imu_frame: str = param("", "URDF frame of the IMU; empty: no IMU")
    imu_position: list = param(
        [0.0, 0.0, 0.0], "IMU, true minus URDF, axes of its link (see `prime calibrate`)", "m"
    )
    imu_rotation: list = param(
        [0.0, 0.0, 0.0], "roll, pitch, yaw of the IMU in its URDF frame", "rad"
    )
    mocap_position: list = param([0.0, 0.0, 0.0], "tracked body in the base frame", "m")
    mocap_rotation: list = param(
        [0.0, 0.0, 0.0], "roll, pitch, yaw of the tracked body in the base frame", "rad"
    )
    joint_zeros: dict = param({}, "reading minus true position, by joint", "rad")
    contacts: list = param([], "contact spheres, a list of mappings")
    armature: float | dict = param(
        0.0, "reflected inertia of the motors, one number or by joint", "kg m2", 0.0
    )
    joint_friction: float | dict = param(
        0.0, "dry friction of the joints, one number or by joint", "Nm", 0.0
    )
    joint_damping: float | dict = param(
        0.0, "viscous friction of the joints, one number or by joint", "Nm s/rad", 0.0
    )
    gear_loss: float | dict = param(
        0.0, "share of the motor's torque that the gear loses, one number or by joint", "", 0.0, 0.9
    )
    friction_lead: float | dict = param(
        0.0,
        "time by which dry friction is ahead of the joint's rate, one number or by joint (of "
        "simulators; written by `prime identify --joints losses`)",
        "s",
        0.0,
        0.05,
    )
    torque_scale: float | dict = param(
        1.0,
        "reading of the torque sensors per true torque, one number or by joint (see "
        "`prime identify --tare`)",
        "",
        0.1,
        10.0,
    )
    joint_stddev: dict = param(
        {},
        "standard deviation of estimated joint parameters, by kind or kind/joint (written by "
        "`prime identify --joints`)",
    )
    torque_limit: float | dict = param(0.0, "largest torque of the motors (0: unknown)", "Nm", 0.0)
    estimated_links: list = param(
        [],
        "moving links whose inertia is estimated (default: the base), or what locked joints fix "
        "to them",
    )
    locked_joints: dict = param(
        {}, "joints held at a fixed position, taken out of the model", "rad"
    )
    kappa: float = param(1500.0, "sharpness of the smoothed contact law", "1/(kg m2/s2)", 10.0, 1e5)
    compliance: float = param(0.01, "compliance of the contact law", "(m/s)/(N s)", 1e-6, 1.0)


# parameters that are three numbers
_THREE = {(ContactConfig, "position")} | {
    (RobotConfig, f"{body}_{part}")
    for body in ("imu", "mocap")
    for part in ("position", "rotation")
}


@dataclass(frozen=True)
class ModelNoise:
    """Standard deviation of what the model leaves out."""

    base_force: float = param(2.0, "unmodelled force on the base", "N", 1e-3, 1e4, tunable=True)
    base_moment: float = param(0.5, "unmodelled moment on the base", "Nm", 1e-3, 1e4, tunable=True)
    joint_model: float = param(0.15, "unmodelled joint torque", "Nm", 1e-3, 1e3, tunable=True)
    joint_unmeasured: float = param(
        100.0, "joint torque where no torque is measured or commanded", "Nm", 1e-1, 1e4
    )
    contact_normal: float = param(
        0.008, "contact velocity disturbance, normal", "m/s", 1e-4, 10.0, tunable=True
    )
    contact_tangential: float = param(
        0.002, "contact velocity disturbance, tangential", "m/s", 1e-4, 10.0, tunable=True
    )
    contact_landing: float = param(
        10.0,
        "factor on these in the step in which a foot may be put down",
        "",
        1.0,
        100.0,
        tunable=True,
    )
    contact_dof: float = param(
        2.0, "degrees of freedom of its Student-t (large: Gaussian)", "", 1.0, 1e9, tunable=True
    )
    force_dof: float = param(
        4.0,
        "the same of the unmodelled force, moment and joint torques",
        "",
        1.0,
        1e9,
        tunable=True,
    )
    reading_dof: float = param(
        4.0, "the same of readings that can be outliers", "", 1.0, 1e9, tunable=True
    )
    contact_roll: float = param(
        1.0,
        "contact velocity disturbance of a flat foot, roll and pitch",
        "rad/s",
        1e-4,
        50.0,
        tunable=True,
    )
    contact_yaw: float = param(
        0.5, "contact velocity disturbance of a flat foot, yaw", "rad/s", 1e-4, 50.0, tunable=True
    )
    wrench_cone: float = param(
        5.0,
        "force of a rigid contact outside of its friction or wrench cone",
        "N",
        1e-2,
        1e4,
        tunable=True,
    )
    torque_scale: float = param(
        0.01,
        "common relative error of the torques: systematic part of the mass interval",
        "",
        0.0,
        0.5,
    )
    torque_scale_commanded: float = param(
        0.05,
        "the same where only commanded torques are known: gears and drives lose some",
        "",
        0.0,
        0.5,
    )
    torque_scale_spread: float = param(
        0.008,
        "relative difference of torque scale between legs: part of offline intervals",
        "",
        0.0,
        0.5,
    )
    encoder_offset: float = param(
        0.002, "constant error of a joint's zero: part of offline intervals", "rad", 0.0, 0.1
    )
    joint_losses: float = param(
        0.1,
        "relative error of the joints' armature, friction, damping: part of offline intervals",
        "",
        0.0,
        2.0,
    )


def _declared_noise() -> tuple[type, ...]:
    """Noise of the sensors that have some; the first sensor's comes first in the configuration."""
    return tuple(s.Noise for s in reversed(SENSORS) if s.Noise is not Sensor.Noise)


@dataclass(frozen=True)
class NoiseConfig(ModelNoise, *_declared_noise()):
    """Standard deviation of one sample of each sensor, and of the model's disturbances.

    (`config/noise/<robot>.yaml`)
    """


@dataclass(frozen=True)
class EstimatorConfig:
    """The sliding window, its parameters and its policies."""

    step: float = param(0.01, "time between nodes", "s", 0.005, 0.05)
    window: int = param(10, "nodes of the sliding window", "", 1, 200)
    iterations: int = param(
        4, "solver iterations per node, at most; most need one or two", "", 1, 50, tunable=True
    )
    form: str = param(
        "forward",
        "what is decided: disturbance (forward) or next velocity (inverse)",
        choices=("forward", "inverse"),
    )
    contact_model: str = param(
        "smoothed",
        "smoothed law, or rigid contacts after contact flags",
        choices=("smoothed", "rigid"),
    )
    cone: str = param(
        "coulomb",
        "contact law: corrected (coulomb) or as published (convex)",
        choices=("coulomb", "convex"),
    )
    manifold: str = param(
        "log_cholesky",
        "coordinates of the estimated inertias",
        choices=("log_cholesky", "exponential_eigenvalue"),
    )
    rollout: str = param(
        "multiple",
        "rollout of a step: shooting or through the dynamics",
        choices=("multiple", "feasible", "single"),
    )
    elimination: str = param(
        "schur",
        "of the parameters; nullspace where some are unknown",
        choices=("schur", "nullspace"),
    )
    rolling: bool = param(True, "contact points move under their spheres")
    threads: int = param(1, "threads for the evaluation of the nodes", "", 1, 16)
    start_duration: float = param(0.5, "data gathered before the first estimate", "s", 0.1, 5.0)
    start_iterations: int = param(20, "iterations of the first batch", "", 1, 200)
    friction: float = param(0.8, "initial friction coefficient of the ground", "", 0.05, 3.0)
    friction_stddev: float = param(0.2, "its uncertainty (relative)", "", 1e-3, 2.0)
    friction_walk: float = param(
        0.02, "its random walk (relative)", "1/sqrt(s)", 0.0, 1.0, tunable=True
    )
    mass_stddev: float = param(
        3.0, "prior uncertainty of an estimated link's mass", "kg", 1e-3, 100.0
    )
    com_stddev: float = param(0.03, "prior uncertainty of its centre of mass", "m", 1e-4, 1.0)
    inertia_stddev: float = param(
        0.4, "prior uncertainty of its rotational inertia (relative)", "", 1e-3, 5.0
    )
    mass_walk: float = param(
        0.01, "forgetting: random walk of the mass", "kg/sqrt(s)", 0.0, 10.0, tunable=True
    )
    com_walk: float = param(
        0.0005, "forgetting: random walk of the centre of mass", "m/sqrt(s)", 0.0, 1.0, tunable=True
    )
    inertia_walk: float = param(
        0.005,
        "forgetting: random walk of the rotational inertia (relative)",
        "1/sqrt(s)",
        0.0,
        1.0,
        tunable=True,
    )
    payload_threshold: float = param(
        5.0,
        "alarm of the payload change detector, in standard deviations",
        "",
        1.0,
        50.0,
        tunable=True,
    )
    publish_mass_stddev: float = param(
        0.2,
        "inertia is valid when data tell its mass better than this",
        "kg",
        1e-3,
        100.0,
        tunable=True,
    )
    terrain_stddev: float = param(
        0.003, "ground height at touch-down, from the foot's height", "m", 1e-5, 0.5, tunable=True
    )
    terrain_slopes: bool = param(
        True, "the slope of the ground under each foot is estimated, else it is level"
    )
    terrain_walk: float = param(
        1e-5, "random walk of the ground height in stance, per node", "m", 0.0, 0.1, tunable=True
    )
    terrain_softness: bool = param(
        True, "how much the ground gives way is estimated, else it is as hard as the contact law"
    )
    softness_stddev: float = param(
        0.1, "prior uncertainty of the logarithm of the ground's compliance", "", 1e-3, 10.0
    )
    softness_walk: float = param(0.05, "its random walk", "1/sqrt(s)", 0.0, 10.0, tunable=True)

    joint_parameters: str = param(
        "",
        "what is estimated of the joints beside the inertia: losses, gains, zeros, a list with "
        "commas, or single ones: armature, damping, dry_friction, gear_loss",
    )
    adapt_joints: bool = param(
        True,
        "rotor inertia, viscous and dry friction of the YAML are estimated once the torques "
        "contradict them (joints between feet and estimated links; not beside joint_parameters)",
    )
    adapt_imu_clock: bool = param(
        True, "stamps of the IMU that are late against the joints are corrected, once it is certain"
    )
    adapt_noise: bool = param(
        True, "sensors and disturbances noisier than configured get less weight", tunable=True
    )

    @property
    def tells_joints(self) -> bool:
        """There may be estimates of joint parameters."""
        return bool(self.joint_parameters) or self.adapt_joints

    @property
    def start_nodes(self) -> int:
        """Nodes of the start batch."""
        return math.ceil(self.start_duration / self.step)


@dataclass(frozen=True)
class NodeConfig:
    """The live node: where its sensors come from and what it publishes."""

    input: str = param(
        "topics",
        "joint_states and imu (topics), or Unitree's own message (lowstate)",
        choices=("topics", "lowstate"),
    )
    mocap: bool = param(True, "use motion capture (topic mocap/pose)")
    mocap_source: str = param(
        "pose",
        "message type of mocap/pose; of covariances and velocities nothing is used",
        choices=("pose", "pose_with_covariance", "odometry", "named_poses"),
    )
    mocap_body: str = param(
        "", "name of the tracked body among named_poses; default: that of the robot"
    )
    sensors: str = param(
        "", "further sensors to listen to (foot_force, joint_targets, ...), separated by commas"
    )
    world_frame: str = param(
        "odom", "frame of odometry and contact wrenches; map where motion capture defines the world"
    )
    frame_prefix: str = param(
        "",
        "before the names of all frames (robot1/); a world_frame that begins with / has none",
    )
    publish_tf: bool = param(True, "broadcast world -> base; off when another node owns that edge")
    odometry_rate: float = param(
        500.0, "largest rate of odometry; it follows the IMU up to this", "Hz", 1.0, 2000.0
    )
    inertia_rate: float = param(10.0, "largest rate of inertial parameters", "Hz", 0.1, 100.0)
    priority: int = param(
        0,
        "real-time priority (SCHED_FIFO) of the node's threads; 0: those of any program",
        "",
        0,
        98,
    )
    cpus: str = param("", "CPUs that the node may run on, as in 2,3; default: all")
    lock_memory: bool = param(False, "keep the node's memory from being swapped out")
    resume_age: float = param(
        10.0,
        "oldest inertia of an estimator before this one (kept_inertia) to go on with; 0: none",
        "s",
        0.0,
        1e6,
    )
    backlog: int = param(
        200, "nodes that may wait for the solver; older ones are dropped and counted", "", 10, 1000
    )


@dataclass(frozen=True)
class Config:
    """The whole configuration: robot, noise, estimator, node."""

    robot: RobotConfig = field(default_factory=RobotConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    estimator: EstimatorConfig = field(default_factory=EstimatorConfig)
    node: NodeConfig = field(default_factory=NodeConfig)

    @staticmethod
    def load(robot: str, path: str | Path | None = None) -> "Config":
        """Configuration of a robot (`go2`, or the path of its YAML), with changes merged in.

        A robot's YAML has the section `robot`, and may have `noise` and `estimator`;
        `config/noise/<name>.yaml` is read first.
        """
        own = is_yaml(str(robot))
        robot_path = Path(robot).expanduser() if own else config_dir() / "robots" / f"{robot}.yaml"
        if not own and not robot_path.exists():
            raise ConfigError(
                f"unknown robot '{robot}': known are {', '.join(built_in_robots())}, or give the "
                "path of a YAML file",
                robot,
            )
        data = read_yaml(robot_path)
        config, data = Config(), beside(robot_path, data)
        name = config.updated(data, str(robot_path)).robot.name or robot_path.stem
        config = config.updated({"robot": {"name": name}}, str(robot_path))
        noise_path = config_dir() / "noise" / f"{name}.yaml"
        for source, content in (
            (noise_path, read_yaml(noise_path) if noise_path.exists() else {}),
            (robot_path, data),
        ):
            config = config.updated(content, str(source))
        if path is not None:
            changes = Path(path).expanduser()
            config = config.updated(beside(changes, read_yaml(changes)), str(path))
        return config

    def updated(self, content: dict, source: str = "configuration") -> "Config":
        """A copy with the given nested values.

        An unknown key or a value out of range raises ConfigError.
        """
        return _updated(self, content, source, "")

    def to_dict(self) -> dict:
        """Nested plain values, ready for YAML."""
        sections = {s.name: getattr(self, s.name) for s in fields(self)}
        return {
            name: {f.name: _plain(getattr(section, f.name)) for f in fields(section)}
            for name, section in sections.items()
        }


def _plain(value):
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return dict(value) if isinstance(value, dict) else value


def _updated(node, content: dict, source: str, prefix: str):
    known = {f.name: f for f in fields(node)}
    changes = {}
    for key, value in (content or {}).items():
        if key not in known:
            close = difflib.get_close_matches(str(key), known, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else f"; known are {', '.join(known)}"
            raise ConfigError(f"{source}: unknown key '{prefix}{key}'{hint}", key)
        current = getattr(node, key)
        if is_dataclass(current):
            # None: a section whose entries are all commented out
            if value is not None and not isinstance(value, dict):
                raise ConfigError(
                    f"{source}: '{prefix}{key}' must be a mapping, got {value!r}", value
                )
            changes[key] = _updated(current, value, source, f"{prefix}{key}.")
        else:
            changes[key] = check_value(
                type(node), known[key], laid_over(current, value), source, prefix
            )
    return replace(node, **changes)


def check_value(owner, f, value, source: str = "configuration", prefix: str = ""):
    """`value` as the type of field `f` of dataclass `owner`.

    ConfigError when type, range or choice does not fit.
    """
    name = f"{source}: '{prefix}{f.name}'"
    if owner is RobotConfig and f.name == "contacts":
        return _contacts(value, source, f"{prefix}contacts")
    if (owner, f.name) in _THREE:
        return three_numbers(value, name, f.metadata["unit"])
    kinds = typing.get_type_hints(owner)[f.name]
    kinds = typing.get_args(kinds) or (kinds,)
    if float in kinds and isinstance(value, str):  # YAML takes 1e-3 for a word
        with suppress(ValueError):
            value = float(value)
    if (
        isinstance(value, bool)
        and bool not in kinds
        or not isinstance(value, (*kinds, int) if float in kinds else kinds)
    ):
        raise ConfigError(
            f"{name} must be {' or '.join(k.__name__ for k in kinds)}, got {value!r}", value
        )
    if owner is RobotConfig and f.name == "name" and not is_file_name(value):
        raise ConfigError(
            f"{name} becomes the name of files: letters, digits, and - _ . between them, got "
            f"{value!r}",
            value,
        )
    if f.metadata["choices"] and value not in f.metadata["choices"]:
        raise ConfigError(
            f"{name} must be one of {', '.join(f.metadata['choices'])}, got {value!r}", value
        )
    numbers = (
        value.values()
        if isinstance(value, dict)
        else [value]
        if isinstance(value, (int, float))
        else []
    )
    for number in numbers:
        low, high = f.metadata["low"], f.metadata["high"]
        outside = not isinstance(number, (int, float)) or not math.isfinite(number)
        if outside or (low is not None and number < low) or (high is not None and number > high):
            raise ConfigError(
                f"{name} = {number!r} is outside [{low}, {high}] {f.metadata['unit']}".rstrip(),
                value,
            )
    return float(value) if kinds == (float,) else value


def _contacts(entries, source: str, name: str) -> list[ContactConfig]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError(
            f"{source}: '{name}' must be a list of mappings with name, frame, position, radius, "
            f"got {entries!r}",
            entries,
        )
    contacts = [
        _updated(ContactConfig(), entry, source, f"{name}[{i}].") for i, entry in enumerate(entries)
    ]
    check_names([contact.name for contact in contacts], f"{source}: '{name}'")
    return contacts
