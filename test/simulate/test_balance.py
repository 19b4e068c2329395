# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The humanoid keeps its balance, does what it is asked to, and does not shake.

Its recordings are worth estimating from.
"""

import numpy as np
import pinocchio as pin
import pytest
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.errors import RobotError
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot
from prime_estimation.simulate import Payload, run, simulate
from prime_estimation.simulate.bag import foot_wrenches
from prime_estimation.simulate.cone_forces import CONE, cone_forces
from prime_estimation.simulate.motion import MOTIONS, STEP, Command
from prime_estimation.simulate.stepping import StepPlan

SIDE = np.array([[0.0, 0.1], [0.0, -0.1]])


def test_the_divergent_component_diverges_from_the_centre_of_pressure():
    """xi' = w (xi - p) along the whole plan, and half a step swings from one foot to the other."""
    plan, h = StepPlan(STEP, SIDE, 0.7), 1e-4
    for t in np.arange(-0.5, 4.0, 0.0317):
        before, now, after = (plan.pressure(t + d, Command()) for d in (-h, 0.0, h))
        np.testing.assert_allclose(
            (after[1] - before[1]) / (2.0 * h), plan.rate * (now[1] - now[0]), atol=0.02
        )
    half = 0.5 * STEP.period
    left, right = (plan.pressure(20.0 * half + k * half, Command())[1] for k in (0, 1))
    np.testing.assert_allclose(left, [0.0, -right[1]], atol=1e-4)
    assert [plan.stance(t)[0] for t in (-0.1, 0.5 * half, 1.5 * half)] == [-1, 0, 1]
    assert all(
        plan.stance(k * half + 0.01)[1] < 0.0 < plan.stance((k + 1) * half - 0.01)[1]
        for k in range(4)
    )


def test_a_foot_catches_the_error_of_the_divergent_component():
    # on the left foot, the right one swings
    plan, t = StepPlan(STEP, SIDE, 0.7), 8.0 * STEP.period + 0.3
    remaining = 0.5 * STEP.period - 0.3
    xi = plan.pressure(t, Command())[1]
    np.testing.assert_allclose(plan.foothold(1, t, remaining, xi, Command()), SIDE[1], atol=2e-3)
    pushed = plan.foothold(1, t, remaining, xi + [0.02, -0.01], Command())
    np.testing.assert_allclose(
        pushed - SIDE[1], np.exp(plan.rate * remaining) * np.array([0.02, -0.01]), atol=2e-3
    )
    np.testing.assert_allclose(
        plan.foothold(1, t, remaining, xi + [0.0, 1.0], Command()), SIDE[1] + [0.0, 0.06], atol=1e-9
    )


def test_corner_forces_give_the_wrench_inside_the_cone():
    points = np.array([[0.1, 0.03, 0], [0.1, -0.03, 0], [-0.05, 0.03, 0], [-0.05, -0.03, 0]])
    J = np.vstack([np.hstack([np.eye(3), -pin.skew(p)]) for p in points])[:, :6].T
    S = np.diag([1.0, 1, 1, 4, 4, 4])
    wanted = J @ np.tile([5.0, -3.0, 80.0], 4)
    force = cone_forces(J, wanted, S)
    np.testing.assert_allclose(J @ force, wanted, atol=0.1)
    # centre of pressure beyond the edge
    tipping = cone_forces(J, np.array([0.0, 0, 300, 60, 0, 0]), S).reshape(-1, 3)
    assert tipping[:, 2].min() >= 0.0 and np.all(
        np.abs(tipping[:, 0]) + np.abs(tipping[:, 1]) <= CONE * tipping[:, 2] + 1e-9
    )


def shaking(recording) -> float:
    """Share of the joints' motion above 100 Hz, which sensors sampled at 500 Hz and truth at 250 Hz
    cannot follow."""
    power = np.abs(np.fft.rfft(recording.v[:, 6:] - recording.v[:, 6:].mean(axis=0), axis=0)) ** 2
    return power[np.fft.rfftfreq(len(recording.t), recording.dt) > 100.0].sum() / power.sum()


