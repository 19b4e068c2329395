# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contradictions in what estimates say of themselves: then a state is not to be used."""

from __future__ import annotations

import math
from collections import deque

from ..monitors.consistency import MISFIT
from ..monitors.stance_motion import MOTION
from ..types import Estimate, SensorHealth

# One remark of the status is no reason: contacts are contradicted on stairs, something pushes a
# robot that is pushed, a real robot without torque fits its model badly for a second or two.
# Two that exclude each other's innocent cause are. With joints in a wrong order one such pair is
# there half of the time or more; in 30 simulated walks and falls and 7 real logs never.
PAIRS = (
    ("weight", "contacts"),  # legs carry another weight, and not where the contacts are
    ("weight", "robot"),
    ("contacts", "robot"),
    ("base", MOTION),  # what pushes a robot does not make its feet slide where they stand
)
NODES, SHARE = 100, 0.25  # newest estimates, and share of them with such a pair
# estimates in a row in which the model fits badly: in real logs 200 at most
MISFIT_NODES = 400
# by sensor: mean square of its residuals above which it is not to be believed, and what to ask
MISFITS = {
    # right readings, real ones too, stay below 1.0; in degrees/s the first estimate has 6.6
    "imu": (4.0, "the gyro", "is it in rad/s, and are its axes right?"),
    # below 1.4 on any ground; 25 and more where the clock of motion capture is set by 0.2 s
    "mocap": (10.0, "motion capture", "are its clock, its unit and its mount right?"),
}


class Contradictions:
    """Looks at one estimate after the other, in the thread that makes them.

    Attributes:
        reason: why the newest ones are not to be believed; empty when nothing speaks against them.
    """

    def __init__(self):
        self.reset()

    def reset(self) -> None:
        """Forget all estimates."""
        self._pairs: deque[bool] = deque(maxlen=NODES)
        self._misfits, self.reason = 0, ""
        self._unfit: dict[str, tuple[int, str]] = {}  # by sensor: nodes that it counts, and why

    def look(self, estimate: Estimate) -> None:
        """Look at the next estimate."""
        sensors = estimate.status.sensors
        told = {s.name: s for s in sensors if _counts(s)}
        pair = next((p for p in PAIRS if told.keys() >= set(p)), None)
        self._pairs.append(pair is not None)
        self._misfits = self._misfits + 1 if "robot" in told else 0
        self.reason = self._why(told, pair) or self._misfit(sensors)

    def _why(self, told: dict[str, SensorHealth], pair: tuple[str, str] | None) -> str:
        if self._misfits > MISFIT_NODES:
            return f"the robot {told['robot'].message}"
        if sum(self._pairs) < SHARE * NODES:
            return ""
        if pair is None:
            return self.reason  # between two nodes that show it again
        said = "; ".join(str(told[name]) for name in pair)
        return f"readings and model contradict each other, is the order of the joints right? {said}"

    def _misfit(self, sensors: tuple[SensorHealth, ...]) -> str:
        """Why a sensor does not fit the motion; empty when all do, or it has long been silent."""
        self._unfit = {name: (n - 1, why) for name, (n, why) in self._unfit.items() if n > 1}
        for sensor in sensors:
            square = sensor.normalized_innovation
            if sensor.name not in MISFITS or math.isnan(square):
                continue
            most, what, asked = MISFITS[sensor.name]
            misfit = f"residuals of {square:.0f} times their variance"
            why = f"{what} fits the motion badly ({misfit}): {asked}" if square > most else ""
            self._unfit[sensor.name] = NODES, why
        return next((why for _, why in self._unfit.values() if why), "")


def _counts(said: SensorHealth) -> bool:
    """Whether a remark speaks against the motion, as a robot lighter than its model does not."""
    if said.name == "robot":
        return said.message.startswith(MISFIT)
    return not said.ok or said.name == MOTION  # of feet that move, a remark is enough
