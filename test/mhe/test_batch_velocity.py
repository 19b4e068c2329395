# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Velocity of a start batch over feet that stand, beside legs that swing and seem to carry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers import models

from prime_estimation.config.parameters import Config
from prime_estimation.mhe.batch_attitude import imu_motion
from prime_estimation.mhe.batch_velocity import FeetOfBatch, mean_velocity, stance_velocity
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement

DT, NODES = 0.01, 50
TIMES = DT * np.arange(NODES)


def trot(velocity: np.ndarray, rng: np.random.Generator) -> FeetOfBatch:
    """Diagonal legs in turn, each foot in the air back and forth; their torques show a load too."""
    stands = ((TIMES // 0.12).astype(int) % 2)[:, None] == [0, 1, 1, 0]
    swing = np.array([2.0, 0.0, 0.5]) * np.sin(2 * np.pi * TIMES / 0.12)[:, None]
    rates = -velocity[:, None, :] + ~stands[..., None] * (swing + velocity)[:, None, :]
    loads = np.where(stands, 1.0, rng.uniform(size=stands.shape))
    noise = rng.normal(scale=0.02, size=rates.shape)
    return FeetOfBatch(loads, np.zeros_like(rates), rates + noise)


@pytest.fixture
def moving():
    """Feet, velocity (n, 3) and what is felt of it, in a world that is 0.05 rad off."""
    rng = np.random.default_rng(3)
    velocity = [0.8, -0.1, 0.0] + 0.1 * np.sin(12.0 * TIMES)[:, None] * [1.0, 0.5, 1.0]
    excess = np.array([0.5, -0.2, 0.1])
    felt = velocity - velocity[0] + TIMES[:, None] * excess
    return trot(velocity, rng), velocity, felt, excess


def test_velocity_over_feet_that_stand(moving):
    feet, velocity, felt, excess = moving
    found, acceleration, weights = stance_velocity(feet, felt, TIMES)
    np.testing.assert_allclose(found, velocity, atol=0.03)
    np.testing.assert_allclose(acceleration, -excess, atol=0.1)
    swings = np.linalg.norm(feet.rates + velocity[:, None, :], axis=2) > 0.5
    assert weights[swings].max() < 0.05 and np.median(weights[~swings]) > 0.8
    assert np.linalg.norm((mean_velocity(feet) - velocity).mean(axis=0)) > 0.1


def test_velocity_of_feet_that_all_stand(moving):
    """What both ways have in common."""
    _, velocity, felt, _ = moving
    rates = -velocity[:, None, :].repeat(4, axis=1)
    feet = FeetOfBatch(np.ones((NODES, 4)), np.zeros_like(rates), rates)
    np.testing.assert_allclose(mean_velocity(feet), velocity, atol=1e-12)
    np.testing.assert_allclose(stance_velocity(feet, felt, TIMES)[0], velocity, atol=1e-3)


def test_velocity_gained_by_an_imu_beside_the_base():
    """A base that turns about its origin gains none, whatever an IMU 0.3 m from it feels."""
    config = Config.load("go2").updated({"robot": {"imu_position": [0.3, 0.0, 0.0]}})
    problem = Problem(Robot(config.robot), config)
    rate = np.array([0.0, 0.0, 2.0])
    centripetal = np.array([-4.0 * 0.3, 0.0, 0.0])
    ms = [
        Measurement(
            stamp_ns=int(1e7 * k),
            position=np.zeros(12),
            velocity=np.zeros(12),
            gyro=rate,
            accelerometer=centripetal + [0.0, 0.0, 9.81],
        )
        for k in range(1, 40)
    ]
    xs = [problem.first.neutral() for _ in ms]
    imu = imu_motion(problem, ms, xs)
    gained = imu.gained(np.eye(3), ms, problem)
    np.testing.assert_allclose(gained[:, :2], 0.0, atol=0.05)  # of .6 m/s that the IMU moves with
    turned = pin.log3(imu.turns[-1])
    np.testing.assert_allclose(turned, rate * problem.dt * (len(ms) - 1), atol=1e-9)
    ms[5] = replace(ms[5], accelerometer=None)
    assert imu.gained(np.eye(3), ms, problem) is None


def test_an_imu_on_a_link_moves_with_the_joints_before_it():
    """Its velocity beside that of the base is the derivative of its place."""
    of, rng, h = models.problem("g1"), np.random.default_rng(6), 1e-6
    position, rates = rng.uniform(-0.3, 0.3, (2, of.nj))
    turn, x = np.array([0.3, -0.2, 0.5]), of.first.neutral()
    of.layout.part(x, "joints")[:] = of.robot.coordinates(position)
    of.layout.part(x, "joint_rates")[:] = rates
    _, swings = of.imu_motion(x)
    R = of.imu_motion(x)[0].rotation
    gyro = R.T @ turn + swings.angular
    imu = imu_motion(of, [Measurement(0, position, rates, gyro)], [x])
    np.testing.assert_allclose(imu.rates[0], turn, atol=1e-12)
    ends = [
        pin.exp3(t * turn) @ of.mount.motion(position + t * rates)[0].translation for t in (-h, h)
    ]
    np.testing.assert_allclose(imu.offsets[0], (ends[1] - ends[0]) / (2.0 * h), atol=1e-6)
