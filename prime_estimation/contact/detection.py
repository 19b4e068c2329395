# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Detection of loaded feet, with hysteresis.

Used for the ground heights, and as contact flags of the rigid contact model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from ..errors import ConfigError, RobotError
from ..robot import GRAVITY, Robot
from ..sensors.contact_flags import NAME as FLAGS
from ..sensors.sensor import Aligned
from ..types import Measurement
from ..types.arrays import finite
from .leg_forces import FREE_FALL, LegForces
from .leg_odometry import LegOdometry


class LoadHysteresis:
    """Load flag of each foot with hysteresis.

    On above `on` newtons, off after `nodes` nodes in a row below `off`.
    """

    def __init__(self, feet: int, on: float, off: float, nodes: int):
        self.loaded = np.zeros(feet, bool)
        self.on, self.off, self.nodes = on, off, nodes
        self._below = [0] * feet

    def update(self, normal: np.ndarray, caution: float = 1.0) -> np.ndarray:
        """Take normal forces (nf,) [N]; returns which feet have just touched down.

        `caution`: factor on the load that it takes.
        """
        enough, forces, loaded = caution * self.on, normal.tolist(), self.loaded.tolist()
        touchdown = [not before and force > enough for before, force in zip(loaded, forces)]
        self._below = [
            below + 1 if force < self.off else 0 for below, force in zip(self._below, forces)
        ]
        self.loaded = np.array(
            [
                (before or new) and below < self.nodes
                for before, new, below in zip(loaded, touchdown, self._below)
            ],
            bool,
        )
        return np.array(touchdown, bool)


