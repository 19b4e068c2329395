# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Covariance of each factor as a sum of noise blocks, `R = sum G S G^T + R_0`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .leg_kinematics import Leg
from .noise import MISSED, NoiseModel
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import skew, transpose

DOF = 4.0  # of tails: feet slip, markers are mistaken, impacts pass between samples


@dataclass(frozen=True)
class Term:
    """Share `G S G^T` of a noise block in a covariance; gain (m, r, d) or (r, d)."""

    block: str
    gain: np.ndarray


@dataclass
class Covariance:
    """Covariance (m, r, r) of the rows of a factor.

    Attributes:
        terms: what the calibrated blocks contribute.
        constant: (m, r, r) or (r, r), the rest.
        active: (m, r) bool, rows that count; the others have no weight.
        heavy: groups of rows that have tails heavier than a Gaussian's.
        scale: (m, r) factor on the standard deviations, above one for outliers.
    """

    terms: list[Term]
    constant: np.ndarray
    active: np.ndarray
    heavy: tuple[slice, ...] = ()
    scale: np.ndarray | None = None

    def matrix(self, noise: NoiseModel) -> np.ndarray:
        """(m, r, r) covariance without regard to outliers; that of the identity where inactive."""
        m, r = self.active.shape
        R = np.broadcast_to(self.constant, (m, r, r)).copy()
        for term in self.terms:
            R = R + term.gain @ noise.blocks[term.block] @ transpose(term.gain)
        return np.where(self._pairs(), R, np.eye(r))

    def information(self, noise: NoiseModel) -> np.ndarray:
        """(m, r, r) inverse of the covariance of the active rows, zero elsewhere."""
        W = np.where(self._pairs(), np.linalg.inv(self.matrix(noise)), 0.0)
        if self.scale is not None:
            W = W / (self.scale[:, :, None] * self.scale[:, None, :])
        return 0.5 * (W + transpose(W))

    def gain(self, term: Term) -> np.ndarray:
        """(m, r, d) gain of a term, outliers scaled."""
        m, r = self.active.shape
        gain = np.broadcast_to(term.gain, (m, r, term.gain.shape[-1]))
        return gain if self.scale is None else self.scale[:, :, None] * gain

    def reweight(self, residual: np.ndarray, noise: NoiseModel) -> float:
        """Scale the rows of `heavy` as Student's t distribution weighs them, never above one.

        `w = (dof + d) / (dof + r^T R^-1 r)` of d rows.

        Returns:
            Largest relative change of a scale.
        """
        R, before = self.matrix(noise), self.scale
        self.scale = np.ones(residual.shape)
        for rows in self.heavy:
            e = residual[:, rows]
            squares = np.einsum(
                "mi,mi->m", e, np.linalg.solve(R[:, rows, rows], e[:, :, None])[:, :, 0]
            )
            d = e.shape[1]
            self.scale[:, rows] = np.sqrt(np.maximum(1.0, (DOF + squares) / (DOF + d)))[:, None]
        self.scale = np.where(self.active, self.scale, 1.0)
        return float(np.abs(self.scale / (1.0 if before is None else before) - 1.0).max())

    def _pairs(self) -> np.ndarray:
        return self.active[:, :, None] & self.active[:, None, :]


def imu_covariance(recording: KinematicRecording, noise: NoiseModel) -> Covariance:
    """Of `imu_motion`: white noise of rate and specific force, integrated over the step.

    Tails are heavier than a Gaussian's, of the turn, and of velocity and position: an impact may
    pass between two samples unseen.
    """
    dt, n = recording.step, len(recording) - 1
    sample = dt / recording.imu_samples  # s
    T = np.linalg.cholesky(np.array([[dt, dt**2 / 2.0], [dt**2 / 2.0, dt**3 / 3.0]]) * sample)
    gains = [np.zeros((9, 3)) for _ in range(3)]
    gains[0][:3] = np.sqrt(dt * sample) * np.eye(3)
    gains[1][3:] = np.kron(T[:, :1], np.eye(3))
    gains[2][3:] = np.kron(T[:, 1:], np.eye(3))
    terms = [Term(b, g) for b, g in zip(("gyro", "accelerometer", "accelerometer"), gains)]
    heavy = slice(0, 3), slice(3, 9)
    return Covariance(terms, _missed(recording, noise), np.ones((n, 9), bool), heavy)


def _missed(recording: KinematicRecording, noise: NoiseModel) -> np.ndarray:
    """(n, 9, 9) of what happens between two samples: impacts take less time than that."""
    missed = MISSED * recording.turn_change, noise.impact * recording.force_change
    turn, speed = (m[:, :, None] ** 2 * np.eye(3) for m in missed)
    out, dt = np.zeros((len(turn), 9, 9)), recording.step
    out[:, :3, :3] = turn
    out[:, 3:6, 3:6] = speed
    out[:, 3:6, 6:] = out[:, 6:, 3:6] = speed * (dt / 2.0)
    out[:, 6:, 6:] = speed * (dt**2 / 3.0)
    return out


