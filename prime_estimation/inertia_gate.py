# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gate between the estimated inertia and a controller's model: checks it, and limits its rate.

It writes to the model between two solves of the controller.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import astuple, dataclass, fields

import numpy as np
import pinocchio as pin

from .config.values import are_numbers
from .errors import ConfigError, DataError
from .io.inertia_messages import inertia_parameters
from .io.messages import stamp_ns
from .robot import Robot

# a message stamped this much before the newest is not late: the clock has been set back
_RESTART_NS = 1_000_000_000
_FIELDS = ("header", "sequence", "valid", "bodies")  # of an InertialParameters message


@dataclass(frozen=True)
class Bounds:
    """Bounds within which a controller accepts an estimated inertia.

    `mass_rate` limits how fast the controller's model follows [kg/s].
    """

    lowest_mass: float = 0.5  # share of the nominal mass of the body
    highest_mass: float = 3.0  # share of the nominal mass of the body
    com_shift: float = 0.3  # m, from the nominal centre of mass
    mass_rate: float = 5.0  # kg/s


class InertiaGate:
    """Passes accepted inertia messages of the estimator on to a controller's model.

    Call `offer` when a message arrives, and `apply` between two solves of the controller; both may
    be called from different threads. The model moves to a new value along `(1 - s) pi_now + s
    pi_wanted`: convex combinations of physical inertias are physical, too.

    Attributes:
        frozen: while True, nothing is applied.
        applied: sequence number of the message that the model has reached; 0 before the first.
        refused: number of refused messages, by reason.
    """

    def __init__(self, robot: Robot, bounds: Bounds = Bounds()):
        if not (isinstance(robot, Robot) and isinstance(bounds, Bounds)):
            what = f"got a {type(robot).__name__} and a {type(bounds).__name__}"
            raise ConfigError(f"InertiaGate takes a Robot (Robot.load) and Bounds: {what}", robot)
        if (
            not are_numbers(astuple(bounds), len(fields(bounds)))
            or min(bounds.lowest_mass, bounds.mass_rate, bounds.com_shift) <= 0.0
            or bounds.highest_mass <= bounds.lowest_mass
        ):
            raise ConfigError(f"bounds of the inertia listener make no sense: {bounds}", bounds)
        self._robot, self._bounds = robot, bounds
        self._nominal = [inertia.toDynamicParameters() for inertia in robot.model.inertias]
        self._wanted: tuple[int, dict[int, np.ndarray]] | None = None
        self._newest = (-1, 0)  # stamp, sequence
        self._lock = threading.Lock()
        self.frozen = False
        self.applied = 0
        self.refused: Counter[str] = Counter()

    def offer(self, message) -> str:
        """Check an InertialParameters message, and keep it if it is accepted.

        Returns the reason for a refusal; empty if the message is accepted.

        Raises:
            DataError: it is no such message.
        """
        if not all(hasattr(message, name) for name in _FIELDS):
            what = "InertiaGate.offer takes an InertialParameters message"
            raise DataError(f"{what}, got a {type(message).__name__}", message)
        reason = self._judge(message)
        if reason:
            self.refused[reason.split(":")[0]] += 1
            return reason
        bodies = {
            self._robot.link_joint(b.link): inertia_parameters(b.inertia) for b in message.bodies
        }
        with self._lock:
            self._newest = (stamp_ns(message.header), int(message.sequence))
            self._wanted = (int(message.sequence), bodies)
        return ""

    def _judge(self, message) -> str:
        if not message.valid:
            return "not valid"
        # an estimator that was restarted counts from 1 again, but its clock goes on; a recording
        # that begins again sets both back
        age_ns = self._newest[0] - stamp_ns(message.header)
        if 0 <= age_ns < _RESTART_NS and int(message.sequence) <= self._newest[1]:
            return "old"
        for body in message.bodies:
            if body.link not in self._robot.links[1:]:
                return f"unknown link: {body.link}"
            pi, nominal = (
                inertia_parameters(body.inertia),
                self._nominal[self._robot.link_joint(body.link)],
            )
            if (
                not np.isfinite(pi).all()
                or pi[0] <= 0.0
                or np.linalg.eigvalsh(pin.PseudoInertia.FromDynamicParameters(pi).toMatrix())[0]
                <= 0.0
            ):
                return f"not physical: {body.link}"
            if not self._bounds.lowest_mass <= pi[0] / nominal[0] <= self._bounds.highest_mass:
                return (
                    f"mass out of bounds: {body.link} {pi[0]:.2f} kg, nominal {nominal[0]:.2f} kg"
                )
            if np.linalg.norm(pi[1:4] / pi[0] - nominal[1:4] / nominal[0]) > self._bounds.com_shift:
                return f"centre of mass out of bounds: {body.link}"
        return "" if message.bodies else "no bodies"

    def on_freeze(self, request) -> dict:
        """Handle a request of the service `~/freeze` (std_srvs/SetBool).

        True: the model keeps its inertia. False: it follows the estimator again.
        """
        self.frozen = bool(request.data)
        return {
            "success": True,
            "message": "inertia is frozen" if self.frozen else "inertia follows the estimator",
        }

    def apply(self, model: pin.Model, dt: float) -> bool:
        """Move a model towards the newest accepted message, as far as `mass_rate` allows in dt [s].

        Only `model.inertias` is written, in place: objects of Crocoddyl and Pinocchio that hold
        this model use the new values at once.

        Returns:
            True if the model has changed.
        """
        with self._lock:
            wanted = self._wanted
        if wanted is None or self.frozen or dt <= 0.0:
            return False
        sequence, bodies = wanted
        now = {j: model.inertias[j].toDynamicParameters() for j in bodies}
        step = max(abs(bodies[j][0] - now[j][0]) for j in bodies)
        share = min(1.0, self._bounds.mass_rate * dt / step) if step > 0.0 else 1.0
        for j, pi in bodies.items():
            model.inertias[j] = pin.Inertia.FromDynamicParameters(
                (1.0 - share) * now[j] + share * pi
            )
        if share == 1.0:
            self.applied = sequence
            with self._lock:
                self._wanted = None if self._wanted is wanted else self._wanted
        return True
