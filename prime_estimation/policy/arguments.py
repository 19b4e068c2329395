# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Arguments of an observer, checked, and the configuration that they choose."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from pathlib import Path

import numpy as np

from ..config.files import built_in_robots, read_yaml
from ..config.parameters import Config
from ..errors import ConfigError, DataError
from ..io.typestore import typestore
from ..io.unitree import LowStateReader, family_of
from ..robot import Robot

_LATEST_NS = 2**62  # so that differences of stamps have 64 bits too


def configuration(robot: str | Robot, changes: str | Path | Config | None) -> Config:
    """That of a robot, with changes; of a Robot that of its file, or what has its name.

    Raises:
        ConfigError: a whole Config is that of another robot, or the changes are no file.
    """
    if isinstance(changes, Config):
        of = changes.robot.name
        if isinstance(robot, str) and robot in built_in_robots() and robot != of:
            raise ConfigError(f"the configuration is that of '{of}', the robot is {robot}", of)
        return changes
    if not isinstance(robot, Robot):
        return Config.load(robot, changes)
    known = robot.source or (robot.name if robot.name in built_in_robots() else "")
    config = Config.load(known) if known else Config()
    config = replace(config, robot=robot.config)
    if changes is None:
        return config
    if not isinstance(changes, str | Path):
        told = f"config is the path of a YAML file or a whole Config, got {changes!r:.60}"
        raise ConfigError(told, changes)
    return config.updated(read_yaml(Path(changes)), str(changes))


def lowstate_reader(robot: Robot) -> LowStateReader | None:
    """Splits the raw messages of a robot; None where it has none."""
    try:
        return LowStateReader(family_of(robot.name), typestore().types.__getitem__)
    except ConfigError:
        return None


def largest_deviation(value: float) -> float:
    """Standard deviation [m/s] above which a state is not valid; `math.inf`: any will do.

    Raises:
        ConfigError: it is no number above 0.
    """
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not (number and value > 0.0):
        raise ConfigError(f"largest_stddev must be a number above 0 m/s, got {value!r}", value)
    return float(value)


def check_together(position, velocity, torque, gyro, accelerometer, quat_world_imu) -> None:
    """Check that no array is given without those that it is read with.

    Raises:
        DataError: it would be passed over.
    """
    if (gyro is None) != (accelerometer is None):
        raise DataError("gyro and accelerometer come together: one of them is missing", gyro)
    for name, value in (("velocity", velocity), ("torque", torque)):
        if position is None and value is not None:
            raise DataError(f"{name} comes with position, of the same instant", value)
    if gyro is None and quat_world_imu is not None:
        raise DataError("quat_world_imu comes with gyro and accelerometer", quat_world_imu)


def checked_stamp(stamp_ns: int, name: str = "stamp_ns") -> int:
    """Stamp of a reading [ns].

    Raises:
        DataError: it is none.
    """
    try:
        stamp = None if isinstance(stamp_ns, str | bool) else int(stamp_ns)
    except (TypeError, ValueError, OverflowError):
        stamp = None
    if stamp is None or abs(stamp) > _LATEST_NS:
        raise DataError(f"{name} must be a whole number of ns, got {stamp_ns!r}", stamp_ns)
    return stamp


def numbers(values, what: str) -> np.ndarray:
    """Array of what is handed in.

    Raises:
        DataError: it holds no numbers.
    """
    try:
        return np.array(values, float)
    except (TypeError, ValueError) as error:
        told = f"{what} must be an array of numbers, got {values!r:.60}"
        raise DataError(told, values) from error
