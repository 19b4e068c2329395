# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Tables of `prime identify`: inertia, joints, error budget, repeatability, held-out data."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator

from rich.table import Table

from ..identify.fusion import repeatability
from ..identify.joints import JointPosterior
from ..identify.outcome import Outcome, error_table
from .console import say, table, warn


def report(args: argparse.Namespace, outcome: Outcome) -> None:
    """Prints tables for people."""
    for notice in outcome.notices:
        warn(notice)
    for r in outcome.runs:
        state = "converged" if r.result.converged else "NOT converged"
        iterations = f"{len(r.result.history)} iterations in {r.result.seconds:.1f} s"
        friction = (
            f"; friction {r.friction[0]:.2f} +- {r.friction[1]:.2f}"
            if math.isfinite(r.friction[0])
            else ""
        )
        say(args, f"{r.name}: {r.nodes} nodes, {iterations}, {state}{friction}")
    for link in outcome.posterior.links:
        say(args, _link_table(outcome, link))
        worst = [d for d in outcome.posterior_directions(link) if not d.observed]
        for d in worst:
            width = f"posterior {100 * d.shrinkage:.0f} % of the prior's width"
            say(args, f"not observable: {d.words} ({width}). To excite it: {d.motion}.")
    if outcome.joints is not None:
        say(args, joint_table(outcome.joints))
    say(args, *_budget_tables(outcome), *_repeatability_tables(outcome), *_held_out_tables(outcome))


def _budget_tables(outcome: Outcome) -> Iterator[Table]:
    causes = error_table(outcome.posterior)
    columns = ("mass [g]", "com x [mm]", "com y [mm]", "com z [mm]")
    for link in outcome.posterior.links:
        rows = {
            cause: [1e3 * v for v in by_link[link].values()] for cause, by_link in causes.items()
        }
        yield table(
            f"error budget of {link}: what one standard deviation of each does", rows, columns
        )


def _repeatability_tables(outcome: Outcome) -> Iterator[Table]:
    for link, rows in (repeatability(outcome.runs) if len(outcome.runs) > 1 else {}).items():
        shown = {
            f"{name} [{v['unit']}]": [v["mean"], v["spread"], v["promised"]]
            for name, v in rows.items()
        }
        yield table(
            f"repeatability of {link} over {len(outcome.runs)} recordings",
            shown,
            ("mean", "spread", "promised stddev"),
        )


def _held_out_tables(outcome: Outcome) -> Iterator[Table]:
    measures = ("cost_per_node", "base_force_rms_N", "base_moment_rms_Nm", "joint_torque_rms_Nm")
    for v in outcome.held_out or []:
        rows = {k: [v[w][k] for w in ("nominal", "identified", "own")] for k in measures}
        yield table(
            f"held out: {v['run']}", rows, ("nominal", "identified from the others", "from itself")
        )


def _link_table(outcome: Outcome, link: str) -> Table:
    rows = {}
    for i, q in enumerate(outcome.posterior.quantities(link)):
        low, high = q.interval
        others = [outcome.baseline_psi(method, link)[i] for method in outcome.baseline]
        value = q.value if q.observable else "not observable"
        rows[f"{q.name} [{q.unit}]"] = [
            value,
            f"[{low:.4g}, {high:.4g}]",
            q.statistical,
            q.systematic,
            q.prior,
            *others,
        ]
    columns = (
        "identified",
        "95 % interval",
        "statistical",
        "systematic",
        "URDF",
        *outcome.baseline,
    )
    return table(f"{link}", rows, columns)


def joint_table(joints: JointPosterior, title: str = "joints") -> Table:
    """Prior and posterior of the joint parameters."""
    rows = {}
    for q in joints.quantities():
        value = q.value if q.observable else "not observable"
        intervals = [f"[{low:.4g}, {high:.4g}]" for low, high in (q.interval, q.prior_interval)]
        name = f"{q.kind} {q.label}" + (f" [{q.unit}]" if q.unit else "")
        rows[name] = [value, intervals[0], q.prior, intervals[1]]
    return table(title, rows, ("identified", "95 % interval", "before", "95 % interval before"))
