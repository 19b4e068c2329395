# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Point masses on links: dynamic parameters that they add to the bodies, with derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError

Vector = tuple[float, float, float]
BODY = 10  # dynamic parameters: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the joint
ROWS, COLUMNS = np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])  # of the inertia


@dataclass(frozen=True)
class Payload:
    """Point mass on a link, in axes of the link's joint [m].

    Its mass is the parameter `NAME.mass` [kg]. With a `direction` it sits at `place` + `NAME.along`
    `direction`, where `NAME.along` [m] is a parameter too. `share` of it is there, nothing in a
    recording without it; payloads of one name are one mass, at several places or in several
    recordings.
    """

    name: str
    link: str
    place: Vector
    share: float = 1.0
    direction: Vector | None = None


class Payloads:
    """All payloads of a machine.

    Attributes:
        names: of their parameters.

    Raises:
        ConfigError: a payload is on no moving link.
    """

    def __init__(self, links: Sequence[str], payloads: Sequence[Payload]):
        for payload in payloads:
            if payload.link not in links:
                raise ConfigError(
                    f"payload {payload.name} is on {payload.link!r}, the moving links are "
                    f"{', '.join(links)}"
                )
        names = [f"{p.name}.mass" for p in payloads]
        names += [f"{p.name}.along" for p in payloads if p.direction is not None]
        self.names = tuple(dict.fromkeys(names))
        self._links, self._payloads = list(links), payloads

    def bodies(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(10 nj,) what they add to the bodies, (10 nj, n) its derivatives by their parameters."""
        added = np.zeros((len(self._links), BODY))
        by = np.zeros((len(self._links), BODY, len(self.names)))
        for payload in self._payloads:
            body = self._links.index(payload.link)
            mass = self.names.index(f"{payload.name}.mass")
            place, step = np.array(payload.place, float), np.array(payload.direction or np.zeros(3))
            if payload.direction is not None:
                along = self.names.index(f"{payload.name}.along")
                place = place + values[along] * step
                by[body, :, along] += payload.share * values[mass] * _by_place(place, step)
            unit = _unit_mass(place)
            by[body, :, mass] += payload.share * unit
            added[body] += payload.share * values[mass] * unit
        return added.ravel(), by.reshape(added.size, len(self.names))


def _unit_mass(place: np.ndarray) -> np.ndarray:
    inertia = place @ place * np.eye(3) - np.outer(place, place)
    return np.r_[1.0, place, inertia[ROWS, COLUMNS]]


def _by_place(place: np.ndarray, step: np.ndarray) -> np.ndarray:
    mixed = np.outer(place, step)
    inertia = 2.0 * place @ step * np.eye(3) - mixed - mixed.T
    return np.r_[0.0, step, inertia[ROWS, COLUMNS]]
