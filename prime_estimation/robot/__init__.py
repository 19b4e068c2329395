# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots: URDF and names to a model, its joints' losses, contacts and sensors."""

from .model import GRAVITY
from .robot import Robot
from .signed_axes import axis_names, signed_axes
from .urdf import mesh_path, urdf_path, urdf_text
from .urdf_source import urdf_source

__all__ = [
    "GRAVITY",
    "Robot",
    "axis_names",
    "mesh_path",
    "signed_axes",
    "urdf_path",
    "urdf_source",
    "urdf_text",
]
