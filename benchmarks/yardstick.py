# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Both estimators on every recorded run, scored by the same code, as a Markdown table.

    python benchmarks/yardstick.py [FOLDER] [--runs 'go2_*'] [--only-mocap | --no-mocap] [--keep
    DIR] [--json]

FOLDER holds runs (rosbag2 folders with `/ground_truth/...`), each with its JSON beside it; default:
`../shared/data/sim` beside this repository. Each run goes through `prime replay` and through the
contact-aided EKF (`contact_ekf.py`; as tuned here, and as published: foot positions only). Needs
prime_estimation installed, or PYTHONPATH set to the repository.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from contact_ekf import run_bag
from invariant_ekf import PUBLISHED, Tuning

from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.evaluation.scores import evaluate

HERE = Path(__file__).resolve().parent
FILTERS = {"ekf": Tuning(), "ekf_published": PUBLISHED}


def find_runs(folder: Path, pattern: str) -> dict[str, tuple[Path, str]]:
    """Bag and robot of each matching run of the folder, for robots with a configuration."""
    runs = {}
    for meta in sorted(folder.glob(f"{pattern}.json")):
        bag = meta.with_suffix("")
        robot = json.loads(meta.read_text()).get("robot", "")
        try:
            Config.load(robot)
        except PrimeError as error:
            print(f"{meta.stem}: left out, {error}", file=sys.stderr)
            continue
        if bag.exists():
            runs[meta.stem] = (bag, robot)
    return runs


def score_prime(bag: Path, robot: str, mocap: bool, out: Path) -> dict:
    """`prime replay` in a process of its own, as a user runs it, then the scores of its output."""
    command = [
        sys.executable,
        "-m",
        "prime_estimation.cli",
        "replay",
        str(bag),
        "--robot",
        robot,
        "--out",
        str(out),
    ]
    options = ["--no-progress", "--json"] + ([] if mocap else ["--no-mocap"])
    done = subprocess.run(command + options, capture_output=True, text=True)
    if done.returncode:
        return {
            "error": done.stderr.strip().splitlines()[-1]
            if done.stderr.strip()
            else f"exit {done.returncode}"
        }
    summary = json.loads(done.stdout)
    kept = ("real_time_factor", "restarts", "refused_steps", "counts")
    return {**evaluate(out, bag), "replay": {k: summary[k] for k in kept if k in summary}}


def score_filter(bag: Path, robot: str, mocap: bool, out: Path, tuning: Tuning) -> dict:
    """The EKF and its scores."""
    try:
        run_bag(bag, robot, out, mocap, tuning)
        return evaluate(out, bag)
    except PrimeError as error:
        return {"error": str(error)}


def score_run(bag: Path, robot: str, mocap: bool, folder: Path) -> dict:
    """Scores of all estimators on one run."""
    name = f"{bag.name}_{'mocap' if mocap else 'nomocap'}"
    scores = {
        "run": bag.name,
        "mocap": mocap,
        "prime": score_prime(bag, robot, mocap, folder / f"{name}.mcap"),
    }
    for label, tuning in FILTERS.items():
        scores[label] = score_filter(bag, robot, mocap, folder / f"{name}_{label}.mcap", tuning)
    return scores


# --- the table ------------------------------------------------------------------------------------


def _get(scores: dict, *path):
    for key in path:
        scores = scores.get(key) if isinstance(scores, dict) else None
    return scores


def _link(scores: dict):
    inertia = _get(scores, "inertia") or {}
    return next(
        (v for v in inertia.values() if isinstance(v, dict) and "mass_error_final_kg" in v), {}
    )


def _sensor_margin(scores: dict):
    """Largest ratio of an estimate's error to its own sensor's (joint position, joint rate)."""
    estimate, sensor = _get(scores, "joints", "estimate"), _get(scores, "joints", "sensor")
    return max(estimate[k] / sensor[k] for k in estimate) if estimate and sensor else None


