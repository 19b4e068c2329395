# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Status of an estimate: activity of the robot, health of sensors, figures of the solver."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Activity(IntEnum):
    """Activity of a robot, numbered as in `prime_estimation_msgs/EstimatorStatus.activity`."""

    UNKNOWN = 0
    LYING = 1  # on its belly, legs folded
    STANDING = 2
    WALKING = 3
    SUSPENDED = 4  # held by something else than the ground
    FALLING = 5
    FALLEN = 6  # on its side or back

    @property
    def base_contact(self) -> bool:
        """The trunk lies on the ground."""
        return self in (Activity.LYING, Activity.FALLEN)


NO_DATA = "no data"  # how the message of a silent sensor begins


@dataclass(frozen=True)
class SensorHealth:
    """State of one sensor, or of an assumption of the estimator (`robot`, `feet`, `base`...).

    `normalized_innovation`: mean square of its whitened innovations, 1 is consistent, NaN no data.
    """

    name: str
    ok: bool = True
    message: str = ""  # what is wrong; empty when nothing is
    normalized_innovation: float = float("nan")

    def __str__(self) -> str:
        return f"{self.name}: {self.message}" if self.message else self.name


@dataclass(frozen=True)
class SolverStatus:
    """Solver figures of the last window update, and counts since the start."""

    solve_time_ms: float
    latency_ms: float  # from the stamp's data being complete to the estimate being ready
    iterations: int
    cost: float
    feasibility: float  # largest gap of the dynamics [mixed SI]
    window_nodes: int
    overruns: int = 0
    dropped_samples: int = 0
    restarts: int = 0
    refused_steps: int = 0
    sensors: tuple[SensorHealth, ...] = ()
