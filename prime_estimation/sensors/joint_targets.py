# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint targets of PD-controlled motors, which stand in for torque that nobody measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..declaration import param
from .message_fields import by_name
from .sensor import Alignment, Role, Sensor, Wearer

NAME = "joint_targets"
_FIELDS = ("position", "velocity", "effort", "stiffness", "damping")


@dataclass(frozen=True)
class TargetSample:
    """Targets of the motors, in force until the next ones; in the order of `Robot.joint_names`.

    tau = effort + stiffness (position - q) + damping (velocity - dq)
    """

    stamp_ns: int
    position: np.ndarray  # (nj,) rad
    velocity: np.ndarray  # (nj,) rad/s
    effort: np.ndarray  # (nj,) Nm
    stiffness: np.ndarray  # (nj,) Nm/rad
    damping: np.ndarray  # (nj,) Nm s/rad


@dataclass(frozen=True)
class HeldTargets:
    """Reading of a node whose torque was made of targets: mean gains over its kernel."""

    stiffness: np.ndarray  # (nj,) Nm/rad
    damping: np.ndarray  # (nj,) Nm s/rad


class JointTargets(Sensor):
    """Targets and gains of the motors, of prime_estimation_msgs/MotorCommands or LowCmd.

    With the measured positions and rates they give the torque where none is measured or
    commanded; it is known less well, for nobody measured what the motors made of it.
    """

    name = NAME
    sample = TargetSample
    role = Role(
        (
            "prime_estimation_msgs/msg/MotorCommands",
            "unitree_go/msg/LowCmd",
            "unitree_hg/msg/LowCmd",
        ),
        (NAME, "lowcmd", "motor_commands"),
        by_name_only=True,
    )
    alignment = Alignment.HELD
    optional = True

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of a torque that was made of targets."""

        joint_targets: float = param(
            1.0, "joint torque made of targets, in a node", "Nm", 1e-3, 1e3, tunable=True
        )
        joint_targets_share: float = param(
            0.05, "its error as a share of it", "", 0.0, 1.0, tunable=True
        )

    def width(self, wearer: Wearer) -> int:
        """Five values per joint."""
        return len(_FIELDS) * len(wearer.joint_names)

    def values(self, sample: TargetSample) -> np.ndarray:
        """All of them, one field after the other."""
        return np.concatenate([getattr(sample, name) for name in _FIELDS])

    def read(self, message, stamp_ns: int, arrival_ns: int, wearer: Wearer) -> TargetSample:
        """Targets of a message, by the names of the joints."""
        return TargetSample(stamp_ns, *by_name(message, _FIELDS, wearer.joint_names, "target"))
