# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Every parameter, declared once: default, unit, range, meaning; a section of the YAML is a file.

YAML, ROS descriptors, docs and help derive from here.
"""

from .configuration import ROS_SECTIONS, Config
from .estimator import EstimatorConfig
from .node import NodeConfig
from .noise import ModelNoise, NoiseConfig
from .robot import ContactConfig, RobotConfig

__all__ = [
    "Config",
    "ContactConfig",
    "EstimatorConfig",
    "ModelNoise",
    "NodeConfig",
    "NoiseConfig",
    "ROS_SECTIONS",
    "RobotConfig",
]
