# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pinocchio model of a URDF, with the joints locked that do not move."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pinocchio as pin

from ..config.parameters import RobotConfig
from ..errors import RobotError
from .urdf import shifted, urdf_path
from .urdf_checks import check_text
from .urdf_source import urdf_source

GRAVITY = -float(pin.Model().gravity.linear[2])  # m/s2, downwards in every model
_JOINT = " (joint)"  # after the name of a joint's frame, where a link has the same name


def load_model(config: RobotConfig) -> pin.Model:
    """Model of the robot's URDF; RobotError where the estimator could not use it."""
    path = urdf_path(config)
    model = _read(path, config)
    _name_links(model)
    if config.locked_joints:
        model = _lock(model, config)
    _check_mobility(model, path, config.floating_base)
    _check_masses(model, path)
    return model


def frame_id(model: pin.Model, name: str, robot: str, purpose: str) -> int:
    """Index of a frame by its name; RobotError names similar ones.

    Args:
        model: of the robot.
        name: of the frame.
        robot: its name, for the error.
        purpose: what needs the frame, for the error.
    """
    if not name:
        raise RobotError(f"{robot}: no frame is named for the {purpose}", name)
    if name == model.frames[0].name or not model.existFrame(name):  # the world carries nothing
        names = [f.name for f in model.frames if f.type == pin.FrameType.BODY]
        close = [n for n in names if name.lower() in n.lower()] or get_close_matches(name, names)
        known = f"the URDF has {_few(names)}"
        hint = f"did you mean {' or '.join(close[:3])}?" if close else known
        raise RobotError(f"{robot}: no frame '{name}' for the {purpose}; {hint}", name)
    return model.getFrameId(name)


def _read(path: Path, config: RobotConfig) -> pin.Model:
    if not path.is_file():
        raise RobotError(f"no URDF at {path}", path)
    if path.suffix == ".xacro":
        raise RobotError(
            f"{path} is a xacro; make a URDF of it: xacro {path.name} > "
            f"{path.stem.removesuffix('.urdf')}.urdf",
            path,
        )
    text = urdf_source(path)
    check_text(path, text)
    try:
        root = (pin.JointModelFreeFlyer(),) if config.floating_base else ()
        return pin.buildModelFromXML(shifted(text, config), *root)
    except (ValueError, RuntimeError) as error:
        raise RobotError(
            f"{path} is not a usable URDF: {' '.join(str(error).split())}", path
        ) from error


def _name_links(model: pin.Model) -> None:
    """Rename frames of joints that are called like a link: the name means the link.

    URDFs may give both one name; Pinocchio looks for one frame of a name, and refuses two.
    """
    links = _links(model)
    for frame in model.frames:
        if frame.type != pin.FrameType.BODY and frame.name in links:
            frame.name += _JOINT


def _links(model: pin.Model) -> set[str]:
    return {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}


def _check_mobility(model: pin.Model, path: Path, floating_base: bool) -> None:
    """Something moves, and every joint of the URDF has one degree of freedom."""
    if model.njoints == 1:
        raise RobotError(f"{path}: nothing moves, neither the base nor a joint", path)
    joints = list(zip(model.joints, model.names))[1 + floating_base :]
    several = [name for joint, name in joints if joint.nv != 1]
    if several:
        remedy = (
            "a free base is robot.floating_base, no joint of the URDF"
            if floating_base
            else "make one joint of each"
        )
        raise RobotError(
            f"{path}: only joints with one degree of freedom are supported, unlike "
            f"{_few(several)}; {remedy}",
            several,
        )


def _check_masses(model: pin.Model, path: Path) -> None:
    massless = [model.names[i] for i in range(1, model.njoints) if model.inertias[i].mass <= 0.0]
    if massless:
        remedy = (
            "the dynamics need <inertial> on every moving link; joints that do not move can be put "
            "into robot.locked_joints"
        )
        raise RobotError(
            f"{path}: the body moved by {_few(massless)} has no mass; {remedy}", massless
        )


def _lock(model: pin.Model, config: RobotConfig) -> pin.Model:
    first = 2 if config.floating_base else 1
    unknown = [n for n in config.locked_joints if n not in model.names.tolist()[first:]]
    if unknown:
        raise RobotError(
            f"{config.name}: locked_joints names unknown joints {', '.join(unknown)}", unknown
        )
    q = pin.neutral(model)
    for name, value in config.locked_joints.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nv != 1:
            raise RobotError(
                f"{config.name}: locked_joints: {name} has more than one degree of freedom", name
            )
        # two: continuous
        q[joint.idx_q : joint.idx_q + joint.nq] = (
            value if joint.nq == 1 else [np.cos(value), np.sin(value)]
        )
    locked = [model.getJointId(name) for name in config.locked_joints]
    links = _links(model)
    for joint in locked:  # each becomes a frame of its name
        if model.names[joint] in links:
            model.names[joint] += _JOINT
    return pin.buildReducedModel(model, locked, q)


def moving_links(model: pin.Model) -> list[str]:
    """Name of the body that each joint moves: the first BODY frame attached to it."""
    links = ["universe"] * model.njoints
    for frame in reversed(model.frames.tolist()):
        if frame.type == pin.FrameType.BODY:
            links[frame.parentJoint] = frame.name
    return links


def _few(names: list[str]) -> str:
    """Names in a message: the first ones of many."""
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
