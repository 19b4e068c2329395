# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""How long a killed estimator is away: kill -9, a start after the delay of the launch file.

    python benchmarks/comeback.py ../shared/data/sim/go2_payload3 --times 5
    python benchmarks/comeback.py ... --transport ros     # the installed executable under rclpy

Player, estimator and inertia keeper as processes, observer over Cyclone DDS. One line per kill:
seconds from the kill to the first odometry of the new estimator, from there to its first valid
inertia, what that inertia weighs, and the processor time that the new process had used until its
odometry came, which tells the part that a busy machine adds.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from busy import estimator, node
from live import end
from recordings import existing
from several import TICK, processor_ticks, start, wait

from prime_estimation.io.messages import stamp_ns
from prime_estimation.transport.base import Qos
from prime_estimation.transport.dds import DdsTransport

RESPAWN_DELAY = 0.2  # s, that of estimator.launch.py
LEARNING = 4.0  # s of the recording, before the kill
STARTED = 3.0  # s, after which the first estimator listens


class Observer:
    """Odometry and inertia of the estimator, with their arrivals (time.monotonic)."""

    def __init__(self, domain: int):
        self.odometry: list[tuple[float, int]] = []
        self.inertia: list[tuple[float, bool, float]] = []
        self._transport, self._stop = DdsTransport("observer", domain=domain), threading.Event()
        subscribe = self._transport.subscribe
        subscribe("/prime/odometry", "nav_msgs/msg/Odometry", self._on_odometry, Qos.STATE)
        kind = "prime_estimation_msgs/msg/InertialParameters"
        subscribe("/prime/inertial_parameters", kind, self._on_inertia, Qos.STATE)
        threading.Thread(target=self._transport.spin, args=(self._stop,), daemon=True).start()

    def _on_odometry(self, message, _arrival_ns: int) -> None:
        self.odometry.append((time.monotonic(), stamp_ns(message.header)))

    def _on_inertia(self, message, _arrival_ns: int) -> None:
        self.inertia.append((time.monotonic(), message.valid, message.total_mass))

    def forget(self) -> None:
        """Begin to listen anew."""
        self.odometry, self.inertia = [], []


def comeback(args: argparse.Namespace, command: list, observer: Observer) -> list[float]:
    """Odometry back after [s], valid inertia after it [s], mass [kg], processor time [s]."""
    observer.forget()
    first = start(command)
    time.sleep(STARTED)
    player = start(node("replay", "--bag", args.bag, "--loop"))
    try:
        wait(lambda: any(valid for _, valid, _ in observer.inertia))
        time.sleep(LEARNING)
        first.kill()
        killed = time.monotonic()
        first.wait()
        time.sleep(RESPAWN_DELAY)
        observer.forget()
        first = start(command)
        wait(lambda: observer.odometry)
        used = processor_ticks(first.pid) / TICK
        wait(lambda: any(valid for _, valid, _ in observer.inertia))
        at, _, mass = next(entry for entry in observer.inertia if entry[1])
        back = observer.odometry[0][0]
        return [back - killed, at - back, mass, used]
    finally:
        player.kill(), player.wait()
        end(first)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag", type=existing, help="recording of a Go2 with sensor topics")
    parser.add_argument("--times", type=int, default=5, help="kills")
    parser.add_argument("--transport", choices=("dds", "ros"), default="dds")
    args = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # through the end of main, which ends the programs too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    domain = os.environ.setdefault("ROS_DOMAIN_ID", str(100 + os.getpid() % 100))
    observer = Observer(int(domain))
    print("| kill | odometry back [s] | inertia valid [s] | mass [kg] | processor [s] | load |")
    print("|---" * 6 + "|", flush=True)
    keeper, lines = start(node("inertia_keeper")), []
    try:
        with tempfile.TemporaryDirectory() as folder:
            command = estimator(args.transport, 0, Path(folder))
            for number in range(1, args.times + 1):
                lines.append(comeback(args, command, observer))
                cells = [f"{value:.2f}" for value in lines[-1]]
                print("|", " | ".join([str(number), *cells, _load()]), "|", flush=True)
    finally:
        end(keeper)
    cells = [f"{value:.2f}" for value in np.median(lines, axis=0)]
    print("|", " | ".join(["median", *cells, _load()]), "|")


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
