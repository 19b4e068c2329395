# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stray poses of motion capture in a start batch, before any estimate tells them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, robot
from helpers.runs import measurements

from prime_estimation.estimator import Estimator
from prime_estimation.sensors.stray_poses import agreeing_poses
from prime_estimation.types import PoseSample

RATE = 120.0  # Hz


def poses(n: int = 60, rate: float = RATE, speed: float = 1.0) -> list[PoseSample]:
    """Of a body that walks ahead and turns."""
    return [
        PoseSample(
            int(1e9 * k / rate),
            np.array([speed * k / rate, 0.0, 0.3]),
            np.array(pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, 2.0 * k / rate)).coeffs()),
        )
        for k in range(n)
    ]


def away(pose: PoseSample, by) -> PoseSample:
    return replace(pose, position_world=pose.position_world + by)


@pytest.mark.parametrize("rate", [10.0, 30.0, 120.0, 500.0])
def test_poses_of_one_motion_agree(rate):
    assert all(agreeing_poses(poses(rate=rate)))
    assert all(agreeing_poses(poses(rate=rate)[:1])) and agreeing_poses([]) == []


def test_single_poses_that_stray():
    seen = poses()
    strays = {3, 17, 18, 40}
    seen = [away(p, [0.0, 0.6, 0.0]) if k in strays else p for k, p in enumerate(seen)]
    flipped = np.array(pin.Quaternion(pin.rpy.rpyToMatrix(3.0, 0.0, 0.0)).coeffs())
    seen[50] = replace(seen[50], quat_world_body=flipped)
    assert {k for k, agrees in enumerate(agreeing_poses(seen)) if not agrees} == strays | {50}


def test_a_jump_leaves_the_longer_part():
    seen = [away(p, [0.5, 0.0, 0.0]) if k >= 25 else p for k, p in enumerate(poses())]
    assert agreeing_poses(seen) == [False] * 25 + [True] * 35


def test_start_while_motion_capture_jumps(recorded_runs):
    """By half a metre within the batch: the base was tilted by .12 rad and more for good."""
    ms = measurements(recorded_runs / "go2_nominal", robot("go2"), config("go2"), 1.0)
    jump_ns = ms[0].stamp_ns + int(0.3e9)
    seen = []
    for by in (0.0, 0.5):
        estimator = Estimator(robot("go2"), config("go2"))
        for m in ms:
            moved = tuple(away(p, [by * (p.stamp_ns > jump_ns), 0.0, 0.0]) for p in m.mocap)
            estimate = estimator.update(replace(m, readings={**m.readings, "mocap": moved}))
        assert estimator.monitors.last_restart == (0, "")
        seen.append(estimate)
    as_it_was, jumped = seen
    np.testing.assert_allclose(
        jumped.linear_velocity_base, as_it_was.linear_velocity_base, atol=0.01
    )
    turns = [pin.Quaternion(np.array(e.quat_world_base)) for e in seen]
    assert turns[0].angularDistance(turns[1]) < 0.01
    told = {s.name: s.message for s in jumped.status.sensors}["mocap"]
    assert "refused" in told and "0.50 m apart" in told


def test_poses_of_which_none_agrees_tell_nothing():
    """In millimetres: the first of them would have placed the robot, hundreds of metres away."""
    mm = [replace(p, position_world=1e3 * p.position_world) for p in poses(speed=0.5)]
    assert not any(agreeing_poses(mm))


def test_motion_capture_in_millimetres(recorded_runs):
    """Refused as a whole, said with its reason, and the estimate begins where it would without."""
    ms = measurements(recorded_runs / "go2_nominal", robot("go2"), config("go2"), 4.0)
    estimator = Estimator(robot("go2"), config("go2"), mocap=True)
    for m in ms:
        mm = tuple(replace(p, position_world=1e3 * p.position_world) for p in m.mocap)
        estimate = estimator.update(replace(m, readings={**m.readings, "mocap": mm}))
    assert np.linalg.norm(estimate.position_world) < 10.0
    (said,) = (s for s in estimate.status.sensors if s.name == "mocap")
    assert not said.ok and said.message.startswith("no data; outliers refused: ")
    assert said.message.endswith(": are they in m?")
