# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contacts and feet of an estimate: ground forces and the points where they act."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .arrays import Array, freeze

CONTACT_SHARE = 0.05  # of the robot's weight, above which a foot is said to be in contact


class ContactState(IntEnum):
    """State of a contact, with the numbers of `prime_estimation_msgs/ContactWrench.state`."""

    OPEN = 0
    STICKING = 1
    SLIPPING = 2


@dataclass(frozen=True)
class ContactEstimate:
    """Force of the ground on the robot at one contact: triangular mean over +-dt at its stamp."""

    name: str  # `<foot frame>` or `<foot frame>/<corner>`
    position_world: Array  # (3,) m, the contact point
    force_world: Array  # (3,) N
    force_covariance: Array  # (3, 3) N^2
    probability: float  # of carrying load, in [0, 1]
    state: ContactState
    foot: str = ""  # name in `Robot.feet`; default: the contact's name before the "/"

    def __post_init__(self):
        freeze(self)
        if not self.foot:
            object.__setattr__(self, "foot", self.name.split("/")[0])


@dataclass(frozen=True)
class FootEstimate:
    """Wrench of the ground on a foot, at the centre of pressure of its contacts.

    About `c = sum f_n,i p_i / sum f_n,i` only the moment around the vertical remains, and on uneven
    ground that of contacts at different heights.
    """

    name: str
    force_world: Array  # (3,) N
    moment_world: Array  # (3,) Nm, about the centre of pressure
    centre_of_pressure_world: Array  # (3,) m; NaN if the foot carries no load

    def __post_init__(self):
        freeze(self)


def feet_of(contacts: Iterable[ContactEstimate]) -> tuple[FootEstimate, ...]:
    """Wrench of each foot, in the order of its first contact."""
    groups: dict[str, list[ContactEstimate]] = {}
    for contact in contacts:
        groups.setdefault(contact.foot, []).append(contact)
    return tuple(_foot(name, group) for name, group in groups.items())


def _foot(name: str, contacts: list[ContactEstimate]) -> FootEstimate:
    forces = np.array([c.force_world for c in contacts])
    points = np.array([c.position_world for c in contacts])
    force, normal = forces.sum(axis=0), np.maximum(forces[:, 2], 0.0)
    if not normal.sum() > 0.0:
        return FootEstimate(name, force, np.full(3, np.nan), np.full(3, np.nan))
    centre = normal @ points / normal.sum()
    return FootEstimate(name, force, np.cross(points - centre, forces).sum(axis=0), centre)