def steps_on_the_spot(recording) -> None:
    _, force, _ = foot_wrenches(recording, 4)
    on = force[:, :, 2] > 0.05 * 9.81 * recording.robot.total_mass
    touchdowns = (on[1:] & ~on[:-1]).sum(axis=0)
    assert on.any(axis=1).all() and np.all(touchdowns >= recording.t[-1] / STEP.period - 1.5)
    assert np.all(np.abs(on.mean(axis=0) - 0.57) < 0.06)
    assert np.ptp(recording.q[:, 0]) < 0.15 and np.ptp(recording.q[:, 1]) < 0.25
    model, data, tilts = recording.robot.model, recording.robot.model.createData(), []
    for k in range(0, len(recording.t), 40):
        pin.framesForwardKinematics(model, data, recording.q[k])
        for foot, loaded in zip(recording.robot.feet, on[k // 4]):
            if loaded:
                tilts.append(
                    np.linalg.norm(pin.log3(data.oMf[model.getFrameId(foot)].rotation)[:2])
                )
    assert np.sqrt(np.mean(np.square(tilts))) < 0.01 and max(tilts) < 0.1
    assert shaking(recording) < 0.02


@pytest.mark.slow
def test_sways_without_shaking():
    recording = simulate("g1", "sway", 3.0, seed=1)
    command = MOTIONS["sway"].script(1, 0.4)
    turned = np.array([command(t).body[3:] for t in recording.t[::50]])
    found = np.array(
        [pin.rpy.matrixToRpy(pin.Quaternion(q[3:7]).matrix()) for q in recording.q[::50]]
    )
    assert np.abs(turned).max() > 0.05 and np.sqrt(np.mean((turned - found)[20:] ** 2)) < 0.03
    assert shaking(recording) < 0.002
    assert (
        shaking(
            simulate("g1", "sway", 1.5, Payload(3.0, (0.1, 0.05, 0.2), link="torso_link"), seed=2)
        )
        < 0.002
    )


@pytest.mark.slow
def test_sways_where_the_weight_is_near_the_heel():
    """An H1, whose soles reach 4 cm behind its ankles and 14 in front."""
    recording = simulate("h1", "sway", 6.0)
    height = recording.q[:, 2]
    assert np.ptp(height) < 0.05 and height.min() > 0.9


def test_says_that_ankles_without_roll_do_not_step():
    with pytest.raises(RobotError, match="h1: stepping needs legs of 6 joints.* stand, sway"):
        simulate("h1", "step", 1.0)


@pytest.mark.slow
def test_steps_on_the_spot():
    steps_on_the_spot(simulate("g1", "step", 4.5))


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed, payload",
    [
        (1, None),
        (2, Payload(3.0, (-0.12, 0.0, 0.2), link="torso_link")),
        (3, Payload(5.0, (0.05, -0.05, 0.25), link="torso_link")),
        (4, Payload(3.0, (0.1, 0.05, 0.2), link="torso_link", t_on=4.0)),
        (5, Payload(2.0, (0.0, 0.0, 0.0), link="pelvis", t_off=6.0)),
    ],
)
def test_goes_on_stepping(seed, payload):
    steps_on_the_spot(simulate("g1", "step", 9.0, payload, seed=seed))


@pytest.mark.slow
def test_estimates_of_a_simulated_humanoid(tmp_path):
    """Velocity and payload come out as on the recorded walks."""
    bag = run(
        "g1",
        "step",
        6.0,
        tmp_path / "step",
        payload=Payload(2.9, (0.05, 0.02, 0.15), link="torso_link"),
        seed=1,
    )
    recording = simulate(
        "g1", "step", 6.0, Payload(2.9, (0.05, 0.02, 0.15), link="torso_link"), seed=1
    )
    config = Config.load("g1")
    estimator = Estimator(Robot(config.robot), config, mocap=False)
    nodes = measurements(bag, estimator.robot, config, 6.0, mocap=False)
    estimates = [e for m in nodes if (e := estimator.update(m)) is not None][100:]
    stamps = 1e-9 * (np.array([e.stamp_ns for e in estimates]) - 1_700_000_000_000_000_000)
    truth = np.stack([np.interp(stamps, recording.t, v) for v in recording.v[:, :3].T], axis=1)
    error = np.array([e.linear_velocity_base for e in estimates]) - truth
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.012
    assert abs(estimates[-1].total_mass - 36.24) < 0.25


def test_gaits_belong_to_their_robots():
    with pytest.raises(RobotError, match="two flat feet"):
        simulate("go2", "step", 1.0)
    with pytest.raises(RobotError, match="four point feet"):
        simulate("g1", "trot", 1.0)
