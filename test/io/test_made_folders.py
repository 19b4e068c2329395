# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Folders made for results go again where there are none; those of the user stay."""

import numpy as np
import pytest

from prime_estimation import cli
from prime_estimation.commands import replay
from prime_estimation.io.bag import BagWriter
from prime_estimation.io.made_folders import none_left_empty
from prime_estimation.io.sensor_messages import imu, joint_state
from prime_estimation.robot import Robot

JOINTS = Robot.load("go2").joint_names


def test_only_what_was_made_and_is_empty(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(KeyboardInterrupt), none_left_empty(tmp_path / "there" / "a" / "b"):
        (tmp_path / "there" / "a" / "b").mkdir(parents=True)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == [tmp_path / "there"]
    with none_left_empty(tmp_path / "there" / "a" / "b"):
        (tmp_path / "there" / "a" / "b").mkdir(parents=True)
        (tmp_path / "there" / "a" / "file").touch()
    assert list((tmp_path / "there" / "a").iterdir()) == [tmp_path / "there" / "a" / "file"]
    with none_left_empty(tmp_path / "there" / "never" / "made"):
        pass
    assert not (tmp_path / "there" / "never").exists()


@pytest.mark.parametrize("there", [False, True])
def test_a_bag_that_is_thrown_away(there, tmp_path):
    if there:
        (tmp_path / "runs").mkdir()
    with pytest.raises(KeyboardInterrupt), BagWriter(tmp_path / "runs" / "a.mcap"):
        raise KeyboardInterrupt
    assert (tmp_path / "runs").exists() == there
    with BagWriter(tmp_path / "runs" / "a.mcap", {"/a": "std_msgs/msg/String"}):
        pass
    assert (tmp_path / "runs" / "a.mcap").is_file()


def recording(path):
    """0.2 s of a robot that hangs still, which is too little for an estimate."""
    with BagWriter(path) as bag:
        make, still = bag.message_class, {"position": np.full(len(JOINTS), 0.3)}
        for stamp in range(10**18, 10**18 + 200_000_000, 2_000_000):
            up = np.array([0.0, 0.0, 9.81])
            bag.write("/joint_states", stamp, joint_state(make, stamp, JOINTS, **still))
            bag.write("/imu", stamp, imu(make, stamp, "imu", np.zeros(3), up))
    return path


def test_a_refused_replay_leaves_no_folder(tmp_path, monkeypatch, capsys):
    bag = recording(tmp_path / "short.mcap")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["replay", bag.name, "--robot", "go2"]) == 2
    assert list(tmp_path.iterdir()) == [bag], capsys.readouterr().err


def test_nor_does_one_that_is_interrupted_once_it_has_a_run_folder(tmp_path, monkeypatch, capsys):
    bag = recording(tmp_path / "short.mcap")
    monkeypatch.chdir(tmp_path)

    def interrupted(path, robot, config, out, *, observer, **options):
        with BagWriter(out):
            observer(None)
            assert len(list((tmp_path / "prime_runs").iterdir())) == 3  # bag, run, latest
            raise KeyboardInterrupt

    monkeypatch.setattr(replay.RunFolder, "add_pose", lambda *_: None)
    monkeypatch.setattr(replay, "replay", interrupted)
    assert cli.main(["replay", bag.name, "--robot", "go2"]) == 130
    assert list(tmp_path.iterdir()) == [bag], capsys.readouterr().err
