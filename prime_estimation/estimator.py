# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator: one measurement in, one estimate out."""

from __future__ import annotations

import time
from collections.abc import Collection

from .config.parameters import Config
from .inertia import InertiaBelief
from .mhe.horizon import Horizon
from .mhe.joint_belief import JointBelief
from .mhe.prediction import Predictor
from .mhe.problem import Problem
from .mhe.situation import Situation
from .mhe.window import Window
from .monitors import Monitors
from .reporting import Reporter
from .robot import Robot
from .types import Estimate, ImuSample, Measurement


class Estimator:
    """Moving-horizon estimator of state, contact forces and inertia.

        min over (x_0, p, w_k, xi_k):  arrival(x_0, p) + sum 1/2 |(w_k, xi_k)|^2_{Q^-1}
                                       + sum 1/2 |z_k (-) h(x_k, w_k, xi_k, p)|^2_{R^-1}

    Args:
        robot: model and contact points. config: noise and window.
        mocap: expect motion capture poses (they may come late, drop out, and be rotated).
        sensors: names of further optional sensors to expect.
    """

    def __init__(self, robot: Robot, config: Config, mocap: bool = True, sensors: Collection = ()):
        self.robot, self.config = robot.check_contacts(), config
        self.problem = problem = Problem(robot, config, {*sensors, *["mocap"] * mocap}, holds=True)
        self.horizon, self.monitors = Horizon(problem), Monitors(problem)
        self._predictor = Predictor(robot, problem.mount)
        self.reset()

    def update(self, m: Measurement, iterations: int | None = None) -> Estimate | None:
        """Take the measurement of the next node; None while the start batch is being gathered.

        1. Situation: who carries the robot, is the inertia estimated, must the estimate start anew.
        2. Complete: the former head gets torque and forces of the step that ends now.
        3. Shift: the oldest node leaves the window through the arrival cost, a new head comes.
        4. Solve: a bounded number of Gauss-Newton steps.
        5. Judge: does the window fit; has the payload changed; where is the ground.
        6. Report: head, forces and inertia with their covariances.

        Args:
            m: one step after the one before; else data are missing in between (`go_on`).
            iterations: instead of the configured ones, for a node that fell behind; 0: no estimate.

        Raises:
            DataError: the measurement has not the sizes of this robot.
        """
        began = time.perf_counter()
        if (situation := self.advance(m, iterations)) is None:
            return None
        self.monitors.levels.learn(self.window, situation)
        estimate = self._reporter.estimate(self.window, m, situation, self.monitors, began)  # 6
        self._predictor.correct(estimate, m.imu_dead)
        return estimate

    def advance(self, m: Measurement, iterations: int | None = None) -> Situation | None:
        """Steps 1 to 5, for those who only want the window: None where it has not been solved."""
        if not self.horizon.connects(self.robot.check(m)):
            self.go_on(m)
        situation = self.monitors.assess(m := self.horizon.take(m), self.window)  # 1
        number = self.config.estimator.iterations if iterations is None else iterations
        if self.window is None:
            failure = self.monitors.start(self.horizon, situation)
        else:
            failure = situation.restart or self._move(m, situation, number)
        failure = failure and self.monitors.restart(failure, self.horizon, situation)
        if self.window is None or failure:
            return None
        self.horizon.follow(m, situation, solved=number > 0)
        return situation.holding(self.monitors.hold.held) if number > 0 else None

    def predict(self, sample: ImuSample) -> Estimate | None:
        """The newest estimate carried to an IMU sample; None before the first estimate."""
        return self._predictor.predict(sample)

    def _move(self, m: Measurement, situation: Situation, iterations: int) -> str:
        """Steps 2 to 5; returns why the estimate is lost, empty when it is not."""
        self.horizon.complete(m, situation)  # 2
        failure = self.horizon.shift(m, situation) or self.horizon.solve(m, iterations)  # 3, 4
        return failure or (self.monitors.judge(self.window, situation) if iterations else "")  # 5

    def resume(self, belief: InertiaBelief | JointBelief) -> bool:
        """Begin with what was learned before; False: too late, there is an estimate already."""
        if self.window is None:
            self.problem.begin_with(belief)
        return self.window is None

    def reset(self) -> None:
        """Forget everything; the next estimate comes after a new start batch."""
        self.problem.forget()
        for part in (self.horizon, self.monitors, self._predictor):
            part.reset()
        self._reporter = Reporter(self.problem)

    def go_on(self, m: Measurement) -> None:
        """Data begin again with m: what was known goes on, unless it is too long ago."""
        self._predictor.reset()
        if not self.monitors.break_off(m.stamp_ns, self.horizon):
            self.reset()

    def interrupt(self) -> None:
        """End the update that another thread is in, and all later ones: they raise Interrupted."""
        self.problem.interruption.request()

    def freeze(self, value: bool) -> None:
        """Hold the inertia at its present value; once let go, it is estimated anew."""
        self.monitors.hold.freeze(self.window, value)

    def retune(self, config: Config) -> None:
        """Go on with other values of the tunable parameters."""
        self.config = config
        self.problem.retune(config)
        self.monitors.levels.retune(config)

    @property
    def window(self) -> Window | None:
        """The sliding window, None before the first estimate."""
        return self.horizon.window
