# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Trace and judgement of a walk: scores of walks whose errors are known."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import robot

pytest.importorskip("mujoco")

from prime_estimation.closed_loop.scenario import Run, Scenario, _Director
from prime_estimation.closed_loop.trace import Trace
from prime_estimation.closed_loop.walk_folder import _judged
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.simulate.payload import Payload
from prime_estimation.simulate.push import Push

HEIGHT, CLEARANCE = 0.3, 0.06  # m
PERIOD = 0.002  # s, between rows


def a_loop(q=(0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0), v=np.zeros(18)):
    """A loop in which the truth is given."""
    feet = SimpleNamespace(
        centres=lambda q: np.full((4, 3), 0.05), swinging=lambda now: np.zeros(4)
    )
    horizon = SimpleNamespace(model=robot("go2").model)
    world = SimpleNamespace(total_mass=18.0)
    step = SimpleNamespace(q=np.append(q, np.zeros(12)), v=v, tau_motor=np.zeros(12))
    mpc = SimpleNamespace(feet=feet, horizon=horizon, posture=np.array([0.0, 0.0, HEIGHT]))
    controller = SimpleNamespace(mpc=mpc, config=SimpleNamespace(clearance=CLEARANCE))
    simulated = SimpleNamespace(robot=robot("go2"), step=step, now_ns=0, world=world)
    return SimpleNamespace(controller=controller, simulated=simulated, estimate=None)


def a_trace(seconds: float = 4.0) -> Trace:
    """A walk without any error; its feet swing to the clearance."""
    trace = Trace(a_loop())
    n = round(seconds / PERIOD)
    trace.t = PERIOD * np.arange(1, n + 1)
    trace.height = np.full(n, HEIGHT)
    trace.roll, trace.pitch, trace.yaw = np.zeros((3, n))
    trace.velocity, trace.command = np.zeros((2, n, 3))
    trace.torque, trace.bottoms = np.zeros((n, 12)), np.zeros((n, 4))
    trace.swings = np.zeros((n, 4), bool)
    trace.mass = trace.true_mass = np.full(n, 15.0)
    trace.mass_stddev = np.full(n, 0.1)
    return trace


def test_scores_are_those_of_their_interval():
    trace = a_trace()
    inside = (trace.t >= 1.0) & (trace.t < 2.0)
    trace.height[inside] += 0.01
    trace.roll[inside], trace.pitch[inside] = 0.02, -0.03
    trace.velocity[inside], trace.command[inside] = (0.5, 0.1, 2.0), (0.2, 0.5, 0.0)
    trace.torque[inside] = 4.0
    trace.torque[np.argmax(inside), 3] = -20.0
    scores = trace.scores(1.0, 2.0)
    told = scores.height, scores.roll, scores.pitch, scores.velocity, scores.peak_torque
    assert told == pytest.approx((0.01, 0.02, 0.03, 0.5, 20.0))
    assert scores.torque == pytest.approx(np.sqrt(16.0 + (400.0 - 16.0) / 12.0 / inside.sum()))
    others = trace.scores(2.0, 4.0)
    assert not any((others.height, others.roll, others.pitch, others.velocity, others.torque))
    half = trace.scores(0.0, 2.0 + 0.5 * PERIOD)  # half of it, but for the row at 0
    assert half.height == pytest.approx(0.01 * np.sqrt(500 / 1000))


def test_the_apex_is_that_of_complete_swings():
    """Twice too low by 1 cm, too high by 4 cm; and swings that the interval cuts off."""
    trace = a_trace()
    for foot, begin, end, apex in (
        (0, 1.2, 1.4, 0.05),
        (0, 1.6, 1.8, 0.05),
        (1, 1.5, 1.7, 0.10),
        (2, 0.9, 1.1, 0.5),
        (3, 1.9, 2.1, 0.5),
    ):
        k = (trace.t >= begin) & (trace.t < end)
        trace.swings[k, foot] = True
        trace.bottoms[k, foot] = apex
    assert trace.scores(1.0, 2.0).apex == pytest.approx(0.02, abs=1e-6)
    assert np.isnan(trace.scores(3.0, 4.0).apex)


def test_velocity_is_that_of_the_heading():
    """A base that is turned by 1 rad, and leans, goes along its own heading and to its left."""
    R = pin.rpy.rpyToMatrix(0.1, -0.2, 1.0)
    level = pin.rpy.rpyToMatrix(0.0, 0.0, 1.0) @ [0.4, 0.1, 0.0]
    v = np.zeros(18)
    v[:3], v[3:6] = R.T @ level, R.T @ [0.0, 0.0, 0.7]
    loop = a_loop((1.0, 2.0, HEIGHT, *pin.Quaternion(R).coeffs()), v)
    trace = Trace(loop)
    for t in (0.001, 0.002, 0.003, 0.004):
        trace.note(t, VelocityCommand(0.4, 0.1, 0.7))
    trace.finish()
    assert trace.t.tolist() == [0.002, 0.004]  # every second step
    np.testing.assert_allclose(trace.velocity, trace.command, atol=1e-12)
    np.testing.assert_allclose([trace.roll[0], trace.pitch[0], trace.yaw[0]], [0.1, -0.2, 1.0])
    assert trace.lean[0].tolist() == [1.0, 2.0] and np.isnan(trace.mass).all()
    radii = [c.radius for c in robot("go2").contacts]
    np.testing.assert_allclose(trace.bottoms[0], 0.05 - np.array(radii))
    assert trace.true_mass[0] == 18.0
    assert trace.model_mass[0] == pytest.approx(robot("go2").total_mass)


