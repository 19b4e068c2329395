# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Interface of sensors: one declaration describes a sensor from its message to its residual.

A sensor is one file here and, if it has a residual of its own, one file below `src/residuals`.
Everything else follows from the declaration: topics and message reading, alignment in time,
configuration, prior and random walk of its parameters, inputs of the nodes, health and innovation
in the status.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError

if TYPE_CHECKING:
    from ..types import Measurement, Sample
    from .tracker import EstimationProblem, Gate, Tracker

# standard deviation of an unknown instant in an interval, as a share of its length
INSTANT = 1.0 / math.sqrt(12.0)
READ_SELDOM = "read every {:.0f} ms only: what falls between is not seen"


@dataclass(frozen=True)
class Role:
    """Topic of a sensor.

    Attributes:
        types: accepted message types.
        names: usual names of the topic; the first one is that of the live node.
        not_words: words that exclude a topic.
        by_name_only: only a topic with one of these names is accepted.
    """

    types: tuple[str, ...]
    names: tuple[str, ...]
    not_words: tuple[str, ...] = ()
    by_name_only: bool = False


class Alignment(Enum):
    """Way in which the samples of a sensor become readings of nodes.

    CENTRED: mean with triangular weight over [t_k - 2 dt, t_k], a reading of the previous node.
    EVENTS: every sample is given to the node in whose past step it was taken, even if it is late.
    HELD: a sample is valid until the next one, and is combined with the joints into a torque.
    BUILT_IN: by the synchronizer itself, whose clock these streams define.
    """

    BUILT_IN = "built in"
    CENTRED = "centred"
    HELD = "held"
    EVENTS = "events"


@dataclass(frozen=True)
class Block:
    """Parameter block of a sensor.

    Attributes:
        prior: standard deviation. walk: random walk, per sqrt(s).
        lasting: a property of the sensor alone, which is kept when the estimate is lost.
    """

    prior: float | np.ndarray
    walk: float = 0.0
    lasting: bool = False


@dataclass(frozen=True)
class Aligned:
    """Reading of a regular stream at a node: mean, and number of independent samples in it."""

    value: np.ndarray
    samples: float


@dataclass(frozen=True)
class Wearer:
    """Properties of the robot that its sensors may use."""

    joint_names: Sequence[str]
    feet: Sequence[str]
    step: float  # s, between nodes
    weight: float = 0.0  # N, nominal
    joints: Any = None  # joint positions (nj,) to coordinates of the model


class Sensor:
    """Declaration of a sensor; a subclass overrides what it has.

    Attributes:
        name: in configuration, status, diagnostics, and as key of `Measurement.readings`.
        sample: type of its samples; an optional sensor has a type of its own.
        role: its topic; None if its readings are part of other messages.
        alignment: how samples become readings. `width`: number of values in a sample of a regular
            stream.
        residuals: residuals of the core that it fills; one that is named twice takes two readings
            per node.
        optional: used only on request.
        framed: measures position or heading in a frame of its own, which its tracker keeps.
        innovations: rows whose mean square is its normalized innovation.
        wait_ns: how late a sample of an event sensor may arrive [ns].
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
        """All numbers of a sample; for a regular stream, those that are averaged."""
        raise NotImplementedError

    def read(self, message, stamp_ns: int, arrival_ns: int, wearer: Wearer) -> Sample:
        """Make a sample of a message of this role; ValueError gives the reason of a refusal."""
        raise NotImplementedError

    def blocks(self, noise, wearer: Wearer) -> Mapping[str, Block]:
        """Prior and random walk of its parameter blocks."""
        return {}

    def seen(self, m: Measurement) -> bool:
        """Whether a measurement contains a reading of this sensor."""
        return self.name in m.readings

    def remark(self, m: Measurement) -> str:
        """Remark for the user about readings that are used; empty if there is none."""
        return ""

    def give_state(self, given, m: Measurement, noise, wearer: Wearer) -> None:
        """Add readings of the node at `m.stamp_ns` to its input `given`."""

    def give_step(self, given, m: Measurement, noise) -> None:
        """Add readings of the step that ends at `m.stamp_ns` to the input of the previous node."""

    def give_event(self, given, slot: int, sample: Sample, stamp_ns: int, noise) -> None:
        """Add a sample that was taken within the step that ends at `stamp_ns` to that node."""

    def tracker(self, problem: EstimationProblem) -> Tracker | None:
        """Make the tracker that keeps the sensor's frame or unit; None if it needs none."""
        return None

    def gate(self, problem: EstimationProblem) -> Gate | None:
        """Make the gate that refuses outliers of an event sensor without tracker; None: no gate."""
        return None


def check_arrays(name: str, sample: Sample, **lengths: int) -> None:
    """Check the fields of an event sensor's sample, which its tracker or gate reads as they are.

    Args:
        name: of the sensor.
        sample: what was handed in.
        lengths: numbers that each field must have.

    Raises:
        DataError: one is no array of so many numbers.
    """
    for part, length in lengths.items():
        value = getattr(sample, part)
        if isinstance(value, np.ndarray) and value.shape == (length,) and value.dtype.kind in "fiu":
            continue
        got = f"an array {value.shape}" if isinstance(value, np.ndarray) else f"{value!r:.40}"
        what = f"{part} of a {name} sample must be an array of {length} numbers, got {got}"
        raise DataError(what, sample)


def take_back(given, rows: str, slot: int = 0) -> None:
    """Make a reading of the input of a node absent; `rows`: name of its residual."""
    value, weight = given.value(rows, slot), given.weight(rows, slot)
    given.set(rows, value, np.zeros(len(weight)), given.age(rows, slot), slot)


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
