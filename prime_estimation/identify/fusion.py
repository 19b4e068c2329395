# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Several recordings of the same robot as one: information adds up, the prior counts once.

Contradictions are refused.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..errors import DataError
from .posterior import Posterior, Quantity, fused
from .single import Run

CONTRADICTION = 4.0  # standard deviations between two recordings
COMMON = 0.5  # share of the systematic errors that differs between recordings of one robot
CHECKED = ("mass", "com x", "com y", "com z")


def fuse(posteriors: list[Posterior]) -> Posterior:
    """One posterior of all, each of which was computed with the same prior.

    As `fused` makes it. Systematic errors do not average out: their weighted mean stays.

    Raises:
        DataError: there is none, or they are of other links or another prior.
    """
    if not isinstance(posteriors, list | tuple) or not all(
        isinstance(p, Posterior) for p in posteriors
    ):
        what = "fuse takes a list of posteriors (Run.posterior)"
        raise DataError(f"{what}, got {posteriors!r:.60}", posteriors)
    if not posteriors:
        raise DataError("there is no posterior to fuse; give one or more", posteriors)
    first = posteriors[0]
    if not all(_comparable(first, p) for p in posteriors):
        what = "posteriors to fuse are of other links, or another prior"
        raise DataError(f"{what}: identify all recordings with one robot and one config", first)
    if len(posteriors) == 1:
        return first
    root, covariances = first.prior_root, [p.covariance for p in posteriors]
    theta, covariance = fused([p.theta for p in posteriors], covariances, first.prior, root)
    weights = [np.trace(c) ** -1 for c in covariances]
    share = np.array(weights) / sum(weights)
    causes = dict.fromkeys(cause for p in posteriors for cause in p.budget)
    budget = {c: sum(s * p.budget.get(c, 0.0) for s, p in zip(share, posteriors)) for c in causes}
    return Posterior(first.links, theta, covariance, first.prior, root, budget, first.manifold)


def _comparable(one: Posterior, other: Posterior) -> bool:
    """Whether two posteriors are of the same coordinates, with the same prior."""
    return (one.links, one.manifold) == (other.links, other.manifold) and all(
        np.allclose(a, b) for a, b in ((one.prior, other.prior), (one.prior_root, other.prior_root))
    )


def check_agreement(runs: list[Run]) -> None:
    """DataError when two recordings say different things about mass or centre of mass of a link."""
    for a, b in combinations(runs, 2):
        for link in a.posterior.links:
            for p, q in zip(a.posterior.quantities(link), b.posterior.quantities(link)):
                if p.name not in CHECKED or not (p.observable and q.observable):
                    continue
                limit = CONTRADICTION * np.linalg.norm([_own_stddev(p), _own_stddev(q)])
                if abs(p.value - q.value) > limit:
                    said, other = (
                        f"{x.value:.4g} +- {x.stddev:.2g} {x.unit} in {run.name}"
                        for x, run in ((p, a), (q, b))
                    )
                    raise DataError(
                        f"the recordings contradict each other: {p.name} of {link} is {said} but "
                        f"{other}. "
                        "Another payload? Identify them one by one",
                        (a.name, b.name),
                    )


def _own_stddev(q: Quantity) -> float:
    return float(np.hypot(q.statistical, COMMON * q.systematic))


def repeatability(runs: list[Run]) -> dict[str, dict[str, dict[str, float]]]:
    """By link and quantity: mean over recordings, standard deviation between them, promised one."""
    out: dict = {}
    for link in runs[0].posterior.links:
        columns = zip(*(run.posterior.quantities(link) for run in runs))
        out[link] = {
            c[0].name: {
                "unit": c[0].unit,
                "mean": float(np.mean([q.value for q in c])),
                "spread": float(np.std([q.value for q in c], ddof=1)),
                "promised": float(np.sqrt(np.mean([_own_stddev(q) ** 2 for q in c]))),
            }
            for c in columns
        }
    return out
