# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A robot that stands: what the dry friction of its joints hides is said."""

from __future__ import annotations

import json
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import measurements, truth

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import INTERVAL
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot

LOAD, SECONDS = 2.5, 8.0  # kg, s
BEGINS = 400  # node at which a joint begins to move


def up(quat: np.ndarray) -> np.ndarray:
    """The vertical in axes of the base."""
    return pin.Quaternion(quat).toRotationMatrix()[2]


@pytest.fixture(scope="module")
def stand(tmp_path_factory):
    """A Go1 with a load that stands."""
    pytest.importorskip("mujoco")
    from prime_estimation.simulate import Payload, run

    out = tmp_path_factory.mktemp("stand") / "run"
    return run("go1", "stand", SECONDS, out, payload=Payload(LOAD, (0.05, 0.02, 0.1)), seed=6056)


def estimates(bag, name: str = "go1", **told) -> list:
    """Estimates of a robot whose YAML has other values."""
    config = Config.load(name).updated({"robot": told})
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, mocap=False)
    ms = measurements(bag, robot, config, SECONDS)
    return [e for m in ms if (e := estimator.update(m))]


@pytest.mark.slow
def test_what_friction_hides_is_said(stand):
    """It bent the tilt from -12 to 12 mrad, stated to 1.4, and the mass by 0.6 kg, to 0.16."""
    found = estimates(stand)
    quat = attrgetter("x", "y", "z", "w")
    stamps, quats = truth(stand, "/ground_truth/odom", lambda m: quat(m.pose.pose.orientation))
    for estimate in found[100::50]:
        true = quats[np.abs(stamps - estimate.stamp_ns).argmin()]
        away = np.cross(up(np.array(estimate.quat_world_base)), up(true))
        stated = np.sqrt(estimate.pose_covariance[3:5, 3:5].trace())
        assert np.linalg.norm(away) < 2.0 * stated
    last, mass = found[-1], Robot(Config.load("go1").robot).total_mass
    assert abs(last.total_mass - mass - LOAD) < 1.5 * last.total_mass_stddev


@pytest.mark.slow
def test_what_a_rest_has_hidden_of_the_mass_outlasts_it(stand):
    """Its first steps tell no other mass at once: 0.5 kg off, it had been stated to 0.19."""
    config = Config.load("go1")
    robot = Robot(config.robot)
    estimator, found = Estimator(robot, config, mocap=False), []
    for k, m in enumerate(measurements(stand, robot, config, SECONDS)):
        moves = 0.2 * (k >= BEGINS) * np.eye(robot.nj)[2]  # rad/s, of one joint
        found.append(estimator.update(replace(m, velocity=m.velocity + moves)))
    at_rest, soon, later = (found[BEGINS + k].bodies[0] for k in (-1, 30, 300))
    assert at_rest.mass_stddev > soon.mass_stddev > 0.65 * at_rest.mass_stddev
    assert (soon.com_stddev[:2] > 0.65 * at_rest.com_stddev[:2]).all()
    assert later.mass_stddev < 0.6 * at_rest.mass_stddev


@pytest.mark.slow
def test_joints_without_friction_do_not_stick(stand):
    stuck, free = (estimates(stand, **told)[50] for told in ({}, {"joint_friction": 0.0}))
    tilt = [np.diag(e.pose_covariance)[3] for e in (stuck, free)]
    assert tilt[0] - tilt[1] == pytest.approx(INTERVAL.rest_tilt**2, rel=0.1)
    assert free.total_mass_stddev < 0.5 * stuck.total_mass_stddev


@pytest.mark.slow
def test_a_humanoid_that_stands_does_not_learn_how_high_its_mass_is(tmp_path):
    """Noise told that: its centre of mass sank from 0.17 to 0.03 m in 10 s, "observable"."""
    pytest.importorskip("mujoco")
    from prime_estimation.simulate import Payload, run

    load = Payload(2.9, (0.0, 0.0, 0.1), link="torso_link")
    bag = run("g1", "stand", SECONDS, tmp_path / "run", payload=load, seed=1)
    body = json.loads(bag.with_suffix(".json").read_text())["bodies_true"]["torso_link"]
    found = [e.bodies[0] for e in estimates(bag, "g1")]
    for b in found[::50]:
        assert (np.abs(b.com - body["com"]) < 2.0 * b.com_stddev).all()
    assert np.linalg.norm(found[-1].com - found[100].com) < 0.01
    assert found[-1].com_stddev[2] > 0.9 * found[50].com_stddev[2]
