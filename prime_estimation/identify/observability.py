# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Observability in words: directions of the inertia that a recording could not tell.

Eigen-directions of the posterior against the prior, and the motion that would excite them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .posterior import NAMES, SHRUNK, Posterior

SAID = 0.35  # share of a direction that a quantity must have to be named

WORDS = {
    "mass": "the mass",
    "com x": "the place of the centre of mass along x",
    "com y": "the place of the centre of mass along y",
    "com z": "the height (z) of the centre of mass",
    "Ixx": "the inertia about x",
    "Iyy": "the inertia about y",
    "Izz": "the inertia about z",
    "Ixy": "the product of inertia xy",
    "Ixz": "the product of inertia xz",
    "Iyz": "the product of inertia yz",
}
MOTIONS = {
    "mass": "let the link be lifted by measured joints, or stand on feet whose legs have torque "
    "sensors",
    "com x": "hold the link level, then tilt it about y; walk",
    "com y": "hold the link level, then tilt it about x; walk",
    "com z": "tilt the link about x and y (sway by 10 degrees or more), or accelerate it sideways",
    "Ixx": "turn the link quickly to and fro about x (roll, 1 to 3 Hz)",
    "Iyy": "turn the link quickly to and fro about y (pitch, 1 to 3 Hz)",
    "Izz": "turn the link quickly to and fro about z (yaw, 1 to 3 Hz)",
    "Ixy": "turn the link about x and y at once, at different frequencies",
    "Ixz": "turn the link about x and z at once, at different frequencies",
    "Iyz": "turn the link about y and z at once, at different frequencies",
}


@dataclass(frozen=True)
class Direction:
    """Eigen-direction of the posterior; `shrinkage`: its width relative to the prior's (1: none).

    `parts` are its components in units of the prior's standard deviations.
    """

    link: str
    shrinkage: float
    parts: dict[str, float]
    words: str
    motion: str

    @property
    def observed(self) -> bool:
        """The data say more than the prior."""
        return self.shrinkage < SHRUNK

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "link": self.link,
            "shrinkage": self.shrinkage,
            "observed": self.observed,
            "parts": self.parts,
            "words": self.words,
            "motion": self.motion,
        }


def directions(posterior: Posterior, link: str) -> list[Direction]:
    """The ten eigen-directions of a link's (mass, com, tensor), worst known first."""
    prior = posterior.prior_psi(link)[1]
    covariance, _ = posterior.psi_covariance(link)
    scale = np.sqrt(np.diag(prior))
    whitened = covariance / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(0.5 * (whitened + whitened.T))
    out = []
    for value, vector in sorted(zip(values, vectors.T), key=lambda pair: -pair[0]):
        leading = np.argsort(-np.abs(vector))
        named = [NAMES[i] for i in leading if np.abs(vector[i]) > SAID] or [NAMES[leading[0]]]
        joined = " with ".join(WORDS[name] for name in named[:3])
        parts = {NAMES[i]: float(vector[i]) for i in leading}
        out.append(
            Direction(
                link,
                float(np.sqrt(max(value, 0.0))),
                parts,
                joined,
                "; ".join(MOTIONS[name] for name in named[:2]),
            )
        )
    return out
