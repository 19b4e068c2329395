# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator: one measurement in, one estimate out."""

from __future__ import annotations

import time
from collections import deque

import numpy as np

from .config.parameters import Config
from .errors import InitializationError, RobotError
from .mhe.ground import Terrain
from .mhe.initialization import first_window, give_poses
from .mhe.prediction import Predictor
from .mhe.problem import Problem
from .mhe.window import Window
from .monitors.consistency import Watch
from .monitors.inertia_hold import Weighing
from .monitors.lift_off import Support
from .monitors.payload_change import PayloadDetector
from .reporting import Reporter
from .robot import Robot
from .types import Estimate, ImuSample, Measurement

# iterations of the first nodes that see the legs again: they are far from where they were thought
# to be
RECOVERY = 5
# of a solve, whatever the data
FAILURES = (RuntimeError, InitializationError, np.linalg.LinAlgError)


class Estimator:
    """Moving-horizon estimator of state, contact forces and inertia.

        min over (x_0, p, w_k, xi_k):  arrival(x_0, p) + sum 1/2 |(w_k, xi_k)|^2_{Q^-1} + sum 1/2
        |z_k (-) h(x_k, w_k, xi_k, p)|^2_{R^-1}

    One measurement moves the window by one node: the oldest node goes into the arrival cost, the
    new head is predicted, and a bounded number of multiple-shooting steps improves the whole
    window.

    Args:
        robot: model and contact points.
        config: noise and window.
        mocap: expect motion capture poses (they may come late, drop out, and be rotated against the
            base).

    Attributes:
        window: the sliding window, None before the first estimate.
        prior_parameters: (np,) mean of the parameters' prior, as the start batch took it.
    """

    def __init__(self, robot: Robot, config: Config, mocap: bool = True):
        if robot.config.floating_base and not robot.feet:
            raise RobotError(
                f"{robot.name}: a robot with a floating base needs contacts (robot.contacts): what should carry it?",
                robot.config,
            )
        self.robot, self.config = robot, config
        self.problem = Problem(robot, config, mocap)
        self._weighing = Weighing(self.problem)
        self._watch = Watch(config)
        self._predictor = Predictor(robot, self.problem.mount)
        self._support = Support(self.problem)
        self.reset()

    @property
    def frozen(self) -> bool:
        """Hold the inertia at its present value.

        Once released, it is estimated anew from the prior's width.
        """
        return self._weighing.frozen

    @frozen.setter
    def frozen(self, value: bool) -> None:
        self._weighing.freeze(self.window, value)

    def retune(self, config: Config) -> None:
        """Go on with other values of the tunable parameters."""
        self.config = config
        self.problem.retune(config)
        if self.window is not None:
            self.window.force_dof = config.noise.force_dof

    @property
    def last_restart(self) -> tuple[int, str]:
        """How often an estimate was given up so far, and why the last one."""
        return self._watch.restarts, self._watch.reason

    def reset(self) -> None:
        """Forget everything; the next estimate comes after a new start batch."""
        self.window: Window | None = None
        self._seen: np.ndarray | None = None
        self.prior_parameters: np.ndarray | None = None
        batch = self.config.estimator.start_nodes
        self._recent: deque[Measurement] = deque(maxlen=batch)
        self._heads: deque[tuple[int, np.ndarray]] = deque(maxlen=batch)
        self._terrain = Terrain(self.problem)
        self._payload = PayloadDetector(self.problem)
        self._weighing = Weighing(self.problem, self.frozen)
        self._report = Reporter(self.problem)
        self._predictor.reset()
        self._support.reset()
        if self.problem.stances is not None:
            self.problem.stances.reset()
        self.problem.carried_since_ns = None

    def update(self, measurement: Measurement, iterations: int | None = None) -> Estimate | None:
        """Take the measurement of the next node; None while the start batch is being gathered.

        Args:
            measurement: its stamp is one step after that of the one before.
            iterations: of the solver at most, instead of the configured ones, for a node that fell
                behind; with 0 the window is only moved, and there is no estimate.

        Raises:
            DataError: the measurement has not the sizes of this robot.
        """
        began = time.perf_counter()
        if not self._improve(
            measurement, self.config.estimator.iterations if iterations is None else iterations
        ):
            return None
        self.window.posterior()
        self._follow(measurement)
        elapsed_ms = 1e3 * (time.perf_counter() - began)
        estimate = self._report.estimate(
            self.window, measurement, self._watch, elapsed_ms, self._weighing.covariance
        )
        if self.problem.layout.gyro_bias >= 0:  # without an IMU there is nothing to predict with
            self._predictor.correct(estimate)
        return estimate

    def advance(self, measurement: Measurement) -> bool:
        """`update` without covariances and estimate, for those who only want the window.

        False while there is none.
        """
        if not self._improve(measurement, self.config.estimator.iterations):
            return False
        self._follow(measurement)
        return True

    @property
    def payload_changes(self) -> int:
        """How often the payload detector has seen the inertia change since the last reset."""
        return self._payload.alarms

    def _improve(self, measurement: Measurement, iterations: int) -> bool:
        """Move the window by a node and solve it; False without a (solved) window."""
        self.robot.check(measurement)
        self._recent.append(measurement)
        if self.problem.stances is not None:
            self.problem.stances.before(measurement)
        change = self._support.update(measurement, self.window)
        self.problem.carried_since_ns = self._support.since_ns if self._support.elsewhere else None
        try:
            if change and self.window is not None:
                raise RuntimeError(change)
            if self.window is None:
                if not self._start():
                    return False
            else:
                self._shift(measurement)
                if iterations == 0:
                    self._terrain.update(self.window)
                    return False
                for _ in range(RECOVERY if self._legs_are_back(measurement) else iterations):
                    # one by one: each step has the robust weights of the one before
                    self.window.solve(1)
            if self._watch.lost(self.window):
                raise RuntimeError("the residuals do not fit the model")
        except FAILURES as error:
            return self._restart(str(error))
        return True

    def _follow(self, measurement: Measurement) -> None:
        """Adapt what is not solved for.

        Ground heights at touch-down, the inertia's prior after a change of payload.
        """
        self._terrain.update(self.window)
        self._payload.update(self.window, self._weighing.held)
        self._heads.append((measurement.stamp_ns, self.window.xs[-1]))

    def predict(self, sample: ImuSample) -> Estimate | None:
        """The newest estimate carried to an IMU sample: odometry at the rate of the IMU.

        None before the first estimate.
        """
        return self._predictor.predict(sample)

    def _shift(self, m: Measurement) -> None:
        """Complete the former head with the dynamics part, forget the oldest node, append the new head."""
        window, problem = self.window, self.problem
        self._weighing.update(window, m)
        problem.dynamics_input(window.inputs[-1], m)
        problem.expect_touchdown(window.inputs[-1], self._terrain.airborne)
        self._seen = self._seen if m.position is None else m.position
        window.shift(
            problem.state_input(m, self._seen),
            m.stamp_ns,
            self._terrain.process_noise(self._weighing.held),
        )
        self._watch.late_poses += give_poses(problem, m.mocap, window.inputs, window.stamps)

    def _legs_are_back(self, m: Measurement) -> bool:
        return m.position is not None and any(
            given.ground_depth > 0.0 for given in self.window.inputs[-5:-1]
        )

    def _start(self, before: np.ndarray | None = None) -> bool:
        """Solve the first batch; False while it is being gathered."""
        if len(self._recent) < self._recent.maxlen:
            return False
        noise = self._terrain.process_noise(True)
        self.window, self.prior_parameters = first_window(
            self.problem, list(self._recent), before, noise
        )
        self._weighing.start(self.window, list(self._recent))
        self._seen = next(m.position for m in reversed(self._recent) if m.position is not None)
        return True

    def _restart(self, why: str) -> bool:
        """Give up the window and start anew from the last measurements, or from the next ones if these do not carry a start."""
        self._watch.restarted(why)
        began = self._recent[0].stamp_ns
        before = next((x for stamp, x in self._heads if stamp >= began), None)
        self.window = None
        self._terrain = Terrain(self.problem)
        self._payload = PayloadDetector(self.problem)
        try:
            return self._start(
                self._support.on_ground(
                    before if before is not None and np.all(np.isfinite(before)) else None
                )
            )
        except FAILURES:
            self.window = None
            self._recent.clear()
            return False
