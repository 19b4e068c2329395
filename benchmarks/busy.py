# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rate and age of what the live estimator publishes while other programs keep the CPUs busy.

    python benchmarks/busy.py ../shared/data/sim/go2_payload3 --hogs 0 1 2 4
    python benchmarks/busy.py ... --transport ros     # the installed executable under rclpy

One line for each number of programs that only count, without and with real-time priority of the
estimator (needs the permission, see docs/ros2.md). Player and observer stand for the robot and its
controller: they have real-time priority where this user may give it. Ages are from the stamp of the
newest sample to arrival.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from live import end
from recordings import existing

from prime_estimation.io.messages import stamp_ns
from prime_estimation.transport.base import Qos
from prime_estimation.transport.dds import DdsTransport

TOPICS = {
    "odometry": "nav_msgs/msg/Odometry",
    "contact_wrenches": "prime_estimation_msgs/msg/ContactWrenches",
    "status": "prime_estimation_msgs/msg/EstimatorStatus",
}
OUTER = 60  # priority of player and observer
WARM_UP = 6.0  # s, until the estimate has begun


def real_time() -> None:
    """Priority for this process and what it starts, where that is permitted."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(OUTER))


class Observer:
    """Ages [ms] of what the estimator publishes."""

    def __init__(self, domain: int):
        self.ages: dict[str, list[float]] = {name: [] for name in TOPICS}
        self._transport, self._stop = DdsTransport("observer", domain=domain), threading.Event()
        for name, kind in TOPICS.items():
            self._transport.subscribe(
                f"/prime/{name}", kind, lambda m, at, name=name: self._note(name, m, at), Qos.STATE
            )
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        real_time()
        self._transport.spin(self._stop)

    def _note(self, name: str, message, arrival_ns: int) -> None:
        self.ages[name].append((arrival_ns - stamp_ns(message.header)) * 1e-6)


def estimator(transport: str, priority: int, folder: Path) -> list:
    """Command of an estimator of a Go2."""
    changes = folder / f"priority{priority}.yaml"
    changes.write_text(f"node: {{priority: {priority}}}\n")
    if transport == "dds":
        return [*node(), "--robot", "go2", "--config", changes]
    prefixes = os.environ["AMENT_PREFIX_PATH"].split(os.pathsep)
    paths = [Path(p) / "lib" / "prime_estimation" / "estimator" for p in prefixes]
    found = next(path for path in paths if path.is_file())
    return [sys.executable, found, "--ros-args", "-p", "robot:=go2", "-p", f"config:={changes}"]


def node(*arguments) -> list:
    """Command of `prime node`."""
    return [sys.executable, "-m", "prime_estimation.cli", "node", *arguments]


def measure(args: argparse.Namespace, hogs: int, priority: int, observer: Observer) -> list[str]:
    """Cells of one line of the table."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(hogs)]
    with tempfile.TemporaryDirectory() as folder:
        started = estimator(args.transport, priority, Path(folder))
        programs.append(subprocess.Popen(list(map(str, started)), stderr=subprocess.DEVNULL))
        time.sleep(4.0)
        player = node("replay", "--bag", args.bag, "--loop")
        programs.append(subprocess.Popen(player, stderr=subprocess.DEVNULL, preexec_fn=real_time))
        time.sleep(WARM_UP)
        for ages in observer.ages.values():
            ages.clear()
        time.sleep(args.seconds)
        seen = {name: np.array(ages) for name, ages in observer.ages.items()}
        for hog in programs[:hogs]:
            hog.kill()
        end(*programs[hogs:])
    cells = []
    for ages in seen.values():
        shown = np.percentile(ages, (50, 99)) if len(ages) else (np.nan, np.nan)
        cells += [f"{len(ages) / args.seconds:.0f}", "{:.1f} / {:.1f}".format(*shown)]
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag", type=existing, help="recording of a Go2 with sensor topics")
    parser.add_argument("--hogs", type=int, nargs="+", default=[0, 1, 2, 4])
    parser.add_argument("--priorities", type=int, nargs="+", default=[0, 50])
    parser.add_argument("--transport", choices=("dds", "ros"), default="dds")
    parser.add_argument("--seconds", type=float, default=6.0, help="measured, within the recording")
    args = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    domain = os.environ.setdefault("ROS_DOMAIN_ID", str(100 + os.getpid() % 100))
    observer = Observer(int(domain))
    columns = [f"{name} [Hz] | age p50 / p99 [ms]" for name in TOPICS]
    print("| hogs | priority | load |", " | ".join(columns), "|")
    print("|---" * (3 + 2 * len(TOPICS)) + "|", flush=True)
    for hogs in args.hogs:
        for priority in args.priorities:
            cells = measure(args, hogs, priority, observer)
            load = f"{os.getloadavg()[0]:.1f}"
            print("|", " | ".join([str(hogs), str(priority), load, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
