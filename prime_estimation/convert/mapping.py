# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Every key of a mapping, declared once: default, unit, meaning.

The checks of `mapping_file` and the table of docs/convert.md derive from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..declaration import param
from .units import UNITS


def _section(kind: type, doc: str, default: type = lambda: None, **facts):
    """A field that is a section of its own, absent by default.

    `required`: it must be there; `by_name`: several, by names of the user's choice; `unit_kind`: of
    `UNITS`.
    """
    return field(default_factory=default, metadata=dict(doc=doc, section=kind, **facts))


def _quantity(unit_kind: str, doc: str, required: bool = False):
    return _section(Columns, doc, required=required, unit_kind=unit_kind)


@dataclass(frozen=True)
class Columns:
    """Columns of one quantity. A list, a word or a number in its place is `columns` alone."""

    columns: list | str | float = param(
        [],
        "names of the columns in order (a number among them is a constant, in quotes a name); or "
        "the name of an array with that many columns; or a pattern with {} for the numbers 0, 1, "
        "...; or one number for all of them",
    )
    unit: str = param("", "unit of the columns; default: SI (the first of each kind below)")
    scale: float = param(1.0, "factor on the columns, beside the unit's")
    file: str = param("", "file of the columns; default: that of the section")
    limit: float = param(
        0.0, "rows with a larger magnitude are dropped as garbage (0: none), in SI units", "", 0.0
    )


@dataclass(frozen=True)
class Rotation:
    """Columns of an orientation."""

    columns: list | str = param([], "names of the four or three columns, as of a quantity")
    order: str = param(
        "xyzw",
        "quaternion, Euler angles about fixed axes (xyz: roll, pitch, yaw) or about moving axes",
        choices=("xyzw", "wxyz", "xyz", "zyx", "XYZ", "ZYX"),
    )
    unit: str = param("rad", "unit of Euler angles", choices=tuple(UNITS["angle"]))
    file: str = param("", "file of the columns; default: that of the section")


@dataclass(frozen=True)
class Clock:
    """Stamps of the rows of a file."""

    column: str | list = param(
        "",
        "column with the stamps, or several names of which the first that exists is taken; empty: "
        "rows have none, see step and rate",
    )
    unit: str = param("s", "unit of the stamps", choices=tuple(UNITS["time"]))
    rate: float = param(0.0, "rows per second, where there are no stamps", "Hz", 0.0)
    step: float | str = param(
        0.0, "time between rows, or the name of the scalar that holds it, in place of rate", "s"
    )
    offset: float = param(
        0.0, "added to the stamps: for a file by another clock, or a sensor that is late", "s"
    )
    from_rates: bool = param(
        False,
        "rows without stamps: between two fresh joint readings passes the time that the joint "
        "rates need for the change of the positions; step or rate is the first guess",
    )
    arrivals: bool = param(
        False,
        "stamps are those of arrival, of rows that were sampled at one rate (`rate`, or as the "
        "stamps have it) and came late in bursts: a row is stamped one period before the next, "
        "where it did not arrive before",
    )
    irregular: str = param("refuse", "stamps that repeat or go back", choices=("refuse", "drop"))


@dataclass(frozen=True)
class LogFile:
    """One file of the log."""

    path: str = param("", "the file, seen from LOG where that is a folder; empty: LOG itself")
    format: str = param(
        "auto",
        "auto: by the suffix (.csv, .txt and .dat tables, .npz, .mat, .parquet)",
        choices=("auto", "csv", "table", "npz", "mat", "parquet"),
    )
    header: bool = param(True, "csv and table: the first row names the columns")
    names: list = param([], "csv and table without header: names of the columns")
    drop_first: int = param(0, "rows of garbage at the beginning", "", 0)
    drop_last: int = param(0, "rows of garbage at the end", "", 0)
    time: Clock | None = _section(Clock, "stamps of the rows")


@dataclass(frozen=True)
class Targets:
    """PD targets: the commanded torque is `effort + kp (position - q) + kd (velocity - dq)`.

    q and dq are the measured ones of the same row.
    """

    position: Columns | None = _quantity("angle", "q_des")
    velocity: Columns | None = _quantity("rate", "dq_des; default: 0")
    kp: Columns | None = _quantity("stiffness", "stiffness; default: 0")
    kd: Columns | None = _quantity("damping", "damping; default: 0")
    effort: Columns | None = _quantity("torque", "tau_ff; default: 0")


