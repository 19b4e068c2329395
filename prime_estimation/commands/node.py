# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime node`: the nodes, over Cyclone DDS without a ROS 2 installation, or through rclpy."""

from __future__ import annotations

import argparse
import threading

from ..errors import ConfigError
from ..nodes.run_node import (
    NODES,
    build,
    default_name,
    log_to_stderr,
    stop_on_signals,
)
from ..nodes.run_node import run as serve
from ..transport.base import Transport

_LIST = "\n".join(f"  {name:<17} {text}" for name, text in NODES.items())
DESCRIPTION = f"""Run a node on the robot's network until it is interrupted. ROS 2 nodes see it as
one of theirs.

nodes:
{_LIST}

The network is that of ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS and
CYCLONEDDS_URI."""
EXAMPLES = [
    "prime node --robot go2                                 # the estimator, called prime",
    "prime node --robot go2 --lowstate --no-mocap           # straight from Unitree's lowstate",
    "prime node --robot go2 --remap mocap/pose:=/vrpn_mocap/go2/pose --domain 7",
    "prime node replay --bag recordings/go2_payload3 --loop",
    "prime node mpc --robot go2 --gait trot",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds node, robot, network, and options of single nodes."""
    parser.add_argument(
        "node",
        nargs="?",
        default="estimator",
        choices=NODES,
        metavar="NODE",
        help="node to run (default: estimator)",
    )
    parser.add_argument(
        "--robot",
        default="",
        metavar="NAME",
        help="go1, go2, g1, ... or the path of a robot's YAML file",
    )
    parser.add_argument("--config", metavar="Y", help="YAML file with changes to the defaults")
    _add_network(parser)
    parser.add_argument("--sim-time", action="store_true", help="take the time from /clock")
    parser.add_argument(
        "--seconds", type=float, default=0.0, metavar="S", help="end after this time (default: run)"
    )
    _add_options_of_nodes(parser)


def _add_network(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--transport", choices=("dds", "ros"), default="dds", help="Cyclone DDS (default) or rclpy"
    )
    parser.add_argument(
        "--domain", type=int, metavar="N", help="DDS domain (default: ROS_DOMAIN_ID, or 0)"
    )
    parser.add_argument("--name", help="name of the node")
    parser.add_argument(
        "--namespace", default="", metavar="NS", help="namespace of all relative names"
    )
    parser.add_argument(
        "--remap",
        action="append",
        default=[],
        metavar="OLD:=NEW",
        help="another name for a topic or service",
    )


def _add_options_of_nodes(parser: argparse.ArgumentParser) -> None:
    """Adds options of single nodes; `args.of_nodes` tells which."""
    parser.set_defaults(of_nodes=[])

    def add(node: str, option: str, help: str, **kind) -> None:
        action = parser.add_argument(option, help=f"{node}: {help}", **kind)
        parser.get_default("of_nodes").append((node, option, action))

    flag = dict(action="store_true")
    seconds = dict(type=float, default=0.0, metavar="S")
    add("estimator", "--no-mocap", "do not use motion capture", **flag)
    add(
        "estimator",
        "--lowstate",
        "read Unitree's lowstate in place of joint_states and imu",
        **flag,
    )
    add("mpc", "--gait", "stand, trot, walk or bound", default="stand")
    add(
        "unitree_bridge",
        "--commands",
        "hand on mpc/motor_commands as lowcmd, so that the robot moves",
        **flag,
    )
    add("replay", "--bag", "rosbag2 folder, .mcap or .db3 file")
    speed = "speed of time, 0 for as fast as possible (default: 1)"
    add("replay", "--rate", speed, type=float, default=1.0)
    add("replay", "--start", "begin at this second", **seconds)
    add("replay", "--duration", "this much of the recording (default: to the end)", **seconds)
    add("replay", "--loop", "begin again at the end", **flag)
    add("replay", "--clock", "publish /clock and keep the recorded stamps", **flag)


def _refuse_options_of_other_nodes(args: argparse.Namespace) -> None:
    for node, option, action in args.of_nodes:
        given = getattr(args, action.dest)
        if node != args.node and given != action.default:
            raise ConfigError(
                f"{option} is of prime node {node}, and does nothing for the node {args.node}; "
                "leave it out",
                given,
            )


def run(args: argparse.Namespace) -> dict:
    """Runs the node; returns its counts when it ends."""
    _refuse_options_of_other_nodes(args)
    if not 0.0 <= args.seconds < threading.TIMEOUT_MAX:
        raise ConfigError(
            f"--seconds is {args.seconds:g}; give a number that is not negative", args.seconds
        )
    silence = log_to_stderr()
    try:
        return _replay(args) if args.node == "replay" else _serve(args)
    finally:
        silence()


def _serve(args: argparse.Namespace) -> dict:
    if not args.robot and args.node not in ("markers", "inertia_keeper"):
        raise ConfigError(
            f"no robot for the node {args.node}; give --robot go2, another name, or the path of a "
            "YAML file"
        )
    changes, options = {}, {}
    if args.node == "estimator":
        changes = {
            "node": {"mocap": not args.no_mocap, **({"input": "lowstate"} if args.lowstate else {})}
        }
        changes = changes if args.no_mocap or args.lowstate else {}
    if args.node == "mpc":
        options = {"gait": args.gait}
    if args.node == "unitree_bridge":
        options = {"commands": args.commands}
    transport = _transport(args)
    node = build(args.node, transport, args.robot, args.config, changes, **options)
    serve(transport, node, args.seconds)
    return {"counts": dict(node.counts())} if args.node == "estimator" else {}


def _replay(args: argparse.Namespace) -> dict:
    from ..nodes.replay import Playback, ReplayNode

    if not args.bag:
        raise ConfigError("no recording to replay; give --bag FOLDER_OR_FILE")
    playback = Playback(args.rate, args.clock, args.start, args.duration, args.loop)
    transport = _transport(args)
    node = ReplayNode(transport, args.bag, playback)
    stop = stop_on_signals()
    if args.seconds:
        timer = threading.Timer(args.seconds, stop.set)
        timer.daemon = True
        timer.start()
    node.run(stop)
    transport.close()
    return {"sent": node.sent}


def _transport(args: argparse.Namespace) -> Transport:
    name, remap = args.name or default_name(args.node), _remaps(args.remap)
    if args.transport == "ros":
        from ..nodes.ros.programs import plain_transport

        return plain_transport(name, args.namespace, remap, args.domain, args.sim_time)
    from ..transport.dds import DdsTransport

    return DdsTransport(name, args.namespace, remap, args.domain, args.sim_time)


def _remaps(pairs: list[str]) -> dict[str, str]:
    broken = [p for p in pairs if ":=" not in p]
    if broken:
        raise ConfigError(f"--remap '{broken[0]}' has no ':='; give OLD:=NEW", broken)
    return dict(p.split(":=", 1) for p in pairs)
