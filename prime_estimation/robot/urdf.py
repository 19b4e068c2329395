# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""URDF of a robot: where it lies, its text for a viewer."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pinocchio as pin

from ..config.parameters import RobotConfig
from ..errors import RobotError
from .urdf_source import urdf_source


def urdf_path(config: RobotConfig) -> Path:
    """Path of a robot's URDF; RobotError when the configuration names none."""
    if not config.urdf:
        raise RobotError("the robot's configuration names no URDF (robot.urdf)", config)
    if config.urdf.startswith("package://"):
        return _in_package(*config.urdf.removeprefix("package://").partition("/")[::2])
    if not config.urdf.startswith("example-robot-data:"):
        return Path(config.urdf).expanduser()
    from example_robot_data.robots_loader import ROBOTS, getModelPath

    name = config.urdf.split(":", 1)[1]
    if name not in ROBOTS:
        raise RobotError(f"example-robot-data has no robot '{name}'", name)
    loader = ROBOTS[name]
    subpath = f"{loader.path}/{loader.urdf_subpath}/{loader.urdf_filename}"
    return Path(getModelPath(subpath)) / subpath


def _in_package(package: str, file: str) -> Path:
    share = next((s / package for s in _shares() if (s / package).is_dir()), None)
    if share is None:
        raise RobotError(
            f"no ROS package '{package}' in AMENT_PREFIX_PATH: source its workspace, or give "
            "robot.urdf as a path",
            package,
        )
    return share / file


def mesh_path(name: str, folder: Path) -> Path:
    """File of a mesh by its name in a URDF of a folder: absolute, beside it, or of a ROS package.

    Where there is no such package, of a folder of its name around the URDF.
    """
    if name.startswith("package://"):
        package, _, file = name.removeprefix("package://").partition("/")
        for root in (*_shares(), *folder.parents):
            if (root / package / file).is_file():
                return root / package / file
    if name.startswith("file://"):
        name = unquote(name.removeprefix("file://"))
    return folder / name


def _shares() -> list[Path]:
    """Folders of ROS packages."""
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(":")
    return [Path(prefix) / "share" for prefix in prefixes if prefix]


def urdf_text(config: RobotConfig) -> str:
    """The URDF for a viewer, joints shifted by `joint_offsets`, `locked_joints` fixed.

    Nothing says where the latter stand, and what hangs on them would have no transform. Meshes of
    example-robot-data by their files, since it need not be a package of the ROS installation.
    """
    path = urdf_path(config)
    home = next((folder for folder in path.parents if folder.name == "example-robot-data"), None)
    text = _fixed(shifted(urdf_source(path), config), config)
    return text.replace("package://example-robot-data/", f"{home.as_uri()}/") if home else text


def shifted(urdf: str, config: RobotConfig) -> str:
    """Text of a URDF whose joints have the origins of the machine (`robot.joint_offsets`).

    In the text, so that the model and whatever is drawn or printed agree: links, shapes and sensors
    go with the joint that carries them.

    Args:
        urdf: its text.
        config: of the robot, with the offsets, axes of each joint's parent link [m].

    Raises:
        RobotError: an offset is of a joint that the URDF has not, or the text is no XML.
    """
    if not config.joint_offsets:
        return urdf
    try:
        root = ET.fromstring(urdf)
    except ET.ParseError as error:
        raise RobotError(f"{urdf_path(config)} is not a usable URDF: {error}", error) from error
    joints = {joint.get("name"): joint for joint in root.iterfind("joint")}
    for name, offset in config.joint_offsets.items():
        if name not in joints:
            close = get_close_matches(str(name), joints) or list(joints)[:6]
            what = f"joint_offsets names '{name}', which is no joint of the URDF"
            raise RobotError(f"{config.name}: {what}; there are {', '.join(close)}", name)
        joint = joints[name]
        origin = joint.find("origin")
        origin = ET.SubElement(joint, "origin") if origin is None else origin
        place = map(float, origin.get("xyz", "0 0 0").split())
        origin.set("xyz", " ".join(repr(a + b) for a, b in zip(place, offset)))
    return ET.tostring(root, encoding="unicode")


def _fixed(urdf: str, config: RobotConfig) -> str:
    """Text of a URDF whose locked joints are fixed ones, where they are locked."""
    if not config.locked_joints:
        return urdf
    root = ET.fromstring(urdf)
    for joint in root.iterfind("joint"):
        if joint.get("name") in config.locked_joints and joint.get("type") != "fixed":
            _fix(joint, config.locked_joints[joint.get("name")])
    return ET.tostring(root, encoding="unicode")


def _fix(joint: ET.Element, position: float) -> None:
    """Make a joint a fixed one that stands at a position [rad, m]."""
    origin, axis, mimic = joint.find("origin"), joint.find("axis"), joint.find("mimic")
    origin = ET.SubElement(joint, "origin") if origin is None else origin
    place, angles = (
        np.array([float(v) for v in origin.get(name, "0 0 0").split()]) for name in ("xyz", "rpy")
    )
    along = np.array([float(v) for v in (axis.get("xyz") if axis is not None else "1 0 0").split()])
    moved = position * along / np.linalg.norm(along)
    rotation = pin.rpy.rpyToMatrix(angles)
    if joint.get("type") == "prismatic":
        place = place + rotation @ moved
    else:
        rotation = rotation @ pin.exp3(moved)
    origin.set("xyz", " ".join(repr(float(v)) for v in place))
    origin.set("rpy", " ".join(repr(float(v)) for v in pin.rpy.matrixToRpy(rotation)))
    joint.set("type", "fixed")
    if mimic is not None:
        joint.remove(mimic)
