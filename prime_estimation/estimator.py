# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator: one measurement in, one estimate out."""

from __future__ import annotations

import time

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
from .sensors.choice import chosen
from .types import Estimate, ImuSample, Measurement


class Estimator:
    """Moving-horizon estimator of state, contact forces and inertia.

        min over (x_0, p, w_k, xi_k):  arrival(x_0, p) + sum 1/2 |(w_k, xi_k)|^2_{Q^-1}
                                       + sum 1/2 |z_k (-) h(x_k, w_k, xi_k, p)|^2_{R^-1}

    Args:
        robot: model and contact points. config: noise and window.
        mocap: use motion capture poses, which may be late, missing, or rotated by a constant.
        sensors: names of further optional sensors to use.
    """

    def __init__(self, robot: Robot, config: Config, mocap: bool = True, sensors: tuple = ()):
        self.problem = problem = Problem(robot, config, chosen(sensors, mocap), holds=True)
        self.robot, self.config = robot.check_contacts(), config
        self.horizon, self.monitors = Horizon(problem), Monitors(problem)
        self._predictor = Predictor(robot, problem.mount)
        self.reset()

    def update(self, m: Measurement, iterations: int | None = None) -> Estimate | None:
        """Process the measurement of the next node; None until the start batch is complete.

        1. Situation: what carries the robot? Is the inertia estimated? Is a restart needed?
        2. Complete: the previous head gets torques and forces of the step that ends now.
        3. Shift: the oldest node is marginalized into the arrival cost; a new head is appended.
        4. Solve: a bounded number of Gauss-Newton steps.
        5. Judge: does the window fit its data? Has the payload changed? Where is the ground?
        6. Report: head, forces and inertia with their covariances.

        Args:
            m: one step after the previous one; otherwise data are missing in between (`go_on`).
            iterations: replaces the configured number, for a late node; 0: no estimate.

        Raises:
            DataError: the sizes of the measurement are not those of this robot.
        """
        began = time.perf_counter()
        if (situation := self.advance(m, iterations)) is None:
            return None
        self.monitors.levels.learn(self.window, situation)
        estimate = self._reporter.estimate(self.window, m, situation, self.monitors, began)  # 6
        self._predictor.correct(estimate, m.imu_dead)
        return estimate

    def advance(self, m: Measurement, iterations: int | None = None) -> Situation | None:
        """Steps 1 to 5, for callers that need the window only; None if it has not been solved."""
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

    def predict(self, sample: ImuSample, reach: float = float("inf")) -> Estimate | None:
        """The newest estimate, predicted to an IMU sample; None if it is older than `reach` [s]."""
        return self._predictor.predict(sample, reach)

    def _move(self, m: Measurement, situation: Situation, iterations: int) -> str:
        """Steps 2 to 5. Returns the reason why the estimate is lost; empty if it is not."""
        self.horizon.complete(m, situation)  # 2
        failure = self.horizon.shift(m, situation) or self.horizon.solve(m, iterations)  # 3, 4
        return failure or (self.monitors.judge(self.window, situation) if iterations else "")  # 5

    def resume(self, belief: InertiaBelief | JointBelief) -> bool:
        """Start from earlier knowledge. Returns False if there is an estimate already."""
        if self.window is None:
            self.problem.begin_with(belief)
        return self.window is None

    def reset(self) -> None:
        """Forget everything; the next estimate follows a new start batch."""
        self.problem.forget()
        for part in (self.horizon, self.monitors, self._predictor):
            part.reset()
        self._reporter = Reporter(self.problem)

    def go_on(self, m: Measurement) -> None:
        """Resume with m after missing data. Knowledge is kept unless the gap is too long."""
        self._predictor.reset()
        if not self.monitors.break_off(self.robot.check(m).stamp_ns, self.horizon):
            self.reset()

    def interrupt(self) -> None:
        """End the update that runs in another thread; it and all later ones raise Interrupted."""
        self.problem.interruption.request()

    def freeze(self, value: bool) -> None:
        """Hold the inertia at its present value; when released, it is estimated again."""
        self.monitors.hold.freeze(self.window, value)

    def retune(self, config: Config) -> None:
        """Use other values of the tunable parameters from now on."""
        self.problem.retune(config)
        self.config = config
        self.monitors.levels.retune(config)

    @property
    def window(self) -> Window | None:
        """The sliding window, None before the first estimate."""
        return self.horizon.window
