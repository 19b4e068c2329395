# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Units that a log may use, as factors to SI."""

from __future__ import annotations

import math

from ..errors import ConfigError
from .hints import did_you_mean

_DEGREE = math.pi / 180.0
_TURN = 2.0 * math.pi
_G = 9.80665

# the first unit of each kind is that of SI, and the default
UNITS: dict[str, dict[str, float]] = {
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "angle": {"rad": 1.0, "deg": _DEGREE, "turn": _TURN},
    "rate": {"rad/s": 1.0, "deg/s": _DEGREE, "turn/s": _TURN, "rpm": _TURN / 60.0},
    "torque": {"Nm": 1.0, "mNm": 1e-3},
    "stiffness": {"Nm/rad": 1.0, "Nm/deg": 1.0 / _DEGREE},
    "damping": {"Nm s/rad": 1.0, "Nm s/deg": 1.0 / _DEGREE},
    "acceleration": {"m/s2": 1.0, "g": _G, "mg": 1e-3 * _G},
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3},
    "force": {"counts": 1.0, "N": 1.0, "kgf": _G},
}


def factor_to_si(kind: str, unit: str, source: str) -> float:
    """Factor from `unit` to SI; ConfigError for a unit that the kind of quantity does not have."""
    units = UNITS[kind]
    if unit == "":
        return 1.0
    if unit not in units:
        hint = did_you_mean(unit, units)
        raise ConfigError(f"{source}: unknown unit '{unit}'{hint}", unit)
    return units[unit]
