# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Both estimators on logs of real robots, without motion capture, in one Markdown table.

    python benchmarks/real_logs.py [FOLDER] [--logs 'mini*'] [--keep DIR] [--json]

FOLDER holds the logs as their laboratories published them (`LOGS`); default:
`../shared/data/real` beside this repository. Each goes through `prime convert` with its shipped
mapping, then through `prime replay` with the shipped robot and nothing else said, and through the
contact-aided EKF (`contact_ekf.py`) on the same contact information, tuned for real robots
(`contact_ekf.ON_MACHINES`). Motion capture only compares: it is moved in time by the one delay at
which it turns as the gyro does, and the estimates are put on it at their start.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from contact_ekf import ON_MACHINES, run_bag
from real_reference import against_mocap, against_own_filter, motion_capture
from real_table import markdown
from scipy.spatial.transform import Rotation

from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.evaluation.motion import Motion
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.robot import Robot
from prime_estimation.types import Activity

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "real"
# figures that want the clock of the motion capture
IN_TIME = ("velocity", "worst_second", "segments", "tilt", "tilt_max", "yaw")


@dataclass(frozen=True)
class Log:
    """A log, the shipped mapping that makes a bag of it, and the shipped robot."""

    path: str
    mapping: str
    robot: str
    hangs: bool = False
    # frames of its motion capture are regular: what changes within a second can be compared
    clocked: bool = True

    @property
    def name(self) -> str:
        """Name in the table."""
        return Path(self.path).stem


def _mini_cheetah(run: str, hangs: bool = False) -> Log:
    path = f"mini_cheetah_umich/{run}.npz"
    return Log(path, "mini_cheetah_umich", "mini_cheetah", hangs)


LOGS = (
    Log("a1_sipo_mocap", "sipo_a1", "a1"),
    Log("go1_cerberus2_serow", "serow_go1", "go1", clocked=False),
    _mini_cheetah("concrete_left_circle"),
    _mini_cheetah("sidewalk"),
    _mini_cheetah("asphalt_road"),
    _mini_cheetah("forest"),
    _mini_cheetah("small_pebble"),
    _mini_cheetah("air_walking_gait", hangs=True),
)


def prime(*arguments: str) -> dict:
    """What a verb of `prime` says, run in a process of its own as a user runs it.

    Raises:
        PrimeError: it failed.
    """
    command = [sys.executable, "-m", "prime_estimation.cli", *arguments, "--no-progress", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        raise PrimeError(f"prime {arguments[0]}: {said[-1]}", arguments)
    return json.loads(done.stdout)


def messages(bag: Path, *topics: str) -> dict[str, list]:
    """Messages of a bag by topic; none where it has no such topic."""
    out: dict[str, list] = {topic: [] for topic in topics}
    with BagReader(bag) as reader:
        for topic, _, message in reader.messages([t for t in topics if t in reader.topics]):
            out[topic].append(message)
    return out


def own_attitude(bag: Path) -> tuple[np.ndarray, Rotation] | None:
    """Stamps [s] and attitude by the robot's own filter; None: it has none."""
    readings = [
        (stamp_ns(m.header) * 1e-9, [m.orientation.x, m.orientation.y, m.orientation.z])
        + (m.orientation.w,)
        for m in messages(bag, "/imu")["/imu"]
        if m.orientation_covariance[0] != -1.0
    ]
    if not readings:
        return None
    return np.array([t for t, *_ in readings]), Rotation.from_quat(
        [[*v, w] for _, v, w in readings]
    )


def motion_figures(log: Log, bag: Path, out: Path) -> dict:
    """Figures of the odometry in an output bag."""
    estimate = Motion(messages(out, "/prime/odometry")["/prime/odometry"], 0)
    reference = motion_capture(bag, Robot(Config.load(log.robot).robot))
    if reference is not None:
        figures = against_mocap(estimate, reference)
        untold = () if log.clocked else IN_TIME
        return {**{k: v for k, v in figures.items() if k not in untold}, "delay": reference.delay}
    attitude = own_attitude(bag)
    return against_own_filter(estimate, *attitude) if attitude else {}


def hanging_figures(out: Path) -> dict:
    """Seconds until a robot that hangs is said to, and the largest force at a foot [N]."""
    found = messages(out, "/prime/status", "/prime/contact_wrenches")
    status = found["/prime/status"]
    said = [stamp_ns(m.header) for m in status if m.activity == Activity.SUSPENDED]
    forces = [
        np.linalg.norm([c.wrench.force.x, c.wrench.force.y, c.wrench.force.z])
        for m in found["/prime/contact_wrenches"]
        for c in m.contacts
    ]
    share = len(said) / len(status)
    return {"suspended": said[0] if said else None, "share": share, "force": float(max(forces))}


def score_prime(log: Log, bag: Path, folder: Path) -> dict:
    """`prime replay` without motion capture, and the scores of its output."""
    out = folder / f"{log.name}_prime.mcap"
    said = prime("replay", str(bag), "--robot", log.robot, "--no-mocap", "--out", str(out))
    kept = {
        "mass": said["total_mass_kg"],
        "mass_stddev": said["total_mass_stddev_kg"],
        "observable": any(b["observable"] for b in said["bodies"].values()),
        "restarts": said["restarts"],
        "speed": said["real_time_factor"],
    }
    if log.hangs:
        hanging = hanging_figures(out)
        if hanging["suspended"] is not None:
            with BagReader(bag) as reader:
                hanging["suspended"] = (hanging["suspended"] - reader.start_ns) * 1e-9
        return {**kept, **hanging}
    return {**kept, **motion_figures(log, bag, out)}


def score_filter(log: Log, bag: Path, folder: Path) -> dict:
    """The EKF and its scores; nothing where the robot hangs, of which it knows nothing."""
    if log.hangs:
        return {}
    out = folder / f"{log.name}_ekf.mcap"
    run_bag(bag, log.robot, out, False, ON_MACHINES)
    return motion_figures(log, bag, out)


def score(log: Log, source: Path, folder: Path) -> dict:
    """Scores of both estimators on a log."""
    scores: dict = {"log": log.name}
    bag = folder / f"{log.name}.mcap"
    try:
        prime("convert", str(source / log.path), "--mapping", log.mapping, "--out", str(bag))
    except PrimeError as error:
        return {**scores, "error": str(error)}
    for who, run in (("prime", score_prime), ("ekf", score_filter)):
        try:
            scores[who] = run(log, bag, folder)
        except PrimeError as error:
            scores[who] = {"error": str(error)}
    return scores


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--logs", default="*", metavar="GLOB", help="names of the logs")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the bags there")
    parser.add_argument("--json", action="store_true", help="all scores instead of the table")
    args = parser.parse_args()
    logs = [x for x in LOGS if Path(x.name).match(args.logs) and (args.folder / x.path).exists()]
    if not logs:
        print(f"real_logs: no logs '{args.logs}' in {args.folder}", file=sys.stderr)
        return 2
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for log in logs:
            print(log.name, file=sys.stderr)
            results.append(score(log, args.folder, folder))
    print(json.dumps(results, indent=1) if args.json else markdown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
