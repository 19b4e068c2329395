# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Residuals that an inertia leaves on a recording: how well it explains the data.

Cost and unexplained forces, for any inertia that is held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mhe.knowledge import hold_inertia
from ..mhe.residual_rows import rows_by_sensor
from ..mhe.window import Window
from .solution import RestoreOnExit

ITERATIONS = 5  # from a converged window; the states follow the other inertia quickly


@dataclass(frozen=True)
class Residuals:
    """Fit of a window.

    Attributes:
        cost: negative log posterior per node (constants left out).
        mean_squares: mean square of the whitened residuals by sensor; `model` are the unexplained
            forces.
        force: rms of the unexplained force on the base [N]. moment: on the base [Nm]. torque: on
            the joints [Nm].
        misfit: rms of all of them in units of the noise model, outliers included.
    """

    cost: float
    mean_squares: dict[str, float]
    force: float
    moment: float
    torque: float
    misfit: float

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "cost_per_node": self.cost,
            "whitened_mean_squares": self.mean_squares,
            "base_force_rms_N": self.force,
            "base_moment_rms_Nm": self.moment,
            "joint_torque_rms_Nm": self.torque,
            "misfit": self.misfit,
        }


def residuals(window: Window) -> Residuals:
    """Residuals of a solved window."""
    whitened = np.array([data.r for data in window.data])
    squares = {}
    for name, rows in rows_by_sensor(window).items():
        active = whitened[:, rows]
        active = active[active != 0.0]  # a reading that is absent has the residual zero
        if active.size:
            squares[name] = float(np.mean(active**2))
    w, nb = window.unexplained(), window.problem.nv - window.problem.nj
    rms = [
        float(np.sqrt(np.mean(part**2))) if part.size else 0.0
        for part in (w[:, : nb // 2], w[:, nb // 2 : nb], w[:, nb:])
    ]
    misfit = float(
        np.sqrt(np.mean((w * [given.nominal_force for given in window.inputs[:-1]]) ** 2))
    )
    return Residuals(float(window.solver.cost) / window.size, squares, *rms, misfit)


def residuals_held(window: Window, theta: np.ndarray, iterations: int = ITERATIONS) -> Residuals:
    """Residuals of the same data with the inertia held at `theta`.

    States, forces and the other parameters adapt to it.
    """
    with RestoreOnExit(window):
        window.set_parameter("theta", theta)
        hold_inertia(window)
        for _ in range(iterations):
            window.solve(1)
        return residuals(window)
