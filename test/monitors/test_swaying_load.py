# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A load that sways is told from one that is tied down by the mass that is missing sideways."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import problem
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import SMOOTHED, SWAY
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.swaying_load import SwayingLoad
from prime_estimation.reporting.inertia import InertiaReport
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.types import Measurement

SIZE, SECONDS = 8, 5.0


class Trot:
    """A Go2 that leans and trots at 2 Hz, whose base feels `beta a` and noise, in world axes."""

    def __init__(self):
        self.problem, self.payload = problem("go2"), SimpleNamespace(alarms=0)
        self.sway, self.dt = SwayingLoad(self.problem, self.payload), self.problem.dt
        self.state, turn = self.problem.first.neutral(), pin.exp3(np.array([0.2, -0.3, 1.0]))
        self.state[3:7], self.to_base = pin.Quaternion(turn).coeffs(), turn.T
        self.random, self.k = np.random.default_rng(0), 0

    def go(
        self,
        beta,
        seconds=SECONDS,
        noise=1.0,
        most=1.5,
        lift=0.0,
        constant=(0.0, 0.0, 0.0),
        **situation,
    ):
        """For so long, with accelerations up to `most` [m/s2]; `lift` is `beta` of the vertical."""
        for _ in range(round(seconds / self.dt)):
            self.k += 1
            phase = 4.0 * np.pi * self.k * self.dt
            a = most * np.array([np.sin(phase), 0.6 * np.cos(phase), np.sin(2.0 * phase)])
            f = np.array([beta, beta, lift]) * a + noise * self.random.normal(size=3)
            f += constant
            # a base that turns has another change of its linear velocity in base axes
            v, turning = np.zeros(18), np.array([0.1, 0.2, 0.5])
            v[:3], v[3:6] = self.to_base @ [0.6, 0.0, 0.0], turning
            dv = np.zeros(18)
            dv[:3] = self.to_base @ a - np.cross(turning, v[:3])
            w = np.zeros((SIZE, 18))
            w[-SMOOTHED.nodes, :3] = self.to_base @ f
            window = SimpleNamespace(
                xs=[self.state] * (SIZE + 1),
                weighed=lambda k: True,
                motion=lambda k: (None, v, dv),
                unexplained=lambda: w,
            )
            assert self.sway.judge(window, Situation(**situation)) == ""
        return self.sway


@pytest.mark.parametrize("beta, side", [(2.0, "less"), (-2.0, "more")])
def test_mass_that_is_missing_along_the_ground(beta, side):
    sway = Trot().go(beta)
    assert sway.missing == pytest.approx(2.0, abs=0.1)
    (said,) = sway.health(Situation())
    assert not said.ok and f"kg {side} along the ground" in said.message


def test_a_tied_load_noise_and_what_acts_upwards_or_always_are_none():
    for given in ({}, {"noise": 5.0}, {"lift": 3.0}, {"constant": (20.0, 0.0, 0.0)}):
        sway = Trot().go(0.3, **given)
        assert sway.missing == 0.0 and sway.health(Situation()) == ()


@pytest.mark.parametrize("mass", [4.0, -4.0])
def test_a_mass_that_is_wrong_is_no_load_that_sways(mass):
    """Until a load that was put on or taken off is known: it has weight, too."""
    it = Trot()
    assert it.go(mass, noise=0.1, constant=(0.0, 0.0, GRAVITY * mass)).missing == 0.0
    # nor is anything of that kept
    assert it.go(0.0).missing == 0.0


def test_what_was_found_before_a_payload_changes_is_of_another_load():
    it = Trot()
    assert it.go(2.0).missing > 0.0
    it.payload.alarms = 1
    assert it.go(0.0, it.dt).missing == 0.0 and it.sway.health(Situation()) == ()
    it.go(2.0, 0.9 * SWAY.memory)
    it.payload.alarms = 2
    assert it.go(0.0).missing == 0.0
    it.payload.alarms = 0  # a restart, of a robot whose load is the same
    assert it.go(2.0).missing > 0.0
    it.payload.alarms = 1
    assert it.go(2.0, it.dt).missing == 0.0
    # another load may sway
    assert it.go(2.0).missing > 0.0


