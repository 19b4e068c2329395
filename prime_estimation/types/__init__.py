# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Data types of the package: samples, measurements, estimates; frozen, SI, frames in their names.

Conventions: time is int64 nanoseconds. Quaternions are xyzw. The base velocity is (linear, angular)
in the base frame, as Pinocchio's free-flyer has it. `_world` and `_base` name the axes a vector is
expressed in. Arrays over joints follow the order of `Robot.joint_names`, never the order of a wire
message. Arrays handed out are read-only.
"""

from .arrays import Array
from .contacts import CONTACT_SHARE, ContactEstimate, ContactState, FootEstimate
from .estimate import BodyInertia, Estimate, ExternalWrench, JointParameter
from .measurement import Measurement
from .samples import CommandSample, ImuSample, JointSample, PoseSample, Sample
from .status import NO_DATA, Activity, SensorHealth, SolverStatus

__all__ = [
    "CONTACT_SHARE",
    "NO_DATA",
    "Activity",
    "Array",
    "BodyInertia",
    "CommandSample",
    "ContactEstimate",
    "ContactState",
    "Estimate",
    "ExternalWrench",
    "FootEstimate",
    "ImuSample",
    "JointParameter",
    "JointSample",
    "Measurement",
    "PoseSample",
    "Sample",
    "SensorHealth",
    "SolverStatus",
]