def bias_covariance(recording: KinematicRecording) -> Covariance:
    """Of `bias_walk`."""
    gains = np.sqrt(recording.step) * np.eye(6).reshape(6, 2, 3)
    terms = [Term("accelerometer_walk", gains[:, 0]), Term("gyro_walk", gains[:, 1])]
    return Covariance(terms, np.zeros((6, 6)), np.ones((len(recording) - 1, 6), bool))


def leg_gains(
    leg: Leg, foot: int, recording: KinematicRecording, offsets: Offsets, up: np.ndarray
) -> dict[str, np.ndarray]:
    """Derivatives (n, rows, d) of `leg_measurement` by encoders, rates and gyro, over their mean.

    `G = dr/ds` by the readings s, signs included: the place has `-y(q)`, the velocity `+J(q) qd`,
    and what they owe to the same encoder is correlated.

    Args:
        leg: of the robot.
        foot: its index.
        recording: whose readings are taken for the joints' motion.
        offsets: of the machine; real, or complex for derivatives.
        up: (n, 3) vertical of the world in IMU axes, about which the foot's sphere rolls.
    """
    joints = np.array(leg.joints)
    angle = recording.angle[:, joints] - offsets.joints[joints]
    m = leg.motion(angle, recording.rate[:, joints], offsets.feet[foot])
    C, w = offsets.imu_rotation.T, recording.gyro
    J, y = C @ m.jacobian, (m.position - offsets.imu_position) @ C.T
    turned, turn_bent, roll = C @ m.angular, C @ m.rate_jacobian, leg.radius * skew(up)
    zero, still = np.zeros_like(J), np.broadcast_to(np.eye(3), (len(J), 3, 3))
    rows = {
        "encoder": [-J, C @ m.velocity_jacobian + skew(w) @ J + roll @ turn_bent, turn_bent],
        "rate": [zero, J + roll @ turned, turned],
        "gyro": [np.zeros_like(still), roll - skew(y), still],
    }
    joint, imu = recording.joint_samples, recording.imu_samples
    samples = {"encoder": joint, "rate": joint, "gyro": imu}
    return {
        # half a sample at each end of the interpolated mean's window
        name: np.concatenate(parts, axis=1)[:, : leg.rows] / np.sqrt(samples[name] + 0.5)
        for name, parts in rows.items()
    }


def leg_covariance(
    leg: Leg, foot: int, recording: KinematicRecording, offsets: Offsets, up: np.ndarray
) -> Covariance:
    """Of `leg_measurement`: noise of encoders, rates and gyro through the kinematics.

    Tails are heavier than a Gaussian's of place, velocity and turning, each by itself. The gains
    are those of the measured joints with the offsets given; they do not follow an estimate.
    """
    one, rows = np.eye(leg.rows), leg.rows
    gains = leg_gains(leg, foot, recording, offsets, up)
    gains |= {"leg_position": one[:, :3], "leg_velocity": one[:, 3:6]}
    gains |= {"sole_turning": one[:, 6:]} if leg.flat else {}
    active = np.ones((len(recording), rows), bool)
    active[:, 3:] = recording.stance[:, foot, None]
    heavy = tuple(slice(i, i + 3) for i in range(0, rows, 3))
    return Covariance([Term(*g) for g in gains.items()], np.zeros((rows, rows)), active, heavy)


def foothold_covariance(foot: int, recording: KinematicRecording, noise: NoiseModel) -> Covariance:
    """Of `foothold_walk`: slip where the foot stands at both nodes, a wide walk elsewhere."""
    stands = recording.stance[:-1, foot] & recording.stance[1:, foot]
    root = np.sqrt(recording.step)
    gain = np.where(stands[:, None, None], root * np.eye(3), 0.0)
    walk = np.where(stands, 0.0, noise.swing * root)[:, None, None] ** 2 * np.eye(3)
    return Covariance([Term("slip", gain)], walk, np.ones((len(stands), 3), bool), (slice(0, 3),))


def mocap_covariance(recording: KinematicRecording, noise: NoiseModel) -> Covariance:
    """Of `mocap_pose`."""
    variance = np.repeat([noise.mocap_position**2, noise.mocap_rotation**2], 3)
    active = np.ones((len(recording.mocap.node), 6), bool)
    return Covariance([], np.diag(variance), active, (slice(0, 6),))


def start_covariance(noise: NoiseModel) -> Covariance:
    """Of `first_node`."""
    return Covariance([], np.diag(np.repeat(np.square(noise.start), 3)), np.ones((1, 15), bool))