# heading, format, value of one run's scores
COLUMNS = [
    (
        "velocity [mm/s]",
        "{:.1f}",
        lambda s: _scaled(1e3, s["prime"], "odometry", "velocity_rmse_mps"),
    ),
    ("EKF", "{:.1f}", lambda s: _scaled(1e3, s["ekf"], "odometry", "velocity_rmse_mps")),
    (
        "EKF publ.",
        "{:.1f}",
        lambda s: _scaled(1e3, s["ekf_published"], "odometry", "velocity_rmse_mps"),
    ),
    ("drift [%]", "{:.2f}", lambda s: _get(s["prime"], "odometry", "drift_percent")),
    ("EKF", "{:.2f}", lambda s: _get(s["ekf"], "odometry", "drift_percent")),
    ("EKF publ.", "{:.2f}", lambda s: _get(s["ekf_published"], "odometry", "drift_percent")),
    ("over 4 s [mm]", "{:.1f}", lambda s: _scaled(1e3, s["prime"], "odometry", "segment_error_m")),
    ("EKF", "{:.1f}", lambda s: _scaled(1e3, s["ekf"], "odometry", "segment_error_m")),
    (
        "EKF publ.",
        "{:.1f}",
        lambda s: _scaled(1e3, s["ekf_published"], "odometry", "segment_error_m"),
    ),
    ("position [mm]", "{:.1f}", lambda s: _scaled(1e3, s["prime"], "odometry", "position_rmse_m")),
    ("EKF", "{:.1f}", lambda s: _scaled(1e3, s["ekf"], "odometry", "position_rmse_m")),
    ("mass error [kg]", "{:+.3f}", lambda s: _link(s["prime"]).get("mass_error_final_kg")),
    ("max after 5 s", "{:.3f}", lambda s: _link(s["prime"]).get("mass_error_max_after_5s_kg")),
    ("covered", "{:.2f}", lambda s: _link(s["prime"]).get("mass_coverage95_after_1s")),
    (
        "com [mm]",
        "{:.1f}",
        lambda s: 1e3 * _link(s["prime"])["com_error_final_m"] if _link(s["prime"]) else None,
    ),
    ("settling [s]", "{:.2f}", lambda s: _link(s["prime"]).get("settling_after_payload_s")),
    (
        "force 40 ms [%]",
        "{:.1f}",
        lambda s: _scaled(100, s["prime"], "contacts", "mean_relative_rmse_40ms"),
    ),
    ("10 ms", "{:.1f}", lambda s: _scaled(100, s["prime"], "contacts", "mean_relative_rmse")),
    ("F1", "{:.3f}", lambda s: _get(s["prime"], "contacts", "mean_contact_f1")),
    ("vs sensor", "{:.2f}", lambda s: _sensor_margin(s["prime"])),
    ("NEES velocity", "{:.1f}", lambda s: _get(s["prime"], "odometry", "nees_velocity")),
    (
        "NEES position",
        "{:.1f}",
        lambda s: _get(s["prime"], "odometry", "nees_position") if s["mocap"] else None,
    ),
    (
        "solve p50 [ms]",
        "{:.1f}",
        lambda s: (_get(s["prime"], "speed", "solve_ms_p50_p99_max") or [None])[0],
    ),
    (
        "p99",
        "{:.1f}",
        lambda s: (_get(s["prime"], "speed", "solve_ms_p50_p99_max") or [None, None])[1],
    ),
]


def _scaled(factor: float, scores: dict, *path):
    value = _get(scores, *path)
    return None if value is None else factor * value


def markdown(results: list[dict]) -> str:
    """One row per run. A dash.

    Not there, or without meaning (absolute position without motion capture).
    """
    lines = [
        "| run | mocap | " + " | ".join(c[0] for c in COLUMNS) + " |",
        "|---|---|" + "---:|" * len(COLUMNS),
    ]
    for scores in results:
        values = [(form, value(scores)) for _, form, value in COLUMNS]
        cells = ["-" if v is None else form.format(v) for form, v in values]
        lines.append(
            f"| {scores['run']} | {'yes' if scores['mocap'] else 'no'} | "
            + " | ".join(cells)
            + " |"
        )
    errors = [
        f"{s['run']}, mocap {s['mocap']}, {k}: {v['error']}"
        for s in results
        for k, v in s.items()
        if _get(v, "error")
    ]
    return "\n".join(lines + [""] * bool(errors) + errors)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=HERE.parents[1] / "shared" / "data" / "sim"
    )
    parser.add_argument("--runs", default="*", metavar="GLOB", help="names of the runs")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--only-mocap", action="store_true")
    choice.add_argument("--no-mocap", action="store_true")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the output bags there, and scores.json"
    )
    parser.add_argument(
        "--json", action="store_true", help="all scores as JSON instead of the table"
    )
    args = parser.parse_args()
    runs = find_runs(args.folder, args.runs)
    if not runs:
        print(f"yardstick: no runs '{args.runs}' in {args.folder}", file=sys.stderr)
        return 2
    modes = [True] if args.only_mocap else [False] if args.no_mocap else [True, False]
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for mocap in modes:
            for name, (bag, robot) in runs.items():
                print(f"{name}, {'with' if mocap else 'without'} mocap", file=sys.stderr)
                results.append(score_run(bag, robot, mocap, folder))
                # a long series may be interrupted
                (folder / "scores.json").write_text(json.dumps(results, indent=1))
    print(json.dumps(results, indent=1) if args.json else markdown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
