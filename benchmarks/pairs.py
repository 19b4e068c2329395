# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time of an update beside another version of this package, built in a folder of its own.

    python benchmarks/pairs.py FOLDER [--robots go2 g1] [--seconds 9] [--json]

Each version runs in its own process with its own environment (`FOLDER/.venv`), default settings,
one thread. Both get each measurement of a recorded walk in turn, so that whatever else the machine
does slows both. Wall and CPU time [ms] from measurement to estimate with covariances, and their
ratios, this version by the other; the start batch does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from recordings import RUNS, existing, table

WALKS = {"go2": "go2_payload3", "g1": "g1_walk_payload29"}
STARTED = 100  # nodes after which every window has begun
PYTHON = Path(".venv/bin/python")
COLUMNS = {
    "robot": "", "version": "", "updates": "d", "p50 [ms]": ".2f", "p99 [ms]": ".2f",
    "CPU p50 [ms]": ".2f", "CPU p99 [ms]": ".2f", "ratio p50": ".2f", "ratio p99": ".2f",
    "CPU ratio p50": ".2f", "CPU ratio p99": ".2f",
}  # fmt: skip
# runs in either version: one line in, one update, its wall and CPU time [s] out
CHILD = """
import sys, time
from pathlib import Path
from prime_estimation import Config, Estimator, Robot
try:
    from prime_estimation.recordings.samples import measurements
except ImportError:  # where 0.1.0 had it
    from prime_estimation.recorded import measurements
robot, run, seconds = sys.argv[1:]
config = Config.load(robot)
model = Robot(config.robot)
samples = measurements(Path(run), model, config.estimator.step, span=(0.0, float(seconds)))
estimator = Estimator(model, config)
print(len(samples), flush=True)
for sample in samples:
    sys.stdin.readline()
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.update(sample)
    print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
"""


def pair(robot: str, seconds: float, folders: list[Path]) -> np.ndarray:
    """Times (versions, updates, 2) [ms]: wall, CPU."""
    children = [_child(folder, robot, seconds) for folder in folders]
    number = min(int(child.stdout.readline()) for child in children)
    times = np.zeros((len(children), number, 2))
    for k in range(number):
        for child, row in zip(children, times[:, k]):
            child.stdin.write("\n")
            child.stdin.flush()
            row[:] = [1e3 * float(value) for value in child.stdout.readline().split()]
    for child in children:
        child.kill()
        child.wait()
    return times[:, STARTED:]


def _child(folder: Path, robot: str, seconds: float) -> subprocess.Popen:
    command = [folder / PYTHON, "-c", CHILD, robot, str(RUNS / WALKS[robot]), str(seconds)]
    return subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def rows(robot: str, times: np.ndarray) -> list[dict]:
    """The other version, then this one with its ratios to it."""
    out = []
    shares = np.percentile(times, [50, 99], axis=1)  # (2, versions, 2)
    for version, name in enumerate(("other", "this")):
        (wall, cpu), (wall99, cpu99) = shares[:, version]
        row = {"robot": robot, "version": name, "updates": times.shape[1]}
        row |= {"p50 [ms]": wall, "p99 [ms]": wall99, "CPU p50 [ms]": cpu, "CPU p99 [ms]": cpu99}
        if version:
            ratio = shares[:, 1] / shares[:, 0]
            row |= {"ratio p50": ratio[0, 0], "ratio p99": ratio[1, 0]}
            row |= {"CPU ratio p50": ratio[0, 1], "CPU ratio p99": ratio[1, 1]}
        out.append(row)
    return out


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=existing, help="of the other version")
    parser.add_argument("--robots", nargs="+", default=list(WALKS), choices=list(WALKS))
    parser.add_argument("--seconds", type=float, default=9.0, help="length of the walks")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    args = parser.parse_args()
    folders = [args.folder.resolve(), Path(__file__).resolve().parents[1]]
    out = [row for r in args.robots for row in rows(r, pair(r, args.seconds, folders))]
    print(json.dumps(out, indent=1) if args.json else table(out, COLUMNS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
