# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Options that would do nothing are refused in one line, before any work."""

import pytest

from prime_estimation import cli

SIMULATE = ("simulate", "--robot", "go2", "--duration", "1", "--out", "out")
LIVE = ("simulate", "--robot", "go2", "--live")
WALK = ("walk", "--headless", "--out", "out")
REPLAY = ("replay", ".", "--robot", "go2", "--out", "out")
CALIBRATE = ("calibrate", ".", "--robot", "go2", "--out", "out")
VIEW = ("view", "out.mcap", "--robot", "go2")
RECONSTRUCT = ("reconstruct", ".", "--robot", "go2", "--out", "out")
IDENTIFY = ("identify", ".", "--robot", "go2", "--out", "out")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((*SIMULATE, "--on", "0.5"), "--on is of a payload"),
        ((*SIMULATE, "--at", "0", "0", "0.1"), "--at is of a payload"),
        ((*SIMULATE, "--clock", "1"), "--clock is of --live"),
        ((*SIMULATE, "--transport", "ros"), "--transport is of --live"),
        ((*SIMULATE, "--push", "0", "0", "0", "5", "1"), "the recording goes from 0 to 1 s"),
        ((*SIMULATE, "--friction", "0.5", "--ground", "friction=0.1"), "friction is given twice"),
        ((*SIMULATE, "--slope", "95"), "--slope must be 0 to 28.6 degrees, got 95"),
        ((*SIMULATE, "--slope", "nan"), "--slope must be 0 to 28.6 degrees, got nan"),
        ((*LIVE, "--out", "out"), "--out is for recordings"),
        ((*LIVE, "--motion", "trot"), "--motion is for recordings"),
        ((*WALK, "--off", "6"), "--off 6: the load comes at 6 s"),
        ((*WALK, "--slides", "200"), "--slides is of prime simulate"),
        ((*WALK, "--duration", "nan"), "the load must come at 3 s or later"),
        ((*WALK, "--turn", "nan"), "--turn nan: it turns at 1 rad/s at most"),
        ((*WALK, "--turn", "5"), "--turn 5: it turns at 1 rad/s at most"),
        ((*WALK, "--seed", "-1"), "--seed must not be negative"),
        ((*WALK, "--payload", "-1"), "a payload needs a positive mass"),
        ((*WALK, "--duration", "1e12"), "duration must be 0.1 s or more, and 3600 s at most"),
        ((*SIMULATE, "--bumps", "0.04", "--ground", "extent=1000"), "2e+07 bumps within extent"),
        ((*SIMULATE, "--ground", "extent=1e400"), "extent must be 1 m or more, got inf"),
        ((*WALK[:1], "--bumps", "5"), "bump_height must be 0..0.1 m"),
        ((*WALK[:1], "--link", "tail"), "payload on unknown link 'tail' of go2"),
        ((*LIVE, "--payload", "1", "--on", "nan"), "times of a payload are finite"),
        (("demo", "--motion", "a/b", "--out", "out"), "unknown motion 'a/b'"),
        ((*WALK, "--host", "0.0.0.0"), "--host is of the page, and --headless shows none"),
        ((*WALK, "--port", "8080"), "--port is of the page, and --headless shows none"),
        ((*REPLAY, "--without", "imu"), "--without imu: nothing is estimated without it"),
        ((*REPLAY, "--topic", "imu=/a", "--topic", "imu=/b"), "imu has the topics /a and /b"),
        ((*REPLAY, "--topic", "imu="), "--topic: imu has no topic"),
        ((*LIVE, "--duration", "nan"), "--duration must be above 0 s"),
        ((*LIVE, "--seed", "-1"), "a seed must not be negative"),
        ((*IDENTIFY, "--from", "-1"), "--from must not be negative, got -1: recordings begin at"),
        ((*IDENTIFY, "--from", "2", "--to", "1"), "nothing lies between --from 2 and --to 1"),
        ((*IDENTIFY, "--to", "-1"), "nothing lies between --from 0 and --to -1"),
        ((*IDENTIFY, "--to", "nan"), "nothing lies between --from 0 and --to nan"),
        ((*RECONSTRUCT, "--from", "-1"), "--from must not be negative, got -1"),
        ((*CALIBRATE, "--from", "-1"), "--from must not be negative, got -1"),
        ((*CALIBRATE, "--from", "5", "--to", "1"), "nothing lies between --from 5 and --to 1"),
        ((*CALIBRATE, "--oracle", "cholesky"), "--oracle is of --what noise"),
        ((*CALIBRATE, "--iterations", "3"), "--iterations is of --what noise"),
        ((*CALIBRATE, "--estimator", "window", "--oracle", "cholesky"), "--estimator kinematic"),
        (("node", "replay", "--bag", ".", "--seconds", "nan"), "--seconds is nan"),
        ((*VIEW, "--no-mocap"), "--no-mocap is of --replay"),
        ((*VIEW, "--topic", "imu=/a"), "--topic is of --replay"),
        ((*VIEW, "--speed", "2"), "--speed is of --record"),
        ((*VIEW, "--transport", "ros"), "--transport is of a running node"),
        ((*VIEW, "--domain", "0"), "--domain is of a running node"),
        ((*VIEW, "--sim-time"), "--sim-time is of a running node"),
        ((*VIEW, "--record", "x.html", "--seconds", "3"), "--seconds is of the page"),
        (("config", "--format", "table", "--config", "x.yaml"), "--config is of yaml and ros"),
        ((*VIEW, "--seconds", "nan"), "--seconds is nan"),
        ((*VIEW, "--start", "nan"), "--start is nan"),
        (("doctor", "--seconds", "3"), "--seconds is of --bag"),
        (("doctor", "--robot", "go2", "--topic", "imu=/a"), "--topic is of --bag"),
        (("doctor", "--config", "changes.yaml"), "--config is of a robot"),
        (("doctor", "--robot", "go2", "--bag", ""), "is not a bag"),
        ((*IDENTIFY, "--tare", "16", "--held-out", "/nowhere"), "--tare tests nothing"),
    ],
)
def test_refused_in_one_line(command, words, tmp_path, monkeypatch, capsys):
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    assert cli.main(list(command)) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("--robot", "go2", "--bag", "run"), "--bag is of replay, the node is estimator; `prime"),
        (("--robot", "go2", "--rate", "0"), "--rate is of replay, the node is estimator"),
        (("--robot", "go2", "--gait", "trot"), "--gait is of mpc, the node is estimator"),
        (("mpc", "--robot", "go2", "--no-mocap"), "--no-mocap is of estimator, the node is mpc"),
        (("markers", "--config", "x.yaml"), "--config is of estimator, inertia_"),
        (("unitree_bridge", "--robot", "go2", "--lowstate"), "--lowstate is of estimator"),
        (("replay", "--bag", "run", "--topic", "imu"), "--topic 'imu' has no '='"),
    ],
)
def test_options_of_other_nodes(command, words, capsys):
    assert cli.main(["node", *command]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1
