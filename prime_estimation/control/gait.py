# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gaits: which foot is in the air when, and how one gait follows another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError, RobotError
from ..robot import Robot

FOREVER = float("inf")
RESOLUTION = 1e-6  # s: seconds since the epoch, as doubles, are not finer


@dataclass(frozen=True)
class Gait:
    """A periodic schedule of swings; at the beginning of a cycle all feet stand.

    Attributes:
        period: of a cycle [s]; 0: all feet stand always.
        swing: duration of a swing [s].
        lift_off: time in the cycle at which (front left, front right, hind left, hind right) lift
            off [s].
        top_speed: largest commanded speed [m/s].
    """

    period: float = 0.0
    swing: float = 0.0
    lift_off: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    top_speed: float = 0.0

    def __post_init__(self):
        if self.period and not all(
            0.0 <= t < self.period - self.swing + 1e-9 for t in self.lift_off
        ):
            raise ConfigError("a gait's swings must lie inside its cycle", self)

    @property
    def stance(self) -> float:
        """Duration of a stance [s]."""
        return self.period - self.swing


GAITS = {
    "stand": Gait(),
    "trot": Gait(0.52, 0.22, (0.02, 0.28, 0.28, 0.02), 0.8),
    "walk": Gait(0.88, 0.20, (0.24, 0.68, 0.02, 0.46), 0.3),
    "bound": Gait(0.44, 0.18, (0.02, 0.02, 0.24, 0.24), 0.6),
}


def gait_named(name: str, robot: Robot) -> Gait:
    """The gait of this name, if there is one and the robot has the feet for it.

    Raises:
        ConfigError: unknown gait.
        RobotError: another number of feet than four, other than to stand.
    """
    if name not in GAITS:
        raise ConfigError(f"gait must be one of {', '.join(GAITS)}, got '{name}'", name)
    if GAITS[name].period and len(robot.feet) != 4:
        raise RobotError(
            f"{robot.name}: {name} is a gait for four feet, not {len(robot.feet)}; use stand", robot
        )
    return GAITS[name]


@dataclass(frozen=True)
class FootPhase:
    """Phase of a foot in its cycle at some time.

    Attributes:
        swinging: it is scheduled to be in the air.
        lift_off, touch_down: ends of this swing, or of the next one [s]; `FOREVER` without one.
    """

    swinging: bool
    lift_off: float
    touch_down: float

    def progress(self, time: float) -> float:
        """Share of the swing that is over at a time [s]."""
        return (time - self.lift_off) / (self.touch_down - self.lift_off)


class GaitSchedule:
    """Swings of each foot over time, through changes of gait.

    A change takes effect when the cycle under way is over, at once while standing: all feet stand
    then, and so they do at the beginning of the next gait.

    Args:
        quarter: for each foot its place in `Gait.lift_off`.
        gait: the first one, from time 0.
    """

    def __init__(self, quarter: list[int], gait: Gait):
        self._quarter = quarter
        self._gaits: list[tuple[float, Gait]] = [(0.0, gait)]

    @property
    def gait(self) -> Gait:
        """The gait that was asked for last."""
        return self._gaits[-1][1]

    @property
    def name(self) -> str:
        """Its name."""
        return next(name for name, gait in GAITS.items() if gait == self.gait)

    def change(self, gait: Gait, now: float) -> None:
        """Go over to another gait as soon as possible."""
        if gait == self.gait:
            return
        began, current = self._at(now)
        cycles = np.ceil((now - began) / current.period) if current.period else 0.0
        change = began + cycles * current.period if current.period else now
        self._gaits = [(began, current)]
        if gait != current:
            self._gaits.append((change, gait))

    def begin(self, now: float) -> None:
        """Begin with the gait that was asked for last, also where the clock was set back since."""
        began, gait = self._gaits[-1]
        self._gaits = [(min(began, now), gait)]

    def phase(self, foot: int, time: float) -> FootPhase:
        """Phase of a foot at a time [s]."""
        late = time + RESOLUTION  # solves come at lift-offs and touch-downs, but for rounding
        for k, (began, gait) in enumerate(self._gaits):
            ends = self._gaits[k + 1][0] if k + 1 < len(self._gaits) else FOREVER
            if time >= ends or not gait.period:
                continue
            # of a gait that is to come: its first cycle
            cycle = max(0.0, np.floor((time - began) / gait.period))
            for start in (began + cycle * gait.period, began + (cycle + 1) * gait.period):
                lift_off = start + gait.lift_off[self._quarter[foot]]
                touch_down = lift_off + gait.swing
                if start >= began and late < touch_down <= ends + RESOLUTION:
                    return FootPhase(late >= lift_off, lift_off, touch_down)
        return FootPhase(False, FOREVER, FOREVER)

    def walks(self, time: float) -> bool:
        """Whether the gait at this time has swings, or the one that follows."""
        return any(gait.period for began, gait in self._gaits if began > time) or bool(
            self._at(time)[1].period
        )

    def last_touch_down(self, foot: int, time: float) -> float:
        """When a foot came down last [s]; -`FOREVER` if it never did, or is in the air."""
        if self.phase(foot, time).swinging:
            return -FOREVER
        until = time
        for began, gait in reversed(self._gaits):
            if gait.period and began <= time:
                touch_down = gait.lift_off[self._quarter[foot]] + gait.swing
                cycles = np.floor((until + RESOLUTION - began - touch_down) / gait.period)
                if cycles >= 0:
                    return began + cycles * gait.period + touch_down
            until = min(until, began)  # the gait before has ended when this one begins
        return -FOREVER

    def _at(self, time: float) -> tuple[float, Gait]:
        begun = [entry for entry in self._gaits if entry[0] <= time + RESOLUTION]
        return begun[-1] if begun else self._gaits[0]  # a clock may be set back a little
