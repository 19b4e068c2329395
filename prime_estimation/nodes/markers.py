# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Estimated inertia for RViz.

Each body as the solid ellipsoid of the same mass and inertia, in its link's frame.
"""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin

from ..io.inertia_messages import inertia_parameters
from ..transport.base import Qos, Transport
from .inertia_listener import TOPIC, TYPE
from .periodic import Periodic

STATUS = "prime/status", "prime_estimation_msgs/msg/EstimatorStatus"
PERIOD_S = 0.5  # at which silence is looked for
SILENT_S = 1.0  # without an estimate, after which what was said of the inertia is of the past
_SURE, _UNSURE = (0.1, 0.6, 0.2), (0.7, 0.7, 0.7)


class MarkersNode(Periodic):
    """In `prime/inertial_parameters`, `prime/status`, out `~/inertia`.

    The latter is a visualization_msgs/MarkerArray. Green when observable, grey when not, and while
    there are no estimates: the last message says nothing about now. A body whose inertia is that of
    no physical body, or that is estimated no more, has its marker deleted: RViz would show its last
    one for ever.

    Args:
        transport: where topics live.
        frame_prefix: that of the estimator, before the names of links.
    """

    def __init__(self, transport: Transport, frame_prefix: str = ""):
        super().__init__(PERIOD_S, "silence")
        self._make, self._prefix = transport.make, frame_prefix
        self._send = transport.publish(
            "~/inertia", "visualization_msgs/msg/MarkerArray", Qos.LATCHED
        )
        self._count = 0  # bodies of the message before
        self._said, self._grey, self._estimated_at = None, False, time.monotonic()
        transport.subscribe(*STATUS, self._on_status, Qos.SENSOR)
        transport.subscribe(TOPIC, TYPE, self._on_message, Qos.LATCHED)

    def _on_status(self, message, _arrival_ns: int) -> None:
        if message.window_nodes:  # there is an estimate
            self._estimated_at = time.monotonic()

    def _on_message(self, message, _arrival_ns: int) -> None:
        self._estimated_at, self._said, self._grey = time.monotonic(), message, False
        self._draw(message)

    def _work(self) -> None:
        """Say that what is drawn has become a thing of the past, or is not any more."""
        grey, said = time.monotonic() - self._estimated_at > SILENT_S, self._said
        if said is not None and grey != self._grey:
            self._grey = grey
            self._draw(said)

    def _draw(self, message) -> None:
        header, bodies = message.header, message.bodies
        markers = [self._marker(header, k, body) for k, body in enumerate(bodies)]
        gone = range(len(bodies), self._count)
        markers += [self._deleted(header, k, self._prefix) for k in gone]
        self._count = len(bodies)
        self._send(self._make("visualization_msgs/msg/MarkerArray")(markers=markers))

    def _marker(self, header, number: int, body):
        """Marker of a body: its ellipsoid, or that there is none any more."""
        frame = self._prefix + body.link
        shape = ellipsoid(inertia_parameters(body.inertia))
        if shape is None:
            return self._deleted(header, number, frame)
        color = _SURE if body.observable and not self._grey else _UNSURE
        return self._filled(header, number, frame, *shape, color, "ADD")

    def _deleted(self, header, number: int, frame: str):
        """Marker that takes the one of this number away; RViz looks at nothing else in it."""
        centre, quaternion, size = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3)
        return self._filled(header, number, frame, centre, quaternion, size, _UNSURE, "DELETE")

    def _filled(self, header, number, frame, centre, quaternion, size, color, action: str):
        """Sphere with semi-axes `size` [m]; `action`: the constant of visualization_msgs/Marker."""
        make, kind = self._make, self._make("visualization_msgs/msg/Marker")
        vector, point = make("geometry_msgs/msg/Vector3"), make("geometry_msgs/msg/Point")
        red, green, blue = color
        x, y, z, w = (float(v) for v in quaternion)
        pose = make("geometry_msgs/msg/Pose")(
            position=point(x=float(centre[0]), y=float(centre[1]), z=float(centre[2])),
            orientation=make("geometry_msgs/msg/Quaternion")(x=x, y=y, z=z, w=w),
        )
        return kind(
            header=make("std_msgs/msg/Header")(stamp=header.stamp, frame_id=frame),
            ns="inertia",
            id=number,
            type=kind.SPHERE,
            action=getattr(kind, action),
            pose=pose,
            scale=vector(x=float(2.0 * size[0]), y=float(2.0 * size[1]), z=float(2.0 * size[2])),
            color=make("std_msgs/msg/ColorRGBA")(r=red, g=green, b=blue, a=0.4),
            frame_locked=True,
            **_unused_fields(make, header),
        )


def _unused_fields(make, header) -> dict:
    """Fields of a marker that a sphere does not use."""
    mesh = make("visualization_msgs/msg/MeshFile")(filename="", data=np.zeros(0, np.uint8))
    return dict(
        lifetime=make("builtin_interfaces/msg/Duration")(sec=0, nanosec=0),
        points=[],
        colors=[],
        texture_resource="",
        texture=_empty_image(make, header),
        uv_coordinates=[],
        text="",
        mesh_resource="",
        mesh_file=mesh,
        mesh_use_embedded_materials=False,
    )


def ellipsoid(parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Centre, orientation (xyzw) and semi-axes [m] of the solid ellipsoid of a 10-vector.

    `a_i^2 = 5/(2 m) (I_j + I_k - I_i)` of the principal moments; None when there is no such body.
    """
    if not np.isfinite(parameters).all() or parameters[0] <= 0.0:
        return None
    inertia = pin.Inertia.FromDynamicParameters(parameters)
    moments, rotation = np.linalg.eigh(inertia.inertia)
    squares = 2.5 / inertia.mass * (moments.sum() - 2.0 * moments)
    if squares.min() <= 0.0:
        return None
    rotation[:, 2] = np.cross(rotation[:, 0], rotation[:, 1])  # eigenvectors may be left-handed
    return inertia.lever.copy(), pin.Quaternion(rotation).coeffs().copy(), np.sqrt(squares)


def _empty_image(make, header):
    return make("sensor_msgs/msg/CompressedImage")(
        header=header, format="", data=np.zeros(0, np.uint8)
    )
