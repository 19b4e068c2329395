# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Closed loop: does a walking robot's controller gain by the estimated inertia?

    python benchmarks/loop.py [--seeds 3] [--gait-seeds 1] [--only loads] [--out prime_runs/loop]

A simulated robot walks on its own estimate, without motion capture. Loads: put on and taken off
while it stands, trots, walks and bounds; above its middle, 5 cm to the side, 10 cm to the back; the
controller learns nothing of it (off), what the estimator says (on), or the truth at once (true,
which nobody has). Pushes: trotting with the load on. Endurance: level ground with turns, and bumps
of 3 cm. Runs are kept in the folder and not repeated, and a benchmark that was interrupted goes on;
the table goes to benchmarks/results/loop.md, the figure to docs/figures.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from prime_estimation.closed_loop.scenario import UPDATES, Push, Run, Scenario, play
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.simulate.ground import Ground
from prime_estimation.simulate.payload import Payload

ROOT = Path(__file__).resolve().parent
KINDS = ("loads", "pushes", "endurance")
LOADS = {"go2": 4.6, "go1": 7.2}  # kg
PLACES = {"middle": (0.0, 0.0, 0.1), "side": (0.0, 0.05, 0.1), "back": (-0.1, 0.0, 0.1)}  # m
SPEEDS = {"stand": 0.0, "trot": 0.5, "walk": 0.25, "bound": 0.4}  # m/s
ON, OFF, END = 4.0, 7.0, 9.0  # s
SETTLED = 1.0  # s after a change, from which on the robot is judged
KNOWN = 0.4  # s after a change, at which the mass is judged
PUSH = Push((0.0, 40.0, 0.0), 5.5, 0.2)
LEVEL, BUMPS, BUMP_HEIGHT = 62.0, 32.0, 0.03  # s, s, m
WARM = 3.0  # s, of walking before an endurance run is judged


@dataclass(frozen=True)
class Case:
    """A scenario with a name."""

    kind: str
    name: str
    scenario: Scenario

    @property
    def key(self) -> str:
        """Name of the file that keeps its result."""
        s = self.scenario
        return f"{self.kind}_{self.name}_{s.robot}_{s.gait}_{s.update}_{s.seed}"


def straight(speed: float):
    """Straight on."""
    return lambda t: VelocityCommand(vx=speed)


def turning(t: float) -> VelocityCommand:
    """0.5 m/s with turns to both sides."""
    return VelocityCommand(vx=0.5, yaw_rate=0.6 * np.sin(0.6 * t))


def cases(seeds: int, gait_seeds: int, kinds: set[str]) -> Iterator[Case]:
    """All of them, seed by seed; gaits other than the trot for the first `gait_seeds` only."""
    for seed in range(seeds):
        for robot, mass in LOADS.items():
            if "endurance" in kinds:
                level = Scenario(robot, "trot", turning, LEVEL, seed=seed)
                bumps = Scenario(
                    robot, "trot", straight(0.5), BUMPS, Ground(bump_height=BUMP_HEIGHT), seed=seed
                )
                yield Case("endurance", "level", level)
                yield Case("endurance", "bumps", bumps)
            for update in UPDATES:
                for gait, speed in SPEEDS.items():
                    if gait != "trot" and seed >= gait_seeds:
                        continue
                    for place, position in PLACES.items():
                        loaded = Scenario(
                            robot,
                            gait,
                            straight(speed),
                            END,
                            load=Payload(mass, position),
                            load_on=ON,
                            load_off=OFF,
                            update=update,
                            seed=seed,
                        )
                        if "loads" in kinds:
                            yield Case("loads", place, loaded)
                        if "pushes" in kinds and gait == "trot" and place == "middle":
                            pushed = {**vars(loaded), "pushes": (PUSH,)}
                            yield Case("pushes", place, Scenario(**pushed))


def judged(case: Case, run: Run) -> dict:
    """Figures of a run."""
    trace, scenario = run.trace, case.scenario
    end = float(trace.t[-1])
    out = dict(
        kind=case.kind,
        name=case.name,
        robot=scenario.robot,
        gait=scenario.gait,
        update=scenario.update,
        seed=scenario.seed,
        fell=run.fell,
        stopped=run.stopped,
        end=end,
        solve_ms=(1e3 * np.percentile(run.solve_times, [50, 99])).tolist(),
    )
    if case.kind == "endurance":
        return out | {"walked": asdict(trace.scores(WARM, end))}
    if end < OFF:  # it fell with the load on
        return out
    true_mass = (
        float(trace.mass[(trace.t > ON - 0.5) & (trace.t < ON)].mean()) + LOADS[scenario.robot]
    )
    after = (trace.t > ON + KNOWN) & (trace.t < OFF)
    out |= {
        "mass_error": float(np.abs(trace.mass[after] - true_mass).max() / true_mass),
        "before": asdict(trace.scores(WARM, ON)),
        "loaded": asdict(trace.scores(ON + SETTLED, OFF)),
    }
    return out | {"after": asdict(trace.scores(OFF + SETTLED, end))} if end > OFF + SETTLED else out


def measure(folder: Path, todo: list[Case]) -> list[dict]:
    """Rows of all cases; those that were run before are read."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    began = time.monotonic()
    for i, case in enumerate(todo):
        path = folder / f"{case.key}.json"
        if not path.exists():
            path.write_text(json.dumps(judged(case, play(case.scenario))))
            done = f"{i + 1}/{len(todo)} {case.key} {time.monotonic() - began:.0f} s"
            print(done, file=sys.stderr, flush=True)
        rows.append(json.loads(path.read_text()))
    return rows


def main() -> None:
    """Measure, write table and figure."""
    from loop_report import draw, report

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="runs of each case (default: 3)")
    parser.add_argument(
        "--gait-seeds", type=int, default=1, help="of gaits other than the trot (default: 1)"
    )
    parser.add_argument(
        "--report", action="store_true", help="run nothing: report what the folder has"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=KINDS,
        default=KINDS,
        help="kinds of cases (default: all)",
    )
    parser.add_argument("--out", type=Path, default=Path("prime_runs/loop"), help="folder of runs")
    args = parser.parse_args()
    if args.report:
        rows = [json.loads(path.read_text()) for path in sorted(args.out.glob("*.json"))]
    else:
        rows = measure(args.out, list(cases(args.seeds, args.gait_seeds, set(args.only))))
    text = report(rows)
    print(text)
    (ROOT / "results").mkdir(exist_ok=True)
    (ROOT / "results" / "loop.md").write_text(text)
    draw(ROOT.parent / "docs" / "figures" / "loop.png")


if __name__ == "__main__":
    main()
