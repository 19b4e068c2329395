# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact schedule of the rigid model: open, closed or landing, per foot and node."""

from __future__ import annotations

from collections import OrderedDict

from .. import _core
from ..robot import Robot
from ..types import Measurement
from .detection import ContactFlags

REMEMBERED = 100_000  # nodes: a start batch, and a long recording, is gone through more than once


class ContactSchedule:
    """Contact flags of consecutive measurements, each computed once.

    A foot lands in the step at whose beginning its flag rises: the impulse map removes its velocity
    within this step.
    """

    def __init__(self, robot: Robot):
        self._flags = ContactFlags(robot)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._flags.reset()
        self._known: OrderedDict[int, list] = OrderedDict()
        self._before = self._flags.flags

    def before(self, m: Measurement) -> list:
        """Stance of each foot in the step that ends with a measurement.

        New measurements come in the order of time.
        """
        if m.stamp_ns not in self._known:
            flags = self._flags.update(m)
            self._known[m.stamp_ns] = [_stance(was, now) for was, now in zip(self._before, flags)]
            self._before = flags
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return self._known[m.stamp_ns]


def _stance(was: bool, now: bool) -> "_core.Stance":
    if not now:
        return _core.Stance.open
    return _core.Stance.closed if was else _core.Stance.landing
