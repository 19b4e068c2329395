# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The robot's YAML has the geometry that was found, in the axes of its parameters."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import yaml
from helpers.turned_frames import turned_urdf

from prime_estimation.calibration.frank_wolfe import Descent
from prime_estimation.calibration.fusion import FusedOffsets
from prime_estimation.calibration.leg_kinematics import Leg
from prime_estimation.calibration.noise import NoiseModel
from prime_estimation.calibration.offsets import OffsetPriors, Offsets
from prime_estimation.calibration.outcome import CalibrationOutcome, observable_in_words
from prime_estimation.config.parameters import Config
from prime_estimation.robot import Robot

ANKLE = "left_ankle_pitch_joint"


def found(robot: Robot, feet: np.ndarray) -> FusedOffsets:
    """Feet (nf, 3) that are told, and nothing else."""
    nominal = Offsets.nominal(robot)
    offsets, free = replace(nominal, feet=feet), nominal.free(("feet",))
    covariance = 1e-6 * np.eye(len(free))
    prior = nominal.stddev(OffsetPriors())[free]
    return FusedOffsets(offsets, nominal, free, feet.ravel(), covariance, 0.0 * covariance, prior)


def test_a_block_that_ctrl_c_left_unexamined_is_not_unobservable():
    config = Config.load("go2")
    robot = Robot(config.robot)
    noise, fused = NoiseModel.of(config, 3, False), found(robot, np.zeros((4, 3)))
    outcome = CalibrationOutcome(robot, config, "go2", ["noise"], noise, [], fused)
    outcome.descent = Descent(noise, 1.0, 1.0, [], False, 1.0)
    words = {observable_in_words(row["observable"]) for row in outcome.noise_rows()}
    assert words == {"not examined"}
    outcome.told = dict.fromkeys(noise.blocks, False)
    words = {observable_in_words(row["observable"]) for row in outcome.noise_rows()}
    assert words == {"not observable"}


def test_the_largest_correlation_has_any_sign():
    config = Config.load("go2")
    robot = Robot(config.robot)
    noise, fused = NoiseModel.of(config, 3, False), found(robot, np.zeros((4, 3)))
    gyro = np.array([[4.0, -3.0, 0.0], [-3.0, 9.0, 0.5], [0.0, 0.5, 1.0]])
    descent = Descent(noise.with_blocks({"gyro": gyro}), 1.0, 1.0, [], False, 1.0)
    outcome = CalibrationOutcome(robot, config, "go2", ["noise"], noise, [], fused, descent)
    row = next(row for row in outcome.noise_rows() if row["name"] == "gyro")
    assert row["correlation"] == pytest.approx(0.5) and row["after"] == [2.0, 3.0, 1.0]


def test_everything_is_where_it_was_found(tmp_path):
    """On top of what the YAML had: IMU, tracked body, zeros of the encoders, feet."""
    told = {
        "imu_position": [0.01, 0.02, 0.03],
        "imu_rotation": [0.1, -0.2, 0.3],
        "mocap_position": [0.1, 0.0, 0.2],
        "mocap_rotation": [0.0, 0.3, -0.2],
        "joint_zeros": {"FL_calf_joint": 0.05},
    }
    source = tmp_path / "go2.yaml"
    config = Config.load("go2").updated({"robot": told})
    source.write_text(yaml.safe_dump({"robot": config.to_dict()["robot"]}))
    robot, noise = Robot(config.robot), NoiseModel.of(config, 3, False)
    nominal = Offsets.nominal(robot)
    step = np.random.default_rng(1).uniform(-0.05, 0.05, nominal.size)
    fused = replace(found(robot, np.zeros((4, 3))), offsets=nominal.moved(step))
    what = ["feet", "joints", "imu", "mocap"]
    outcome = CalibrationOutcome(robot, config, str(source), what, noise, [], fused)
    (tmp_path / "found.yaml").write_text(outcome.live_yaml())
    there, offsets = Robot.load(str(tmp_path / "found.yaml")), fused.offsets
    imu, body = there.imu_placement, there.mocap_placement
    np.testing.assert_allclose(imu.rotation, offsets.imu_rotation, atol=3e-6)
    np.testing.assert_allclose(imu.translation, offsets.imu_position, atol=3e-6)
    found_body = pin.SE3(offsets.mocap_rotation, offsets.mocap_position) * robot.mocap_placement
    np.testing.assert_allclose(body.homogeneous, found_body.homogeneous, atol=3e-6)
    np.testing.assert_allclose(there.joint_zeros, robot.joint_zeros + offsets.joints, atol=1e-6)
    for before, now, offset in zip(robot.contacts, there.contacts, offsets.feet):
        turned = robot.model.frames[robot.model.getFrameId(before.frame)].placement.rotation
        np.testing.assert_allclose(
            turned @ (np.array(now.position) - before.position), offset, atol=3e-6
        )


