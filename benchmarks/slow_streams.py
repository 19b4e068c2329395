# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joints and IMU that are read less often than they were recorded, without motion capture.

    python benchmarks/slow_streams.py [RUN ...] [--robot go2] [--seconds 20] [--json]

RUN: bags with ground truth; default: go2_payload3 and go2_nominal beside this repository. Of joint
states and IMU as many samples are left as a stream of that rate would have. In: share of the
velocities and tilts inside their 95 % interval; a NEES of 3 is right.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from recordings import excerpt, measure_runs

from prime_estimation.config.parameters import Config
from prime_estimation.evaluation.scores import evaluate
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns
from prime_estimation.recordings.replay import replay
from prime_estimation.robot import Robot

TOPICS = "/joint_states", "/imu"
RATES = (  # Hz, of joints and IMU
    (500, 500),
    (200, 200),
    (100, 500),
    (50, 500),
    (30, 500),
    (500, 100),
    (500, 50),
    (100, 100),
    (50, 50),
    (40, 40),
)
EARLY_NS = 200_000  # by which a sample may be early, of those that a slower stream would have
COLUMNS = {
    "run": "", "joints [Hz]": "", "IMU [Hz]": "", "velocity [mm/s]": ".0f",
    "worst second [mm/s]": ".0f", "NEES": ".1f", "velocity in": ".2f", "tilt [mrad]": ".1f",
    "tilt in": ".2f",
}  # fmt: skip


def thinned(bag: Path, rates: Mapping[str, float], folder: Path) -> Path:
    """The bag with topics at no more than these rates [Hz]."""
    out, newest = folder / "thinned.mcap", dict.fromkeys(rates, float("-inf"))
    with BagReader(bag) as reader, BagWriter(out) as writer:
        for topic, arrival_ns, message in reader.messages():
            if topic in rates:
                stamp = stamp_ns(message.header)
                if stamp - newest[topic] < 1e9 / rates[topic] - EARLY_NS:
                    continue
                newest[topic] = stamp
            writer.write(topic, arrival_ns, message)
    return out


def figures(bag: Path, truth: Path, config: Config, folder: Path) -> dict:
    """Figures of a replay without motion capture."""
    out = folder / "out.mcap"
    replay(bag, Robot(config.robot), config, out, mocap=False)
    scores = evaluate(out, bag, truth_json=truth)["odometry"]
    return {
        "velocity [mm/s]": 1e3 * scores["velocity_rmse_mps"],
        "worst second [mm/s]": 1e3 * scores["worst_second_velocity_mps"],
        "NEES": scores["nees_velocity"],
        "velocity in": scores["coverage95_velocity"],
        "tilt [mrad]": 1e3 * scores["rollpitch_rmse_rad"],
        "tilt in": scores["coverage95_rollpitch"],
    }


def measure(run: Path, robot: str, seconds: float) -> list[dict]:
    """Rows of a run."""
    rows, truth, config = [], run.parent / f"{run.name}.json", Config.load(robot)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = excerpt(run, seconds, folder)
        for rates in RATES:
            bag = thinned(whole, dict(zip(TOPICS, rates)), folder)
            about = dict(zip(COLUMNS, (run.name, *map(str, rates))))
            rows.append({**about, **figures(bag, truth, config, folder)})
            print(f"{run.name}: {rates}", file=sys.stderr)
    return rows


def main() -> int:
    """Command line."""
    return measure_runs("slow_streams", __doc__, 20.0, measure, COLUMNS)


if __name__ == "__main__":
    sys.exit(main())
