# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Drawing of a robot's scene with viser: nodes are made once, updates move what has changed."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import product

import numpy as np

from . import style
from .contact_drawing import ContactsDrawing, arrows, wxyz
from .scene import BodyScene, RobotScene, SceneBuilder
from .shapes import Box
from .visuals import Visual

# What can be shown and hidden: name of the scene node, and what people call it.
LAYERS = {
    "robot": "robot",
    "inertia": "inertia boxes",
    "forces": "contact forces",
    "cones": "friction cones",
    "intervals": "force intervals",
    "terrain": "ground heights",
    "covariance": "base covariance",
    "trail": "trail",
    "push": "external push",
    "labels": "labels",
}
_OF_THE_WORLD = ("robot", "inertia", "trail")  # all others are carried along with the base
STILL = 1e-9  # m, or of a quaternion: has not moved
SEE_THROUGH = 0.35  # opacity of the bodies inside of which something is drawn
_EDGES = np.array(
    [
        (a, b)
        for a, b in product(product((-0.5, 0.5), repeat=3), repeat=2)
        if sum(x != y for x, y in zip(a, b)) == 1 and a < b
    ]
)


class RobotDrawing:
    """One robot in viser's scene.

    Args:
        scene: viser's `SceneApi`.
        root: name of the scene node of this robot's world frame.
        builder: gives sizes and names.
    """

    def __init__(self, scene, root: str, builder: SceneBuilder):
        robot, self._size = builder.robot, builder.leg_length
        self._scene, self._root, self._base = scene, root, f"{root}/base"
        self.frame = scene.add_frame(root, show_axes=False)
        # where the base is: a browser that is late is late with all of these together
        self._carried = scene.add_frame(self._base, show_axes=False)
        self._layers = {
            name: scene.add_frame(f"{self._parent(name)}/{name}", show_axes=False)
            for name in LAYERS
        }
        # each joint in the one before: of a revolute one only the orientation ever changes
        self._names = _chain(f"{root}/robot", robot.model.parents)
        self._joints = [scene.add_frame(name, show_axes=False) for name in self._names]
        self._placed = np.full((robot.model.njoints, 7), np.nan)
        self._hollow = {1} | {robot.link_joint(link) for link in robot.estimated_links}
        self._see_through: list = []
        self._meshes, self._opacity = 0, SEE_THROUGH
        self._bodies: dict[str, _BodyDrawing] = {}
        self._contacts = ContactsDrawing(scene, self._base, len(robot.contacts), self._size)
        self._covariance = scene.add_icosphere(
            f"{self._base}/covariance/ellipsoid",
            color=style.COVARIANCE,
            opacity=0.6,
            cast_shadow=False,
        )
        self._push = arrows(scene, f"{self._base}/push/arrow", style.PUSH, 1.6 * self._size)
        self._label = scene.add_label(
            f"{self._base}/labels/mass",
            "",
            anchor="bottom-center",
            position=(0.0, 0.0, 0.8 * self._size),
        )
        self._trail = None

    def add_mesh(self, visual: Visual) -> None:
        """Add one of the robot's meshes."""
        self._meshes += 1
        hollow = visual.joint in self._hollow
        mesh = self._scene.add_mesh_simple(
            f"{self._names[visual.joint]}/mesh{self._meshes}",
            visual.vertices,
            visual.faces,
            color=visual.color,
            opacity=self._opacity if hollow else None,
            side="double",
        )
        if hollow:
            self._see_through.append(mesh)

    def show(self, layers: Set[str]) -> None:
        """Show these layers, and no others."""
        for name, frame in self._layers.items():
            frame.visible = name in layers
        self._opacity = SEE_THROUGH if layers & {"inertia", "covariance"} else None
        for mesh in tuple(self._see_through):
            mesh.opacity = self._opacity

    def label(self, text: str) -> None:
        """Write the label above the robot."""
        if text != self._label.text:
            self._label.text = text

    def update(self, scene: RobotScene) -> None:
        """Draw a scene."""
        self._carried.position = scene.position
        self._move_joints(scene.joint_placements)
        for body in scene.bodies:
            if body.link not in self._bodies:
                name = f"{self._root}/inertia/{body.link}"
                self._bodies[body.link] = _BodyDrawing(self._scene, name, body, self._size)
            self._bodies[body.link].update(body, scene.joint_poses[body.joint])
        self._contacts.update(scene.contacts, scene.position)
        self._covariance.wxyz = wxyz(scene.covariance.quat)
        self._covariance.scale = tuple(np.maximum(np.nan_to_num(scene.covariance.semi_axes), 1e-4))
        self._push.visible = scene.push is not None
        if scene.push is not None:
            ends = np.array([[scene.push.tail, scene.push.tip]]) - scene.position
            self._push.points = ends.astype(np.float32)

    def update_trail(self, positions: np.ndarray) -> None:
        """Draw the way of the base (n, 3) [m]."""
        if len(positions) < 2:
            return
        segments = np.stack([positions[:-1], positions[1:]], axis=1).astype(np.float32)
        if self._trail is None:
            name = f"{self._root}/trail/line"
            self._trail = self._scene.add_line_segments(
                name, segments, style.TRAIL, thickness=2.5, thickness_units="screen"
            )
        self._trail.points = segments

    def _move_joints(self, placements: np.ndarray) -> None:
        change = np.abs(placements - self._placed)
        for k in np.flatnonzero(~(change[:, :3].max(axis=1) < STILL)):
            self._joints[k].position = placements[k, :3]
        for k in np.flatnonzero(~(change[:, 3:].max(axis=1) < STILL)):
            self._joints[k].wxyz = wxyz(placements[k, 3:])
        self._placed = placements

    def _parent(self, layer: str) -> str:
        return self._root if layer in _OF_THE_WORLD else self._base


