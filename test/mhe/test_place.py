# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motions of the world: no residual changes where nothing measures place and heading."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, random_point, robot
from helpers.nodes import exact_dynamics, random_reading

from prime_estimation import _core
from prime_estimation.contact.points import contact_points
from prime_estimation.mhe.measurement_model import MeasurementModel
from prime_estimation.mhe.place import RISE, TURN, WAY, Place
from prime_estimation.mhe.problem import Problem

STEP = 1e-6
SENSORS = ("external_odometry", "imu_orientation", "foot_force")


def feet_at(of, x) -> np.ndarray:
    """(nf, 2) places of the feet [m]."""
    model = of.robot.model
    data = model.createData()
    pin.forwardKinematics(model, data, of.layout.q(x))
    return np.array([data.oMi[p.joint].act(p.position)[:2] for p in contact_points(of.robot)])


def stood(seed: int):
    """A node on slopes, with a reading of every sensor; its problem, state and control."""
    rng, of = np.random.default_rng(seed), Problem(robot("go2"), config("go2"), SENSORS)
    p = random_point(of, rng, "stance")
    x = np.concatenate([p.q, p.v, np.zeros(of.np)])
    of.layout.p(x)[: len(p.parameters)] = p.parameters
    of.parameter(x, "slope")[:] = 0.3 * rng.normal(size=2 * of.dynamics.nfeet)
    for frame in of.measurements.frames:
        of.parameter(x, frame.block)[:] = 0.2 * rng.normal(size=of.parameter(x, frame.block).size)
    dynamics = exact_dynamics(of)
    dynamics.anchor = of.dynamics.anchor = feet_at(of, x)
    core = MeasurementModel(dynamics, of.mount, of.sensors, of.measurements.zeros).core
    node = _core.ActionMeasurement(of.state, core, False)
    for name in dict.fromkeys(of.sensors.residuals):
        value, age = random_reading(name, rng, p.q, len(of.robot.feet))
        node.input.set(name, value, np.ones(len(node.input.weight(name))), age)
    given = node.input
    given.weight_force, given.weight_xi = np.ones(of.nv), np.ones(of.dynamics.nxi)
    odometry = of.measurements.trackers["external_odometry"]
    odometry._nominal = pin.SE3(np.eye(3), given.value("external_odometry")[:3])
    return of, node, x, np.concatenate([rng.normal(size=of.nv), np.zeros(of.dynamics.nxi)])


@pytest.mark.parametrize("seed", range(4))
def test_no_residual_tells_a_motion_of_the_world(seed):
    of, node, x, u = stood(seed)
    assert {frame.block for frame in of.measurements.frames} == {
        "orientation_frame",
        "odometry_frame",
    }
    motions, data = Place(of, False).motions(x), node.createData()
    node.calc(data, x, u)
    world = np.array(data.r)
    turned = np.zeros((3, len(world)))
    for name in ("external_odometry", "orientation"):  # errors in axes of the world, which turn
        row = of.measurements.rows[name][0].start
        turned[2, row : row + 3] = np.cross([0.0, 0.0, 1.0], world[row : row + 3])
    for motion, expected in zip(motions.T, turned):
        ends = []
        for step in (STEP * motion, -STEP * motion):
            node.calc(data, of.state.integrate(x, step), u)
            ends.append((np.array(data.r), np.array(data.xnext)))
        (r, after), (r_back, before) = ends
        np.testing.assert_allclose((r - r_back) / (2.0 * STEP), expected, atol=1e-5)
        moved = of.state.diff(before, after)[of.nv : 2 * of.nv] / (2.0 * STEP)
        np.testing.assert_allclose(moved, 0.0, atol=1e-5)  # velocities are those of the base


def test_axes_undo_the_motions():
    of, _, x, _ = stood(5)
    motions = Place(of, False).motions(x)[:6]
    np.testing.assert_allclose(motions.T @ motions, np.eye(3), atol=1e-12)


class Arrival:
    """Notes what is released, and knows place and heading."""

    displacement = np.zeros((3, 3))

    def release(self, *_):
        pass

    def restore(self, motions):
        self.restored = motions

    def inflate_covariance(self, noise):
        self.inflated = noise


def heading(x) -> float:
    return pin.rpy.matrixToRpy(pin.Quaternion(x[3:7]).toRotationMatrix())[2]


