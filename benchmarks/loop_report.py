# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Table and figure of the closed-loop benchmark (`loop.py`)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

COLUMNS = {  # of the table: score, unit, factor, digits
    "height": ("height [mm]", 1e3, 1),
    "roll": ("roll [deg]", 180.0 / np.pi, 2),
    "pitch": ("pitch [deg]", 180.0 / np.pi, 2),
    "apex": ("apex [mm]", 1e3, 1),
    "velocity": ("velocity [m/s]", 1.0, 3),
    "torque": ("torque [Nm]", 1.0, 1),
    "peak_torque": ("peak [Nm]", 1.0, 0),
}
HEADLINE = """# Closed loop: a robot that walks on its own estimate

Written by `make bench-loop`. A Go2 (+4.6 kg) and a Go1 (+7.2 kg) in MuJoCo, sensors with noise,
bias and delay, no motion capture; the MPC knows nothing but the estimator's outputs. Root mean
square errors of the trunk from one second after the load was put on until it is taken off two
seconds later; apex: mean error of the height of swings; velocity: of (vx, vy) in the heading frame,
against the command at every instant; torque: over all joints. Mean over the runs, whose number
stands with the falls. `off`: the controller keeps its nominal inertia; `on`: it follows the
estimator's; `true`: it is told the truth at once.
"""


def report(rows: list[dict]) -> str:
    """The results page."""
    seeds = len({row["seed"] for row in rows})
    parts = [HEADLINE, f"Here: {len(rows)} runs, {seeds} seed{'s' if seeds > 1 else ''} at most."]
    endurance = [row for row in rows if row["kind"] == "endurance"]
    if endurance:
        parts += ["\n## Endurance, trot at 0.5 m/s\n", _endurance(endurance)]
    for kind, title in (("loads", "Loads"), ("pushes", "Pushed by 40 N for 0.2 s, loaded")):
        chosen = [row for row in rows if row["kind"] == kind]
        if chosen:
            parts += [f"\n## {title}\n", _loads(chosen)]
    solves = np.array([row["solve_ms"] for row in rows if "solve_ms" in row])
    parts.append(
        f"\nProcessor time of a solve, in lockstep with estimator and simulator beside it: median "
        f"{np.median(solves[:, 0]):.1f} ms, 99 % below {np.median(solves[:, 1]):.1f} ms in the "
        f"median run, below {solves[:, 1].max():.1f} ms in the worst.\n"
    )
    return "\n".join(parts)


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _mean(rows: list[dict], part: str, score: str) -> float:
    values = [row[part][score] for row in rows if part in row]
    return float(np.nanmean(values)) if len(values) and np.isfinite(values).any() else float("nan")


def _text(value: float, factor: float, digits: int) -> str:
    return "-" if np.isnan(value) else f"{factor * value:.{digits}f}"


def _endurance(rows: list[dict]) -> str:
    groups = defaultdict(list)
    for row in rows:
        groups[row["robot"], row["name"]].append(row)
    lines = []
    for (robot, name), group in groups.items():
        worst = max(row["walked"]["velocity"] for row in group)
        lines.append(
            [
                robot,
                name,
                f"{sum(row['fell'] or bool(row['stopped']) for row in group)} of {len(group)}",
                f"{_mean(group, 'walked', 'velocity'):.3f} (worst {worst:.3f})",
                *(
                    _text(_mean(group, "walked", score), *COLUMNS[score][1:])
                    for score in ("roll", "pitch", "peak_torque")
                ),
            ]
        )
    return _table(
        ["robot", "ground", "falls", "velocity [m/s]", "roll [deg]", "pitch [deg]", "peak [Nm]"],
        lines,
    )


def _loads(rows: list[dict]) -> str:
    groups = defaultdict(list)
    for row in rows:
        groups[row["robot"], row["gait"], row["name"], row["update"]].append(row)
    lines = []
    for (robot, gait, place, update), group in sorted(groups.items(), key=_order):
        mass = [row["mass_error"] for row in group if "mass_error" in row]
        lines.append(
            [
                robot,
                gait,
                place,
                update,
                f"{sum(row['fell'] or bool(row['stopped']) for row in group)} of {len(group)}",
                *(_text(_mean(group, "loaded", s), *c[1:]) for s, c in COLUMNS.items()),
                f"{100 * max(mass):.1f}" if mass else "-",
            ]
        )
    header = ["robot", "gait", "load", "update", "falls", *(c[0] for c in COLUMNS.values())]
    return _table([*header, "mass after 0.4 s [%]"], lines)


def _order(entry) -> tuple:
    robot, gait, place, update = entry[0]
    gaits, places = ("stand", "trot", "walk", "bound"), ("middle", "side", "back")
    return robot, gaits.index(gait), places.index(place), ("off", "on", "true").index(update)


def draw(path: Path) -> None:
    """Figure of one run: a Go1 that is given 7.2 kg, to its back and side, while it trots."""
    from loop import END, LOADS, OFF, ON, straight

    from prime_estimation.closed_loop.scenario import UPDATES, Scenario, play
    from prime_estimation.simulate.payload import Payload
    from prime_estimation.viz.walk_figure import save_walks

    load = Payload(LOADS["go1"], (-0.1, 0.05, 0.1))
    told = dict(load=load, load_on=ON, load_off=OFF)
    traces = {
        update: play(Scenario("go1", "trot", straight(0.5), END, update=update, **told)).trace
        for update in UPDATES
    }
    title = "Go1, trot at 0.5 m/s; 7.2 kg, 10 cm back and 5 cm aside, while shaded"
    path.parent.mkdir(exist_ok=True)
    save_walks(path, traces, (ON, OFF), 2.0, title)
