# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of a URDF's text: what its parser prints and leaves out, the dynamics would lack.

A link whose mass cannot be read, for instance, is taken for one without.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ..errors import RobotError
from .urdf_source import PREFIX, without_comments

_TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def check_text(path: Path, text: str) -> None:
    """RobotError with the first mistake of a URDF that makes its model another one, or none.

    Args:
        path: of the file, for the error.
        text: of it, as `urdf_source` has it.
    """
    try:
        root = ET.fromstring(PREFIX.sub(r"\1\2_", without_comments(text)))
    except ET.ParseError as error:
        raise RobotError(f"{path} is not a usable URDF: it is no XML ({error})", error) from error
    for mistake in _mistakes(root):
        raise RobotError(f"{path} is not a usable URDF: {mistake}", mistake)


def _mistakes(root: ET.Element) -> Iterator[str]:
    if root.tag != "robot":
        yield f"its root element is <{root.tag}>, not <robot>"
        return
    if any(element.tag.startswith("xacro_") for element in root.iter()):
        yield "it has elements of xacro; make a URDF of it: xacro IN > OUT.urdf"
    yield from _tree(root)
    for link in root.iterfind("link"):
        for inertial in link.iterfind("inertial"):
            yield from _inertial(inertial, f"<inertial> of {link.get('name')}")
    for joint in root.iterfind("joint"):
        yield from _joint(joint, f"joint {joint.get('name')}")


def _tree(root: ET.Element) -> Iterator[str]:
    """Names that are there twice or not at all, links that hang on no joint or on several."""
    for kind in ("link", "joint"):
        names = Counter(element.get("name") for element in root.iterfind(kind))
        yield from (f"it has the {kind} {name} twice" for name, n in names.items() if n > 1)
    links = {link.get("name") for link in root.iterfind("link")}
    ends = {end: _ends(root, end) for end in ("parent", "child")}
    for end, names in ends.items():
        yield from (f"{end} {name} of a joint is no link" for name in names if name not in links)
    roots = [name for name in links if name not in ends["child"]]
    if len(roots) != 1:
        told = f"{' and '.join(sorted(map(str, roots)))} have" if roots else "no link has"
        yield f"it is no tree: {told} no parent"


def _ends(root: ET.Element, end: str) -> list[str | None]:
    return [element.get("link") for element in root.iterfind(f"joint/{end}")]


def _inertial(inertial: ET.Element, of: str) -> Iterator[str]:
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    yield from _numbers(mass, ("value",), 1, f"mass in the {of}")
    yield from _numbers(tensor, _TENSOR, 1, f"inertia in the {of}")
    yield from _origin(inertial, of)
    if mass is not None and float(mass.get("value", 0.0)) < 0.0:
        yield f"the mass in the {of} is {mass.get('value')} kg, less than nothing"


def _joint(joint: ET.Element, of: str) -> Iterator[str]:
    yield from _origin(joint, of)
    if (axis := joint.find("axis")) is not None and joint.get("type") != "fixed":
        yield from _numbers(axis, ("xyz",), 3, f"axis of {of}")
        if not any(map(float, axis.get("xyz").split())):
            yield f"the axis of {of} has no direction"


def _origin(element: ET.Element, of: str) -> Iterator[str]:
    if (origin := element.find("origin")) is not None:
        given = [key for key in ("xyz", "rpy") if key in origin.keys()]
        yield from _numbers(origin, given, 3, f"origin of {of}")


def _numbers(element: ET.Element | None, keys, count: int, what: str) -> Iterator[str]:
    """Attributes of an element that are not as many finite numbers as they must be."""
    for key in keys:
        text = None if element is None else element.get(key)
        if text is None:
            yield f"the {what} lacks '{key}'"
        elif not _is_numbers(text, count):
            wanted = "a number" if count == 1 else f"{count} numbers"
            yield f"'{key}' of the {what} must be {wanted}, with a decimal point, got '{text}'"


def _is_numbers(text: str, count: int) -> bool:
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return False
    return len(values) == count and all(map(math.isfinite, values))
