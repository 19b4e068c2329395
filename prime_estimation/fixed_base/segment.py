# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One recording in the least squares.

Whitened residuals of inverse dynamics, encoders and gyroscopes, and their Jacobians, sparse by the
trajectory and dense by the parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from ..errors import ConfigError, DataError
from .basis import Basis
from .machine import Machine, Motors
from .recording import JointRecording

CUT_OFF = 10.0  # Hz, of the smoothing that starts the trajectories


@dataclass(frozen=True)
class Weights:
    """Standard deviations (nj,) that weigh the residuals: encoders [rad], torques [Nm].

    Of torques: errors of the inverse dynamics at a node, sensors and model together. They fade
    over `torque_time` [s]: errors t apart have the correlation exp(-t / torque_time). Zero: errors
    of neighbouring nodes have nothing to do with each other. `rate` [rad/s], where recordings have
    rates.

    Raises:
        ConfigError: a deviation is not positive, or the time is negative.
    """

    position: np.ndarray
    torque: np.ndarray
    rate: np.ndarray | None = None
    torque_time: float = 0.0

    def __post_init__(self):
        for name in ("position", "torque", *(("rate",) if self.rate is not None else ())):
            values = np.array(getattr(self, name), float)
            if values.ndim != 1 or not np.all(values > 0.0):
                raise ConfigError(
                    f"the weights' {name} is {values.tolist()}, expected a positive standard "
                    "deviation for each joint"
                )
            object.__setattr__(self, name, values)
        if not self.torque_time >= 0.0:
            raise ConfigError(f"torque_time is {self.torque_time} s, expected zero or more")

    @classmethod
    def of_state_error_weight(cls, kappa: float, step: float, nj: int) -> Weights:
        """Weights one of encoders and kappa of impulses (step torque), as Marklund et al. have."""
        return cls(np.ones(nj), np.full(nj, 1.0 / (np.sqrt(kappa) * step)))

    def whitening(self, step: float, nodes: int) -> sparse.csr_matrix:
        """Operator on torques (nodes nj,) that makes their errors white, of unit variance."""
        memory = np.exp(-step / self.torque_time) if self.torque_time > 0.0 else 0.0
        scale, nj = 1.0 / np.tile(self.torque, nodes), len(self.torque)
        news = scale / np.sqrt(1.0 - memory**2)
        before = -memory * news[nj:]
        news[:nj] = scale[:nj]
        return sparse.diags([news, before], [0, -nj], format="csr")


@dataclass(frozen=True)
class Rows:
    """Whitened residuals: inverse dynamics node by node, then encoders and rates by samples.

    Attributes:
        residual: (m,). by_trajectory: (m, nx) sparse. by_parameters: (m, np).
        nodes: (m,) the node that each row is nearest to.
    """

    residual: np.ndarray
    by_trajectory: sparse.csr_matrix
    by_parameters: np.ndarray
    nodes: np.ndarray


