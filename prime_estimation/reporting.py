# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Reporter: from the solved window to the frozen `Estimate`, with the covariances of its posterior."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.special import ndtr

from .inertia import com_covariance
from .mhe.problem import Problem
from .mhe.process_model import Situation
from .mhe.window import Window
from .monitors import Monitors
from .monitors.consistency import ConsistencyMonitor
from .robot import GRAVITY
from .sensors.sensor import INSTANT
from .types import (
    BodyInertia,
    ContactEstimate,
    ContactState,
    Estimate,
    Measurement,
    SensorHealth,
    SolverStatus,
)

CONTACT_SHARE = 0.05  # of the body weight, above which a foot is said to be in contact
SLIP_SPEED = 0.1  # tangential speed of a sliding contact [m/s]
OBSERVED = 0.5  # share of the prior's standard deviation below which a mass has been observed


class Reporter:
    """Turns windows into estimates."""

    def __init__(self, problem: Problem):
        self.problem, self.robot = problem, problem.robot
        inertias = self.robot.model.inertias
        estimated = [inertias[self.robot.link_joint(n)].mass for n in self.robot.estimated_links]
        self.fixed_mass = self.robot.total_mass - sum(estimated)
        self.prior_mass_stddev = problem.config.estimator.mass_stddev
        self._torque_error = problem.config.noise.torque_scale

    def estimate(
        self,
        window: Window,
        m: Measurement,
        situation: Situation,
        monitors: Monitors,
        solve_time_ms: float,
    ) -> Estimate:
        """The estimate at the head of a window whose posterior has been computed.

        Args:
            window: solved.
            m: measurement of its head.
            situation: what was assumed of it.
            monitors: asked for health, counters, and the covariance of an inertia that is held.
            solve_time_ms: of the update so far.
        """
        problem, layout = self.problem, self.problem.layout
        x, P, held = window.xs[-1], window.head_covariance(), monitors.hold.covariance
        if held is not None:
            P[problem.columns("theta"), problem.columns("theta")] = held
        noise = problem.config.noise
        told = m.torque_commanded
        self._torque_error = noise.torque_scale_commanded if told else noise.torque_scale
        bodies = self._bodies(x, P)
        mass, stddev = self._total(bodies)
        health = self._health(window, m, situation, monitors, (mass, stddev))
        base = self._base(window, m, P) if problem.floating else _fixed_base()
        return Estimate(
            stamp_ns=window.stamps[-1],
            **base,
            joint_position=self.robot.positions(layout.q(x)),
            joint_velocity=layout.part(x, "joint_rates").copy(),
            joint_torque=self._torque(window),
            contacts_stamp_ns=window.stamps[-2],
            contacts=self._contacts(window, mass, 0.0 if held is None else stddev / mass),
            bodies=bodies,
            total_mass=mass,
            total_mass_stddev=stddev,
            status=_status(window, monitors.consistency, health, solve_time_ms),
            gyro_bias=layout.part(x, "gyro_bias").copy(),
            accelerometer_bias=layout.part(x, "accelerometer_bias").copy(),
            friction=self._friction(x),
        )

    def _health(
        self,
        window: Window,
        m: Measurement,
        situation: Situation,
        monitors: Monitors,
        mass: tuple[float, float],
    ) -> list[SensorHealth]:
        """Health of sensors and of the estimator's assumptions; `mass`: total, and its deviation."""
        consistency, out = monitors.consistency, []
        innovations = consistency.innovations
        for sensor in self.problem.sensors:
            if not sensor.innovations:
                continue
            first = sensor.innovations[0]
            if tracker := self.problem.measurements.trackers.get(sensor.name):
                wrong = tracker.health()
            else:
                # not every node has a reading of a sensor whose samples come one by one
                events = sensor in self.problem.sensors.event_sensors
                seen = first in consistency.present if events else sensor.seen(m)
                wrong = "" if seen else "no data"
            value = float("nan") if wrong == "no data" else innovations.get(first, float("nan"))
            said = wrong or sensor.remark(m)
            out.append(SensorHealth(sensor.name, not wrong, said, value))
        if doubt := monitors.consistency.doubt(*mass, self.robot.total_mass):
            out.append(SensorHealth("robot", False, doubt, innovations.get("model", float("nan"))))
        for monitor in monitors:
            out += monitor.health(situation)
        if contradiction := self.problem.contacts.contradiction(window):
            out.append(SensorHealth("contacts", False, contradiction))
        return out

    def _torque(self, window: Window) -> np.ndarray:
        """Motor torque (nj,) [Nm] of the newest complete node: as measured, and what was missing."""
        missing = window.unexplained(slice(-1, None))[0, self.problem.nv - self.problem.nj :]
        return window.inputs[-2].torque + missing

    def _friction(self, x: np.ndarray) -> float:
        value = self.problem.parameter(x, "friction")
        return float(np.exp(value[0])) if value.size else float("nan")

    def _total(self, bodies: tuple[BodyInertia, ...]) -> tuple[float, float]:
        """Total mass and its standard deviation [kg]; the common torque scale counts once."""
        mass = self.fixed_mass + sum(b.mass for b in bodies)
        systematic = self._torque_error * mass
        variance = sum(b.mass_stddev**2 - systematic**2 for b in bodies) + systematic**2
        return float(mass), float(np.sqrt(variance))

    def _base(self, window: Window, m: Measurement, P: np.ndarray) -> dict:
        problem, layout, nv = self.problem, self.problem.layout, self.problem.nv
        x = window.xs[-1]
        linear, angular = _velocity_now(problem, window, m)
        twist = P[nv : nv + 6, nv : nv + 6].copy()
        noise = problem.config.noise
        # what half a step of acceleration adds: the vibration that the rigid model does not have,
        # and what falls between samples
        missed = np.hypot(noise.accelerometer_model, INSTANT * np.max(m.accelerometer_change))
        twist[:3, :3] += np.eye(3) * (0.5 * problem.dt * missed) ** 2
        if m.gyro_now is not None and problem.mount.rigid:
            twist[3:, 3:] += np.eye(3) * noise.gyro**2
        return dict(
            position_world=layout.part(x, "position").copy(),
            quat_world_base=layout.part(x, "rotation").copy(),
            linear_velocity_base=linear,
            angular_velocity_base=angular,
            pose_covariance=P[:6, :6].copy(),
            twist_covariance=twist,
        )

    def _bodies(self, x: np.ndarray, P: np.ndarray) -> tuple[BodyInertia, ...]:
        problem, columns = self.problem, self.problem.columns("theta")
        pis = problem.inertias(x)
        total = self.fixed_mass + sum(pi[0] for pi, _ in pis)
        systematic = self._torque_error * total
        bodies = []
        for i, (link, (pi, jacobian)) in enumerate(zip(self.robot.estimated_links, pis)):
            rows = slice(columns.start + 10 * i, columns.start + 10 * i + 10)
            covariance = jacobian @ P[rows, rows] @ jacobian.T
            mass_stddev = float(np.hypot(np.sqrt(max(covariance[0, 0], 0.0)), systematic))
            com_stddev = np.sqrt(np.maximum(np.diag(com_covariance(pi, covariance)), 0.0))
            observable = bool(mass_stddev < OBSERVED * self.prior_mass_stddev)
            bodies.append(BodyInertia(link, pi, covariance, mass_stddev, com_stddev, observable))
        return tuple(bodies)

    def _contacts(
        self, window: Window, mass: float, unweighed: float
    ) -> tuple[ContactEstimate, ...]:
        if not self.problem.dynamics.nc:
            return ()
        force, covariance = window.forces()
        # forces carry the weight: they are no better known than a mass that is not estimated
        covariance = covariance + unweighed**2 * np.outer(force, force)
        if window.inputs[-2].ground_depth > 0.0:  # no contact is modelled while legs are not seen
            covariance += np.eye(len(force)) * (GRAVITY * mass) ** 2
        kinematics = window.nodes[-1].contact_kinematics(window.data[-1])
        threshold = CONTACT_SHARE * GRAVITY * mass
        variance = np.maximum(np.diag(covariance)[2::3], 1e-12)
        probability = ndtr((force[2::3] - threshold) / np.sqrt(variance))
        slip = np.linalg.norm(kinematics["velocity"].reshape(-1, 3)[:, :2], axis=1)
        state = np.where(slip > SLIP_SPEED, ContactState.SLIPPING, ContactState.STICKING)
        state[force[2::3] < threshold] = ContactState.OPEN
        return tuple(
            ContactEstimate(
                contact.name,
                kinematics["points"][i].copy(),
                force[3 * i : 3 * i + 3].copy(),
                covariance[3 * i : 3 * i + 3, 3 * i : 3 * i + 3].copy(),
                float(probability[i]),
                ContactState(int(state[i])),
            )
            for i, contact in enumerate(self.robot.contacts)
        )