class _BodyDrawing:
    """Edges of the nominal and of the estimated box with their centres, at the body's joint."""

    def __init__(self, scene, name: str, body: BodyScene, size: float):
        self._frame = scene.add_frame(name, show_axes=False)
        self._nominal = _BoxDrawing(scene, f"{name}/nominal", style.NOMINAL, 0.009 * size)
        self._estimated = _BoxDrawing(scene, f"{name}/estimated", style.ESTIMATE, 0.016 * size)
        self._nominal.update(body.nominal, style.NOMINAL)
        self._shown: BodyScene | None = None

    def update(self, body: BodyScene, joint_pose: np.ndarray) -> None:
        place(self._frame, joint_pose[:3], joint_pose[3:])
        if self._shown is None or not _same(self._shown, body):
            color = style.ESTIMATE if body.observable else style.UNOBSERVABLE
            self._estimated.update(body.estimated, color)
            self._shown = body


class _BoxDrawing:
    """A box as twelve edges, and its centre: what is inside of it is to be seen."""

    def __init__(self, scene, name: str, color: style.Color, thickness: float):
        self._frame = scene.add_frame(name, show_axes=False)
        self._edges = scene.add_line_segments(
            f"{name}/edges", np.zeros((12, 2, 3)), color, thickness=thickness
        )
        self._centre = scene.add_icosphere(f"{name}/centre", 1.6 * thickness, color)

    def update(self, box: Box | None, color: style.Color) -> None:
        self._frame.visible = box is not None
        if box is not None:
            place(self._frame, box.centre, box.quat)
            self._edges.points = (_EDGES * box.edges).astype(np.float32)
            self._edges.colors = np.array(color, np.uint8)
            self._centre.color = color


def _chain(root: str, parents: Iterable[int]) -> list[str]:
    """Names of the scene nodes of joints, each below that of its parent."""
    names: list[str] = []
    for k, parent in enumerate(parents):
        names.append(f"{names[parent]}/{k}" if k else f"{root}/0")
    return names


def place(handle, position: np.ndarray, quat: np.ndarray) -> None:
    """Move a scene node to a position and an orientation (xyzw)."""
    handle.position, handle.wxyz = position, wxyz(quat)


def _same(one: BodyScene, other: BodyScene) -> bool:
    boxes = one.estimated, other.estimated
    if one.observable != other.observable or None in boxes:
        return False
    return all(np.array_equal(*(vars(b)[name] for b in boxes)) for name in vars(boxes[0]))
