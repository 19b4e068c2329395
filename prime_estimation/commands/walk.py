# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime walk`: a simulated robot walks under the MPC on its own estimate, a load is put on."""

from __future__ import annotations

import argparse
import shlex
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from ..config.parameters import Config
from ..control.gait import GAITS
from ..control.parameters import ControlConfig
from ..errors import ConfigError, PrimeError, RobotError
from ..evaluation.statistics import HALF_WIDTH_95
from ..nodes.run_node import stop_on_signals
from ..robot import Robot
from .console import add_progress_argument, progress_bar, say, table
from .simulate import need_mujoco
from .simulate_scene import add_payload_arguments, check_payload, place_of

DESCRIPTION = """Let a simulated robot walk in closed loop: noisy sensors, estimator, whole-body
MPC, motors. No truth and no motion capture enter the loop. A load is put on while it walks, and the
MPC learns of it from the estimator. Seen in the browser in real time, or --headless as fast as it
goes. Then it walks once more, unseen, while the MPC is not told of the load, to compare. The run
folder keeps estimate, figure and figures of merit."""
EXAMPLES = [
    "prime walk",
    "prime walk --robot go1 --payload 7.2 --at -0.1 0 0.1 --gait walk",
    "prime walk --no-update --headless      # the MPC keeps its nominal inertia",
]
FIRST = 3.0  # s, from which on a load may come: the robot has stood up and walks
ON = 6.0  # s, when the load is put on unless told otherwise
TOP_YAW_RATE = ControlConfig().top_yaw_rate  # rad/s: a walk has no other configuration
BRISK, EASY = 0.5, 0.8  # m/s, unless that is more than so much of a gait's top speed
HOST, PORT = "127.0.0.1", 8080  # of the page
PATIENCE_S = 15.0  # for a browser, before the robot walks without


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Robot, gait, load, view."""
    gaits = [name for name in GAITS if name != "stand"]
    add = parser.add_argument
    add("--robot", default="go2", metavar="NAME", help="with four feet (default: go2)")
    add("--gait", choices=gaits, default="trot", help="default: trot")
    add("--velocity", type=float, metavar="M/S", help="forwards (default: what suits the gait)")
    add("--turn", type=float, default=0.2, metavar="RAD/S", help="to the left (default: 0.2)")
    add("--duration", type=float, default=14.0, metavar="S", help="seconds (default: 14)")
    add_payload_arguments(parser, mass=3.0)
    add("--bumps", type=float, default=0.0, metavar="M", help="height of bumps on the floor [m]")
    add("--no-update", action="store_true", help="keep the estimated inertia from the MPC")
    add("--seed", type=int, default=0, help="of ground and noise (default: 0)")
    add("--out", default="prime_runs", metavar="DIR", help="of run folders (default: prime_runs)")
    add("--headless", action="store_true", help="no browser, as fast as it goes")
    add("--host", help=f"address of the page (default: {HOST}, this machine alone)")
    add("--port", type=int, help=f"port, or the next free one (default: {PORT})")
    add_progress_argument(parser)


def run(args: argparse.Namespace) -> dict:
    """Walk, draw, judge."""
    need_mujoco()
    from ..closed_loop.walk_folder import check_scene, walk
    from ..viz.canvas import canvas

    canvas()
    _check_page(args)
    _check_numbers(args)
    robot = Robot.load(args.robot)
    if len(robot.feet) != 4:
        raise RobotError(
            f"{robot.name} has {len(robot.feet)} feet; prime walk is for robots with four feet",
            robot,
        )
    _check_load(args)
    told = _told(args)
    check_scene(told)  # before a page is opened that waits for a browser
    work = (told, args.out)
    if args.headless:
        with progress_bar(args, f"{args.robot} walks") as progress:
            result = walk(lambda estimate: None, *work, realtime=False, progress=progress)
    else:
        result = _seen(args, work)
    say(args, *_verdict(args, result))
    return result


def _check_load(args: argparse.Namespace) -> None:
    """ConfigError where the load does not come, and stay, while the robot walks."""
    from ..closed_loop.walk_folder import SETTLED

    check_payload(args)
    if args.slides is not None:
        raise ConfigError("--slides is of prime simulate: a load of a walk is tied on", args.slides)
    on = ON if args.on is None else args.on
    last = args.duration - SETTLED
    if not FIRST <= on < last < float("inf"):
        raise ConfigError(
            f"the load must come at {FIRST:g} s or later, and stay for {SETTLED:g} s of the "
            f"{args.duration:g} s, got --on {on:g}",
            on,
        )
    if args.off is not None and not on < args.off:
        raise ConfigError(
            f"--off {args.off:g}: the load comes at {on:g} s (--on), and can only go later",
            args.off,
        )


def _check_page(args: argparse.Namespace) -> None:
    for name in ("host", "port"):
        if args.headless and getattr(args, name) is not None:
            raise ConfigError(f"--{name} is of the page, and --headless shows none", args)
    args.host = HOST if args.host is None else args.host
    args.port = PORT if args.port is None else args.port


def _check_numbers(args: argparse.Namespace) -> None:
    top = GAITS[args.gait].top_speed
    if args.velocity is None:
        args.velocity = min(BRISK, EASY * top)
    if not abs(args.velocity) <= top:
        raise ConfigError(
            f"--velocity {args.velocity:g}: a {args.gait} goes at {top:g} m/s at most",
            args.velocity,
        )
    if not abs(args.turn) <= TOP_YAW_RATE:
        raise ConfigError(
            f"--turn {args.turn:g}: it turns at {TOP_YAW_RATE:g} rad/s at most", args.turn
        )
    if args.seed < 0:
        raise ConfigError(f"--seed must not be negative, got {args.seed}", args.seed)


def _told(args: argparse.Namespace) -> dict:
    """What another process can be told of."""
    on = ON if args.on is None else args.on
    off = float("inf") if args.off is None else args.off
    names = ("robot", "gait", "velocity", "turn", "duration", "payload", "link", "bumps", "seed")
    told = {name: getattr(args, name) for name in names} | {"at": place_of(args)}
    return told | {"on": on, "off": off, "update": "off" if args.no_update else "on"}


def _verdict(args: argparse.Namespace, result: dict) -> Iterator:
    from ..closed_loop.walk_folder import KNOWN

    if "loaded" not in result:
        yield result["stopped"] or ("it fell" if result["fell"] else "too short to be judged")
        return
    columns = ["before", "first second", "after it"]
    parts = [result[name] for name in ("before", "sagging", "loaded")]
    without = result.get("without_update", {})
    if "loaded" in without:
        columns.append("after it, without the update")
        parts.append(without["loaded"])
    rows = {
        "trunk height, rms error [mm]": [1e3 * p["height"] for p in parts],
        "roll, rms [deg]": [57.29578 * p["roll"] for p in parts],
        "pitch, rms [deg]": [57.29578 * p["pitch"] for p in parts],
        "velocity, rms error [m/s]": [p["velocity"] for p in parts],
        "torque, rms [Nm]": [p["torque"] for p in parts],
    }
    yield table(f"{result['load_kg']:g} kg put on while it walks", rows, tuple(columns))
    margin = HALF_WIDTH_95 * result["mass_stddev_kg"]
    yield (
        f"total mass: {result['mass_kg']:.2f} +- {margin:.2f} kg (95 %), truth "
        f"{result['mass_true_kg']:.2f} kg; worst from {KNOWN:g} s on: "
        f"{100 * result['mass_error_worst']:.1f} %"
    )
    solve = result["solve_ms"]
    yield f"MPC: solves of {solve['p50']:.1f} ms (median), {solve['p99']:.1f} ms (99 %)"
    yield f"figure: {result['figure']}"
    bag, robot = shlex.quote(f"{result['folder']}/estimate.mcap"), shlex.quote(args.robot)
    yield f"again: prime view {bag} --robot {robot}"


def _seen(args: argparse.Namespace, work: tuple) -> dict:
    """Walk in a process of its own and show it; the page stays while somebody looks."""
    from ..closed_loop.walk_folder import walk
    from ..viz.browser.page import ViewPage
    from ..viz.browser.sources import ProcessSource

    config = Config.load(args.robot)
    stop = stop_on_signals()
    with ExitStack() as stack:
        source = ProcessSource(args.robot, Robot(config.robot), config, walk, work)
        page = ViewPage([source], [config.estimator.friction], args.host, args.port, 0.0)
        for end in (page.close, source.stop):
            stack.callback(end)
        say(
            args,
            f"open {page.url} in a browser; it walks off when you look, or in {PATIENCE_S:g} s",
        )
        meshes = threading.Thread(target=page.add_meshes, args=(stop,), name="meshes", daemon=True)
        meshes.start()
        stack.callback(meshes.join)
        stack.callback(stop.set)
        _wait(stop, lambda: bool(page.server.get_clients()), PATIENCE_S)
        source.start()
        page.run(stop, lambda: _end(args, page, source, stop))
        if source.result is None:
            raise PrimeError("interrupted before the walk was over: no run folder")
        return source.result


def _wait(stop: threading.Event, happened: Callable[[], bool], seconds: float) -> None:
    ends = time.perf_counter() + seconds
    while not happened() and time.perf_counter() < ends and not stop.wait(0.1):
        pass


def _end(args: argparse.Namespace, page, source, stop: threading.Event) -> None:
    """Stop once the walk is over and nobody looks any more."""
    if not source.complete:
        return
    if not page.server.get_clients():
        stop.set()
    elif page.cursor.following:
        say(args, "the walk is over; move the time slider to look again; close the page to end")
        page.cursor.seek(page.span[1])
