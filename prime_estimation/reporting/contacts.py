# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contacts of an estimate: force, place, whether it carries load and whether it slides."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import INTERVAL
from ..mhe.intervals import ForceIntervals, open_variances
from ..mhe.problem import Problem
from ..mhe.window import Window
from ..robot import GRAVITY
from ..types import CONTACT_SHARE, ContactEstimate, ContactState

SLIP_SPEED = 0.1  # tangential speed of a sliding contact [m/s]
MOVING = ContactState.STICKING, ContactState.SLIPPING  # of contacts that carry: no, yes


class ContactReport:
    """Contacts of the newest complete node of a window.

    Attributes:
        slipping: share of those that carry and slide, over the last second.
    """

    def __init__(self, problem: Problem):
        self.problem, self.robot = problem, problem.robot
        self.slipping, self._share = 0.0, problem.dt / INTERVAL.slip_memory
        self._intervals = ForceIntervals(len(self.robot.contacts))
        self._force_rows = [slice(3 * i, 3 * i + 3) for i in range(len(self.robot.contacts))]

    def contacts(
        self, window: Window, newest: list[np.ndarray], mass: float, unweighed: float
    ) -> tuple[ContactEstimate, ...]:
        """All contacts of the robot.

        Args:
            window: solved.
            newest: places (nc, 3) [m], forces (3 nc,) [N], their covariance and velocities.
            mass: of the robot [kg].
            unweighed: relative deviation of a mass that is not estimated now.
        """
        if not self.problem.dynamics.nc:
            return ()
        points, force, covariance, velocity = newest
        if unweighed:
            # forces carry the weight: they are no better known than a mass that is not estimated
            covariance = covariance + unweighed**2 * np.outer(force, force)
        corners = len(self.robot.contacts) / len(self.robot.feet)
        if not window.weighed():  # which foot carries how much
            untold = INTERVAL.untold_force * GRAVITY * mass / corners
            covariance = covariance + untold**2 * np.eye(len(force))
        if window.inputs[-2].ground_depth > 0.0:  # no contact is modelled while legs are not seen
            covariance = covariance + np.eye(len(force)) * (GRAVITY * mass) ** 2
        threshold = CONTACT_SHARE * GRAVITY * mass
        normal, speeds = force[2::3].tolist(), velocity.reshape(-1, 3)[:, :2].tolist()
        slides = [
            carried >= threshold and math.hypot(*speed) > SLIP_SPEED
            for carried, speed in zip(normal, speeds)
        ]
        covariance = covariance.copy()
        variances = covariance.reshape(-1)[:: len(force) + 1]  # a view of its diagonal
        variances += self._intervals.variances(force, slides, self.problem.torques_late)
        opens = open_variances(force[2::3] < threshold, GRAVITY * mass / corners)
        np.maximum(variances, opens.ravel(), out=variances)
        out = []
        for contact, rows, point, *told in zip(
            self.robot.contacts, self._force_rows, points, normal, variances[2::3].tolist(), slides
        ):
            carried, spread, sliding = told
            unlikely = (threshold - carried) / math.sqrt(2.0 * max(spread, 1e-12))
            state = ContactState.OPEN if carried < threshold else MOVING[sliding]
            of_force = force[rows], covariance[rows, rows], 0.5 * math.erfc(unlikely)
            out.append(ContactEstimate(contact.name, point, *of_force, state, contact.foot))
        self._follow([c.state for c in out if c.state is not ContactState.OPEN])
        return tuple(out)

    def _follow(self, carrying: list[ContactState]) -> None:
        if carrying:
            now = carrying.count(ContactState.SLIPPING) / len(carrying)
            self.slipping += self._share * (now - self.slipping)
