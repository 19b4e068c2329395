# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The socket for sensors: what one declaration says of a sensor, from its message to its residual.

A sensor is one file here and, where it has a residual of its own, one file below `src/residuals`.
Everything else asks the declaration: topics and message reading, alignment in time, configuration,
prior and random walk of its parameters, inputs of the nodes, health and innovation in the status.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..types import Measurement, Sample
    from .tracker import EstimationProblem, Gate, Tracker

# standard deviation of an instant in an interval, share of its length
INSTANT = 1.0 / math.sqrt(12.0)


@dataclass(frozen=True)
class Role:
    """A sensor's place among the topics.

    Attributes:
        types: message types that may fill it.
        names: usual names of its topic, the first one that of the live node.
        not_words: words that rule a topic out.
        by_name_only: a topic of another name is never taken for it.
    """

    types: tuple[str, ...]
    names: tuple[str, ...]
    not_words: tuple[str, ...] = ()
    by_name_only: bool = False


class Alignment(Enum):
    """Way in which the samples of a sensor become the readings of nodes.

    CENTRED: mean with triangular weight over [t_k - 2 dt, t_k], a reading of the node before;
    EVENTS: every sample by itself, to the node in whose past step it was taken, also when it comes
    late; HELD: in force until the next one, combined with the joints into torque; BUILT_IN: by the
    synchronizer itself, whose clock these streams are.
    """

    BUILT_IN = "built in"
    CENTRED = "centred"
    HELD = "held"
    EVENTS = "events"


@dataclass(frozen=True)
class Block:
    """Parameter block of a sensor.

    Attributes:
        prior: standard deviation. walk: per root of a second.
        lasting: of the sensor alone; an estimate that is lost does not lose it.
    """

    prior: float | np.ndarray
    walk: float = 0.0
    lasting: bool = False


@dataclass(frozen=True)
class Aligned:
    """Reading of a regular stream at a node: mean, number of independent samples in it."""

    value: np.ndarray
    samples: float


@dataclass(frozen=True)
class Wearer:
    """Facts that a sensor may know of the robot that carries it."""

    joint_names: Sequence[str]
    feet: Sequence[str]
    step: float  # s, between nodes
    weight: float = 0.0  # N, nominal
    joints: Any = None  # joint positions (nj,) to coordinates of the model


class Sensor:
    """Declaration of a sensor; a subclass overrides what it has.

    Attributes:
        name: in configuration, status, diagnostics, and as key of `Measurement.readings`.
        sample: type of the samples that its messages become; one of its own where it is optional.
        role: its topic; None for a sensor that other messages carry.
        alignment: how samples become readings. `width`: values of a sample of a regular stream.
        residuals: residuals of the core that it fills; one that is named twice takes two readings
            a node.
        optional: it adds parameters or rows only where it is asked for.
        framed: it tells place or heading in a frame of its own, which its tracker keeps.
        innovations: rows whose mean square is its normalized innovation.
        wait_ns: how late a sample of an event sensor may come [ns].
    """

    name: str = ""
    sample: type | None = None
    role: Role | None = None
    alignment: Alignment = Alignment.BUILT_IN
    residuals: tuple[str, ...] = ()
    optional: bool = False
    framed: bool = False
    innovations: tuple[str, ...] = ()
    wait_ns: int = 50_000_000

    @dataclass(frozen=True)
    class Noise:
        """Parameters of the sensor, part of the section `noise` of the configuration."""

    def width(self, wearer: Wearer) -> int:
        """Values of one sample of a regular stream."""
        return 0

    def values(self, sample: Sample) -> np.ndarray:
        """All numbers of a sample; those of a regular stream are what is averaged."""
        raise NotImplementedError

    def read(self, message, stamp_ns: int, arrival_ns: int, wearer: Wearer) -> Sample:
        """Sample of a message of this role; ValueError says why it is refused."""
        raise NotImplementedError

    def blocks(self, noise, wearer: Wearer) -> Mapping[str, Block]:
        """Prior and random walk of its parameter blocks."""
        return {}

    def seen(self, m: Measurement) -> bool:
        """Whether a measurement holds a reading of it."""
        return self.name in m.readings

    def remark(self, m: Measurement) -> str:
        """What a user should know of its readings although they are used; empty when nothing."""
        return ""

    def give_state(self, given, m: Measurement, noise, wearer: Wearer) -> None:
        """Hand the readings about the node at `m.stamp_ns` to its input `given`."""

    def give_step(self, given, m: Measurement, noise) -> None:
        """Hand the readings about the step before `m.stamp_ns` to the input of the node before."""

    def give_event(self, given, slot: int, sample: Sample, stamp_ns: int, noise) -> None:
        """Hand a sample that was taken within the step that ends at `stamp_ns` to that node."""

    def tracker(self, problem: EstimationProblem) -> Tracker | None:
        """What keeps the sensor's frame or unit beside a sliding window, where it needs that."""
        return None

    def gate(self, problem: EstimationProblem) -> Gate | None:
        """What tells outliers among the samples of an event sensor without tracker."""
        return None


@dataclass(frozen=True)
class SensorSet:
    """The sensors of one estimation problem, in order.

    Attributes:
        sensors: all of them. wearer: the robot that carries them.
    """

    sensors: tuple[Sensor, ...]
    wearer: Wearer = field(default_factory=lambda: Wearer((), (), 0.01))

    def __iter__(self):
        return iter(self.sensors)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(s.name for s in self.sensors)

    @property
    def residuals(self) -> list[str]:
        """Residuals of the core, in order."""
        return [r for s in self.sensors for r in s.residuals]

    @cached_property
    def event_sensors(self) -> tuple[Sensor, ...]:
        """Those whose samples go to nodes one by one."""
        return tuple(s for s in self.sensors if s.alignment is Alignment.EVENTS)
