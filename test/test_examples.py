# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The examples run, and find what they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

MASS, PAYLOAD = 16.09, 3.0  # kg


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """What the scripts make for themselves where they are given none, but once for all."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    out = tmp_path_factory.mktemp("examples") / "trot"
    return simulate.run("go2", "trot", 3.0, out, payload=simulate.Payload(PAYLOAD))


@pytest.fixture
def example(repository, tmp_path):
    """Runs a script in an empty folder and returns what it prints."""

    def run(name: str, *arguments, **variables: str) -> str:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
        path = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(repository), path]))
        command = [sys.executable, str(repository / "examples" / name), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.mark.slow
def test_first_estimate(example, recording):
    printed = example("01_first_estimate.py", recording)
    masses = [float(m) for m in re.findall(r"mass ([\d.]+)", printed)]
    assert abs(masses[-1] - MASS - PAYLOAD) < 0.15


def test_own_robot(example):
    printed = example("02_own_robot.py")
    assert "mass: 2.500 kg" in printed and "kappa" in printed


def test_live(example, recording):
    pytest.importorskip("cyclonedds")
    printed = example(
        "03_live_over_dds.py",
        recording,
        ROS_DOMAIN_ID=str(20 + os.getpid() % 80),
        ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST",
    )
    odometry, status = map(int, re.findall(r"heard (\d+) odometry and (\d+)", printed)[0])
    assert odometry > 0 and status > 5  # and many more where the machine is not busy


@pytest.mark.slow
def test_identification(example, recording):
    printed = example("04_identification.py", recording)
    mass, width = map(float, re.findall(r"base +mass +([\d.]+) \+- ([\d.]+)", printed)[0])
    assert abs(mass - 7.277 - PAYLOAD) < min(0.15, width)


def test_forces(example, recording, tmp_path):
    printed = example("05_forces_for_a_data_set.py", recording)
    assert "motion.npz" in printed
    motion = np.load(tmp_path / "motion.npz")
    weight = 9.81 * (MASS + PAYLOAD)
    vertical = motion["contact_force"][:, :, 2].sum(axis=1)
    assert abs(vertical.mean() - weight) < 0.03 * weight


def test_joint_parameters(example):
    printed = example("07_joint_parameters.py")
    rows = re.findall(r"([\d.]+) \+- ([\d.]+) \(true ([\d.]+)\)", printed)
    assert len(rows) == 3
    for value, width, true in rows:
        assert abs(float(value) - float(true)) <= 1.5 * float(width) + 1e-5