@dataclass(frozen=True)
class Joints:
    """Topics joint_states and joint_commands."""

    file: str = param("", "file of the columns; needed where the log has several")
    names: list = param([], "joints of the URDF, in the order of the columns")
    signs: list = param([], "1 or -1 per joint: axes that point the other way; default: all 1")
    offsets: list = param([], "added to the positions, per joint, after the signs", "rad")
    position: Columns | None = _quantity("angle", "q", required=True)
    velocity: Columns | None = _quantity("rate", "dq")
    effort: Columns | None = _quantity("torque", "measured torque")
    command: Columns | None = _quantity(
        "torque", "commanded torque (joint_commands); also one measured at a rate of its own"
    )
    targets: Targets | None = _section(Targets, "PD targets, in place of command")
    command_delay: float = param(
        0.0, "added to the stamps of commands: drives take that long to make torque of them", "s"
    )


@dataclass(frozen=True)
class Imu:
    """Topic imu."""

    file: str = param("", "file of the columns; needed where the log has several")
    delay: float = param(0.0, "by which the sensor is late: taken off its stamps", "s")
    frame: str = param("imu", "frame_id of the messages")
    gyro: Columns | None = _quantity("rate", "x, y, z", required=True)
    accelerometer: Columns | None = _quantity(
        "acceleration", "x, y, z: specific force, +g upwards at rest", required=True
    )
    orientation: Rotation | None = _section(Rotation, "of the IMU in the world, by its own filter")
    rotation: list = param(
        [0.0, 0.0, 0.0],
        "roll, pitch, yaw of the log's axes in those of the robot's imu_frame",
        "rad",
    )


@dataclass(frozen=True)
class Mocap:
    """Topic mocap/pose."""

    file: str = param("", "file of the columns; needed where the log has several")
    delay: float = param(0.0, "by which the sensor is late: taken off its stamps", "s")
    frame: str = param("world", "frame_id of the messages")
    position: Columns | None = _quantity("length", "x, y, z", required=True)
    orientation: Rotation | None = _section(
        Rotation, "of the tracked body in the world", required=True
    )
    world_rotation: list = param(
        [0.0, 0.0, 0.0],
        "roll, pitch, yaw of the log's world in one whose z points upwards "
        "([1.5708, 0, 0] where y does)",
        "rad",
    )


@dataclass(frozen=True)
class Feet:
    """Topic foot_force, or contacts: columns of the feet."""

    file: str = param("", "file of the columns; needed where the log has several")
    delay: float = param(0.0, "by which the sensor is late: taken off its stamps", "s")
    names: list = param([], "feet as in robot.contacts, in the order of the columns")
    values: Columns | None = _quantity("force", "of each foot; contacts: its flag", required=True)
    threshold: float = param(0.5, "contacts: a value above it is a foot that stands")


@dataclass(frozen=True)
class Seams:
    """Places where the recording was cut: what comes after is stamped later by a gap."""

    rows: list = param(
        [], "rows of the joints' file that begin a new part, or names of scalars that hold them"
    )
    detect: bool = param(True, "find them: stamps or joint positions that jump")
    jump: float = param(
        0.05, "step of a third of the joints that their rates do not explain", "rad", 1e-4
    )
    pause: float = param(0.5, "step of the stamps that is a seam", "s", 1e-3)
    gap: float = param(1.0, "time between the parts in the bag", "s", 0.0)


@dataclass(frozen=True)
class Held:
    """Rows that repeat an older reading of a sensor: only fresh ones go on."""

    drop: bool = param(True, "find and drop them, for each sensor by itself")
    longest: float = param(
        0.02, "a reading that stays equal for longer is one again: the robot stands still", "s", 0.0
    )


@dataclass(frozen=True)
class Mapping:
    """A log that is no bag: its files, and what their columns are."""

    robot: str = param("", "robot whose joints and feet are meant, by name or YAML path")
    files: dict[str, LogFile] = _section(
        LogFile, "files by names of your choice", dict, required=True, by_name=True
    )
    joints: Joints | None = _section(Joints, "joint states and commands")
    imu: Imu | None = _section(Imu, "inertial measurement unit")
    mocap: Mocap | None = _section(Mocap, "motion capture")
    foot_force: Feet | None = _section(Feet, "foot force sensors")
    contacts: Feet | None = _section(Feet, "contact flags of the log")
    seams: Seams = _section(Seams, "cuts in the recording", Seams)
    held: Held = _section(Held, "sample-and-hold rows", Held)
