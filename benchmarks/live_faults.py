# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the live estimator says and does when its sensors misbehave.

Player and estimator as two processes over Cyclone DDS.

    python benchmarks/live_faults.py ../shared/data/sim/go2_payload3 --robot go2

One line per phase: rate of odometry and of status, samples dropped so far, and every complaint that
`~/status` carried, with the share of the phase's messages in which it stood and whether it stood in
the last one.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from live import Observer, end, start
from recordings import existing

from prime_estimation.io.bag import BagReader, BagWriter

SECONDS = 12.0  # of each phase
PAUSE = 5.0


class Listener(Observer):
    """Also counts the complaints of `~/status`."""

    def __init__(self, domain: int):
        self.complaints: Counter = Counter()
        super().__init__(domain)

    def _note(self, name: str, message, arrival_ns: int) -> None:
        super()._note(name, message, arrival_ns)
        if name == "status":
            self.complaints.update(complaints(message))


def complaints(status) -> set[str]:
    """What a status complains about, without figures: they change with each message."""
    texts = [f"{s.name}: {s.message}" for s in status.sensors if s.message]
    return {re.sub(r"\d+(\.\d+)?", "#", text) for text in texts}


def altered(source: str, target: Path, change: Callable[[int, object], object | None]) -> str:
    """A copy of a recording's sensor topics.

    `change(count, joint state or IMU message)` may alter a message or drop it (None).
    """
    with BagReader(source) as reader:
        kept = {
            t.name: t.type for t in reader.topics.values() if not t.name.startswith("/ground_truth")
        }
        with BagWriter(target, kept) as writer:
            counts: Counter = Counter()
            for topic, stamp, message in reader.messages(kept):
                counts[topic] += 1
                message = change(counts[topic], message)
                if message is not None:
                    writer.write(topic, stamp, message)
    return str(target)


def halved(count: int, message):
    """Every second sample of joints and IMU."""
    return None if count % 2 and not hasattr(message, "pose") else message


def swapped(_: int, message):
    """The knees of the first two legs under each other's names."""
    if hasattr(message, "name"):
        a, b = [i for i, name in enumerate(message.name) if "calf" in name or "knee" in name][:2]
        message.name[a], message.name[b] = message.name[b], message.name[a]
    return message


@contextmanager
def player(bag: Path, domain: int) -> Iterator:
    """`prime node replay` in a loop, killed without warning at the end."""
    program = start("replay", "--bag", bag, "--loop", domain=domain)
    try:
        yield program
    finally:
        program.kill()
        program.wait()


def phases(bag: Path, folder: Path, domain: int) -> Iterator[tuple[str, float]]:
    """Sets each phase up, and yields its name and how long it lasts [s]."""
    slow = altered(bag, folder / "halved.mcap", halved)
    crossed = altered(bag, folder / "swapped.mcap", swapped)
    with player(bag, domain):
        yield "start", SECONDS
    yield "player killed", PAUSE
    with player(bag, domain) as program:
        yield "player again", SECONDS
        program.send_signal(signal.SIGSTOP)
        yield "player paused", PAUSE
        program.send_signal(signal.SIGCONT)
        yield "player goes on", SECONDS
    with player(slow, domain):
        yield "half the samples", SECONDS
    with player(crossed, domain):
        yield "two joints swapped", SECONDS
    with player(bag, domain):
        yield "as it should be", SECONDS


def main() -> None:
    """Run all phases and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag", type=existing, help="recording with sensor topics")
    parser.add_argument("--robot", default="go2")
    parser.add_argument("--domain", type=int, default=100 + os.getpid() % 100)
    args = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # through the end of main, which ends the programs too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    listener, node = Listener(args.domain), start("--robot", args.robot, domain=args.domain)
    print(
        "| phase | odometry [Hz] | status [Hz] | dropped | what status says (share; last) |\n"
        "|---|---:|---:|---:|---|",
        flush=True,
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, seconds in phases(args.bag, Path(folder), args.domain):
                time.sleep(seconds)
                print(_row(name, seconds, listener), flush=True)
                if node.poll() is not None:
                    raise SystemExit(f"the estimator ended with code {node.returncode}")
    finally:
        end(node)


def _row(name: str, seconds: float, listener: Listener) -> str:
    seen, status = listener.look(), listener.status
    said, total = listener.complaints, max(len(seen["status"]), 1)
    listener.complaints = Counter()
    last = complaints(status) if status else set()
    texts = [
        f"{text} ({n / total:.0%}{'; last' if text in last else ''})"
        for text, n in said.most_common()
    ]
    rates = [f"{len(seen[topic]) / seconds:.0f}" for topic in ("odometry", "status")]
    return (
        "| "
        + " | ".join(
            [
                name,
                *rates,
                str(status.dropped_samples if status else "-"),
                "; ".join(texts) or "nothing",
            ]
        )
        + " |"
    )


if __name__ == "__main__":
    main()
