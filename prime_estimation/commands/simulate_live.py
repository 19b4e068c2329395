# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime simulate --live`: a simulated robot on the network, in real time."""

from __future__ import annotations

import argparse
import math

from ..config.parameters import Config
from ..errors import ConfigError
from ..nodes.run_node import log_to_stderr, stop_on_signals
from ..nodes.run_node import run as serve
from ..robot import Robot
from ..transport.base import Transport

NAME = "simulator"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`--live` and its network."""
    parser.add_argument(
        "--live",
        action="store_true",
        help="a robot on the network in real time: sensors out, mpc/motor_commands in",
    )
    parser.add_argument(
        "--clock",
        type=float,
        metavar="SPEED",
        help="of --live: give the time on /clock, at this speed (1: real) or slower, for nodes "
        "with --sim-time: on a slow computer nothing is lost then (default: 0, real time)",
    )
    parser.add_argument(
        "--transport",
        choices=("dds", "ros"),
        help="of --live: Cyclone DDS (default) or rclpy",
    )
    parser.add_argument(
        "--domain",
        type=int,
        metavar="N",
        help="of --live: DDS domain (default: ROS_DOMAIN_ID, or 0)",
    )


def check_unused(args: argparse.Namespace) -> None:
    """ConfigError where something is said of a network without `--live`."""
    for name in ("clock", "transport", "domain"):
        if getattr(args, name) is not None:
            raise ConfigError(f"--{name} is of --live; add --live, or leave it out", name)


def run(args: argparse.Namespace, payload, ground) -> dict:
    """Simulate until interrupted, or for `--duration` seconds."""
    from ..control.posture import standing_posture
    from ..nodes.simulator import SimulatorNode
    from ..simulate.robot import SimulatedRobot
    from ..simulate.sensors import faults_named

    clock = args.clock or 0.0
    if not 0.0 <= clock < math.inf:
        raise ConfigError(f"--clock is {clock:g}; give a speed above 0, or 0", clock)
    config = Config.load(args.robot)
    robot = Robot(config.robot)
    simulated = SimulatedRobot(
        robot, config.noise, payload, ground, faults_named(args.faults), args.seed
    )
    silence, stop = log_to_stderr(), stop_on_signals()
    try:
        transport = _transport(args)
        posture = standing_posture(robot)
        node = SimulatorNode(transport, simulated, posture, payload, clock, stop.set)
        serve(transport, node, args.duration or 0.0, stop)
    finally:
        silence()
    if node.error is not None:
        raise node.error
    return {"late_s": node.late}


def _transport(args: argparse.Namespace) -> Transport:
    if args.transport == "ros":
        from ..nodes.ros.programs import plain_transport

        return plain_transport(NAME, "", {}, args.domain, False)
    from ..transport.dds import DdsTransport

    return DdsTransport(NAME, "", {}, args.domain, False)
