# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pose and velocity of an estimate, with what the posterior of a window does not know of them."""

from __future__ import annotations

import math

import numpy as np

from .. import _core
from ..config.policies import ACCELEROMETER_BIAS, INTERVAL
from ..mhe.dead_axes import unseen_twist
from ..mhe.intervals import (
    MOUNT_COVARIANCE,
    Intervals,
    creep_covariance,
    sole_tilt,
    untold_velocity,
)
from ..mhe.problem import Problem
from ..mhe.window import Window
from ..robot import GRAVITY
from ..sensors.imu import vertical
from ..types import Measurement


class BaseReport:
    """Pose and velocity of the base at the head of a window.

    Attributes:
        rows: of the tangent, whose covariance is asked for.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        tangent = problem.layout.tangent
        parts = ("position", "rotation", "velocity", "rate") if problem.floating else ("joints",)
        self.rows = np.concatenate([np.eye(problem.ndx)[tangent[name]] for name in parts])
        self._gravity = problem.robot.model.gravity.linear.copy()
        self._intervals = Intervals(problem.dt)
        self._zeros = sole_tilt(problem.robot, problem.config.noise.encoder_offset)
        self._poses = 1.0  # of motion capture by node, in the mean

    def fields(
        self,
        window: Window,
        m: Measurement,
        P: np.ndarray,
        slipping: float,
        elsewhere: bool,
        stuck: float,
        tilt: np.ndarray,
        falls: bool,
    ) -> dict:
        """Those of the `Estimate`.

        Args:
            window: solved.
            m: measurement of its head.
            P: covariance (12, 12) of pose and mean velocity.
            slipping: share of the feet that carry and slide.
            elsewhere: links whose inertia is not estimated carry a load.
            stuck: share of what dry friction of joints at rest has done to the tilt.
            tilt: (3,) deviation of the rotation by the accelerometer's bias, base axes [rad].
            falls: nothing carries the robot, or it turns over.
        """
        layout, x = self.problem.layout, window.xs[-1]
        if not self.problem.floating:
            return _fixed_base()
        linear, angular = self._velocity_now(window, m)
        quaternion = layout.part(x, "rotation").copy()
        twist = self._twist(window, m, P[6:, 6:], elsewhere, falls)
        pose = self._pose(window, m, P[:6, :6], slipping, elsewhere, stuck, falls)
        if np.count_nonzero(tilt):
            creep = ACCELEROMETER_BIAS.creep * np.cross(tilt, vertical(quaternion))
            pose[3:, 3:] += tilt[:, None] * tilt
            twist[:3, :3] += creep[:, None] * creep
        pose += window.place.covariance(window.arrival, window.xs[0], x)
        return dict(
            position_world=layout.part(x, "position").copy(),
            quat_world_base=quaternion,
            linear_velocity_base=linear,
            angular_velocity_base=angular,
            pose_covariance=pose,
            twist_covariance=twist,
        )

    def _twist(
        self, window: Window, m: Measurement, mean: np.ndarray, elsewhere: bool, falls: bool
    ) -> np.ndarray:
        """Covariance (6, 6) of the velocity at the stamp, from that of its mean over the step."""
        problem, noise, twist = self.problem, self.problem.config.noise, mean.copy()
        variances = twist.reshape(-1)[:: len(twist) + 1]  # a view of its diagonal
        x, vibration = window.xs[-1], noise.accelerometer_model
        untold = 0.0 if window.weighed() else self._untold(window)
        variances[:3] += self._intervals.velocity(m, vibration, problem.softness(x), untold)
        variances[:3] += window.place.velocity_variance()
        if window.place.dragged:
            twist[:3, :3] += window.place.drag(window.up())
        if problem.bent:
            variances[:3] += INTERVAL.mount_velocity**2
        if elsewhere:
            variances[:3] += INTERVAL.elsewhere**2
        if falls:
            variances[:3] += INTERVAL.fall**2
        if m.gyro_now is not None and problem.mount.rigid:
            variances[3:] += noise.gyro**2
        if m.imu_dead is not None:
            twist += self._unseen(window, m.imu_dead)
        return twist

    def _untold(self, window: Window) -> float:
        velocity = self.problem.layout.part(window.xs[-1], "velocity")
        speed = math.hypot(*velocity.tolist())
        return untold_velocity(speed, window.unweighed, window.place.measured)

    def _pose(
        self,
        window: Window,
        m: Measurement,
        covariance: np.ndarray,
        slipping: float,
        elsewhere: bool,
        stuck: float,
        falls: bool,
    ) -> np.ndarray:
        """Covariance (6, 6) of the pose, from that of the posterior; arguments as of `fields`."""
        problem = self.problem
        # what gears and drives make of commands bends the tilt as torques that are missing do
        measured = window.weighed() and not m.torque_commanded
        zeros = self._zeros + (problem.joints_let_go * INTERVAL.unlike_tilt) ** 2
        zeros += (stuck * INTERVAL.rest_tilt) ** 2 + window.leaning**2 + window.guessed**2
        if not window.place.measured:
            zeros += _seldom(m) ** 2
        pose = covariance + creep_covariance(
            window.unevenness,
            problem.layout.part(window.xs[-1], "rotation"),
            measured,
            zeros,
            slipping,
            problem.delay,
            elsewhere,
            poses=self._noise_of_poses(window, m),
        )
        if problem.bent:
            pose += MOUNT_COVARIANCE
        if falls:
            pose.flat[:21:7] += INTERVAL.fall_place**2
        return pose

    def _noise_of_poses(self, window: Window, m: Measurement) -> float:
        """Deviation of a pose's position times the root of the time to the next [m sqrt(s)].

        To be asked node by node. 0: no motion capture tells the pose.
        """
        dt = self.problem.dt
        self._poses += dt / INTERVAL.place_memory * (len(m.mocap) - self._poses)
        if not window.place.measured:
            return 0.0
        return self.problem.noise.mocap_position * math.sqrt(dt / self._poses)

    def _unseen(self, window: Window, dead: np.ndarray) -> np.ndarray:
        """Covariance (6, 6) of a twist that goes on as it changed, along axes (6,) that are dead.

        By as much as it has changed over the last node.
        """
        R = self.problem.imu_motion(window.xs[-1])[0].rotation
        linear, turn = self._half_steps(window)
        return unseen_twist(R, 2.0 * dead * np.concatenate([R.T @ turn, R.T @ linear]))

    def _half_steps(self, window: Window) -> tuple[np.ndarray, np.ndarray]:
        """Half of the last change of linear velocity [m/s] and angular rate [rad/s], base axes."""
        part, (before, x) = self.problem.layout.part, window.xs[-2:]
        linear = part(x, "velocity") - part(before, "velocity")
        return 0.5 * linear, 0.5 * (part(x, "rate") - part(before, "rate"))

    def _velocity_now(self, window: Window, m: Measurement) -> tuple[np.ndarray, np.ndarray]:
        """Velocity at the stamp: the mean over the step (the state), half a step of acceleration.

        An IMU behind joints does not feel what the base does (a torso stays behind while the pelvis
        is pushed): then the last change stands in, as it does for axes that are dead.
        """
        problem, part, x = self.problem, self.problem.layout.part, window.xs[-1]
        mean, angular = part(x, "velocity"), part(x, "rate")
        if m.gyro_now is None or m.accelerometer_ramp is None or not problem.mount.rigid:
            linear_step, turn_step = self._half_steps(window)
            return mean + linear_step, angular + turn_step
        gyro = m.gyro_now - part(x, "gyro_bias")
        force = m.accelerometer_ramp - part(x, "accelerometer_bias")
        base_M_imu, _ = problem.mount.motion()
        if m.imu_dead is not None:
            linear_step, turn_step = self._half_steps(window)
            R_imu_base, up = base_M_imu.rotation.T, vertical(part(x, "rotation"))
            turned = R_imu_base @ (angular + turn_step)
            carried = 2.0 / problem.dt * linear_step + np.cross(angular, mean) + GRAVITY * up
            gyro = np.where(m.imu_dead[:3], turned, gyro)
            force = np.where(m.imu_dead[3:], R_imu_base @ carried, force)
        place = part(x, "rotation"), base_M_imu
        return _core.velocity_at_end(mean, angular, *place, gyro, force, self._gravity, problem.dt)


def _seldom(m: Measurement) -> float:
    """Deviation of roll and pitch [rad] by what falls between samples of joints and IMU alike."""
    square = min(m.joint_interval, m.imu_interval) ** 2 - INTERVAL.often**2
    return INTERVAL.seldom_tilt * max(square, 0.0)


def _fixed_base() -> dict:
    return dict(
        position_world=np.zeros(3),
        quat_world_base=np.array([0.0, 0.0, 0.0, 1.0]),
        linear_velocity_base=np.zeros(3),
        angular_velocity_base=np.zeros(3),
        pose_covariance=np.zeros((6, 6)),
        twist_covariance=np.zeros((6, 6)),
    )
