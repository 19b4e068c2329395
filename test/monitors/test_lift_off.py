# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots that are not on their feet: lifted, fallen on the side, hanging at the start.

The status says so, the covariance covers it, and it is over once they stand again.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.choreography import POSTURES, perform, smooth, standing_pose

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.monitors.lift_off import PULL, LiftDetector
from prime_estimation.policy.validity import _implausible
from prime_estimation.robot import Robot
from prime_estimation.types import Estimate, Measurement

AWAY, BACK, SECONDS = (1.0, 1.5), (2.6, 3.2), 4.2  # when the robot is moved away and back [s]


def away(t: float) -> float:
    return smooth(t, *AWAY) - smooth(t, *BACK)


def on_its_feet(t: float) -> float:
    return 1.0 - smooth(t, AWAY[0] - 0.15, AWAY[0]) + smooth(t, BACK[1], BACK[1] + 0.1)


def lifted(robot: Robot, standing: np.ndarray):
    def path(t: float) -> np.ndarray:
        q = standing.copy()
        q[2] += 0.15 * away(t)
        return q

    return path


def laid_on_its_side(robot: Robot, standing: np.ndarray):
    def path(t: float) -> np.ndarray:
        q = standing.copy()
        q[3:7] = pin.Quaternion(pin.exp3(np.array([1.4 * away(t), 0.0, 0.0]))).coeffs()
        data = robot.model.createData()
        pin.framesForwardKinematics(robot.model, data, q)
        soles = [
            data.oMf[robot.model.getFrameId(c.frame)].act(np.array(c.position, float))[2] - c.radius
            for c in robot.contacts
        ]
        q[2] += 0.03 * away(t) - min(soles)
        return q

    return path


def estimates_of(
    name: str,
    motion,
    share=on_its_feet,
    seconds=SECONDS,
    untold=lambda t: False,
    spoilt=lambda m, t: m,
    **options: str,
) -> tuple[list[tuple[float, np.ndarray, Estimate]], Robot]:
    """(time, true configuration, estimate) of all nodes, of which some have no torque.

    `spoilt` makes the readings of a time from those of the motion; `options` of the section
    `estimator`.
    """
    config = Config.load(name).updated({"estimator": options})
    robot = Robot(config.robot)
    path = motion(robot, standing_pose(robot, POSTURES[name]))
    estimator, out = Estimator(robot, config, mocap=False), []
    for k, m in enumerate(perform(config, path, share, seconds)):
        m = replace(m, torque=None) if untold(0.01 * k) else spoilt(m, 0.01 * k)
        if (estimate := estimator.update(m)) is not None:
            out.append((0.01 * k, path(0.01 * k), estimate))
    return out, robot


def carried(estimate: Estimate) -> bool:
    """The status says so of the feet."""
    told = [s for s in estimate.status.sensors if s.name == "feet"]
    return any(not s.ok and s.message.startswith("they do not carry the robot") for s in told)


