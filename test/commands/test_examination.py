# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Last line of `prime doctor --bag`, and its exit code."""

import json

import numpy as np
import pytest

from prime_estimation import cli
from prime_estimation.commands.examination import counted
from prime_estimation.doctor import Examination, Finding
from prime_estimation.io.bag import BagWriter
from prime_estimation.io.sensor_messages import imu, joint_state
from prime_estimation.robot import Robot


@pytest.mark.parametrize(
    ("severities", "said"),
    [
        (["fact"], "no fault in"),
        # what could not be told may hold one
        (["fact", "unknown"], "no fault in what can be told from"),
        (["fault", "unknown"], "1 fault in"),
        (["fault", "fault"], "2 faults in"),
    ],
)
def test_no_fault_is_not_said_of_what_could_not_be_told(severities, said):
    assert counted(Examination([Finding("name", s, "text") for s in severities])) == said


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_recording_of_which_nothing_can_be_told_is_no_success(options, tmp_path, capsys):
    bag, joints = tmp_path / "short.mcap", Robot.load("go2").joint_names
    with BagWriter(bag) as writer:
        make = writer.message_class
        for stamp in range(10**18, 10**18 + 200_000_000, 2_000_000):
            told = {"position": np.full(len(joints), 0.3)}
            writer.write("/joint_states", stamp, joint_state(make, stamp, joints, **told))
            up = np.array([0.0, 0.0, 9.81])
            writer.write("/imu", stamp, imu(make, stamp, "imu", np.zeros(3), up))
    assert cli.main(["doctor", "--bag", str(bag), "--robot", "go2", *options]) == 2
    out, err = capsys.readouterr()
    assert "short.mcap: joint states and IMU have 0.2 s in common" in err and err.count("\n") == 1
    if options:
        found = json.loads(out)
        assert found["faults"] == 0 and "signals" in [f["name"] for f in found["findings"]]
    else:
        assert "cannot tell" in out and "no fault in" not in out
