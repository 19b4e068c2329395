# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors that are not mounted as the YAML says, clocks that are late: held, and estimated.

    python benchmarks/mounts.py [RUN ...] [--robot go2] [--seconds 12] [--json]

RUN: bags with ground truth and motion capture; default: go2_payload3 and go2_nominal beside this
repository. Each is replayed with a wrong YAML, or with motion capture that is late or in a world
that is tilted; once with all mounts held at the YAML for good, once by default. In: share of the
velocities, tilts and positions inside their 95 % interval.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pinocchio as pin
from recordings import excerpt, measure_runs, swapped

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import MOUNT_FIT
from prime_estimation.evaluation.scores import evaluate
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns
from prime_estimation.monitors import mount_fit
from prime_estimation.recordings.replay import replay
from prime_estimation.robot import Robot

MOCAP = "geometry_msgs/msg/PoseStamped"
HELD = replace(MOUNT_FIT, fall=float("inf"), plain=float("inf"))
COLUMNS = {
    "run": "", "what is wrong": "", "mounts": "", "velocity [mm/s]": ".1f",
    "worst second [mm/s]": ".1f", "tilt [mrad]": ".1f", "heading over 4 s [mrad]": ".1f",
    "velocity in [%]": ".0f", "tilt in [%]": ".0f", "position in [%]": ".0f", "said": "",
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """What is wrong: other values of the robot's YAML, and a change of poses of motion capture."""

    name: str
    robot: dict = field(default_factory=dict)
    spoil: Callable | None = None


def late(seconds: float) -> Callable:
    """Stamps that are late."""

    def spoil(pose) -> None:
        stamp = stamp_ns(pose.header) + round(seconds * 1e9)
        pose.header.stamp.sec, pose.header.stamp.nanosec = divmod(stamp, 10**9)

    return spoil


def tilted(turn: list[float]) -> Callable:
    """A world that is turned by a rotation vector [rad]."""
    world = pin.exp3(np.array(turn))

    def spoil(pose) -> None:
        p, q = pose.pose.position, pose.pose.orientation
        p.x, p.y, p.z = (float(c) for c in world @ [p.x, p.y, p.z])
        R = world @ pin.Quaternion(q.w, q.x, q.y, q.z).toRotationMatrix()
        q.x, q.y, q.z, q.w = (float(c) for c in pin.Quaternion(R).coeffs())

    return spoil


FAULTS = (
    Fault("nothing"),
    Fault("IMU turned by 18 mrad", {"imu_rotation": [0.0, 0.018, 0.0]}),
    Fault("IMU 36 mm off", {"imu_position": [0.03, -0.02, 0.0]}),
    Fault("tracked body 97 mm off", {"mocap_position": [-0.08, 0.02, 0.05]}),
    Fault("stamps 30 ms late", spoil=late(0.03)),
    Fault("stamps 100 ms late", spoil=late(0.1)),
    Fault("world tilted by 16 mrad", spoil=tilted([0.012, -0.01, 0.0])),
)


def spoilt(bag: Path, fault: Fault, folder: Path) -> Path:
    """The bag with poses as the fault has them."""
    if fault.spoil is None:
        return bag
    out = folder / "spoilt.mcap"
    with BagReader(bag) as reader, BagWriter(out) as writer:
        for topic, arrival_ns, message in reader.messages():
            if topic.endswith("/pose") and getattr(message, "__msgtype__", "") == MOCAP:
                fault.spoil(message)
            writer.write(topic, arrival_ns, message)
    return out


def figures(bag: Path, truth: Path, config: Config, folder: Path) -> dict:
    """Figures of a replay, and what its status says of mounts in the end."""
    out = folder / "out.mcap"
    summary = replay(bag, Robot(config.robot), config, out)
    scores = evaluate(out, bag, truth_json=truth)["odometry"]
    names = {name for name, *_ in mount_fit.SAID.values()}
    said = [s.name for s in summary.final.status.sensors if s.name in names]
    scaled = {
        "velocity [mm/s]": ("velocity_rmse_mps", 1e3),
        "worst second [mm/s]": ("worst_second_velocity_mps", 1e3),
        "tilt [mrad]": ("rollpitch_rmse_rad", 1e3),
        "heading over 4 s [mrad]": ("segment_yaw_rad", 1e3),  # of runs that are long enough
        "velocity in [%]": ("coverage95_velocity", 100),
        "tilt in [%]": ("coverage95_rollpitch", 100),
        "position in [%]": ("coverage95_position", 100),
    }
    told = {k: scores[name] and unit * scores[name] for k, (name, unit) in scaled.items()}
    return {**told, "said": ", ".join(said)}


def measure(run: Path, robot: str, seconds: float) -> list[dict]:
    """Rows of a run."""
    rows, truth = [], run.parent / f"{run.name}.json"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = excerpt(run, seconds, folder)
        for fault in FAULTS:
            config = Config.load(robot).updated({"robot": fault.robot})
            bag = spoilt(whole, fault, folder)
            for mounts in ("held", "estimated"):
                with swapped(mount_fit, MOUNT_FIT=HELD) if mounts == "held" else nullcontext():
                    found = figures(bag, truth, config, folder)
                about = {"run": run.name, "what is wrong": fault.name, "mounts": mounts}
                rows.append({**about, **found})
                print(f"{run.name}: {fault.name}, {mounts}", file=sys.stderr)
    return rows


def main() -> int:
    """Command line."""
    return measure_runs("mounts", __doc__, 12.0, measure, COLUMNS)


if __name__ == "__main__":
    sys.exit(main())
