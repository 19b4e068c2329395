# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Body turn: found by how body and gyro turn, taken out, said; and not where nothing tells it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import measurements, velocity_errors

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import BODY_TURN
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.body_turn import BodyTurn
from prime_estimation.robot import Robot
from prime_estimation.sensors.mocap_mount import turned_back
from prime_estimation.types import PoseSample

DT, NOISE = 0.01, 0.00873
CLEAR, LEGS_AGREE = Situation(), SimpleNamespace(pending=False, wrong=False)


class Base:
    """Stands in for a problem: a body with an IMU at its origin."""

    def __init__(self):
        self.dt, self.body_turn = DT, None
        placement = SimpleNamespace(rotation=np.eye(3))
        self.robot = SimpleNamespace(mocap_placement=placement)
        self.mount = SimpleNamespace(base_rate=lambda gyro, q, v: gyro)

    def turn_body(self, turn) -> None:
        self.body_turn = turn


def watch(
    C, seconds=3.0, rates=(0.4, 0.3, 0.3), late=0.0, seed=0, uneven_ns=0, gap=0.0, knocked=None
) -> tuple[BodyTurn, float | None]:
    """A base that sways at such rates [rad/s], seen with noise: the monitor, and when it found.

    After 0.2 s there are no data for `gap` seconds, in which it turns by 2 rad; after three the
    body is turned by `knocked` instead.
    """
    rng, problem = np.random.default_rng(seed), Base()
    monitor, R = BodyTurn(problem, LEGS_AGREE), pin.exp3(rng.normal(size=3))
    phases, past = rng.uniform(0.0, 6.28, 3), []
    for k in range(1, round(seconds / DT)):
        if gap and k == 20:
            R = R @ pin.exp3(np.array([0.0, 0.0, 2.0]))
        C = knocked if knocked is not None and k == 300 else C
        rate = np.array(rates) * np.cos([11.0, 12.5, 7.0] * np.array(k * DT) + phases)
        R = R @ pin.exp3(DT * rate)
        past.append(R)
        seen = past[max(k - 1 - round(late / DT), 0)]
        quat = pin.Quaternion(seen @ C.T @ pin.exp3(NOISE * rng.normal(size=3))).coeffs()
        stamp = round((k * DT + gap * (k >= 20)) * 1e9)
        shaken = stamp - int(rng.integers(uneven_ns + 1)) if uneven_ns else stamp
        poses = (PoseSample(shaken, np.zeros(3), np.array(quat)),)
        m = SimpleNamespace(
            stamp_ns=stamp, gyro=rate, position=np.zeros(2), velocity=np.zeros(2), mocap=poses
        )
        if monitor.assess(m, None, CLEAR).restart:
            return monitor, k * DT
    return monitor, None


@pytest.mark.parametrize("seed", range(8))
def test_any_turn_is_found_and_taken_out(seed):
    axis = np.random.default_rng(100 + seed).normal(size=3)
    angle = (0.6, 1.57, 2.3, 3.1)[seed % 4]
    C = pin.exp3(angle * axis / np.linalg.norm(axis))
    monitor, found = watch(C, seed=seed)
    assert found is not None and found < 2.0
    left = monitor.problem.body_turn @ C.T
    assert np.linalg.norm(pin.log3(left)) < 0.25
    assert monitor.angle == pytest.approx(angle, abs=0.25)
    (said,) = monitor.health(CLEAR)
    assert f"turned by {np.degrees(monitor.angle):.0f} degrees" in said.message
    rpy = [float(part) for part in said.message.split("[")[1].rstrip("]").split(",")]
    assert np.linalg.norm(pin.log3(C @ pin.rpy.rpyToMatrix(*rpy))) < 0.26  # of the body in the base


def test_only_what_was_estimated_before_is_void():
    """A turn may be found before there is an estimate: a later one was not made with another."""
    C, x = pin.exp3(np.array([0.0, 0.0, 1.57])), np.zeros(7)
    monitor, _ = watch(C)
    assert monitor.unlearned(x) is None and monitor.unlearned(x) is x
    monitor, _ = watch(C)
    monitor.begin(None, [], CLEAR)
    assert monitor.unlearned(x) is x


def test_stamps_need_not_be_even():
    """No two poses of a clock that is no metronome are a whole span apart, to the nanosecond."""
    C = pin.exp3(np.array([0.0, 0.0, 1.57]))
    monitor, found = watch(C, uneven_ns=100_000)
    assert found is not None and found < 2.0
    assert np.linalg.norm(pin.log3(monitor.problem.body_turn @ C.T)) < 0.25


def test_what_turned_while_no_data_came_is_no_turn_of_the_body():
    C = pin.exp3(np.array([0.0, 0.0, 1.57]))
    monitor, found = watch(C, gap=0.05)
    assert found is not None and found < 2.0
    assert np.linalg.norm(pin.log3(monitor.problem.body_turn @ C.T)) < 0.25


