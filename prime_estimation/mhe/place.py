# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Position and heading of a window while no sensor measures them."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from ..sensors.imu import vertical, world_axes
from .first_state import DEFINED
from .problem import Problem

# shares by which legs and gyro measure way and turn wrong: lengths of legs, soles that roll and
# creep, scale of the gyro. Logs end 1.3 (Go1) and 2.4 % (A1) of their way beside motion capture,
# and turned by 0.6 (Mini Cheetah) and 0.7 % (Go1) of a round. RISE, of the way, too high or too
# low: 0.1 (Mini Cheetah), 0.2 (A1) and 0.4 % (Go1) on level floors
WAY, TURN, RISE = 0.02, 0.01, 0.004


class Place:
    """Keeps position and heading out of the cost-to-come while no sensor measures them.

    A motion of the whole world changes no residual. But the slope of the ground under a foot is
    defined about a place, and rows of marginalized nodes are linearized at slopes that have been
    corrected since. Together they would create spurious information about the position and, with
    it, about the heading. Therefore the first base of the window is held fixed, all errors are
    relative to it, and its own uncertainty is accumulated separately (Huang, Mourikis and
    Roumeliotis 2010 describe the same inconsistency in SLAM).

    Scale errors of distance and rotation, which are constants of the machine and not noise, are
    added: for each step s and rotation a of the base, `S := carry S + (WAY s, TURN a)`, in separate
    columns; likewise the gyro's bias while nothing tells it, by `drift dt` a node, and what feet
    that move do to x and to y, by `dragged dt`. The standard deviation of the height grows by
    `RISE |s|`.

    Attributes:
        measured: a sensor measures position and heading in the world.
        drift: standard deviation of a gyro bias about the vertical that the arrival cost does not
            contain, because nothing but feet that move would tell it [rad/s].
        risen: standard deviation of the height, by distance, `rising` and `unfelt` [m].
        rising: standard deviation of a lasting vertical velocity, from footholds [m/s].
        unfelt: the same of a robot that hangs or falls, by what its IMU does not feel [m/s].
        dragged: standard deviation of a lasting velocity along the ground, x and y each, of a robot
            whose feet move where they carry [m/s].

    Args:
        problem: layout of the state, slopes of the ground and where they stand.
        measured: as the attribute.
    """

    def __init__(self, problem: Problem, measured: bool):
        self.problem = problem
        self.measured = measured or not problem.floating
        # deviations of place and heading by the scale of the way, of turns, by drift, before the
        # start (three columns), and by feet that move (two)
        self._beside = np.zeros((3, 8))
        self.drift = 0.0
        self.risen = 0.0
        self.rising = self.unfelt = self.dragged = 0.0

    def leave(self, arrival, before: np.ndarray, x: np.ndarray) -> None:
        """A node has left the window: the first state was `before` and is x now (nx,)."""
        if not self.measured:
            motions, step = self.motions(x), x[:2] - before[:2]
            carry = _transport(step)
            arrival.release(motions, motions[:6], carry, DEFINED)
            self._beside = carry @ self._beside
            self._beside[:2, 0] += WAY * step
            self._beside[2, 1] += TURN * _turn(before, x)
            self._beside[2, 2] += self.drift * self.problem.dt
            self._beside[[0, 1], [6, 7]] += self.dragged * self.problem.dt
            rises = math.sqrt(self.velocity_variance())
            self.risen += RISE * math.hypot(*step.tolist()) + rises * self.problem.dt

    def found(self, arrival, x: np.ndarray) -> None:
        """A sensor tells the place from now on: what is not known of the first state x (nx,)."""
        if not self.measured:
            motions = self.motions(x)
            arrival.restore(motions)
            beside = [motions @ self._beside, self.risen * self._heights(x)]
            arrival.inflate_covariance(np.column_stack(beside))
        self.measured, self.risen, self.drift, self.dragged = True, 0.0, 0.0, 0.0

    def lost(self) -> None:
        """No sensor tells the place any more: the next node that leaves takes it with it."""
        if self.measured and self.problem.floating:
            self.measured, self._beside = False, np.zeros((3, 8))

    def covariance(self, arrival, first: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Covariance (6, 6) of the pose at x (nx,) by what is not known of the first state's.

        Position [m] and rotation [rad] in the tangent at the base.
        """
        if self.measured:
            return np.zeros((6, 6))
        tangent, up = _base_motions(x), self.risen * vertical(x[3:7])
        covariance = tangent @ self.displacement(arrival, first, x) @ tangent.T
        covariance[:3, :3] += up[:, None] * up
        return covariance

    def velocity_variance(self) -> float:
        """Of each component of the velocity, by ground that seems to rise, or by `unfelt` [m2/s2].

        Along the ground, too: a foot that sinks in rolls on another radius.
        """
        return 0.0 if self.measured else self.rising**2 + self.unfelt**2

    def drag(self, up: np.ndarray) -> np.ndarray:
        """Covariance (3, 3) of the velocity by `dragged`; `up` (3,) in the axes asked for."""
        return self.dragged**2 * (np.eye(3) - up[:, None] * up)

    def displacement(self, arrival, first: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The same as covariance (3, 3) of place x, y [m] and heading [rad]."""
        if self.measured:
            return np.zeros((3, 3))
        carry = _transport(x[:2] - first[:2])
        return carry @ (arrival.displacement + self._beside @ self._beside.T) @ carry.T

    def go_on(self, displacement: np.ndarray, risen: float) -> None:
        """Begin with the covariance (3, 3), and the `risen`, of an estimate that was lost."""
        value, axes = np.linalg.eigh(displacement)
        self._beside[:, 3:6] = axes * np.sqrt(np.maximum(value, 0.0))
        self.risen = 0.0 if self.measured else risen

    def motions(self, x: np.ndarray) -> np.ndarray:
        """Tangent (ndx, 3) at x (nx,) of motions of the world along x and y, and of its turn.

        The turn is about the vertical through the base, by which frames of sensors and the slopes
        (s_x, s_y) of the ground turn. These stand about anchors a that stay: there the ground's
        height changes by -s . dx, and by -s . (z x (a - p)) dyaw.
        """
        problem, motions = self.problem, np.zeros((self.problem.ndx, 3))
        motions[:6] = _base_motions(x)
        slopes = problem.parameter(x, "slope").reshape(-1, 2)
        if slopes.size:
            heights = motions[problem.columns("height")]
            away = problem.anchors - x[:2]
            heights[:, :2] = -slopes
            heights[:, 2] = slopes[:, 0] * away[:, 1] - slopes[:, 1] * away[:, 0]
            turned = motions[problem.columns("slope"), 2]
            turned[0::2], turned[1::2] = -slopes[:, 1], slopes[:, 0]
        for frame in problem.measurements.frames:
            motions[problem.columns(frame.block)] = frame.motions(x)
        return motions

    def _heights(self, x: np.ndarray) -> np.ndarray:
        """Tangent (ndx,) at x (nx,) of a motion of the world along the vertical."""
        heights = np.zeros(self.problem.ndx)
        heights[:3], heights[self.problem.columns("height")] = vertical(x[3:7]), 1.0
        return heights


def _base_motions(x: np.ndarray) -> np.ndarray:
    """Rows (6, 3) of the base; their transpose undoes them."""
    axes, motions = world_axes(x[3:7]), np.zeros((6, 3))
    motions[:3, :2], motions[3:, 2] = axes[:2].T, axes[2]
    return motions


def _turn(before: np.ndarray, x: np.ndarray) -> float:
    """Angle about the vertical [rad] by which the base at x is turned against that before it."""
    turn = pin.Quaternion(x[3:7]) * pin.Quaternion(before[3:7]).conjugate()
    # of half a turn w is 0; where that is about a level axis, nothing of it is about the vertical
    return 2.0 * (math.atan(turn.z / turn.w) if turn.w else math.atan2(turn.z, 0.0))


def _transport(step: np.ndarray) -> np.ndarray:
    """Displacement (3, 3) of a base that has gone on by a step (2,) [m], from that before it."""
    x, y = step.tolist()
    return np.array([[1.0, 0.0, -y], [0.0, 1.0, x], [0.0, 0.0, 1.0]])
