# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Foot force sensors: their unit is found, and they replace torque as evidence of contact."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.added_sensors import FootForceSensor, copy_with, without_effort
from helpers.models import config, robot

from prime_estimation.evaluation.scores import evaluate
from prime_estimation.recordings.replay import replay
from prime_estimation.sensors.foot_force import NOT_LIFTED, UNLIKE, Scale

WEIGHT = 150.0


def test_unit_is_learnt_from_feet_that_step():
    rng, scale = np.random.default_rng(1), Scale(WEIGHT)
    gain, offset = np.array([2.0, 1.5]), np.array([30.0, 80.0])
    for k in range(200):
        force = WEIGHT * np.array([k // 20 % 2, 1.0 - k // 20 % 2])
        estimated = force + 10.0 * rng.normal(size=2)
        scale.learn(gain * force + offset + rng.normal(size=2), estimated)
    assert scale.gain == pytest.approx(gain, rel=0.1)
    assert scale.offset == pytest.approx(offset, abs=15.0)
    assert scale.newtons(gain * 50.0 + offset) == pytest.approx([50.0, 50.0], abs=12.0)


def test_unit_stays_unknown_while_the_robot_stands():
    rng, scale = np.random.default_rng(1), Scale(WEIGHT)
    for _ in range(400):
        force = 0.5 * WEIGHT + 5.0 * rng.normal(size=2)
        scale.learn(3.0 * force + 20.0, force)
    assert scale.gain is None and scale.lacks == NOT_LIFTED


def test_dead_sensor_is_never_used():
    scale = Scale(WEIGHT)
    for k in range(200):
        scale.learn(np.zeros(2), WEIGHT * np.array([k // 20 % 2, 1.0 - k // 20 % 2]))
    assert scale.gain is None and scale.lacks == UNLIKE


def test_sensors_of_exchanged_feet_are_not_used():
    rng, scale = np.random.default_rng(1), Scale(WEIGHT)
    for k in range(200):
        force = WEIGHT * np.array([k // 20 % 2, 1.0 - k // 20 % 2]) + rng.normal(size=2)
        scale.learn(force[::-1], force)
    assert scale.gain is None and scale.lacks == UNLIKE


@pytest.mark.slow
@pytest.mark.parametrize("run, seed", [("go2_payload3", 1), ("go1_nominal", 2)])
def test_contacts_without_torque(recorded_runs, tmp_path, run, seed):
    name = run.split("_")[0]
    sensor = FootForceSensor.drawn(robot(name).feet, seed)
    bag = copy_with(recorded_runs / run, tmp_path / "bag.mcap", [sensor], without_effort)
    f1 = {}
    for without in ((), ("foot_force",)):
        out = tmp_path / f"{len(without)}.mcap"
        summary = replay(bag, robot(name), config(name), out, mocap=False, without=without)
        assert ("foot_force" in summary.topics) == (not without)
        f1[without] = evaluate(out, bag)["contacts"]["mean_contact_f1"]
    # the motion of the feet alone comes near on level ground
    assert f1[()] >= max(0.97, f1[("foot_force",)] - 0.015)
