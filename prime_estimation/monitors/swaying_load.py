# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Swaying load: detects that a load does not follow its robot, and says what that hides."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import SMOOTHED, SWAY
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import GRAVITY
from ..sensors.imu import vertical
from ..types import Measurement, SensorHealth
from .monitor import Monitor
from .payload_change import PayloadDetector


class SwayingLoad(Monitor):
    """Compares the horizontal force on the base that no contact explains with its acceleration.

    A load m_l on springs of the natural frequency w_0 is not moved by `m_l a`, as one that is tied
    down, but at the frequency w by `m_l a / (1 - (w/w_0)^2)`. What the window finds on the base is

        f = beta a + noise,    beta = cov(f, a) / var(a)    over SWAY.memory,

    so that the robot has beta less mass along the ground than weight. This force acts at the height
    h of the load, where it turns the base as a centre of mass does that is `beta h / m` lower.

    Where the mass is wrong by beta, because a load has just been put on or taken off, it is

        f = beta (a + g)

    with g upwards: a vertical part, as no load has that sways. Nodes with such a part are left
    out, and at the alarm of a payload all is forgotten: what was found before is of another load.

    Args:
        problem: model.
        payload: whose alarms tell that the load is another one.

    Attributes:
        missing: |beta| of a load that sways [kg]; 0: none does.
    """

    def __init__(self, problem: Problem, payload: PayloadDetector):
        self.problem, self._payload = problem, payload
        self._mass = problem.robot.total_mass
        self._gain = problem.dt / SWAY.memory
        self._lifted = SWAY.found * self._mass * GRAVITY  # [N] by that much mass
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._commanded, self._alarms = False, self._payload.alarms
        self._forget()

    def _forget(self) -> None:
        """Begin with a load of which nothing is known."""
        self.missing, self._seen, self._beta = 0.0, 0, 0.0
        self._means = np.zeros(9)  # of f and a (3,) each, f^2, f a, a^2

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Whether torques are those that were commanded: drives make others of them."""
        self._commanded = m.torque_commanded
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at a smoothed node of a robot that nobody holds or pushes."""
        if self._payload.alarms > self._alarms:
            self._forget()
        self._alarms = self._payload.alarms  # counts from zero again after a restart
        aside = situation.suspended or situation.contradicted or situation.inertia_held
        aside |= situation.pushed or situation.leaning or self._commanded
        k = -SMOOTHED.nodes
        if not self.problem.floating or aside or not window.weighed(k):
            return ""
        lift, force, acceleration = _moved(window, k)
        if abs(lift) < self._lifted:
            self._take(force, acceleration)
        if self._seen * self._gain >= 1.0:
            self._decide()
        return ""

    def _take(self, force: np.ndarray, acceleration: np.ndarray) -> None:
        squares = force @ force, force @ acceleration, acceleration @ acceleration
        self._seen += 1
        share = max(self._gain, 1.0 / self._seen)
        self._means += share * (np.concatenate([force, acceleration, squares]) - self._means)

    def _decide(self) -> None:
        force, acceleration, (ff, fa, aa) = np.split(self._means, (3, 6))
        ff, fa, aa = ff - force @ force, fa - force @ acceleration, aa - acceleration @ acceleration
        if aa < SWAY.moved**2 or ff <= 0.0:
            return  # as before: nothing moves a load
        self._beta = fa / aa
        found = SWAY.gone if self.missing else SWAY.found
        sways = abs(self._beta) > found * self._mass
        sways &= abs(fa) > SWAY.explained * math.sqrt(ff * aa)
        self.missing = abs(self._beta) if sways else 0.0

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says that the centre of mass is not known as well as usual."""
        if not self.missing:
            return ()
        side = "less" if self._beta > 0.0 else "more"
        moved = f"{self.missing:.1f} kg {side} along the ground than its weight"
        told = f"it sways or slides: the robot has {moved}, its centre of mass is uncertain"
        return (SensorHealth("load", False, told),)


def _moved(window: Window, k: int) -> tuple[float, np.ndarray, np.ndarray]:
    """What moves the base at node k beside its contacts, and how it moves.

    Upward force that no contact explains [N]; without what is vertical, in base axes, this force
    (3,) [N] and the acceleration (3,) of the base [m/s2].
    """
    _, v, a = window.motion(k)
    up = vertical(window.xs[:-1][k][3:7])
    x, y, z, wx, wy, wz = v[:6].tolist()
    acceleration = a[:3] + (wy * z - wz * y, wz * x - wx * z, wx * y - wy * x)
    force = window.unexplained()[k, :3]
    lift = float(force @ up)
    return lift, force - lift * up, acceleration - (acceleration @ up) * up