class Segment:
    """Recording, basis of its trajectory and weights; unknowns are (size nj,) coefficients.

    Raises:
        DataError: no joint is measured, or the joints are not those of the machine.
    """

    def __init__(self, machine: Machine, recording: JointRecording, basis: Basis, weights: Weights):
        self.machine, self.recording, self.basis = machine, recording, basis
        self.weights, nj = weights, machine.nj
        _check(machine, recording, weights)
        self._joints = sparse.identity(nj, format="csr")
        self._motion = [sparse.kron(B, self._joints, format="csr") for B in basis.motion()]
        nodes, end = basis.nodes, basis.start + basis.step * basis.steps
        self._whiten = weights.whitening(basis.step, len(nodes))
        inside = (recording.time >= basis.start) & (recording.time <= end)
        self._times = recording.time[inside]
        self._encoders, self._reading = self._sensor(
            basis.positions(self._times), recording.position[inside], weights.position
        )
        self._sensors, self._readings = self._encoders, self._reading
        kinds = [nj + recording.measured]
        if len(recording.gauged):
            rates = self._sensor(basis.rates(self._times), recording.rate[inside], weights.rate)
            self._sensors = sparse.vstack([self._encoders, rates[0]], format="csr")
            self._readings = np.concatenate([self._reading, rates[1]])
            kinds.append(2 * nj + recording.gauged)
        nearest = np.rint((self._times - nodes[0]) / basis.step).astype(int)
        nearest = np.clip(nearest, 0, len(nodes) - 1)
        self.nodes = np.concatenate(
            [np.repeat(np.arange(len(nodes)), nj), *(np.repeat(nearest, len(k)) for k in kinds)]
        )
        # rows of one kind and joint: torques 0 ... nj - 1, encoders from nj on, rates from 2 nj on,
        # the same in all recordings, whatever sensors they have
        self.groups = np.concatenate(
            [np.tile(np.arange(nj), len(nodes)), *(np.tile(k, len(self._times)) for k in kinds)]
        )

    def _sensor(
        self, basis: sparse.csr_matrix, reading: np.ndarray, stddev: np.ndarray
    ) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Whitened rows of the sensors of one kind, and what they read."""
        there = np.flatnonzero(np.isfinite(reading).all(axis=0))
        seen = sparse.csr_matrix(self._joints[there] / stddev[there][:, None])
        rows = sparse.csr_matrix(sparse.kron(basis, seen))
        return rows, (reading[:, there] / stddev[there]).ravel()

    def motion(self, trajectory: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, rates, accelerations (n, nj) at the nodes."""
        return tuple((B @ trajectory).reshape(-1, self.machine.nj) for B in self._motion)

    def start(self) -> np.ndarray:
        """Trajectory that smooths the encoders: half of the amplitude is left at CUT_OFF.

        Joints without sensor rest at zero.
        """
        spacing = np.mean(np.diff(self._times))
        unit = np.tile(self.weights.position[self.recording.measured], len(self._times))
        read, position = sparse.diags(unit) @ self._encoders, unit * self._reading
        bend = self.basis.step / (2.0 * np.pi * CUT_OFF) ** 4
        rest = np.ones(self.machine.nj)
        rest[self.recording.measured] = 0.0
        idle = sparse.diags(np.tile(rest, self.basis.size))
        A = self._motion[2]
        H = spacing * read.T @ read + bend * A.T @ A + idle
        return spsolve(sparse.csc_matrix(H), spacing * read.T @ position)

    def torque_error(self, values: np.ndarray, trajectory: np.ndarray) -> np.ndarray:
        """(n, nj) torque that the motion needs, minus that of the motors [Nm]."""
        q, v, a = self.motion(trajectory)
        return self.machine.loads(values, q, v, a).torque - self._motors(values, v).torque

    def _motors(self, values: np.ndarray, v: np.ndarray) -> Motors:
        control = self.recording.mean_torque(
            self.basis.nodes, self.basis.step, self.machine.delay(values)
        )
        return self.machine.motors(values, *control, v)

    def rows(self, values: np.ndarray, trajectory: np.ndarray) -> Rows:
        """Residuals and Jacobians by all parameters of the machine."""
        q, v, a = self.motion(trajectory)
        loads, motors = self.machine.loads(values, q, v, a), self._motors(values, v)
        by_rate = loads.by_rate - motors.by_rate[:, :, None] * np.eye(self.machine.nj)
        by = (loads.by_position, by_rate, loads.by_acceleration)
        dynamics = self._whiten @ sum(_blocks(d) @ B for d, B in zip(by, self._motion))
        parameters = loads.by_parameters - motors.by_parameters
        parameters = self._whiten @ parameters.reshape(-1, parameters.shape[-1])
        sensors = self._sensors @ trajectory - self._readings
        return Rows(
            np.concatenate([self._whiten @ (loads.torque - motors.torque).ravel(), sensors]),
            sparse.vstack([dynamics, self._sensors], format="csr"),
            np.vstack([parameters, np.zeros((len(sensors), parameters.shape[1]))]),
            self.nodes,
        )

    def cost(self, values: np.ndarray, trajectory: np.ndarray) -> float:
        """Weighted sum of squares."""
        torque = self._whiten @ self.torque_error(values, trajectory).ravel()
        sensors = self._sensors @ trajectory - self._readings
        return float(torque @ torque + sensors @ sensors)


def _blocks(values: np.ndarray) -> sparse.csr_matrix:
    n, nj, _ = values.shape
    blocks = sparse.bsr_matrix((values, np.arange(n), np.arange(n + 1)), shape=(n * nj, n * nj))
    return blocks.tocsr()


def _check(machine: Machine, recording: JointRecording, weights: Weights) -> None:
    if len(weights.position) != machine.nj or len(weights.torque) != machine.nj:
        raise ConfigError(
            f"weights of {len(weights.torque)} joints, expected {machine.nj}: one for each"
        )
    if recording.position.shape[1] != machine.nj or recording.torque.shape[1] != machine.nj:
        raise DataError(
            f"the machine has {machine.nj} joints, the recording positions of "
            f"{recording.position.shape[1]} and torques of {recording.torque.shape[1]}; give a "
            "column for each, NaN where no sensor is"
        )
    if recording.rate is not None and recording.rate.shape[1] != machine.nj:
        raise DataError(
            f"the machine has {machine.nj} joints, the recording rates of "
            f"{recording.rate.shape[1]}; give a column for each, NaN where none is measured"
        )
    if len(recording.gauged) and (weights.rate is None or len(weights.rate) != machine.nj):
        raise ConfigError("the recording has rates: give the weights a rate for each joint")
    if not len(recording.measured):
        raise DataError("no joint's position is finite throughout; leave out rows without position")
