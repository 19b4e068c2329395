# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The RViz configuration for any robot: its topics, and its frames.

Its displays of forces are named after the feet of a Go2.
"""

from __future__ import annotations

import re

from ..config.parameters import Config

_FORCES = "/prime/wrench/"


def with_frames(rviz: str, world_frame: str, base_frame: str, prefix: str) -> str:
    """The text of the RViz configuration for a robot whose frames have other names, or a prefix."""
    text = re.sub(r"(?m)^(\s+Fixed Frame:) \S+$", rf"\1 {world_frame}", rviz)
    text = re.sub(r"(?m)^(\s+Target Frame:) \S+$", rf"\1 {base_frame}", text)
    link_prefix = prefix.rstrip("/")
    if link_prefix:
        model = r"(?m)^(\s+)- Class: rviz_default_plugins/RobotModel$"
        text = re.sub(model, rf"\g<0>\n\1  TF Prefix: {link_prefix}", text)
    return text


def shown(rviz: str, config: Config) -> dict[str, str]:
    """Topic to be shown (without namespace) by topic in the text of the RViz configuration.

    One foot of the robot per display.
    """
    topics = re.findall(r"Value: (/\S+)", rviz)
    feet = dict.fromkeys(contact.name.partition("/")[0] for contact in config.robot.contacts)
    forces = zip((t for t in topics if t.startswith(_FORCES)), (_FORCES + foot for foot in feet))
    return {**{topic: topic for topic in topics}, **dict(forces)}