def test_once_it_agrees_with_the_mount_the_comparison_ends():
    C = pin.exp3(np.array([0.0, 0.0, 1.57]))
    monitor, found = watch(np.eye(3), 16.0, knocked=C)
    assert found is None and not monitor.health(CLEAR)


@pytest.mark.parametrize(
    "way",
    [
        dict(C=np.eye(3)),
        dict(C=pin.exp3(np.array([0.05, -0.05, 0.15]))),  # what the parameter is for
        dict(C=pin.exp3(np.array([0.0, 0.0, 1.57])), rates=(0.0, 0.0, 0.5)),  # nothing tells
        dict(C=np.eye(3), rates=(0.0, 0.0, 0.0)),
        dict(C=np.eye(3), late=0.3),
        dict(C=np.eye(3), late=0.3, uneven_ns=100_000),
    ],
)
def test_what_is_no_turn_stays(way):
    monitor, found = watch(**way)
    assert found is None and monitor.problem.body_turn is None
    assert not monitor.health(CLEAR)


def test_poses_are_turned_back_about_the_base():
    """Place of the body in the base, turn of the body: both are undone."""
    rng = np.random.default_rng(4)
    base = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
    C, place = pin.exp3(rng.normal(size=3)), np.array([0.1, 0.02, 0.05])
    body = base.translation + base.rotation @ place
    as_read = base.rotation @ C.T  # where the YAML thinks it sits straight on the base
    sample = PoseSample(7, body - as_read @ place, np.array(pin.Quaternion(as_read).coeffs()))
    back = turned_back(sample, C, place)
    np.testing.assert_allclose(back.position_world, base.translation, atol=1e-12)
    R = pin.Quaternion(np.array(back.quat_world_body)).toRotationMatrix()
    np.testing.assert_allclose(R, base.rotation, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [90.0, 180.0])
def test_a_walk_with_markers_glued_on_otherwise(degrees, tmp_path):
    """It was off by 0.6 m/s to the end, its tracked body said to be 0.8 m from its place."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    bag = simulate.run("go2", "trot", 5.0, tmp_path / "run", seed=7)
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    C = pin.exp3(np.array([0.0, 0.0, np.radians(degrees)]))
    out = []
    for m in measurements(bag, robot, config, 5.0):
        poses = tuple(turned_back(pose, C, np.zeros(3)) for pose in m.mocap)
        estimate = estimator.update(replace(m, readings={**m.readings, "mocap": poses}))
        out += [estimate] if estimate else []
    said = [s for s in out[-1].status.sensors if s.name == "mocap_turn"]
    assert len(said) == 1 and f"{degrees:.0f}"[:1] in said[0].message
    error = velocity_errors(bag, out[200:])
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.02


def monitored(poses, until: float) -> BodyTurn:
    """Of a base that turns evenly; poses at such times [s], each said at the next node."""
    monitor, rate, waiting = BodyTurn(Base(), LEGS_AGREE), np.array([0.2, 0.0, 0.3]), list(poses)
    for k in range(100, round(until / DT)):
        due = [t for t in waiting if t <= k * DT + 1e-9]
        waiting = waiting[len(due) :]
        seen = tuple(
            PoseSample(
                round(1e9 * t), np.zeros(3), np.array(pin.Quaternion(pin.exp3(t * rate)).coeffs())
            )
            for t in due
        )
        m = SimpleNamespace(
            stamp_ns=round(1e9 * k * DT),
            gyro=rate,
            position=np.zeros(2),
            velocity=np.zeros(2),
            mocap=seen,
        )
        monitor.assess(m, None, CLEAR)
    return monitor


def test_poses_of_before_the_first_node_are_not_compared():
    """The gyro does not say how the base turned until then."""
    assert not monitored([0.5, 0.7, 0.95], 1.5)._poses
    assert len(monitored([0.5, 1.0, 1.1], 1.5)._poses) == 2


def test_poses_far_apart_are_no_pair():
    """The longer the silence, the more of what turned is the bias of the gyro."""
    span = BODY_TURN.span
    assert monitored([1.0, 1.0 + 1.5 * span], 4.0)._pairs == 1.0
    assert monitored([1.0, 1.0 + 2.5 * span], 4.0)._pairs == 0.0
    assert monitored([1.0, 1.0 + 0.9 * span], 4.0)._pairs == 0.0
    both = monitored([1.0, 1.0 + span, 1.0 + 1.1 * span], 4.0)  # both with the first one
    assert both._pairs == pytest.approx(1.0 + np.exp(-DT / BODY_TURN.memory))
    np.testing.assert_allclose(both._M, both._M.T, atol=1e-12)
    assert both._squares == pytest.approx(2.0 * np.trace(both._M))
