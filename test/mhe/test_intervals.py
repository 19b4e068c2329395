# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What comes on top of the posterior: it fades, grows with the ground, and knows what is up."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.config.policies import INTERVAL
from prime_estimation.mhe.intervals import (
    ForceIntervals,
    Intervals,
    creep_covariance,
    sole_tilt,
    untold_velocity,
)
from prime_estimation.robot import Robot
from prime_estimation.sensors.mocap import ROLL, SWAY
from prime_estimation.types import Measurement


def measurement(**fields) -> Measurement:
    return Measurement(stamp_ns=0, position=None, velocity=None, gyro=None, **fields)


def test_a_jump_of_the_specific_force_marks_the_velocity_for_a_few_nodes():
    intervals = Intervals(0.01)
    quiet = measurement(accelerometer_change=0.05)
    before = intervals.velocity(quiet, 0.0)
    after = [intervals.velocity(measurement(accelerometer_change=2.0), 0.0)]
    after += [intervals.velocity(quiet, 0.0) for _ in range(20)]
    assert after[1] > 0.9 * INTERVAL.shock_decay * 2.0 * INTERVAL.shock * 0.01
    assert np.all(np.diff(after) <= 0.0)
    assert after[-1] == pytest.approx(before)


def test_a_foot_that_lands_marks_its_force_for_a_few_nodes():
    """A load that grows at a constant rate has no second difference."""
    intervals, lands = ForceIntervals(2), [0.0, 0.0, 60.0, 70.0, *[80.0] * 30]
    rises, stands = 2.0 * np.arange(len(lands)), np.zeros(2, bool)
    variances = np.array(
        [
            intervals.variances(np.array([0.0, 0.0, up, 0.0, 0.0, on]), stands)
            for up, on in zip(lands, rises)
        ]
    ).reshape(-1, 2, 3)
    landing = np.sqrt(variances[:, 0])
    np.testing.assert_allclose(landing[2], INTERVAL.force_change * 60.0 * np.array([0.5, 0.5, 1]))
    assert landing[3, 2] == pytest.approx(INTERVAL.force_change * 50.0)
    assert (np.diff(landing[4:, 2]) < 0.0).all() and landing[-1, 2] < 0.01
    assert variances[20:, 1].max() < 1e-4


def test_torques_read_late_leave_a_share_of_what_bends_the_force_unknown():
    """`l (1 + l)/2` of the second difference: what a straight line ahead misses of a parabola."""
    intervals, force, still = ForceIntervals(1), np.array([0.0, 0.0, 60.0]), np.zeros(1, bool)
    variances = intervals.variances(force, still, late=0.5)
    expected = INTERVAL.force_change**2 + 0.375**2
    assert variances[2] == pytest.approx(expected * 60.0**2)


def test_friction_differs_from_spot_to_spot_under_a_foot_that_slides():
    force, still = np.array([3.0, 0.0, 50.0]), np.zeros(1, bool)
    stands, slides = (ForceIntervals(1).variances(force, which) for which in (still, ~still))
    expected = [(50.0 * INTERVAL.force_slip) ** 2] * 2 + [0.0]
    np.testing.assert_allclose(slides - stands, expected)


def test_vibration_is_felt_for_half_a_step():
    assert Intervals(0.01).velocity(measurement(), 2.0) == pytest.approx((0.005 * 2.0) ** 2)


def test_feet_creep_on_soft_ground():
    intervals = Intervals(0.01)
    hard, soft = (intervals.velocity(measurement(), 0.0, softness) for softness in (0.0, 3.0))
    assert soft - hard == pytest.approx((3.0 * INTERVAL.soft) ** 2)


@pytest.mark.parametrize("unevenness", [0.0, 0.5, 1.0])
def test_tilt_and_heading_are_those_of_the_world(unevenness):
    """A robot on its side turns about another of its axes when its heading changes."""
    side = pin.Quaternion(pin.utils.rotate("x", 0.5 * np.pi))
    upright, lying = (
        creep_covariance(unevenness, q.coeffs()) for q in (pin.Quaternion.Identity(), side)
    )
    tilt = INTERVAL.tilt + (unevenness == 1.0) * (INTERVAL.tilt_uneven - INTERVAL.tilt)
    if unevenness != 0.5:
        np.testing.assert_allclose(
            np.sqrt(np.diag(upright)[3:]), [tilt, tilt, INTERVAL.heading], rtol=1e-9
        )
    turned = side.toRotationMatrix().T @ upright[3:, 3:] @ side.toRotationMatrix()
    np.testing.assert_allclose(lying[3:, 3:], turned, atol=1e-18)
    assert np.linalg.eigvalsh(lying).min() > 0.0


def test_the_heading_is_less_certain_on_soft_ground_but_not_on_uneven_ground():
    level = pin.Quaternion.Identity().coeffs()
    floor, uneven, soft = (creep_covariance(u, level)[5, 5] for u in (0.0, 1.0, 3.0))
    assert uneven == pytest.approx(floor)
    assert soft - uneven == pytest.approx((2.0 * INTERVAL.heading_soft) ** 2)


