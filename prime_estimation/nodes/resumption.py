# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Resumption: an estimator that is started anew goes on with what it had learned.

Inertia, and joint parameters.
"""

from __future__ import annotations

import logging

import numpy as np

from ..inertia import InertiaBelief
from ..io.inertia_messages import inertia_parameters
from ..io.messages import stamp_ns
from ..mhe.joint_belief import JointBelief
from ..robot import Robot
from ..types import JointParameter

log = logging.getLogger("prime.estimator")


def belief_of(message, robot: Robot, now_ns: int, oldest_s: float) -> InertiaBelief | None:
    """Inertia of a kept prime_estimation_msgs/InertialParameters; None where it does not apply.

    It does when it is valid, of the same estimated bodies, and not older than `oldest_s` [s].
    """
    age_s = 1e-9 * (now_ns - stamp_ns(message.header))
    links = [body.link for body in message.bodies]
    if not message.valid or links != list(robot.estimated_links):
        log.info("kept inertia is of other bodies (%s): not taken up", ", ".join(links))
        return None
    if not 0.0 <= age_s <= oldest_s:
        log.info("kept inertia is %.0f s old: not taken up", age_s)
        return None
    return InertiaBelief(
        tuple(inertia_parameters(body.inertia) for body in message.bodies),
        tuple(np.reshape(body.covariance, (10, 10)) for body in message.bodies),
        age_s,
    )


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
