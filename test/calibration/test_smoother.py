# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, shipped_noise, sway, swaying, swinging

from prime_estimation.calibration.fusion import fuse
from prime_estimation.calibration.offsets import Offsets
from prime_estimation.calibration.problem import KinematicProblem
from prime_estimation.calibration.rotations import rotate
from prime_estimation.calibration.single import calibrate_run
from prime_estimation.calibration.smoother import smooth
from prime_estimation.calibration.trajectory import (
    FEET,
    POSITION,
    ROTATION,
    VELOCITY,
    initial_offsets,
)
from prime_estimation.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def machine():
    robot = go2_on_points()
    truth = bent(robot)
    return robot, truth, sway(robot, truth, 400)


def test_offsets_of_a_bent_machine_come_back(machine):
    """10 to 30 mm and several degrees, without noise: what is left is the prior's pull."""
    robot, truth, recording = machine
    nominal = initial_offsets(recording, Offsets.nominal(robot))
    found = fuse(
        [calibrate_run(recording, robot, nominal, shipped_noise(), ("feet", "imu", "mocap"))]
    )
    error = found.offsets.values(truth)[found.free]
    assert np.all(np.abs(error) < 0.2 * np.sqrt(np.diag(found.statistical)) + 1e-4)
    at = truth.columns
    assert np.abs(error[at["feet"]]).max() < 5e-4
    rows = found.rows(robot)
    assert rows[0]["name"] == "FL_foot x" and rows[0]["unit"] == "m"
    assert rows[0]["value"] == pytest.approx(truth.feet[0, 0], abs=5e-4)


@pytest.mark.filterwarnings("error")
def test_noise_alone_asks_for_no_offsets(machine):
    robot, truth, recording = machine
    run = calibrate_run(recording, robot, truth, shipped_noise(), ())
    found = fuse([run, run])
    assert not len(found.deviation) and found.rows(robot) == []


@pytest.fixture(scope="module")
def on_soles():
    robot = swaying("g1")
    truth = bent(robot)
    return robot, truth, sway(robot, truth, 400)


def test_ankles_over_soles_come_back(on_soles):
    """10 to 30 mm of the shanks, of the IMU and of the tracked body, without noise."""
    robot, truth, recording = on_soles
    nominal = initial_offsets(recording, Offsets.nominal(robot))
    noise = shipped_noise("g1")
    found = fuse([calibrate_run(recording, robot, nominal, noise, ("feet", "imu", "mocap"))])
    error = found.offsets.values(truth)[found.free]
    assert np.all(np.abs(error) < 0.2 * np.sqrt(np.diag(found.statistical)) + 1e-4)
    rows = found.rows(robot)
    assert rows[0]["name"] == "left_ankle_pitch_joint x" and rows[0]["observable"]
    assert rows[0]["value"] == pytest.approx(truth.feet[0, 0], abs=1e-3)


def test_a_sole_that_rolls_does_not_lie(on_soles):
    """It rocks for half a second, as over its toes: it stands before and after, as the other does.

    A point in its middle hardly moves meanwhile.
    """
    robot, truth, recording = on_soles
    ankle, rate = robot.joint_names.index("left_ankle_pitch_joint"), recording.rate.copy()
    rolls = slice(100, 150)
    rate[rolls, ankle] += 0.3
    problem = KinematicProblem(robot, replace(recording, rate=rate), truth, shipped_noise("g1"))
    stance = problem.recording.stance
    assert not stance[rolls, 0].any() and stance[:, 1].all()
    assert stance[:90, 0].all() and stance[160:, 0].all()
    rate[:, ankle] += 0.3
    with pytest.raises(DataError, match="sway: left_ankle_roll_link never lies still on its sole"):
        KinematicProblem(robot, replace(recording, rate=rate), truth, shipped_noise("g1"))


def test_states_are_those_of_the_motion(machine):
    robot, truth, recording = machine
    result = smooth(KinematicProblem(robot, recording, truth, shipped_noise()))
    assert result.converged and result.iterations < 10
    body = result.trajectory.rotation @ truth.imu_rotation.T @ truth.mocap_rotation
    np.testing.assert_allclose(body, recording.mocap.rotation, atol=1e-4)
    assert np.abs(result.trajectory.gyro_bias).max() < 1e-3
    assert np.ptp(result.trajectory.feet, axis=0).max() < 1e-3


def test_without_motion_capture_the_legs_carry_on(machine):
    robot, truth, recording = machine
    problem = KinematicProblem(robot, recording, truth, shipped_noise(), mocap_nodes=50)
    result = smooth(problem)
    place = (
        result.trajectory.base_position(truth)
        + result.trajectory.base_rotation(truth) @ truth.mocap_position
    )
    assert np.linalg.norm(place - recording.mocap.position, axis=1).max() < 2e-3


def test_a_foot_that_counts_as_standing_while_it_swings(machine):
    """Motion capture sees it move: it is left out, and nothing of the machine is bent by it."""
    robot, truth, recording = machine
    spoiled = swinging(robot, recording, 3)
    assert spoiled.stance.all()
    problem = KinematicProblem(robot, spoiled, truth, shipped_noise())
    moves = np.abs(np.diff(spoiled.angle - recording.angle, axis=0)).max(axis=1) > 0.03
    stance = problem.recording.stance
    assert not stance[:-1, 3][moves].any()
    assert stance[:, :3].all() and stance[:, 3].mean() > 0.7
    nominal = initial_offsets(spoiled, Offsets.nominal(robot))
    run = calibrate_run(spoiled, robot, nominal, shipped_noise(), ("feet", "imu", "mocap"))
    error = run.result.offsets.values(truth)
    assert run.result.converged and run.result.iterations < 40
    assert np.abs(error[truth.columns["feet"]]).max() < 1e-3


def test_an_estimate_whose_heading_went_astray_comes_back(machine):
    """Half a radian at the end, nodes turned along: the stiff chain between them stays whole."""
    robot, truth, recording = machine
    problem = KinematicProblem(robot, recording, truth, shipped_noise())
    best = smooth(problem, tolerance=1e-16)
    x = best.trajectory
    w = np.linspace(0.0, 0.5, len(x))[:, None] * [0.0, 0.0, 1.0]
    d = np.zeros((len(x), x.width))
    d[:, POSITION], d[:, VELOCITY] = np.cross(w, x.position), np.cross(w, x.velocity)
    d[:, ROTATION] = rotate(x.rotation.swapaxes(1, 2), w)
    d[:, FEET:] = np.cross(w[:, None], x.feet).reshape(len(x), -1)
    found = smooth(problem, x.carried(d), tolerance=1e-16)
    assert found.converged and found.iterations < 12
    np.testing.assert_allclose(found.trajectory.position, x.position, atol=1e-7)


def test_offsets_group_by_group():
    robot = go2_on_points()
    offsets = Offsets.nominal(robot)
    assert len(offsets.free(("feet",))) == 12 and len(offsets.free(("mocap", "imu"))) == 12
    with pytest.raises(ConfigError, match="unknown offsets legs"):
        offsets.free(("legs",))
    assert len(offsets.names(robot)) == offsets.size
