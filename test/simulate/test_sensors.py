# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors say what they should about the truth, with the noise that was asked for."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from prime_estimation.config.parameters import Config, NoiseConfig
from prime_estimation.errors import ConfigError
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.simulate.sensors import (
    FAULTS,
    RATE,
    SensorFaults,
    _bias,
    _bursts,
    _mocap,
    faults_named,
    read_sensors,
    true_imu,
)

QUIET = NoiseConfig(**{k: 0.0 for k in NoiseConfig.__dataclass_fields__})


def test_imu_at_rest_feels_gravity_upwards(stand):
    gyro, force = true_imu(stand, 2)
    np.testing.assert_allclose(force[-50:].mean(axis=0), [0, 0, GRAVITY], atol=0.05)
    assert np.abs(gyro[-50:]).max() < 0.02


def test_imu_is_the_second_derivative_of_its_own_position(walk):
    robot, dt = walk.robot, walk.dt
    lever = robot.imu_placement.translation
    R = Rotation.from_quat(walk.q[:, 3:7])
    position = walk.q[:, :3] + R.apply(lever)
    second = (position[2:] - 2 * position[1:-1] + position[:-2]) / dt**2
    expected = R[1:-1].inv().apply(second + [0, 0, GRAVITY])
    gyro, force = true_imu(walk, 1)
    np.testing.assert_allclose(force[1:-1], expected, atol=5e-3)
    np.testing.assert_allclose(gyro, walk.v[:, 3:6], atol=1e-12)


def test_without_noise_sensors_tell_the_truth(walk):
    readings = read_sensors(walk, QUIET, SensorFaults())
    np.testing.assert_array_equal(readings.t, walk.t[::2])
    np.testing.assert_array_equal(readings.position, walk.q[::2, 7:])
    np.testing.assert_array_equal(readings.velocity, walk.v[::2, 6:])
    np.testing.assert_array_equal(readings.effort, walk.tau_motor[::2])
    np.testing.assert_allclose(np.diff(readings.mocap_t), 1 / 120.0)
    np.testing.assert_array_equal(readings.mocap_arrival, readings.mocap_t)
    truth = Slerp(walk.t, Rotation.from_quat(walk.q[:, 3:7]))(readings.mocap_t)
    assert (truth.inv() * Rotation.from_quat(readings.mocap_quat)).magnitude().max() < 1e-9


def test_white_noise_has_the_asked_strength(walk):
    noise = replace(
        Config.load("go2").noise,
        gyro_bias=0.0,
        gyro_bias_walk=0.0,
        accelerometer_bias=0.0,
        accelerometer_bias_walk=0.0,
    )
    noisy = read_sensors(walk, noise, SensorFaults())
    clean = read_sensors(walk, QUIET, SensorFaults())
    names = {"position": "encoder", "velocity": "joint_velocity", "effort": "joint_torque"}
    names |= {n: n for n in ("gyro", "accelerometer", "mocap_position")}
    for field, name in names.items():
        error = getattr(noisy, field) - getattr(clean, field)
        assert error.std() == pytest.approx(getattr(noise, name), rel=0.08), field
        assert abs(error.mean()) < 4 * error.std() / np.sqrt(error.size)
    turn = (
        Rotation.from_quat(clean.mocap_quat).inv() * Rotation.from_quat(noisy.mocap_quat)
    ).as_rotvec()
    assert turn.std() == pytest.approx(noise.mocap_rotation, rel=0.1)


def test_biases_are_those_that_were_drawn(walk):
    noise = replace(QUIET, gyro_bias=0.01, accelerometer_bias=0.1)
    readings, clean = (read_sensors(walk, n, SensorFaults()) for n in (noise, QUIET))
    assert np.ptp(readings.gyro - clean.gyro, axis=0).max() < 1e-12
    np.testing.assert_allclose(
        (readings.gyro - clean.gyro)[0], readings.drawn["gyro_bias"], atol=1e-12
    )
    np.testing.assert_allclose(
        (readings.accelerometer - clean.accelerometer)[0], readings.drawn["acc_bias"], atol=1e-12
    )


def test_hard_faults(walk):
    faults = FAULTS["hard"]
    readings, clean = (read_sensors(walk, QUIET, f) for f in (faults, SensorFaults()))
    offsets = np.tile(readings.drawn["encoder_bias"], (len(readings.t), 1))
    np.testing.assert_allclose(readings.position - clean.position, offsets, atol=1e-12)
    np.testing.assert_allclose(
        readings.effort, clean.effort * readings.drawn["torque_scale"], atol=1e-12
    )
    np.testing.assert_allclose(readings.mocap_arrival - readings.mocap_t, 0.008)
    truth = Slerp(walk.t, Rotation.from_quat(walk.q[:, 3:7]))(readings.mocap_t)
    offset = (truth.inv() * Rotation.from_quat(readings.mocap_quat)).as_matrix()
    np.testing.assert_allclose(
        offset, np.tile(readings.drawn["mocap_R_bias"], (len(offset), 1, 1)), atol=1e-9
    )
    assert Rotation.from_matrix(offset[0]).magnitude() == pytest.approx(np.deg2rad(2.0))
    assert len(readings.mocap_t) < len(clean.mocap_t)


