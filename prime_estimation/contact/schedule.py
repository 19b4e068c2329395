# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact flags as the rigid model takes them: open, closed or landing, per foot and node."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from .. import _core
from ..robot import GRAVITY, Robot
from ..types import Measurement
from .detection import ContactFlags
from .leg_forces import FREE_FALL

CONTRADICTED = "contacts: the flags contradict the forces, or the motion of the feet"
# rms, in standard deviations over the window, of base forces and contact velocities that nothing
# explains
FORCE, MOTION = 3.0, 2.0
REMEMBERED = 100_000  # nodes: a start batch, and a long recording, is gone through more than once


class Stances:
    """Contact flags of consecutive measurements, each computed once.

    A foot lands in the step at whose beginning its flag rises: the impulse map takes its velocity,
    with the forces of the step.
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


def unsupported(given) -> bool:
    """Whether a node's input says that no foot stands, and its accelerometer that something carries the robot."""
    felt = float(np.linalg.norm(given.accelerometer)) if np.any(given.weight_accelerometer) else 0.0
    return felt > FREE_FALL * GRAVITY and all(
        stance == _core.Stance.open for stance in given.stance
    )


def contradicted(window) -> bool:
    """Whether a window has nodes that nothing carries, or needs base forces or velocities of standing feet that no noise explains."""
    if any(unsupported(given) for given in window.inputs[:-1]):
        return True
    # before outliers lost their weight
    force = window.unexplained()[:, :6] * [given.nominal_force[:6] for given in window.inputs[:-1]]
    slack = np.array(
        [u[window.problem.nv :] * given.nominal_xi for u, given in zip(window.us, window.inputs)]
    )
    return bool(np.mean(force**2) > FORCE**2 or np.mean(slack**2) > MOTION**2)


def _stance(was: bool, now: bool) -> "_core.Stance":
    if not now:
        return _core.Stance.open
    return _core.Stance.closed if was else _core.Stance.landing
