# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Choice of optional sensors in a Python call, whose types nobody has checked before."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..errors import ConfigError


def texts(values: object, expected: str) -> tuple[str, ...]:
    """A list of texts.

    Args:
        values: what was handed in.
        expected: name of the argument, and what it may be.

    Raises:
        ConfigError: it is none.
    """
    try:
        found = tuple(values)
    except TypeError:  # not even a list
        found = (values,)
    if isinstance(values, str | bytes) or not all(isinstance(text, str) for text in found):
        raise ConfigError(f"{expected}, got {values!r:.60}", values)
    return found


def sensor_names(sensors: Collection[str]) -> Collection[str]:
    """Names of optional sensors.

    Raises:
        ConfigError: a text instead of a list of names, or no names.
    """
    if isinstance(sensors, str):
        raise ConfigError(f"sensors must be a list of names: write sensors=['{sensors}']", sensors)
    texts(sensors, "sensors must be a list of names, as ['foot_force']")
    return sensors


def chosen(sensors: Collection[str], mocap: bool) -> set[str]:
    """Names of optional sensors, with motion capture where it is switched on.

    Raises:
        ConfigError: as `sensor_names` and `switch`.
    """
    return {*sensor_names(sensors), *["mocap"] * switch(mocap, "mocap")}


def switch(value: bool, name: str) -> bool:
    """A switch, as that of motion capture.

    Raises:
        ConfigError: neither on nor off: texts like "no" would count as on.
    """
    if not isinstance(value, bool | np.bool_):
        raise ConfigError(f"{name} must be True or False, got {value!r:.60}", value)
    return bool(value)
