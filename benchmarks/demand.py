# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Processor time that a live estimator needs, by its settings: what fits on a computer.

    python benchmarks/demand.py ../shared/data/sim/go2_payload3 --robot go2

The node estimates a recording as fast as it goes and publishes over Cyclone DDS as always. Counted
is processor time per second of the recording, start batch included, which depends little on how
busy the computer is. Messages of the sensors are read of the file: receiving them is not in it.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
import time
from pathlib import Path

from recordings import existing

from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.nodes.recorded_input import RecordedInput
from prime_estimation.robot import Robot
from prime_estimation.transport.dds import DdsTransport

SETTINGS = {
    "default": {},
    "odometry 200 Hz": {"node": {"odometry_rate": 200.0}},
    "odometry 100 Hz": {"node": {"odometry_rate": 100.0}},
    "nodes of 20 ms": {"estimator": {"step": 0.02}},
    "nodes of 20 ms, odometry 100 Hz": {
        "estimator": {"step": 0.02},
        "node": {"odometry_rate": 100.0},
    },
}


def demand(bag: Path, robot: str, changes: dict, domain: int) -> float:
    """Processor time per second of the recording."""
    config = Config.load(robot).updated(changes)
    transport, ended = DdsTransport("prime", domain=domain), threading.Event()
    given = RecordedInput(transport, bag)
    node = EstimatorNode(given, Robot(config.robot), config)
    before = time.process_time()
    node.start()
    given.play(node, ended.set, threading.Event())
    ended.wait()
    used = time.process_time() - before
    node.stop()
    transport.close()
    return used


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag", type=existing, help="recording with sensor topics")
    parser.add_argument("--robot", default="go2")
    args = parser.parse_args()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    sys.setswitchinterval(5e-4)  # that of the nodes
    logging.getLogger("prime").setLevel(logging.ERROR)  # a slow computer is no news here
    with BagReader(args.bag) as bag:
        seconds = 1e-9 * (bag.end_ns - bag.start_ns)
    print("| settings | cores | of the default |\n|---|---:|---:|", flush=True)
    usual = None
    for name, changes in SETTINGS.items():
        cores = demand(args.bag, args.robot, changes, 100 + os.getpid() % 100) / seconds
        usual = usual or cores
        print(f"| {name} | {cores:.2f} | {cores / usual:.2f} |", flush=True)


if __name__ == "__main__":
    main()
