# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Process model: sizes of the disturbances (w, xi) of a node, and its torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..config.parameters import Config
from ..config.policies import LIFT, PUSH, TERRAIN
from ..contact.joint_stops import JointStops
from ..contact.leg_forces import FREE_FALL
from ..robot import GRAVITY, Robot
from ..sensors.joints import Torque
from ..types import Measurement
from .measurement_model import OUT_OF_REACH
from .situation import ON_ITS_FEET, Situation

CARRIED_ARM = 0.5  # lever arm of what carries a robot that is not on its feet [m]
# weights that may hang from a robot as well: the mean of white noise of one weight, over a whole
# recording, would tell the mass of what hangs there
UNKNOWN_LOAD = 100.0


@dataclass(frozen=True)
class Factors:
    """Factors on the disturbances of base and contacts, where less is measured than usual."""

    base: float = 1.0
    contact: float = 1.0


AS_USUAL = Factors()
# without torque, before a start has found the ground: it may slope
GROUND_UNKNOWN = Factors(10.0, 3.0)
# without joint positions either no contact is modelled: contact forces become a disturbance of the
# base, which follows the IMU
UNSEEN = Factors(250.0, 1.0)
# lever arm of the weight by which its centre is unknown where nothing weighs the robot [m]: a load
# of 3 kg, 0.15 m from where the model has its centre of mass, would tilt it until that stands over
# the feet
UNWEIGHED_ARM = 0.035


