# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Foot force sensors: raw counts or newtons per foot, with unknown gain and offset."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..declaration import param
from ..types import NO_DATA
from .message_fields import by_name
from .sensor import Aligned, Alignment, Block, Role, Sensor, Wearer
from .tracker import EstimationProblem, SlidingWindow

NAME = "foot_force"
FEWEST, REMEMBERED = 40, 400  # nodes from which a scale is learnt, at least and at most
# standard deviation that the forces of every foot must have, as a share of its part of the weight,
# and their correlation with the readings
LEAST_SPREAD, LEAST_CORRELATION = 0.4, 0.7
NOT_LIFTED = "feet have not been lifted"
UNLIKE = "readings do not change as the feet's forces do: are they in the order of the feet?"


@dataclass(frozen=True)
class FootForceSample:
    """One reading of all feet, in the order of `Robot.feet`."""

    stamp_ns: int
    force: np.ndarray  # (nf,) in the unit of the sensor


class Scale:
    """Initial calibration of `reading = gain F + offset` per foot, kept once it is known.

    Readings are compared with the vertical forces F that the window estimates without them. The
    gain is the ratio of their standard deviations, if both are correlated. A foot must have been
    lifted before its gain can be determined.

    Attributes:
        gain: (nf,) unit of the reading per newton; None while unknown. offset: (nf,) unit.
        lacks: why the gain is unknown.
    """

    def __init__(self, weight: float):
        self._least_spread = LEAST_SPREAD * weight
        self._pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=REMEMBERED)
        self.gain: np.ndarray | None = None
        self.offset: np.ndarray | None = None
        self.lacks = NOT_LIFTED

    def learn(self, reading: np.ndarray, force: np.ndarray) -> None:
        """Look at readings and vertical forces [N] of the feet at one node, (nf,) each."""
        if self.gain is not None:
            return
        self._pairs.append((reading, force))
        if len(self._pairs) < FEWEST:
            return
        readings, forces = (np.array(column) for column in zip(*self._pairs))
        spread, own = forces.std(axis=0), readings.std(axis=0)
        self.lacks = NOT_LIFTED
        if spread.min() < self._least_spread / forces.shape[1]:
            return
        self.lacks = UNLIKE
        if not own.min() > 0.0:
            return
        together = np.mean((readings - readings.mean(0)) * (forces - forces.mean(0)), axis=0)
        if np.min(together / (own * spread)) > LEAST_CORRELATION:
            self.gain = own / spread
            self.offset = readings.mean(axis=0) - self.gain * forces.mean(axis=0)
            self._pairs.clear()

    def newtons(self, reading: np.ndarray) -> np.ndarray:
        """Readings (nf,) as forces [N]."""
        return (reading - self.offset) / self.gain


class FootForceTracker:
    """Determines the unit of the sensor, then passes its readings to the nodes.

    Attributes:
        scale: of the readings.
    """

    def __init__(self, problem: EstimationProblem):
        self.problem = problem
        wearer = problem.sensors.wearer
        self.scale = Scale(wearer.weight)
        self._last: np.ndarray | None = None  # reading of the node before

    def reset(self) -> None:
        """The window begins anew; the unit of the sensor stays."""
        self._last = None

    def give(self, reading: Aligned | tuple, window: SlidingWindow) -> None:
        """Hand the readings of the step that has ended to the node before it."""
        if self._last is not None and window.size > 1 and self.scale.gain is None:
            self.scale.learn(self._last, window.foot_forces(-2))
        self._last = None
        if not isinstance(reading, Aligned):
            return
        self._last = reading.value
        if self.scale.gain is None:
            return
        noise, force = self.problem.config.noise, self.scale.newtons(reading.value)
        sampled = noise.foot_force / np.sqrt(reading.samples)
        stddev = np.hypot(sampled, noise.foot_force_share * np.abs(force))
        window.inputs[-2].set(NAME, force, 1.0 / stddev)

    def health(self) -> str:
        """What is wrong with the sensor; empty when nothing is."""
        if self._last is None:
            return NO_DATA
        return "" if self.scale.gain is not None else f"unit not known yet: {self.scale.lacks}"


class FootForce(Sensor):
    """Vertical force at each foot: a centred mean, as is the contact force.

    The unit is determined first (`Scale`); the remaining errors of gain and offset are parameters
    of each foot.
    """

    name = NAME
    sample = FootForceSample
    role = Role(("prime_estimation_msgs/msg/FootForces",), (NAME,), by_name_only=True)
    alignment = Alignment.CENTRED
    residuals = (NAME,)
    optional = True
    innovations = (NAME,)

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of one sample of foot force, and of its gain and offset."""

        foot_force: float = param(4.0, "foot force, one sample", "N", 1e-3, 1e4, tunable=True)
        foot_force_share: float = param(
            0.05, "error of foot force as a share of it", "", 0.0, 1.0, tunable=True
        )
        foot_force_gain: float = param(
            0.5, "initial gain of a foot force sensor (relative)", "", 1e-3, 5.0
        )
        foot_force_offset: float = param(50.0, "its initial offset", "N", 1e-3, 1e4)
        foot_force_walk: float = param(
            0.005, "random walk of its gain (relative)", "1/sqrt(s)", 0.0, 1.0, tunable=True
        )

    def width(self, wearer: Wearer) -> int:
        """One value per foot."""
        return len(wearer.feet)

    def values(self, sample: FootForceSample) -> np.ndarray:
        """The readings."""
        return np.asarray(sample.force, float)

    def read(self, message, stamp_ns: int, arrival_ns: int, wearer: Wearer) -> FootForceSample:
        """Readings of a message, by the names of the feet."""
        return FootForceSample(stamp_ns, *by_name(message, ("force",), wearer.feet, "reading"))

    def blocks(self, noise, wearer: Wearer) -> dict[str, Block]:
        """Relative error of the gain, and offset [N], of each foot after `Scale`."""
        return {
            "foot_force_gain": Block(noise.foot_force_gain, noise.foot_force_walk),
            "foot_force_offset": Block(noise.foot_force_offset),
        }

    def tracker(self, problem: EstimationProblem) -> FootForceTracker:
        """Learns the unit."""
        return FootForceTracker(problem)