def test_little_acceleration_tells_nothing():
    assert Trot().go(2.0, most=0.2, noise=0.01).missing == 0.0


def test_pushes_and_robots_that_are_held_are_left_out():
    for name in ("pushed", "leaning", "contradicted", "inertia_held", "suspended_since_ns"):
        assert Trot().go(2.0, **{name: True}).missing == 0.0


def test_commanded_torques_tell_nothing():
    """Drives follow them late: a Mini Cheetah without a load would have 0.2 of its mass less."""
    it = Trot()
    m = Measurement(0, None, None, None, torque=np.zeros(12), torque_commanded=True)
    it.sway.assess(m, None, Situation())
    assert it.go(2.0).missing == 0.0


def test_it_lasts_until_the_load_is_tied_down():
    it = Trot()
    between = 0.5 * (SWAY.found + SWAY.gone) * it.problem.robot.total_mass
    assert it.go(between).missing == 0.0
    assert it.go(2.0).missing > 0.0
    assert it.go(between, 10.0).missing == pytest.approx(between, rel=0.1)
    assert it.go(0.0, 10.0).missing == 0.0
    it.go(2.0)
    it.sway.reset()
    assert it.sway.missing == 0.0
    assert it.go(2.0, 0.5 * SWAY.memory).missing == 0.0


def test_the_centre_of_mass_is_then_known_less_well():
    """`beta h / m`, and a little along the ground."""
    it = problem("go2")
    report, x = InertiaReport(it), it.first.neutral()
    theta = 1e-6 * np.eye(10)
    (tied,), (sways,) = (report.bodies(x, theta, 0.0, False, False, 0.0, b) for b in (0.0, 2.0))
    added = np.sqrt(sways.com_stddev**2 - tied.com_stddev**2)
    np.testing.assert_allclose(added, 2.0 / tied.mass * np.array([SWAY.way, SWAY.way, SWAY.height]))
    assert sways.mass_stddev == tied.mass_stddev


@pytest.mark.slow
def test_a_load_on_springs_of_a_robot_that_trots(tmp_path):
    """Its height was told 20 to 30 mm too low, and stated to 3."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    load = simulate.Payload(3.0, (0.05, 0.02, 0.1), stiffness=200.0)
    bag = simulate.run("go2", "trot", 7.0, tmp_path / "run", payload=load, seed=33)
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, False)
    steps = measurements(bag, robot, config, 7.0, mocap=False)
    estimate = [estimator.update(m) for m in steps][-1]
    assert estimator.monitors.sway.missing > 1.0
    nominal = robot.model.inertias[robot.link_joint(robot.estimated_links[0])]
    height = (nominal.mass * nominal.lever[2] + 3.0 * 0.1) / (nominal.mass + 3.0)
    body = estimate.bodies[0]
    assert abs(body.com[2] - height) < 1.96 * body.com_stddev[2]


@pytest.mark.slow
def test_a_load_that_is_taken_off_on_bumps(tmp_path):
    """Between its last moment and the alarm, the force of a wrong mass looked like one."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    load = simulate.Payload(3.0, (0.05, 0.02, 0.1), t_on=3.0, t_off=8.0)
    scene = dict(payload=load, terrain=simulate.Ground(bump_height=0.05), seed=31)
    bag = simulate.run("go1", "forward", 9.0, tmp_path / "run", **scene)
    config = Config.load("go1")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, False)
    for m in measurements(bag, robot, config, 9.0, mocap=False):
        estimator.update(m)
        assert estimator.monitors.sway.missing == 0.0
    assert estimator.monitors.payload.alarms == 2
