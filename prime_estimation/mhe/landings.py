# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground under landing feet: free until the foot rests, then restored or placed anew."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..config.policies import GROUND
from .knowledge import inflate
from .problem import Problem
from .window import Window

RIDGE = 1e-9  # added to correlations: some parameters are held, and some known together only


@dataclass(frozen=True)
class _Known:
    """Former knowledge of the ground height under a foot: `h = h_0 + a . dx + n`.

    Attributes:
        height: h_0 [m], at the estimate of that time. row: (ndx,) a, regression on all other
            variables but velocities. stddev: standard deviation of n.
        parameters: (np,) of that estimate.
    """

    height: float
    row: np.ndarray
    stddev: float
    parameters: np.ndarray


class Landings:
    """Remembers the ground of feet that have touched down, until they rest.

    The known height is that of the previous foothold. If it were held until the foot has come to
    rest, it would move the base vertically, and tilt it.
    """

    def __init__(self, problem: Problem, feet: int):
        self.problem = problem
        self._columns = problem.columns("height")
        self._velocities = slice(problem.nv, 2 * problem.nv)
        self._known: list[_Known | None] = [None] * feet

    def forget(self, feet: np.ndarray | None = None) -> None:
        """Forget the ground of these feet (nf,), of all without them."""
        for foot in range(len(self._known)) if feet is None else np.flatnonzero(feet).tolist():
            self._known[foot] = None

    def touch(
        self, window: Window, feet: np.ndarray, within: np.ndarray, standing: np.ndarray
    ) -> None:
        """Ground under feet (nf,) that touch down is anywhere within heights (nf,) [m].

        Unless none is `standing` (nf,): after a flight the base may be as far off as the ground,
        which then tells it.
        """
        known = zip(self._known, standing.tolist())
        if not (np.count_nonzero(feet) and any(k is None for k, stands in known if stands)):
            return
        settled = np.array([known is None for known in self._known]) & ~feet
        for foot in np.flatnonzero(feet).tolist():
            self._known[foot] = self._regress(window, foot, settled)
        self.set_free(window, feet, within)

    def set_free(self, window: Window, feet: np.ndarray, within: np.ndarray) -> None:
        """Ground under feet (nf,) is within such a height (nf,) [m] anywhere (uniformly).

        Not where the ground gives way: a height that is free at each landing would explain that the
        foot sinks in, and how far it comes up again as the base that goes down.
        """
        if np.count_nonzero(feet):
            at = np.flatnonzero(feet)
            firmness = math.exp(-GROUND.firm * self.problem.softness(window.xs[-1]))
            root = np.diag(firmness / math.sqrt(3.0) * within[at])
            inflate(window, self._columns.start + at, root)

    def join(self, window: Window, feet: np.ndarray, gate: float) -> np.ndarray:
        """Ground under feet (nf,) at rest is as high as before, if it has been found so high.

        The further off it has been found, the less it is known to be the same.

        Returns:
            (nf,) feet whose ground is further off than `gate` [m].
        """
        off = np.zeros_like(feet)
        for foot in np.flatnonzero(feet).tolist():
            known = self._known[foot]
            if known is None:
                continue
            self._known[foot] = None
            moved = self.problem.layout.p(window.xs[0]) - known.parameters
            height = known.height + known.row[2 * self.problem.nv :] @ moved
            away = self.problem.parameter(window.xs[0], "height")[foot] - height
            off[foot] = abs(away) > gate
            if not off[foot]:
                stddev = math.hypot(known.stddev, GROUND.flat, away * away / gate)
                of_foot = known.row[None], np.array([height]), np.array([stddev])
                window.tie("height", [foot], *of_foot)
        return off

    def _regress(self, window: Window, foot: int, settled: np.ndarray) -> _Known:
        """Former knowledge by all other variables but velocities.

        The ground of feet that come down, too, is none that it will be known by: `settled` (nf,).
        """
        own = self._columns.start + foot
        others = np.ones(self.problem.ndx, bool)
        others[self._velocities] = False
        others[self._columns] = settled
        arrival, head = window.arrival, window.xs[0]
        row, variance = arrival.regression(own, np.flatnonzero(others).tolist(), RIDGE)
        # what the prior says at the present estimate: the data of the window are not in it yet
        away = self.problem.state.diff(arrival.reference, head) - arrival.mean
        height = self.problem.parameter(arrival.reference, "height")[foot] + arrival.mean[own]
        parameters = np.array(self.problem.layout.p(head))
        stddev = math.sqrt(max(variance, 0.0))
        return _Known(float(height + row @ away), row, stddev, parameters)