def test_dropouts_have_the_asked_share_and_length():
    from prime_estimation.simulate.sensors import _bursts

    lost = _bursts(
        200_000,
        SensorFaults(mocap_dropout=0.1, mocap_dropout_length=0.15),
        np.random.default_rng(0),
    )
    assert lost.mean() == pytest.approx(0.1, rel=0.1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], lost.astype(int), [0]])))
    assert np.diff(edges.reshape(-1, 2), axis=1).mean() / 120.0 == pytest.approx(0.15, rel=0.1)


def test_motion_capture_can_be_absent(walk):
    readings = read_sensors(walk, QUIET, SensorFaults(mocap_rate=0.0))
    assert len(readings.mocap_t) == 0 and readings.mocap_quat.shape == (0, 4)


def test_unknown_faults_are_refused():
    with pytest.raises(ConfigError, match="default, hard"):
        faults_named("harder")
    with pytest.raises(ConfigError, match="not negative"):
        SensorFaults(mocap_delay=-1.0)


def test_a_machine_reads_as_its_yaml_says(walk):
    config, names = Config.load("go2"), walk.robot.joint_names
    scales, zeros = {names[0]: 1.05, names[4]: 0.95}, {names[2]: 0.004}
    machine = Robot(config.updated({"robot": {"torque_scale": scales, "joint_zeros": zeros}}).robot)
    plain = read_sensors(walk, QUIET, SensorFaults())
    readings = read_sensors(replace(walk, robot=machine), QUIET, SensorFaults())
    scale = [scales.get(n, 1.0) for n in names]
    np.testing.assert_allclose(readings.effort, scale * plain.effort)
    zero = [zeros.get(n, 0.0) for n in names]
    np.testing.assert_allclose(readings.position, plain.position + zero)
    assert readings.drawn["torque_scale"] == pytest.approx(scale)
    assert readings.drawn["encoder_bias"] == pytest.approx(zero)


def test_motors_read_late_and_beside_their_torque(walk):
    changes = {"torque_offset": {"default": 0.3}, "torque_delay": 0.004}
    machine = Robot(Config.load("go2").updated({"robot": changes}).robot)
    readings = read_sensors(replace(walk, robot=machine), QUIET, SensorFaults())
    every = round(1.0 / (RATE * walk.dt))
    late = round(0.004 / walk.dt)
    expected = 0.3 + walk.tau_motor[: -late or None : every]
    first = -(-late // every)
    np.testing.assert_allclose(readings.effort[first:], expected[: len(readings.effort) - first])


def test_a_bias_walks_with_the_root_of_time():
    paths = np.array([_bias(np.random.default_rng(k), 0.0, 0.02, 2001)[-1] for k in range(200)])
    assert paths.std() == pytest.approx(0.02 * np.sqrt(2000 / RATE), rel=0.1)


def test_lost_poses_have_the_share_and_length_that_was_asked_for():
    faults = SensorFaults(mocap_dropout=0.5, mocap_dropout_length=0.1)
    lost = _bursts(50_000, faults, np.random.default_rng(1))
    assert lost.mean() == pytest.approx(0.5, abs=0.03)
    bursts = np.count_nonzero(np.diff(lost.astype(int)) == 1)
    assert lost.sum() / bursts / faults.mocap_rate == pytest.approx(0.1, rel=0.1)


def test_stamps_of_poses_are_late_by_what_the_robot_is_said_to_have(stand):
    def read(late: float):
        return _mocap(stand, QUIET, SensorFaults(), late, np.random.default_rng(0))[0]

    (stamps, arrivals, *_), (on_time, same, *_) = read(0.02), read(0.0)
    np.testing.assert_allclose(stamps - on_time, 0.02)
    np.testing.assert_array_equal(arrivals, same)
    np.testing.assert_array_equal(same, on_time)


def test_torques_are_read_through_the_motors(stand):
    robot = Robot(replace(stand.robot.config, torque_scale=1.5, torque_offset=2.0))
    effort = read_sensors(replace(stand, robot=robot), QUIET, SensorFaults()).effort
    np.testing.assert_allclose(effort, 2.0 + 1.5 * stand.tau_motor[::2])
