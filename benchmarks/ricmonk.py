# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Loads of RicMonk, a brachiating robot, found while it hangs on one hook.

    python benchmarks/ricmonk.py FOLDER

What runs without load leave open (friction, gears, inertia) is estimated together with the load of
the run: the runs without load are a tare. They are those of the same direction, where there are
any. Each run without load is found as if it had one, from the others: what comes out is added to
the stated deviations, as the scatter from run to run. Nothing is chosen per run.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from recordings import existing
from ricmonk_runs import ARM, Run, Swing
from tables import table

from prime_estimation.fixed_base import Machine, Payload, Weights, estimate
from prime_estimation.robot import Robot

STEP, ITERATIONS = 0.01, 50  # s
SMOOTH = 0.2  # rad/s, at which dry friction of the gears has turned
WEIGHTS = Weights(
    position=[0.15, 2e-3, 2e-3],  # of the hook: 20 mrad, the same for a whole swing
    torque=[0.2, 0.15, 0.05],
    rate=[0.15, 1.0, 1.0],
)
# scale: the mass of the tail and the torques of the motors
FREE = {
    "arm_1.my": (-0.2, 0.3),
    "arm_1.mz": (-0.15, 0.15),
    "arm_1.Ixx": (-0.15, 0.1),
    "tail.my": (0.1, 0.9),
    "tail.mz": (-0.1, 0.1),
    "tail.Ixx": (0.02, 0.3),
    "arm_2.my": (0.0, 0.2),
    "arm_2.mz": (-0.03, 0.03),
    "arm_2.Ixx": (0.001, 0.06),
    "tail_joint.armature": (0.0, 0.05),
    "delay": (-0.03, 0.03),
} | {
    f"{joint}.{kind}": box
    for joint in ("hook_joint", "tail_joint", "phi_joint")
    for kind, box in (("viscous", (0.0, 0.5)), ("dry", (0.0, 1.0)), ("gear_loss", (0.0, 0.4)))
    if (joint, kind) != ("hook_joint", "gear_loss")
}
MASS = (-3.0, 3.0)  # kg
TOLD = 0.1  # kg, stated deviation above which a run does not tell a load there
PLACES = ("first free arm", "other arm", "both arms", "tail")
HALF, BOX = 0.5 * ARM, 0.33  # m from the shoulder: half of an arm, the box at the tail's end


@dataclass(frozen=True)
class Load:
    """Mass [kg] and distance from the shoulder [m] with deviations, cost of the fit."""

    mass: float
    mass_stddev: float
    distance: float
    distance_stddev: float
    cost: float


def payloads(place: str, swing: Swing, share: float) -> list[Payload]:
    """A point mass along a link, from the shoulder on.

    "first free arm": the one that is free in odd swings; in even ones it hangs on it.
    """
    free = ("arm_2", (0.0, 0.0, 0.0), 1.0)
    held = ("arm_1", (0.0, ARM, 0.0), -1.0)
    first, other = (free, held) if swing.odd else (held, free)
    links = {
        "first free arm": [first],
        "other arm": [other],
        "both arms": [first, other],
        "tail": [("tail", (0.0, 0.0, 0.0), 1.0)],
    }[place]
    return [
        Payload("load", link, shoulder, share / len(links), (0.0, down, 0.0))
        for link, shoulder, down in links
    ]


def find(run: Run, tare: list[Run], place: str, known: bool) -> Load:
    """The load of a run against others without: in the middle of a link, or anywhere on it."""
    robot, middle = Robot.load("ricmonk"), BOX if place == "tail" else HALF
    swings = [(swing, r is run) for r in (run, *tare) for swing in r.swings]
    machines = [Machine(robot, SMOOTH, payloads(place, s, float(loaded))) for s, loaded in swings]
    boxes = FREE | {"load.mass": MASS} | ({} if known else {"load.along": (0.0, 2.0 * middle)})
    found = estimate(
        machines,
        [swing.recording for swing, _ in swings],
        boxes,
        WEIGHTS,
        STEP,
        start={"load.along": middle, "load.mass": 0.1},
        max_iterations=ITERATIONS,
    )
    mass, distance = (
        (found.parameters.get(name, middle), found.stddev.get(name, 0.0))
        for name in ("load.mass", "load.along")
    )
    return Load(*mass, *distance, found.solution.costs[-1])


def tare_of(run: Run, runs: list[Run]) -> list[Run]:
    """The other runs without load, those of the same direction if there are any."""
    others = [r for r in runs if r.load == 0.0 and r is not run]
    return [r for r in others if r.backward == run.backward] or others


def controls(runs: list[Run]) -> list[Run]:
    """Runs without load that have a tare of their own direction."""
    none = [r for r in runs if r.load == 0.0]
    return [r for r in none if any(o.backward == r.backward and o is not r for o in none)]


def report(folder: Path) -> str:
    """Table of all runs."""
    runs = [Run.read(path) for path in sorted(folder.glob("*.csv"))]
    loads = {
        (run.name, place): find(run, tare_of(run, runs), place, known=True)
        for run in runs
        for place in PLACES
    }
    names, rows = [run.name for run in controls(runs)], []
    for run in runs:
        rows.append([run.name, "?" if run.load is None else f"{1e3 * run.load:.0f}"])
        rows[-1] += [_mass(loads, run.name, place, names) for place in PLACES]
        rows[-1] += ["", "", ""] if run.load == 0.0 else _anywhere(run, runs, loads)
    return "\n".join([TEXT, table(HEAD, rows)])


def _mass(loads: dict[tuple[str, str], Load], name: str, place: str, unloaded: list[str]) -> str:
    """Mass +- deviation [g], that of the fit and the scatter of runs without load together."""
    load = loads[name, place]
    if load.mass_stddev > TOLD:
        return "not told"
    others = [loads[n, place] for n in unloaded if n != name]
    scatter = [other.mass for other in others if other.mass_stddev < TOLD]
    total = np.hypot(load.mass_stddev, np.sqrt(np.mean(np.square(scatter))) if scatter else 0.0)
    return f"{1e3 * load.mass:+.0f} +- {1e3 * total:.0f}"


def _anywhere(run: Run, runs: list[Run], loads: dict[tuple[str, str], Load]) -> list[str]:
    """Link on which a load explains the torques best, its mass and place there."""
    told = [p for p in PLACES if loads[run.name, p].mass_stddev < TOLD]
    best = min(told, key=lambda place: loads[run.name, place].cost)
    load = find(run, tare_of(run, runs), best, known=False)
    return [
        best,
        f"{1e3 * load.mass:+.0f} +- {1e3 * load.mass_stddev:.0f}",
        f"{load.distance:.2f} +- {load.distance_stddev:.2f}",
    ]


TEXT = f"""Loads found while RicMonk hangs on one hook [g], with one standard deviation: stated, and
the scatter of the other runs without load, which are each found from the rest as if they had a
load. First where it would have to be half along an arm ({HALF:.3f} m from the shoulder; the arm
that is free in the first swing, the other one, half of it on each) or in the box at the tail's end
({BOX} m); then, for runs with a load, the link where it explains the torques best, and mass and
distance from the shoulder [m] of a point mass anywhere on it (stated deviations). Not told: stated
deviation above {1e3 * TOLD:.0f} g. Tare: runs without load in the same direction; a run that has
none (6xBackward) takes those of the other one.
"""
HEAD = ["run", "load", *PLACES, "best", "mass, place unknown", "place"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=existing, help="of the CSVs, named as in the repository")
    print(report(parser.parse_args().folder))


if __name__ == "__main__":
    main()
