# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A humanoid with flat feet: Unitree G1, 29 joints, four contact spheres under each foot."""

from __future__ import annotations

import json

import numpy as np
import pytest
from runs import measurements

from prime_estimation.config import Config
from prime_estimation.estimator import Estimator
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.robot import Robot

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")


def played(bag, seconds: float, mocap: bool):
    """Robot and the estimates of the first seconds of a recorded run."""
    config = Config.load("g1")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, mocap=mocap)
    return robot, [e for m in measurements(bag, robot, config, seconds, mocap) if (e := estimator.update(m)) is not None]


def truth(bag, topic: str, read) -> tuple[np.ndarray, np.ndarray]:
    """Stamps [ns] and values of a recorded topic."""
    with BagReader(bag) as reader:
        rows = [(stamp_ns(m.header), read(m)) for _, _, m in reader.messages([topic])]
    return np.array([t for t, _ in rows]), np.array([v for _, v in rows])


def interpolated(stamps, t, x) -> np.ndarray:
    return np.stack([np.interp(stamps, t, column) for column in x.T], axis=1)


@pytest.fixture(scope="module")
def walk(recorded_runs):
    """A walk with 2.9 kg on the torso that the model does not have, without motion capture."""
    bag = recorded_runs / "g1_walk_payload29"
    return bag, json.loads(bag.with_suffix(".json").read_text()), *played(bag, 3.5, mocap=False)


def test_velocity(walk):
    bag, _, _, estimates = walk
    late = estimates[100:]
    t, v = truth(bag, "/ground_truth/odom", lambda m: [getattr(m.twist.twist.linear, a) for a in "xyz"])
    error = np.array([e.linear_velocity_base for e in late]) - interpolated([e.stamp_ns for e in late], t, v)
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.03


def test_payload_on_the_torso(walk):
    _, meta, robot, estimates = walk
    body = estimates[-1].bodies[0]
    expected = np.array(meta["bodies_true"]["torso_link"]["pin_dynamic_parameters"])
    nominal = robot.model.inertias[robot.link_joint("torso_link")].mass
    assert body.link == "torso_link" and body.observable and expected[0] - nominal > 2.8
    assert abs(body.mass - expected[0]) < 0.15 and abs(body.mass - expected[0]) < 1.96 * body.mass_stddev
    assert np.linalg.norm(body.com - expected[1:4] / expected[0]) < 0.01


def test_forces_of_the_corners_add_up(walk):
    bag, _, robot, estimates = walk
    late = estimates[100:]
    stamps = [e.contacts_stamp_ns for e in late]
    assert [c.name for c in late[0].contacts] == [c.name for c in robot.contacts] and len(late[0].contacts) == 8
    for foot in FEET:
        t, f = truth(bag, f"/ground_truth/contacts/{foot}", lambda m: [getattr(m.wrench.force, a) for a in "xyz"])
        smooth = np.array([np.convolve(column, np.ones(5) / 5.0, "same") for column in f.T]).T  # 20 ms
        expected = interpolated(stamps, t, smooth)[:, 2]
        found = np.array([sum(c.force_world[2] for c in e.contacts if c.name.startswith(f"{foot}/")) for e in late])
        assert np.sqrt(np.mean((found - expected) ** 2)) < 0.1 * np.sqrt(np.mean(expected**2))
