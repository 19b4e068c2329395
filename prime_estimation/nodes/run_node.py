# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Runs a node until it is told to end.

What `prime node` and the ROS 2 executables have in common.
"""

from __future__ import annotations

import atexit
import gc
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Protocol

from ..config.parameters import Config
from ..errors import ConfigError, RobotError
from ..robot import Robot
from ..transport.base import Transport
from .scheduling import precedence

# the nodes, for `prime node`, and for setup.py, which makes ROS 2 executables of them: a literal
NODES = {
    "estimator": "sensors in; odometry, contact forces, inertia and status out",
    "unitree_bridge": "Unitree's LowState to joint_states and imu, motor commands to LowCmd",
    "replay": "plays a recording into the graph",
    "inertia_listener": "takes over estimated inertia as a controller should",
    "inertia_keeper": "keeps what the estimator has learned for the one that is started after it",
    "markers": "estimated inertia as ellipsoids for RViz",
    "mpc": "whole-body controller that walks on the estimate, and follows the estimated inertia",
}

GIVE_WAY = 5e-4  # s that a thread runs on while others wait


class Startable(Protocol):
    """A node with threads of its own."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


def default_name(node: str) -> str:
    """Name of a node in the graph: the estimator is called `prime`."""
    return "prime" if node == "estimator" else node


def build(
    node: str,
    transport: Transport,
    robot: str,
    config_path: str | None = None,
    changes: dict | None = None,
    **options,
) -> Startable:
    """Node of a robot; `changes` to the configuration, `options` of the node's class.

    Raises:
        PrimeError: unknown robot, bad configuration or option; the transport has been closed.
    """
    if node not in NODES or node == "replay":
        raise ConfigError(f"'{node}' is no node of a robot; nodes are {', '.join(NODES)}", node)
    try:
        return _built(node, transport, robot, config_path, changes or {}, options)
    except BaseException:
        transport.close()  # a thread of rclpy's that reads while the interpreter ends aborts it
        raise


def _built(
    node: str,
    transport: Transport,
    robot: str,
    config_path: str | None,
    changes: dict,
    options: dict,
) -> Startable:
    if node == "unitree_bridge":
        from .unitree_bridge import UnitreeBridgeNode

        return UnitreeBridgeNode(transport, robot, changes=config_path or "", **options)
    if node == "inertia_keeper":
        from .inertia_keeper import InertiaKeeperNode

        return InertiaKeeperNode(transport)
    if node == "markers":
        from .markers import MarkersNode

        return MarkersNode(transport, **options)
    config = Config.load(robot, config_path or None).updated(changes, "node's parameters")
    if node == "estimator":
        from .estimator import EstimatorNode

        return EstimatorNode(transport, Robot(config.robot), config, **options)
    if node == "inertia_listener":
        from .inertia_listener import InertiaListenerNode

        return InertiaListenerNode(transport, Robot(config.robot), **options)
    from .mpc import MpcNode

    machine = Robot(config.robot)
    if not (machine.config.floating_base and machine.feet):
        raise RobotError(f"{machine.name}: mpc walks; give it a robot with feet", machine.name)
    return MpcNode(transport, machine, **options)


def run(
    transport: Transport,
    node: Startable,
    duration: float = 0.0,
    stop: threading.Event | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, or for a duration [s]; `stop`: of `stop_on_signals`."""
    stop = stop or stop_on_signals()
    with without_pauses(), closing(transport):
        try:
            node.start()
            with ends_after(duration, stop):
                transport.spin(stop)
        finally:
            node.stop()


@contextmanager
def ends_after(duration: float, stop: threading.Event) -> Iterator[None]:
    """Set the event after a duration [s], if what is done has not ended by then; 0: never."""
    timer = threading.Timer(duration, stop.set)
    timer.daemon = True
    if duration:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def without_pauses() -> Iterator[None]:
    """No thread of this process holds up the others for longer than it must (`precedence`, too).

    Python parts of the solver give way after 0.5 ms instead of the usual 5. What has been made
    until now (the node, the modules that it needs) is not looked through for garbage again, which
    holds all threads for 50 to 100 ms, and makes a controller brake that wants joint states.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(GIVE_WAY)
    gc.collect()
    gc.freeze()
    try:
        with precedence():
            yield
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)


def stop_on_signals() -> threading.Event:
    """An event that SIGINT and SIGTERM set; a second one does not kill an interpreter that ends."""
    stop, heard = threading.Event(), []

    def handle(*_) -> None:
        # by another thread: the one that is interrupted may hold the event's lock, and a second
        # signal may come while it is being set
        if not heard:
            heard.append(True)
            threading.Thread(target=stop.set, daemon=True).start()

    _on_signals(handle)
    atexit.register(_on_signals, signal.SIG_IGN)
    return stop


def _on_signals(handler) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def log_to_stderr(level: int = logging.INFO) -> Callable[[], None]:
    """Print the log lines of the nodes; the returned function takes it back."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[%(levelname)s] [%(name)s]: %(message)s"))
    logger = logging.getLogger("prime")
    logger.addHandler(handler)
    logger.setLevel(level)
    return lambda: logger.removeHandler(handler)
