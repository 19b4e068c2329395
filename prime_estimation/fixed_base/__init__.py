# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters of a fixed-base machine, estimated together with its motion.

Inertia, friction, motors, tilt, from joint positions and torques; no rates or accelerations needed.
"""

from .bag import read_bag
from .basis import Basis, Leapfrog, Spline
from .estimate import Estimate, estimate, validate
from .machine import Machine
from .noise import noise_levels
from .notices import notices
from .payload import Payload
from .recording import JointRecording
from .segment import Weights

__all__ = [
    "Basis",
    "Estimate",
    "JointRecording",
    "Leapfrog",
    "Machine",
    "Payload",
    "Spline",
    "Weights",
    "estimate",
    "noise_levels",
    "notices",
    "read_bag",
    "validate",
]
