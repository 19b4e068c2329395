# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Configuration: all parameters of a robot, with files and changes merged in."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path

from ...errors import ConfigError
from ..files import built_in_robots, config_dir, is_yaml, read_yaml
from ..values import beside
from .checks import updated
from .estimator import EstimatorConfig
from .node import NodeConfig
from .noise import NoiseConfig
from .robot import RobotConfig

ROS_SECTIONS = ("noise", "estimator", "node")  # parameters of the ROS 2 node; a robot is a file


@dataclass(frozen=True)
class Config:
    """The whole configuration: robot, noise, estimator, node."""

    robot: RobotConfig = field(default_factory=RobotConfig)
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    estimator: EstimatorConfig = field(default_factory=EstimatorConfig)
    node: NodeConfig = field(default_factory=NodeConfig)

    @staticmethod
    def load(robot: str, path: str | Path | None = None) -> Config:
        """Configuration of a robot (`go2`, or the path of its YAML), with changes merged in.

        A robot's YAML has the section `robot`, and may have `noise`, `estimator` and `node`;
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
            if not isinstance(path, str | Path):
                what = f"changes are the path of a YAML file, got a {type(path).__name__}"
                raise ConfigError(f"{what}; for a mapping there is Config.updated", path)
            changes = Path(path).expanduser()
            config = config.updated(beside(changes, read_yaml(changes)), str(path))
        return config

    def updated(self, content: dict, source: str = "configuration") -> Config:
        """A copy with the given nested values.

        An unknown key or a value out of range raises ConfigError.
        """
        if not (content is None or isinstance(content, dict)):
            what = f"changes must be a mapping of sections, got a {type(content).__name__}"
            raise ConfigError(f"{source}: {what}; of a file: Config.load(robot, path)", content)
        return updated(self, content, source)

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
