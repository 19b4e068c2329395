# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime node`: the nodes, over Cyclone DDS without a ROS 2 installation, or through rclpy."""

from __future__ import annotations

import argparse

from ..config.parameters import Config
from ..errors import ConfigError
from ..nodes.run_node import (
    NODES,
    build,
    default_name,
    ends_after,
    log_to_stderr,
    stop_on_signals,
)
from ..nodes.run_node import run as serve
from ..transport.base import Transport
from .options import check_seconds
from .topics import add_topic_argument, topics_of

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
_PLAYBACK = ("rate", "start", "duration", "loop", "clock")
_OPTIONS = {  # that only some nodes have, and which
    "config": ("estimator", "inertia_listener", "mpc", "replay", "unitree_bridge"),
    "no_mocap": ("estimator",),
    "lowstate": ("estimator",),
    "gait": ("mpc",),
    "commands": ("unitree_bridge",),
    **dict.fromkeys(("bag", "topic", *_PLAYBACK), ("replay",)),
}


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
    _add_options_of_replay(parser)


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
    parser.add_argument(
        "--no-mocap", action="store_true", help="estimator: do not use motion capture"
    )
    parser.add_argument(
        "--lowstate",
        action="store_true",
        help="estimator: read Unitree's lowstate in place of joint_states and imu",
    )
    parser.add_argument("--gait", help="mpc: stand, trot, walk or bound (default: stand)")
    parser.add_argument(
        "--commands",
        action="store_true",
        help="unitree_bridge: hand on mpc/motor_commands as lowcmd, so that the robot moves",
    )


def _add_options_of_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bag", help="replay: rosbag2 folder, .mcap or .db3 file")
    add_topic_argument(parser, "replay: ")
    parser.add_argument(
        "--rate",
        type=float,
        help="replay: speed of time, 0 for as fast as possible (default: 1)",
    )
    parser.add_argument("--start", type=float, metavar="S", help="replay: begin at this second")
    parser.add_argument(
        "--duration",
        type=float,
        metavar="S",
        help="replay: this much of the recording (default: to the end)",
    )
    parser.add_argument("--loop", action="store_true", help="replay: begin again at the end")
    parser.add_argument(
        "--clock", action="store_true", help="replay: publish /clock and keep the recorded stamps"
    )


def run(args: argparse.Namespace) -> dict:
    """Runs the node; returns its counts when it ends."""
    _check_options(args)
    silence = log_to_stderr()
    try:
        return _replay(args) if args.node == "replay" else _serve(args)
    finally:
        silence()


def _check_options(args: argparse.Namespace) -> None:
    """ConfigError where an option is given that this node does not have, or no time."""
    check_seconds(args, "seconds")
    for name, nodes in _OPTIONS.items():
        value = getattr(args, name)
        given = not (value is None or value is False or value == [])  # 0 is given, too
        if given and args.node not in nodes:
            hint = "; `prime replay` estimates a recording" if name == "bag" else ""
            option = name.replace("_", "-")
            what = f"--{option} is of {', '.join(nodes)}, the node is {args.node}"
            raise ConfigError(what + hint, name)


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
    if args.node == "mpc" and args.gait is not None:
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
    said = {name: getattr(args, name) for name in _PLAYBACK}
    playback = Playback(**{name: value for name, value in said.items() if value is not None})
    topics, transport = topics_of(args), _transport(args)
    frame = Config.load(args.robot, args.config).robot.imu_frame if args.robot else ""
    node = ReplayNode(transport, args.bag, playback, topics, frame)
    stop = stop_on_signals()
    with ends_after(args.seconds, stop):
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
