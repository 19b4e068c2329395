# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Runs player and live estimator as two processes over Cyclone DDS, and prints once a minute.

Rates, ages, memory, what was counted.

    python benchmarks/live.py ../shared/data/sim/go2_payload3 --robot go2 --minutes 10

Ages are those of odometry and status at a third process, from the stamp of the newest sample to
arrival. The recording is played in a loop with a second of silence at its seam, after which the
estimator starts anew.
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
from pathlib import Path

import numpy as np
from recordings import existing

from prime_estimation.io.messages import stamp_ns
from prime_estimation.transport.base import Qos
from prime_estimation.transport.dds import DdsTransport

LOG = Path(tempfile.gettempdir()) / "prime_live.log"  # what the nodes say
TOPICS = {
    "odometry": "nav_msgs/msg/Odometry",
    "status": "prime_estimation_msgs/msg/EstimatorStatus",
}


class Observer:
    """Ages of what the estimator publishes, since the last look."""

    def __init__(self, domain: int):
        self._transport, self._stop = DdsTransport("observer", domain=domain), threading.Event()
        self._ages: dict[str, list[float]] = {name: [] for name in TOPICS}
        self.status = None
        for name, kind in TOPICS.items():
            self._transport.subscribe(
                f"/prime/{name}", kind, lambda m, at, name=name: self._note(name, m, at), Qos.STATE
            )
        threading.Thread(target=self._transport.spin, args=(self._stop,), daemon=True).start()

    def _note(self, name: str, message, arrival_ns: int) -> None:
        self._ages[name].append((arrival_ns - stamp_ns(message.header)) * 1e-6)
        if name == "status":
            self.status = message

    def look(self) -> dict[str, np.ndarray]:
        """Ages [ms] by topic; forgets them."""
        seen = {name: np.array(ages) for name, ages in self._ages.items()}
        for ages in self._ages.values():
            ages.clear()
        return seen


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def start(*arguments, domain: int) -> subprocess.Popen:
    """`prime node` in a process of its own."""
    with LOG.open("a") as log:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "prime_estimation.cli",
                "node",
                *arguments,
                "--domain",
                str(domain),
            ],
            stderr=log,
        )


def end(*programs: subprocess.Popen) -> None:
    """Interrupt programs, and wait for them; what does not end is killed."""
    for program in programs:
        program.send_signal(signal.SIGINT)
    for program in programs:
        try:
            program.wait(20)
        except subprocess.TimeoutExpired:
            program.kill()


def main() -> None:
    """Run for the given time and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag", type=existing, help="recording with sensor topics")
    parser.add_argument("--robot", default="go2")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--period", type=float, default=60.0, help="seconds per line")
    parser.add_argument("--domain", type=int, default=100 + os.getpid() % 100)
    args = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # through the end of main, which ends the programs too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    LOG.unlink(missing_ok=True)
    observer = Observer(args.domain)
    programs: list[subprocess.Popen] = []
    try:
        for arguments in (("--robot", args.robot), ("replay", "--bag", args.bag, "--loop")):
            programs.append(start(*arguments, domain=args.domain))
        print(
            "| minute | odometry [Hz] | age p50 / p99 [ms] | status [Hz] | age p50 / p99 [ms] "
            "| memory [MB] | overruns | dropped | load |\n" + "|---" * 9 + "|",
            flush=True,
        )
        for line in range(round(60.0 * args.minutes / args.period)):
            time.sleep(args.period)
            ended = [p for p in programs if p.poll() is not None]
            if ended:
                raise SystemExit(
                    f"{' '.join(ended[0].args[3:])} ended with code {ended[0].returncode}; see "
                    f"{LOG}"
                )
            seen = observer.look()
            cells = [f"{(line + 1) * args.period / 60.0:.1f}"]
            for name in TOPICS:
                ages = seen[name]
                cells += [
                    f"{len(ages) / args.period:.0f}",
                    "{:.1f} / {:.1f}".format(*np.percentile(ages, (50, 99))) if len(ages) else "-",
                ]
            counts = (
                [observer.status.overruns, observer.status.dropped_samples]
                if observer.status
                else ["-", "-"]
            )
            print(
                "| "
                + " | ".join(
                    map(
                        str,
                        [
                            *cells,
                            f"{memory_mb(programs[0].pid):.0f}",
                            *counts,
                            f"{os.getloadavg()[0]:.1f}",
                        ],
                    )
                )
                + " |",
                flush=True,
            )
    finally:
        end(*programs)


if __name__ == "__main__":
    main()
