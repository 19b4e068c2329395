# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Full-information problem of a recording: all states, and constant offsets, at once."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation, Slerp

from ..robot import Robot
from . import covariances, factors
from .banded import NormalEquations
from .covariances import Covariance
from .factors import Factor
from .leg_kinematics import Leg
from .noise import NoiseModel
from .offsets import OffsetPriors, Offsets
from .recording import KinematicRecording
from .rotations import rotate, transpose
from .trajectory import Trajectory


class KinematicProblem:
    """Sum of squares `1/2 r^T W r` over IMU, footholds, legs, motion capture and priors.

    Args:
        robot: whose legs these are.
        recording: its signals.
        nominal: offsets that the prior is about, and at which noise is led through the kinematics.
        noise: covariances.
        what: groups of offsets that are estimated; the others stay as they are given.
        mocap_nodes: motion capture is a measurement at the first so many nodes; None: at all.
        priors: of the offsets.

    Attributes:
        origin: trajectory that the first node's prior is about.
        covariance: of each factor, by name.
        information: (m, r, r) of each factor, by name.
    """

    def __init__(
        self,
        robot: Robot,
        recording: KinematicRecording,
        nominal: Offsets,
        noise: NoiseModel,
        what: Collection[str] = (),
        mocap_nodes: int | None = None,
        priors: OffsetPriors = OffsetPriors(),
    ):
        self.legs = [Leg(robot, foot) for foot in robot.feet]
        self.recording, self.nominal, self.noise = recording, nominal, noise
        self.mocap_nodes = len(recording) if mocap_nodes is None else mocap_nodes
        self.free = nominal.free(what)
        self.prior = 1.0 / nominal.stddev(priors) ** 2
        self.origin = initial_trajectory(self.legs, recording, nominal)
        self.covariance = self._covariances()
        self.weigh()

    def _covariances(self) -> dict[str, Covariance]:
        recording, noise = self.recording, self.noise
        out = {
            "imu": covariances.imu_covariance(recording, noise),
            "bias_walk": covariances.bias_covariance(recording),
            "start": covariances.start_covariance(noise),
        }
        for i, leg in enumerate(self.legs):
            out[f"leg_{i}"] = covariances.leg_covariance(leg, i, recording, self.nominal)
            out[f"foothold_{i}"] = covariances.foothold_covariance(i, recording, noise)
        out["mocap"] = covariances.mocap_covariance(recording, noise)
        out["mocap"].active[recording.mocap.node >= self.mocap_nodes] = False
        return out

    def weigh(self) -> None:
        """Renew the information after the outliers' scales have changed."""
        self.information = {k: c.information(self.noise) for k, c in self.covariance.items()}

    def with_noise(self, noise: NoiseModel) -> KinematicProblem:
        """The same with other covariances of the blocks; rows and outliers are shared with it."""
        other = copy(self)
        other.noise = noise
        other.covariance = {**self.covariance, "start": covariances.start_covariance(noise)}
        other.weigh()
        return other

    def factors(self, x: Trajectory, offsets: Offsets) -> list[Factor]:
        """All residuals at states and offsets."""
        recording = self.recording
        out = [
            factors.imu_motion(x, recording),
            factors.bias_walk(x),
            factors.first_node(x, self.origin),
        ]
        for i, leg in enumerate(self.legs):
            terms = factors.leg_terms(leg, i, recording, offsets)
            out.append(factors.leg_measurement(x, leg, i, terms, recording))
            out.append(factors.foothold_walk(x, leg, i, terms, recording))
        out.append(factors.mocap_pose(x, recording, offsets))
        return out

    def cost(self, x: Trajectory, offsets: Offsets) -> float:
        """Half the weighted sum of squares."""
        total = 0.0
        for f in self.factors(x, offsets):
            total += 0.5 * np.sum(f.residual * rotate(self.information[f.name], f.residual))
        r = offsets.difference(self.nominal)[0][self.free]
        return float(total + 0.5 * np.sum(self.prior[self.free] * r * r))

    def gradient(self, x: Trajectory, offsets: Offsets) -> tuple[np.ndarray, np.ndarray]:
        """Gradient by the states (n, w) and by all offsets (size,); real or complex."""
        dtype = np.result_type(x.position, offsets.feet)
        g, gp = np.zeros((len(x), 2 * x.width), dtype), np.zeros(offsets.size, dtype)
        for f in self.factors(x, offsets):
            weighted = rotate(self.information[f.name], f.residual)
            self._add_gradient(f, weighted, g, gp)
        r, J = offsets.difference(self.nominal)
        gp += J.T @ (self.prior * r)
        w = x.width
        g[1:, :w] += g[:-1, w:]
        return g[:, :w], gp

    @staticmethod
    def _add_gradient(f: Factor, weighted: np.ndarray, g: np.ndarray, gp: np.ndarray) -> None:
        local = rotate(transpose(f.jacobian), weighted)
        _add(g, (f.node[:, None], f.columns), local, f.node)
        if f.offset_jacobian is not None:
            gp[f.parameters] += np.einsum("mrk,mr->k", f.offset_jacobian, weighted)

    def equations(self, x: Trajectory, offsets: Offsets) -> NormalEquations:
        """Gauss-Newton normal equations of the states and the free offsets."""
        n, w = len(x), x.width
        size = offsets.size
        H, B, C = np.zeros((n, 2 * w, 2 * w)), np.zeros((n, 2 * w, size)), np.zeros((size, size))
        g, gp = np.zeros((n, 2 * w)), np.zeros(size)
        out = NormalEquations(n, w, len(self.free))
        for f in self.factors(x, offsets):
            W = self.information[f.name]
            weighted = rotate(W, f.residual)
            out.cost += 0.5 * np.sum(f.residual * weighted)
            self._add_gradient(f, weighted, g, gp)
            WJ = W @ f.jacobian
            at = (f.node[:, None, None], f.columns[:, None], f.columns)
            _add(H, at, transpose(f.jacobian) @ WJ, f.node)
            if f.offset_jacobian is not None and len(self.free):
                at = (f.node[:, None, None], f.columns[:, None], f.parameters)
                _add(B, at, transpose(WJ) @ f.offset_jacobian, f.node)
                WP = W @ f.offset_jacobian
                C[np.ix_(f.parameters, f.parameters)] += np.einsum(
                    "mrk,mrl->kl", f.offset_jacobian, WP
                )
        r, J = offsets.difference(self.nominal)
        C += J.T @ (self.prior[:, None] * J)
        gp += J.T @ (self.prior * r)
        out.cost += 0.5 * float(np.sum(self.prior[self.free] * r[self.free] ** 2))
        B[1:, :w] += B[:-1, w:]
        g[1:, :w] += g[:-1, w:]
        out.diagonal[:] = H[:, :w, :w]
        out.diagonal[1:] += H[:-1, w:, w:]
        out.below[:] = H[:-1, w:, :w]
        out.border[:] = B[:, :w][:, :, self.free]
        out.corner[:] = C[np.ix_(self.free, self.free)]
        out.gradient[:], out.parameter_gradient[:] = g[:, :w], gp[self.free]
        return out


