# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""From the solved window to the frozen `Estimate`.

Head state, forces, inertia, with their covariances.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.special import ndtr

from .contact.schedule import CONTRADICTED, contradicted
from .inertia import com_covariance
from .mhe.problem import INSTANT, Problem
from .mhe.window import Window
from .monitors.consistency import Watch
from .robot import GRAVITY
from .types import BodyInertia, ContactEstimate, ContactState, Estimate, Measurement, SolverStatus

CONTACT_SHARE = 0.05  # of the body weight, above which a foot is said to be in contact
CARRIED = "feet: they do not carry the robot, which is held or has fallen; inertia is not estimated"
SLIP_SPEED = 0.1  # tangential speed of a sliding contact [m/s]


class Reporter:
    """Turns windows into estimates."""

    def __init__(self, problem: Problem):
        self.problem, self.robot = problem, problem.robot
        estimated = (
            self.robot.model.inertias[self.robot.link_joint(link)]
            for link in self.robot.estimated_links
        )
        self.fixed_mass = self.robot.total_mass - sum(inertia.mass for inertia in estimated)
        self.prior_mass_stddev = problem.config.estimator.mass_stddev

    def estimate(
        self,
        window: Window,
        m: Measurement,
        watch: Watch,
        solve_time_ms: float,
        held: np.ndarray | None = None,
    ) -> Estimate:
        """The estimate at the head of a window whose posterior has been computed.

        `held`: covariance of an inertia that is held.
        """
        problem, nq, nv, nj = self.problem, self.problem.nq, self.problem.nv, self.problem.nj
        x, P = window.xs[-1], window.head_covariance()
        if held is not None:
            P[problem.columns("theta"), problem.columns("theta")] = held
        bodies = self._bodies(x, P)
        mass = self.fixed_mass + sum(b.mass for b in bodies)
        systematic = problem.config.noise.torque_scale * mass
        variance = sum(b.mass_stddev**2 - systematic**2 for b in bodies) + systematic**2
        base = self._base(window, m, P) if problem.floating else _fixed_base()
        return Estimate(
            stamp_ns=window.stamps[-1],
            **base,
            joint_position=self.robot.positions(x[:nq]),
            joint_velocity=x[nq + nv - nj : nq + nv].copy(),
            joint_torque=window.inputs[-2].torque
            + window.unexplained(slice(-1, None))[0, nv - nj :],
            contacts_stamp_ns=window.stamps[-2],
            contacts=self._contacts(
                window, mass, 0.0 if held is None else np.sqrt(variance) / mass
            ),
            bodies=bodies,
            total_mass=float(mass),
            total_mass_stddev=float(np.sqrt(variance)),
            status=self._status(
                window,
                watch,
                m,
                solve_time_ms,
                watch.doubt(mass, np.sqrt(variance), self.robot.total_mass),
            ),
            gyro_bias=problem.parameter(x, "gyro_bias").copy(),
            accelerometer_bias=problem.parameter(x, "accelerometer_bias").copy(),
            friction=float(np.exp(problem.parameter(x, "friction")[0]))
            if problem.dynamics.nc
            else float("nan"),
        )

    def _base(self, window: Window, m: Measurement, P: np.ndarray) -> dict:
        problem, nv = self.problem, self.problem.nv
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
            position_world=x[:3].copy(),
            quat_world_base=x[3:7].copy(),
            linear_velocity_base=linear,
            angular_velocity_base=angular,
            pose_covariance=P[:6, :6].copy(),
            twist_covariance=twist,
        )

    def _bodies(self, x: np.ndarray, P: np.ndarray) -> tuple[BodyInertia, ...]:
        problem, columns = self.problem, self.problem.columns("theta")
        pis = problem.inertias(x)
        total = self.fixed_mass + sum(pi[0] for pi, _ in pis)
        systematic = problem.config.noise.torque_scale * total
        bodies = []
        for i, (link, (pi, jacobian)) in enumerate(zip(self.robot.estimated_links, pis)):
            rows = slice(columns.start + 10 * i, columns.start + 10 * i + 10)
            covariance = jacobian @ P[rows, rows] @ jacobian.T
            mass_stddev = float(np.hypot(np.sqrt(max(covariance[0, 0], 0.0)), systematic))
            com_stddev = np.sqrt(np.maximum(np.diag(com_covariance(pi, covariance)), 0.0))
            observable = mass_stddev < 0.5 * self.prior_mass_stddev
            bodies.append(
                BodyInertia(link, pi, covariance, mass_stddev, com_stddev, bool(observable))
            )
        return tuple(bodies)

    def _contacts(
        self, window: Window, mass: float, unweighed: float
    ) -> tuple[ContactEstimate, ...]:
        if not self.problem.dynamics.nc:
            return ()
        force, covariance = window.forces()
        # forces carry the weight: they are no better known than a mass that is not estimated
        covariance = covariance + unweighed**2 * np.outer(force, force)
        # no contact is modelled while the legs are not seen
        if window.inputs[-2].ground_depth > 0.0:
            covariance += np.eye(len(force)) * (GRAVITY * mass) ** 2
        kinematics = window.nodes[-1].contact_kinematics(window.data[-1])
        threshold = CONTACT_SHARE * GRAVITY * mass
        out = []
        for i, contact in enumerate(self.robot.contacts):
            rows = slice(3 * i, 3 * i + 3)
            normal, sigma = force[3 * i + 2], np.sqrt(max(covariance[3 * i + 2, 3 * i + 2], 1e-12))
            slipping = np.linalg.norm(kinematics["velocity"][3 * i : 3 * i + 2]) > SLIP_SPEED
            state = (
                ContactState.OPEN
                if normal < threshold
                else ContactState.SLIPPING
                if slipping
                else ContactState.STICKING
            )
            probability = float(ndtr((normal - threshold) / sigma))
            point, spread = kinematics["points"][i].copy(), covariance[rows, rows].copy()
            out.append(
                ContactEstimate(contact.name, point, force[rows].copy(), spread, probability, state)
            )
        return tuple(out)

    def _status(
        self, window: Window, watch: Watch, m: Measurement, solve_time_ms: float, doubt: str
    ) -> SolverStatus:
        present = {"joint_states": m.position is not None, "torque": m.torque is not None}
        if self.problem.layout.gyro_bias >= 0:
            present["imu"] = m.gyro is not None
        if self.problem.layout.mocap >= 0:
            present["mocap"] = "mocap" in watch.innovations
        sensors = tuple(name if there else f"{name}: no data" for name, there in present.items())
        innovations = [
            watch.innovations.get(_INNOVATION_OF.get(name, name), float("nan")) for name in present
        ]
        if doubt:
            sensors, innovations = (
                (*sensors, f"robot: {doubt}"),
                [*innovations, watch.innovations.get("model", float("nan"))],
            )
        if self.problem.carried:
            sensors, innovations = (*sensors, CARRIED), [*innovations, float("nan")]
        if self.problem.stances is not None and contradicted(window):
            sensors, innovations = (*sensors, CONTRADICTED), [*innovations, float("nan")]
        solver = window.solver
        return SolverStatus(
            solve_time_ms=solve_time_ms,
            latency_ms=solve_time_ms,
            iterations=int(solver.iter),
            cost=float(solver.cost),
            feasibility=float(solver.largest_gap),
            window_nodes=window.size,
            restarts=watch.restarts,
            refused_steps=watch.refused,
            sensors=sensors,
            normalized_innovations=tuple(innovations),
        )


