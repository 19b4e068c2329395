# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Soles: flat feet stand on ground that slopes as they do."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from ..config.policies import SOLE, TERRAIN
from ..contact.points import contact_points, flat_feet
from .problem import Problem
from .window import Window

STEEP = 1e-6  # square of the sine between the axes of a sole below which its plane stands upright


class Soles:
    """Follows the planes of flat feet, which tell the slope of the ground once they rest on it.

    A foot of several spheres that carries load and does not turn stands on three of them at least:
    the ground under it slopes as the plane through their lowest points does,

        z = z_c + s . (x - x_c, y - y_c)

    A ground that is thought to slope otherwise would let it stand on one edge, which it does not.

    Attributes:
        flat: (nf,) feet with a plane; any: whether there is one. tilted: (nf,) those that stand on
            a slope of their own.
        slopes: (nf, 2) of the soles at the newest complete node that are tilted, or do not turn
            fast. centres: (nf, 3) of the lowest points of their spheres [m].

    Args:
        problem: model and contact points.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._spheres = [
            [p for p, foot in zip(contact_points(problem.robot), problem.contact_feet) if foot == f]
            for f in range(problem.dynamics.nfeet)
        ]
        self._places = [  # centres in link axes (n, 3) [m], radii (n,) [m]
            (np.array([p.position for p in spheres]), np.array([p.radius for p in spheres]))
            for spheres in self._spheres
        ]
        self.flat = np.array(flat_feet(problem.robot), bool)
        self._flat_feet = np.flatnonzero(self.flat).tolist()
        self.any = bool(self._flat_feet)
        self.tilted = np.zeros_like(self.flat)
        self._aloft = [0] * len(self.flat)  # nodes without load
        self._data = problem.robot.model.createData()
        joints = [spheres[0].joint for spheres in self._spheres]
        # of the links, which change with the data
        self._poses = [self._data.oMi[joint] for joint in joints]
        self._twists = [self._data.v[joint] for joint in joints]
        # nodes at rest so far; rates at which they turn [rad/s], and their slopes [1/s]; points
        # (n, 3) of their spheres [m]
        self._resting, self._turning = [0] * len(self.flat), [0.0] * len(self.flat)
        self._rates = [(0.0, 0.0)] * len(self.flat)
        self._points = [np.zeros((0, 3))] * len(self.flat)
        self.slopes, self.centres = np.zeros((len(self.flat), 2)), np.zeros((len(self.flat), 3))

    def look(self, window: Window) -> None:
        """Find the planes of flat feet at the newest complete node, and how they turn."""
        if not self.any:
            return
        layout, (before, after) = self.problem.layout, window.xs[-2:]
        model, data = self.problem.robot.model, self._data
        pin.forwardKinematics(model, data, layout.q(before), layout.v(after))
        tilted = self.tilted.tolist()
        for foot in self._flat_feet:
            about_x, about_y, _ = (self._poses[foot].rotation @ self._twists[foot].angular).tolist()
            self._rates[foot] = -about_y, about_x
            self._turning[foot] = math.hypot(about_x, about_y)
            if tilted[foot] or self._turning[foot] < SOLE.rolls:
                self._find_plane(foot)

    def tilt(self, window: Window, normal: np.ndarray, standing: np.ndarray) -> np.ndarray:
        """Let the ground slope as soles do that rest on it, or that roll on where it holds none.

        Args:
            window: solved.
            normal: (nf,) normal forces [N], as the torques of the legs say.
            standing: (nf,) feet that carry load.

        Returns:
            (nf,) feet whose ground has been turned, about their `centres`.
        """
        slopes = self.problem.parameter(window.xs[-1], "slope").reshape(-1, 2)
        stands, forces = standing.tolist(), normal.tolist()
        least = SOLE.alone * float(normal.sum())  # of a foot that stands alone [N]
        lie, roll = [], []
        for foot in self._flat_feet:
            rests = self._has_rested(foot, stands[foot])
            alone = stands[foot] and forces[foot] > least
            if rests or (alone and self._pressed(window, foot, slopes[foot])):
                away = math.dist(self.slopes[foot].tolist(), slopes[foot].tolist())
                most = TERRAIN.steepest if rests else SOLE.steepest
                if SOLE.gate < away < most:
                    (lie if rests else roll).append(foot)
        for foot in roll:  # before `_lies` leaves other kinematics in the data
            self._roll_on(foot)
        turned = [*roll, *(foot for foot in lie if self._lies(window, foot))]
        tilted = np.zeros(len(stands), bool)
        if turned:
            tilted[turned] = True
            self.problem.move_anchors(tilted, self.centres)
            for foot in sorted(turned):
                self._incline(window, foot)
            self.tilted |= tilted
        return tilted

    def lifted(self, window: Window, loaded: np.ndarray) -> np.ndarray:
        """(nf,) soles that have left their slope, of feet that carry load or not (nf,).

        As soon as no node of the window stands on it: the next foothold has another one.
        """
        counted = zip(self._aloft, loaded.tolist())
        self._aloft = [0 if carries else nodes + 1 for nodes, carries in counted]
        gone = self.tilted & [nodes > window.size for nodes in self._aloft]
        self.tilted &= ~gone
        return gone

    def _find_plane(self, foot: int) -> None:
        places, radii = self._places[foot]
        pose = self._poses[foot]
        points = places @ pose.rotation.T + pose.translation
        points[:, 2] -= radii
        centre = np.add.reduce(points) / len(points)
        self.centres[foot], self._points[foot] = centre, points
        self.slopes[foot] = plane_slope(points - centre)

    def _has_rested(self, foot: int, stands: bool) -> bool:
        """Whether a foot has carried load without turning for a while; `stands`: it does now."""
        rests = stands and self._turning[foot] < SOLE.still
        self._resting[foot] = self._resting[foot] + 1 if rests else 0
        return self._resting[foot] >= SOLE.nodes

    def _pressed(self, window: Window, foot: int, slope: np.ndarray) -> bool:
        """Whether a sole turns slowly, with a sphere below ground of this slope (2,)."""
        if not self._turning[foot] < SOLE.rolls:
            return False
        height = self.problem.parameter(window.xs[-1], "height")[foot]
        away = self._points[foot] - [*self.problem.anchors[foot], height]
        return bool((away[:, 2] - away[:, :2] @ slope).min() < -SOLE.below)

    def _roll_on(self, foot: int) -> None:
        """Let a sole be where it rolls to, about the sphere of it that moves least."""
        (places, _), twist = self._places[foot], self._twists[foot]
        rates = twist.linear - places @ pin.skew(twist.angular)  # link axes; w x p = -p^T [w]x
        self.centres[foot] = self._points[foot][np.argmin((rates * rates).sum(axis=1))]
        self.slopes[foot] += SOLE.ahead * np.array(self._rates[foot])

    def _lies(self, window: Window, foot: int) -> bool:
        """Whether a sole carries its load between its edges, as the torques of its leg say.

        Centre of pressure of the wrench that solves `J_leg^T w = tau_rnea - tau`.
        """
        robot, (q, v, a) = self.problem.robot, window.motion()
        model, data, joint = robot.model, self._data, self._spheres[foot][0].joint
        lacks, own = pin.rnea(model, data, q, v, a), slice(-robot.nj, None)
        lacks[own] -= self.problem.legs.losses.passed(window.torque(), v[own], a[own])
        rows = [model.joints[j].idx_v for j in robot.joints_to(joint)]
        pin.computeJointJacobians(model, data, q)
        J = pin.getJointJacobian(model, data, joint, pin.LOCAL)[:, rows]
        f, n = np.split(np.linalg.lstsq(J.T, lacks[rows], rcond=None)[0], 2)
        centres, radii = self._places[foot]
        places = centres - radii[:, None] * [0.0, 0.0, 1.0]
        z, (low, high) = places[:, 2].mean(), (places.min(axis=0)[:2], places.max(axis=0)[:2])
        pressure = np.array([z * f[0] - n[1], z * f[1] + n[0]]) / f[2]
        margin = SOLE.margin * (high - low).max()
        return bool((pressure > low + margin).all() and (pressure < high - margin).all())

    def _incline(self, window: Window, foot: int) -> None:
        """Let the ground under a foot slope as its sole does, as uncertain as the base's tilt.

        A rotation of the base by dphi (world axes) turns a plane that is nearly level by
        ds = (-dphi_y, dphi_x).
        """
        problem = self.problem
        rows = np.zeros((2, problem.ndx))
        reference = window.arrival.reference
        R_world_base = pin.Quaternion(reference[3:7].copy()).toRotationMatrix()
        rows[:, problem.layout.tangent["rotation"]] = [-R_world_base[1], R_world_base[0]]
        own, stddev = [2 * foot, 2 * foot + 1], np.full(2, SOLE.stddev)
        window.tie("slope", own, rows, self.slopes[foot], stddev)


def plane_slope(away: np.ndarray) -> np.ndarray:
    """(2,) slope of the plane nearest to points (n, 3), which are given from their mean.

    Normal equations of `z = s . (x, y)`, by least squares where the points stand over a line.
    """
    (xx, xy, xz), (_, yy, yz), _ = (away.T @ away).tolist()
    area = xx * yy - xy * xy
    if area < STEEP * xx * yy:
        return np.linalg.lstsq(away[:, :2], away[:, 2], rcond=None)[0]
    return np.array([yy * xz - xy * yz, xx * yz - xy * xz]) / area
