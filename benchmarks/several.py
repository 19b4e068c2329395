# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rate and age of odometry when several estimators share one computer.

    python benchmarks/several.py ../shared/data/sim/go2_payload3 --estimators 1 2 4
    python benchmarks/several.py ... --set "node: {odometry_rate: 200.0}"

One player, so many estimators in processes of their own that all listen to it, one observer over
Cyclone DDS. One line per number of estimators: odometry and estimates of the slowest of them, ages
of all from the stamp of the newest sample to arrival, processor time of one estimator, and how many
cores other programs had taken meanwhile, which no figure of this table is free of.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from busy import node, real_time
from live import end
from recordings import existing

from prime_estimation.io.messages import stamp_ns
from prime_estimation.transport.base import Qos
from prime_estimation.transport.dds import DdsTransport

TOPICS = {
    "odometry": "nav_msgs/msg/Odometry",
    "status": "prime_estimation_msgs/msg/EstimatorStatus",
}
WARM_UP = 1.0  # s, after every estimate has begun
PATIENCE = 120.0  # s
TICK = os.sysconf("SC_CLK_TCK")


class Observer:
    """What the estimators say: ages [ms] by estimator and topic, and their newest status."""

    def __init__(self, domain: int, names: list[str]):
        self.ages = {(name, topic): [] for name in names for topic in TOPICS}
        self.status: dict[str, object] = {}
        self._transport, self._stop = DdsTransport("observer", domain=domain), threading.Event()
        for name, topic in self.ages:
            self._transport.subscribe(
                f"/{name}/{topic}",
                TOPICS[topic],
                lambda m, at, name=name, topic=topic: self._note(name, topic, m, at),
                Qos.STATE,
            )
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        real_time()
        self._transport.spin(self._stop)

    def _note(self, name: str, topic: str, message, arrival_ns: int) -> None:
        self.ages[name, topic].append((arrival_ns - stamp_ns(message.header)) * 1e-6)
        if topic == "status":
            self.status[name] = message

    def forget(self) -> None:
        """Begin to count anew."""
        for ages in self.ages.values():
            ages.clear()

    def close(self) -> None:
        """Leave the network."""
        self._stop.set()
        self._thread.join()
        self._transport.close()


@dataclass(frozen=True)
class Use:
    """Processor time [s] of this computer, and of some processes, at one moment."""

    at: float
    all: float
    ours: float
    each: float

    @classmethod
    def now(cls, estimators: list[int], others: list[int]) -> Use:
        """`estimators`, and what else belongs to the measurement."""
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
        busy = sum(map(int, fields)) - int(fields[3]) - int(fields[4])  # all but idle, waiting
        each = [processor_ticks(pid) for pid in estimators]
        ours = sum(each) + sum(map(processor_ticks, others))
        return cls(time.monotonic(), busy / TICK, ours / TICK, float(np.mean(each)) / TICK)


def processor_ticks(pid: int) -> int:
    """Processor time of a process and its threads so far, in ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def start(command: list, **options) -> subprocess.Popen:
    """A program that keeps quiet, in a session of its own.

    Linux shares the processors among sessions first (autogroups): in one session all programs of
    the measurement together would get as much as a single other one.
    """
    quiet = {"stderr": subprocess.DEVNULL, "start_new_session": True, **options}
    return subprocess.Popen(list(map(str, command)), **quiet)


def wait(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Until something is true; an error when it does not become so."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(f"nothing came for {seconds:.0f} s")
        time.sleep(0.005)


def measure(args: argparse.Namespace, number: int, domain: int) -> list[str]:
    """Cells of one line."""
    names = [f"prime{k + 1}" for k in range(number)]
    observer, programs = Observer(domain, names), []
    with tempfile.TemporaryDirectory() as folder:
        changes = Path(folder) / "changes.yaml"
        changes.write_text(args.set)
        try:
            for name in names:
                command = node("--robot", "go2", "--config", changes, "--name", name)
                programs.append(start(command))
            wait(lambda: len(observer.status) == number)
            player = start(node("replay", "--bag", args.bag, "--loop"))
            programs.append(player)
            wait(lambda: all(s.iterations > 0 for s in observer.status.values()))
            time.sleep(WARM_UP)
            pids, others = [p.pid for p in programs[:number]], [player.pid, os.getpid()]
            observer.forget()
            overruns = {name: observer.status[name].overruns for name in names}
            before = Use.now(pids, others)
            time.sleep(args.seconds)
            after = Use.now(pids, others)
            return cells(args, observer, names, overruns, before, after)
        finally:
            end(*programs)
            observer.close()


def cells(args, observer: Observer, names: list[str], overruns: dict, before: Use, after: Use):
    """Rates of the slowest, ages of all, processor time, overruns."""
    out = []
    for topic in TOPICS:
        slowest = min(len(observer.ages[name, topic]) for name in names)
        ages = np.concatenate([observer.ages[name, topic] for name in names])
        out += [f"{slowest / args.seconds:.0f}"]
        out += ["{:.1f} / {:.1f}".format(*np.percentile(ages, (50, 99))) if len(ages) else "-"]
    period = after.at - before.at
    late = sum(observer.status[name].overruns - overruns[name] for name in names)
    others = (after.all - before.all - after.ours + before.ours) / period
    share = (after.each - before.each) / period
    return [*out, f"{late / len(names) / period:.1f}", f"{share:.2f}", f"{max(others, 0.0):.2f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag", type=existing, help="recording of a Go2 with sensor topics")
    parser.add_argument("--estimators", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seconds", type=float, default=5.0, help="measured, within the recording")
    parser.add_argument("--set", default="{}", metavar="YAML", help="changes to the defaults")
    args = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # through the end of main, which ends the programs too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    domain = os.environ.setdefault("ROS_DOMAIN_ID", str(100 + os.getpid() % 100))
    columns = [f"{topic} [Hz] | age p50 / p99 [ms]" for topic in TOPICS]
    columns += ["overruns [1/s]", "cores per estimator", "cores taken by others"]
    print("| estimators |", " | ".join(columns), "|")
    print("|---" * (1 + 2 * len(TOPICS) + 3) + "|", flush=True)
    for number in args.estimators:
        print("|", " | ".join([str(number), *measure(args, number, int(domain))]), "|", flush=True)


if __name__ == "__main__":
    main()
