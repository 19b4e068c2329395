# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A calibration that was interrupted goes on from its last iterate."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, shipped_noise, sway

from prime_estimation.calibration.bilevel import NoiseObjective
from prime_estimation.calibration.checkpoint import Checkpoint
from prime_estimation.calibration.frank_wolfe import frank_wolfe
from prime_estimation.calibration.offsets import Offsets
from prime_estimation.calibration.single import calibrate_run
from prime_estimation.calibration.trajectory import initial_offsets
from prime_estimation.commands.calibrate import _recorded
from prime_estimation.errors import ConfigError

JOB = {"recordings": ["walk"], "what": ["feet"]}


@pytest.fixture(scope="module")
def machine():
    robot = go2_on_points()
    truth, rng = bent(robot), np.random.default_rng(7)
    clean = sway(robot, truth, 100)
    return robot, truth, replace(clean, rate=clean.rate + 0.05 * rng.normal(size=clean.rate.shape))


def saved(folder, save):
    """Checkpoint as another process finds it."""
    save(Checkpoint(folder, JOB))
    found = Checkpoint(folder, JOB)
    found.load()
    return found


def test_offsets_go_on(machine, tmp_path):
    robot, _, recording = machine
    nominal = initial_offsets(recording, Offsets.nominal(robot))
    task = recording, robot, nominal, shipped_noise(), ("feet", "mocap")
    straight, asked = calibrate_run(*task), []
    first = calibrate_run(*task, stop=lambda: asked.append(1) or len(asked) > 2)
    assert not first.result.converged
    start = saved(tmp_path, lambda c: c.save_run(0, first.result)).run(0)
    for name, scale in first.result.scales.items():
        np.testing.assert_array_equal(start.scales[name], scale)
    second = calibrate_run(*task, start)
    assert second.result.converged
    assert second.result.iterations < straight.result.iterations
    np.testing.assert_allclose(
        second.deviation,
        straight.deviation,
        atol=0.01 * np.sqrt(np.diag(straight.result.covariance)).min(),
    )


def test_noise_goes_on(machine, tmp_path):
    robot, truth, recording = machine
    noise = shipped_noise()
    velocity = calibrate_run(recording, robot, truth, noise, ()).result.trajectory.velocity

    def descend(iterations, **options):
        objective = NoiseObjective(robot, [recording], truth, noise, [velocity])
        return frank_wolfe(objective, noise, "cholesky", iterations, 0.0, **options)

    straight, kept = descend(3), []
    descend(2, keep=kept.append)
    start = saved(tmp_path, lambda c: c.save_descent(kept[-1])).descent(noise)
    found = descend(3, start=start)
    assert found.before == straight.before
    assert len(found.history) == len(straight.history) == 3
    assert found.after == pytest.approx(straight.after, rel=1e-6)
    for name, S in straight.noise.blocks.items():
        np.testing.assert_allclose(found.noise.blocks[name], S, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda path: path.unlink(), "there is no"),
        (lambda path: path.write_bytes(path.read_bytes()[:100]), "is damaged"),
        (lambda path: path.write_text("nothing"), "is damaged"),
    ],
)
def test_a_spoiled_file_is_one_line(tmp_path, spoil, message):
    checkpoint = Checkpoint(tmp_path, JOB)
    checkpoint.save_levels({"gyro": 0.1})
    spoil(checkpoint.path)
    with pytest.raises(ConfigError, match=message):
        checkpoint.load()


def test_another_calibration_does_not_go_on(tmp_path):
    Checkpoint(tmp_path, JOB).save_levels({"gyro": 0.1})
    with pytest.raises(ConfigError, match="another calibration .recordings differ"):
        Checkpoint(tmp_path, {**JOB, "recordings": ["trot"]}).load()


def test_a_recording_that_was_made_anew_does_not_go_on(tmp_path):
    """Its iterate has as many nodes as the one before."""
    bag = tmp_path / "walk" / "walk.mcap"
    bag.parent.mkdir()
    bag.write_bytes(b"first")
    Checkpoint(tmp_path, {"recordings": [_recorded(str(bag.parent))]}).save_levels({"gyro": 0.1})
    Checkpoint(tmp_path, {"recordings": [_recorded(str(bag.parent))]}).load()
    bag.write_bytes(b"the second")
    with pytest.raises(ConfigError, match="another calibration .recordings differ"):
        Checkpoint(tmp_path, {"recordings": [_recorded(str(bag.parent))]}).load()


def test_ctrl_c_keeps_the_last_iterate(recorded_runs, tmp_path):
    command = [sys.executable, "-m", "prime_estimation.cli", "calibrate"]
    command += [str(recorded_runs / "go2_bent_walk"), "--robot", "go2", "--to", "2.5"]
    command += ["--what", "mocap,noise", "--oracle", "cholesky", "--out", str(tmp_path)]
    command += ["--workers", "1"]
    process = subprocess.Popen([*command, "--iterations", "500"], stderr=subprocess.PIPE, text=True)

    def iterations():
        with np.load(tmp_path / "iterate.npz") as found:
            return len(found["descent.history"]) if "descent.history" in found else 0

    since = time.monotonic()
    while not (tmp_path / "iterate.npz").exists() or not iterations():
        assert time.monotonic() - since < 60.0 and process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    told = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and "--resume goes on" in told
    first, done = json.loads((tmp_path / "calibration.json").read_text())["noise"], iterations()
    assert first["loss"]["after"] < first["loss"]["before"]
    assert (tmp_path / "go2.yaml").exists()
    more = ["--iterations", str(done + 1), "--resume"]
    assert subprocess.run([*command, *more], timeout=60).returncode == 0
    second = json.loads((tmp_path / "calibration.json").read_text())["noise"]
    assert second["loss"]["before"] == first["loss"]["before"]
    assert len(second["history"]) == done + 1
    assert second["loss"]["after"] <= first["loss"]["after"]
