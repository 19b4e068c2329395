# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Viscous, dry and Stribeck friction of joints, with derivatives.

loss(v) = viscous v + (dry + stribeck exp(-(v / stribeck_velocity)^2)) v / sqrt(v^2 + w^2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

FRICTION = ("viscous", "dry", "stribeck", "stribeck_velocity")


@dataclass(frozen=True)
class Friction:
    """Torque lost at rates (n, nj) [Nm], derivatives by rate and by each kind of parameter."""

    torque: np.ndarray
    by_rate: np.ndarray
    by_parameters: dict[str, np.ndarray]


def friction(of: Mapping[str, np.ndarray], rate: np.ndarray, friction_velocity: float) -> Friction:
    """Friction at joint rates (n, nj) [rad/s] with parameters (nj,) of each kind in FRICTION.

    `friction_velocity` w [rad/s] smooths the sign of the rate, as in the estimator's dynamics.
    """
    size = np.hypot(rate, friction_velocity)
    sign, sign_by_rate = rate / size, friction_velocity**2 / size**3
    scaled = rate / of["stribeck_velocity"]
    fade = np.exp(-(scaled**2))
    fade_by_rate = -2.0 * scaled / of["stribeck_velocity"] * fade
    level = of["dry"] + of["stribeck"] * fade
    return Friction(
        of["viscous"] * rate + level * sign,
        of["viscous"] + level * sign_by_rate + of["stribeck"] * fade_by_rate * sign,
        {
            "viscous": rate,
            "dry": sign,
            "stribeck": fade * sign,
            "stribeck_velocity": -of["stribeck"] * fade_by_rate * scaled * sign,
        },
    )
