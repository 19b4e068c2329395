# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Visual meshes of a URDF, in the frames of the model's joints, small enough for a browser."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from ...robot import Robot, mesh_path, urdf_path, urdf_text

MANY_FACES = 12000  # of one mesh: more of them cost a browser time and show nothing
AGGRESSION = 5  # of merging them, of 10: how soon shape is given up for number
CREASE = 0.6  # rad, edges sharper than this stay edges
log = logging.getLogger("prime.view")
UNPAINTED = (176, 182, 190)


@dataclass(frozen=True)
class Visual:
    """One mesh of one colour: vertices (n, 3) [m] in the frame of `joint`, faces (m, 3)."""

    joint: int
    vertices: np.ndarray
    faces: np.ndarray
    color: tuple[int, int, int]


def visuals(robot: Robot) -> Iterator[Visual]:
    """The visual meshes of a robot's URDF, one after the other; unreadable ones are left out."""
    root = ET.fromstring(urdf_text(robot.config))
    folder = urdf_path(robot.config).parent
    paints = {
        m.get("name"): _paint(m) for m in root.iter("material") if m.find("color") is not None
    }
    shapes: dict[tuple, list] = {}  # legs share their meshes
    for link in root.iterfind("link"):
        if not robot.model.existBodyName(link.get("name")):
            continue
        frame = robot.model.frames[robot.model.getFrameId(link.get("name"), pin.FrameType.BODY)]
        for visual in link.iterfind("visual"):
            shape, material = visual.find("geometry")[0], visual.find("material")
            key = (shape.tag, *sorted(shape.attrib.items()))
            if key not in shapes:
                shapes[key] = [(*_smooth(mesh), color) for mesh, color in _meshes(shape, folder)]
            paint = None if material is None else paints.get(material.get("name"))
            pose = (frame.placement * _origin(visual)).homogeneous
            for vertices, faces, color in shapes[key]:
                moved = (vertices @ pose[:3, :3].T + pose[:3, 3]).astype(np.float32)
                yield Visual(frame.parentJoint, moved, faces, color or paint or UNPAINTED)


def _meshes(shape, folder: Path) -> Iterator[tuple]:
    """(trimesh, colour or None) of what a <geometry> holds."""
    import trimesh

    if shape.tag == "mesh":
        yield from _file(shape, folder)
    elif shape.tag == "box":
        yield trimesh.creation.box(_numbers(shape.get("size"))), None
    elif shape.tag == "sphere":
        yield trimesh.creation.icosphere(2, float(shape.get("radius"))), None
    elif shape.tag == "cylinder":
        size = float(shape.get("radius")), float(shape.get("length"))
        yield trimesh.creation.cylinder(*size, sections=24), None


def _file(shape, folder: Path) -> Iterator[tuple]:
    import trimesh

    try:
        scene = trimesh.load_scene(str(mesh_path(shape.get("filename"), folder)), process=False)
    except Exception as error:  # noqa: BLE001 - foreign files, read by a reader for each kind
        log.warning("%s is not shown: %s", shape.get("filename"), " ".join(str(error).split()))
        return
    for mesh in scene.dump():
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            mesh.apply_scale(_numbers(shape.get("scale", "1 1 1")))
            color = getattr(getattr(mesh.visual, "material", None), "main_color", None)
            yield mesh, None if color is None else tuple(int(c) for c in color[:3])


def _smooth(mesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a mesh with about MANY_FACES at most, split where it has edges."""
    import trimesh

    bare = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    bare.merge_vertices()
    if len(bare.faces) > MANY_FACES:
        bare = bare.simplify_quadric_decimation(face_count=MANY_FACES, aggression=AGGRESSION)
    bare = trimesh.graph.smooth_shade(bare, angle=CREASE)
    return np.asarray(bare.vertices), bare.faces.astype(np.uint32)


def _origin(visual) -> pin.SE3:
    origin = visual.find("origin")
    if origin is None:
        return pin.SE3.Identity()
    rpy, xyz = (_numbers(origin.get(key, "0 0 0")) for key in ("rpy", "xyz"))
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)


def _paint(material) -> tuple[int, int, int]:
    return tuple(int(255 * c) for c in _numbers(material.find("color").get("rgba"))[:3])


def _numbers(text: str) -> np.ndarray:
    return np.array([float(v) for v in text.split()])
