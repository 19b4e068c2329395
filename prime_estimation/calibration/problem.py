# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Full-information problem of a recording: all states, and constant offsets, at once."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from functools import cached_property

import numpy as np

from ..robot import Robot
from . import covariances
from .banded import NormalEquations, add_at, node_covariances
from .covariances import Covariance
from .factor import Bend, Factor
from .initial_trajectory import initial_trajectory
from .leg_factors import LegTerms, foothold_walk, leg_measurement, leg_terms
from .leg_kinematics import Leg
from .mocap_factor import mocap_pose
from .motion_factors import bias_walk, first_node, imu_motion
from .noise import NoiseModel
from .offsets import OffsetPriors, Offsets
from .reading_noise import ReadingNoise
from .recording import KinematicRecording
from .rotations import rotate, skew, transpose
from .standing import without_moving_feet
from .trajectory import POSITION, ROTATION, VELOCITY, Trajectory, foot_columns


class KinematicProblem:
    """Sum of squares `1/2 r^T W r` over IMU, footholds, legs, motion capture and priors.

    Args:
        robot: whose legs these are.
        recording: its signals; feet that motion capture sees move do not stand.
        nominal: offsets that the prior is about, and at which noise is led through the kinematics.
        noise: covariances.
        what: groups of offsets that are estimated; the others stay as they are given.
        mocap_nodes: motion capture is a measurement at the first so many nodes; None: at all.
        priors: of the offsets.

    Attributes:
        origin: trajectory that the first node's prior is about.
        covariance: of each factor, by name.
        information: (m, r, r) of each factor, by name.
        noise_gradient: (size,) by the offsets, of the legs' readings alone; no evidence.
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
        self.nominal, self.noise = nominal, noise
        self.mocap_nodes = len(recording) if mocap_nodes is None else mocap_nodes
        self.free = nominal.free(what)
        self._terms: tuple[Offsets, list[LegTerms]] | None = None
        self.prior = 1.0 / nominal.stddev(priors) ** 2
        self.origin = initial_trajectory(self.legs, recording, nominal)
        self.recording = without_moving_feet(recording, self.legs, self.origin, nominal)
        self._up = self.origin.rotation[:, 2]  # world's z in IMU axes
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
            out[f"leg_{i}"] = covariances.leg_covariance(leg, i, recording, self.nominal, self._up)
            out[f"foothold_{i}"] = covariances.foothold_covariance(i, recording, noise)
        out["mocap"] = covariances.mocap_covariance(recording, noise)
        out["mocap"].active[recording.mocap.node >= self.mocap_nodes] = False
        return out

    def weigh(self) -> None:
        """Renew the information after the outliers' scales have changed."""
        self.information = {k: c.information(self.noise) for k, c in self.covariance.items()}
        self.noise_gradient = np.zeros(self.nominal.size)  # in the equations that tell it
        self.noise_gradient = self._noise_gradient()

    def _noise_gradient(self) -> np.ndarray:
        """(size,) what the readings' own noise adds to the gradient by the free offsets.

        States follow the noise too: `W - W J P J^T W` is left of a residual's information.
        """
        out = np.zeros(self.nominal.size)
        if not len(self.free):
            return out
        found = {f.name: f for f in self.factors(self.origin, self.nominal)}
        equations = self.equations(self.origin, self.nominal, list(found.values()))
        P = node_covariances(equations)
        for i, noise in enumerate(self._reading_noise):
            f, W = found[f"leg_{i}"], self.information[f"leg_{i}"]
            WJ = W @ f.jacobian
            left = W - WJ @ P[:, f.columns[:, None], f.columns] @ transpose(WJ)
            out += noise.gradient(left)
        return out

    @cached_property
    def _reading_noise(self) -> list[ReadingNoise]:
        where = self.recording, self.nominal, self._up
        return [ReadingNoise(leg, i, *where) for i, leg in enumerate(self.legs)]

    def with_noise(self, noise: NoiseModel) -> KinematicProblem:
        """The same with other covariances of the blocks; rows and outliers are shared with it."""
        other = copy(self)
        other.noise = noise
        other.covariance = {**self.covariance, "start": covariances.start_covariance(noise)}
        other.weigh()
        return other

    def leg_terms(self, offsets: Offsets) -> list[LegTerms]:
        """Kinematics of the legs, which only offsets change: those of the last ones are kept."""
        if self._terms is None or self._terms[0] is not offsets:
            terms = [leg_terms(leg, i, self.recording, offsets) for i, leg in enumerate(self.legs)]
            self._terms = offsets, terms
        return self._terms[1]

    def factors(self, x: Trajectory, offsets: Offsets) -> list[Factor]:
        """All residuals at states and offsets."""
        recording = self.recording
        out = [
            imu_motion(x, recording),
            bias_walk(x),
            first_node(x, self.origin),
        ]
        for i, (leg, terms) in enumerate(zip(self.legs, self.leg_terms(offsets))):
            out.append(leg_measurement(x, leg, i, terms, recording))
            out.append(foothold_walk(x, leg, i, terms, recording))
        out.append(mocap_pose(x, recording, offsets))
        return out

    def cost(self, x: Trajectory, offsets: Offsets) -> float:
        """Half the weighted sum of squares."""
        return self.cost_of(self.factors(x, offsets), offsets)

    def cost_of(self, found: list[Factor], offsets: Offsets) -> float:
        """The same of residuals that are there."""
        total = 0.0
        for f in found:
            total += 0.5 * np.sum(f.residual * rotate(self.information[f.name], f.residual))
        return float(total + self._offsets_cost(offsets))

    def _offsets_cost(self, offsets: Offsets) -> float:
        """Of the prior, less what the readings' own noise gains by moving the offsets."""
        r = offsets.difference(self.nominal)[0][self.free]
        pulls = 0.5 * self.prior[self.free] * r - self.noise_gradient[self.free]
        return float(r @ pulls)

    def gradient(self, x: Trajectory, offsets: Offsets) -> tuple[np.ndarray, np.ndarray]:
        """Gradient by the states (n, w) and by all offsets (size,); real or complex."""
        gp = np.zeros(offsets.size, np.result_type(x.position, offsets.feet))
        g = self.state_gradient(x, offsets, gp)
        r, J = offsets.difference(self.nominal)
        return g, gp + J.T @ (self.prior * r - self.noise_gradient)

    def state_gradient(
        self, x: Trajectory, offsets: Offsets, by_offsets: np.ndarray | None = None
    ) -> np.ndarray:
        """(n, w) alone; adds to the residuals' gradient `by_offsets` (size,) where it is given."""
        g = np.zeros((len(x), x.width), np.result_type(x.position, offsets.feet))
        for f in self.factors(x, offsets):
            add_gradient(f, rotate(self.information[f.name], f.residual), g, by_offsets)
        return g

    def equations(
        self,
        x: Trajectory,
        offsets: Offsets,
        found: list[Factor] | None = None,
        curved: bool = False,
    ) -> NormalEquations:
        """Normal equations of the states and the free offsets.

        Args:
            x: states at which they are set up.
            offsets: the same.
            found: residuals there, where they are known.
            curved: with the second derivatives by the states along `Trajectory.carried`, which
                Gauss-Newton's matrix leaves out.
        """
        found = self.factors(x, offsets) if found is None else found
        size, out = offsets.size, NormalEquations(len(x), x.width, len(self.free))
        gp = np.zeros(size) if len(self.free) else None
        B, C = np.zeros((len(x), x.width, 0 if gp is None else size)), np.zeros((size, size))
        for f in found:
            W = self.information[f.name]
            weighted = rotate(W, f.residual)
            out.cost += 0.5 * np.sum(f.residual * weighted)
            add_gradient(f, weighted, out.gradient, gp)
            WJ = W @ f.jacobian
            out.add(f.node, f.columns, f.columns, transpose(f.jacobian) @ WJ)
            if f.by_offsets is not None and gp is not None:
                _add_border(f, W, WJ, B, C)
            for bend in f.curvature(weighted) if curved else ():
                _add_bend(out, f.node, bend)
        for bend in carried_bends(x, out.gradient) if curved else ():
            _add_bend(out, np.arange(len(x)), bend)
        if gp is None:
            return out
        r, J = offsets.difference(self.nominal)
        C += J.T @ (self.prior[:, None] * J)
        gp += J.T @ (self.prior * r - self.noise_gradient)
        out.cost += self._offsets_cost(offsets)
        out.border[:] = B[:, :, self.free]
        out.corner[:] = C[np.ix_(self.free, self.free)]
        out.parameter_gradient[:] = gp[self.free]
        return out


