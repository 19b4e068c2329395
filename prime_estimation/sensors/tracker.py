# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Trackers and gates: what keeps a sensor's frame or unit, and what refuses its outliers.

Both look at the sliding window, which lives in a room above this one. The protocols below name the
part of window and problem that they may use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import pinocchio as pin

if TYPE_CHECKING:
    from ..types import Sample
    from .frames import WorldMotion
    from .sensor import Aligned, SensorSet


@runtime_checkable
class EstimationProblem(Protocol):
    """Part of the estimation problem (`mhe.problem.Problem`) that sensors may use.

    Attributes:
        robot: model and names. config: noise and window. sensors: those of the problem.
        noise: levels in use.
        layout: named parts of a state x and of its tangent. ndx: size of the tangent.
        has_imu: the robot's IMU is part of the problem. mount: pose of the IMU on the robot.
        measurements: measurement model. process: disturbances of the nodes.
    """

    robot: Any
    config: Any
    noise: Any
    sensors: SensorSet
    layout: Any
    ndx: int
    has_imu: bool
    mount: Any
    measurements: Any
    process: Any

    def columns(self, name: str) -> slice:
        """Tangent slice of a part of the state."""

    def parameter(self, x: np.ndarray, name: str) -> np.ndarray:
        """View of a part of a state x (nx,)."""

    def imu_motion(self, x: np.ndarray) -> tuple[pin.SE3, pin.Motion]:
        """Pose of the IMU in the base, and its twist relative to the base, at a state x (nx,)."""


@runtime_checkable
class SlidingWindow(Protocol):
    """Part of the sliding window (`mhe.window.Window`) that trackers and gates may use.

    Attributes:
        inputs: inputs of the N running nodes and of the head. stamps: their times [ns].
        xs: their smoothed states (nx,). size: N.
        arrival: arrival node; its `reference` is where the prior of the first state is linearized.
    """

    inputs: list
    stamps: list[int]
    xs: list[np.ndarray]
    size: int
    arrival: Any

    def foot_forces(self, k: int = -1) -> np.ndarray:
        """(nf,) vertical forces [N] at the feet at running node k."""

    def tie(
        self,
        name: str,
        elements: list[int],
        rows: np.ndarray,
        value: np.ndarray,
        stddev: np.ndarray,
    ) -> None:
        """Replace the prior of some elements of a parameter block, and set them to its mean."""


@runtime_checkable
class Tracker(Protocol):
    """Keeps the frame or unit of a sensor, and hands its readings to the nodes of a window.

    The tracker of a sensor without rows has an `innovation`, a mean square: 1 is consistent.
    """

    def reset(self) -> None:
        """Forget everything: the window begins anew."""

    def give(self, readings: Sequence[Sample] | Aligned, window: SlidingWindow) -> None:
        """Hand new readings to the nodes of a window that has been shifted and not solved yet."""

    def health(self) -> str:
        """What is wrong with the sensor; empty when nothing is."""


@runtime_checkable
class Gate(Protocol):
    """Refuses outliers among the readings of a sensor.

    Attributes:
        refused: number of refused readings.
        moved: motion of the world that the newest readings show, until the window has been moved by
            it; None: none.
    """

    refused: int
    moved: WorldMotion | None

    def reset(self) -> None:
        """Forget what was seen: the window begins anew."""

    def passes(self, sample: Sample, window: SlidingWindow) -> bool:
        """Whether a reading may be used in a window that has been shifted and not solved yet."""

    def remark(self) -> str:
        """What was refused so far; empty when nothing."""
