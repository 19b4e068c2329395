# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Load of feet without torques: distributes the force that the motion requires over the feet."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..config.policies import GROUND
from ..contact.leg_forces import FREE_FALL
from ..robot import GRAVITY
from ..sensors.contact_flags import NAME as FLAGS
from .problem import Problem
from .window import Window


class LoadByMotion:
    """Normal forces of legs whose torques are not measured."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self._data = problem.robot.model.createData()
        self._still = 0  # nodes for which all feet have stood still

    def forces(
        self, window: Window, above: np.ndarray, soles: np.ndarray, rates: np.ndarray
    ) -> np.ndarray:
        """Normal forces (nf,) [N] at the newest complete node, of feet that are slow and low.

        The motion of the nominal robot needs a force F, along u, and a moment M about its base.
        Feet share them by how likely each of them stands, `s_i`:

            min  sum_i f_i^2 / s_i + (sum_i f_i - |F|)^2 / a^2 + |sum_i (r_i x u) f_i - M|^2 / b^2

        the last one across u. So one that is high above its ground carries where the weight would
        topple over the others: that is where there is a step. Feet are compared with each other, so
        that some carry even where base and ground have drifted apart.

        Args:
            window: solved.
            above: (nf,) heights of the soles over their ground [m].
            soles: (nf, 3) places [m].
            rates: (nf, 3) of them [m/s].
        """
        speeds = np.linalg.norm(rates, axis=1)
        self._still = self._still + 1 if speeds.max(initial=0.0) < GROUND.standing else 0
        if self.problem.has_imu:
            felt = float(np.linalg.norm(window.inputs[-2].value("accelerometer")))
            if felt < FREE_FALL * GRAVITY:
                return np.zeros(len(above))
        force, up, across, moment, base = self._needed(window)
        likely = self._likely(above, speeds)
        levers = across @ np.cross(soles - base, up).T
        A = np.vstack([np.ones(len(above)), levers])
        needed = np.array([force, *moment])
        slack = force * np.array([GROUND.share, GROUND.lever, GROUND.lever])
        # in units of the force: each foot may carry all of it
        W = (force * force) * likely
        carried = W * (A.T @ np.linalg.solve(A * W @ A.T + np.diag(slack**2), needed))
        return np.maximum(carried, 0.0)

    def _needed(self, window: Window) -> tuple:
        """|F| [N], u (3,), two axes across it (2, 3), M there (2,) [Nm], the base's place (3,)."""
        q, v, a = window.motion()
        robot, R = self.problem.robot, pin.Quaternion(q[3:7].copy()).toRotationMatrix()
        wrench = pin.rnea(robot.model, self._data, q, v, a)[:6]
        force, moment = R @ wrench[:3], R @ wrench[3:]
        size = max(float(np.linalg.norm(force)), np.finfo(float).tiny)
        up = force / size
        across = np.linalg.svd(up[None])[2][1:]
        return size, up, across, across @ moment, q[:3]

    def _likely(self, above: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """How likely feet (nf,) stand beside the likeliest one, by heights [m], speeds [m/s]."""
        slow, still = (np.exp(-0.5 * (speeds / most) ** 2) for most in (GROUND.slow, GROUND.still))
        flags = self.problem.measurements.trackers.get(FLAGS)
        if flags is not None and flags.known:
            # the lowest feet are not those that stand where the ground is not level
            likely = flags.odds * slow
        else:
            near = np.exp(-0.5 * ((above - above.min()) / GROUND.near) ** 2)
            likely = np.maximum(near * slow, GROUND.elsewhere * still)
        likely += np.finfo(float).tiny
        return likely / likely.max()

    def left_hanging(self, window: Window, normal: np.ndarray, least: float) -> np.ndarray:
        """(nf,) feet that ought to carry the robot and do not in the newest nodes.

        All of them where nothing carries it; one alone where flags say that it does.

        Args:
            window: solved.
            normal: (nf,) what they ought to carry [N].
            least: of a foot that stands [N].
        """
        carried = _newest_forces(window)
        ought = GROUND.hanging_share * normal.sum()
        hangs = np.full(len(normal), carried[-GROUND.hanging_nodes :].sum(axis=1).max() < ought)
        flags = self.problem.measurements.trackers.get(FLAGS)
        if flags is not None and flags.known:
            hangs |= _missed(carried, normal)
        return hangs & (normal > least)

    def idle(self, window: Window, normal: np.ndarray, least: float) -> np.ndarray:
        """(nf,) feet that ought to carry and do not, while all stand still; arguments as above."""
        if self._still < GROUND.standing_nodes:
            return np.zeros(len(normal), bool)
        return _missed(_newest_forces(window), normal) & (normal > least)


def _newest_forces(window: Window) -> np.ndarray:
    """Forces (k, nf) of the feet in the newest nodes [N]."""
    nodes = range(-min(GROUND.missed_nodes, window.size), 0)
    return np.array([window.foot_forces(k) for k in nodes])


def _missed(carried: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """(nf,) feet that carried (k, nf) nothing of what they ought to, (nf,) [N]."""
    return carried.max(axis=0) < GROUND.missed_share * normal
