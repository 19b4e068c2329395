# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Case that the checks examine: recording, robot, and signals without the mistakes found so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..config.parameters import Config
from ..robot import Robot
from .finding import Finding
from .legs import Legs, Motion
from .misfit import standing
from .recording import Recording
from .signals import Signals

_INSTANTS = 400


@dataclass(frozen=True)
class Case:
    """A recording under examination.

    Attributes:
        recording, robot, config: as given.
        signals: what the streams say, corrected for what earlier checks have found; None where
            they are too short.
        mocap_delay: by how much the motion capture is late [s]; None: there is none, or it cannot
            be told.
        base_of_mocap: (3, 3) rotation of the tracked body in the base.
        carried: the feet carry the robot, so that dynamics can be compared.
        spoilt: streams, or "effort", with a fault that is not quite taken out: settings are not
            told from them.
    """

    recording: Recording
    robot: Robot
    config: Config
    signals: Signals | None
    mocap_delay: float | None = None
    base_of_mocap: np.ndarray = field(default_factory=lambda: np.eye(3))
    carried: bool = True
    spoilt: frozenset[str] = frozenset()

    def with_signals(self, signals: Signals) -> "Case":
        """The case with corrected signals."""
        return replace(self, signals=signals)

    def with_units(self, stream: str, factors: dict[str, float]) -> "Case":
        """The case with fields of a stream in the right unit."""
        recording = self.recording
        for name, factor in factors.items():
            recording = recording.scaled(stream, name, factor)
        return replace(self, recording=recording)

    def without(self, *streams: str) -> "Case":
        """The case with streams of which settings are not told."""
        return replace(self, spoilt=self.spoilt | set(streams))

    def uncarried(self) -> "Case":
        """The case of a robot whose feet do not carry it."""
        return replace(self, carried=False)

    def sound(self, *streams: str) -> bool:
        """None of the streams has a fault that is still in it."""
        return self.spoilt.isdisjoint(streams)

    @property
    def legged(self) -> bool:
        """A floating base with feet and an IMU, on which the mechanics of legs can be compared."""
        robot, signals = self.robot, self.signals
        floating = robot.config.floating_base and len(robot.feet) >= 2
        return (
            floating and robot.imu_joint is not None and getattr(signals, "gyro", None) is not None
        )

    @property
    def mocap_known(self) -> bool:
        """There is motion capture, and its clock can be compared."""
        return self.mocap_delay is not None

    @cached_property
    def legs(self) -> Legs:
        """Mechanics of the legs."""
        return Legs(self.robot)

    @cached_property
    def rows(self) -> np.ndarray:
        """Instants at which the mechanics are compared."""
        return self.signals.sampled(_INSTANTS)

    @cached_property
    def motion(self) -> Motion:
        """Motion at `rows`."""
        return self.legs.at(self.signals, self.rows)

    @cached_property
    def stands(self) -> np.ndarray:
        """(n, nf) feet that stand at `rows`."""
        return standing(self.legs, self.signals, self.motion, self.rows)


Verdict = tuple[Case, list[Finding]]
