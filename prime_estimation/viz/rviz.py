# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The topics of the RViz configuration, for any robot.

Its displays of forces are named after the feet of a Go2.
"""

from __future__ import annotations

import re

from ..config.parameters import Config

_FORCES = "/prime/wrench/"


def shown(rviz: str, config: Config) -> dict[str, str]:
    """Topic to be shown (without namespace) by topic in the text of the RViz configuration.

    One foot of the robot per display.
    """
    topics = re.findall(r"Value: (/\S+)", rviz)
    feet = dict.fromkeys(contact.name.partition("/")[0] for contact in config.robot.contacts)
    forces = zip((t for t in topics if t.startswith(_FORCES)), (_FORCES + foot for foot in feet))
    return {**{topic: topic for topic in topics}, **dict(forces)}
