# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime config`: all parameters with default, unit, range and meaning, in three formats."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

import yaml

from ..config.files import built_in_robots, is_yaml
from ..config.parameters import ROS_SECTIONS, Config, ContactConfig, RobotConfig
from ..errors import ConfigError
from ..robot import Robot

DESCRIPTION = """Print all parameters of a robot with unit, range and meaning: as YAML that can be
edited and given to --config, as parameters of the ROS 2 node, or as the tables of the
documentation (defaults, and what the robots of the package have instead)."""
EXAMPLES = [
    "prime config --robot go2 > changes.yaml",
    "prime config --robot g1 --format ros > parameters.yaml",
    "prime config --format table",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds robot and format."""
    parser.add_argument(
        "--robot",
        default="go2",
        metavar="NAME",
        help="robot by name or by the path of its YAML file (default: go2)",
    )
    parser.add_argument("--config", metavar="YAML", help="changes to lay over the defaults")
    parser.add_argument(
        "--format",
        choices=("yaml", "ros", "table"),
        default="yaml",
        help="for --config (yaml, the default), for `ros2 run --params-file` (ros), or Markdown "
        "(table)",
    )


def run(args: argparse.Namespace) -> dict:
    """Prints the configuration; the JSON is the whole of it."""
    if args.format == "table" and args.config is not None:
        raise ConfigError(
            "--config is of yaml and ros: the tables are of the defaults", args.config
        )
    config = Config.load(args.robot, args.config)
    Robot(config.robot)  # refuses what does not fit its URDF
    formats = {"yaml": _yaml, "ros": _ros, "table": lambda args, config: parameter_tables()}
    lines = formats[args.format](args, config)
    if not args.json:
        print("\n".join(lines))  # as it is: a console would fold long lines
    return config.to_dict()


def parameter_tables() -> list[str]:
    """Markdown tables: all parameters with their defaults, and what known robots have instead."""
    return [*_default_table(), "", *_robot_table()]


def _default_table() -> list[str]:
    rows = [
        "| parameter | default | unit | range | while it runs | meaning |",
        "|---|---|---|---|---|---|",
    ]
    robot = [
        (s, kind(), f)
        for s, kind in (("robot", RobotConfig), ("robot.contacts[]", ContactConfig))
        for f in fields(kind)
    ]
    for section, defaults, field in [*robot, *_parameters(Config())]:
        facts, default = field.metadata, getattr(defaults, field.name)
        cells = [
            f"`{section}.{field.name}`",
            f"`{_scalar(default)}`" if default not in ("", [], {}) else "",
            facts["unit"],
            _range(facts),
            "yes" if facts["tunable"] else "",
            facts["doc"],
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _robot_table() -> list[str]:
    """Parameters of one number or word of which a robot of the package has another value."""
    robots = {name: Config.load(name) for name in built_in_robots()}
    head = ["parameter", "default", *robots]
    rows = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for section, values, field in _parameters(Config(), ("robot", *ROS_SECTIONS)):
        default = getattr(values, field.name)
        own = [getattr(getattr(config, section), field.name) for config in robots.values()]
        words = section == "robot" and isinstance(default, (str, list))
        if words or all(value == default for value in own):
            continue
        cells = ["by joint" if isinstance(v, dict) else f"`{_scalar(v)}`" for v in (default, *own)]
        rows.append(f"| `{section}.{field.name}` | {' | '.join(cells)} |")
    return rows


def _parameters(config: Config, sections: Sequence[str] = ROS_SECTIONS) -> Iterator[tuple]:
    """Name of the section, its values, and a field of it."""
    for section in sections:
        values = getattr(config, section)
        for field in fields(values):
            yield section, values, field


def _range(facts) -> str:
    if facts["choices"]:
        return ", ".join(facts["choices"])
    low, high = ("" if v is None else f"{v:g}" for v in (facts["low"], facts["high"]))
    return f"{low} to {high}" if high else f"from {low}" if low else ""


def _comment(facts) -> str:
    return "  # " + "; ".join(part for part in (facts["doc"], facts["unit"], _range(facts)) if part)


def _yaml(args: argparse.Namespace, config: Config) -> list[str]:
    lines, current = [f"# {args.robot}: what is not changed may be left out"], ""
    for section, values, field in _parameters(config):
        lines += [] if section == current else [f"{section}:"]
        current = section
        value = _scalar(getattr(values, field.name))
        lines.append(f"  {field.name}: {value}{_comment(field.metadata)}")
    return lines


def _ros(args: argparse.Namespace, config: Config) -> list[str]:
    # of a node in any namespace and working folder
    robot = _whole_path(args.robot) if is_yaml(args.robot) else args.robot
    lines = ["/**/prime:", "  ros__parameters:", f"    robot: {robot}"]
    if args.config:  # what it changes of the robot is no parameter of the node
        lines.append(f"    config: {_whole_path(args.config)}")
    for section, values, field in _parameters(config):
        value = _scalar(getattr(values, field.name))
        lines.append(f"    {section}.{field.name}: {value}{_comment(field.metadata)}")
    return lines


def _whole_path(path: str) -> str:
    return json.dumps(str(Path(path).expanduser().resolve()), ensure_ascii=False)


def _scalar(value) -> str:
    return yaml.safe_dump(value, default_flow_style=True).split("\n")[0]
