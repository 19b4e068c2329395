# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters that are put elsewhere from outside.

Window and arrival cost must agree on where that is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.choreography import POSTURE, perform, smooth, standing_pose, stood

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import GROUND, TERRAIN
from prime_estimation.contact.footholds import Footholds, Slope
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.ground import Ground
from prime_estimation.mhe.knowledge import keep_within
from prime_estimation.mhe.process_model import ProcessModel
from prime_estimation.mhe.slopes import EXACT_SLOPE
from prime_estimation.mhe.world_motion import moved_state
from prime_estimation.robot import Robot
from prime_estimation.sensors.frames import WorldMotion
from prime_estimation.types import PoseSample


@pytest.fixture
def moved():
    """Ground and window of a robot that stands, whose head has moved away from the arrival cost's
    reference."""
    estimator, _ = stood(0.7)
    w = estimator.window
    dx = np.zeros(w.problem.ndx)
    dx[2] = 0.003
    for name, change in (("height", 0.007), ("friction", 0.05)):
        dx[w.problem.columns(name)] = change
    w.xs = [w.problem.state.integrate(x, dx) for x in w.xs]
    return Ground(estimator.problem), w


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("friction", GROUND.least_friction, GROUND.most_friction),
        ("softness", GROUND.hardest, GROUND.softest),
    ],
)
def test_what_the_contact_law_has_is_put_to_its_bound(moved, name, least, most):
    _, window = moved
    for bound, beyond in ((np.log(most), 0.2), (np.log(least), -0.2)):
        window.set_parameter(name, np.array([bound + beyond]))
        keep_within(window, name, least, most)
        prior = window.problem.state.integrate(window.arrival.reference, window.arrival.mean)
        for x in (*window.xs, prior):
            assert window.problem.parameter(x, name)[0] == pytest.approx(bound, abs=1e-12)


def test_ground_is_put_under_the_foot_of_head_and_arrival_cost(moved):
    """The height of the ground is that of the base plus what the leg says.

    The two states differ in it by what they differ in the base.
    """
    ground, window = moved
    first, shift = window.problem.columns("height").start, window.problem.nq - window.problem.nv
    before = [x.copy() for x in window.xs]
    ground._place(window, np.array([1, 2]), np.array([0.0, 0.02, -0.01, 0.0]))
    head, reference = window.xs[0], window.arrival.reference
    for foot, above in ((1, 0.02), (2, -0.01)):
        column = first + shift + foot
        assert head[column] - reference[column] == pytest.approx(head[2] - reference[2], abs=1e-12)
        assert all(
            x[column] == pytest.approx(was[column] + above, abs=1e-12)
            for x, was in zip(window.xs, before)
        )


def test_ground_that_turns_with_its_world_holds_the_feet_as_before(moved):
    """The origin of motion capture is turned half round while a robot stands on a slope."""
    ground, window = moved
    slope, motion = np.array([0.15, 0.0]), WorldMotion(np.pi, np.zeros(3))
    window.set_parameter("slope", np.tile(slope, 4))
    for foot in range(4):
        ground._slopes.lay(foot, Slope(slope, TERRAIN.slope))
    window.xs = [moved_state(window.problem, x, motion) for x in window.xs]
    ground.move(motion)
    ground._let_creep(window)
    assert not ground.creep.any


def test_ground_comes_to_a_foot_that_carries():
    """A ground that is thought too low under a loaded foot is put under it within two nodes."""
    estimator, to_come = stood(0.9, to_come=5)
    window, ground = estimator.window, estimator.horizon.ground
    right = window.problem.parameter(window.xs[-1], "height").copy()
    ground._place(window, np.array([1]), np.array([0.0, -0.02, 0.0, 0.0]))
    estimates = [estimator.update(m) for m in to_come]
    found = window.problem.parameter(window.xs[-1], "height")
    assert found[1] == pytest.approx(right[1], abs=0.003)
    assert estimates[-1].contacts[1].force_world[2] == pytest.approx(
        estimates[-1].contacts[0].force_world[2], rel=0.3
    )


