# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Foot force sensors: their unit is found, and they replace torque as evidence of contact."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.added_sensors import FootForceSensor, copy_with, without_effort
from helpers.models import config, problem, robot

from prime_estimation.evaluation.scores import evaluate
from prime_estimation.recordings.replay import replay
from prime_estimation.sensors.foot_force import (
    NAME,
    NOT_LIFTED,
    UNLIKE,
    FootForceTracker,
    Scale,
)
from prime_estimation.sensors.sensor import Aligned

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


def test_readings_that_hardly_follow_the_forces_are_not_used():
    """Their deviation would be that of something else."""
    rng, scale = np.random.default_rng(1), Scale(WEIGHT)
    for k in range(200):
        force = WEIGHT * np.array([k // 20 % 2, 1.0 - k // 20 % 2])
        scale.learn(force + 2.0 * WEIGHT * rng.normal(size=2), force)
    assert scale.gain is None and scale.lacks == UNLIKE


def test_feet_need_not_carry_the_robot_alone():
    """Half of their part of the weight more and less is enough."""
    scale = Scale(WEIGHT)
    for k in range(200):
        force = WEIGHT * (0.5 + 0.25 * np.array([1, -1]) * (-1) ** (k // 20))
        scale.learn(3.0 * force + 20.0, force)
    assert scale.gain == pytest.approx([3.0, 3.0]) and scale.offset == pytest.approx([20.0, 20.0])


def test_a_large_force_is_known_less_well():
    tracker, given = FootForceTracker(problem("go2")), {}
    tracker.scale.gain, tracker.scale.offset = np.full(4, 2.0), np.full(4, 10.0)
    node = SimpleNamespace(set=lambda name, *told: given.update({name: told}))
    window = SimpleNamespace(size=3, inputs=[node] * 4)
    tracker.give(Aligned(np.array([10.0, 210.0, 410.0, 0.0]), 4.0), window)
    force, weight = given[NAME]
    noise = problem("go2").config.noise
    np.testing.assert_allclose(force, [0.0, 100.0, 200.0, -5.0])
    expected = np.hypot(noise.foot_force / 2.0, noise.foot_force_share * np.abs(force))
    np.testing.assert_allclose(weight, 1.0 / expected)


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
