# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The command line: help with examples, one line and exit code 2 on bad input, JSON for
machines."""

from __future__ import annotations

import importlib
import json
import shlex
import signal
import subprocess
import sys
from argparse import Namespace
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path

import pytest
from helpers.waiting import wait

from prime_estimation import cli
from prime_estimation.commands import replay as replay_command


def run(*arguments: str, capsys) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a verb, in this process."""
    try:
        code = cli.main(list(arguments))
    except SystemExit as stop:  # argparse
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("verb", cli.VERBS)
def test_help_has_examples_that_parse(verb, capsys):
    code, out, _ = run(verb, "--help", capsys=capsys)
    assert code == 0 and "examples:" in out and "--json" in out
    module = importlib.import_module(f"prime_estimation.commands.{verb}")
    for example in module.EXAMPLES:
        words = shlex.split(example.split(">")[0], comments=True)
        assert words[:2] == ["prime", verb]
        parser = cli._Parser()
        module.add_arguments(parser)
        parser.add_argument("--json", action="store_true")
        parser.parse_args(words[2:])


def test_overview_lists_the_verbs(capsys):
    code, out, _ = run("--help", capsys=capsys)
    assert code == 0 and all(f"  {verb} " in out for verb in cli.VERBS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "required: VERB"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["replay"], "required: BAG, --robot"),
        (
            ["replay", "bag", "--robot", "go2", "--out", "x.mcap", "--frob"],
            "unrecognized arguments: --frob",
        ),
        (["replay", "bag", "--robot", "go2", "--to", "6"], "unrecognized arguments: --to 6"),
        (["evaluate", "absent.mcap", "absent"], "no such bag"),
        (["evaluate", "a", "b", "--settle", "soon"], "invalid float value"),
    ],
)
def test_bad_arguments_give_one_line_and_exit_2(arguments, words, capsys):
    code, out, err = run(*arguments, capsys=capsys)
    assert code == 2 and words in err and err.count("\n") == 1 and out == ""


def test_a_bug_of_ours_is_one_line_too(monkeypatch, capsys):
    monkeypatch.setattr(cli, "_run", lambda *_: 1 / 0)
    monkeypatch.delenv("PRIME_TRACEBACK", raising=False)
    code, _, err = run("doctor", capsys=capsys)
    assert (
        code == 1 and "a bug, please report it: ZeroDivisionError" in err and err.count("\n") == 1
    )


def test_doctor(capsys):
    code, out, err = run("doctor", "--json", capsys=capsys)
    report = json.loads(out)
    assert report["robots"]["go2"].startswith("12 joints, 4 contacts")
    assert report["versions"]["numpy"] and set(report["optional"]) == {
        "mujoco",
        "matplotlib",
        "viser",
        "cyclonedds",
        "rclpy",
        "cvxpy",
        "distributed",
        "pyarrow",
    }
    assert (code == 2) == bool(report["problems"]) == bool(err)


