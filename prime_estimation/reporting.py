# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Reporter: from the solved window to the frozen `Estimate`, with covariances of its posterior."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from . import _core
from .config.policies import INTERVAL
from .inertia import com_stddev
from .mhe.external_wrench import external_wrench
from .mhe.intervals import Intervals, creep_covariance, sole_tilt
from .mhe.joint_parameters import GAINS, MODEL_ERROR
from .mhe.problem import Problem
from .mhe.situation import Situation
from .mhe.window import Window
from .monitors import Monitors
from .monitors.consistency import ConsistencyMonitor
from .robot import GRAVITY
from .types import (
    BodyInertia,
    ContactEstimate,
    ContactState,
    Estimate,
    JointParameter,
    Measurement,
    SensorHealth,
    SolverStatus,
)

CONTACT_SHARE = 0.05  # of the body weight, above which a foot is said to be in contact
SLIP_SPEED = 0.1  # tangential speed of a sliding contact [m/s]
MOVING = ContactState.STICKING, ContactState.SLIPPING  # of contacts: slowly, faster than that
OBSERVED = 0.5  # share of the prior's standard deviation below which a mass has been observed


class Reporter:
    """Turns windows into estimates."""

    def __init__(self, problem: Problem):
        self.problem, self.robot = problem, problem.robot
        inertias = self.robot.model.inertias
        estimated = [inertias[self.robot.link_joint(n)].mass for n in self.robot.estimated_links]
        self.nominal_mass = self.robot.total_mass
        self.fixed_mass = self.nominal_mass - sum(estimated)
        tangent = self.problem.layout.tangent
        parts = ("position", "rotation", "velocity", "rate") if problem.floating else ("joints",)
        self._base_rows = np.concatenate([np.eye(problem.ndx)[tangent[name]] for name in parts])
        self._force_rows = [slice(3 * i, 3 * i + 3) for i in range(len(self.robot.contacts))]
        self._theta = problem.layout.parameter_rows("theta")
        self._gravity = self.robot.model.gravity.linear.copy()
        self.prior_mass_stddev = problem.config.estimator.mass_stddev
        self._torque_error = problem.config.noise.torque_scale
        lasting = INTERVAL.com, INTERVAL.com, INTERVAL.com_height
        self._com_error = np.array(lasting) if problem.floating else np.zeros(3)
        self._intervals = Intervals(problem.dt)
        self._zeros = sole_tilt(self.robot, problem.config.noise.encoder_offset)
        model, events = problem.measurements, problem.sensors.event_sensors
        told = [(s, model.trackers.get(s.name), model.gates.get(s.name)) for s in problem.sensors]
        self._sensors = [  # that have something to say, with the part that their innovation is of
            (s, next(iter(s.innovations), ""), s in events, tracker, gate)
            for s, tracker, gate in told
            if s.innovations or tracker
        ]

    def estimate(
        self, window: Window, m: Measurement, situation: Situation, monitors: Monitors, began: float
    ) -> Estimate:
        """The estimate at the head of a window.

        Args:
            window: solved.
            m: measurement of its head.
            situation: what was assumed of it.
            monitors: asked for health, counters, and the covariance of an inertia that is held.
            began: `time.perf_counter()` of the update [s].
        """
        base_covariance, parameters, *contacts = window.newest(self._base_rows)
        solve_time_ms = 1e3 * (time.perf_counter() - began)
        layout, x, held = self.problem.layout, window.xs[-1], monitors.hold.covariance
        noise = self.problem.config.noise
        told = m.torque_commanded
        self._torque_error = noise.torque_scale_commanded if told else noise.torque_scale
        theta = parameters[self._theta, self._theta] if held is None else held
        bodies = self._bodies(x, theta, situation)
        mass, stddev = self._total(bodies)
        doubt = monitors.consistency.doubt(mass, stddev, self.nominal_mass)
        if doubt or monitors.support.doubted:
            bodies = tuple(replace(body, observable=False) for body in bodies)
        bodies = self._doubted(bodies, monitors.place.doubted)
        health = self._health(window, m, situation, monitors, doubt)
        unweighed = 0.0 if held is None else stddev / mass
        return Estimate(
            stamp_ns=window.stamps[-1],
            **self._base(window, m, base_covariance),
            joint_position=self.robot.positions(layout.q(x)),
            joint_velocity=layout.part(x, "joint_rates").copy(),
            joint_torque=self._torque(window),
            contacts_stamp_ns=window.stamps[-2],
            contacts=self._contacts(window, contacts, mass, unweighed),
            bodies=bodies,
            total_mass=mass,
            total_mass_stddev=stddev,
            status=_status(window, monitors.consistency, health, solve_time_ms),
            gyro_bias=layout.part(x, "gyro_bias").copy(),
            accelerometer_bias=layout.part(x, "accelerometer_bias").copy(),
            friction=self._friction(x),
            ground_stiffness=self._stiffness(x),
            external=external_wrench(window),
            activity=monitors.activity.activity,
            joint_parameters=self._joints(x, parameters),
        )

    def _health(
        self, window: Window, m: Measurement, situation: Situation, monitors: Monitors, doubt: str
    ) -> list[SensorHealth]:
        """Health of sensors and assumptions; `doubt`: whether it is the model's robot."""
        consistency, out = monitors.consistency, []
        innovations = consistency.innovations
        for sensor, first, events, tracker, gate in self._sensors:
            if tracker:
                wrong = tracker.health()
            else:
                # not every node has a reading of a sensor whose samples come one by one
                seen = first in consistency.present if events else sensor.seen(m)
                wrong = "" if seen else "no data"
            value = innovations.get(first, math.nan) if first else tracker.innovation
            value = math.nan if wrong == "no data" else value
            said = wrong or sensor.remark(m) or (gate.remark() if gate else "")
            out.append(SensorHealth(sensor.name, not wrong, said, value))
        if doubt:
            out.append(SensorHealth("robot", False, doubt, innovations.get("model", float("nan"))))
        for monitor in monitors:
            out += monitor.health(situation)
        if contradiction := self.problem.contacts.contradiction(window):
            out.append(SensorHealth("contacts", False, contradiction))
        return out

    def _torque(self, window: Window) -> np.ndarray:
        """Motor torque (nj,) [Nm] of the newest complete node: as measured, with what it lacks."""
        given, joints = window.inputs[-2], slice(-self.problem.nj, None)
        return given.torque + window.unexplained(slice(-1, None))[0, joints]

    def _friction(self, x: np.ndarray) -> float:
        value = self.problem.parameter(x, "friction")
        return math.exp(value[0]) if value.size else math.nan

    def _stiffness(self, x: np.ndarray) -> float:
        value = self.problem.parameter(x, "softness")
        return self.problem.dynamics.stiffness(value[0]) if value.size else math.nan

    def _joints(self, x: np.ndarray, parameters: np.ndarray) -> tuple[JointParameter, ...]:
        """Joint parameters at a state; parameters: covariance of all parameters."""
        out: list[JointParameter] = []
        for block in () if self.problem.joint_hold.held else self.problem.joints:
            rows = self.problem.layout.parameter_rows(block.name)
            deviation = MODEL_ERROR * np.sqrt(np.maximum(parameters.diagonal()[rows], 0.0))
            if block.name == GAINS:  # their mean is not told
                deviation = np.hypot(deviation, self._torque_error)
            value, slope = block.values(self.problem.parameter(x, block.name))
            told, stddev = block.told(deviation, slope), slope * deviation
            parts = zip(block.labels, value.tolist(), stddev.tolist(), told.tolist())
            out += (JointParameter(block.name, *part) for part in parts)
        return tuple(out)

    def _total(self, bodies: tuple[BodyInertia, ...]) -> tuple[float, float]:
        """Total mass and its standard deviation [kg]; the common torque scale counts once."""
        mass = self.fixed_mass + sum(b.mass for b in bodies)
        systematic = self._torque_error * mass
        variance = sum(b.mass_stddev**2 - systematic**2 for b in bodies) + systematic**2
        return float(mass), math.sqrt(variance)

    def _base(self, window: Window, m: Measurement, P: np.ndarray) -> dict:
        """Pose and velocity; P: covariance (12, 12) of pose and mean velocity."""
        problem, layout, x = self.problem, self.problem.layout, window.xs[-1]
        if not problem.floating:
            return _fixed_base()
        linear, angular = self._velocity_now(window, m)
        twist, quaternion = P[6:, 6:].copy(), layout.part(x, "rotation").copy()
        noise = problem.config.noise
        variances = twist.reshape(-1)[:: len(twist) + 1]  # a view of its diagonal
        softness = max(problem.softness(x), 0.0)
        variances[:3] += self._intervals.velocity(
            m, noise.accelerometer_model, softness, window.weighed()
        )
        if m.gyro_now is not None and problem.mount.rigid:
            variances[3:] += noise.gyro**2
        return dict(
            position_world=layout.part(x, "position").copy(),
            quat_world_base=quaternion,
            linear_velocity_base=linear,
            angular_velocity_base=angular,
            pose_covariance=P[:6, :6]
            + creep_covariance(window.unevenness, quaternion, window.weighed(), self._zeros)
            + window.place.covariance(window.arrival, window.xs[0], x),
            twist_covariance=twist,
        )

    def _velocity_now(self, window: Window, m: Measurement) -> tuple[np.ndarray, np.ndarray]:
        """Velocity at the stamp: the mean over the step (the state), half a step of acceleration.

        An IMU behind joints does not feel what the base does (a torso stays behind while the pelvis
        is pushed): then the last change stands in.
        """
        problem, part, x = self.problem, self.problem.layout.part, window.xs[-1]
        mean, angular = part(x, "velocity"), part(x, "rate")
        if m.gyro_now is None or m.accelerometer_ramp is None or not problem.mount.rigid:
            before = window.xs[-2]
            linear_step = 0.5 * (mean - part(before, "velocity"))
            return mean + linear_step, angular + 0.5 * (angular - part(before, "rate"))
        gyro = m.gyro_now - part(x, "gyro_bias")
        force = m.accelerometer_ramp - part(x, "accelerometer_bias")
        base_M_imu, _ = problem.mount.motion()
        place = part(x, "rotation"), base_M_imu
        return _core.velocity_at_end(mean, angular, *place, gyro, force, self._gravity, problem.dt)

    def _bodies(
        self, x: np.ndarray, theta: np.ndarray, situation: Situation
    ) -> tuple[BodyInertia, ...]:
        """Inertias of the estimated links; theta: covariance (10 n, 10 n) of their coordinates."""
        pis = self.problem.inertias(x)
        total = self.fixed_mass + sum(pi[0] for pi, _ in pis)
        systematic = self._torque_error * total
        bodies = []
        for i, (link, (pi, jacobian)) in enumerate(zip(self.robot.estimated_links, pis)):
            rows = slice(10 * i, 10 * i + 10)
            covariance = jacobian @ theta[rows, rows] @ jacobian.T
            stddev = math.hypot(math.sqrt(max(float(covariance[0, 0]), 0.0)), systematic)
            observed = stddev < OBSERVED * self.prior_mass_stddev
            observable = observed and not situation.contradicted
            deviations = stddev, np.hypot(com_stddev(pi, covariance), self._com_error)
            bodies.append(BodyInertia(link, pi, covariance, *deviations, observable))
        return tuple(bodies)

    def _doubted(
        self, bodies: tuple[BodyInertia, ...], links: frozenset[int]
    ) -> tuple[BodyInertia, ...]:
        """Inertias of which some are those of links that are given what another one carries.

        `P + d d^T` with d = pi - pi_nominal: anything between nothing of it and all may be theirs.
        """
        out = list(bodies)
        for i in links:
            body, link = bodies[i], self.robot.link_joint(bodies[i].link)
            added = body.parameters - self.robot.model.inertias[link].toDynamicParameters()
            covariance = body.covariance + np.outer(added, added)
            out[i] = replace(
                body,
                covariance=covariance,
                mass_stddev=math.hypot(body.mass_stddev, added[0]),
                com_stddev=np.hypot(com_stddev(body.parameters, covariance), self._com_error),
                observable=False,
            )
        return tuple(out)

    def _contacts(
        self, window: Window, newest: list[np.ndarray], mass: float, unweighed: float
    ) -> tuple[ContactEstimate, ...]:
        if not self.problem.dynamics.nc:
            return ()
        points, force, covariance, velocity = newest
        if unweighed:
            # forces carry the weight: they are no better known than a mass that is not estimated
            covariance = covariance + unweighed**2 * np.outer(force, force)
        if not window.weighed():  # which foot carries how much
            corners = len(self.robot.contacts) / len(self.robot.feet)
            untold = INTERVAL.untold_force * GRAVITY * mass / corners
            covariance = covariance + untold**2 * np.eye(len(force))
        if window.inputs[-2].ground_depth > 0.0:  # no contact is modelled while legs are not seen
            covariance = covariance + np.eye(len(force)) * (GRAVITY * mass) ** 2
        threshold = CONTACT_SHARE * GRAVITY * mass
        normal, variance = force[2::3].tolist(), covariance.diagonal()[2::3].tolist()
        slip = map(math.hypot, velocity[0::3].tolist(), velocity[1::3].tolist())
        out = []
        for contact, rows, point, *told in zip(
            self.robot.contacts, self._force_rows, points, normal, variance, slip
        ):
            carried, spread, speed = told
            unlikely = (threshold - carried) / math.sqrt(2.0 * max(spread, 1e-12))
            state = ContactState.OPEN if carried < threshold else MOVING[speed > SLIP_SPEED]
            of_force = force[rows], covariance[rows, rows], 0.5 * math.erfc(unlikely)
            out.append(ContactEstimate(contact.name, point, *of_force, state))
        return tuple(out)


def _status(
    window: Window, consistency: ConsistencyMonitor, health: list[SensorHealth], time_ms: float
) -> SolverStatus:
    solver = window.solver
    return SolverStatus(
        solve_time_ms=time_ms,
        latency_ms=time_ms,
        iterations=int(solver.iter),
        cost=float(solver.cost),
        feasibility=float(solver.largest_gap),
        window_nodes=window.size,
        restarts=consistency.restarts,
        refused_steps=consistency.refused,
        sensors=tuple(health),
    )


def _fixed_base() -> dict:
    zero, none = np.zeros(3), np.zeros((6, 6))
    return dict(
        position_world=zero,
        quat_world_base=np.array([0.0, 0.0, 0.0, 1.0]),
        **dict.fromkeys(("linear_velocity_base", "angular_velocity_base"), zero),
        **dict.fromkeys(("pose_covariance", "twist_covariance"), none),
    )