@pytest.mark.parametrize(
    "height, roll, upright",
    [
        (0.16, 0.0, True),
        (0.14, 0.0, False),
        (0.3, 0.9, True),
        (0.3, 0.95, False),
        (0.3, 3.0, False),
    ],
)
def test_a_trunk_that_is_low_or_leans_has_fallen(height, roll, upright):
    quat = pin.Quaternion(pin.rpy.rpyToMatrix(roll, 0.0, 0.5)).coeffs()
    assert Trace(a_loop((0.0, 0.0, height, *quat))).upright() == upright


# --- judgement ------------------------------------------------------------------------------------


def judged(trace: Trace, off: float = float("inf"), **changes) -> dict:
    """Of a load of 3 kg that comes at 1 s."""
    scenario = Scenario("go2", duration=4.0, load=Payload(3.0), load_on=1.0, load_off=off)
    run = {"fell": False, "stopped": "", **changes}
    return _judged(scenario, Run(scenario, trace, solve_times=np.array([0.002, 0.004]), **run))


def test_a_walk_is_judged_before_and_under_its_load():
    trace = a_trace()
    trace.true_mass = np.where(trace.t < 1.0, 15.0, 18.0)
    trace.mass = np.where(trace.t < 1.2, 15.0, 17.7)
    for begin, end, error in ((0.0, 1.0, 0.001), (1.0, 2.0, 0.01), (2.0, 4.1, 0.003)):
        trace.height[(trace.t >= begin) & (trace.t < end)] += error
    told = judged(trace)
    assert told["mass_kg"] == 17.7 and told["mass_true_kg"] == 18.0 and told["load_kg"] == 3.0
    assert told["mass_error_worst"] == pytest.approx(0.3 / 18.0)
    for part, error in (("before", 0.001), ("sagging", 0.01), ("loaded", 0.003)):
        assert told[part]["height"] == pytest.approx(error)
    assert told["solve_ms"]["p50"] == pytest.approx(3.0) and told["seconds"] == 4.0


def test_the_worst_mass_is_that_after_it_may_be_known_and_while_the_load_is_there():
    trace = a_trace()
    trace.true_mass = np.where((trace.t < 1.0) | (trace.t >= 3.0), 15.0, 18.0)
    trace.mass = trace.true_mass.copy()
    for t, error in ((1.3, 9.0), (1.5, 0.9), (3.05, 9.0)):
        trace.mass[np.argmin(np.abs(trace.t - t))] += error
    told = judged(trace, off=3.0)
    assert told["mass_error_worst"] == pytest.approx(0.9 / 18.0) and told["mass_kg"] == 18.0


@pytest.mark.parametrize(
    "changes", [{"fell": True}, {"stopped": "no odometry"}, {"off": 2.0}, {"off": 1.5}]
)
def test_nothing_is_said_of_a_load_that_did_not_stay(changes):
    told = judged(a_trace(), **changes)
    assert "loaded" not in told and "mass_kg" not in told and told["solve_ms"]


# --- what a scenario makes happen -----------------------------------------------------------------


def test_gait_velocity_load_and_push_come_when_they_are_due():
    done, loop = [], a_loop()
    loop.controller.on_gait = lambda gait: done.append((now, gait))
    loop.simulated.world.load = lambda there: done.append((now, there))
    loop.simulated.world.push = lambda force: (
        done.append((now, force.tolist())) if any(force != pushed) else None
    )
    load, push = Payload(3.0), Push((9.0, 0.0, 0.0), 2.2, 0.05)
    told = dict(load=load, load_on=1.7, load_off=2.4, pushes=(push,), gait="walk")
    scenario = Scenario("go2", command=lambda t: VelocityCommand(vx=t), duration=3.0, **told)
    director, pushed, wishes = _Director(scenario, loop), np.zeros(3), {}
    for k in range(30):
        now = round(0.1 * k, 1)
        wishes[now] = director.command(now).vx
        director.observe(now)
    assert [what for what in done if not isinstance(what[1], list)] == [
        (1.5, "walk"),
        (1.7, True),
        (2.4, False),
    ]
    assert [what for what in done if isinstance(what[1], list)] == [(2.2, [9.0, 0.0, 0.0])]
    assert wishes[1.9] == 0.0 and wishes[2.0] == 2.0 and wishes[2.9] == 2.9


@pytest.mark.parametrize("update", ["true", "on", "off"])
def test_the_truth_about_the_load_is_told_only_where_it_is_asked_for(update):
    loop, told = a_loop(), []
    model = loop.controller.mpc.horizon.model = robot("go2").model.copy()
    loop.controller.mpc.horizon.take_inertias = lambda: told.append(pin.computeTotalMass(model))
    loop.simulated.world.load = lambda there: None
    load = dict(load=Payload(3.0), load_on=0.5, load_off=1.0)
    director = _Director(Scenario("go2", duration=2.0, update=update, **load), loop)
    for t in (0.0, 0.4, 0.5, 0.7, 1.0, 1.3):
        director.command(t)
        director.observe(t)
    mass = robot("go2").total_mass
    assert told == (pytest.approx([mass + 3.0, mass]) if update == "true" else [])
