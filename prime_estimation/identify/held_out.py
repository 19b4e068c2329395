# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Cross-validation: does the identified inertia explain a recording that it has not seen?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .posterior import Posterior
from .residuals import residuals_held
from .single import Run


def cross_validate(run: Run, posterior: Posterior) -> dict:
    """Fit of a held-out recording with three inertias.

    Nominal, identified from other recordings, identified from itself.

    `explained` is the share of the reachable improvement of the cost, 1 when the other recordings'
    inertia fits as well as its own.
    """
    window = run.result.window
    own, nominal = run.after, run.before
    other = residuals_held(window, posterior.theta)
    gain = nominal.cost - own.cost
    explained = float((nominal.cost - other.cost) / gain) if gain > 1e-9 else float("nan")
    return {
        "run": run.name,
        "nominal": nominal.to_dict(),
        "identified": other.to_dict(),
        "own": own.to_dict(),
        "explained": explained if np.isfinite(explained) else None,
    }


def leave_one_out(runs: list[Run], fuse: Callable[[list[Posterior]], Posterior]) -> list[dict]:
    """`cross_validate` of every recording with the inertia of all the others."""
    return [cross_validate(run, fuse([r.posterior for r in runs if r is not run])) for run in runs]
