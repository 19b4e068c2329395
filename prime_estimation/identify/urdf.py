# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A URDF with identified inertias.

The moving bodies get the new values, everything else stays as it is.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin

from ..errors import RobotError
from ..inertia import inertia_about_com
from ..io.whole_file import write_whole
from ..robot import Robot, mesh_path, urdf_path, urdf_source

# smallest second moment of a body, of its largest: nine digits of a text keep it above zero
LEAST_MOMENT = 1e-6


def patch_urdf(robot: Robot, inertias: dict[str, np.ndarray], out: str | Path) -> list[str]:
    """Write the robot's URDF to `out` with new inertias of moving bodies.

    An identified body is a link with all links fixed to it. The heaviest of these takes the
    difference to the others; where that would not be a physical body, it takes everything and the
    others lose their inertia.

    Args:
        robot: whose URDF it is.
        out: file to write.
        inertias: dynamic parameters (10,) about the joint frame by name of the moving link
            (`Robot.links`).

    Returns:
        Notices, one line each.

    Raises:
        RobotError: a URDF that gives the body no link to carry the inertia.
    """
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))
    text = urdf_source(urdf_path(robot.config))
    for prefix, uri in re.findall(r'\sxmlns:(?!ns\d)([\w.-]+)\s*=\s*"([^"]+)"', text):
        ET.register_namespace(prefix, uri)  # as they are written again
    tree = ET.ElementTree(ET.fromstring(text, parser))
    links = {element.get("name"): element for element in tree.getroot().findall("link")}
    notices = []
    for name, pi in inertias.items():
        parts = _fixed_parts(robot, robot.link_joint(name), links)
        if not parts:
            raise RobotError(
                f"the URDF of {robot.name} has no link with an <inertial> on the body '{name}'",
                name,
            )
        carrier = max(parts, key=lambda part: part[2].mass)
        rest = np.array(pi) - sum(
            (m.act(i).toDynamicParameters() for n, m, i in parts if n != carrier[0]), np.zeros(10)
        )
        if not _physical(rest):
            why = (
                "the links fixed to it weigh more than was identified"
                if rest[0] <= 0.0
                else "without the links fixed to it, what was identified is no physical body"
            )
            notices.append(f"{name}: {why}; their inertia is now part of {carrier[0]}")
            for other, _, _ in parts:
                links[other].remove(links[other].find("inertial"))
            rest = np.array(pi)
        _write(links[carrier[0]], carrier[1].actInv(_readable(rest)))
    out = Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    _keep_meshes(tree.getroot(), urdf_path(robot.config).resolve().parent, out.resolve().parent)
    write_whole(out, ET.tostring(tree.getroot(), encoding="utf-8", xml_declaration=True))
    return notices


def _keep_meshes(root: ET.Element, before: Path, now: Path) -> None:
    """Let a URDF in another folder find the meshes that lay around it before."""
    for mesh in root.iter("mesh"):
        name = mesh.get("filename", "")
        file = mesh_path(name, before)
        if file.is_file() and not mesh_path(name, now).is_file():
            mesh.set("filename", file.resolve().as_uri())


def _fixed_parts(
    robot: Robot, joint: int, links: dict[str, ET.Element]
) -> list[tuple[str, pin.SE3, pin.Inertia]]:
    """Links of a moving body that have an inertia.

    (link, placement in the joint's frame, inertia in the link's frame) of each.
    """
    out = []
    for frame in robot.model.frames.tolist():
        if frame.type == pin.FrameType.BODY and frame.parentJoint == joint and frame.name in links:
            inertia = _read(links[frame.name])
            if inertia is not None and inertia.mass > 0.0:
                out.append((frame.name, frame.placement, inertia))
    return out


def _read(link: ET.Element) -> pin.Inertia | None:
    element = link.find("inertial")
    if element is None:
        return None
    origin = element.find("origin")
    xyz, rpy = (
        np.fromstring(origin.get(key, "0 0 0"), sep=" ") if origin is not None else np.zeros(3)
        for key in ("xyz", "rpy")
    )
    tensor = {k: float(v) for k, v in element.find("inertia").items()}
    xx, xy, xz, yy, yz, zz = (tensor[k] for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    R = pin.rpy.rpyToMatrix(*rpy)
    return pin.Inertia(
        float(element.find("mass").get("value")),
        xyz,
        R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T,
    )


def _write(link: ET.Element, body: pin.Inertia) -> None:
    element = link.find("inertial")
    if element is None:
        element = ET.SubElement(link, "inertial")
    tail = element.tail
    element.clear()
    element.tail = tail
    i = body.inertia
    ET.SubElement(element, "origin", xyz=" ".join(_text(v) for v in body.lever), rpy="0 0 0")
    ET.SubElement(element, "mass", value=_text(body.mass))
    values = {
        "ixx": i[0, 0],
        "ixy": i[0, 1],
        "ixz": i[0, 2],
        "iyy": i[1, 1],
        "iyz": i[1, 2],
        "izz": i[2, 2],
    }
    ET.SubElement(element, "inertia", **{k: _text(v) for k, v in values.items()})


def _readable(pi: np.ndarray) -> pin.Inertia:
    """The body, which still is one when its numbers have been rounded."""
    body, tensor = pin.Inertia.FromDynamicParameters(pi), inertia_about_com(pi)
    moments, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    least = LEAST_MOMENT * moments[-1]
    if moments[0] >= least:
        return body
    moments = np.maximum(moments, least)
    second = axes * moments @ axes.T
    return pin.Inertia(body.mass, body.lever, moments.sum() * np.eye(3) - second)


def _physical(pi: np.ndarray) -> bool:
    return bool(
        pi[0] > 0.0
        and np.linalg.eigvalsh(pin.PseudoInertia.FromDynamicParameters(pi).toMatrix())[0] > 0.0
    )


def _text(value: float) -> str:
    return f"{value:.9g}"
