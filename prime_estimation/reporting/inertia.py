# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Inertias of an estimate: links, the whole robot, and which of them are in doubt."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..config.policies import INTERVAL, SWAY
from ..inertia import com_stddev, tensor_stddev
from ..mhe.problem import Problem
from ..types import BodyInertia

OBSERVED = 0.5  # share of the prior's standard deviation below which a mass has been observed


class InertiaReport:
    """Inertias of the estimated links.

    Attributes:
        nominal_mass: of the robot by its model [kg].
    """

    def __init__(self, problem: Problem):
        self.problem, self.robot = problem, problem.robot
        self.nominal_mass = self.robot.total_mass
        self._prior_stddev = problem.config.estimator.mass_stddev
        # of the whole weight, per share that feet may carry more or less, each by itself [kg m]
        self._arm = INTERVAL.rest_arm * self.nominal_mass * np.array([1.0, 1.0, 0.0])
        self._sways = np.array([SWAY.way, SWAY.way, SWAY.height])
        lasting = [INTERVAL.com, INTERVAL.com, INTERVAL.com_height]
        as_said = np.array(lasting) if problem.floating else np.zeros(3)
        # of the centre of mass: of a robot that is like its YAML, and of one that is not
        self._com_errors = as_said, np.hypot(as_said, INTERVAL.unlike_com)
        self._tensor_error = INTERVAL.tensor if problem.floating else 0.0

    def bodies(
        self,
        x: np.ndarray,
        theta: np.ndarray,
        weighing: float,
        contradicted: bool,
        unlike: bool,
        stuck: float,
        swaying: float,
    ) -> tuple[BodyInertia, ...]:
        """Inertias of the estimated links.

        Args:
            x: state.
            theta: covariance (10 n, 10 n) of their coordinates.
            weighing: relative error of what the legs carry, by all torques alike or its scatter.
            contradicted: legs carry what no contact explains: nothing is observed.
            unlike: the robot is known to differ from its YAML.
            stuck: share of its weight that dry friction of resting joints may hold.
            swaying: mass of a load that does not follow the robot [kg].
        """
        com_error, pis = self._com_errors[unlike], self.problem.inertias(x)
        systematic = weighing * self.problem.total_mass(x)
        bodies = []
        for i, (link, (pi, jacobian)) in enumerate(zip(self.robot.estimated_links, pis)):
            rows = slice(10 * i, 10 * i + 10)
            covariance = jacobian @ theta[rows, rows] @ jacobian.T
            of_tensor = covariance.reshape(-1)[44::11]  # a view of the end of its diagonal
            of_tensor += tensor_stddev(pi, self._tensor_error) ** 2
            stddev = math.hypot(math.sqrt(max(float(covariance[0, 0]), 0.0)), systematic)
            observed = stddev < OBSERVED * self._prior_stddev
            observable = observed and not contradicted
            by_load = np.hypot(stuck * self._arm, swaying * self._sways)
            lasting = np.hypot(com_error, by_load / float(pi[0]))
            deviations = stddev, np.hypot(com_stddev(pi, covariance), lasting)
            bodies.append(BodyInertia(link, pi, covariance, *deviations, observable))
        return tuple(bodies)

    def total(self, x: np.ndarray, theta: np.ndarray, weighing: float) -> tuple[float, float]:
        """Total mass and its standard deviation [kg]; the common torque scale counts once.

        Legs tell the sum of several links better than each: `J P J^T` with `J = dm/dtheta` of all.

        Args:
            x: state.
            theta: covariance (10 n, 10 n) of the coordinates of the estimated links.
            weighing: relative error of what the legs carry, by all torques alike or its scatter.
        """
        mass = self.problem.total_mass(x)
        slopes = [jacobian[0] for _, jacobian in self.problem.inertias(x)]
        by_theta = np.concatenate(slopes) if slopes else np.zeros(len(theta))
        variance = max(float(by_theta @ theta @ by_theta), 0.0)
        return mass, math.hypot(math.sqrt(variance), weighing * mass)

    def doubted(
        self, bodies: tuple[BodyInertia, ...], links: frozenset[int]
    ) -> tuple[BodyInertia, ...]:
        """Inertias of which some are those of links that are given what another one carries.

        `P + d d^T` with d = pi - pi_nominal: anything between nothing of it and all may be theirs.
        """
        if not links:
            return bodies
        out = list(bodies)
        for i in links:
            body, link = bodies[i], self.robot.link_joint(bodies[i].link)
            added = body.parameters - self.robot.model.inertias[link].toDynamicParameters()
            covariance = body.covariance + np.outer(added, added)
            out[i] = replace(
                body,
                covariance=covariance,
                mass_stddev=math.hypot(body.mass_stddev, added[0]),
                com_stddev=np.maximum(body.com_stddev, com_stddev(body.parameters, covariance)),
                observable=False,
            )
        return tuple(out)
