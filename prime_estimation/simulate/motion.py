# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motions that the simulated robot is asked for.

Gaits (which foot stands when) and commands over time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from ..errors import ConfigError
from ..robot import GRAVITY


@dataclass(frozen=True)
class Command:
    """Walking velocity in the heading frame, and pose of the trunk relative to upright."""

    velocity: np.ndarray = field(default_factory=lambda: np.zeros(2))  # (2,) m/s
    yaw_rate: float = 0.0  # rad/s
    # (x, y, z, roll, pitch, yaw), m and rad
    body: np.ndarray = field(default_factory=lambda: np.zeros(6))
    body_rate: np.ndarray = field(default_factory=lambda: np.zeros(6))
    body_acceleration: np.ndarray = field(default_factory=lambda: np.zeros(6))


@dataclass(frozen=True)
class Gait:
    """A periodic schedule; foot i stands while `(t/period + offset_i) mod 1 < duty`.

    Without a period all feet stand always.

    `offsets` maps the nominal foot position (x, y) in the base frame to its phase.
    `hop` is the vertical speed at lift-off [m/s] of a gait with a flight phase (0: none).
    """

    period: float = 0.0
    duty: float = 1.0
    offset: Callable[[float, float], float] = lambda x, y: 0.0
    hop: float = 0.0

    def phase(self, t: float, foot: np.ndarray) -> float:
        """Phase in [0, 1) of the foot with this nominal position."""
        return (t / self.period + self.offset(foot[0], foot[1])) % 1.0 if self.period else 0.0

    def vertical(self, t: float) -> np.ndarray:
        """Offset, rate, acceleration of the trunk's height: parabolas in stance and in flight."""
        if not self.hop:
            return np.zeros(3)
        s, stance = (t % self.period), self.duty * self.period
        if s < stance:
            a = 2 * self.hop / stance
            return np.array([-self.hop * s + 0.5 * a * s * s, -self.hop + a * s, a])
        s -= stance
        return np.array([self.hop * s - 0.5 * GRAVITY * s * s, self.hop - GRAVITY * s, -GRAVITY])


STAND = Gait()
STEP = Gait(period=1.1, duty=0.62)
TROT = Gait(period=0.42, duty=0.6, offset=lambda x, y: 0.0 if x * y > 0 else 0.5)


def hopping(speed: float, stance: float) -> Gait:
    """Hop: `stance` seconds on the ground, then a flight by the lift-off speed [m/s]."""
    flight = 2 * speed / GRAVITY
    return Gait(period=stance + flight, duty=stance / (stance + flight), hop=speed)


class Script:
    """Smooth random commands.

    Each channel glides between seeded targets inside its range, starting from zero.

    Args:
        low, high: (9,) range of vx, vy, yaw rate, and of the trunk's x, y, z, roll, pitch, yaw
            offsets.
        hold: s between targets of the velocities, and of the trunk.
    """

    def __init__(self, low, high, hold: tuple[float, float], seed: int):
        self.low, self.high, self.hold = np.array(low, float), np.array(high, float), hold
        self.seed = seed
        self._targets: dict[tuple[int, int], np.ndarray] = {}

    def __call__(self, t: float) -> Command:
        """Command at time t [s]."""
        h = 2e-3
        before, now, after = (self._raw(t + d) for d in (-h, 0.0, h))
        rate, acceleration = (after - before) / (2 * h), (after - 2 * now + before) / h**2
        return Command(now[:2], float(now[2]), now[3:], rate[3:], acceleration[3:])

    def _raw(self, t: float) -> np.ndarray:
        return np.concatenate(
            [
                self._glide(t, slice(0, 3), self.hold[0], 0),
                self._glide(t, slice(3, 9), self.hold[1], 1),
            ]
        )

    def _glide(self, t: float, channels: slice, hold: float, stream: int) -> np.ndarray:
        k = int(np.floor(t / hold))
        s = t / hold - k
        blend = s**3 * (10 - 15 * s + 6 * s * s)
        a, b = self._target(k, channels, stream), self._target(k + 1, channels, stream)
        return a + blend * (b - a)

    def _target(self, k: int, channels: slice, stream: int) -> np.ndarray:
        if (k, stream) not in self._targets:
            low, high = self.low[channels], self.high[channels]
            drawn = np.random.default_rng([self.seed, stream, max(k, 0)]).uniform(low, high)
            self._targets[k, stream] = drawn if k > 0 else np.zeros(len(low))
        return self._targets[k, stream]


@dataclass(frozen=True)
class Motion:
    """A named motion: its gait, and the range of its commands."""

    doc: str
    gait: Gait
    low: tuple[float, ...]
    high: tuple[float, ...]
    hold: tuple[float, float] = (1.5, 0.6)

    def script(self, seed: int, scale: float = 1.0) -> Script:
        """The commands over time, their ranges times `scale`."""
        return Script(scale * np.array(self.low), scale * np.array(self.high), self.hold, seed)


_TRUNK = (0.0, 0.0, 0.02, 0.07, 0.07, 0.0)
_SWAY = (0.05, 0.04, 0.045, 0.22, 0.2, 0.25)
_STEPPING = (0.0, 0.0, 0.02, 0.12, 0.15, 0.25)
_STILL = (0.0,) * 6


def _symmetric(velocity, trunk) -> dict:
    low, high = zip(*[v if isinstance(v, tuple) else (-v, v) for v in velocity])
    return dict(low=(*low, *(-x for x in trunk)), high=(*high, *trunk))


MOTIONS = {
    "stand": Motion("standing still", STAND, **_symmetric((0, 0, 0), _STILL)),
    "sway": Motion(
        "standing, the trunk moves about all axes", STAND, **_symmetric((0, 0, 0), _SWAY)
    ),
    "step": Motion(
        "stepping on the spot, on two flat feet", STEP, **_symmetric((0, 0, 0), _STEPPING)
    ),
    "trot": Motion(
        "trot with changing speed, sideways and turning",
        TROT,
        **_symmetric(((-0.3, 0.8), 0.25, 0.8), _TRUNK),
    ),
    "forward": Motion(
        "trot straight on, 0.3 to 0.8 m/s", TROT, **_symmetric(((0.3, 0.8), 0, 0), _TRUNK)
    ),
    "sideways": Motion("trot sideways, to both sides", TROT, **_symmetric((0, 0.3, 0), _TRUNK)),
    "turn": Motion(
        "trot on a curve, turning at 0.4 to 0.8 rad/s",
        TROT,
        **_symmetric(((0.0, 0.4), 0, (0.4, 0.8)), _TRUNK),
    ),
    "hop": Motion(
        "hops on all feet, drifting and turning",
        hopping(0.7, 0.24),
        **_symmetric((0.2, 0.1, 0.3), _STILL),
    ),
}


def motion(name: str) -> Motion:
    """The motion of this name; ConfigError lists those that exist."""
    if name not in MOTIONS:
        raise ConfigError(f"unknown motion '{name}': known are {', '.join(MOTIONS)}", name)
    return MOTIONS[name]
