# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime view`: what it shows, to whom, how it ends, and what it refuses in one line."""

import argparse
import json
import sys
import time
import urllib.request

import pytest
from helpers.motions import write_bag
from helpers.processes import Program
from helpers.waiting import wait

pytest.importorskip("viser")

from prime_estimation import cli
from prime_estimation.commands import view
from prime_estimation.robot import Robot


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    return write_bag(tmp_path_factory.mktemp("bag") / "out.mcap", Robot.load("go2"), 100)


def refused(*arguments, capsys) -> str:
    """The one line of a refusal."""
    try:
        code = cli.main(["view", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert code == 2 and out == "" and err.count("\n") == 1, err
    return err


def test_it_is_served_to_this_machine_by_default():
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)
    assert parser.parse_args(["--robot", "go2"]).host == "127.0.0.1"


def test_a_bag_in_the_browser(bag):
    """The page can be fetched within seconds, and an interrupt ends it well."""
    program = Program(
        [sys.executable, "-m", "prime_estimation.cli", "view", bag, "--robot", "go2"]
        + ["--port", "18653", "--seconds", "60", "--json"]
    )

    def page() -> bytes:
        try:
            return urllib.request.urlopen("http://127.0.0.1:18653", timeout=5.0).read()
        except OSError:
            return b""

    assert wait(lambda: b"<html" in page(), 30.0)
    time.sleep(2.0)  # for a scene; meshes still being loaded must not keep it from ending
    code, out, err = program.stop()
    result = json.loads(out)
    assert code == 0 and err == "" and result["url"] == "http://127.0.0.1:18653"
    assert result["first_scene_s"] is not None


def test_it_ends_after_its_time(bag):
    program = Program(
        [sys.executable, "-m", "prime_estimation.cli", "view", bag, "--robot", "go2"]
        + ["--port", "18655", "--seconds", "3", "--json"]
    )
    code, out, err = program.wait(40.0)
    assert code == 0 and err == "" and json.loads(out)["first_scene_s"] < 20.0


def test_a_recording_of_the_view(bag, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    out = tmp_path / "film.html"
    command = ["view", str(bag), "--robot", "go2", "--port", "18660", "--record", str(out)]
    assert cli.main([*command, "--duration", "0.5", "--rate", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"out": str(out), "frames": 5}
    assert out.stat().st_size > 500_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--robot", "go2", "--replay"], "--replay needs a recording"),
        (["{bag}", "--robot", "go2", "--robot", "g1"], "1 to be shown, but --robot given 2 times"),
        (["{bag}", "--robot", "go2", "--record", "x.avi"], "must be one of .html, .mp4, .gif"),
        (["{bag}", "--robot", "go2", "--record", "x.mp4", "--size", "big"], "WIDTHxHEIGHT"),
        (["--robot", "go2", "--record", "x.mp4"], "Give --duration"),
        (["{bag}", "--robot", "go2", "--record", "x.html", "--duration", "0"], "must be positive"),
        (["{bag}", "--robot", "go2", "--record", "x.html", "--rate", "inf"], "and finite"),
        (["{bag}", "--robot", "go2", "--record", "{bag}/x.html"], "cannot write"),
        (["{bag}", "--robot", "go2", "--spacing", "nan"], "--spacing is nan"),
        (["{bag}", "--robot", "go2", "--start", "-1"], "give a number that is not negative"),
        (["{bag}", "--robot", "unicorn"], "unicorn"),
        (["absent.mcap", "--robot", "go2"], "absent.mcap"),
        (["{bag}", "--robot", "go2", "--node", "/b"], "has no /b/joint_states, /b/odometry"),
        (["--robot", "go2", "--node", "/a b"], "'/a b' is no name in a ROS graph"),
        (["--robot", "go2", "--node", ""], "'' is no name in a ROS graph"),
        (["{bag}", "--robot", "go2", "--host", "192.0.2.1"], "nothing can be served at 192.0.2.1"),
        (["{bag}", "--robot", "g1", "--seconds", "20"], "joint_states lacks 29 of 29 joints"),
    ],
)
def test_bad_input_is_one_line(arguments, words, bag, capsys, monkeypatch):
    # what it says to people before it finds out is not for this test
    monkeypatch.setattr(view, "say", lambda *_: None)
    assert words in refused(*(a.format(bag=bag) for a in arguments), capsys=capsys)


def test_no_folder_is_left_of_a_recording_that_was_not_made(tmp_path, capsys):
    film = tmp_path / "films" / "x.html"
    assert "absent.mcap" in refused(
        "absent.mcap", "--robot", "go2", "--record", str(film), capsys=capsys
    )
    assert not any(tmp_path.iterdir())
