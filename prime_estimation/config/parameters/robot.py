# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters of a robot: what its URDF does not say."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param

# largest values that can be meant: what is beyond is in degrees, or in millimetres
TURN, HALF_TURN = 6.2832, 3.1416  # rad
REACH = 5.0  # m, from the base of a robot to anything on it


@dataclass(frozen=True)
class ContactConfig:
    """Contact sphere, centred at `position` in `frame`.

    `name` is `<foot frame>` or `<foot frame>/<corner>`.
    """

    name: str = param("", "name of the contact in the output")
    frame: str = param("", "URDF frame that carries the sphere")
    position: list = param([0.0, 0.0, 0.0], "centre of the sphere in the frame", "m", -REACH, REACH)
    radius: float = param(0.0, "radius of the sphere", "m", 0.0, 1.0)
    foot: str = param(
        "", "contacts of one foot share disturbance and ground height; default: the frame"
    )


@dataclass(frozen=True)
class RobotConfig:
    """Facts about a robot beyond its URDF (`config/robots/<name>.yaml`)."""

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
        [0.0, 0.0, 0.0],
        "IMU, true minus URDF, axes of its link (see `prime calibrate`)",
        "m",
        -REACH,
        REACH,
    )
    imu_rotation: list = param(
        [0.0, 0.0, 0.0], "roll, pitch, yaw of the IMU in its URDF frame", "rad", -TURN, TURN
    )
    mocap_position: list = param(
        [0.0, 0.0, 0.0], "tracked body in the base frame", "m", -REACH, REACH
    )
    mocap_rotation: list = param(
        [0.0, 0.0, 0.0],
        "roll, pitch, yaw of the tracked body in the base frame",
        "rad",
        -TURN,
        TURN,
    )
    mocap_delay: float = param(
        0.0,
        "time by which stamps of motion capture are late (a clock ahead, or stamps of arrival): "
        "taken off them",
        "s",
        -1.0,
        1.0,
    )
    joint_zeros: dict = param(
        {}, "reading minus true position, by joint", "rad", -HALF_TURN, HALF_TURN
    )
    joint_offsets: dict = param(
        {},
        "origin of joints, true minus URDF, by joint, axes of the parent link (lengths of legs; "
        "see `prime calibrate`)",
        "m",
        -REACH,
        REACH,
    )
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
    stribeck: float | dict = param(
        0.0,
        "dry friction of a joint that begins to move, beyond joint_friction, one number or by "
        "joint",
        "Nm",
        0.0,
    )
    stribeck_velocity: float | dict = param(
        0.5,
        "joint rate at which two thirds of `stribeck` are gone, one number or by joint",
        "rad/s",
        1e-3,
        100.0,
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
    torque_offset: float | dict = param(
        0.0, "reading of the torque sensors without torque, one number or by joint", "Nm"
    )
    torque_delay: float = param(
        0.0,
        "time by which torque readings are late against the joints' motion (below 0: early, as "
        "commands are)",
        "s",
        -0.05,
        0.05,
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
        {}, "joints held at a fixed position, taken out of the model", "rad", -TURN, TURN
    )
    kappa: float = param(1500.0, "sharpness of the smoothed contact law", "1/(kg m2/s2)", 10.0, 1e5)
    compliance: float = param(0.01, "compliance of the contact law", "(m/s)/(N s)", 1e-6, 1.0)


# parameters that are three numbers, by section and name
THREE_NUMBERS = {(ContactConfig, "position")} | {
    (RobotConfig, f"{body}_{part}")
    for body in ("imu", "mocap")
    for part in ("position", "rotation")
}
# parameters that are three numbers of each that they name
THREE_NUMBERS_EACH = {(RobotConfig, "joint_offsets")}
