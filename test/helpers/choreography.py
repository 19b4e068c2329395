# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Measurements of a robot that is moved along a prescribed path, carried partly by its feet and for
the rest by somebody else.

Inverse dynamics gives the torques, so that the measurements are exact for any motion: a robot
lifted by a gantry, or lying on its side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement

STEP = 0.01

# postures on bent legs [rad]; that of Go2 is Go1's, too
POSTURES = {
    "g1": {
        f"{s}_{j}_joint": v
        for s in ("left", "right")
        for j, v in (("hip_pitch", -0.35), ("knee", 0.7), ("ankle_pitch", -0.35))
    },
    "go2": {
        f"{leg}_{j}_joint": v
        for leg in ("FL", "FR", "RL", "RR")
        for j, v in (("thigh", 0.8), ("calf", -1.6))
    },
}
POSTURE = POSTURES["go2"]


def smooth(t: float, begin: float, end: float) -> float:
    """0 before `begin`, 1 after `end`, twice differentiable between."""
    s = float(np.clip((t - begin) / (end - begin), 0.0, 1.0))
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


def standing_pose(robot: Robot, joints: dict[str, float]) -> np.ndarray:
    """(nq,) configuration with the given joints, the lowest contact sphere on the ground."""
    q = pin.neutral(robot.model)
    for name, value in joints.items():
        q[robot.model.joints[robot.model.getJointId(name)].idx_q] = value
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    soles = [
        data.oMf[robot.model.getFrameId(c.frame)].act(np.array(c.position, float))[2] - c.radius
        for c in robot.contacts
    ]
    q[2] -= min(soles)
    return q


def perform(
    config: Config,
    path: Callable[[float], np.ndarray],
    share: Callable[[float], float],
    seconds: float,
    seed: int = 0,
) -> list[Measurement]:
    """Measurements of all nodes.

    Args:
        path: time [s] -> configuration (nq,).
        share: time -> share in [0, 1] of what carries the base that the feet exert.
    """
    robot, noise, rng = Robot(config.robot), config.noise, np.random.default_rng(seed)
    model, nj = robot.model, robot.nj
    qs = [path(STEP * k) for k in range(-1, round(seconds / STEP) + 2)]
    v = [pin.difference(model, a, b) / STEP for a, b in zip(qs[:-1], qs[1:])]
    out, before = [], None
    for k in range(1, len(qs) - 1):
        gyro = _turning(robot, qs[k], v[k - 1])
        torque, force = before if before is not None else (None, None)
        out.append(
            Measurement(
                stamp_ns=k * 10_000_000,
                position=qs[k][-nj:] + rng.normal(0.0, noise.encoder, nj),
                velocity=v[k - 1][-nj:] + rng.normal(0.0, noise.joint_velocity / np.sqrt(5.0), nj),
                gyro=gyro + rng.normal(0.0, noise.gyro / np.sqrt(5.0), 3),
                torque=None
                if torque is None
                else torque + rng.normal(0.0, noise.joint_torque / np.sqrt(7.0), nj),
                accelerometer=None
                if force is None
                else force + rng.normal(0.0, noise.accelerometer / np.sqrt(7.0), 3),
                velocity_samples=5.0,
                gyro_samples=5.0,
                torque_samples=7.0,
                accelerometer_samples=7.0,
            )
        )
        before = _dynamics(
            robot, qs[k], 0.5 * (v[k - 1] + v[k]), (v[k] - v[k - 1]) / STEP, share(STEP * (k - 1))
        )
    return out


def stood(
    seconds: float, mocap: bool = True, to_come: int = 0
) -> tuple[Estimator, list[Measurement]]:
    """Estimator of a Go2 that has stood on its feet, and the last measurements, which are to come.

    Args:
        seconds: of all measurements.
        to_come: how many of them the estimator has not got yet.
    """
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator, q = Estimator(robot, config, mocap), standing_pose(robot, POSTURE)
    measurements = perform(config, lambda t: q, lambda t: 1.0, seconds)
    given = len(measurements) - to_come
    for m in measurements[:given]:
        estimator.update(m)
    return estimator, measurements[given:]


def _turning(robot: Robot, q, v) -> np.ndarray:
    """Angular rate (3,) in the IMU's axes."""
    data, frame = robot.model.createData(), robot.imu_frame_id
    pin.forwardKinematics(robot.model, data, q, v)
    return pin.getFrameVelocity(robot.model, data, frame, pin.LOCAL).angular


def _dynamics(robot: Robot, q, v, a, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Motor torques (nj,) and specific force (3,) of a moment."""
    model, data = robot.model, robot.model.createData()
    tau = pin.rnea(model, data, q, v, a)
    rate = v[6:]
    tau[6:] += robot.joint_damping * rate + robot.joint_friction * rate / np.sqrt(rate**2 + 0.05**2)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    jacobians = []
    for foot in robot.feet:
        contact = next(c for c in robot.contacts if c.foot == foot)
        rows = 6 if sum(c.foot == foot for c in robot.contacts) > 1 else 3
        jacobians.append(
            pin.getFrameJacobian(
                model, data, model.getFrameId(contact.frame), pin.LOCAL_WORLD_ALIGNED
            )[:rows]
        )
    J = np.vstack(jacobians)
    tau -= J.T @ (share * np.linalg.lstsq(J[:, :6].T, tau[:6], rcond=None)[0])
    pin.forwardKinematics(model, data, q, v, a)
    frame = robot.imu_frame_id
    R = pin.updateFramePlacement(model, data, frame).rotation
    return tau[6:], pin.getFrameClassicalAcceleration(
        model, data, frame, pin.LOCAL
    ).linear - R.T @ model.gravity.linear
