# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time of a bi-level calibration on a walk: offsets, then each iteration of the noise.

    OMP_NUM_THREADS=1 python benchmarks/bilevel.py [--run go2_long90_payload3] [--seconds 30.1]
    [--iterations 15] [--oracle semidefinite]

54 parameters of nine covariance blocks, and 15 offsets (feet, tracked body; the rotation of that is
estimated with them). CPU time [s] of this process, which has one thread, beside the time on the
wall; an iteration is a gradient and as many optima of the lower level as its step takes.
"""

from __future__ import annotations

import argparse
import sys
import time

from recordings import RUNS, table

from prime_estimation.calibration.bilevel import NoiseObjective
from prime_estimation.calibration.frank_wolfe import ORACLES, Descent, frank_wolfe
from prime_estimation.calibration.noise import NoiseModel
from prime_estimation.calibration.offsets import Offsets
from prime_estimation.calibration.recording import read_recording
from prime_estimation.calibration.single import calibrate_run
from prime_estimation.calibration.trajectory import initial_offsets
from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.robot import Robot

COLUMNS = {"what": "", "CPU [s]": ".2f", "wall [s]": ".2f", "loss": ".4f", "step": ".3f"}


class Clock:
    """Rows of a table, one for what was done since the last one."""

    def __init__(self):
        self.rows: list[dict] = []
        self._last = time.process_time(), time.perf_counter()

    def tick(self, what: str, **more: float) -> None:
        """Add a row."""
        now = time.process_time(), time.perf_counter()
        cpu, wall = (b - a for a, b in zip(self._last, now))
        self.rows.append({"what": what, "CPU [s]": cpu, "wall [s]": wall, **more})
        self._last = now


def measure(args: argparse.Namespace) -> list[dict]:
    """Rows of a calibration."""
    config, robot, clock = Config.load(args.robot), Robot.load(args.robot), Clock()
    noise = NoiseModel.of(config, 3)
    recording = read_recording(RUNS / args.run, robot, span=(0.0, args.seconds))
    clock.tick(f"reading {len(recording)} nodes")
    nominal = initial_offsets(recording, Offsets.nominal(robot))
    run = calibrate_run(recording, robot, nominal, noise, ("feet", "mocap"))
    clock.tick(f"offsets, {run.result.iterations} iterations of Newton's")
    velocity = run.result.trajectory.velocity
    objective = NoiseObjective(robot, [recording], run.result.offsets, noise, [velocity])
    clock.tick("first lower level")

    def keep(descent: Descent) -> None:
        last = descent.history[-1]
        clock.tick(f"iteration {len(descent.history)}", loss=descent.after, step=last.step)

    frank_wolfe(objective, noise, args.oracle, iterations=args.iterations, keep=keep)
    return clock.rows


def main() -> int:
    """Print the table; 2 where it cannot be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", default="go2_long90_payload3")
    parser.add_argument("--robot", default="go2")
    parser.add_argument("--seconds", type=float, default=30.1)
    parser.add_argument("--iterations", type=int, default=15)
    parser.add_argument("--oracle", choices=ORACLES, default=ORACLES[0])
    args = parser.parse_args()
    try:
        print(table(measure(args), COLUMNS))
    except PrimeError as error:
        print(f"bilevel: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
