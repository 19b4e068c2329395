# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""An estimator node on a bus inside the process, and recorded data for it.

A walking Go2 with 3 kg that its model does not know.
"""

import time
from pathlib import Path

import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.io.bag import BagReader
from prime_estimation.io.topics import ROLES
from prime_estimation.nodes.estimator import EstimatorNode
from prime_estimation.output_messages import TOPICS as OUTPUTS
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport

SENSORS = {"/joint_states": "joint_states", "/imu": "imu", "/mocap/pose": "mocap"}


class Graph:
    """An estimator node, and a test that listens to all it says."""

    def __init__(self, clock=time.time_ns, **changes):
        self.bus = Bus()
        config = Config.load("go2").updated(changes)
        self.node = EstimatorNode(
            InProcessTransport(self.bus, "prime", clock=clock), Robot(config.robot), config
        )
        self.me = InProcessTransport(self.bus, "me")
        self.heard = {name: [] for name in (*OUTPUTS, "/tf", "/diagnostics")}
        for name in self.heard:
            topic = name if name.startswith("/") else f"/prime/{name}"
            self.me.subscribe(
                topic,
                self.bus.types[topic],
                lambda m, _, kept=self.heard[name]: kept.append(m),
                Qos.LATCHED,
            )
        self.node.start()

    def play(self, messages, pace: float = 0.0) -> None:
        """Send (role, message) pairs; the solver is given time to keep up unless a pace is set."""
        if not hasattr(self, "send"):
            self.send = {
                role: self.me.publish(ROLES[role].names[0], ROLES[role].types[0]) for role in ROLES
            }
        for role, message in messages:
            self.send[role](message)
            while not pace and self.node.solver.pending:
                time.sleep(0.001)
            time.sleep(pace)


@pytest.fixture
def graph():
    graphs = []

    def start(**changes) -> Graph:
        graphs.append(Graph(**changes))
        return graphs[-1]

    yield start
    for g in graphs:
        g.node.stop()


@pytest.fixture(scope="session")
def messages(go2_payload3):
    """The sensors' messages of three seconds, (role, message)."""
    with BagReader(go2_payload3) as bag:
        end = bag.start_ns + 3_000_000_000
        return [(SENSORS[t], m) for t, at, m in bag.messages(SENSORS) if at < end]


@pytest.fixture(scope="session")
def go2_payload3(recorded_runs) -> Path:
    """The recorded run."""
    return recorded_runs / "go2_payload3"
