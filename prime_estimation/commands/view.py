# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime view`: estimates in the browser, of a running node, a bag, or a replay as it goes."""

from __future__ import annotations

import argparse
import math
import os
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ..config.parameters import Config
from ..errors import ConfigError, DataError
from ..io.made_folders import none_left_empty
from ..nodes.run_node import default_name, stop_on_signals
from ..robot import Robot
from ..transport.base import Transport, check_name
from ..viz.browser.page import RATE, ViewPage
from ..viz.browser.record import KINDS, Cut, check_kind, make_place, record
from ..viz.browser.sources import BagSource, ReplaySource, Source, nodes_in
from .console import add_progress_argument, progress_bar, say, warn
from .options import check_seconds
from .replay import add_topic_argument, topics_of

DESCRIPTION = """Look at estimates in a web browser: robot, inertia, forces and their intervals.

BAGs that `prime replay` wrote, or that were recorded from a node, are shown as they are. With
--replay the BAGs are recordings of sensors, estimated while you look. Without a BAG it is the
running node. Several are shown side by side. The page is served to this machine alone unless
--host says otherwise, and changes nothing but the view."""
EXAMPLES = [
    "prime view out.mcap --robot go2",
    "prime view recordings/go2_payload3 --robot go2 --replay",
    "prime view --robot go2                                            # the running node /prime",
    "prime view --robot go2 --robot g1 --node /a/prime --node /b/prime --transport ros",
    "prime view out.mcap --robot go2 --record out.mp4 --start 2 --duration 6",
]
PATIENCE_S = 10.0  # for a word of a node, before it is said that there is none
POLL_S = 0.05
SIZE = "1280x800"  # of a video
COURTESY = 10  # by which a view of a running node lowers its own priority


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to show, where to serve it, what to record."""
    _add_sources(parser)
    add = parser.add_argument_group("page").add_argument
    add("--host", default="127.0.0.1", help="address to serve at; 0.0.0.0: to the whole network")
    add("--port", type=int, default=8080, help="port, or the next free one (default: 8080)")
    add(
        "--spacing",
        type=float,
        default=1.2,
        metavar="M",
        help="sideways distance between robots, 0: all in one world (default: 1.2)",
    )
    add("--seconds", type=float, default=0.0, metavar="S", help="end after this time")
    add = parser.add_argument_group("recording").add_argument
    kinds = ", ".join(KINDS)
    add("--record", metavar="FILE", help=f"write {kinds} and end (videos need a Chromium)")
    add("--start", type=float, default=0.0, metavar="S", help="begin here")
    add("--duration", type=float, metavar="S", help="this much (default: to the end)")
    add("--speed", type=float, help="seconds of data per second (default: 1)")
    add("--rate", type=float, help=f"frames per second (default: {RATE:g})")
    add("--size", metavar="WxH", help=f"of a video (default: {SIZE})")
    add_progress_argument(parser)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bag", metavar="BAG", nargs="*", help="rosbag2 folder, .mcap or .db3 file")
    add(
        "--robot",
        action="append",
        required=True,
        metavar="NAME",
        help="go1, go2, ... or the path of a robot's YAML file; one for all, or one for each",
    )
    add("--config", metavar="Y", help="YAML file with changes to the defaults")
    add("--replay", action="store_true", help="estimate from the sensors in the BAGs")
    add("--no-mocap", action="store_true", help="--replay without motion capture")
    add_topic_argument(parser)
    add(
        "--node",
        action="append",
        default=[],
        metavar="NAME",
        help="the running node (default: /prime), or of a bag with several these (default: all)",
    )
    add("--transport", choices=("dds", "ros"), help="Cyclone DDS (default) or rclpy")
    add("--domain", type=int, metavar="N", help="DDS domain (default: ROS_DOMAIN_ID, or 0)")
    add("--sim-time", action="store_true", help="take the time from /clock")


def run(args: argparse.Namespace) -> dict:
    """Show, or record, until the end or an interrupt."""
    began = time.perf_counter()
    _check_unused(args)
    targets = _targets(args)
    configs = _configs(args, len(targets))
    with ExitStack() as stack:
        if args.record:  # whose folder is made now, and the recording minutes later
            stack.enter_context(none_left_empty(Path(args.record).parent))
        cut = _cut(args) if args.record else None
        sources = _sources(args, targets, configs, stack)
        friction = [config.estimator.friction for config in configs]
        page = ViewPage(sources, friction, args.host, args.port, args.spacing)
        stack.callback(page.close)
        for source in sources:
            stack.callback(source.stop)
            source.start()
        if cut is not None:
            return _record(args, page, cut)
        say(args, f"open {page.url} in a browser; Ctrl-C ends the view")
        return _show(args, page, began)


def _check_unused(args: argparse.Namespace) -> None:
    """ConfigError where something is said of what is not done, or no time to show."""
    for name in ("no_mocap", "topic"):
        if getattr(args, name) and not args.replay:
            option = name.replace("_", "-")
            raise ConfigError(f"--{option} is of --replay; add --replay, or leave it out", name)
    for name in ("transport", "domain", "sim_time"):
        value = getattr(args, name)
        if args.bag and not (value is None or value is False):  # 0 is given, too
            option = name.replace("_", "-")
            raise ConfigError(f"--{option} is of a running node; leave it, or BAG, out", name)
    if args.seconds and args.record:
        raise ConfigError("--seconds is of the page; a recording has --duration", args.seconds)
    for name in ("duration", "speed", "rate", "size"):
        if getattr(args, name) is not None and not args.record:
            raise ConfigError(f"--{name} is of --record; add --record, or leave it out", name)
    check_seconds(args, "seconds", "start")
    if not math.isfinite(args.spacing):
        raise ConfigError(f"--spacing is {args.spacing:g}; give a distance in m", args.spacing)


def _targets(args: argparse.Namespace) -> list[tuple[str | None, str]]:
    """What to show: bag and node; no bag for a node that runs."""
    if args.replay and not args.bag:
        raise ConfigError("--replay needs a recording: prime view RECORDING --robot go2 --replay")
    asked = [_node(name) for name in args.node]
    if not args.bag:
        return [(None, node) for node in asked or [f"/{default_name('estimator')}"]]
    if args.replay:
        return [(bag, "") for bag in args.bag]
    return [(bag, node) for bag in args.bag for node in asked or nodes_in(bag)]


def _node(name: str) -> str:
    """Full name of a node.

    Raises:
        ConfigError: no node can have it.
    """
    check_name(name)
    return f"/{name.strip('/')}"


def _configs(args: argparse.Namespace, count: int) -> list[Config]:
    names = args.robot * count if len(args.robot) == 1 else args.robot
    if len(names) != count:
        raise ConfigError(
            f"{count} to be shown, but --robot given {len(names)} times: give it once, or once each"
        )
    return [Config.load(name, args.config) for name in names]


def _sources(
    args: argparse.Namespace,
    targets: Sequence[tuple[str | None, str]],
    configs: Sequence[Config],
    stack: ExitStack,
) -> list[Source]:
    transport = None if args.bag else _transport(args, stack)
    sources: list[Source] = []
    for (bag, node), config in zip(targets, configs):
        robot = Robot(config.robot)
        if bag is None:
            from ..nodes.viewer import NodeSource

            sources.append(NodeSource(transport, robot, node))
        elif args.replay:
            sources.append(ReplaySource(bag, robot, config, not args.no_mocap, topics_of(args)))
        else:
            sources.append(BagSource(bag, robot, node))
    return sources


def _transport(args: argparse.Namespace, stack: ExitStack) -> Transport:
    """A transport that a thread spins until the view ends."""
    if args.transport == "ros":
        from ..nodes.ros.programs import plain_transport

        transport = plain_transport("view", "", {}, args.domain, args.sim_time)
    else:
        from ..transport.dds import DdsTransport

        transport = DdsTransport("view", "", {}, args.domain, args.sim_time)
    transport.pause_s = 1.0 / RATE  # nobody looks any sooner
    os.nice(COURTESY)  # the node may run on this computer, and comes first
    stop = threading.Event()
    thread = threading.Thread(target=transport.spin, args=(stop,), name="topics", daemon=True)
    for end in (transport.close, thread.join, stop.set):  # called in the opposite order
        stack.callback(end)
    thread.start()
    return transport


def _show(args: argparse.Namespace, page: ViewPage, began: float) -> dict:
    """Serve until the end; says how long the first robot took to be drawn."""
    stop, first = stop_on_signals(), []
    meshes = threading.Thread(target=page.add_meshes, args=(stop,), name="meshes", daemon=True)
    meshes.start()
    page.cursor.start_at(args.start)
    ends = began + args.seconds if args.seconds else float("inf")
    asked_s = time.perf_counter()

    def look() -> None:
        now = time.perf_counter()
        if not first and any(robot.scene is not None for robot in page.robots):
            first.append(now - began)
        if not first and now - asked_s > PATIENCE_S:
            warn(f"nothing to show yet of {', '.join(r.source.name for r in page.robots)}")
            first.append(float("nan"))
        if now > ends:
            stop.set()

    try:
        page.run(stop, look)
    finally:
        stop.set()
        meshes.join()
    return {"url": page.url, "first_scene_s": first[0] if first else None}


def _record(args: argparse.Namespace, page: ViewPage, cut: Cut) -> dict:
    out = Path(args.record)
    page.add_meshes()
    with progress_bar(args, "read") as progress:
        _wait_for_data(page, cut, progress)
    with progress_bar(args, f"record {out.name}") as progress:
        frames = record(page, out, cut, progress)
    say(args, f"wrote {out}: {frames} frames")
    return {"out": str(out), "frames": frames}


def _cut(args: argparse.Namespace) -> Cut:
    check_kind(Path(args.record))
    size = SIZE if args.size is None else args.size
    width, _, height = size.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise ConfigError(f"--size wants WIDTHxHEIGHT such as {SIZE}, got {size}", size)
    if not args.bag and not args.duration:
        raise ConfigError("how much of the running node is to be recorded? Give --duration S")
    rate = RATE if args.rate is None else args.rate
    speed = 1.0 if args.speed is None else args.speed
    duration = float("inf") if args.duration is None else args.duration
    cut = Cut(args.start, duration, rate, speed, (int(width), int(height)))
    make_place(Path(args.record))
    return cut


def _wait_for_data(page: ViewPage, cut: Cut, progress) -> None:
    """Until all that is to be recorded is there."""
    while True:
        page.tick(0.0)
        done = page.span[1] if page.span else 0.0
        if all(r.source.complete for r in page.robots) or done >= cut.end:
            break
        progress(0.0 if cut.end == float("inf") else min(1.0, done / cut.end))
        time.sleep(POLL_S)
    if page.span is None:
        raise DataError(f"no estimate in {', '.join(r.source.name for r in page.robots)}")