def once_round(corners: int = 4, side: float = 3.0, steps: int = 200):
    """States on a way round a level polygon, turning to the left at its corners."""
    of, _, x, _ = stood(1)
    at, yaw, states = np.array([2.0, -1.0]), 0.7, []
    for _ in range(corners):
        moves = [(side / steps, 0.0)] * steps + [(0.0, 2 * np.pi / corners / steps)] * steps
        for move, turn in moves:
            yaw += turn
            at = at + move * np.array([np.cos(yaw), np.sin(yaw)])
            x = x.copy()
            x[:2] = at
            x[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, -0.2, yaw)).coeffs()
            states.append(x)
    return of, states


def test_scales_of_way_and_turn_are_not_known():
    """Ways that are WAY too long, or turns TURN too wide, end one deviation beside the truth."""
    of, states = once_round()
    place, arrival = Place(of, False), Arrival()
    for before, x in zip(states, states[1:]):
        place.leave(arrival, before, x)
    # the same way by a machine that turns too far; too long a step closes the square all the same
    wrong, yaw = states[0][:2].copy(), 0.0
    for before, x in zip(states, states[1:]):
        turn = heading(x) - heading(before)
        yaw += TURN * (np.remainder(turn + np.pi, 2 * np.pi) - np.pi)
        wrong += np.array([[1.0, -yaw], [yaw, 1.0]]) @ (x[:2] - before[:2])
    beside = np.array([*(wrong - states[-1][:2]), yaw])
    scale = WAY * np.array([*(states[-1][:2] - states[0][:2]), 0.0])
    P = place.covariance(arrival, states[-1], states[-1])
    own = np.outer(beside, beside) + np.outer(scale, scale)
    motions = place.motions(states[-1])[:6]
    np.testing.assert_allclose(motions.T @ P @ motions, own, atol=1e-3 * abs(own).max())
    assert np.sqrt(own[2, 2]) == pytest.approx(TURN * 2 * np.pi, rel=0.01)
    way = sum(np.linalg.norm(x[:2] - before[:2]) for before, x in zip(states, states[1:]))
    up = np.concatenate([pin.Quaternion(states[-1][3:7]).toRotationMatrix()[2], np.zeros(3)])
    assert up @ P @ up == pytest.approx((RISE * way) ** 2, rel=1e-3)

    place.found(arrival, states[-1])
    told = arrival.inflated @ arrival.inflated.T
    np.testing.assert_allclose(told[:6, :6], P, atol=1e-9)
    assert not place.covariance(arrival, states[-1], states[-1]).any()


@pytest.mark.parametrize(
    ("half", "turned"),
    [((0.0, 0.0, 1.0, 0.0), np.pi), ((0.0, 0.0, -1.0, 0.0), np.pi), ((1.0, 0.0, 0.0, 0.0), 0.0)],
)
def test_half_a_turn_within_a_node(half, turned):
    """About the vertical, to either side, or about a level axis: it falls upon its back."""
    of, _, x, _ = stood(1)
    place, before, after = Place(of, False), x.copy(), x.copy()
    before[3:7], after[3:7] = (0.0, 0.0, 0.0, 1.0), half
    place.leave(Arrival(), before, after)
    told = place.displacement(Arrival(), after, after)
    np.testing.assert_allclose(told, np.diag([0.0, 0.0, (TURN * turned) ** 2]), atol=1e-15)


def test_a_bias_that_nothing_tells_turns_the_way():
    """A gyro that is off by one deviation all the time ends one deviation beside the truth."""
    of, states = once_round()
    place, arrival = Place(of, False), Arrival()
    alone, other = Place(of, False), Arrival()
    place.drift = 0.02
    for before, x in zip(states, states[1:]):
        place.leave(arrival, before, x)
        alone.leave(other, before, x)
    wrong, yaw = states[0][:2].copy(), 0.0
    for before, x in zip(states, states[1:]):
        step = x[:2] - before[:2]
        wrong += step + yaw * np.array([-step[1], step[0]])
        yaw += place.drift * of.dt
    x = states[-1]
    beside = np.array([*(wrong - x[:2]), yaw])
    added = place.covariance(arrival, x, x) - alone.covariance(other, x, x)
    motions = place.motions(x)[:6]
    own = np.outer(beside, beside)
    np.testing.assert_allclose(motions.T @ added @ motions, own, atol=1e-3 * abs(own).max())


