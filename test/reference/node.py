# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of a running node: next state, and the residual of every sensor by its name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from helpers.models import Point

from .dynamics import ReferenceDynamics


@dataclass(frozen=True)
class Step:
    """Where a residual is evaluated: a state and the step that follows it.

    Attributes:
        problem: robot, `dt`, `nq`, `nv`, `nj` and `parameter(x, name)`.
        x: state. v_next: velocity after the step, (nv,).
        forces: of the ground during the step, (nc, 3) [N].
    """

    problem: object
    x: np.ndarray
    v_next: np.ndarray | None = None
    forces: np.ndarray | None = None

    @property
    def q(self) -> np.ndarray:
        return self.x[: self.problem.nq]

    @property
    def v(self) -> np.ndarray:
        return self.x[self.problem.nq : self.problem.nq + self.problem.nv]

    @property
    def R_world_base(self) -> np.ndarray:
        return pin.Quaternion(self.x[3:7]).toRotationMatrix()

    def parameter(self, name: str) -> np.ndarray:
        return self.problem.parameter(self.x, name)

    def mount(self, name: str) -> np.ndarray:
        """(3,) parameter of a mount, zeros behind; 0 where mounts are none."""
        value = self.parameter(name)
        return np.append(value, np.zeros(3 - value.size))

    @property
    def R_true_imu(self) -> np.ndarray:
        """Axes of the IMU that are the model's, from those that are the true ones."""
        return pin.exp3(-self.mount("imu_rotation"))


def point_of(problem, given, x, u) -> Point:
    """What node (x, u) asks of the dynamics; `force` without the decision of the inverse form."""
    nq, nv = problem.nq, problem.nv
    force = np.concatenate([given.base_wrench, given.torque])
    if problem.config.estimator.form == "forward":
        force += u[:nv]
    friction = np.exp(problem.parameter(x, "friction")[0]) if problem.dynamics.nc else 0.8
    return Point(
        x[:nq],
        x[nq : nq + nv],
        force,
        u[nv:],
        problem.parameter(x, "theta"),
        problem.parameter(x, "height"),
        friction,
        problem.parameter(x, "slope"),
        problem.parameter(x, "softness"),
    )


def evaluate(problem, given, x, u, guess):
    """(x_next, residual) of a node; `guess` starts the Newton iteration of the forward form.

    Rows: disturbances, encoders, rates, sensors of the state, sensors of the step.
    """
    nq, nv, nj, dt = problem.nq, problem.nv, problem.nj, problem.dt
    dynamics = ReferenceDynamics(problem, point_of(problem, given, x, u))
    if problem.config.estimator.form == "forward":
        v_next, disturbance = dynamics.solve(guess), u[:nv]
    else:
        v_next = u[:nv]
        disturbance = dynamics.residual(v_next) / dt
    q, v = x[:nq], x[nq : nq + nv]
    x_next = np.concatenate(
        [pin.integrate(problem.robot.model, q, dt * v_next), v_next, x[nq + nv :]]
    )
    encoders = pin.difference(problem.robot.model, given.value("encoders"), q)[nv - nj :]
    rows = [
        given.weight_force * disturbance,
        given.weight_xi * u[nv:],
        given.weight("encoders") * encoders,
        given.weight("rates") * (v[nv - nj :] - given.value("rates")),
    ]
    at = Step(problem, x, v_next)
    if problem.floating:
        rows += [whitened(name, at, given) for name in ("gyro", "tilt", "heading")]
        if "mocap" in problem.sensors.names:
            rows += [whitened("mocap", at, given, slot) for slot in range(2)]
        rows.append(whitened("held", at, given))
        rows.append(whitened("accelerometer", at, given))
    return x_next, np.concatenate(rows)


def whitened(name, at: Step, given, slot=0) -> np.ndarray:
    """Rows of a sensor, divided by the standard deviations of its reading."""
    value, age = given.value(name, slot), given.age(name, slot)
    return given.weight(name, slot) * RESIDUALS[name](at, value, age)


