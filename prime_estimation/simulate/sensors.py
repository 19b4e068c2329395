# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors of a simulated robot.

True quantities at the sensors' rates, with noise, bias, delay and loss, all seeded.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp

from ..config.parameters import NoiseConfig
from ..config.values import are_numbers
from ..errors import ConfigError
from ..robot import GRAVITY, Robot
from .recording import Recording

RATE = 500.0  # Hz, encoders and IMU


@dataclass(frozen=True)
class SensorFaults:
    """Faults of the sensors beyond white noise and IMU bias (those are in NoiseConfig)."""

    encoder_offset: float = 0.0  # rad, 1 sigma, constant per joint
    torque_scale: float = 0.0  # 1 sigma, relative, constant per joint
    mocap_rate: float = 120.0  # Hz; 0: no motion capture
    mocap_rotation_offset: float = 0.0  # rad, between tracked body and base, constant, random axis
    mocap_delay: float = 0.0  # s from measurement to arrival
    mocap_dropout: float = 0.0  # share of time lost, in bursts
    mocap_dropout_length: float = 0.15  # s, mean of a burst

    def __post_init__(self):
        values = list(asdict(self).values())
        if not (
            are_numbers(values, len(values))
            and min(values) >= 0
            and self.mocap_dropout < 1
            and self.mocap_rate <= 1000
        ):
            raise ConfigError(
                "sensor faults: finite, not negative, dropout below 1, mocap_rate at most 1000 "
                f"Hz; got {self}",
                self,
            )


FAULTS = {
    "default": SensorFaults(),
    "hard": SensorFaults(0.003, 0.03, 120.0, np.deg2rad(2.0), 0.008, 0.1, 0.15),
}


def faults_named(name: str | SensorFaults) -> SensorFaults:
    """The preset of this name, or the faults themselves."""
    if isinstance(name, SensorFaults):
        return name
    if name not in FAULTS:
        raise ConfigError(f"unknown sensor faults '{name}': known are {', '.join(FAULTS)}", name)
    return FAULTS[name]


@dataclass(frozen=True)
class Readings:
    """Readings of the sensors; times in s from the start of the recording."""

    t: np.ndarray  # (n,) of joints and IMU
    position: np.ndarray  # (n, nj)
    velocity: np.ndarray  # (n, nj)
    effort: np.ndarray  # (n, nj)
    gyro: np.ndarray  # (n, 3) IMU frame
    accelerometer: np.ndarray  # (n, 3) IMU frame, specific force
    mocap_t: np.ndarray  # (m,) time of measurement
    mocap_arrival: np.ndarray  # (m,)
    mocap_position: np.ndarray  # (m, 3)
    mocap_quat: np.ndarray  # (m, 4) xyzw
    drawn: dict  # the hidden constants: biases, scales, offsets


def read_sensors(recording: Recording, noise: NoiseConfig, faults: SensorFaults) -> Readings:
    """Sample and disturb the truth, with the zeros and motors of the robot's YAML.

    The seed is the recording's; each sensor has a stream of its own.
    """
    robot = recording.robot
    every = round(1 / (RATE * recording.dt))
    t, q, v = recording.t[::every], recording.q[::every, 7:], recording.v[::every, 6:]
    late = round(robot.config.torque_delay / recording.dt)
    last = len(recording.tau_motor) - 1
    tau = recording.tau_motor[np.clip(np.arange(0, last + 1, every) - late, 0, last)]
    joints, imu, mocap = (np.random.default_rng([recording.seed, 100 + i]) for i in range(3))
    offset = robot.joint_zeros + faults.encoder_offset * joints.standard_normal(robot.nj)
    spread = 1.0 + faults.torque_scale * joints.standard_normal(robot.nj)
    scale = robot.torque_scale * spread
    gyro, accelerometer = true_imu(recording, every)
    gyro_bias = _bias(imu, noise.gyro_bias, noise.gyro_bias_walk, len(t))
    accelerometer_bias = _bias(imu, noise.accelerometer_bias, noise.accelerometer_bias_walk, len(t))
    poses, tilt = _mocap(recording, noise, faults, robot.config.mocap_delay, mocap)
    drawn = {
        "gyro_bias": gyro_bias[0].tolist(),
        "acc_bias": accelerometer_bias[0].tolist(),
        "encoder_bias": offset.tolist(),
        "torque_scale": scale.tolist(),
        "mocap_R_bias": tilt.as_matrix().tolist(),
        "mocap_pos_bias": [0.0, 0.0, 0.0],
    }
    return Readings(
        t,
        q + offset + noise.encoder * joints.standard_normal(q.shape),
        v + noise.joint_velocity * joints.standard_normal(v.shape),
        robot.torque_offset + scale * tau + noise.joint_torque * joints.standard_normal(tau.shape),
        gyro + gyro_bias + noise.gyro * imu.standard_normal(gyro.shape),
        accelerometer + accelerometer_bias + noise.accelerometer * imu.standard_normal(gyro.shape),
        *poses,
        drawn,
    )