def test_ground_stays_below_a_foot_that_is_lifted():
    """A foot in the air that still counts as loaded for a moment does not take its ground along."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator, q = Estimator(robot, config, mocap=True), standing_pose(robot, POSTURE)

    def path(t):
        lifted = q.copy()
        lifted[2] += 0.1 * smooth(t, 0.7, 0.8)
        return lifted

    for m in perform(config, path, lambda t: float(t < 0.7), 0.8):
        estimator.update(m)
    heights = estimator.problem.parameter(estimator.window.xs[-1], "height")
    assert heights.max() < 0.01


@pytest.fixture
def sliding():
    """Estimator and measurements of a robot that stands while its right front foot slides forward,
    without friction, though the others hold as before."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    thigh = robot.model.joints[robot.model.getJointId("FR_thigh_joint")].idx_q
    stands = standing_pose(robot, POSTURE)

    def path(t):
        q = stands.copy()
        q[thigh] -= 0.12 * smooth(t, 0.7, 1.1)
        return q

    return Estimator(robot, config, mocap=False), perform(config, path, lambda t: 1.0, 1.2)


def test_a_foot_that_slides_does_not_take_the_base_along(sliding):
    estimator, measurements = sliding
    crept, speeds = np.zeros(4, bool), []
    for m in measurements:
        estimate = estimator.update(m)
        if estimate is not None:
            crept |= estimator.horizon.ground.creep.velocity > 0.0
            speeds.append(np.linalg.norm(estimate.linear_velocity_base))
    assert crept.tolist() == [False, True, False, False]
    assert max(speeds) < 0.015


def test_a_foot_that_creeps_alarms_no_payload_detector(sliding):
    estimator, measurements = sliding
    for m in measurements:
        estimator.update(m)
    assert estimator.window.creeping
    assert estimator.monitors.payload.alarms == 0


def mass_after_slide(sliding, share: float) -> tuple[float, np.ndarray]:
    """Mass [kg] after a foot has slid whose leg's torques have a share of error meanwhile.

    And the standard deviation of the vertical force on the base at the newest nodes [N].
    """
    config, robot = sliding[0].config, sliding[0].problem.robot
    q = standing_pose(robot, POSTURE)
    estimator, wide = Estimator(robot, config, mocap=True), []
    own = np.array([name.startswith("FR") for name in robot.joint_names])
    for m in sliding[1]:
        m = replace(m, readings={"mocap": (PoseSample(m.stamp_ns, q[:3], q[3:7]),)})
        if wide and estimator.window.creeping:
            m = replace(m, torque=m.torque * np.where(own, 1.0 + share, 1.0))
        if (estimate := estimator.update(m)) is not None:
            wide.append(1.0 / estimator.window.inputs[-2].nominal_force[2])
    return estimate.total_mass, np.array(wide)


def test_mass_is_not_learned_from_a_foot_that_creeps(sliding, monkeypatch):
    """What its force lacks lasts as long as it slides: as noise it would be knowledge of mass."""
    base = sliding[0].config.noise.base_force
    (right, wide), (wrong, _) = mass_after_slide(sliding, 0.0), mass_after_slide(sliding, -0.3)
    assert wide.min() == pytest.approx(base) and wide.max() == pytest.approx(TERRAIN.lasting * base)
    monkeypatch.setattr(ProcessModel, "expect_lasting_force", lambda *_: None)
    before, learned = mass_after_slide(sliding, 0.0)[0], mass_after_slide(sliding, -0.3)[0]
    assert abs(wrong - right) < min(0.3 * abs(learned - before), 0.003 * right)


