# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Drawing of contacts with viser: a batch each of forces, cones, intervals and ground heights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...types import ContactState
from . import style
from .scene import ContactScene

_AWAY = np.array([(0.0, 0.0, -1e3), (0.0, 0.0, -1e3 + 1.0)])  # of an arrow that is not shown


class ContactsDrawing:
    """All contacts of a robot. Arrows shorter than their heads are left out, with what they carry.

    Args:
        scene: viser's `SceneApi`.
        root: scene node below which there is one for each layer.
        count: of the contacts.
        size: length of the robot's legs [m], for what has no size of its own.
    """

    def __init__(self, scene, root: str, count: int, size: float):
        import trimesh

        self._count, self._size = count, size
        cone = trimesh.creation.cone(1.0, 1.0, sections=32)
        # upside down: the apex is where the force begins
        cone.vertices = (cone.vertices - [0.0, 0.0, 1.0]) * [1.0, -1.0, -1.0]
        sphere = trimesh.creation.icosphere(2)
        disc = trimesh.creation.cylinder(1.0, 1.0, sections=32)
        self._cones = _Batch(scene, f"{root}/cones/all", cone, count, 0.12)
        self._tips = _Batch(scene, f"{root}/intervals/all", sphere, count, 0.8)
        self._discs = _Batch(scene, f"{root}/terrain/all", disc, count, None)
        self._points = _Batch(scene, f"{root}/forces/points", sphere, count, None)
        self._arrows = arrows(scene, f"{root}/forces/arrows", style.NOMINAL, size, count)

    def update(self, contacts: Sequence[ContactScene], origin: np.ndarray) -> None:
        """Draw contacts of the world relative to an origin (3,); none where there are none."""
        self._arrows.visible = bool(contacts)
        for batch in (self._cones, self._tips, self._discs, self._points):
            batch.visible = bool(contacts)
        if not contacts:
            return
        colors = np.array([style.STATE[c.state] for c in contacts], np.uint8)
        ends = np.array([(c.force.tail, c.force.tip) for c in contacts]) - origin
        short = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) < self._arrows.head_length
        ends[short] = _AWAY
        self._arrows.points, self._arrows.colors = ends.astype(np.float32), colors
        points = np.array([c.position for c in contacts]) - origin
        self._points.fill(points, np.full((self._count, 3), 0.025 * self._size), colors)
        self._fill_cones(contacts, origin, short, colors)
        self._fill_tips(contacts, origin, short)
        self._fill_discs(contacts, origin)

    def _fill_cones(self, contacts, origin, short, colors) -> None:
        scales = np.array([(c.cone.radius, c.cone.radius, c.cone.height) for c in contacts])
        scales[short] = 0.0
        self._cones.fill(np.array([c.cone.apex for c in contacts]) - origin, scales, colors)

    def _fill_tips(self, contacts, origin, short) -> None:
        scales = np.nan_to_num([c.tip.semi_axes for c in contacts])
        scales[short] = 0.0
        quats = np.array([wxyz(c.tip.quat) for c in contacts])
        centres = np.array([c.tip.centre for c in contacts]) - origin
        self._tips.fill(centres, scales, style.INTERVAL, quats)

    def _fill_discs(self, contacts, origin) -> None:
        radius, thickness = 0.08 * self._size, 0.008 * self._size
        places = np.array([(*c.position[:2], c.ground + 0.5 * thickness) for c in contacts])
        known = np.isfinite(places).all(axis=1)[:, None]
        scales = np.where(known, [radius, radius, thickness], 0.0)
        self._discs.fill(np.where(known, places - origin, 0.0), scales, style.TERRAIN)


class _Batch:
    """Equal meshes whose places, sizes and colours follow."""

    def __init__(self, scene, name: str, mesh, count: int, opacity: float | None):
        self._level = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (count, 1))
        self._handle = scene.add_batched_meshes_simple(
            name,
            np.asarray(mesh.vertices, np.float32),
            np.asarray(mesh.faces, np.uint32),
            self._level,
            np.zeros((count, 3), np.float32),
            batched_scales=np.zeros((count, 3), np.float32),
            batched_colors=_colors(style.STATE[ContactState.OPEN], count),
            opacity=opacity,
            lod="off",
            cast_shadow=False,
            receive_shadow=False,
        )

    @property
    def visible(self) -> bool:
        return self._handle.visible

    @visible.setter
    def visible(self, value: bool) -> None:
        self._handle.visible = value

    def fill(self, positions, scales, colors, quats=None) -> None:
        """Places (n, 3), sizes (n, 3), one colour or (n, 3), orientations (n, 4) wxyz."""
        handle, count = self._handle, len(positions)
        handle.batched_positions = positions.astype(np.float32)
        handle.batched_scales = scales.astype(np.float32)
        if quats is not None:
            handle.batched_wxyzs = quats.astype(np.float32)
        wanted = _colors(colors, count)
        if not np.array_equal(wanted, handle.batched_colors):
            handle.batched_colors = wanted


def arrows(scene, name: str, color: style.Color, size: float, count: int = 1):
    """Arrows for a robot of a size [m], out of sight at first."""
    return scene.add_arrows(
        name,
        np.tile(_AWAY, (count, 1, 1)),
        _colors(color, count),
        shaft_radius=0.016 * size,
        head_radius=0.036 * size,
        head_length=0.09 * size,
    )


def wxyz(quat: np.ndarray) -> np.ndarray:
    """Quaternion in viser's order, from xyzw."""
    return np.array([quat[3], quat[0], quat[1], quat[2]])


def _colors(color, count: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(color, np.uint8), (count, 3)).copy()
