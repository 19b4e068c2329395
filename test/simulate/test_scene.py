# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Loads, pushes, grounds and faults of another kind: one line says what was expected."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from prime_estimation.config.parameters import Config
from prime_estimation.errors import ConfigError
from prime_estimation.robot import Robot
from prime_estimation.simulate import Ground, Payload, Push, SensorFaults, simulate
from prime_estimation.simulate.ground import MOST_BUMPS
from prime_estimation.simulate.robot import SimulatedRobot

PUSH = Push((1.0, 0.0, 0.0), 0.0, 1.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Payload("3"), "a payload needs a positive mass"),
        (lambda: Payload("three"), "a payload needs a positive mass"),
        (lambda: Payload(True), "a payload needs a positive mass"),
        (lambda: Payload(3.0, 0.1), "three of position and size"),
        (lambda: Payload(3.0, (0.1, 0.0)), "three of position and size"),
        (lambda: Payload(3.0, size=(0.1, 0.1)), "three of position and size"),
        (lambda: Payload(3.0, stiffness="9"), "finite numbers"),
        (lambda: Payload(3.0, t_on="1"), "times of a payload are finite"),
        (lambda: Push(25.0, 0.0, 1.0), "a push needs three finite forces"),
        (lambda: Push(("a", 0.0, 0.0), 0.0, 1.0), "a push needs three finite forces"),
        (lambda: Push((1.0, 0.0, 0.0), 0.0, "1"), "a positive duration"),
        (lambda: Ground(friction="0.8"), "friction must be 0.01..5, got '0.8'"),
        (lambda: Ground(friction=None), "friction must be 0.01..5, got None"),
        (lambda: Ground(stair_count=2.5), "stair_count must be a whole number, 1..50, got 2.5"),
        (lambda: SensorFaults("0.1"), "sensor faults: finite"),
    ],
)
def test_what_cannot_be(make, words):
    with pytest.raises(ConfigError, match=words):
        make()


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (dict(robot=3), "unknown robot '3'"),
        (dict(duration="1"), "duration must be within 0.1..3600 s .* got '1' and 0.0"),
        (dict(start=None), "start within 0..600 s, got 0.2 and None"),
        (dict(payload=3.0), "a load must be a Payload, or None, got 3.0"),
        (dict(ground=0.8), "ground must be a Ground, got 0.8"),
        (dict(pushes=PUSH), r"pushes must be a tuple of Push, \(Push\(...\),\) for one of them"),
        (dict(pushes=[3]), "pushes must be a tuple of Push"),
        (dict(seed="a"), "a seed must be a whole number, got 'a'"),
        (dict(seed=1.5), "a seed must be a whole number, got 1.5"),
        (dict(seed=-1), "a seed must not be negative, got -1"),
    ],
)
def test_simulations_that_cannot_be(told, words):
    with pytest.raises(ConfigError, match=words):
        simulate(**{"robot": "go2", "motion_name": "stand", "duration": 0.2, **told})


def test_a_simulated_robot_checks_its_world():
    robot, noise = Robot.load("go2"), Config.load("go2").noise
    with pytest.raises(ConfigError, match="a load must be a Payload"):
        SimulatedRobot(robot, noise, payload=3.0)


def test_numbers_of_any_kind():
    position, size = np.array([0.1, 0.0, 0.1]), [np.float32(0.1), 1, 0.2]
    assert Payload(np.float64(3.0), position, size=size, t_on=np.int64(1)).switches == [1]
    assert Push(np.ones(3), np.float32(0.5), 1).duration == 1
    assert Ground(friction=1, stair_count=np.int64(3)).stair_count == 3
    assert SensorFaults(np.float64(0.1), 0).encoder_offset == 0.1


def test_more_bumps_than_a_model_has_room_for():
    """The bound is one of their number: without bumps the ground is as large as one likes."""
    with pytest.raises(ConfigError, match="2e.07 bumps within extent = 1000 m, but .* 20000: give"):
        Ground(bump_height=0.04, extent=1000.0)
    with pytest.raises(ConfigError, match="bumps within extent = 8 m"):
        Ground(bump_height=0.01, bump_radius=0.02, spacing=0.04)
    side = np.sqrt(MOST_BUMPS) * 0.45 / 2.0
    assert len(Ground(bump_height=0.04, extent=0.99 * side).spheres(0)) < MOST_BUMPS
    with pytest.raises(ConfigError, match="bumps within"):
        Ground(bump_height=0.04, extent=1.01 * side)
    assert Ground(extent=1000.0).spheres(0) == []