def _add(to: np.ndarray, at: tuple, values: np.ndarray, node: np.ndarray) -> None:
    """Add at indices, of which several may be the same where a node occurs again."""
    if np.all(np.diff(node) > 0):
        to[at] += values
    else:
        np.add.at(to, at, values)


def initial_trajectory(
    legs: list[Leg], recording: KinematicRecording, offsets: Offsets
) -> Trajectory:
    """States from motion capture and encoders, biases zero."""
    m, n = recording.mocap, len(recording)
    times, first = np.unique(recording.step * m.node + m.age, return_index=True)
    at = np.clip(recording.step * np.arange(n), times[0], times[-1])
    body = Slerp(times, Rotation.from_matrix(m.rotation[first]))(at).as_matrix()
    R = body @ offsets.mocap_rotation.T @ offsets.imu_rotation
    place = np.stack([np.interp(at, times, c) for c in m.position[first].T], axis=1)
    p = place - R @ offsets.imu_rotation.T @ (offsets.mocap_position - offsets.imu_position)
    v = np.gradient(gaussian_filter1d(p, 1.5, axis=0), recording.step, axis=0)
    feet = [p + rotate(R, foot_points(leg, i, recording, offsets)) for i, leg in enumerate(legs)]
    zero = np.zeros((n, 3))
    return Trajectory(p, R, v, zero, zero, np.stack(feet, axis=1))


def foot_points(leg: Leg, foot: int, recording: KinematicRecording, offsets: Offsets) -> np.ndarray:
    """(n, 3) centre of a foot relative to the IMU, IMU axes."""
    return factors.leg_terms(leg, foot, recording, offsets).point
