# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the README shows must work."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation import Config, ImuSample, JointSample, Robot
from prime_estimation.cli import VERBS


@pytest.fixture(scope="module")
def readme(repository):
    return (repository / "README.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_robot_of_the_readme(readme, tmp_path):
    path = tmp_path / "a1.yaml"
    path.write_text(blocks(readme, "yaml")[0])
    robot = Robot.load(str(path))
    assert (robot.nj, len(robot.feet), robot.imu_joint) == (12, 4, 1)


def test_python_of_the_readme(readme):
    listener, library, _ = blocks(readme, "python")
    compile(listener, "README.md", "exec")
    room: dict = {}
    exec(compile(library, "README.md", "exec"), room)
    for k in range(30):
        room["on_sample"](JointSample(2_000_000 * k, np.zeros(12), np.zeros(12), np.zeros(12)))
        room["on_sample"](ImuSample(2_000_000 * k, np.zeros(3), np.array([0.0, 0.0, 9.81])))


def test_policy_of_the_readme(readme):
    room: dict = {}
    exec(compile(blocks(readme, "python")[2], "README.md", "exec"), room)
    message = SimpleNamespace(
        motor_state=[SimpleNamespace(q=0.0, dq=0.0, tau_est=0.0)] * 20,
        imu_state=SimpleNamespace(
            quaternion=[1.0, 0.0, 0.0, 0.0], gyroscope=[0.0] * 3, accelerometer=[0.0, 0.0, 9.81]
        ),
        foot_force=[0] * 4,
        tick=7,
    )
    with room["observer"]:
        assert room["on_lowstate"](message) == "the start batch is being gathered"


def test_robots_are_listed(readme, repository):
    table = readme.split("## Robots")[1]
    for path in (repository / "config" / "robots").glob("*.yaml"):
        robot = Robot(Config.load(path.stem).robot)
        assert re.search(rf"^\| `{path.stem}` \| {robot.nj} \|", table, re.M), (
            f"{path.stem} is missing in the README's table"
        )


def test_commands_exist(readme, repository):
    commands = "\n".join(blocks(readme, "bash"))
    assert {verb for verb in re.findall(r"(?<![/\w])prime (\w+)", commands)} <= set(VERBS)
    targets = re.findall(r"^([\w-]+):", (repository / "Makefile").read_text(), re.M)
    assert set(re.findall(r"\bmake ([\w-]+)", readme)) <= set(targets)
    for launch in re.findall(r"\w+\.launch\.py", readme):
        assert (repository / "launch" / launch).is_file()
