# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Doubts that the reporter keeps from node to node, and torques and parameters that it reports."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import config, problem, robot

from prime_estimation.config.policies import INTERVAL
from prime_estimation.mhe.problem import Problem
from prime_estimation.reporting import Reporter
from prime_estimation.robot import GRAVITY
from prime_estimation.types import NO_DATA, Measurement

STILL, MOVING = np.zeros(12), np.r_[np.zeros(11), 1.1 * INTERVAL.rest_rate]


def measurement(velocity=MOVING, torque=True, **fields) -> Measurement:
    return Measurement(0, None, velocity, None, torque=np.ones(12) if torque else None, **fields)


@pytest.fixture
def reporter() -> Reporter:
    return Reporter(problem("go2"))


def share_of_friction() -> float:
    """Of the weight, that legs at rest may carry more or less."""
    go2 = robot("go2")
    return 4.0 * np.mean(go2.joint_friction) / INTERVAL.rest_lever / (GRAVITY * go2.total_mass)


def test_the_error_of_all_torques(reporter):
    noise = problem("go2").config.noise
    assert reporter._torque_error(measurement(), False) == (noise.torque_scale, 0.0)
    commanded = measurement(torque_commanded=True)
    assert reporter._torque_error(commanded, False) == (noise.torque_scale_commanded, 0.0)
    unlike, _ = reporter._torque_error(measurement(), True)
    assert unlike == pytest.approx(math.hypot(noise.torque_scale, INTERVAL.unlike_torque))


def test_dry_friction_of_a_robot_at_rest_is_in_its_mass_and_fades(reporter):
    """At once while it rests; afterwards by as much as that has taught, until it is forgotten."""
    noise, dt, most = problem("go2").config.noise, problem("go2").dt, share_of_friction()
    assert most > 0.0
    error, stuck = reporter._torque_error(measurement(STILL), False)
    assert stuck == pytest.approx(most)
    assert error == pytest.approx(math.hypot(noise.torque_scale, most))
    fades = math.exp(-dt / INTERVAL.rest_memory)
    _, after = reporter._torque_error(measurement(), False)
    assert after == pytest.approx(most * (1.0 - fades) * fades)  # a moment teaches little
    assert reporter._rested == pytest.approx(fades)  # but tilts the base all the same
    for _ in range(2000):
        reporter._torque_error(measurement(STILL), False)
    steps = round(INTERVAL.rest_memory / dt)
    for _ in range(steps):
        _, stuck = reporter._torque_error(measurement(), False)
    assert stuck == pytest.approx(most * math.exp(-1.0), rel=1e-3)
    assert reporter._rested == pytest.approx(math.exp(-1.0))


@pytest.mark.parametrize("m", [measurement(STILL, torque=False), measurement(None)])
def test_without_torques_or_rates_nothing_rests(reporter, m):
    assert reporter._torque_error(m, False)[1] == 0.0


def test_joint_parameters_are_those_that_are_free():
    """Their deviations are wider than noise explains; the mean of gains has that of all torques."""
    it = Problem(robot("go2"), config("go2", joint_parameters="gains,zeros"))
    reporter, x, covariance = Reporter(it), it.first.neutral(), np.zeros((it.np, it.np))
    rows = {name: it.layout.parameter_rows(name) for name in ("torque_gain", "encoder_zero")}
    it.parameter(x, "encoder_zero")[:] = 0.001 * np.arange(12)
    covariance[rows["torque_gain"], rows["torque_gain"]] = 1e-3**2 * np.eye(12)
    zeros = covariance[rows["encoder_zero"], rows["encoder_zero"]]
    zeros[:] = np.diag(np.r_[1e-4 * np.ones(11), 1e-2]) ** 2
    told = reporter._joints(x, covariance, 0.01)
    assert [p.kind for p in told] == ["torque_gain"] * 12 + ["encoder_zero"] * 12
    assert [p.name for p in told[:12]] == robot("go2").joint_names
    assert told[0].stddev == pytest.approx(math.hypot(4e-3, 0.01))
    assert [p.value for p in told[12:]] == pytest.approx(0.001 * np.arange(12))
    assert told[12].stddev == pytest.approx(4e-4)
    assert [p.observable for p in told[12:]] == [True] * 11 + [False]


def test_robots_without_ground_have_no_friction_and_no_stiffness():
    it = problem("kinova_free")
    reporter, x = Reporter(it), it.first.neutral()
    assert math.isnan(reporter._friction(x)) and math.isnan(reporter._stiffness(x))
    go2 = problem("go2")
    x = go2.first.neutral()
    assert Reporter(go2)._friction(x) == pytest.approx(go2.config.estimator.friction)
    assert Reporter(go2)._stiffness(x) == pytest.approx(go2.dynamics.stiffness(0.0))


class Told:
    """Monitors that have nothing to say, and a mean square of one innovation."""

    consistency = SimpleNamespace(innovations={"rows": 1.5}, present={"rows"})

    def __iter__(self):
        return iter(())


@pytest.mark.parametrize(
    ("seen", "refused", "ok", "message", "innovation"),
    [
        (True, "", True, "", 1.5),
        (True, "2 poses refused", True, "2 poses refused", 1.5),
        (False, "", False, NO_DATA, math.nan),
        (False, "all poses refused", False, f"{NO_DATA}; all poses refused", math.nan),
    ],
)
def test_health_of_a_sensor_and_what_its_gate_refuses(
    reporter, seen, refused, ok, message, innovation
):
    sensor = SimpleNamespace(name="eyes", seen=lambda m: seen, remark=lambda m: "")
    gate = SimpleNamespace(remark=lambda: refused)
    reporter._sensors = [(sensor, "rows", False, None, gate)]
    (health,) = reporter._health(None, measurement(), None, Told(), "")
    assert (health.name, health.ok, health.message) == ("eyes", ok, message)
    assert health.normalized_innovation == pytest.approx(innovation, nan_ok=True)
    (_, robot_health) = reporter._health(None, measurement(), None, Told(), "too light")
    assert (robot_health.name, robot_health.message) == ("robot", "too light")
