# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime walk`: closed loop with its run folder, headless and on the page."""

import json
import shlex

import pytest

from prime_estimation import cli

pytest.importorskip("mujoco")

SHORT = ("walk", "--duration", "4.4", "--on", "3", "--payload", "4.6", "--no-progress", "--json")
MASS = 16.085 + 4.6  # kg, of a Go2 and the load


def run(capsys, *arguments: str) -> tuple[int, dict, str]:
    code = cli.main([*SHORT, *arguments])
    out, err = capsys.readouterr()
    return code, json.loads(out) if code == 0 else {}, err


@pytest.mark.slow
def test_headless(tmp_path, capsys):
    code, result, err = run(capsys, "--headless", "--out", str(tmp_path))
    assert code == 0, err
    assert not result["fell"] and not result["stopped"]
    assert result["mass_true_kg"] == pytest.approx(MASS, abs=0.01)
    assert result["mass_error_worst"] < 0.05
    assert result["loaded"]["height"] < 0.5 * result["without_update"]["loaded"]["height"]
    folder = tmp_path / "latest"
    names = {"estimate.mcap", "walk.png", "metrics.json", "config.yaml", "trajectory.tum"}
    assert names <= {path.name for path in folder.iterdir()}
    assert json.loads((folder / "metrics.json").read_text())["mass_kg"] == result["mass_kg"]


@pytest.mark.slow
def test_what_it_says_can_be_copied(tmp_path, capsys):
    folder = tmp_path / "my runs"
    assert cli.main([*SHORT[:-1], "--no-update", "--headless", "--out", str(folder)]) == 0
    bag = (folder / "latest").resolve() / "estimate.mcap"
    assert f"prime view {shlex.quote(str(bag))} --robot go2\n" in capsys.readouterr().out


@pytest.mark.slow
def test_on_the_page_without_a_browser(tmp_path, capsys, monkeypatch):
    pytest.importorskip("viser")
    monkeypatch.setattr("prime_estimation.commands.walk.PATIENCE_S", 0.2)
    code, result, err = run(capsys, "--no-update", "--port", "0", "--out", str(tmp_path))
    assert code == 0, err
    assert result["loaded"]["height"] > 0.005 and "without_update" not in result


def test_a_load_that_comes_too_late(tmp_path, capsys):
    code, _, err = run(capsys, "--on", "4", "--out", str(tmp_path))
    assert code == 2 and "--on 4" in err and not list(tmp_path.iterdir())


def test_a_velocity_beyond_the_gait(tmp_path, capsys):
    code, _, err = run(capsys, "--gait", "walk", "--velocity", "0.5", "--out", str(tmp_path))
    assert code == 2 and "a walk goes at 0.3 m/s at most" in err


def test_a_robot_without_four_feet(tmp_path, capsys):
    code, _, err = run(capsys, "--robot", "g1", "--headless", "--out", str(tmp_path))
    assert code == 2 and "four feet" in err and not list(tmp_path.iterdir())
