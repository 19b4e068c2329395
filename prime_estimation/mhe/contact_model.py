# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact models: smoothed contacts, or rigid contacts with contact flags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import _core
from ..config.parameters import Config
from ..contact.leg_forces import FREE_FALL
from ..contact.points import contact_points
from ..contact.schedule import ContactSchedule
from ..errors import ConfigError, RobotError
from ..robot import GRAVITY, Robot
from ..types import Measurement
from .joint_parameters import JointBlock, joint_model

Joints = Sequence[JointBlock]  # of the joint parameters that are estimated
CONTRADICTED = "the flags contradict the forces, or the motion of the feet"
# rms, in standard deviations over the window, of base forces and contact velocities that nothing
# explains
UNEXPLAINED_FORCE, UNEXPLAINED_MOTION = 3.0, 2.0


class SmoothedContacts:
    """Contacts by the smoothed law: no flags.

    Attributes:
        dynamics: C++ dynamics. alarm_spans: numbers of nodes over which a disturbance must last to
            be that of a payload: few for a heavy one, more for one near the noise of the gait.
            lets_creep: a foot that does not fit may slide, because no flag says that it stands.
    """

    alarm_spans = (10, 20)
    lets_creep = True

    def __init__(
        self, robot: Robot, config: Config, joints: Joints, tolerance: float | None = None
    ):
        self.dynamics = _core.SmoothedDynamics(*_arguments(robot, config, joints, tolerance))

    def reset(self) -> None:
        """Forget everything."""

    def observe(self, m: Measurement) -> None:
        """Look at the next measurement."""

    def complete(self, given, m: Measurement | None, process) -> None:
        """What a node's step needs besides torque and disturbances."""

    def unsupported(self, inputs) -> bool:
        """Whether no foot stands in one of these nodes, while something carries the robot."""
        return False

    def contradiction(self, window) -> str:
        """What contradicts the contacts of a solved window; empty when nothing does."""
        return ""


class RigidContacts:
    """Rigid contacts after flags from `ContactSchedule`. Attributes as of SmoothedContacts.

    Wrong flags last for a step and take forces as large as a payload's: it must outlast two.
    """

    alarm_spans = (80,)
    lets_creep = False

    def __init__(
        self, robot: Robot, config: Config, joints: Joints, tolerance: float | None = None
    ):
        self._schedule = ContactSchedule(robot)
        try:
            self.dynamics = _core.RigidDynamics(
                *_arguments(robot, config, joints, tolerance), _core.RigidOptions()
            )
        except ValueError as error:
            raise RobotError(f"{robot.name}: {error}", robot.config) from error

    def reset(self) -> None:
        """Forget all flags."""
        self._schedule.reset()

    def observe(self, m: Measurement) -> None:
        """Compute the flags of the step that ends with a measurement."""
        self._schedule.before(m)

    def complete(self, given, m: Measurement | None, process) -> None:
        """Contact flags; where legs are not seen, no foot stands."""
        given.set("wrench_cone", np.zeros(0), self._cone_weight(given, process))
        if m is not None and not given.ground_depth:
            given.stance = self._schedule.before(m)
        if _unsupported(given):  # the flags are wrong: the base follows the IMU
            process.leave_unsupported(given)

    @staticmethod
    def _cone_weight(given, process) -> np.ndarray:
        return np.full(len(given.weight("wrench_cone")), 1.0 / process.config.noise.wrench_cone)

    def unsupported(self, inputs) -> bool:
        """Whether no foot stands in one of these nodes, while something carries the robot."""
        return any(_unsupported(given) for given in inputs)

    def contradiction(self, window) -> str:
        """What contradicts the flags of a solved window; empty when nothing does.

        Nodes that nothing carries, or base forces or velocities of standing feet that no noise
        explains.
        """
        inputs = window.inputs[:-1]
        if self.unsupported(inputs):
            return CONTRADICTED
        # before outliers lost their weight
        force = window.unexplained()[:, :6] * [given.nominal_force[:6] for given in inputs]
        nv = window.problem.nv
        slack = np.array([u[nv:] * given.nominal_xi for u, given in zip(window.us, inputs)])
        wrong = (
            np.mean(force**2) > UNEXPLAINED_FORCE**2 or np.mean(slack**2) > UNEXPLAINED_MOTION**2
        )
        return CONTRADICTED if wrong else ""


ContactModel = SmoothedContacts | RigidContacts


def contact_model(
    robot: Robot, config: Config, joints: Joints, tolerance: float | None = None
) -> ContactModel:
    """The contact model that the configuration asks for.

    Args:
        robot: model and contact points.
        config: which model, and its law.
        joints: blocks of the joint parameters that are estimated.
        tolerance: of the step's Newton iteration other than the default [m/s, rad/s].

    Raises:
        ConfigError: rigid contacts of a robot without IMU.
    """
    rigid = config.estimator.contact_model == "rigid"
    if rigid and robot.config.floating_base and robot.imu_joint is None:
        raise ConfigError(
            "estimator.contact_model is 'rigid', whose contact flags need an IMU, and the robot "
            "has none: set robot.imu_frame, or take 'smoothed'",
            config.estimator.contact_model,
        )
    return (RigidContacts if rigid else SmoothedContacts)(robot, config, joints, tolerance)


def _unsupported(given) -> bool:
    """The flags say that no foot stands, the accelerometer that something carries the robot."""
    felt = float(np.linalg.norm(given.value("accelerometer")))
    seen = np.any(given.weight("accelerometer"))
    stands = any(stance != _core.Stance.open for stance in given.stance)
    return bool(seen) and felt > FREE_FALL * GRAVITY and not stands


def _arguments(robot: Robot, config: Config, joints: Joints, tolerance: float | None) -> tuple:
    links = [robot.link_joint(link) for link in robot.estimated_links]
    options = _options(config)
    options.tolerance = options.tolerance if tolerance is None else tolerance
    floating = robot.config.floating_base
    return (
        robot.model,
        contact_points(robot),
        links,
        joint_model(robot, joints),
        floating,
        options,
    )


def _options(config: Config) -> "_core.DynamicsOptions":
    options, law = _core.DynamicsOptions(), _core.ContactLaw()
    law.kappa, law.compliance = config.robot.kappa, config.robot.compliance
    law.correction = 0.0 if config.estimator.cone == "convex" else 1.0
    options.manifold = getattr(_core.InertiaManifold, config.estimator.manifold)
    e = config.estimator
    options.slopes = e.terrain_slopes and e.contact_model == "smoothed"
    options.soft = e.terrain_softness and e.contact_model == "smoothed"
    options.law, options.dt, options.rolling = law, config.estimator.step, config.estimator.rolling
    return options
