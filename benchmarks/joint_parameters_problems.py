# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The Furuta pendulum of `furuta.py` as a problem: where it starts, the truth, boxes, weights."""

from __future__ import annotations

import furuta as f
import numpy as np

from prime_estimation.fixed_base import JointRecording, Weights

KAPPA, STEP = 100.0, 0.01  # the paper's state error weight and step
HALF_HOLD = 0.5 * f.SAMPLE  # s, by which a held control acts later than its samples, on average
WIDE = (0.0, 0.1)
# Table 1: where the paper starts. Inertias about the joints: those of the centre of mass are +0.01
A, B = f.MASS_A * f.L1**2, f.MASS_B * f.L2**2
START = {
    "hinge1.gain": 0.1,
    "A.Ixx": 0.01,
    "A.Iyy": 0.01 + A,
    "A.Izz": 0.01 + A,
    "B.Ixx": 0.01 + B,
    "B.Iyy": 0.01 + B,
    "hinge1.viscous": 1e-4,
    "hinge2.viscous": 1e-4,
    "hinge1.dry": 1e-4,
    "hinge2.dry": 1e-4,
    "tilt_x": 0.0,
    "tilt_y": 0.0,
    "tilt_z": 0.0,
}
TRUE = {
    "hinge1.gain": f.GAIN,
    "A.Ixx": f.INERTIA_A[0],
    "A.Iyy": f.INERTIA_A[1] + A,
    "A.Izz": f.INERTIA_A[2] + A,
    "B.Ixx": f.INERTIA_B[1] + B,
    "B.Iyy": f.INERTIA_B[2] + B,
    "hinge1.viscous": f.TABLE_5.viscous[0],
    "hinge2.viscous": f.TABLE_5.viscous[1],
}
RELEASED = ("A.Izz", "B.Ixx", "hinge1.viscous", "hinge2.viscous")  # section 4.7


def boxes(names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Boxes: tilt +-0.3 rad, everything else from zero to 0.1, the gain to 1."""
    wide = {"tilt_x": (-0.3, 0.3), "tilt_y": (-0.3, 0.3), "tilt_z": (-0.3, 0.3)}
    return {name: wide.get(name, (0.0, 1.0) if "gain" in name else WIDE) for name in names}


def release(truth: f.Truth, noise: float = f.NOISE) -> JointRecording:
    """Released 0.03 rad off the upright position, 6 s."""
    return f.simulate(f.furuta(), truth, 6.0, (0.0, np.pi - 0.03), noise=noise)


def ratio_weights(kappa: float, step: float, nj: int, position: float = f.NOISE) -> Weights:
    """Weights of a state error weight, scaled to the deviation of the encoders."""
    of = Weights.of_state_error_weight(kappa, step, nj)
    return Weights(position * of.position, position * of.torque)
