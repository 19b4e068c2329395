# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Takes back what a window has learned of tilt and accelerometer bias since some node."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..robot import GRAVITY
from ..sensors.imu import world_axes
from .problem import Problem
from .window import Window


@dataclass(frozen=True)
class Known:
    """Knowledge of tilt and accelerometer bias from all data before one node.

    Attributes:
        stamp: of the node, the first of its window [ns].
        attitude: (3, 3) of the base, R_world_base.
        bias: (3,) of the accelerometer [m/s2].
        covariance: (5, 5) of `g (tilt about world x, y)` and of the bias [m2/s4].
        turn: (3, 3) by which the base turns until the next node.
    """

    stamp: int
    attitude: np.ndarray
    bias: np.ndarray
    covariance: np.ndarray
    turn: np.ndarray


class TakingBack:
    """Remembers `l = (g tilt, bias)` as the arrival cost knew it at the last nodes.

    A force that no node expects is explained by l, in an order of magnitude of `F / m`. Once the
    force is told, what its nodes have taught of l is not known any more. The bias is constant, and
    the gyro carries the attitude on, so that the earlier knowledge `N(l', P')` still holds. With
    `G = P_l P_ll^-1` of the present arrival cost

        m := m + G (l' - l),   P := P + G (P' - P_ll)+ G^T

    where ()+ has the directions only in which less was known. The distribution of the other
    variables, given l, stays. Whatever the cause of an alarm was, this loses information, and
    invents none.

    Args:
        problem: layout of the state.
        nodes: that are remembered.
    """

    def __init__(self, problem: Problem, nodes: int):
        self.problem = problem
        self._able = problem.floating and problem.has_imu
        self._columns = problem.layout.components(("rotation", "accelerometer_bias"))
        self._known: deque[Known] = deque(maxlen=nodes)

    def forget(self) -> None:
        """Forget everything."""
        self._known.clear()

    def note(self, window: Window) -> None:
        """Remember what is known of the first node of a window that has been solved."""
        if not self._able or window.size < 2:
            return
        before, after = (world_axes(x[3:7]) for x in window.xs[:2])
        mean, part = window.arrival.estimate(), self.problem.layout.part
        attitude = world_axes(part(mean, "rotation"))
        bias = part(mean, "accelerometer_bias").copy()
        root = self._rows(window) @ window.arrival.L[self._columns]
        turn = before.T @ after
        self._known.append(Known(window.stamps[0], attitude, bias, root @ root.T, turn))

    def take_back(self, window: Window, since: int) -> bool:
        """Take back what the arrival cost has learned from nodes since a stamp [ns].

        Args:
            window: solved, the last one that was noted.
            since: stamp of the first node whose data are not trusted.

        Returns:
            Whether the window has lost nodes since then, and is another one now.
        """
        while len(self._known) > 1 and self._known[1].stamp <= since:
            self._known.popleft()
        if len(self._known) < 2:
            return False
        then, *between, now = self._known
        carried = then.attitude @ then.turn
        for at in between:
            carried = carried @ at.turn
        tilt = now.attitude[:2] @ np.cross(carried[2], now.attitude[2])
        change = np.concatenate([GRAVITY * tilt, then.bias - now.bias])
        added, axes = np.linalg.eigh(then.covariance - now.covariance)
        added, axes = added[added > 0.0], axes[:, added > 0.0]
        arrival, root = window.arrival, window.arrival.L
        across = self._rows(window) @ root[self._columns] @ root.T
        gain = np.linalg.solve(now.covariance, across).T
        arrival.mean = arrival.mean + gain @ axes @ axes.T @ change
        arrival.inflate_covariance(gain @ axes * np.sqrt(added))
        return True

    def _rows(self, window: Window) -> np.ndarray:
        """(5, 6) of l in rotation and bias of a window's arrival cost."""
        rows = np.zeros((5, 6))
        reference = self.problem.layout.part(window.arrival.reference, "rotation")
        rows[:2, :3] = GRAVITY * world_axes(reference)[:2]
        rows[2:, 3:] = np.eye(3)
        return rows


def forget_impulse(window: Window, velocity: np.ndarray, seconds: float) -> None:
    """Let the velocity of the first node be wrong by that of an impulse, and its place by the way.

    Args:
        window: solved.
        velocity: (2,) that nodes did not expect, standard deviation along the ground [m/s].
        seconds: in which it came about.
    """
    problem, x = window.problem, window.xs[0]
    in_base = world_axes(x[3:7])[:2].T @ velocity
    noise = np.zeros((problem.ndx, 1))
    noise[problem.columns("velocity"), 0] = in_base
    noise[problem.columns("position"), 0] = 0.5 * seconds * in_base
    window.arrival.inflate_covariance(noise)
