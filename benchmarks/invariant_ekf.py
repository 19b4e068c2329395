# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A contact-aided invariant EKF, the state estimator that users of quadrupeds run today.

Right-invariant error state (Hartley, Ghaffari, Eustice, Grizzle, "Contact-aided invariant extended
Kalman filtering for robot state estimation", IJRR 2020) of orientation, velocity, position, foot
positions, with gyro and accelerometer bias and the rotation between tracked body and base. Truth is
`exp(xi) * estimate`, errors in world axes. IMU strapdown, leg kinematics of feet in contact
(position and rate of the rolling sphere), motion capture at the time at which it was taken.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from legs import ContactDetector, Feet, Legs

from prime_estimation.config.parameters import NoiseConfig
from prime_estimation.robot import GRAVITY
from prime_estimation.types import ImuSample, JointSample, PoseSample

DOWN = np.array([0.0, 0.0, -GRAVITY])
R_, V_, P_ = slice(0, 3), slice(3, 6), slice(6, 9)


@dataclass(frozen=True)
class Tuning:
    """What the noise file does not say. One setting for all robots and runs."""

    contact_force_on: float = 0.5  # of the weight per foot
    contact_force_off: float = 0.3
    accelerometer_model: float = 0.3  # m/s^2, specific force that is not the base's
    # share of |specific force| - g added to its noise: impacts are undersampled
    accelerometer_shake: float = 0.1
    slip: float = 0.005  # m/s/sqrt(Hz), walk of a foot in stance
    foot_position: float = 0.003  # m, errors of leg kinematics
    foot_rate: float = 0.015  # m/s, errors of the rate of the contact point
    touchdown: float = 0.01  # s, time constant with which the extra noise after touch-down fades
    touchdown_gain: float = 6.0  # of slip and foot_rate, at touch-down
    # squared Mahalanobis distance above which a foot is refused: 99 % of chi-square with 3 dof
    gate: float = 11.3
    rolling: bool = True  # the sphere rolls on the ground
    rates: bool = True  # joint rates are used
    gyro_bias: float | None = None  # rad/s, at the start; None: as the noise file says
    gyro_bias_walk: float | None = None  # rad/s/sqrt(s), likewise
    rest: float = 0.02  # m/s, velocity of a robot that lies, of which no foot has stood yet


# The update of the paper: foot positions only.
PUBLISHED = Tuning(rates=False)


def _told(tuned: float | None, configured: float) -> float:
    return configured if tuned is None else tuned


@dataclass(frozen=True)
class Odometry:
    """Pose and twist of the base, named as in `prime_estimation.types.Estimate`.

    Covariances in the tangent at the base, base axes.
    """

    stamp_ns: int
    position_world: np.ndarray
    quat_world_base: np.ndarray  # xyzw
    linear_velocity_base: np.ndarray
    angular_velocity_base: np.ndarray
    pose_covariance: np.ndarray
    twist_covariance: np.ndarray


class ContactEkf:
    """The filter, at the IMU.

    `p`, `v` world [m, m/s], `R` world from IMU, `d` (n, 3) foot centres in the world.
    """

    def __init__(self, legs: Legs, noise: NoiseConfig, tuning: Tuning):
        self.legs, self.noise, self.tuning = legs, noise, tuning
        n = len(legs.contacts)
        self.R, self.v, self.p, self.d = np.eye(3), np.zeros(3), np.zeros(3), np.zeros((n, 3))
        self.gyro_bias, self.accelerometer_bias, self.R_offset = np.zeros(3), np.zeros(3), np.eye(3)
        self.D = [slice(9 + 3 * i, 12 + 3 * i) for i in range(n)]
        m = 9 + 3 * n
        self.BG, self.BA, self.OFF = slice(m, m + 3), slice(m + 3, m + 6), slice(m + 6, m + 9)
        self.P = np.zeros((m + 9, m + 9))
        self.contact = np.zeros(n, bool)
        self.detector = ContactDetector(
            n, GRAVITY * legs.robot.total_mass, tuning.contact_force_on, tuning.contact_force_off
        )
        self.world = pin.SE3.Identity()  # all corrections so far, as motion of the world
        # (stamp, pose_world_imu without corrections), for motion capture that comes late
        self.past = deque(maxlen=64)
        self.stamp_ns, self.imu = None, None

    def start(self, imu: list[ImuSample], feet: Feet) -> None:
        """Start at rest: level by the mean specific force, lowest foot on the plane z = 0."""
        up = np.mean([s.linear_acceleration for s in imu], axis=0)
        level = pin.Quaternion.FromTwoVectors(up, np.array([0.0, 0.0, 1.0])).toRotationMatrix()
        self.R = pin.rpy.rpyToMatrix(*(pin.rpy.matrixToRpy(level) * [1, 1, 0]))
        self.p = -self.R @ self.legs.placement.inverse().translation
        self.p[2] = -np.min((self.R @ feet.position.T)[2] - self.legs.radius)
        spread = np.std([s.linear_acceleration for s in imu], axis=0).max()
        tilt = np.hypot(0.02, 0.2 * spread / GRAVITY)
        stddev = np.zeros(len(self.P))
        stddev[R_], stddev[V_], stddev[P_] = [tilt, tilt, 1e-4], 0.2, 1e-4
        stddev[self.BG] = _told(self.tuning.gyro_bias, self.noise.gyro_bias)
        stddev[self.BA] = self.noise.accelerometer_bias
        stddev[self.OFF] = self.noise.mocap_offset
        self.P = np.diag(stddev**2)

    def predict(self, imu: ImuSample) -> None:
        """Strapdown over the interval since the last IMU sample, with the mean of both readings."""
        last, self.imu = self.imu or imu, imu
        dt = 0.0 if self.stamp_ns is None else (imu.stamp_ns - self.stamp_ns) * 1e-9
        self.stamp_ns = imu.stamp_ns
        if dt > 0.0:
            omega = 0.5 * (last.angular_velocity + imu.angular_velocity) - self.gyro_bias
            force = (
                0.5 * (last.linear_acceleration + imu.linear_acceleration) - self.accelerometer_bias
            )
            self._propagate_covariance(omega, force, dt)
            acceleration = self.R @ pin.exp3(0.5 * dt * omega) @ force + DOWN
            self.p = self.p + dt * self.v + 0.5 * dt * dt * acceleration
            self.v = self.v + dt * acceleration
            self.R = self.R @ pin.exp3(dt * omega)
        self.past.append((self.stamp_ns, self.world.actInv(pin.SE3(self.R, self.p))))

    def _propagate_covariance(self, omega, force, dt: float) -> None:
        n, noise, t = len(self.d), self.noise, self.tuning
        A = np.zeros_like(self.P)
        A[V_, R_] = pin.skew(DOWN)
        A[P_, V_] = np.eye(3)
        A[R_, self.BG] = A[V_, self.BA] = -self.R
        for block, point in ((V_, self.v), (P_, self.p), *zip(self.D, self.d)):
            A[block, self.BG] = -pin.skew(point) @ self.R
        F = np.eye(len(A)) + dt * A + 0.5 * dt * dt * (A @ A)
        shake = t.accelerometer_shake * abs(np.linalg.norm(force) - GRAVITY)
        G = A[:, self.BG]
        Q = (noise.gyro * dt) ** 2 * (G @ G.T)
        Q[V_, V_] += (
            dt * dt * (noise.accelerometer**2 + t.accelerometer_model**2 + shake**2) * np.eye(3)
        )
        for i in range(n):
            Q[self.D[i], self.D[i]] += dt * (self._inflation(i) * t.slip) ** 2 * np.eye(3)
        Q[self.BG, self.BG] += dt * _told(t.gyro_bias_walk, noise.gyro_bias_walk) ** 2 * np.eye(3)
        Q[self.BA, self.BA] += dt * noise.accelerometer_bias_walk**2 * np.eye(3)
        self.P = F @ self.P @ F.T + Q

    def _inflation(self, i: int) -> float:
        return 1.0 + self.tuning.touchdown_gain * np.exp(
            -self.detector.since[i] / self.tuning.touchdown
        )

    def rest_update(self) -> None:
        """The robot lies still."""
        H = np.zeros((3, len(self.P)))
        H[:, V_] = np.eye(3)
        self._correct(-self.v, H, self.tuning.rest**2 * np.eye(3))

    def legs_update(self, joint: JointSample, dt: float, stands: np.ndarray | None = None) -> None:
        """Leg kinematics of the feet in contact; feet that touch down get a new place.

        `stands`: (n,) which feet are in contact; None: as torques say.
        """
        omega = self.imu.angular_velocity - self.gyro_bias
        feet = self.legs.feet(
            joint.position,
            joint.velocity,
            joint.effort,
            omega,
            self.imu.linear_acceleration - self.accelerometer_bias,
        )
        before = self.contact
        if stands is None:
            self.contact = self.detector.update((feet.force @ self.R.T)[:, 2], dt)
        else:
            self.contact = self.detector.take(stands, dt)
        for i in np.flatnonzero(self.contact & ~before):
            self._place_foot(i, feet)
        for i in np.flatnonzero(self.contact):
            self.d[i] = self.d[i] + dt * self._rolling_rate(i, feet, omega, joint.velocity)
            if before[i]:
                self._foot_position_update(i, feet)
            if self.tuning.rates:
                self._foot_rate_update(i, feet, omega, joint.velocity)

    def _encoder_covariance(self, i: int, feet: Feet) -> np.ndarray:
        J = self.R @ feet.jacobian[i]
        return self.noise.encoder**2 * (J @ J.T) + self.tuning.foot_position**2 * np.eye(3)

    def _place_foot(self, i: int, feet: Feet) -> None:
        D = self.D[i]
        self.d[i] = self.p + self.R @ feet.position[i]
        self.P[D, :] = self.P[P_, :]
        self.P[:, D] = self.P[:, P_]
        self.P[D, D] = self.P[P_, P_] + self._encoder_covariance(i, feet)

    def _rolling_rate(self, i: int, feet: Feet, omega, rate) -> np.ndarray:
        """Velocity of the centre of a sphere that rolls on level ground [m/s], world axes."""
        if not self.tuning.rolling:
            return np.zeros(3)
        return np.cross(self.R @ (omega + feet.turn[i] @ rate), [0.0, 0.0, self.legs.radius[i]])

    def _foot_position_update(self, i: int, feet: Feet) -> None:
        H = np.zeros((3, len(self.P)))
        H[:, P_], H[:, self.D[i]] = -np.eye(3), np.eye(3)
        z = self.R @ feet.position[i] - (self.d[i] - self.p)
        self._correct(z, H, self._encoder_covariance(i, feet), self.tuning.gate)

    def _foot_rate_update(self, i: int, feet: Feet, omega, rate) -> None:
        h = feet.position[i]
        H = np.zeros((3, len(self.P)))
        H[:, V_] = np.eye(3)
        H[:, self.BG] = self.R @ pin.skew(h)
        J = self.R @ feet.jacobian[i]
        slip = self.tuning.foot_rate * self._inflation(i)
        N = self.noise.joint_velocity**2 * (J @ J.T) + slip**2 * np.eye(3)
        z = (
            self._rolling_rate(i, feet, omega, rate)
            - self.R @ (np.cross(omega, h) + feet.jacobian[i] @ rate)
            - self.v
        )
        self._correct(z, H, N, self.tuning.gate)

    def mocap_update(self, pose: PoseSample) -> None:
        """Pose of the tracked body, compared with the state at the time at which it was taken."""
        known = [entry for entry in self.past if entry[0] <= pose.stamp_ns]
        if not known:
            return
        stamp, R = known[-1][0], (self.world * known[-1][1]).rotation
        base = self.legs.placement.inverse()  # pose_imu_base
        p_base = (self.world * known[-1][1] * base).translation + (
            pose.stamp_ns - stamp
        ) * 1e-9 * self.v
        R_body = pin.Quaternion(np.asarray(pose.quat_world_body)).toRotationMatrix()
        H = np.zeros((6, len(self.P)))
        H[:3, P_], H[:3, R_] = np.eye(3), -pin.skew(p_base)
        H[3:, R_], H[3:, self.OFF] = np.eye(3), R @ base.rotation
        z = np.concatenate(
            [pose.position_world - p_base, pin.log3(R_body @ (R @ base.rotation @ self.R_offset).T)]
        )
        N = np.diag(np.repeat([self.noise.mocap_position**2, self.noise.mocap_rotation**2], 3))
        self._correct(z, H, N)

    def mocap_start(self, pose: PoseSample) -> None:
        """Move the world such that base and heading are those of the first pose.

        Uncertainties of shape stay as they are.
        """
        base = self.legs.placement.inverse()
        R_body = pin.Quaternion(np.asarray(pose.quat_world_body)).toRotationMatrix()
        turn = pin.rpy.rpyToMatrix(
            0.0,
            0.0,
            pin.rpy.matrixToRpy(R_body)[2] - pin.rpy.matrixToRpy(self.R @ base.rotation)[2],
        )
        shift = pose.position_world - turn @ (self.p + self.R @ base.translation)
        self.R = turn @ self.R
        self.v = turn @ self.v
        self.p = turn @ self.p + shift
        self.d = self.d @ turn.T + shift
        self.world = pin.SE3(turn, shift) * self.world
        adjoint, moved = np.eye(len(self.P)), np.zeros((len(self.P), 4))
        adjoint[R_, R_] = adjoint[V_, V_] = turn
        moved[R_, 3] = [0.0, 0.0, 1.0]
        for block in (P_, *self.D):
            adjoint[block, block], adjoint[block, R_] = turn, pin.skew(shift) @ turn
            moved[block, :3] = np.eye(3)
            moved[block, 3] = np.cross(pose.position_world, [0.0, 0.0, 1.0])
        yaw = np.hypot(2.0 * self.noise.mocap_rotation, self.noise.mocap_offset)
        moved = moved * [*(3 * [3.0 * self.noise.mocap_position]), yaw]
        self.P = adjoint @ self.P @ adjoint.T + moved @ moved.T

    def _correct(self, z, H, N, gate: float | None = None) -> None:
        PH = self.P @ H.T
        S = H @ PH + N
        if gate is not None and z @ np.linalg.solve(S, z) > gate:
            return
        K = np.linalg.solve(S, PH.T).T
        self._apply(K @ z)
        I_KH = np.eye(len(self.P)) - K @ H
        self.P = I_KH @ self.P @ I_KH.T + K @ N @ K.T

    def _apply(self, xi) -> None:
        turn = pin.exp3(xi[R_])
        J = pin.Jexp3(-xi[R_])  # the left Jacobian: pinocchio's is the right one
        self.world = pin.SE3(turn, J @ xi[P_]) * self.world
        self.R = turn @ self.R
        self.v, self.p = turn @ self.v + J @ xi[V_], turn @ self.p + J @ xi[P_]
        for i, D in enumerate(self.D):
            self.d[i] = turn @ self.d[i] + J @ xi[D]
        self.gyro_bias = self.gyro_bias + xi[self.BG]
        self.accelerometer_bias = self.accelerometer_bias + xi[self.BA]
        self.R_offset = pin.exp3(xi[self.OFF]) @ self.R_offset

    def odometry(self) -> Odometry:
        """Pose and twist of the base at the newest IMU sample."""
        base = self.legs.placement.inverse()  # pose_imu_base
        R = self.R @ base.rotation
        p = self.p + self.R @ base.translation
        omega = base.rotation.T @ (self.imu.angular_velocity - self.gyro_bias)
        v = base.rotation.T @ (self.R.T @ self.v) + np.cross(
            omega, base.rotation.T @ base.translation
        )
        J = np.zeros((12, len(self.P)))
        J[:3, P_], J[:3, R_], J[3:6, R_] = R.T, -R.T @ pin.skew(p), R.T
        J[6:9, V_], J[9:, self.BG] = R.T, -base.rotation.T
        C = J @ self.P @ J.T
        C[9:, 9:] += self.noise.gyro**2 * np.eye(3)
        return Odometry(
            self.stamp_ns, p, pin.Quaternion(R).coeffs(), v, omega, C[:6, :6], C[6:, 6:]
        )