def test_a_strained_window_lets_the_foot_creep_that_does_not_fit():
    """A plane under one foot is suddenly another one: the window leaves it, not the robot."""
    estimator, _ = stood(0.8)
    window, ground = estimator.window, estimator.horizon.ground
    assert window.strain() < 1.5
    nv = window.problem.nv
    before = [u.copy() for u in window.us]
    before[3][nv + 6] = 20.0 * TERRAIN.slack / window.inputs[3].nominal_xi[6]
    assert ground.loosen(window, before)
    np.testing.assert_array_equal(ground.creep.velocity > 0.0, [False, False, True, False])
    wide = [1.0 / given.nominal_xi.reshape(4, 3) for given in window.inputs[:-1]]
    assert all((w[2] > TERRAIN.creep).all() and (w[[0, 1, 3]] < TERRAIN.creep).all() for w in wide)
    assert not ground.loosen(window, before)  # it creeps already


@pytest.mark.parametrize(("rough", "softness"), [(False, 0.0), (True, 0.0), (True, 1.5)])
def test_a_new_height_is_as_uncertain_as_the_ground_is_rough(standing, rough, softness):
    """Two millimetres from the foothold before: the same floor, another stone, or mud."""
    estimator, last = standing
    ground, window = estimator.horizon.ground, estimator.window
    window.set_parameter("softness", softness)
    height = window.problem.columns("height").start
    known = window.problem.parameter(window.xs[-1], "height").copy()
    for k, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)) * 2):
        ground._footholds.add(np.array([x, y, 0.03 * (k % 3) * rough]))
    window.set_parameter("height", known - 0.002)
    before = window.arrival.covariance[height, height]
    ground.stance.loaded[0] = False
    for _ in ("touches down", "rests"):
        ground.update(window, estimator.monitors.assess(last, window))
    after = window.arrival.covariance[height, height]
    lower = known - window.problem.parameter(window.xs[-1], "height")
    np.testing.assert_allclose(lower[1:], 0.002, atol=0.0005)
    # a floor's height is that of before, as the heights of the others tell it
    assert 0.0015 < lower[0] < 0.0025 if rough else lower[0] < 0.001
    # of what lies within the gate, at most, where it touches down and where it rests
    spread = GROUND.gate * np.sqrt(2.0 / 3.0) * np.exp(-GROUND.firm * softness)
    spread = spread if rough else (0.002 - lower[0]) ** 2 / GROUND.gate
    assert np.sqrt(after - before) == pytest.approx(spread, rel=0.05)
    assert window.unevenness == pytest.approx(rough + softness, abs=0.05)


def test_before_there_are_footholds_ground_is_where_a_foot_comes_down(standing):
    estimator, last = standing
    ground, window = estimator.horizon.ground, estimator.window
    known = window.problem.parameter(window.xs[-1], "height").copy()
    window.set_parameter("height", known - 0.002)
    ground._footholds = Footholds(4)
    ground.stance.loaded[0] = False
    for _ in ("touches down", "rests"):
        ground.update(window, estimator.monitors.assess(last, window))
    lower = known - window.problem.parameter(window.xs[-1], "height")
    np.testing.assert_allclose(lower, [0.0, 0.002, 0.002, 0.002], atol=0.0005)


@pytest.mark.parametrize("measured", [False, True])
def test_a_foot_that_lands_on_a_floor_may_find_a_slope(standing, measured):
    """But not where cost-to-come holds the place, which a slope about a place would tell."""
    estimator, last = standing
    ground, window = estimator.horizon.ground, estimator.window
    for x, y in ((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)) * 2:
        ground._footholds.add(np.array([x, y, 0.0]))
    assert ground._footholds.on_floor
    window.place.measured = measured
    ground.stance.loaded[0] = False
    for _ in ("touches down", "rests"):
        ground.update(window, estimator.monitors.assess(last, window))
    slopes = window.problem.columns("slope")
    stddev = np.sqrt(np.diag(window.arrival.covariance)[slopes])
    np.testing.assert_allclose(stddev[:2], EXACT_SLOPE if measured else TERRAIN.level, rtol=1e-6)
    np.testing.assert_allclose(window.problem.parameter(window.xs[-1], "slope")[:2], 0.0)
