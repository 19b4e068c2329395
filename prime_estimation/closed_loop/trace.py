# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Trace of a closed loop: the truth about a walking robot beside its command, and the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..control.motion_types import VelocityCommand
from ..simulate.world import rotation
from .lockstep import Lockstep

EVERY = 2  # steps of physics between two rows


@dataclass(frozen=True)
class Scores:
    """Scores of a walk, over an interval of time.

    Attributes:
        height, roll, pitch: root mean square errors of the trunk [m, rad, rad].
        apex: mean error of the height to which feet are swung [m].
        velocity: root mean square error of (vx, vy) in the heading frame [m/s].
        torque: root mean square over joints and time [Nm].
        peak_torque: largest one [Nm].
    """

    height: float
    roll: float
    pitch: float
    apex: float
    velocity: float
    torque: float
    peak_torque: float


class Trace:
    """Takes notes of a `Lockstep` while it runs; arrays after `finish`.

    Attributes:
        t: (n,) s.
        height, roll, pitch, yaw: (n,) of the true base, on level ground [m, rad].
        velocity: (n, 3) vx, vy, yaw rate in the heading frame.
        command: (n, 3) the same, wanted.
        lean: (n, 2) horizontal place of the base [m].
        torque: (n, nj) of the motors [Nm].
        bottoms: (n, contacts) heights of the contacts [m].
        swings: (n, contacts) scheduled to be in the air.
        mass, mass_stddev: (n,) estimated total mass, NaN before the first estimate [kg].
        true_mass: (n,) total mass of the robot with what it carries [kg].
        model_mass: (n,) total mass of the controller's model [kg].
    """

    def __init__(self, loop: Lockstep):
        self._loop, self._rows, self._count = loop, [], 0
        self._radius = np.array([c.radius for c in loop.simulated.robot.contacts])
        self.nominal_height = float(loop.controller.mpc.posture[2])
        self.clearance = loop.controller.config.clearance

    def note(self, t: float, command: VelocityCommand) -> None:
        """Write down the present state, every second time."""
        self._count += 1
        if self._count % EVERY:
            return
        loop = self._loop
        feet, step = loop.controller.mpc.feet, loop.simulated.step
        R = rotation(step.q[3:7])
        roll, pitch, yaw = pin.rpy.matrixToRpy(R)
        c, s = np.cos(yaw), np.sin(yaw)
        vx, vy, _ = R @ step.v[:3]
        now = loop.simulated.now_ns * 1e-9
        estimate = loop.estimate
        self._rows.append(
            dict(
                t=t,
                height=step.q[2],
                roll=roll,
                pitch=pitch,
                yaw=yaw,
                velocity=(c * vx + s * vy, c * vy - s * vx, (R @ step.v[3:6])[2]),
                command=(command.vx, command.vy, command.yaw_rate),
                lean=step.q[:2],
                torque=step.tau_motor,
                bottoms=feet.centres(step.q)[:, 2] - self._radius,
                swings=feet.swinging(now),
                mass=estimate.total_mass if estimate is not None else np.nan,
                mass_stddev=estimate.total_mass_stddev if estimate is not None else np.nan,
                true_mass=loop.simulated.world.total_mass,
                model_mass=pin.computeTotalMass(loop.controller.mpc.horizon.model),
            )
        )

    def finish(self) -> Trace:
        """Rows become arrays."""
        for name in self._rows[0]:
            setattr(self, name, np.array([row[name] for row in self._rows]))
        self._rows = []
        return self

    def upright(self) -> bool:
        """Whether the trunk is where that of a walking robot is."""
        step = self._loop.simulated.step
        return step.q[2] > 0.5 * self.nominal_height and rotation(step.q[3:7])[2, 2] > 0.6

    def scores(self, begin: float, end: float) -> Scores:
        """Scores over an interval [s]."""
        k = (self.t >= begin) & (self.t < end)

        def rms(x) -> float:
            return float(np.sqrt(np.mean(np.square(x))))

        return Scores(
            height=rms(self.height[k] - self.nominal_height),
            roll=rms(self.roll[k]),
            pitch=rms(self.pitch[k]),
            apex=self._apex_error(k),
            velocity=float(
                np.sqrt(np.mean(np.sum((self.velocity - self.command)[k, :2] ** 2, axis=1)))
            ),
            torque=rms(self.torque[k]),
            peak_torque=float(np.abs(self.torque[k]).max()),
        )

    def _apex_error(self, k: np.ndarray) -> float:
        """Mean |apex - clearance| over all complete swings within the rows k; NaN without one."""
        errors = []
        for swings, bottoms in zip(self.swings[k].T, self.bottoms[k].T):
            edges = np.flatnonzero(np.diff(swings.astype(int)))
            first = np.flatnonzero(np.diff(swings.astype(int)) == 1)
            for begin in first:
                later = edges[edges > begin]
                if len(later):
                    errors.append(abs(bottoms[begin : later[0]].max() - self.clearance))
        return float(np.mean(errors)) if errors else float("nan")
