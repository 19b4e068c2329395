# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""First state: prior of a start batch, including what is kept of a lost estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..config.policies import GROUND, TERRAIN
from ..inertia import InertiaBelief
from .joint_belief import JointBelief

if TYPE_CHECKING:
    from .problem import Problem

# standard deviations of a first state that nothing is known of but the readings
FIRST_JOINT, FIRST_JOINT_RATE = 0.01, 1.0  # rad, rad/s
FIRST_PLACE, FIRST_ATTITUDE, FIRST_VELOCITY = 0.05, 0.1, 0.5  # m, rad, m/s and rad/s
# without motion capture the first node defines place and heading of the world; the height of its
# ground is guessed from the legs
DEFINED, FIRST_HEIGHT = 1e-4, 0.02  # m and rad, m
FIRST_SLOPE = 1e-6  # of a floor under the first feet
UNEVEN_TILT = 0.02  # rad, of a guess by feet that stand and by what is felt: no floor tells better
# where an estimate goes on without its feet
CONTINUED_TILT, CONTINUED_VELOCITY = 0.01, 0.05  # rad, m/s and rad/s
CREDIBLE = 6.0  # prior standard deviations that parameters of an estimate may have gone
KEPT_GROWTH = 2.0  # of the standard deviations of what is kept of it


class FirstState:
    """Prior of the first state of a problem.

    Args:
        problem: whose state it is.
    """

    def __init__(self, problem: Problem):
        self._problem = problem
        self.forget()

    def forget(self) -> None:
        """Begin with nominal inertia and the joints of the robot's YAML."""
        self.forget_sensors()
        self.forget_inertia()
        self.begin_with_joints(JointBelief(()))

    def forget_sensors(self) -> None:
        """Begin with sensors of which nothing has been learned."""
        self._kept: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def forget_inertia(self) -> None:
        """Begin with nominal inertia."""
        self._theta, self._theta_root = self._problem.theta_nominal, self._problem.theta_prior_root

    @property
    def inertia(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean theta (ntheta,) that it begins with, and a root of its covariance."""
        return self._theta, self._theta_root

    def keep_inertia(self, mean: np.ndarray, covariance: np.ndarray) -> None:
        """Begin with theta (ntheta,) and its covariance (ntheta, ntheta)."""
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 1e-12 * values.max(initial=0.0)))
        self._theta, self._theta_root = mean, root

    def begin_with_inertia(self, belief: InertiaBelief) -> None:
        """Begin with an inertia that was learned before, and its random walk since."""
        mean, covariance = belief.in_theta(self._problem.config.estimator.manifold)
        walk = np.sqrt(belief.age) * self._problem.theta_walk_root
        self.keep_inertia(mean, covariance + walk @ walk.T)

    def begin_with_joints(self, belief: JointBelief) -> None:
        """Begin with joint parameters that were learned before, and their random walk since."""
        self._joints = {block.name: belief.prior(block) for block in self._problem.joints}

    def keep(self, x: np.ndarray, stddev: np.ndarray) -> None:
        """Begin with what outlasts an estimate that is lost.

        Args:
            x: the state it had come to.
            stddev: (ndx,) of that; it grows, for the next start batch sees measurements once more.
        """
        held = {name for hold in self._problem.mount_holds if hold.held for name in hold.names}
        for name, block in self._problem.measurements.parameter_priors().items():
            if name in held:  # its prior is no knowledge that could grow
                continue
            mean = self._problem.parameter(x, name)
            own = KEPT_GROWTH * stddev[self._problem.columns(name)]
            if block.lasting and (np.abs(mean) < CREDIBLE * block.prior).all():
                self._kept[name] = mean.copy(), np.fmin(own, block.prior)

    def neutral(self) -> np.ndarray:
        """State at the origin at rest, its parameters at the means of their priors."""
        x = self._problem.state.zero()
        self._problem.parameter(x, "theta")[:] = self._theta
        self._problem.parameter(x, "friction")[:] = np.log(self._problem.config.estimator.friction)
        for name, (mean, _) in (*self._joints.items(), *self._kept.items()):
            self._problem.parameter(x, name)[:] = mean
        return x

    def root(
        self,
        located: bool,
        continued: bool = False,
        uneven: bool = False,
        weighed: bool = True,
    ) -> np.ndarray:
        """Square root (ndx, ndx) of the covariance of the first state.

        Wide, but for what defines the world where nothing measures it.

        Args:
            located: position and heading are measured.
            continued: tilt and velocity go on from an estimate that was still right.
            uneven: the ground under the feet is no level floor.
            weighed: torques tell what the feet carry.
        """
        std = self._own_stddev(located, continued, uneven, weighed)
        for name, block in self._problem.measurements.parameter_priors().items():
            std[self._problem.columns(name)] = block.prior
        for hold in self._problem.mount_holds:
            for name in hold.names:
                std[self._problem.columns(name)] *= hold.share
        for name, (_, own) in self._kept.items():
            std[self._problem.columns(name)] = own
        root = np.diag(std)
        share = {name: hold.share for hold in self._problem.joint_holds for name in hold.names}
        for name, (_, own) in self._joints.items():
            columns = self._problem.columns(name)
            root[columns, columns] = share[name] * own
        theta = self._problem.columns("theta")
        root[theta, theta] = self._theta_root
        return root

    def _own_stddev(
        self, located: bool, continued: bool, uneven: bool, weighed: bool
    ) -> np.ndarray:
        """Standard deviations (ndx,) of what is no sensor's, in the order of the state."""
        e = self._problem.config.estimator
        softness = GROUND.uneven_softness if uneven else 1.0
        if not weighed or (uneven and "slope" not in self._problem.layout):
            softness = GROUND.untold_softness
        parts = {
            "joints": FIRST_JOINT,
            "joint_rates": FIRST_JOINT_RATE,
            "velocity": CONTINUED_VELOCITY if continued else FIRST_VELOCITY,
            "rate": CONTINUED_VELOCITY if continued else FIRST_VELOCITY,
            "height": FIRST_HEIGHT if located or uneven else e.terrain_stddev,
            "slope": TERRAIN.learned * TERRAIN.slope if uneven else FIRST_SLOPE,
            "friction": e.friction_stddev,
            "softness": softness * e.softness_stddev,
        }
        if self._problem.floating:
            # a tracked body may lean by more
            guessed = UNEVEN_TILT if uneven and not located else FIRST_ATTITUDE
            tilt = CONTINUED_TILT if continued else guessed
            heading = FIRST_ATTITUDE if located else DEFINED
            parts["rotation"] = [tilt, tilt, heading]
            parts["position"] = FIRST_PLACE if located else [DEFINED, DEFINED, FIRST_HEIGHT]
        std = np.ones(self._problem.ndx)
        for name, value in parts.items():
            std[self._problem.columns(name)] = value
        return std


def inertia_deviation(problem: Problem, x: np.ndarray) -> np.ndarray:
    """Inertia at x (nx,) less the nominal one (ntheta,), in standard deviations of its prior."""
    away = problem.parameter(x, "theta") - problem.theta_nominal
    return np.linalg.solve(problem.theta_prior_root, away)