def tilt_error(q: np.ndarray, estimate: Estimate) -> float:
    up = [
        pin.Quaternion(np.array(x)).toRotationMatrix()[2]
        for x in (q[3:7], estimate.quat_world_base)
    ]
    return float(np.linalg.norm(up[0] - up[1]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, motion", [("g1", lifted), ("g1", laid_on_its_side), ("go2", laid_on_its_side)]
)
def test_away_and_back(name, motion):
    estimates, robot = estimates_of(name, motion)
    before = [e for t, _, e in estimates if t < AWAY[0] - 0.15]
    during = [(q, e) for t, q, e in estimates if AWAY[0] + 0.3 < t < BACK[0]]
    assert not any(carried(e) for e in before) and all(carried(e) for _, e in during)
    for q, e in during:
        assert tilt_error(q, e) < 0.02 and abs(q[2] - e.position_world[2]) < 4.0 * np.sqrt(
            e.pose_covariance[2, 2]
        )
        assert e.pose_covariance[2, 2] < 0.3**2 and e.twist_covariance[:3, :3].trace() < 0.5**2
        assert not e.bodies[0].observable and abs(e.total_mass - robot.total_mass) < 0.5
    _, q, last = estimates[-1]
    assert not carried(last) and last.status.restarts == 2
    assert np.linalg.norm(last.linear_velocity_base) < 0.02 and tilt_error(q, last) < 0.005
    # two seconds of nothing but the IMU
    np.testing.assert_allclose(last.position_world[:2], q[:2], atol=0.3)
    assert abs(last.position_world[2] - q[2]) < 0.005
    assert (
        abs(sum(c.force_world[2] for c in last.contacts) / (9.81 * robot.total_mass) - 1.0) < 0.05
    )
    assert (
        abs(last.total_mass - robot.total_mass) < 2.0 * last.total_mass_stddev
        and last.total_mass_stddev < 0.5
    )


def test_torques_that_were_away_are_not_paired_with_the_posture_before(monkeypatch):
    """Feet carry what torques and the node before say, whichever node had torques last."""
    paired, share = [], LiftDetector._missing_share

    def noted(self, before, m):
        if before is not None and m.torque is not None:
            paired.append(m.stamp_ns - before.stamp_ns)
        return share(self, before, m)

    monkeypatch.setattr(LiftDetector, "_missing_share", noted)
    estimates_of("go2", lifted, seconds=1.0, untold=lambda t: 0.7 < t < 0.8)
    assert set(paired) == {10_000_000}


def test_a_robot_that_hangs_does_so_while_torques_fail():
    """Upright and quiet, which is all that attitude tells."""
    untold = lambda t: 1.6 < t < 2.5 or 10 * t % 3 < 0.95  # noqa: E731
    estimates, _ = estimates_of("go2", lifted, untold=untold)
    during = [e for t, _, e in estimates if AWAY[0] + 0.4 < t < BACK[0]]
    assert during and all(carried(e) for e in during)


def test_legs_that_are_pressed_to_their_stops_carry_nothing():
    """A lifted robot that reaches for the ground stretches its legs, with many times its weight."""
    calves, stop = slice(2, None, 3), Robot.load("go2").joint_range[1][2]

    def reaching(robot: Robot, standing: np.ndarray):
        def path(t: float) -> np.ndarray:
            q = lifted(robot, standing)(t)
            q[7:][calves] += (stop + 0.01 - q[7:][calves]) * away(t)
            return q

        return path

    def pressed(m: Measurement, t: float) -> Measurement:
        torque = m.torque.copy() if m.torque is not None else None
        if torque is not None and away(t) > 0.99:
            torque[calves] += 25.0
        return replace(m, torque=torque)

    estimates, robot = estimates_of("go2", reaching, spoilt=pressed)
    during = [e for t, _, e in estimates if AWAY[1] < t < BACK[0]]
    assert during and all(carried(e) for e in during)
    _, q, last = estimates[-1]
    assert not carried(last) and last.status.restarts == 2 and tilt_error(q, last) < 0.005
    assert abs(last.total_mass - robot.total_mass) < 2.0 * last.total_mass_stddev


def test_hanging_at_the_start():
    """On a gantry when the estimator is switched on, then let down."""
    estimates, robot = estimates_of(
        "go2",
        lambda robot, standing: lambda t: lifted(robot, standing)(max(t, AWAY[1])),
        lambda t: smooth(t, *BACK),
    )
    assert all(carried(e) for t, _, e in estimates if t < BACK[0])
    _, q, last = estimates[-1]
    assert (
        not carried(last)
        and tilt_error(q, last) < 0.005
        and np.linalg.norm(last.linear_velocity_base) < 0.02
    )
    assert abs(last.total_mass - robot.total_mass) < 2.0 * last.total_mass_stddev


def let_down_to(share: float):
    """Share that the feet carry: all, none while lifted, then this one."""
    return lambda t: 1.0 - smooth(t, AWAY[0] - 0.15, AWAY[0]) + share * smooth(t, BACK[1], 3.3)


def test_a_gantry_may_raise_it_evenly():
    """0.2 m/s up, which no IMU feels: the velocity had been zero, stated to 0.01 m/s."""

    def raised(robot: Robot, standing: np.ndarray):
        away = lifted(robot, standing)

        def path(t: float) -> np.ndarray:
            q = away(min(t, BACK[0]))
            q[2] += 0.2 * max(t - AWAY[1], 0.0)
            return q

        return path

    estimates, _ = estimates_of("go2", raised, share=lambda t: float(t < AWAY[0]), seconds=3.5)
    for t, _, e in estimates:
        if t > AWAY[1] + 0.3:
            stddev = math.sqrt(e.twist_covariance[2, 2])
            assert abs(e.linear_velocity_base[2] - 0.2) < 2.5 * stddev
    assert math.sqrt(estimates[-1][2].pose_covariance[2, 2]) > 0.1  # its height, m


def test_a_hand_that_lets_go_late():
    """What a hand still holds of a robot that has been put down is no mass that is gone."""
    held = let_down_to(0.8)
    estimates, robot = estimates_of(
        "go2", lifted, lambda t: held(t) + 0.2 * smooth(t, 4.3, 4.4), seconds=5.6
    )
    known = next(e for t, _, e in estimates if t > AWAY[0] - 0.2)
    after = [e for t, _, e in estimates if t > BACK[1]]
    assert all(abs(e.total_mass - known.total_mass) < 0.02 * robot.total_mass for e in after)
    assert not carried(after[-1]) and after[-1].bodies[0].observable


@pytest.mark.parametrize("load, seconds", [(1.3, 4.2), (0.8, 6.0)])
def test_a_load_that_is_another_one_after_the_lift(load, seconds):
    """Found at once where the feet carry more than before, after two seconds where less."""
    estimates, robot = estimates_of("go2", lifted, let_down_to(load), seconds=seconds)
    last = estimates[-1][-1]
    assert not carried(last)
    np.testing.assert_allclose(last.total_mass, load * robot.total_mass, rtol=0.05)


def test_feet_that_pull_at_the_ground_are_said_and_the_motion_is_not_valid():
    """Torques of the opposite sign: such feet would hang the robot from the ground."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    pose, last = standing_pose(robot, POSTURES["go2"]), None
    estimator = Estimator(robot, config, mocap=False)
    for m in perform(config, lambda t: pose, lambda t: 1.0, 1.0):
        last = estimator.update(m if m.torque is None else replace(m, torque=-m.torque)) or last
    (said,) = [s for s in last.status.sensors if s.name == "feet"]
    assert not said.ok and said.message.startswith(PULL)
    assert PULL in _implausible(last)
