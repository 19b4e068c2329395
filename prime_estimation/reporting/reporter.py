# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Reporter: from the solved window to the frozen `Estimate`, with covariances of its posterior."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from ..config.policies import INTERVAL
from ..mhe.external_wrench import external_wrench
from ..mhe.joint_parameters import GAINS, MODEL_ERROR
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..monitors import Monitors
from ..monitors.consistency import ConsistencyMonitor
from ..robot import GRAVITY
from ..types import (
    NO_DATA,
    Activity,
    Estimate,
    JointParameter,
    Measurement,
    SensorHealth,
    SolverStatus,
)
from .base import BaseReport
from .contacts import ContactReport
from .inertia import InertiaReport


class Reporter:
    """Turns windows into estimates."""

    def __init__(self, problem: Problem):
        self.problem, self.robot = problem, problem.robot
        self._base, self._inertia = BaseReport(problem), InertiaReport(problem)
        self._contacts = ContactReport(problem)
        # weight that legs at rest may carry more or less, by the dry friction of their joints
        friction = float(np.mean(self.robot.joint_friction))
        stuck = len(self.robot.feet) * friction / INTERVAL.rest_lever  # N
        self._stuck = stuck / (GRAVITY * self.robot.total_mass)
        # shares of what that did to the tilt, and to the inertia, which are there still
        self._rested = self._learned = 0.0
        self._fades = math.exp(-problem.dt / INTERVAL.rest_memory)
        self._theta = problem.layout.parameter_rows("theta")
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
        base_covariance, parameters, *contacts = window.newest(self._base.rows)
        solve_time_ms = 1e3 * (time.perf_counter() - began)
        layout, x, held = self.problem.layout, window.xs[-1], monitors.hold.covariance
        unlike = self.problem.bent or self.problem.joints_let_go
        torque_error, stuck = self._torque_error(m, unlike)
        theta = parameters[self._theta, self._theta] if held is None else held
        weighing = math.hypot(torque_error, monitors.weight.scatter)
        doubts = weighing, situation.contradicted, unlike, stuck, monitors.sway.missing
        bodies = self._inertia.bodies(x, theta, *doubts)
        mass, stddev = self._inertia.total(x, theta, weighing)
        doubt = monitors.consistency.doubt(mass, stddev, self._inertia.nominal_mass)
        if doubt or monitors.support.doubted or monitors.axes.wrong:
            bodies = tuple(replace(body, observable=False) for body in bodies)
        elsewhere = monitors.place.doubted
        bodies = self._inertia.doubted(bodies, elsewhere)
        health = self._health(window, m, situation, monitors, doubt)
        unweighed = 0.0 if held is None else stddev / mass
        touching = self._contacts.contacts(window, contacts, mass, unweighed)
        beside = self._contacts.slipping, bool(elsewhere), self._rested, monitors.bias.tilt
        falls = monitors.activity.activity is Activity.FALLING
        return Estimate(
            stamp_ns=window.stamps[-1],
            **self._base.fields(window, m, base_covariance, *beside, falls),
            joint_position=self.robot.positions(layout.q(x)),
            joint_velocity=layout.part(x, "joint_rates").copy(),
            joint_torque=window.motor_torque(),
            contacts_stamp_ns=window.stamps[-2],
            contacts=touching,
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
            joint_parameters=self._joints(x, parameters, torque_error),
        )

    def _torque_error(self, m: Measurement, unlike: bool) -> tuple[float, float]:
        """Relative error of all torques alike; share of it by dry friction of joints at rest."""
        noise = self.problem.config.noise
        torque_error = noise.torque_scale_commanded if m.torque_commanded else noise.torque_scale
        rests = float(self._stuck > 0.0 and self._rests(m))
        self._rested = max(rests, self._fades * self._rested)
        self._learned = rests + self._fades * (self._learned - rests)  # a moment teaches little
        stuck = max(rests, self._learned) * self._stuck
        return math.hypot(torque_error, unlike * INTERVAL.unlike_torque, stuck), stuck

    @staticmethod
    def _rests(m: Measurement) -> bool:
        """No joint moves: dry friction holds them, with torques that nothing tells."""
        if m.torque is None or m.velocity is None:
            return False
        return all(abs(rate) < INTERVAL.rest_rate for rate in m.velocity.tolist())

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
                wrong = "" if seen else NO_DATA
            value = innovations.get(first, math.nan) if first else tracker.innovation
            value = math.nan if wrong == NO_DATA else value
            refused = gate.remark() if gate else ""
            said = wrong or sensor.remark(m) or refused
            if wrong and refused:
                said = f"{wrong}; {refused}"
            out.append(SensorHealth(sensor.name, not wrong, said, value))
        if doubt:
            out.append(SensorHealth("robot", False, doubt, innovations.get("model", float("nan"))))
        for monitor in monitors:
            out += monitor.health(situation)
        if contradiction := self.problem.contacts.contradiction(window):
            out.append(SensorHealth("contacts", False, contradiction))
        return out

    def _friction(self, x: np.ndarray) -> float:
        value = self.problem.parameter(x, "friction")
        return math.exp(value[0]) if value.size else math.nan

    def _stiffness(self, x: np.ndarray) -> float:
        value = self.problem.parameter(x, "softness")
        return self.problem.dynamics.stiffness(value[0]) if value.size else math.nan

    def _joints(
        self, x: np.ndarray, parameters: np.ndarray, torque_error: float
    ) -> tuple[JointParameter, ...]:
        """Joint parameters at a state; parameters: covariance of all parameters."""
        out: list[JointParameter] = []
        for block in self.problem.free_joints:
            rows = self.problem.layout.parameter_rows(block.name)
            deviation = MODEL_ERROR * np.sqrt(np.maximum(parameters.diagonal()[rows], 0.0))
            if block.name == GAINS:  # their mean is not told
                deviation = np.hypot(deviation, torque_error)
            parameter = self.problem.parameter(x, block.name)
            value, stddev = block.values(parameter)[0], block.spread(parameter, deviation)
            parts = zip(block.labels, value.tolist(), stddev.tolist(), block.told(stddev).tolist())
            out += (JointParameter(block.name, *part) for part in parts)
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
