# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A robot that sways on points or soles, as a recording that its kinematics explain exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prime_estimation.calibration.leg_kinematics import Leg
from prime_estimation.calibration.noise import NoiseModel
from prime_estimation.calibration.offsets import Offsets
from prime_estimation.calibration.preintegration import preintegrate
from prime_estimation.calibration.recording import STEP, KinematicRecording, MocapPoses
from prime_estimation.calibration.rotations import exp, right_jacobian, rotate, sine_vector
from prime_estimation.config.parameters import Config
from prime_estimation.robot import Robot

PARTS = 5
STANCE = np.array([0.0, 0.8, -1.6])  # of a leg of three joints
ON_SOLES = np.array([-0.4, 0.0, 0.0, 0.8, -0.4, 0.0])  # of one of six


def go2_on_points(radius: float = 0.0) -> Robot:
    """Go2 with feet of another radius."""
    robot = Robot.load("go2")
    contacts = [replace(c, radius=radius) for c in robot.config.contacts]
    return Robot(replace(robot.config, contacts=contacts))


def swaying(name: str) -> Robot:
    """The Go2 with rolling feet, or another robot as it is."""
    return go2_on_points(0.022) if name == "go2" else Robot.load(name)


def shipped_noise(name: str = "go2") -> NoiseModel:
    """Of the Go2, or of the G1."""
    return NoiseModel.of(Config.load(name), *((6, True) if name == "g1" else (3,)))


def bent(robot: Robot) -> Offsets:
    """A machine off its URDF by 10 to 30 mm and some degrees."""
    rng, nominal = np.random.default_rng(3), Offsets.nominal(robot)
    d = np.zeros(nominal.size)
    at = nominal.columns
    d[at["feet"]] = rng.uniform(-0.02, 0.02, nominal.feet.size)
    d[at["imu_rotation"]] = [0.02, -0.03, 0.01]
    d[at["imu_position"]] = [0.01, -0.01, 0.02]
    d[at["mocap_rotation"]] = [0.05, 0.02, -0.1]
    d[at["mocap_position"]] = [0.03, -0.02, 0.01]
    return nominal.moved(d)


def _pose(t: np.ndarray):
    """Rotation vector, its rate, and position of the base."""
    frequency = np.array([2.1, 2.7, 1.7, 3.1, 2.3, 1.9])
    size = np.array([0.15, 0.12, 0.2, 0.03, 0.03, 0.03])
    phase = np.array([0.0, 1.0, 2.0, 0.5, 1.5, 2.5])
    s = size * np.sin(frequency * t[:, None] + phase)
    ds = size * frequency * np.cos(frequency * t[:, None] + phase)
    return s[:, :3], ds[:, :3], s[:, 3:] + [0.0, 0.0, 0.3]


def sway(robot: Robot, truth: Offsets, nodes: int = 200) -> KinematicRecording:
    """Recording without noise and biases."""
    t = STEP * np.arange(nodes)
    w, dw, p = _pose(t)
    R = exp(w)
    rate = rotate(right_jacobian(w), dw)
    angle, joint_rate = np.zeros((nodes, robot.nj)), np.zeros((nodes, robot.nj))
    h = 1e-6
    for i, foot in enumerate(robot.feet):
        leg = Leg(robot, foot)
        q = [_standing(leg, exp(a), b, truth.feet[i]) for a, _, b in map(_pose, (t, t - h, t + h))]
        angle[:, leg.joints] = q[0]
        joint_rate[:, leg.joints] = (q[2] - q[1]) / (2.0 * h)
    C, lever = truth.imu_rotation, truth.imu_position
    middle = t[:-1, None] + STEP / PARTS * (np.arange(PARTS) + 0.5)
    gyro, force = _imu(middle.ravel(), C, lever)
    shape = (nodes - 1, PARTS, 3)
    body = R @ truth.mocap_rotation
    at, zero = p + R @ truth.mocap_position, np.zeros((nodes, 3))
    mocap = MocapPoses(
        np.arange(nodes), np.zeros(nodes), at, body, np.tile(np.eye(3), (nodes, 1, 1)), zero
    )
    return KinematicRecording(
        "sway",
        STEP,
        np.arange(nodes) * int(1e9 * STEP),
        angle + truth.joints,
        joint_rate,
        rate @ C,
        preintegrate(gyro.reshape(shape), force.reshape(shape), STEP),
        np.ones((nodes, len(robot.feet)), bool),
        mocap,
        np.zeros((nodes - 1, 3)),
        np.zeros((nodes - 1, 3)),
        float(PARTS),
        float(PARTS),
        {"encoder": np.zeros(robot.nj), "rate": np.zeros(robot.nj), "gyro": np.zeros(3)},
    )


def swinging(robot: Robot, recording: KinematicRecording, foot: int) -> KinematicRecording:
    """The recording in which a foot swings 0.3 m forward and back twice and counts as standing."""
    leg, t = Leg(robot, robot.feet[foot]), recording.step * np.arange(len(recording))
    swing, rate = np.zeros(len(t)), np.zeros(len(t))
    for start in (0.25, 0.6):
        x = np.clip((t - start * t[-1]) / 0.3, 0.0, 1.0)
        swing += np.sin(np.pi * x) ** 2
        rate += np.pi / 0.3 * np.sin(2.0 * np.pi * x)
    shape = np.array([0.0, -1.0, 0.3])
    angle, joint_rate = recording.angle.copy(), recording.rate.copy()
    angle[:, leg.joints] += swing[:, None] * shape
    joint_rate[:, leg.joints] += rate[:, None] * shape
    return replace(recording, angle=angle, rate=joint_rate)


def _standing(leg: Leg, R: np.ndarray, p: np.ndarray, offset: np.ndarray):
    """Joint positions (n, k) that keep a foot where it stands, a sole as it lies; by Newton."""
    stance = ON_SOLES if leg.flat else STANCE
    there = leg.motion(stance[None], np.zeros((1, len(stance))), offset)
    hold = there.position[0] + [0.0, 0.0, 0.3]
    wanted = np.einsum("nji,nj->ni", R, hold - p)
    q = np.tile(stance, (len(R), 1))
    for _ in range(12):
        m = leg.motion(q, np.zeros_like(q), offset)
        J, r = m.jacobian, wanted - m.position
        if leg.flat:
            off = sine_vector(np.swapaxes(R @ m.rotation, 1, 2) @ there.rotation[0])
            turned = rotate(m.rotation, off)
            J, r = np.concatenate([J, m.angular], axis=1), np.concatenate([r, turned], axis=1)
        q = q + np.linalg.solve(J, r[:, :, None])[:, :, 0]
    return q


def _imu(t: np.ndarray, C: np.ndarray, lever: np.ndarray):
    """Angular rate and specific force of the IMU (n, 3)."""
    h = 1e-4
    places = []
    for s in (-h, 0.0, h):
        w, _, p = _pose(t + s)
        places.append(p + exp(w) @ lever)
    acceleration = (places[0] - 2.0 * places[1] + places[2]) / h**2
    w, dw, _ = _pose(t)
    R = exp(w) @ C
    force = np.einsum("nji,nj->ni", R, acceleration - [0.0, 0.0, -9.81])
    return rotate(right_jacobian(w), dw) @ C, force
