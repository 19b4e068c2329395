# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Arguments that launch files share: their choices, and checks before anything starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..config.files import built_in_robots, is_yaml
from ..errors import ConfigError

# ROS packages that a launch argument needs beyond the dependencies of this package
VIEWERS = {
    "rviz": ("rviz2", "robot_state_publisher"),
    "rqt": (
        *("rqt_gui", "rqt_plot", "rqt_reconfigure", "rqt_robot_monitor"),
        "diagnostic_aggregator",
    ),
}


class RobotChoices(list):
    """Choices of a launch argument.

    The robots that come with the package, or any path of a robot's YAML file.
    """

    def __init__(self):
        super().__init__([*built_in_robots(), "PATH.yaml"])

    def __contains__(self, value: object) -> bool:
        return super().__contains__(value) or is_yaml(str(value))


def check_packages(wanted: Mapping[str, bool]) -> None:
    """Check that the viewers that are wanted (`rviz`, `rqt`) are installed, before a node starts.

    A launch that fails later leaves the nodes running that it has started.

    Raises:
        ConfigError: some are missing; it names the apt packages.
    """
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix

    def installed(package: str) -> bool:
        try:
            return bool(get_package_prefix(package))
        except PackageNotFoundError:
            return False

    for argument in (name for name, value in wanted.items() if value):
        missing = [package for package in VIEWERS[argument] if not installed(package)]
        if missing:
            distro = os.environ.get("ROS_DISTRO", "jazzy")
            names = " ".join(f"ros-{distro}-{p.replace('_', '-')}" for p in missing)
            raise ConfigError(
                f"{argument}:=true needs {', '.join(missing)}: sudo apt install {names}, or leave "
                f"{argument}:=true out",
                missing,
            )


def check_bag(path: str) -> None:
    """Check that a recording is there, before a node starts.

    Raises:
        ConfigError: there is nothing of this name.
    """
    if path and not Path(path).expanduser().exists():
        raise ConfigError(f"no such bag: {path}", path)


def check_robot(robot: str, config: str) -> None:
    """Check robot, its URDF, and configuration, before a node starts.

    Raises:
        ConfigError, RobotError: one of them is wrong.
    """
    from ..config.parameters import Config
    from ..robot import Robot

    Robot(Config.load(robot, config or None).robot)
