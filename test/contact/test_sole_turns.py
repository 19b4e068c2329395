# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sole turns are derivatives of the orientation of feet."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers import models

from prime_estimation.config.parameters import Config
from prime_estimation.contact.points import contact_points
from prime_estimation.contact.sole_turns import SoleTurns
from prime_estimation.robot import Robot


@pytest.mark.parametrize("name, known", [("g1", True), ("go2", False), ("kinova_free", False)])
def test_feet_of_three_contacts_and_more_are_soles(name, known):
    """Of a robot without feet none are."""
    assert SoleTurns(models.robot(name)).known is known


def test_turns_against_the_base():
    robot, rng, dt = Robot(Config.load("g1").robot), np.random.default_rng(3), 1e-6
    position, velocity = rng.uniform(-0.4, 0.4, (2, robot.nj))
    turns = SoleTurns(robot).against_base(position, velocity)
    data = robot.model.createData()

    def orientations(q):
        full = np.concatenate([np.zeros(6), [1.0], robot.coordinates(q)])
        pin.forwardKinematics(robot.model, data, full)
        joints = {c.foot: c.joint for c in contact_points(robot)}
        return [data.oMi[joints[foot]].rotation.copy() for foot in range(len(robot.feet))]

    before, after = orientations(position), orientations(position + dt * velocity)
    expected = [pin.log3(b @ a.T) / dt for a, b in zip(before, after)]
    assert turns == pytest.approx(np.array(expected), abs=1e-4)
