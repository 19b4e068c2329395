# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact flags: 1 for each foot that stands and 0 for the others, with a probability of error."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..declaration import param
from ..errors import DataError
from ..types import CONTACT_SHARE, NO_DATA
from .flag_edges import FlagEdges
from .message_fields import by_name
from .sensor import Aligned, Alignment, Role, Sensor, Wearer
from .tracker import EstimationProblem, SlidingWindow

NAME = "contact_flags"
NO_FLAGS = "contact flags are 0 or 1; are these forces, for topic foot_force?"
DECIDED = 0.1  # a mean of flags so near to 0 or 1 is no touch-down
DEBOUNCED = 3  # nodes whose median counts: one wrong flag puts no foot down
SMOOTHING = 0.01  # share of the newest node in the frequency of contradictions
DOUBT, DOUBT_NODES = 0.2, 100  # frequency of contradictions that is said, and after how many


@dataclass(frozen=True)
class FlagSample:
    """Flags of all feet, in the order of `Robot.feet`."""

    stamp_ns: int
    stands: np.ndarray  # (nf,) 0 or 1, or the probability of standing


def carrying(stands: np.ndarray, error: float | np.ndarray) -> np.ndarray:
    """Probability (nf,) that a foot carries: `e + (1 - 2 e) stands`.

    Args:
        stands: (nf,) flags, or their mean over a node, in [0, 1].
        error: probability e that a flag is wrong, one number or by foot.
    """
    return error + (1.0 - 2.0 * np.asarray(error)) * stands


class FlagTracker:
    """Computes from its flags how likely each foot is loaded, and compares flags with forces.

    The flags of a foot that contradict the forces from torques get less weight: the probability of
    an error is the configured one, or the frequency of contradictions if that is larger.

    Attributes:
        probability: (nf,) of being loaded at the newest complete node; 1/2 if nothing is known.
    """

    def __init__(self, problem: EstimationProblem):
        self.problem = problem
        self._feet = problem.sensors.wearer.feet
        self._least = CONTACT_SHARE * problem.sensors.wearer.weight
        self._wrong, self._seen = np.zeros(len(self._feet)), np.zeros(len(self._feet), int)
        self._edges = FlagEdges(problem, len(self._feet))
        self.reset()

    def reset(self) -> None:
        """The window begins anew; how often flags were wrong stays."""
        self._last: np.ndarray | None = None  # flags of the newest complete node
        self._recent: deque[np.ndarray] = deque(maxlen=DEBOUNCED)
        self.probability = np.full(len(self._feet), 0.5)
        self._edges.reset()

    def give(self, reading: Aligned | tuple, window: SlidingWindow) -> None:
        """Take the flags of the step that has ended."""
        if self.known and window.size > 1 and window.inputs[-3].weighed:
            self.compare(self._last, window.foot_forces(-2))
        if not isinstance(reading, Aligned):
            self.reset()
            return
        self._last = np.clip(reading.value, 0.0, 1.0)
        self._recent.append(self._last)
        self.probability = carrying(np.median(self._recent, axis=0), self.error)
        self._edges.see(self._last, window)

    def compare(self, stands: np.ndarray, force: np.ndarray) -> None:
        """Look whether decided flags (nf,) agree with the vertical forces (nf,) [N] of a node."""
        decided = np.minimum(stands, 1.0 - stands) < DECIDED
        self._seen += decided
        share = np.maximum(SMOOTHING, 1.0 / np.maximum(self._seen, 1))
        wrong = (stands > 0.5) != (force > self._least)
        self._wrong = np.where(decided, self._wrong + share * (wrong - self._wrong), self._wrong)

    @property
    def known(self) -> bool:
        """Flags came with the newest complete node."""
        return self._last is not None

    @property
    def odds(self) -> np.ndarray:
        """(nf,) how much likelier each foot carries than not."""
        return self.probability / (1.0 - self.probability)

    @property
    def error(self) -> np.ndarray:
        """(nf,) probability that a flag is wrong."""
        declared = self.problem.config.noise.contact_flag_error
        often = np.where(self._seen >= DOUBT_NODES, self._wrong, 0.0)
        return np.clip(often, declared, 0.5)

    @property
    def innovation(self) -> float:
        """Frequency of contradictions by the declared error; NaN: none compared."""
        seen = self._seen > 0
        declared = self.problem.config.noise.contact_flag_error
        return float(np.mean(self._wrong[seen]) / declared) if seen.any() else float("nan")

    def health(self) -> str:
        """What is wrong with the flags; empty when nothing is."""
        if not self.known:
            return NO_DATA
        doubted = (self._wrong > DOUBT) & (self._seen >= DOUBT_NODES)
        parts = [f"{self._feet[f]} {100 * self._wrong[f]:.0f} %" for f in np.flatnonzero(doubted)]
        return f"contradict the forces in {', '.join(parts)} of the nodes" if parts else ""


class ContactFlagSensor(Sensor):
    """Contact flags of a controller or of switches: evidence that a foot carries, or not.

    Where torque is missing they tell which feet carry the robot; beside torque they are compared
    with the forces only, which know more.
    """

    name = NAME
    sample = FlagSample
    role = Role(("prime_estimation_msgs/msg/FootForces",), ("contacts",), by_name_only=True)
    alignment = Alignment.CENTRED
    optional = True

    @dataclass(frozen=True)
    class Noise:
        """Reliability of contact flags."""

        contact_flag_error: float = param(
            0.05, "probability that a contact flag is wrong", "", 1e-4, 0.5, tunable=True
        )

    def width(self, wearer: Wearer) -> int:
        """One flag per foot."""
        return len(wearer.feet)

    def values(self, sample: FlagSample) -> np.ndarray:
        """The flags; DataError where they are none, as forces are."""
        stands = np.asarray(sample.stands, float)
        if _are_forces(stands):
            raise DataError(NO_FLAGS, sample)
        return stands

    def read(self, message, stamp_ns: int, arrival_ns: int, wearer: Wearer) -> FlagSample:
        """Flags of a message, by the names of the feet."""
        (stands,) = by_name(message, ("force",), wearer.feet, "flag")
        if _are_forces(stands):
            raise ValueError(NO_FLAGS)
        return FlagSample(stamp_ns, stands)

    def tracker(self, problem: EstimationProblem) -> FlagTracker:
        """Keeps the probabilities."""
        return FlagTracker(problem)


def _are_forces(stands: np.ndarray) -> bool:
    """Whether values (nf,) lie beyond those of flags."""
    return stands.size > 0 and bool(stands.min() < 0.0 or stands.max() > 1.0)
