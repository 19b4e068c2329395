# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Notices about an estimate, in one line each."""

from __future__ import annotations

import numpy as np

from .estimate import Estimate

SHARE = 0.1  # of the largest part of a direction, below which a parameter is not named
TOLD = 3.0  # information over that of the boxes: a deviation of half of what they leave open


def notices(found: Estimate) -> list[str]:
    """Lines on what did not converge, is not observable, or wants out of its box."""
    out = []
    if not found.solution.converged:
        out.append(f"not converged after {found.solution.iterations} iterations")
    for names in unobservable(found):
        line = f"not observable in these recordings, kept near the start: {names[0]}"
        if len(names) > 1:
            line = (
                f"observable only together: {', '.join(names)}; take one of them out of `free`, or "
                "move differently"
            )
        out.append(line)
    for (name, value), (lower, upper) in zip(found.parameters.items(), found.boxes.values()):
        if value in (lower, upper):
            out.append(f"{name} is at the bound {value:g} of its box")
    return out


def unobservable(found: Estimate) -> list[list[str]]:
    """Names of the parameters of each direction of which the recordings say less than the boxes.

    Only among parameters with finite boxes; those that change most come first.
    """
    names = np.array(list(found.boxes))
    finite = np.isfinite(found.posterior.prior_stddev)
    scale = found.posterior.prior_stddev[finite]
    information = scale[:, None] * found.posterior.information[np.ix_(finite, finite)] * scale
    values, vectors = np.linalg.eigh(information)
    directions = np.abs(vectors[:, values < TOLD]).T
    out = []
    for direction in directions:
        order = np.argsort(-direction)
        out.append(names[finite][order[direction[order] > SHARE * direction.max()]].tolist())
    return out