def stayed(nodes: int, **doubts: float):
    """Place of a robot that stays for so many nodes, its arrival cost and state, seconds."""
    of, (x, *_) = once_round(steps=20)
    place, arrival = Place(of, False), Arrival()
    for name, value in doubts.items():
        setattr(place, name, value)
    for _ in range(nodes):
        place.leave(arrival, x, x)
    return place, arrival, x, nodes * of.dt


def test_ground_that_rises_is_a_height_that_is_not_known():
    """An error of one sign: its deviation grows with time, for as long as no sensor tells it."""
    rising = 0.02
    place, arrival, x, seconds = stayed(50, rising=rising)
    up = np.concatenate([pin.Quaternion(x[3:7]).toRotationMatrix()[2], np.zeros(3)])
    P = place.covariance(arrival, x, x)
    assert up @ P @ up == pytest.approx((rising * seconds) ** 2, rel=1e-9)
    assert place.velocity_variance() == rising**2
    place.unfelt = 0.1
    assert place.velocity_variance() == pytest.approx(rising**2 + 0.01)
    place.found(arrival, x)
    assert place.velocity_variance() == 0.0


def test_feet_that_move_where_they_carry_may_carry_the_base_along():
    """Along the ground, as far in each direction as such feet move in that time."""
    dragged = 0.3
    place, arrival, x, seconds = stayed(50, dragged=dragged)
    far = (dragged * seconds) ** 2
    np.testing.assert_allclose(place.displacement(arrival, x, x), np.diag([far, far, 0.0]))
    R = pin.Quaternion(x[3:7]).toRotationMatrix()
    P = R @ place.covariance(arrival, x, x)[:3, :3] @ R.T
    np.testing.assert_allclose(P, np.diag([far, far, 0.0]), atol=1e-12)
    V = R @ place.drag(R[2]) @ R.T
    np.testing.assert_allclose(V, np.diag([dragged**2, dragged**2, 0.0]), atol=1e-12)
    place.found(arrival, x)
    assert not place.drag(R[2]).any() and not place.covariance(arrival, x, x).any()


def test_a_place_that_is_found_and_lost_again():
    """Only the way since then counts."""
    (of, states), arrival = once_round(steps=20), Arrival()
    place = Place(of, False)
    for before, x in zip(states, states[1:]):
        place.leave(arrival, before, x)
    place.found(arrival, states[-1])
    place.lost()
    assert not place.measured
    assert not place.covariance(arrival, states[-1], states[-1]).any()
    step = states[-1].copy()
    step[:2] += [1.0, 0.0]
    place.leave(arrival, states[-1], step)
    P = place.displacement(arrival, step, step)
    np.testing.assert_allclose(P, np.diag([WAY**2, 0.0, 0.0]), atol=1e-12)


def test_the_head_is_beside_its_place_by_the_heading_of_the_first_state():
    """What is not known of a start 2 m behind and 1 m beside, and of a turn there."""
    of, _, x, _ = stood(1)
    ahead, place = x.copy(), Place(of, False)
    ahead[:2] += [2.0, 1.0]
    start = np.diag([0.01, 0.02, 0.0]) ** 2
    place.go_on(start, risen=0.05)
    told = place.displacement(Arrival(), x, ahead)
    np.testing.assert_allclose(told, start, atol=1e-15)
    place.go_on(start + np.diag([0.0, 0.0, 0.1**2]), risen=0.05)
    turned = np.array([-0.1, 0.2, 0.1])
    told = place.displacement(Arrival(), x, ahead)
    np.testing.assert_allclose(told, start + np.outer(turned, turned), atol=1e-15)
    up = np.concatenate([pin.Quaternion(ahead[3:7]).toRotationMatrix()[2], np.zeros(3)])
    P = place.covariance(Arrival(), x, ahead)
    assert up @ P @ up == pytest.approx(0.05**2)


def test_a_start_whose_place_is_measured_forgets_how_high_it_was():
    of, _, x, _ = stood(1)
    place = Place(of, True)
    place.go_on(np.eye(3), risen=0.05)
    assert place.risen == 0.0
    assert not place.covariance(Arrival(), x, x).any()
    assert not place.displacement(Arrival(), x, x).any()