def gyro(at: Step, value, _age) -> np.ndarray:
    """Mean over the past step."""
    return _turning(at) + at.parameter("gyro_bias") - value


def heading(at: Step, value, _age) -> np.ndarray:
    """Rate about the vertical, which the reading gives in the IMU's axes, without a bias."""
    return value[1:] @ _turning(at) - value[:1]


def tilt(at: Step, value, _age) -> np.ndarray:
    """The vertical in the IMU's axes."""
    return at.R_true_imu @ _imu(at.problem, at.q, at.v, 0.0 * at.v)[0][2] - value


def held(at: Step, value, _age) -> np.ndarray:
    """Linear velocity of the base."""
    return at.v[:3] - value


def mocap(at: Step, value, age) -> np.ndarray:
    """Pose of the tracked body when it was taken: the base went there at its present twist."""
    R, v, omega = at.R_world_base, at.v[:3], at.v[3:6]
    seen = pin.Quaternion(value[3:]).toRotationMatrix()
    age, world = age + at.mount("mocap_delay")[0], pin.exp3(at.mount("mocap_world"))
    then = R @ pin.exp3(-age * omega)
    place = world @ (at.q[:3] - age * R @ v + then @ at.mount("mocap_position"))
    turn = pin.log3(seen.T @ world @ then @ pin.exp3(at.parameter("mocap")))
    return np.concatenate([place - value[:3], turn])


def accelerometer(at: Step, value, _age) -> np.ndarray:
    """Specific force in the middle between the mean velocities before and after the node."""
    problem, v, after = at.problem, at.v, at.v_next
    lever = at.mount("imu_position")
    force = _imu(problem, at.q, 0.5 * (v + after), (after - v) / problem.dt, lever)[2]
    return at.R_true_imu @ force + at.parameter("accelerometer_bias") - value


def wrench_cone(at: Step, _value, _age) -> np.ndarray:
    """By how much the wrench of each foot leaves its cone [N].

    Friction; of a sole also its edges, at which the pressure would be negative, and the yaw moment.
    """
    robot, data = at.problem.robot, at.problem.robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, at.q)
    mu, rows = np.exp(at.parameter("friction")[0]), []
    for foot in robot.feet:
        contacts = [i for i, c in enumerate(robot.contacts) if c.foot == foot]
        forces = at.forces[contacts]
        force, smooth = forces.sum(axis=0), 1e-3 / at.problem.dt
        rows.append(np.hypot(np.linalg.norm(force[:2]), smooth) - smooth - mu * force[2])
        if len(contacts) > 1:
            frame = data.oMf[robot.model.getFrameId(robot.contacts[contacts[0]].frame)]
            spheres = [robot.contacts[i] for i in contacts]
            rows += _sole(frame.rotation.T, spheres, forces @ frame.rotation, mu)
    return np.maximum(rows, 0.0)


def _sole(R_foot_world, spheres, forces, mu) -> list[float]:
    """Edges and yaw moment of a level sole under spheres; forces (n, 3) in the foot's axes [N]."""
    corners = np.array([c.position for c in spheres])
    under = corners - np.outer([c.radius for c in spheres], R_foot_world[:, 2])
    force, moment = forces.sum(axis=0), np.cross(under, forces).sum(axis=0)
    centre = corners.mean(axis=0)
    radius = np.linalg.norm(corners - centre, axis=1).mean()
    rows = []
    for a in corners:
        for b in corners:
            along = b - a
            others = [c for c in corners if not (np.array_equal(c, a) or np.array_equal(c, b))]
            if along.any() and all(np.cross(along, c - a)[2] > 0.0 for c in others):
                about = moment - np.cross(a, force)
                rows.append(-(along / np.linalg.norm(along)) @ about / radius)
    yaw = (moment - np.cross(centre, force))[2] / radius
    return [*rows, abs(yaw) - mu * force[2]]


