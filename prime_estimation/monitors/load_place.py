# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Load place: detects a load that is attributed to the estimated link, but carried by another."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import LOAD_PLACE
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import SensorHealth
from .limb_load import LimbLoad, LimbLoads
from .monitor import Monitor
from .unfelt_load import UnfeltLoad


class LoadPlace(Monitor):
    """Compares the position of an estimated load with its link, and with the loads of arms.

    If a link of nominal mass m0 and com c0 carries the load, the load is at

        p = (m c - m0 c0) / (m - m0)

    A load that other links carry, such as the hands of a humanoid, is attributed to the estimated
    link with the right mass, but at a position outside of that link: a homogeneous box with the
    radius of gyration `r = sqrt(tr I / (2 m))` ends within `sqrt(3) r` of its centre. Which part of
    pi - pi_0 belongs to the link itself is then unknown. The same holds where joints between base
    and link lack the torque that such a load would take.

    Attributes:
        limbs: what arms hold.
        unfelt: per estimated link, what joints before it do not feel of its load.
        places: (3,) p of each estimated link at present [m, link axes]; None where nothing was
            added.
    """

    def __init__(self, problem: Problem):
        self.problem, robot = problem, problem.robot
        inertias = [robot.model.inertias[robot.link_joint(n)] for n in robot.estimated_links]
        self._mass = [i.mass for i in inertias]
        self._com = [i.lever.tolist() for i in inertias]
        self.limbs = LimbLoads(problem)
        self.unfelt = [UnfeltLoad(problem, link) for link in robot.estimated_links]
        self._radius = [float(np.sqrt(np.trace(i.inertia) / (2.0 * i.mass))) for i in inertias]
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        links = len(self._mass)
        self.places: list[list[float] | None] = [None] * links
        self._added = [0.0] * links  # kg
        self._far = [0] * links  # nodes
        self.limbs.reset()
        for load in self.unfelt:
            load.reset()

    @property
    def doubted(self) -> frozenset[int]:
        """Indices of the estimated links that are given what another one probably carries."""
        far = [i for i, nodes in enumerate(self._far) if nodes >= LOAD_PLACE.nodes]
        unfelt = [i for i, load in enumerate(self.unfelt) if load.told]
        return frozenset([*far, *unfelt]).union(*[limb.holders for limb in self.limbs.told])

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at the inertia of the head, and at the torques of arms."""
        self.limbs.judge(window)
        if situation.inertia_held:
            return ""
        for i, (pi, _) in enumerate(self.problem.inertias(window.xs[-1])):
            mass, *moment = pi[:4].tolist()
            added = mass - self._mass[i]
            if added <= LOAD_PLACE.mass * self._mass[i]:
                self.places[i], self._far[i] = None, 0
                self.unfelt[i].reset()
                continue
            own = self._mass[i]
            place = [(m - own * c) / added for m, c in zip(moment, self._com[i])]
            self.places[i], self._added[i] = place, added
            size = max(LOAD_PLACE.far * self._radius[i], LOAD_PLACE.reach)
            away = self._distance(i) > size
            self._far[i] = self._far[i] + 1 if away else 0
            self.unfelt[i].judge(window.xs[-1], added, place)
        return ""

    def _distance(self, i: int) -> float:
        return math.dist(self.places[i], self._com[i])

    def health(self, situation: Situation) -> tuple[SensorHealth, ...]:
        """Says which link probably does not carry what it is given."""
        told = self.limbs.told
        if not (told or self.doubted):
            return ()
        held = set().union(*(limb.holders for limb in told))
        words = [self._held(limb) for limb in told]
        words += [self._words(i) for i in sorted(self.doubted - held)]
        return tuple(SensorHealth("load", False, said) for said in words)

    def _held(self, limb: LimbLoad) -> str:
        links = [self.problem.robot.estimated_links[i] for i in limb.holders]
        given = f", given to {' and '.join(links)}" if links else ""
        what = "more" if limb.mass > 0.0 else "less"
        return (
            f"{limb.link} holds {abs(limb.mass):.1f} kg {what} than the model, as the torques of "
            f"its limb say{given}: name it in robot.estimated_links"
        )

    def _words(self, i: int) -> str:
        link, (x, y, z) = self.problem.robot.estimated_links[i], self.places[i]
        unfelt, elsewhere = self.unfelt[i], "name it in robot.estimated_links"
        if unfelt.told:
            return (
                f"{100.0 * unfelt.share:.0f} % of the {unfelt.needed:.1f} Nm that "
                f"{self._added[i]:.1f} kg on {link} would take are missing at joints before it: "
                f"another link probably carries them, {elsewhere}"
            )
        where = f"({x:.2f}, {y:.2f}, {z:.2f}) m, {self._distance(i):.2f} m from its middle"
        return (
            f"{self._added[i]:.1f} kg would be at {where} if {link} carried them: another link "
            f"probably does, {elsewhere}"
        )
