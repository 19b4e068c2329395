# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Nodes in processes of their own, and an observer on the same network that writes down what it
hears."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from prime_estimation.io.messages import stamp_ns
from prime_estimation.transport.base import Qos
from prime_estimation.transport.dds import DdsTransport

REPOSITORY = Path(__file__).resolve().parents[2]
TYPES = {
    "/prime/odometry": "nav_msgs/msg/Odometry",
    "/prime/status": "prime_estimation_msgs/msg/EstimatorStatus",
    "/prime/contact_wrenches": "prime_estimation_msgs/msg/ContactWrenches",
    "/prime/inertial_parameters": "prime_estimation_msgs/msg/InertialParameters",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    "/inertia_listener/applied": "std_msgs/msg/UInt64",
}


class Program:
    """A program that is interrupted at the end, and then has to end well."""

    def __init__(self, command: list, environment: dict[str, str] | None = None):
        # the source tree where it has been built, else what is installed: from another folder,
        # whose packages hide nothing
        built = any((REPOSITORY / "prime_estimation").glob("_core*.so"))
        environment = environment or dict(
            os.environ, **({"PYTHONPATH": str(REPOSITORY)} if built else {})
        )
        self._process = subprocess.Popen(
            [str(c) for c in command],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def running(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float) -> tuple[int, str, str]:
        out, err = self._process.communicate(timeout=seconds)
        print(err)  # pytest shows it where a test fails
        return self._process.returncode, out, err

    def interrupt(self) -> None:
        if self.running():
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """As `kill -9` does."""
        self._process.kill()
        self._process.communicate()

    def stop(self, seconds: float = 20.0) -> tuple[int, str, str]:
        self.interrupt()
        try:
            return self.wait(seconds)
        finally:
            self._process.kill()


def node(*arguments, domain: int) -> Program:
    """`prime node` over DDS."""
    return Program(
        [
            sys.executable,
            "-m",
            "prime_estimation.cli",
            "node",
            *arguments,
            "--domain",
            str(domain),
            "--json",
        ]
    )


def sent(result: tuple[int, str, str]) -> dict[str, int]:
    """What a player says that it has sent."""
    assert result[0] == 0, result[2]
    return json.loads(result[1])["sent"]


class Observer:
    """Keeps every message of the topics above, with its arrival."""

    def __init__(self, domain: int):
        self.transport = DdsTransport("observer", domain=domain)
        self.heard: dict[str, list] = {topic: [] for topic in TYPES}
        for topic, kind in TYPES.items():
            qos = Qos.LATCHED if topic.endswith(("parameters", "applied")) else Qos.STATE
            self.transport.subscribe(
                topic, kind, lambda m, at, kept=self.heard[topic]: kept.append((m, at)), qos
            )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.transport.spin, args=(self._stop,))
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self.transport.close()

    def count(self, topic: str) -> int:
        return len(self.heard[topic])

    def last(self, topic: str):
        return self.heard[topic][-1][0]

    def ages_ms(self, topic: str) -> np.ndarray:
        return np.array([at - stamp_ns(m.header) for m, at in self.heard[topic]]) * 1e-6

    def accounted(self, role: str) -> int:
        """Messages of a sensor that the estimator says it has heard, or knows to be lost."""
        entry = self.diagnostic(f"prime: {role}")
        return int(entry.get("messages", 0)) + int(entry.get("lost on the way", 0))

    def diagnostic(self, name: str) -> dict[str, str]:
        """Newest values of a diagnostic entry."""
        for array, _ in reversed(self.heard["/diagnostics"]):
            for status in array.status:
                if status.name == name:
                    return {v.key: v.value for v in status.values} | {"message": status.message}
        return {}


def overloaded() -> bool:
    """True when others keep this machine so busy that times mean nothing."""
    return os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)