def test_roll_and_pitch_are_less_certain_on_soft_ground_than_on_any_hard_one():
    level = pin.Quaternion.Identity().coeffs()
    soft = creep_covariance(3.0, level)[3, 3]
    i = INTERVAL
    as_hard = i.tilt**2 + 9.0 * (i.tilt_uneven**2 - i.tilt**2)
    assert soft - as_hard == pytest.approx((2.0 * i.tilt_soft) ** 2)


def test_motion_capture_tells_the_tilt_where_no_floor_does():
    level, i = pin.Quaternion.Identity().coeffs(), INTERVAL
    floor, uneven = (creep_covariance(u, level, poses=i.place_poses)[3, 3] for u in (0.0, 1.0))
    assert floor == pytest.approx(i.tilt**2) and uneven == pytest.approx(i.tilt_tracked**2)
    assert uneven < creep_covariance(1.0, level)[3, 3]


def test_noisy_or_rare_poses_are_averaged_for_longer():
    """The place is stated wider by the root of their density, above that of usual poses."""
    level, usual = pin.Quaternion.Identity().coeffs(), INTERVAL.place_poses
    few, more, many = (creep_covariance(0.0, level, poses=s * usual) for s in (0.1, 1.0, 9.0))
    np.testing.assert_allclose(np.diag(many)[:3], 9.0 * np.diag(more)[:3])
    np.testing.assert_array_equal(many[3:], more[3:])
    np.testing.assert_array_equal(few, more)


def test_place_and_heading_are_less_certain_while_hands_carry_what_the_torso_is_given():
    level = pin.Quaternion.Identity().coeffs()
    more = creep_covariance(0.0, level, elsewhere=True) - creep_covariance(0.0, level)
    place, heading = INTERVAL.elsewhere_place**2, INTERVAL.elsewhere_heading**2
    np.testing.assert_allclose(more, np.diag([place] * 3 + [0, 0, heading]), atol=1e-18)


def test_more_feet_that_slide_than_usual_leave_the_place_uncertain():
    level, usual = pin.Quaternion.Identity().coeffs(), INTERVAL.slip_usual
    none = creep_covariance(0.0, level)
    np.testing.assert_array_equal(creep_covariance(0.0, level, slipping=0.9 * usual), none)
    more = creep_covariance(0.0, level, slipping=usual + 0.2) - none
    place = (0.2 * INTERVAL.slip_place) ** 2
    np.testing.assert_allclose(more, np.diag([place] * 3 + [0, 0, 0]), atol=1e-18)


def test_late_poses_are_off_by_what_accelerates_meanwhile():
    """Place and heading, by the square of the delay."""
    level, late = pin.Quaternion.Identity().coeffs(), 0.05
    more = creep_covariance(0.0, level, late=late) - creep_covariance(0.0, level)
    place, heading = (SWAY * late**2) ** 2, (ROLL * late**2) ** 2
    np.testing.assert_allclose(more, np.diag([place] * 3 + [0, 0, heading]), atol=1e-18)


@pytest.mark.parametrize(("robot", "joints"), [("go2", 0), ("g1", 6)])
def test_the_zeros_of_both_legs_are_in_the_tilt_of_a_base_on_flat_feet(robot, joints):
    variance = sole_tilt(Robot.load(robot), 0.002)
    assert variance == pytest.approx(0.5 * joints / 2 * 0.002**2)  # mean of two legs
    level = pin.Quaternion.Identity().coeffs()
    more = creep_covariance(0.0, level, zeros=variance) - creep_covariance(0.0, level)
    np.testing.assert_allclose(more, np.diag([0, 0, 0, variance, variance, 0]), atol=1e-18)


def test_without_torque_nothing_tells_the_tilt_but_an_accelerometer_with_a_bias():
    level, intervals = pin.Quaternion.Identity().coeffs(), Intervals(0.01)
    told, untold = (creep_covariance(0.0, level, weighed) for weighed in (True, False))
    np.testing.assert_allclose(np.diag(untold - told)[3:5], INTERVAL.untold_tilt**2, rtol=1e-9)
    assert untold[5, 5] == pytest.approx(told[5, 5])
    told, untold = (intervals.velocity(measurement(), 0.0, 0.0, by) for by in (0.0, 0.02))
    assert untold - told == pytest.approx(0.02**2)


def test_what_no_torque_tells_of_the_velocity_grows_with_the_speed():
    """Of a robot that no motion capture sees."""
    assert untold_velocity(0.5, 1.0, tracked=True) == INTERVAL.untold_velocity
    assert untold_velocity(0.0, 1.0, tracked=False) == INTERVAL.untold_velocity
    for share in (1.0, 0.1):  # no torque at all, none of one node in ten
        by_speed = untold_velocity(0.5, share, tracked=False) ** 2 - INTERVAL.untold_velocity**2
        assert by_speed == pytest.approx((0.5 * share * INTERVAL.untold_speed) ** 2)