def add_gradient(
    f: Factor, weighted: np.ndarray, g: np.ndarray, gp: np.ndarray | None = None
) -> None:
    """Add `J^T weighted` (m, r) of a factor to gradients by the states (n, w) and the offsets."""
    w = g.shape[1]
    local = rotate(transpose(f.jacobian), weighted)
    both = np.zeros((len(local), 2 * w), local.dtype)
    both[:, f.columns] = local
    add_at(g, f.node, both[:, :w])
    if np.any(f.columns >= w):
        add_at(g, f.node + 1, both[:, w:])
    if gp is not None and f.by_offsets is not None:
        gp[f.parameters] += np.einsum("mrk,mr->k", f.offset_jacobian, weighted)


def _add_border(f: Factor, W: np.ndarray, WJ: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    """Add products of a factor's derivatives by states and offsets."""
    by_offsets, w = f.offset_jacobian, B.shape[1]
    local = transpose(WJ) @ by_offsets
    both = np.zeros((len(local), 2 * w, B.shape[2]))
    both[:, f.columns[:, None], f.parameters] = local
    add_at(B, f.node, both[:, :w])
    if np.any(f.columns >= w):
        add_at(B, f.node + 1, both[:, w:])
    flat, weighted = (J.reshape(-1, len(f.parameters)) for J in (by_offsets, W @ by_offsets))
    C[np.ix_(f.parameters, f.parameters)] += flat.T @ weighted


def carried_bends(x: Trajectory, gradient: np.ndarray) -> list[Bend]:
    """Second derivative of what lies in the world, along `Trajectory.carried`, times a gradient."""
    Rt = transpose(x.rotation)
    lying = [POSITION, VELOCITY, *(foot_columns(i) for i in range(x.feet.shape[1]))]
    return [
        Bend(at, ROTATION, 0.5 * x.rotation @ skew(rotate(Rt, gradient[:, at]))) for at in lying
    ]


def _add_bend(out: NormalEquations, node: np.ndarray, bend: Bend) -> None:
    """Add a block of a second derivative, and its transpose where it is off the diagonal."""
    rows, columns = (np.arange(s.start, s.stop) for s in (bend.rows, bend.columns))
    out.add(node, rows, columns, bend.block)
    if bend.rows != bend.columns:
        out.add(node, columns, rows, transpose(bend.block))
