# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A Go2 whose frames are turned in its URDF."""

import xml.etree.ElementTree as ET
from pathlib import Path

from prime_estimation.config.parameters import Config
from prime_estimation.robot import urdf_text


def turned_urdf(path: Path, **turns: str) -> Path:
    """The URDF with other angles `rpy` of some joints by name, written to a file."""
    root = ET.fromstring(urdf_text(Config.load("go2").robot))
    for joint, rpy in turns.items():
        root.find(f"joint[@name='{joint}']/origin").set("rpy", rpy)
    path.write_text(ET.tostring(root, encoding="unicode"))
    return path