class ContactFlags:
    """Contact flags of the feet, node by node, for the rigid contact model.

    They depend on neither motion capture nor the estimate, and are the same in every run.

    The force of each foot is taken from the best source:

    1. a generalized-momentum observer of the leg (De Luca and Mattone 2003), `J_leg^T f = dp/dt -
       C^T v + g - tau` over one node, gain 1/dt: rates are means over a node and torque is a
       triangular mean, so the difference of two rates is exactly the acceleration that belongs to
       the torque. The acceleration of the base comes from the IMU, whatever the trunk carries;
    2. without torques of the leg: contact flags of a sensor;
    3. without these: a foot lower than LOW and slower than SLOW stands; a foot that is higher or
       faster by half does not; in free fall none does. (A foot that only touches the ground then
       counts as loaded.)

    Hysteresis: on above `on`, off after `nodes` nodes below `off`. A rising foot does not touch
    down. Without joint or IMU readings the flags are held.

    Args:
        robot: with floating base, IMU and contacts.
        on, off: shares of the robot's weight.
        nodes: below `off` before a foot counts as lifted.

    Attributes:
        flags: (nf,) in the order of `robot.feet`; all stand at the start.
        normal_force: (nf,) N; NaN without sensor and torques. `height`: (nf,) m above the lowest
            foot.
    """

    LOW, SLOW = 0.04, 0.3  # m, m/s
    RISING = 0.3  # m/s
    SILENCE_NS = 50_000_000

    def __init__(self, robot: Robot, on: float = 0.08, off: float = 0.04, nodes: int = 1):
        if not (robot.config.floating_base and robot.feet and robot.imu_joint is not None):
            raise RobotError(
                f"{robot.name}: contact flags need a floating base, contacts and an IMU",
                robot.config,
            )
        if not (0.0 < off <= on < 1.0 and nodes >= 1):
            raise ConfigError(
                f"contact flags need 0 < off <= on < 1, nodes >= 1; got on {on}, off {off}, nodes "
                f"{nodes}",
                (on, off, nodes),
            )
        self.robot, self._legs = robot, LegForces(robot)
        self._data, self._imu = robot.model.createData(), robot.imu_frame_id
        self._trigger = (on * self._legs.weight, off * self._legs.weight, nodes)
        self.reset()

    def reset(self) -> None:
        """Forget everything: all feet stand."""
        feet = len(self.robot.feet)
        self._hysteresis = LoadHysteresis(feet, *self._trigger)
        self._hysteresis.loaded[:] = True
        self._stood = np.ones(feet, bool)
        self._odometry = LegOdometry()
        self._before: Measurement | None = None
        self._last: Measurement | None = None
        self.normal_force, self.height = np.full(feet, np.nan), np.zeros(feet)

    @property
    def flags(self) -> np.ndarray:
        """(nf,) bool, those of the last update."""
        return self._hysteresis.loaded.copy()

    def update(self, m: Measurement) -> np.ndarray:
        """Take the next measurement.

        Flags (nf,) of the node BEFORE it, at which its torque and specific force are centred.

        Args:
            m: the measurement.
        """
        m = self._with_rates(m)
        before, self._before = self._before, m if _complete(m) else None
        if (
            before is None
            or self._before is None
            or not 0 < m.stamp_ns - before.stamp_ns <= self.SILENCE_NS
        ):
            return self.flags
        dt = 1e-9 * (m.stamp_ns - before.stamp_ns)
        q, v, a, force = self._base_motion(before, m, dt)
        falling = np.linalg.norm(force) < FREE_FALL * GRAVITY
        if self._odometry.up is None:
            if falling:  # or the driver fills in zeros: nothing tells the vertical yet
                return self.flags
            self._odometry.start(force)
        up = pin.Quaternion.FromTwoVectors(self._odometry.up, np.array([0.0, 0.0, 1.0]))
        q[3:7] = up.coeffs()
        a[:3] = force - GRAVITY * self._odometry.up
        points, rates, self.normal_force, _ = self._legs.evaluate(q, v, a, m.torque)
        relative = rates @ up.matrix()  # base axes
        velocity = (relative + self._odometry.velocity) @ up.matrix().T
        self.height = points[:, 2] - points[:, 2].min()
        self._hysteresis.update(self._load(velocity, falling, m.readings.get(FLAGS)))
        self._odometry.correct(-relative[self._hysteresis.loaded & self._stood], dt)
        self._odometry.predict(force, v[3:6], dt)
        self._stood = self.flags
        return self.flags

    def _with_rates(self, m: Measurement) -> Measurement:
        """The measurement, with rates by its positions and those before where it has none."""
        before, self._last = self._last, m
        if m.velocity is not None or before is None or not finite(m.position, before.position):
            return m
        dt = 1e-9 * (m.stamp_ns - before.stamp_ns)
        return m if dt <= 0.0 else replace(m, velocity=(m.position - before.position) / dt)

    def _base_motion(self, before: Measurement, m: Measurement, dt: float):
        """Level motion of the node before `m`, base at rest; specific force at the base (3,).

        Configuration, velocity and acceleration.
        """
        model, data, offset = self.robot.model, self._data, self.robot.model.nv - self.robot.nj
        q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        q[7:] = self.robot.coordinates(before.position)
        rates = []
        for x in (before, m):
            v[offset:] = x.velocity
            pin.forwardKinematics(model, data, q, v)
            R = pin.updateFramePlacement(model, data, self._imu).rotation
            # of an IMU on a link, against the base
            turning = pin.getFrameVelocity(model, data, self._imu, pin.LOCAL).angular
            rates.append(R @ (x.gyro - turning))
        v[offset:], a[offset:] = (
            0.5 * (before.velocity + m.velocity),
            (m.velocity - before.velocity) / dt,
        )
        v[3:6], a[3:6] = 0.5 * (rates[0] + rates[1]), (rates[1] - rates[0]) / dt
        pin.forwardKinematics(model, data, q, v, a)
        return (
            q,
            v,
            a,
            R
            @ (
                m.accelerometer
                - pin.getFrameClassicalAcceleration(model, data, self._imu, pin.LOCAL).linear
            ),
        )

    def _load(
        self, velocity: np.ndarray, falling: bool, flags: Aligned | None = None
    ) -> np.ndarray:
        """Evidence of each foot as a force [N].

        Where it decides nothing, one between the thresholds of the hysteresis.
        """
        on, off, _ = self._trigger
        neither = np.full(len(velocity), 0.5 * (on + off))
        speed = np.linalg.norm(velocity, axis=1)
        stands = (self.height < self.LOW) & (speed < self.SLOW) & (not falling)
        moves = (self.height > 1.5 * self.LOW) | (speed > 1.5 * self.SLOW) | falling
        kinematic = np.where(stands, 2.0 * on, np.where(moves, 0.0, neither))
        if flags is not None:
            kinematic = np.where(flags.value > 0.5, 2.0 * on, 0.0)
        load = np.where(np.isfinite(self.normal_force), self.normal_force, kinematic)
        return np.where(
            (velocity[:, 2] > self.RISING) & ~self._hysteresis.loaded,
            np.minimum(load, neither),
            load,
        )


def _complete(m: Measurement) -> bool:
    """Joints and IMU are there and finite; torque may be missing."""
    return finite(m.position, m.velocity, m.gyro, m.accelerometer)
