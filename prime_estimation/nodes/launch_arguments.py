# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the launch files share."""

from __future__ import annotations

from ..config.files import built_in_robots, is_yaml


class RobotChoices(list):
    """Choices of a launch argument.

    The robots that come with the package, or any path of a robot's YAML file.
    """

    def __init__(self):
        super().__init__([*built_in_robots(), "PATH.yaml"])

    def __contains__(self, value: object) -> bool:
        return super().__contains__(value) or is_yaml(str(value))
