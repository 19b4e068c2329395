# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings that can calibrate nothing, or are of two robots, are refused in one line."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, sway

from prime_estimation.calibration.suitability import check_frame, check_motion
from prime_estimation.calibration.trajectory import initial_offsets
from prime_estimation.cli import main
from prime_estimation.errors import DataError


@pytest.fixture(scope="module")
def machine():
    robot = go2_on_points()
    truth = bent(robot)
    return truth, sway(robot, truth)


def in_a_world(recording, turn):
    """The recording with motion capture in another world."""
    m = recording.mocap
    poses = replace(m, position=m.position @ turn.T, rotation=turn @ m.rotation)
    return replace(recording, mocap=poses)


@pytest.mark.parametrize(
    "turn, up",
    [
        (np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), "y"),
        (np.diag([1.0, -1.0, -1.0]), "-z"),
    ],
)
def test_motion_capture_whose_z_is_not_up(machine, turn, up):
    truth, recording = machine
    check_motion(recording)
    check_frame(recording, initial_offsets(recording, truth))
    turned = in_a_world(recording, turn)
    with pytest.raises(DataError, match=f"'up' is {up}, "):
        check_frame(turned, initial_offsets(turned, truth))


def test_a_heading_is_free(machine):
    truth, recording = machine
    turned = in_a_world(recording, np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    check_frame(turned, initial_offsets(turned, truth))


def test_a_robot_that_stands(machine):
    _, recording = machine
    rng = np.random.default_rng(0)
    still = replace(recording, gyro=0.005 * rng.normal(size=recording.gyro.shape))
    with pytest.raises(DataError, match="the base hardly turns"):
        check_motion(still)


def test_bags_of_two_robots(recorded_runs, tmp_path, capfd):
    bags = [str(recorded_runs / name) for name in ("go2_nominal", "go1_nominal")]
    options = ["--robot", "go2", "--to", "5", "--workers", "1", "--out", str(tmp_path)]
    assert main(["calibrate", *bags, *options]) == 2
    told = capfd.readouterr().err
    assert "they are not of one machine" in told and told.count("\n") == 1
