# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Measurements of a whole recording: what does not fit the robot is refused."""

import argparse
import os

import pytest

from prime_estimation.commands.offline import out_folder
from prime_estimation.config.parameters import Config
from prime_estimation.errors import ConfigError, DataError
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot


def test_locked_joint_that_moves(recorded_runs):
    locked = Config.load("g1").updated({"robot": {"locked_joints": {"left_elbow_joint": -1.0}}})
    with pytest.raises(DataError, match="a joint of robot.locked_joints is not in its place"):
        measurements(recorded_runs / "g1_walk_nominal", Robot(locked.robot), 0.01, span=(0.0, 0.3))


def test_a_span_behind_the_end(recorded_runs):
    go2 = Robot(Config.load("go2").robot)
    with pytest.raises(DataError, match="ends after 12.00 s, before the 20 s at which to begin"):
        measurements(recorded_runs / "go2_nominal", go2, 0.01, span=(20.0, 30.0))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(ConfigError, match="cannot be written to"):
        out_folder(argparse.Namespace(out=str(tmp_path / "closed" / "a" / "b")))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no file system that is none")
def test_folder_in_which_nothing_can_be_made_whatever_permissions_say():
    with pytest.raises(ConfigError, match="cannot be written to"):
        out_folder(argparse.Namespace(out="/proc/prime"))


def test_folder_that_can_be_made(tmp_path):
    assert out_folder(argparse.Namespace(out=str(tmp_path / "a" / "b"))) == tmp_path / "a" / "b"
