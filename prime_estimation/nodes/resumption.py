# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Resumption: an estimator that is started anew goes on with what it had learned.

Inertia, and joint parameters.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from ..config.parameters import Config
from ..estimator import Estimator
from ..inertia import InertiaBelief
from ..io.inertia_messages import inertia_parameters
from ..io.messages import stamp_ns
from ..mhe.joint_belief import JointBelief
from ..output_messages import OF_JOINTS, TOPICS
from ..robot import Robot
from ..transport.base import Qos, Transport
from ..types import JointParameter
from .inertia_keeper import KEPT, KEPT_JOINTS

log = logging.getLogger("prime.estimator")
# share of a robot's mass by which its links that are not estimated may weigh more or less in a
# message: only the rounding of their sum is between robots that are the same
_SAME = 1e-3


class Resumption:
    """What was learned before this program began, for its estimator until it has learned itself.

    Args:
        transport: where the keeper of the one before is heard.
        robot, config: those of the estimator.
        post: has something done to the estimator between two updates.

    Attributes:
        over: nothing of it is taken up any more: there is an estimate, or it is to be forgotten.
    """

    def __init__(
        self,
        transport: Transport,
        robot: Robot,
        config: Config,
        post: Callable[[Callable[[Estimator], object]], None],
    ):
        self._transport, self._robot, self._post = transport, robot, post
        self._oldest, self.over = config.node.resume_age, False
        self._learned: dict[type, InertiaBelief | JointBelief] = {}
        # messages that came before /clock told the time, by who judges their age
        self._unjudged: dict[Callable, object] = {}
        if self._oldest > 0.0:
            self._hear(KEPT, TOPICS["inertial_parameters"], self._inertia)
            if config.estimator.tells_joints:
                self._hear(KEPT_JOINTS, OF_JOINTS["joint_parameters"], self._joints)

    def _hear(self, topic: str, kind: str, take: Callable[[object, int], None]) -> None:
        def heard(message, _arrival_ns: int) -> None:
            self._unjudged[take] = message
            self.judge()

        self._transport.subscribe(f"~/{topic}", kind, heard, Qos.LATCHED)

    def judge(self) -> None:
        """Take up what has come and applies, once the time is known."""
        if self._unjudged and (now_ns := self._transport.now_ns()):
            unjudged, self._unjudged = self._unjudged, {}
            for take, message in unjudged.items():
                if not self.over:  # what comes then is what this estimator said itself
                    take(message, now_ns)

    def take_up(self, estimator: Estimator) -> None:
        """Let an estimator that forgot everything before its first estimate have it again."""
        for belief in () if self.over else list(self._learned.values()):
            estimator.resume(belief)

    def _inertia(self, message, now_ns: int) -> None:
        belief = belief_of(message, self._robot, now_ns, self._oldest)
        if belief is not None:
            log.info("going on with a total mass of %.2f kg, learned before", message.total_mass)
            self._begin_with(belief)

    def _joints(self, message, now_ns: int) -> None:
        belief = joints_of(message, now_ns, self._oldest)
        if belief is not None:
            log.info("going on with joint parameters that were learned before")
            self._begin_with(belief)

    def _begin_with(self, belief: InertiaBelief | JointBelief) -> None:
        """Begin with what was learned before, also if time jumps before the first estimate."""
        self._learned[type(belief)] = belief
        self._post(lambda estimator: estimator.resume(belief))


def belief_of(message, robot: Robot, now_ns: int, oldest_s: float) -> InertiaBelief | None:
    """Inertia of a kept prime_estimation_msgs/InertialParameters; None where it does not apply.

    It does when it is valid and finite, of the same estimated bodies of a robot whose other links
    weigh the same, and not older than `oldest_s` [s].
    """
    age_s = 1e-9 * (now_ns - stamp_ns(message.header))
    links = [body.link for body in message.bodies]
    if not message.valid:
        log.info("kept inertia is not valid: not taken up")
        return None
    if links != list(robot.estimated_links):
        log.info("kept inertia is of other bodies (%s): not taken up", ", ".join(links))
        return None
    if not 0.0 <= age_s <= oldest_s:
        log.info("kept inertia is %.0f s old: not taken up", age_s)
        return None
    parameters = tuple(inertia_parameters(body.inertia) for body in message.bodies)
    covariances = tuple(np.reshape(body.covariance, (10, 10)) for body in message.bodies)
    if not np.isfinite([*parameters, *np.concatenate(covariances)]).all():
        log.info("kept inertia is not finite: not taken up")
        return None
    nominal = robot.total_mass - sum(robot.model.inertias[robot.link_joint(n)].mass for n in links)
    others = message.total_mass - sum(pi[0] for pi in parameters)
    if not abs(others - nominal) <= _SAME * robot.total_mass:
        what = "kept inertia is of another robot: its other links weigh %.2f kg, not %.2f kg"
        log.info(f"{what}: not taken up", others, nominal)
        return None
    return InertiaBelief(parameters, covariances, age_s)


def joints_of(message, now_ns: int, oldest_s: float) -> JointBelief | None:
    """Joint parameters of a kept prime_estimation_msgs/JointParameters; None where too old.

    What this robot has not, or does not estimate, is passed over by its blocks.
    """
    age_s = 1e-9 * (now_ns - stamp_ns(message.header))
    if not 0.0 <= age_s <= oldest_s:
        log.info("kept joint parameters are %.0f s old: not taken up", age_s)
        return None
    columns = message.kinds, message.names, message.values, message.stddevs, message.observable
    told = [
        JointParameter(str(kind), str(name), float(value), float(stddev), bool(observable))
        for kind, name, value, stddev, observable in zip(*columns)
        if np.isfinite([value, stddev]).all() and stddev > 0.0
    ]
    return JointBelief(tuple(told), age_s)