def test_what_is_not_installed_is_said_before_the_work(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as absent:
        absent.setattr("importlib.util.find_spec", lambda name: None)
        simulate = ("simulate", "--robot", "go2", "--out", "x")
        for verb in (simulate, ("demo",), ("walk", "--headless")):
            code, _, err = run(*verb, capsys=capsys)
            assert code == 2 and "MuJoCo is not installed" in err
    pytest.importorskip("mujoco")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for verb in (("demo",), ("walk", "--headless")):
        code, _, err = run(*verb, capsys=capsys)
        assert code == 2 and "figures need matplotlib" in err
    assert not list(tmp_path.iterdir())


def test_verbs_load_without_what_is_not_installed():
    code = (
        "import sys\n"
        "sys.modules.update(mujoco=None, matplotlib=None, viser=None, cyclonedds=None)\n"
        "from prime_estimation.cli import VERBS, parser_of\n"
        "for verb in VERBS: parser_of(verb)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_closed_pipe_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "prime_estimation.cli", "doctor"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait(timeout=30)


@pytest.mark.slow
@pytest.mark.parametrize(("robot", "code"), [("go2", 0), ("nope", 2)])
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(robot, code, closed):
    command = f'"{sys.executable}" -m prime_estimation.cli config --robot {robot} {closed}'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=100)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert code == 0 or done.stdout == ""


def test_demo_leaves_a_complete_run_folder(tmp_path, capsys):
    pytest.importorskip("mujoco")
    pytest.importorskip("matplotlib")
    code, out, err = run("demo", "--duration", "3", "--out", str(tmp_path), "--json", capsys=capsys)
    assert code == 0 and err == ""
    result = json.loads(out)
    folder = (tmp_path / "latest").resolve()
    assert str(folder) == result["folder"]
    expected = {
        "config.yaml",
        "versions.yaml",
        "trajectory.tum",
        "metrics.json",
        "recording",
        "recording.json",
        "estimate.mcap",
        "figures",
    }
    assert {p.name for p in folder.iterdir()} == expected
    assert (
        all(Path(p).stat().st_size > 10_000 for p in result["figures"])
        and len(result["figures"]) == 5
    )
    body = result["evaluation"]["inertia"]["base"]
    # after three seconds; that it converges is tested elsewhere
    assert abs(body["mass_error_final_kg"]) < 0.5
    again, out, _ = run(
        "evaluate",
        str(folder / "estimate.mcap"),
        str(folder / "recording"),
        "--json",
        capsys=capsys,
    )
    assert again == 0 and json.loads(out) == result["evaluation"]


def test_demo_that_is_too_short(tmp_path, capsys):
    code, _, err = run("demo", "--duration", "1", "--out", str(tmp_path), capsys=capsys)
    assert code == 2 and "give at least 3 s" in err and not any(tmp_path.iterdir())


@pytest.mark.parametrize("speed", ["-1", "inf", "nan"])
def test_simulated_time_has_a_speed(speed, capsys):
    pytest.importorskip("mujoco")
    given = "simulate", "--robot", "go2", "--live", f"--clock={speed}"
    code, out, err = run(*given, capsys=capsys)
    assert code == 2 and "give a speed above 0, or 0" in err and not out


def test_simulate_with_an_unknown_motion_lists_them(tmp_path, capsys):
    pytest.importorskip("mujoco")
    code, _, err = run(
        "simulate",
        "--robot",
        "go2",
        "--motion",
        "moonwalk",
        "--out",
        str(tmp_path / "run"),
        capsys=capsys,
    )
    assert code == 2 and "trot" in err and err.count("\n") == 1


def hearing_interrupts() -> None:
    """Run in a child before its program.

    In the background of a shell without job control it would ignore SIGINT.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# Python ends by the signal itself, which a shell calls 130 too, where the interrupt came in code
# that a library had made from text
@pytest.mark.parametrize(
    ("number", "codes"), [(signal.SIGTERM, {143}), (signal.SIGINT, {130, -signal.SIGINT})]
)
def test_a_verb_that_is_ended_leaves_nothing_half_written(number, codes, recorded_runs, tmp_path):
    command = [
        "replay",
        recorded_runs / "go2_payload3",
        "--robot",
        "go2",
        "--out",
        tmp_path / "out.mcap",
        "--realtime",
    ]
    program = [sys.executable, "-m", "prime_estimation.cli", *command]
    process = subprocess.Popen(
        program, stderr=subprocess.PIPE, text=True, preexec_fn=hearing_interrupts
    )
    assert wait(lambda: any(tmp_path.glob(".out.*/out/*")), 60.0)
    process.send_signal(number)
    assert process.wait(30) in codes and "Traceback" not in process.stderr.read()
    process.stderr.close()
    assert not list(tmp_path.glob(".out.*")) and not (tmp_path / "out.mcap").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_while_modules_load(number, code, monkeypatch, capsys):
    """Crocoddyl's loading swallows exceptions, as this one does."""

    def swallowing(name, package):
        with suppress(KeyboardInterrupt, SystemExit):
            signal.raise_signal(number)
        return import_module(name, package)

    monkeypatch.setattr(cli, "import_module", swallowing)
    # of jobs in the background a shell has interruptions ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) if code == 143 else nullcontext():
            assert cli.main(["config", "--robot", "go2"]) == code
    finally:
        signal.signal(signal.SIGINT, before)
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--robot", "go2", "--seconds", "nan"], "give a number that is not negative"),
        (["--robot", "go2", "--seconds", "-1"], "give a number that is not negative"),
        (["--robot", "go2", "--name", "my node"], "no name for a node"),
        (["--robot", "go2", "--namespace", "my robot"], "no name in a ROS graph"),
        (["--robot", "go2", "--remap", "imu=x"], "give OLD:=NEW"),
        (["replay", "--bag", "absent", "--rate", "nan"], "must not be negative, and finite"),
        (["mpc", "--robot", "go2", "--gait", "gallop"], "gait must be one of"),
        (["mpc", "--robot", "ricmonk"], "give it a robot with feet"),
        (["mpc", "--robot", "g1", "--gait", "trot"], "is a gait for four feet"),
        (["replay", "--bag", "absent", "--seconds", "nan"], "give a number that is not negative"),
    ],
)
def test_nodes_refuse_what_makes_no_sense(arguments, words, capsys):
    pytest.importorskip("cyclonedds")
    code, out, err = run("node", *arguments, "--domain", "99", capsys=capsys)
    assert code == 2 and words in err and err.count("\n") == 1 and out == ""