class ImuReader:
    """Angular rate and specific force in the frame of a robot's IMU."""

    def __init__(self, robot: Robot):
        self._model, self._data = robot.model, robot.model.createData()
        self._frame = robot.imu_frame_id

    def read(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(3,) rad/s and (3,) m/s^2 `R^T (pddot - g)` for a state and its acceleration."""
        model, data, local = self._model, self._data, pin.ReferenceFrame.LOCAL
        pin.forwardKinematics(model, data, q, v, a)
        pin.updateFramePlacement(model, data, self._frame)
        gyro = pin.getFrameVelocity(model, data, self._frame, local).angular
        acceleration = pin.getFrameClassicalAcceleration(model, data, self._frame, local).linear
        up = np.array([0.0, 0.0, GRAVITY])
        return gyro.copy(), acceleration + data.oMf[self._frame].rotation.T @ up


def true_imu(recording: Recording, every: int) -> tuple[np.ndarray, np.ndarray]:
    """(angular rate, specific force) in the IMU frame at every n-th step: `R^T (pddot - g)`.

    Zeros without IMU.
    """
    robot = recording.robot
    n = len(recording.t[::every])
    gyro, force = np.zeros((n, 3)), np.zeros((n, 3))
    if robot.imu_joint is None:
        return gyro, force
    reader = ImuReader(robot)
    steps = zip(recording.q[::every], recording.v[::every], recording.a[::every])
    for k, (q, v, a) in enumerate(steps):
        gyro[k], force[k] = reader.read(q, v, a)
    return gyro, force


def _bias(rng: np.random.Generator, initial: float, walk: float, n: int) -> np.ndarray:
    """(n, 3) constant plus random walk at the sensor rate."""
    steps = walk / np.sqrt(RATE) * rng.standard_normal((n, 3))
    steps[0] = initial * rng.standard_normal(3)
    return np.cumsum(steps, axis=0)


def _mocap(
    recording: Recording,
    noise: NoiseConfig,
    faults: SensorFaults,
    late: float,
    rng: np.random.Generator,
):
    """Stamps, which are late by `late` [s], arrivals, positions and quaternions."""
    axis = rng.standard_normal(3)
    tilt = Rotation.from_rotvec(faults.mocap_rotation_offset * axis / np.linalg.norm(axis))
    if faults.mocap_rate == 0:
        return (np.zeros(0), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 4))), tilt
    t = np.arange(0.0, recording.t[-1], 1.0 / faults.mocap_rate)
    position = np.stack([np.interp(t, recording.t, recording.q[:, i]) for i in range(3)], axis=1)
    position = position + noise.mocap_position * rng.standard_normal(position.shape)
    attitude = Slerp(recording.t, Rotation.from_quat(recording.q[:, 3:7]))(t)
    attitude = (
        attitude
        * tilt
        * Rotation.from_rotvec(noise.mocap_rotation * rng.standard_normal((len(t), 3)))
    )
    kept = ~_bursts(len(t), faults, rng)
    stamps, arrivals = t[kept] + late, t[kept] + faults.mocap_delay
    return (stamps, arrivals, position[kept], attitude.as_quat()[kept]), tilt


def _bursts(n: int, faults: SensorFaults, rng: np.random.Generator) -> np.ndarray:
    """(n,) bool, lost samples: a two-state Markov chain with the wanted share and mean length."""
    length = max(faults.mocap_dropout_length * faults.mocap_rate, 1.0)
    enter = faults.mocap_dropout / (1.0 - faults.mocap_dropout) / length
    lost = np.zeros(n, bool)
    draws = rng.uniform(size=n)
    for k in range(1, n):
        lost[k] = draws[k] > 1.0 / length if lost[k - 1] else draws[k] < enter
    return lost
