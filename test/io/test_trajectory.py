# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What a run leaves behind."""

from __future__ import annotations

import json

import numpy as np
import pytest
import yaml
from helpers.estimates import make_estimate

from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError
from prime_estimation.io.trajectory import RunFolder
from prime_estimation.robot import Robot


def test_run_folder(tmp_path):
    config = Config.load("go2")
    robot = Robot(config.robot)
    first, second = (RunFolder(tmp_path / "runs", "walk") for _ in range(2))
    assert first.path != second.path
    assert (tmp_path / "runs" / "latest").resolve() == second.path.resolve()
    estimate = make_estimate(robot, stamp_ns=1_700_000_000_010_000_001)
    second.add_pose(estimate)
    second.write(
        config.to_dict(),
        "prime replay bag",
        {"mass": np.float64(1.5), "com": [0.0, 0.0, 0.0], "none": None, "friction": float("nan")},
    )
    assert Config().updated(yaml.safe_load((second.path / "config.yaml").read_text())) == config
    assert json.loads((second.path / "metrics.json").read_text()) == {
        "mass": 1.5,
        "com": [0, 0, 0],
        "none": None,
        "friction": None,
    }
    versions = yaml.safe_load((second.path / "versions.yaml").read_text())
    assert versions["command"] == "prime replay bag" and versions["numpy"] == np.__version__
    stamp, *pose = (second.path / "trajectory.tum").read_text().split()
    assert stamp == "1700000000.010000001"
    np.testing.assert_allclose(
        [float(v) for v in pose], [*estimate.position_world, *estimate.quat_world_base], rtol=1e-8
    )


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot make the run folder"):
        RunFolder(tmp_path / "file", "walk")


@pytest.mark.parametrize("reason", [DataError, KeyboardInterrupt])
def test_a_run_that_ends_early_leaves_no_folder(reason, tmp_path):
    """And `latest` points to the run before it."""
    before = RunFolder(tmp_path, "walk")
    after = RunFolder(tmp_path, "walk")
    with pytest.raises(reason), after.if_completed():
        raise reason("that was it")
    assert not after.path.exists() and (tmp_path / "latest").resolve() == before.path.resolve()
    first = RunFolder(tmp_path / "made" / "runs", "walk")
    with pytest.raises(reason), first.if_completed():
        raise reason("that was it")
    assert not (tmp_path / "made").exists() and tmp_path.exists()
