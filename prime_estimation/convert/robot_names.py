# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Names of a mapping against those of its robot."""

from __future__ import annotations

from ..errors import ConfigError
from ..robot import Robot
from .hints import did_you_mean, some
from .mapping import Mapping


def check_names(mapping: Mapping) -> None:
    """ConfigError where the mapping's joints or feet are not the robot's."""
    if not mapping.robot:
        return
    robot = Robot.load(mapping.robot)
    locked = set(robot.config.locked_joints)
    if mapping.joints is not None:
        names = mapping.joints.names
        unknown = [n for n in names if n not in robot.joint_names and n not in locked]
        if unknown:
            hint = did_you_mean(unknown[0], robot.joint_names)
            raise ConfigError(f"joints.names: {robot.name} has no joint '{unknown[0]}'{hint}")
        missing = [n for n in robot.joint_names if n not in names]
        if missing:
            raise ConfigError(
                f"joints.names has {len(names)} joints, but {robot.name} has {robot.nj}: "
                f"missing {'is' if len(missing) == 1 else 'are'} {some(missing)}"
            )
    feet = list(dict.fromkeys([*robot.feet, *(c.name for c in robot.contacts)]))
    for key in ("foot_force", "contacts"):
        section = getattr(mapping, key)
        for name in section.names if section is not None else ():
            if name not in feet:
                hint = did_you_mean(name, feet)
                raise ConfigError(f"{key}.names: {robot.name} has no foot '{name}'{hint}")
