# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A robot that is known by its sensors: when samples come, and through what they are read."""

from dataclasses import replace

import numpy as np
import pytest

from prime_estimation.config.parameters import Config, NoiseConfig
from prime_estimation.control.posture import standing_posture
from prime_estimation.robot import Robot
from prime_estimation.simulate.bag import EPOCH_NS
from prime_estimation.simulate.robot import SimulatedRobot
from prime_estimation.simulate.sensors import RATE, SensorFaults
from prime_estimation.types import ImuSample, JointSample

QUIET = NoiseConfig(**{k: 0.0 for k in NoiseConfig.__dataclass_fields__})
STEPS = 61


def stood(noise=QUIET, faults=SensorFaults(), steps=STEPS, **changes):
    """(robot, true steps, samples with the time at which they came) of a Go2 that stands."""
    robot = Robot(replace(Config.load("go2").robot, **changes))
    simulated = SimulatedRobot(robot, noise, faults=faults, delay=0.003)
    simulated.place(standing_posture(robot))
    truth, samples = [], []
    for _ in range(steps):
        arrived = simulated.advance()
        truth.append(simulated.step)
        samples += [(simulated.now_ns, sample) for sample in arrived]
    return robot, truth, samples


def test_samples_come_at_their_rate_and_by_their_delay():
    _, _, samples = stood()
    for kind in (JointSample, ImuSample):
        times = [(now, s.stamp_ns) for now, s in samples if isinstance(s, kind)]
        assert [stamp - EPOCH_NS for _, stamp in times] == list(range(0, 59_000_000, 2_000_000))
        assert all(now - stamp == 3_000_000 for now, stamp in times)


def test_joints_are_read_through_their_zeros_and_motors():
    robot, truth, samples = stood(
        torque_delay=0.004, torque_scale=1.5, torque_offset=2.0, joint_zeros={"FL_hip_joint": 0.1}
    )
    joints = [s for _, s in samples if isinstance(s, JointSample)]
    k = np.arange(len(joints)) * round(1e3 / RATE)
    position = np.array([truth[i].q[7:] for i in k]) + robot.joint_zeros
    torque = np.array([truth[max(i - 4, 0)].tau_motor for i in k])
    assert robot.joint_zeros.max() == 0.1 and np.ptp(torque, axis=0).max() > 0.1
    np.testing.assert_allclose([s.position for s in joints], position)
    np.testing.assert_allclose([s.effort for s in joints], 2.0 + 1.5 * torque)


def test_constant_errors_of_encoders_and_torques():
    faults = SensorFaults(encoder_offset=0.01, torque_scale=0.1)
    _, truth, samples = stood(faults=faults)
    joints = [s for _, s in samples if isinstance(s, JointSample)]
    off = np.array([s.position - truth[2 * i].q[7:] for i, s in enumerate(joints)])
    np.testing.assert_allclose(off, np.tile(off[0], (len(joints), 1)), atol=1e-9)
    effort = np.array([s.effort for s in joints])
    torque = np.array([truth[2 * i].tau_motor for i in range(len(joints))])
    scale = (effort * torque).sum(axis=0) / (torque**2).sum(axis=0)
    np.testing.assert_allclose(effort, scale * torque, atol=1e-9)
    assert 0.003 < off[0].std() < 0.03 and 0.03 < scale.std() < 0.3


def test_biases_of_the_imu_walk_with_the_root_of_time():
    walks = replace(QUIET, gyro_bias_walk=0.5, accelerometer_bias_walk=5.0)
    readings = []
    for noise in (walks, QUIET):
        imu = [s for _, s in stood(noise, steps=603)[2] if isinstance(s, ImuSample)]
        readings.append([[*s.angular_velocity, *s.linear_acceleration] for s in imu])
    bias = np.subtract(*readings)
    steps = np.diff(bias, axis=0).std(axis=0)
    assert steps == pytest.approx(np.repeat([0.5, 5.0], 3) / np.sqrt(RATE), rel=0.2)