def _status(
    window: Window,
    consistency: ConsistencyMonitor,
    health: list[SensorHealth],
    solve_time_ms: float,
) -> SolverStatus:
    solver = window.solver
    return SolverStatus(
        solve_time_ms=solve_time_ms,
        latency_ms=solve_time_ms,
        iterations=int(solver.iter),
        cost=float(solver.cost),
        feasibility=float(solver.largest_gap),
        window_nodes=window.size,
        restarts=consistency.restarts,
        refused_steps=consistency.refused,
        sensors=tuple(health),
    )


def _fixed_base() -> dict:
    zero = np.zeros(3)
    return dict(
        position_world=zero,
        quat_world_base=np.array([0.0, 0.0, 0.0, 1.0]),
        linear_velocity_base=zero.copy(),
        angular_velocity_base=zero.copy(),
        pose_covariance=np.zeros((6, 6)),
        twist_covariance=np.zeros((6, 6)),
    )


def _velocity_now(
    problem: Problem, window: Window, m: Measurement
) -> tuple[np.ndarray, np.ndarray]:
    """Velocity at the stamp: the mean over the past step, which is the state, and half a step of acceleration.

        v(t) - mean = integral (s/dt) dv/ds ds = dt/2 (f_ramp - w x v + R^T g - lever arm terms)

    An IMU behind joints does not feel what the base does (a torso stays behind while the pelvis is
    pushed): then the last change stands in.
    """
    part, x = problem.layout.part, window.xs[-1]
    mean, angular = part(x, "velocity"), part(x, "rate")
    if m.gyro_now is None or m.accelerometer_ramp is None or not problem.mount.rigid:
        before = window.xs[-2]
        linear_step = 0.5 * (mean - part(before, "velocity"))
        return mean + linear_step, angular + 0.5 * (angular - part(before, "rate"))
    base_M_imu, _ = problem.mount.motion()
    R_base_imu, r = base_M_imu.rotation, base_M_imu.translation
    now = R_base_imu @ (m.gyro_now - part(x, "gyro_bias"))
    force = R_base_imu @ (m.accelerometer_ramp - part(x, "accelerometer_bias"))
    alpha = 2.0 * (now - angular) / problem.dt
    R_world_base = pin.Quaternion(part(x, "rotation").copy()).toRotationMatrix()
    gravity = R_world_base.T @ problem.robot.model.gravity.linear
    turning = pin.skew(angular)
    acceleration = force - pin.skew(alpha) @ r - turning @ (turning @ r + mean) + gravity
    return mean + 0.5 * problem.dt * acceleration, now
