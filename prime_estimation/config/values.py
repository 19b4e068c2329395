# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Values of the configuration that are more than one number of one type."""

from __future__ import annotations

import math
import re
from numbers import Real
from pathlib import Path

from ..errors import ConfigError

_CONTACT = re.compile(r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z0-9_]+)?")


def laid_over(current, value):
    """A new value in place of the current one.

    Where it is by joint, joints that it does not name keep what they had.
    """
    if not isinstance(value, dict):
        return value
    return (
        {**current, **value}
        if isinstance(current, dict)
        else {**({"default": current} if current else {}), **value}
    )


def is_number(value) -> bool:
    """Whether it is a finite number, one of NumPy's included; yes and no are none."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def are_numbers(values, count: int) -> bool:
    """Whether it is a list, tuple or array of so many finite numbers."""
    known = isinstance(values, (list, tuple)) or getattr(values, "ndim", 0) == 1
    return known and len(values) == count and all(map(is_number, values))


def three_numbers(value, name: str, unit: str = "m") -> list[float]:
    """A position [m], or an orientation [rad]."""
    if (
        not isinstance(value, list)
        or len(value) != 3
        or not all(type(v) in (int, float) and math.isfinite(v) for v in value)
    ):
        raise ConfigError(f"{name} must be three numbers [{unit}], got {value!r}", value)
    return [float(v) for v in value]


def is_file_name(name: str) -> bool:
    """Whether a file may be called so everywhere; nothing is no name yet, but may become one."""
    return not name or re.fullmatch(r"\w([\w.-]*\w)?", name) is not None


def check_names(contacts: list[str], name: str) -> None:
    """Names of contacts become names of topics and keys of dictionaries."""
    for contact in contacts:
        if not _CONTACT.fullmatch(contact):
            wanted = "letters, digits and underscores, as in FL_foot or left_ankle/toe"
            raise ConfigError(f"{name}: '{contact}' is no name of a contact: {wanted}", contact)
        if contacts.count(contact) > 1:
            raise ConfigError(f"{name} has {contact} twice", contact)


def beside(path: Path, content: dict) -> dict:
    """Content of a YAML file, with the URDF that lies beside it by its absolute path.

    Another relative path is one from here.
    """
    robot = content.get("robot")
    urdf = robot.get("urdf") if isinstance(robot, dict) else None
    if isinstance(urdf, str) and urdf and (path.parent / urdf).is_file():
        return {**content, "robot": {**robot, "urdf": str((path.parent / urdf).resolve())}}
    return content
