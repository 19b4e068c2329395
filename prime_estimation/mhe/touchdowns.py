# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Touch-downs: finds feet that land, and feet that stand away from their known ground.

Computed with plain numbers, foot by foot, because arrays of a few feet are slower.
"""

from __future__ import annotations

import numpy as np

from ..config.policies import GROUND
from ..contact.detection import LoadHysteresis


class Touchdowns:
    """Follows feet from touch-down to rest, by load, height and rate.

    A foot lands with 2-3 m/s, 3 cm per node: ground within its reach in one node is judged when the
    foot has come to rest.

    Attributes:
        arriving: (nf,) feet that have touched down, and not come to rest yet.

    Args:
        stance: which feet carry load.
        dt: time between nodes [s].
    """

    def __init__(self, stance: LoadHysteresis, dt: float):
        self._stance, self._dt = stance, dt
        self.arriving = np.zeros(len(stance.loaded), bool)
        self._resting = [0] * len(stance.loaded)  # nodes

    def judge(
        self,
        above: np.ndarray,
        lowest: np.ndarray,
        rates: np.ndarray,
        normal: np.ndarray,
        weighed: bool,
        gate: float,
        caution: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(nf,) feet that have landed, and feet whose ground is not where it was thought.

        Args:
            above: (nf,) heights over the ground [m].
            lowest: (nf,) that they may have where it gives way [m].
            rates: (nf, 3) of the soles [m/s].
            normal: (nf,) forces [N].
            weighed: the forces are those that torques say.
            gate: height above the ground at which it is not where it was thought [m].
            caution: factor on the load that a touch-down takes.
        """
        stance, velocities, forces = self._stance, rates.tolist(), normal.tolist()
        upward = [z for _, _, z in velocities]
        # a foot on its way up does not touch down
        load = [force if z < GROUND.rest else 0.0 for z, force in zip(upward, forces)]
        touchdown = stance.update(np.array(load), caution).tolist()
        rests = self._rest(velocities, forces, caution) if weighed else [False] * len(forces)
        feet = [
            self._foot(weighed, gate, *foot)
            for foot in zip(
                above.tolist(),
                lowest.tolist(),
                upward,
                forces,
                touchdown,
                rests,
                stance.loaded.tolist(),
                self.arriving.tolist(),
            )
        ]
        stance.loaded, self.arriving, landed, wrong = np.array(feet, bool).T
        return landed, wrong

    def _foot(
        self,
        weighed: bool,
        gate: float,
        above: float,
        lowest: float,
        rate: float,
        force: float,
        touchdown: bool,
        rests: bool,
        loaded: bool,
        arriving: bool,
    ) -> tuple[bool, bool, bool, bool]:
        """A foot is loaded, comes down still, has landed, stands on ground that is elsewhere."""
        touchdown = touchdown or (rests and not loaded)
        loaded = loaded or rests
        settled = arriving and abs(rate) < GROUND.rest
        arriving = (arriving or touchdown) and loaded and not settled
        reach = 0.0 if settled else self._dt * max(-rate, 0.0)
        # what carries is on the ground, at any time
        arrived = loaded and not arriving
        stands = arrived and force > self._stance.on and rate < GROUND.rest
        wrong = (touchdown or stands) and above > gate + reach
        wrong = wrong or (rests and above > gate)
        wrong = wrong or ((touchdown or arrived or not loaded) and above < lowest - gate)
        return loaded, arriving, touchdown or settled, wrong

    def _rest(
        self, velocities: list[list[float]], forces: list[float], caution: float
    ) -> list[bool]:
        """Feet that have stood still for a while with a load too light for a touch-down."""
        for foot, ((x, y, z), force) in enumerate(zip(velocities, forces)):
            still = x * x + y * y + z * z < GROUND.still**2
            light = force > caution * self._stance.off
            self._resting[foot] = self._resting[foot] + 1 if still and light else 0
        return [nodes >= GROUND.still_nodes for nodes in self._resting]