def foot_force(at: Step, value, _age) -> np.ndarray:
    """Vertical forces of the feet as sensors of unknown gain and offset show them."""
    robot = at.problem.robot
    force = [
        sum(f[2] for f, c in zip(at.forces, robot.contacts) if c.foot == foot)
        for foot in robot.feet
    ]
    gain = 1.0 + at.parameter("foot_force_gain")
    return gain * force + at.parameter("foot_force_offset") - value


def orientation(at: Step, value, _age) -> np.ndarray:
    """Rotation, in world axes, from where the IMU's own filter has it to where it is."""
    R = _imu(at.problem, at.q, at.v, 0.0 * at.v)[0] @ at.R_true_imu.T
    frame, seen = (pin.Quaternion(value[i : i + 4]).toRotationMatrix() for i in (0, 4))
    world = pin.exp3(at.parameter("orientation_frame")) @ frame
    return pin.log3(R @ (world @ seen).T)


def external_odometry(at: Step, value, age) -> np.ndarray:
    """Motion since a key pose, and velocity.

    The key pose (7) lies somewhere near its place, by the odometry's frame; seen from it, the base
    (7: position, quaternion) has come to where it was when the reading was taken. Velocity (3).
    """
    shift, turn = np.split(at.parameter("odometry_frame"), 2)
    R, v, omega = at.R_world_base, at.v[:3], at.v[3:6]
    R_key = pin.exp3(turn) @ pin.Quaternion(value[3:7]).toRotationMatrix()
    place = value[:3] + shift + R_key @ value[7:10]
    seen = R_key @ pin.Quaternion(value[10:14]).toRotationMatrix()
    turned = pin.log3(seen.T @ R @ pin.exp3(-age * omega))
    return np.concatenate([at.q[:3] - age * R @ v - place, turned, v - value[14:]])


def zeroed_encoders(at: Step, value, _age) -> np.ndarray:
    """Joint positions against readings with unknown zeros; the reading's base is not looked at."""
    joints = slice(at.problem.nv - at.problem.nj, None)
    error = pin.difference(at.problem.robot.model, value, at.q)[joints]
    own = at.problem.measurements.zeros or range(at.problem.nj)
    for joint, zero in enumerate(own):
        error[joint] += at.parameter("encoder_zero")[zero] if zero >= 0 else 0.0
    return error


# by the name of the residual; OF_THE_STEP: those that need the step that follows the state
OF_THE_STEP = {f.__name__: f for f in (accelerometer, wrench_cone, foot_force)}
OF_THE_STATE = (gyro, tilt, heading, held, orientation, mocap, external_odometry, zeroed_encoders)
RESIDUALS = {f.__name__: f for f in OF_THE_STATE} | OF_THE_STEP


def _turning(at: Step) -> np.ndarray:
    """Angular velocity of the IMU, from where the joints were in the middle of the past step."""
    problem, v = at.problem, at.v
    then = np.concatenate([np.zeros(6), -0.5 * problem.dt * v[-problem.nj :]])
    q = pin.integrate(problem.robot.model, at.q, then)
    return at.R_true_imu @ _imu(problem, q, v, 0.0 * v)[1]


def _imu(problem, q, v, a, lever=(0.0, 0.0, 0.0)):
    """World <- IMU, angular velocity and specific force in the IMU's axes, of a robot in the state
    (q, v, a), at a lever arm in these axes."""
    model = problem.robot.model
    data, frame = model.createData(), problem.robot.imu_frame_id
    pin.forwardKinematics(model, data, q, v, a)
    R = pin.updateFramePlacement(model, data, frame).rotation
    acceleration = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).linear
    omega = pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular
    alpha = pin.getFrameAcceleration(model, data, frame, pin.LOCAL).angular
    acceleration = acceleration + np.cross(alpha, lever) + np.cross(omega, np.cross(omega, lever))
    return R, omega, acceleration - R.T @ model.gravity.linear
