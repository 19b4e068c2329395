# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Trunk reference: arcs, leash, rise; limits of velocity commands."""

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.control.gait import GAITS
from prime_estimation.control.motion_types import RobotState, VelocityCommand
from prime_estimation.control.parameters import ControlConfig
from prime_estimation.control.trunk import (
    HEIGHT_LEASH,
    LEASH,
    RISE,
    CommandLimiter,
    TrunkReference,
    within,
    wrap,
)


def state(x=0.0, y=0.0, yaw=0.0) -> RobotState:
    quat = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.0, yaw)).coeffs()
    return RobotState(0, np.array([x, y, 0.3, *quat]), np.zeros(6), np.ones(4, bool), 0)


def test_an_arc_ends_where_its_integral_ends():
    command = VelocityCommand(vx=0.5, vy=0.1, yaw_rate=0.8)
    trunk = TrunkReference(state(yaw=0.4), 0.3)
    places, yaws, velocities = trunk.ahead(command, np.array([0.0, 0.5]))
    place, yaw, dt = np.zeros(2), 0.4, 1e-4
    for _ in range(5000):
        c, s = np.cos(yaw + 0.5 * dt * 0.8), np.sin(yaw + 0.5 * dt * 0.8)
        place += dt * np.array([c * 0.5 - s * 0.1, s * 0.5 + c * 0.1])
        yaw += dt * 0.8
    assert places[1] == pytest.approx(place, abs=1e-6) and yaws[1] == pytest.approx(yaw)
    assert np.linalg.norm(velocities[1]) == pytest.approx(np.hypot(0.5, 0.1))
    straight, _, _ = trunk.ahead(VelocityCommand(vx=1.0), np.array([0.3]))
    assert straight[0] == pytest.approx([0.3 * np.cos(0.4), 0.3 * np.sin(0.4)])


def test_reference_waits_for_a_robot_that_is_held():
    trunk = TrunkReference(state(), 0.3)
    for _ in range(500):
        trunk.advance(state(), VelocityCommand(vx=0.5, yaw_rate=1.0), 0.1, 0.35, 0.02)
    assert np.linalg.norm(trunk.position) == pytest.approx(LEASH)
    assert 0.0 < trunk.yaw < 0.3
    assert trunk.height == pytest.approx(0.2 + HEIGHT_LEASH)


def test_height_is_approached_slowly():
    trunk = TrunkReference(state(), 0.19)
    trunk.advance(state(), VelocityCommand(), 0.1, 0.3, 0.1)
    assert trunk.height == pytest.approx(0.19 + 0.1 * RISE)


def test_commands_are_limited_in_size_and_change():
    config, trot = ControlConfig(), GAITS["trot"]
    limiter = CommandLimiter(config)
    first = limiter.limit(VelocityCommand(vx=9.0, vy=0.0, yaw_rate=9.0), trot, 0.1)
    assert first.vx == pytest.approx(0.1 * config.acceleration)
    for _ in range(100):
        last = limiter.limit(VelocityCommand(vx=9.0, vy=9.0, yaw_rate=9.0), trot, 0.1)
    assert np.hypot(last.vx, last.vy) == pytest.approx(trot.top_speed)
    assert last.yaw_rate == pytest.approx(config.top_yaw_rate)
    for _ in range(100):
        stood = limiter.limit(VelocityCommand(vx=1.0, yaw_rate=1.0), GAITS["stand"], 0.1)
    assert (stood.vx, stood.vy, stood.yaw_rate) == (0.0, 0.0, 0.0)


def test_angles_wrap():
    assert wrap(3.5) == pytest.approx(3.5 - 2 * np.pi) and wrap(0.5) == pytest.approx(0.5)


def test_a_place_out_of_reach_is_drawn_in():
    reach = np.array([0.2, 0.1])
    assert within(np.array([0.1, -0.05]), reach).tolist() == [0.1, -0.05]
    assert within(np.array([3.0, 0.0]), reach) == pytest.approx([0.2, 0.0])
    far = within(np.array([-1.0, 1.0]), reach)
    assert np.linalg.norm(far / reach) == pytest.approx(1.0) and far[0] == pytest.approx(-far[1])
    assert within(np.zeros(2), np.zeros(2)).tolist() == [0.0, 0.0]