_INNOVATION_OF = {"joint_states": "encoders", "torque": "model", "imu": "gyro"}


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
    """Velocity at the stamp.

    The mean over the past step, which is the state, and half a step of acceleration.

    v(t) - mean = integral (s/dt) dv/ds ds = dt/2 (f_ramp - w x v + R^T g - lever arm terms)

    An IMU behind joints does not feel what the base does (a torso stays behind while the pelvis is
    pushed): then the last change stands in.
    """
    nq = problem.nq
    x = window.xs[-1]
    mean, angular = x[nq : nq + 3], x[nq + 3 : nq + 6]
    if m.gyro_now is None or m.accelerometer_ramp is None or not problem.mount.rigid:
        step = 0.5 * (x[nq : nq + 6] - window.xs[-2][nq : nq + 6])
        return mean + step[:3], angular + step[3:]
    base_M_imu, _ = problem.mount.motion()
    R_base_imu, r = base_M_imu.rotation, base_M_imu.translation
    now = R_base_imu @ (m.gyro_now - problem.parameter(x, "gyro_bias"))
    force = R_base_imu @ (m.accelerometer_ramp - problem.parameter(x, "accelerometer_bias"))
    alpha = 2.0 * (now - angular) / problem.dt
    gravity = pin.Quaternion(x[3:7]).toRotationMatrix().T @ problem.robot.model.gravity.linear
    turning = pin.skew(angular)
    acceleration = force - pin.skew(alpha) @ r - turning @ (turning @ r + mean) + gravity
    return mean + 0.5 * problem.dt * acceleration, now
