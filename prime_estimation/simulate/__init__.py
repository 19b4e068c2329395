# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Simulated robots (MuJoCo) under a controller of ours.

They make bags with sensor noise and ground truth.
"""

from .archive import run
from .ground import Ground
from .motion import MOTIONS, Motion
from .payload import Payload
from .push import Push
from .recording import Recording, simulate
from .sensors import FAULTS, SensorFaults
from .world import SimulationError

__all__ = [
    "FAULTS",
    "MOTIONS",
    "Ground",
    "Motion",
    "Payload",
    "Push",
    "Recording",
    "SensorFaults",
    "SimulationError",
    "run",
    "simulate",
]