def test_frames_of_the_urdf_that_are_turned_stay_so(tmp_path):
    """Of IMU and foot: what has six digits comes back to the last, and nothing is turned twice."""
    urdf = turned_urdf(tmp_path / "turned.urdf", imu_joint="0 -1.2 2.5", FL_foot_joint="0.4 1 -2")
    told = {
        "urdf": str(urdf),
        "imu_position": [0.01, 0.02, 0.03],
        "imu_rotation": [0.1, -0.2, 0.3],
        "mocap_position": [0.1, 0.0, 0.2],
        "mocap_rotation": [2.0, 0.3, -3.0],
    }
    config = Config.load("go2").updated({"robot": told})
    robot, noise = Robot(config.robot), NoiseModel.of(config, 3, False)
    base_M_imu = robot.model.frames[robot.model.getFrameId("imu")].placement
    FL_calf_M_foot = robot.model.frames[robot.model.getFrameId("FL_foot")].placement
    assert np.abs(pin.log3(base_M_imu.rotation)).max() > 1.0
    turns, places = ([0.7, -0.4, 2.9], [-2.2, 1.1, 0.3]), ([0.04, -0.05, 0.06], [0.3, -0.1, 0.002])
    body = pin.SE3(pin.rpy.rpyToMatrix(*turns[1]), np.array(places[1]))
    feet = np.zeros((4, 3))
    feet[0] = FL_calf_M_foot.rotation @ [0.011, -0.012, 0.013]
    offsets = replace(
        Offsets.nominal(robot),
        feet=feet,
        imu_rotation=base_M_imu.rotation @ pin.rpy.rpyToMatrix(*turns[0]),
        imu_position=base_M_imu.translation + places[0],
        mocap_rotation=(body * robot.mocap_placement.inverse()).rotation,
        mocap_position=(body * robot.mocap_placement.inverse()).translation,
    )
    fused, what = replace(found(robot, feet), offsets=offsets), ["feet", "imu", "mocap"]
    outcome = CalibrationOutcome(robot, config, "go2", what, noise, [], fused)
    (tmp_path / "found.yaml").write_text(outcome.live_yaml())
    there = Robot.load(str(tmp_path / "found.yaml"))
    np.testing.assert_allclose(there.imu_placement.rotation, offsets.imu_rotation, atol=1e-12)
    np.testing.assert_allclose(there.imu_placement.translation, offsets.imu_position, atol=1e-12)
    np.testing.assert_allclose(there.mocap_placement.homogeneous, body.homogeneous, atol=1e-12)
    moved = np.array(there.contacts[0].position) - robot.contacts[0].position
    np.testing.assert_allclose(moved, [0.011, -0.012, 0.013], atol=1e-12)
    assert there.contacts[1:] == robot.contacts[1:]


@pytest.mark.parametrize("locked", [{}, {"left_knee_joint": 0.4}])
def test_ankles_are_where_they_were_found(locked, tmp_path):
    """Beside what the YAML had, also where a locked knee turns the shank against its joint."""
    before = {ANKLE: [0.01, 0.0, 0.0], "left_elbow_joint": [0.0, 0.02, 0.0]}
    told = {"joint_offsets": before, "locked_joints": locked}
    config = Config.load("g1").updated({"robot": told})
    robot = Robot(config.robot)
    feet = np.random.default_rng(0).uniform(-0.02, 0.02, (2, 3))
    noise = NoiseModel.of(config, 6, True)
    fused = found(robot, feet)
    source = tmp_path / "g1.yaml"
    source.write_text(yaml.safe_dump({"robot": config.to_dict()["robot"]}))
    outcome = CalibrationOutcome(robot, config, str(source), ["feet"], noise, [], fused)
    assert outcome.rows()[0]["name"] == f"{ANKLE} x"
    (tmp_path / "found.yaml").write_text(outcome.live_yaml())
    there = Robot.load(str(tmp_path / "found.yaml"))
    for foot, offset in zip(robot.feet, feet):
        joint = robot.joint_ids[Leg(robot, foot).joints[Leg(robot, foot).ankle]]
        places = [r.model.jointPlacements[joint].translation for r in (there, robot)]
        np.testing.assert_allclose(places[0] - places[1], offset, atol=2e-6)
    assert there.contacts == robot.contacts
    assert there.config.joint_offsets["left_elbow_joint"] == before["left_elbow_joint"]
