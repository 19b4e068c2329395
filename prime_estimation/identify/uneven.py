# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Uneven ground: parameters that the sliding window finds, which follows it from step to step.

A window over all nodes has one ground height under each foot. Where the footholds lie on no floor,
the forces that this takes would be blamed on the inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..estimator import Estimator
from ..mhe.window import Window
from ..types import Measurement
from .full_information import ForwardPass, no_stop, smooth_forward

CONSTANT = {"mass_walk": 0.0, "com_walk": 0.0, "inertia_walk": 0.0}  # of the inertia


@dataclass(frozen=True)
class Tracked:
    """What a sliding window has found at its end, of an inertia that is constant.

    Attributes:
        way: through the measurements.
        parameters: mean and covariance by block.
        misfit: rms of the unexplained forces on the way, in units of the noise model.
    """

    way: ForwardPass
    parameters: dict[str, tuple[np.ndarray, np.ndarray]]
    misfit: float


def track(
    guess: Estimator,
    iterations: int,
    measurements: Sequence[Measurement],
    stop: Callable[[], bool] = no_stop,
) -> Tracked:
    """Carry a sliding window through measurements; raises as `smooth_forward` does.

    Args:
        guess: with the robot and the configuration.
        iterations: per node, at most.
        measurements: of all nodes, in order.
        stop: True ends it.
    """
    squares: list[float] = []

    def look(window: Window) -> None:
        whitened = window.unexplained(slice(0, 1)) * window.inputs[0].nominal_force
        squares.append(float(np.mean(whitened**2)))

    config = guess.config.updated({"estimator": {**CONSTANT, "iterations": iterations}})
    estimator = Estimator(guess.robot, config, any(m.mocap for m in measurements))
    way = smooth_forward(estimator, measurements, stop=stop, one_ground=False, look=look)
    window = estimator.window
    window.posterior()
    covariance, x = window.head_covariance(), window.xs[-1]
    found = {}
    for name in ("theta", "friction"):
        columns = window.problem.columns(name)
        found[name] = window.problem.parameter(x, name).copy(), covariance[columns, columns]
    return Tracked(way, found, float(np.sqrt(np.mean(squares))))


def with_torques(way: ForwardPass, scale: float) -> np.ndarray:
    """Coordinates theta of the inertia on the same way, if all torques were this much larger."""
    ms = [m if m.torque is None else replace(m, torque=scale * m.torque) for m in way.measurements]
    window = smooth_forward(way.anew(), ms, one_ground=False).estimator.window
    return window.problem.parameter(window.xs[-1], "theta").copy()