def test_negative_seed(tmp_path, capsys):
    pytest.importorskip("mujoco")
    code, _, err = run(
        "simulate", "--robot", "go2", "--seed", "-1", "--out", str(tmp_path / "run"), capsys=capsys
    )
    assert code == 2 and "a seed must not be negative" in err


def test_replay_without_sensors_and_without_a_name(tmp_path, capsys, monkeypatch):
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    bag = simulate.run("go2", "stand", 1.0, tmp_path / "stand")
    monkeypatch.chdir(tmp_path)
    code, out, err = run(
        "replay", str(bag), "--robot", "go2", "--without", "mocap", "--json", capsys=capsys
    )
    result = json.loads(out)
    assert code == 0 and "mocap" not in result["topics"], err
    assert result["out"] == "prime_runs/stand.mcap" and (tmp_path / result["out"]).is_file()
    folder = tmp_path / result["folder"]
    assert folder.parent == tmp_path / "prime_runs" and (folder / "metrics.json").is_file()
    assert "--without mocap" in (folder / "versions.yaml").read_text()


@pytest.mark.slow
def test_replay_of_what_lies_in_the_latest_run(tmp_path, capsys, monkeypatch):
    """The link moves to the new run when the replay begins."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    bag = simulate.run("go2", "stand", 3.0, tmp_path / "prime_runs" / "demo" / "recording")
    (tmp_path / "prime_runs" / "latest").symlink_to("demo")
    monkeypatch.chdir(tmp_path)
    latest = "prime_runs/latest/recording"
    code, out, err = run(
        "replay", latest, "--robot", "go2", "--out", "o.mcap", "--json", capsys=capsys
    )
    assert code == 0, err
    result = json.loads(out)
    assert result["evaluation"]["odometry"]["samples"] > 100
    # what the new run is said to be made from is still that recording
    assert str(bag.resolve()) in (tmp_path / result["folder"] / "versions.yaml").read_text()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ("walk_0.5", "walk_0.5"),
        ("walk_0.5/", "walk_0.5"),
        ("a/run.mcap", "run"),
        ("my run.db3", "my run"),
        (".", "recording"),
        ("../recording", "recording"),
        ("..", "all"),
    ],
)
def test_the_name_of_what_is_replayed(given, named, tmp_path, monkeypatch):
    """Points in a folder's name are of no suffix, and one may stand in it."""
    inside = tmp_path / "all" / "recording"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    out = replay_command._out(Namespace(bag=given, out=None))
    assert out == Path("prime_runs") / f"{named}.mcap" and not any(inside.iterdir())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("joint_states", "nothing is estimated without it"),
        ("lidar", "no sensor that can be left out"),
    ],
)
def test_replay_needs_joints(name, why, capsys):
    code, _, err = run("replay", "bag", "--robot", "go2", "--without", name, capsys=capsys)
    assert code == 2 and f"--without {name}: {why}" in err
