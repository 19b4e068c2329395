# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime config`: all parameters with unit, range and meaning, as YAML to edit, as ROS 2 parameters, or as a table."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import fields

import yaml

from ..config.parameters import Config, ContactConfig, RobotConfig

DESCRIPTION = "Print all parameters of a robot with unit, range and meaning. What is printed can be edited and given to --config."
EXAMPLES = [
    "prime config --robot go2 > changes.yaml",
    "prime config --robot g1 --format ros > parameters.yaml",
    "prime config --format table",
]
SECTIONS = ("noise", "estimator", "node")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Robot and format."""
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
        help="for --config, for `ros2 run --params-file`, or Markdown",
    )


def run(args: argparse.Namespace) -> dict:
    """Print; the JSON is the whole configuration."""
    config = Config.load(args.robot, args.config)
    lines = {"yaml": _yaml, "ros": _ros, "table": lambda robot, config: parameter_table()}[
        args.format
    ](args.robot, config)
    if not args.json:
        print("\n".join(lines))  # as it is: a console would fold long lines
    return config.to_dict()


def parameter_table() -> list[str]:
    """Markdown table of all parameters; defaults are left out, since they depend on the robot."""
    rows = ["| parameter | unit | range | while it runs | meaning |", "|---|---|---|---|---|"]
    robot = [
        (s, f)
        for s, kind in (("robot", RobotConfig), ("robot.contacts[]", ContactConfig))
        for f in fields(kind)
    ]
    for section, field in [*robot, *_parameters()]:
        facts = field.metadata
        tunable = "yes" if facts["tunable"] else ""
        rows.append(
            f"| `{section}.{field.name}` | {facts['unit']} | {_range(facts)} | {tunable} | {facts['doc']} |"
        )
    return rows


def _parameters() -> Iterator[tuple]:
    config = Config()
    for section in SECTIONS:
        for field in fields(getattr(config, section)):
            yield section, field


def _range(facts) -> str:
    if facts["choices"]:
        return ", ".join(facts["choices"])
    low, high = ("" if v is None else f"{v:g}" for v in (facts["low"], facts["high"]))
    return f"{low} to {high}" if high else f"from {low}" if low else ""


def _comment(facts) -> str:
    return "  # " + "; ".join(part for part in (facts["doc"], facts["unit"], _range(facts)) if part)


def _yaml(robot: str, config: Config) -> list[str]:
    lines, current = [f"# {robot}: what is not changed may be left out"], ""
    for section, field in _parameters():
        lines += [] if section == current else [f"{section}:"]
        current = section
        lines.append(
            f"  {field.name}: {_scalar(getattr(getattr(config, section), field.name))}{_comment(field.metadata)}"
        )
    return lines


def _ros(robot: str, config: Config) -> list[str]:
    lines = ["prime:", "  ros__parameters:", f"    robot: {robot}"]
    for section, field in _parameters():
        lines.append(
            f"    {section}.{field.name}: {_scalar(getattr(getattr(config, section), field.name))}{_comment(field.metadata)}"
        )
    return lines


def _scalar(value) -> str:
    return yaml.safe_dump(value, default_flow_style=True).split("\n")[0]