class ProcessModel:
    """Torque and weights of the disturbances of running nodes.

    Attributes:
        foot_parts: of the contact disturbance xi, one slice per foot.
        stops: tell which motors press their joint against its stop.

    Args:
        robot: joints, weight.
        dynamics: C++ contact dynamics.
        contacts: the contact model.
        late: torques are not read when they act.
    """

    def __init__(self, robot: Robot, dynamics, contacts, late: bool):
        self.robot, self.contacts, self.stops = robot, contacts, JointStops(robot)
        self._floating = robot.config.floating_base
        self._first_joint = 6 if self._floating else 0  # among the generalized forces
        self._late = late
        self._weight = GRAVITY * robot.total_mass
        counts = [sum(c.foot == f for c in robot.contacts) for f in robot.feet]
        # of linear velocity in a point, and of the angular one of a flat foot
        own = [range(6 if n > 1 else 3) for n in counts]
        self._components = np.array([i for foot in own for i in foot], int)
        ends = np.cumsum([0, *map(len, own)])
        self.foot_parts = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]
        self._tangential = np.flatnonzero(self._components < 2)
        self._linear = np.flatnonzero(self._components < 3)
        self._normal = np.flatnonzero(self._components == 2)
        along = [TERRAIN.soft_tangential] * 2
        self._sinking, self._sinking_located = (
            np.array([*along, normal])[self._components[self._linear]]
            for normal in (TERRAIN.soft_normal, TERRAIN.soft_located)
        )

    def retune(self, config: Config) -> None:
        """Use other values of the tunable parameters from the next node on."""
        self.config, noise = config, config.noise
        point = [noise.contact_tangential, noise.contact_tangential, noise.contact_normal]
        flat = [noise.contact_roll, noise.contact_roll, noise.contact_yaw]
        self._weight_xi = 1.0 / np.array(point + flat)[self._components]
        self._unmeasured = np.full(self.robot.nj, noise.joint_unmeasured)
        base = [noise.base_force] * 3 + [noise.base_moment] * 3
        # (nv,) of the generalized forces of a step of which nothing is measured
        self._stddev = np.concatenate([base if self._floating else [], self._unmeasured])

    def unmeasured(self, given) -> None:
        """Disturbances of a step of which nothing is measured yet."""
        self._weigh(given, AS_USUAL)
        self.contacts.complete(given, None, self)

    def complete(self, given, m: Measurement, situation: Situation = ON_ITS_FEET) -> None:
        """Torque and disturbances of a node, from the measurement that follows it.

        Args:
            given: input of the node.
            m: measurement at the end of its step.
            situation: who carries the robot.
        """
        factors, joint = AS_USUAL, None
        if m.torque is not None:
            given.torque = m.torque
            joint = self._torque_stddev(m)
        else:
            # legs that may do anything would leave the ground, and an outlier carry the robot
            given.weighed = False
            if m.position is None or given.ground_depth:
                factors, given.ground_depth = UNSEEN, OUT_OF_REACH
        self._weigh(given, factors, joint)
        if situation.suspended_at(m.stamp_ns):
            leave = self.leave_hanging if situation.hanging else self.leave_unsupported
            leave(given)
            self._slow_down(given, m, situation.resting)
        elif situation.pushed or situation.leaning:
            self.expect_push(given, situation.pushed)
        self.contacts.complete(given, m, self)

    def _torque_stddev(self, m: Measurement) -> np.ndarray:
        """(nj,) deviation of what the links get [Nm]; all of it where a stop may take it."""
        stddev = np.hypot(self.config.noise.joint_model, Torque.stddev(m, self.config.noise))
        if m.position is None:
            return stddev
        return np.hypot(stddev, self.stops.holding(m.position, m.torque, m.velocity) * m.torque)

    def follow(self, given, before) -> None:
        """Say how the torque changes between two steps, where its readings come late or early.

        Args:
            given: input of a complete node.
            before: of the one before it.
        """
        if self._late and given.weighed and before.weighed:
            change = (given.torque - before.torque) / self.config.estimator.step
            given.torque_change = before.torque_change = change

    def _weigh(self, given, factors: Factors, joint: np.ndarray | float | None = None) -> None:
        """Weigh the disturbances of a step, with deviations `joint` [Nm] where they are known."""
        stddev, xi = self._stddev.copy(), self._weight_xi
        if joint is not None:
            stddev[self._first_joint :] = joint
        if factors is not AS_USUAL:
            stddev[: self._first_joint] *= factors.base
            xi = xi / factors.contact
        given.nominal_force = given.weight_force = 1.0 / stddev
        given.nominal_xi = given.weight_xi = xi

    def leave_ground_open(self, given) -> None:
        """Widen the disturbances of a step without torque in a batch, which guesses the ground."""
        if not given.weighed and not given.ground_depth:
            given.nominal_xi = given.weight_xi = self._weight_xi / GROUND_UNKNOWN.contact
            weight = given.nominal_force.copy()
            weight[:6] /= GROUND_UNKNOWN.base
            given.nominal_force = given.weight_force = weight

    def leave_unsupported(self, given) -> None:
        """Something else than the feet carries the robot, anywhere: the base follows the IMU."""
        base = [self._weight] * 3 + [CARRIED_ARM * self._weight] * 3
        stddev = np.concatenate([base, self._unmeasured])
        given.nominal_force = given.weight_force = 1.0 / stddev

    def leave_hanging(self, given) -> None:
        """The base hangs from somewhere, and nothing touches the legs: torques are theirs alone."""
        weight = given.nominal_force.copy()
        weight[:3], weight[3:6] = 1.0, 1.0 / CARRIED_ARM
        weight[:6] /= UNKNOWN_LOAD * self._weight
        given.nominal_force = given.weight_force = weight
        given.ground_depth = OUT_OF_REACH

    def expect_push(self, given, strong: bool) -> None:
        """Something pushes the base, as hard as `PushPolicy` says of a strong or a weak push."""
        self.leave_pushed(given, *((PUSH.stddev, PUSH.vertical) if strong else (PUSH.weak, 0.0)))

    def leave_pushed(self, given, sideways: float, upwards: float) -> None:
        """Something pushes the base, by these shares of its weight: that is no load.

        Args:
            given: input of a complete node; if it has been solved, outliers keep their weights.
            sideways: standard deviation of the force along the ground, by the weight.
            upwards: of the vertical one.
        """
        weight = given.nominal_force.copy()
        stddev = np.array([sideways, sideways, upwards]) * self._weight
        weight[:3] = 1.0 / np.maximum(1.0 / weight[:3], stddev)
        given.nominal_force, given.weight_force = weight, np.minimum(given.weight_force, weight)

    def _slow_down(self, given, m: Measurement, resting: bool) -> None:
        """The base of a robot that is not on its feet rests or moves slowly, unless it falls."""
        if m.accelerometer is None or m.gyro is None or not self._floating:
            return
        if np.linalg.norm(m.accelerometer) < FREE_FALL * GRAVITY:
            return
        speed = LIFT.resting if resting else LIFT.carried
        given.set("held", np.zeros(3), np.full(3, 1.0 / speed))

    def expect_creep(self, given, creep: np.ndarray, tangential: bool = False) -> None:
        """Widen the contact disturbance of feet that creep as on no plane.

        Args:
            given: input with its dynamics part.
            creep: (nf,) contact velocity of each foot that its ground leaves unexplained [m/s].
            tangential: they keep their distance from the ground.
        """
        if not creep.any():
            return
        nominal = given.nominal_xi
        self._let_creep(nominal, creep, 2 if tangential else 3)
        # of other feet the weights that outliers have by now
        weight = np.minimum(given.weight_xi, nominal)
        given.nominal_xi, given.weight_xi = nominal, weight

    def expect_lasting_force(self, given) -> None:
        """Widen the vertical force on the base while a foot that carries creeps.

        What is wrong with the force of such a foot lasts for its way. White noise of that level
        would be knowledge of the mass.

        Args:
            given: input with its dynamics part.
        """
        weight = given.nominal_force.copy()
        weight[2] /= TERRAIN.lasting
        given.nominal_force = given.weight_force = weight

    def expect_unknown_load(self, given) -> None:
        """Widen the moment on a base whose legs have no torque, for its inertia is not estimated.

        Args:
            given: input with its dynamics part.
        """
        weight = given.nominal_force.copy()
        moment = UNWEIGHED_ARM * self._weight
        weight[3:6] = 1.0 / np.hypot(1.0 / weight[3:6], moment)
        given.nominal_force = given.weight_force = weight

    def expect_motion(
        self,
        given,
        unloaded: np.ndarray,
        softness: float = 0.0,
        unrest: float = 0.0,
        creep: np.ndarray | None = None,
        located: bool = False,
        untold: bool = False,
    ) -> None:
        """Widen the contact disturbances of a step by all that moves contacts as no law has it.

        Args:
            given: input with its dynamics part.
            unloaded: (nf,) which feet carried nothing before: they may be put down within the step,
                and the law knows no instant inside a node.
            softness: logarithm of the ground's compliance, 0 on hard ground. How fast feet sink
                there, creep and come up again has errors that last for a stance.
            unrest: tangential velocity of all feet, which move where they stand [m/s].
            creep: (nf,) contact velocity of feet that creep [m/s]; None: none does.
            located: a sensor tells the place.
            untold: feet carry loads that nothing tells, so that nothing tells how far rubber and
                legs give way, on ground that is no floor.
        """
        weight = given.nominal_xi
        if untold:
            weight[self._normal] = np.minimum(weight[self._normal], 1.0 / TERRAIN.untold_normal)
        if creep is not None:
            self._let_creep(weight, creep)
        if unrest > 0.0:
            at = self._tangential
            weight[at] = 1.0 / np.hypot(1.0 / weight[at], unrest)
        if softness > 0.0:
            at, sinking = self._linear, self._sinking_located if located else self._sinking
            weight[at] = 1.0 / np.hypot(1.0 / weight[at], softness * sinking)
        for part, lands in zip(self.foot_parts, unloaded.tolist()):
            if lands:
                weight[part] /= self.config.noise.contact_landing
        given.nominal_xi = given.weight_xi = weight

    def _let_creep(self, weight: np.ndarray, creep: np.ndarray, axes: int = 3) -> None:
        for part, velocity in zip(self.foot_parts, creep):
            if velocity > 0.0:
                linear = slice(part.start, part.start + axes)
                weight[linear] = 1.0 / np.hypot(1.0 / weight[linear], velocity)
