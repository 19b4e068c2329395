# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A world that moves as a whole: feet stay where they are on their ground."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import problem, sphere_bottoms

from prime_estimation.contact.footholds import Slope
from prime_estimation.mhe.world_motion import (
    gone,
    motion_between,
    moved_slope,
    moved_state,
    way_unseen,
)
from prime_estimation.sensors.frames import WorldMotion

MOTION = WorldMotion(0.8, np.array([1.0, -2.0, 0.3]))
FEET = 4


@pytest.fixture
def state():
    """A problem, and a state of it that leans on sloping ground and moves."""
    of, rng = problem("go2"), np.random.default_rng(4)
    x, part = of.first.neutral(), of.layout.part
    part(x, "position")[:] = [0.4, -0.7, 0.35]
    part(x, "rotation")[:] = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, -0.2, 0.5)).coeffs()
    part(x, "velocity")[:], part(x, "rate")[:] = [0.3, 0.4, 0.0], [0.0, 0.6, 0.8]
    part(x, "joints")[:] = np.tile([0.0, 0.8, -1.5], 4)
    part(x, "height")[:] = 0.05 * rng.normal(size=FEET)
    part(x, "slope")[:] = 0.2 * rng.normal(size=2 * FEET)
    return of, x


def above_ground(of, x, anchors) -> np.ndarray:
    """(nf,) [m] of the spheres' lowest points above the planes under their feet."""
    data, model = of.robot.model.createData(), of.robot.model
    pin.framesForwardKinematics(model, data, of.layout.q(x))
    frames = [data.oMf[model.getFrameId(c.frame)] for c in of.robot.contacts]
    places = np.array([f.act(np.array(c.position)) for f, c in zip(frames, of.robot.contacts)])
    slopes, heights = of.layout.part(x, "slope").reshape(-1, 2), of.layout.part(x, "height")
    ground = heights + np.sum(slopes * (places[:, :2] - anchors), axis=1)
    return sphere_bottoms(of.robot, of.layout.q(x)) - ground


def test_a_moved_state_stands_on_its_ground_as_before(state):
    of, x = state
    anchors = np.random.default_rng(5).normal(size=(FEET, 2))
    moved = moved_state(of, x, MOTION)
    after = above_ground(of, moved, MOTION.points(anchors))
    np.testing.assert_allclose(after, above_ground(of, x, anchors), atol=1e-12)
    same = [slice(of.nq, of.nq + of.nv), of.layout.coordinates["joints"]]
    for part in same:  # velocities are in axes of the base
        np.testing.assert_array_equal(moved[part], x[part])
    assert np.linalg.norm(moved[3:7]) == pytest.approx(1.0, abs=1e-15)
    slope = Slope(of.layout.part(x, "slope")[:2], 0.1, level=True)
    turned = moved_slope(slope, MOTION)
    np.testing.assert_allclose(turned.mean, of.layout.part(moved, "slope")[:2], atol=1e-15)
    assert (turned.stddev, turned.level) == (0.1, True)


def test_the_motion_between_two_states_takes_base_and_ground_along(state):
    """Place and heading of the base, and the mean height of the ground, whatever the base's is."""
    of, x = state
    other = moved_state(of, x, MOTION)
    other[2] += 0.05
    motion = motion_between(of, x, other)
    assert motion.yaw == pytest.approx(MOTION.yaw)
    np.testing.assert_allclose(motion.shift, MOTION.shift, atol=1e-12)


def test_what_goes_on_unseen_goes_as_fast_as_it_was(state):
    of, x = state
    R = pin.Quaternion(x[3:7]).toRotationMatrix()
    there = gone(of, x, 2.0)
    np.testing.assert_allclose(there[:2] - x[:2], 2.0 * (R @ [0.3, 0.4, 0.0])[:2])
    np.testing.assert_array_equal(there[2:], x[2:])
    np.testing.assert_allclose(way_unseen(of, x, 2.0), [1.0, 1.0, 2.0])
