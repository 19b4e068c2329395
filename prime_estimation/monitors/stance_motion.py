# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stance motion: loaded feet stand still unless rates, clocks or leg lengths are wrong."""

from __future__ import annotations

import math
import statistics
from collections import deque

import numpy as np

from ..config.policies import STANCE
from ..mhe.initialization import FEET_MOVE
from ..mhe.knowledge import renew
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import Measurement, SensorHealth
from .gyro_rest import GyroRest
from .monitor import Monitor

MOTION = "motion"  # assumption that the status names: pose and velocity are those of the robot


class StanceMotion(Monitor):
    """Watches the horizontal speed of loaded soles in the middle of the window.

    Single feet slip, and on ice all feet do now and then. If half of the loaded feet move all the
    time, the cause is the machine: soft feet, play, late or wrong rates. If these were taken for
    slips, the friction coefficient would become far too low, and the gyro bias would follow the
    motion of the feet. Therefore, from a median speed of `STANCE.slow` on, the contact disturbance
    is widened by the speed of the feet, up to `STANCE.widest`, and friction and gyro bias are
    reset. By what they move faster than that the base may, too (`Place.dragged`). From
    `STANCE.fast` on the motion is reported as not reliable. From `STANCE.lost` on the estimate is
    given up, unless motion capture shows that the ground moves.

    With motion capture, all feet also move together if the pose of the base is wrong, because the
    tracked body is elsewhere or its clock is late. The contacts are then widened by the speed of
    the feet relative to each other,

        sqrt(n / (n - 1)) |v_i - mean v|   of n loaded soles

    and nothing is reset, because poses determine the gyro's bias. Where the IMU's own filter tells
    how the heading turns, this determines the bias, which then begins at its prior. Otherwise it is
    held at zero, and the heading becomes less certain as if it were unknown (`Place.drift`).

    Attributes:
        speed: median over the newest stances [m/s]; 0 while too few have been seen.
    """

    def __init__(self, problem: Problem, rest: GyroRest):
        self.problem, self._rest = problem, rest
        self._legs = problem.legs
        self._loaded = STANCE.loaded * GRAVITY * problem.robot.total_mass
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.speed, self._nodes = 0.0, 0
        self._turn_told = False  # by something else than the gyro
        self._speeds: deque[float] = deque(maxlen=STANCE.soles)
        self._apart: deque[float] = deque(maxlen=STANCE.soles)  # of feet against one another
        # their median where motion capture measures the base, and while it does [m/s]
        self._speed_apart: float | None = None

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """How feet moved in the window before may have been what was wrong with it."""
        self.reset()

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Feet that move where they stand are expected to."""
        self._turn_told = m.heading_rate is not None
        return situation.having(unrest=self.unrest)

    @property
    def known(self) -> bool:
        """Enough soles that stand have been looked at."""
        return len(self._speeds) == self._speeds.maxlen

    @property
    def unrest(self) -> float:
        """Deviation of the velocity of a sole that stands [m/s]; 0 where it does not move."""
        # the median of the length of two normal variables is 1.18 deviations
        speed = min(self.speed if self._speed_apart is None else self._speed_apart, STANCE.widest)
        return speed / 1.18 if speed > STANCE.slow else 0.0

    @property
    def dragged(self) -> float:
        """Speed of soles that carry beyond that by which contacts are widened [m/s]."""
        return max(self.speed - STANCE.widest, 0.0)

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the soles of a node that has neighbours on both sides."""
        self._nodes += 1
        window.place.dragged = 0.0 if window.place.measured else self.dragged
        k = window.size // 2
        off = situation.suspended or self._legs is None or k + 2 > window.size
        if off or self._nodes % STANCE.every or window.inputs[k].ground_depth > 0.0:
            return ""
        forces = zip(*[window.foot_forces(i).tolist() for i in range(k - 1, k + 2)])
        layout, x = self.problem.layout, window.xs[k]
        v = layout.v(x)
        rates = self._legs.evaluate(layout.q(x), v, np.zeros_like(v), None)[1]
        self._take(
            [
                (x, y)
                for (x, y, _), around in zip(rates.tolist(), forces)
                if all(force > self._loaded for force in around)
            ]
        )
        measured = window.place.measured
        if self.known:
            before, self.speed = self.unrest, statistics.median(self._speeds)
            self._speed_apart = self._median_apart() if measured else None
            if self.unrest and not before and not measured:
                self._forget(window)
        if self.speed < STANCE.lost or measured:
            return ""
        why = FEET_MOVE.format(self.speed)
        self.reset()
        return why

    def _median_apart(self) -> float:
        """Median speed of feet against one another [m/s]; 0 while too few have been seen."""
        return statistics.median(self._apart) if len(self._apart) == STANCE.soles else 0.0

    def _take(self, velocities: list[tuple[float, float]]) -> None:
        """Horizontal velocities [m/s] of the soles that carry in one node."""
        self._speeds.extend(math.hypot(x, y) for x, y in velocities)
        n = len(velocities)
        if n < 2:
            return
        mean_x, mean_y = (sum(part) / n for part in zip(*velocities))
        scale = math.sqrt(n / (n - 1))
        self._apart.extend(scale * math.hypot(x - mean_x, y - mean_y) for x, y in velocities)

    def _forget(self, window: Window) -> None:
        """Friction becomes what its prior says, the gyro's bias what it was at rest, or none.

        About the vertical nothing but feet that stand may tell it; gravity tells the other axes.
        """
        problem, e = self.problem, self.problem.config.estimator
        renew(window, "friction", [0], np.log(e.friction), e.friction_stddev)
        if problem.has_imu:
            rotation = problem.mount.motion()[0].rotation
            up = window.up() @ rotation
            axis = int(np.argmax(np.abs(up)))
            told, prior = self._rest.told(), problem.config.noise.gyro_bias
            held = told is None and not self._turn_told
            alone = STANCE.gyro_bias if held else prior
            mean, stddev = told or (np.zeros(3), np.full(3, alone))
            renew(window, "gyro_bias", [axis], mean[axis], stddev[axis])
            window.place.drift = prior if held else 0.0

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says that feet move that ought to stand."""
        if not self.unrest:
            return ()
        what = FEET_MOVE.format(self.speed)
        return (SensorHealth(MOTION, self.speed < STANCE.fast, what),)
