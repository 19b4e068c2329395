# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What `prime config` prints can be used: as changes, as ROS 2 parameters, as documentation."""

import pytest
import yaml

from prime_estimation import cli
from prime_estimation.commands.config import parameter_tables
from prime_estimation.config.files import config_dir
from prime_estimation.config.parameters import ROS_SECTIONS, Config


@pytest.mark.parametrize("robot", ["go1", "go2", "g1"])
def test_yaml_is_the_configuration(robot, capsys):
    assert cli.main(["config", "--robot", robot]) == 0
    config = Config.load(robot)
    printed = yaml.safe_load(capsys.readouterr().out)
    assert tuple(printed) == ROS_SECTIONS and config.updated(printed) == config


def test_ros_parameters_are_the_configuration(capsys):
    assert cli.main(["config", "--robot", "go1", "--format", "ros"]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)["/**/prime"]["ros__parameters"]
    assert printed.pop("robot") == "go1"
    config = Config.load("go1")
    assert printed == {f"{s}.{k}": v for s in ROS_SECTIONS for k, v in config.to_dict()[s].items()}


def test_ros_parameters_name_files_that_any_node_finds(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    robot = (config_dir() / "robots" / "go2.yaml").read_text()
    (
        tmp_path / "a: robot of mine with a name that a line of eighty columns has no place for"
    ).mkdir()
    path = next(tmp_path.iterdir()) / "go2.yaml"
    path.write_text(robot)
    (tmp_path / "load.yaml").write_text("robot: {armature: 0.02}")
    given = ("--robot", str(path.relative_to(tmp_path)), "--config", "load.yaml")
    assert cli.main(["config", *given, "--format", "ros"]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)["/**/prime"]["ros__parameters"]
    assert printed["robot"] == str(path) and printed["config"] == str(tmp_path / "load.yaml")


def test_tables_of_the_documentation_are_current(repository):
    written = (repository / "docs" / "parameters.md").read_text()
    assert "\n".join(parameter_tables()) in written, (
        "run: prime config --format table, and put it into docs/parameters.md"
    )


def test_tables_have_defaults_and_what_robots_change():
    everything, of_robots = "\n".join(parameter_tables()).split("\n\n")
    window, kappa = Config().estimator.window, Config().robot.kappa
    assert f"| `estimator.window` | `{window}` |" in everything
    head, _, *rows = ([c.strip() for c in r.split("|")[1:-1]] for r in of_robots.splitlines())
    table = {row[0]: dict(zip(head, row)) for row in rows}
    assert table["`robot.kappa`"]["default"] == f"`{kappa}`"
    assert table["`robot.kappa`"]["g1"] == f"`{Config.load('g1').robot.kappa}`"
    assert "estimator.window" not in of_robots


def test_changes_that_do_not_fit_the_robot(tmp_path, capsys):
    path = tmp_path / "changes.yaml"
    path.write_text("robot: {armature: {FL_hip: 1}}")
    assert cli.main(["config", "--robot", "go2", "--config", str(path)]) == 2
    assert "armature names unknown joints FL_hip" in capsys.readouterr().err
