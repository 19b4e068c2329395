# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What does not fit its own noise, or cannot be, is no calibration; what is unfinished says so."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, shipped_noise, sway

from prime_estimation.calibration.fusion import fuse
from prime_estimation.calibration.offsets import Offsets
from prime_estimation.calibration.outcome import CalibrationOutcome
from prime_estimation.calibration.plausibility import check_run, noisy
from prime_estimation.calibration.single import calibrate_run
from prime_estimation.calibration.trajectory import initial_offsets
from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError

WHAT = ("feet", "imu", "mocap")


@pytest.fixture(scope="module")
def machine():
    robot = go2_on_points()
    return robot, sway(robot, bent(robot))


def calibrated(robot, recording, **options):
    nominal = initial_offsets(recording, Offsets.nominal(robot))
    return calibrate_run(recording, robot, nominal, shipped_noise(), WHAT, **options)


def test_a_right_recording_is_plausible(machine):
    robot, recording = machine
    check_run(calibrated(robot, recording), robot)


@pytest.mark.slow
def test_another_body_is_tracked(machine):
    """One that turns along, and goes its own way."""
    robot, recording = machine
    own = 0.1 * np.sin(np.arange(len(recording))[:, None] * [0.05, 0.08, 0.11])
    m = recording.mocap
    other = replace(recording, mocap=replace(m, position=m.position + own))
    with pytest.raises(DataError, match="does not fit legs and IMU: .* of its poses"):
        check_run(calibrated(robot, other), robot)


def test_poses_that_are_noisier_than_stated(machine):
    """Are weighed less, and are no other body."""
    robot, recording = machine
    rng, m = np.random.default_rng(0), recording.mocap
    other = replace(
        recording, mocap=replace(m, position=m.position + 0.01 * rng.normal(size=m.position.shape))
    )
    run = calibrated(robot, other)
    check_run(run, robot)
    assert noisy(run) and not noisy(calibrated(robot, recording))


def test_a_tracked_body_that_is_metres_away(machine):
    robot, recording = machine
    m = recording.mocap
    far = m.position + m.rotation @ [4.0, 0.0, 0.0]
    other = replace(recording, mocap=replace(m, position=far))
    with pytest.raises(DataError, match="mocap position x comes out .* which cannot be"):
        check_run(calibrated(robot, other), robot)


def test_the_head_of_an_unfinished_yaml(machine, tmp_path):
    robot, recording = machine
    asked = iter([False, *[True] * 1000])
    runs = [
        calibrated(robot, recording),
        calibrated(robot, replace(recording, name="broken off"), stop=lambda: next(asked)),
    ]
    for run, head in zip(runs, ("# Written by", "# UNFINISHED, not for use: broken off did not")):
        outcome = CalibrationOutcome(
            robot, Config.load("go2"), "go2", list(WHAT), shipped_noise(), [run], fuse([run])
        )
        assert Path(outcome.write(tmp_path)["yaml"]).read_text().startswith(head)
