# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime simulate`: a recording of a simulated robot."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path

from ..errors import ConfigError, PrimeError
from . import simulate_live
from .console import add_progress_argument, progress_bar, say, table
from .simulate_scene import (
    add_ground_arguments,
    add_payload_arguments,
    add_push_argument,
    ground_of,
    payload_of,
    pushes_of,
)

DURATION = 12.0  # s
MOTION = "trot"
DESCRIPTION = """Simulate a robot (MuJoCo, rigid contacts) under a built-in controller and write a
rosbag2 folder with noisy sensors and ground truth, and a JSON with the true inertias beside it.
Neither the controller nor the robot's model know the payload. --live: a robot on the network."""
EXAMPLES = [
    "prime simulate --robot go2 --payload 3 --at 0.05 0.02 0.1 --out runs/payload3",
    "prime simulate --robot go2 --payload 3 --on 6 --faults hard --out runs/online",
    "prime simulate --robot g1 --motion step --payload 2.9 --link torso_link --out runs/g1_step",
    "prime simulate --robot go1 --motion trot --bumps 0.04 --out runs/go1_bumps",
    "prime simulate --robot go2 --motion forward --stairs 0.08 --payload 3 --out runs/go2_stairs",
    "prime simulate --robot go2 --motion forward --slope 12 --out runs/go2_slope",
    "prime simulate --robot go2 --push -25 0 0 3 3 --push 0 80 0 7.5 0.15 --out runs/go2_pushes",
    "prime simulate --robot go2 --payload 2.5 --slides 260 --out runs/go2_slosh",
    "prime simulate --robot go2 --live --payload 3 --on 20   # for prime node and prime node mpc",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds robot, motion, payload, ground, sensors."""
    parser.add_argument(
        "--robot",
        required=True,
        metavar="NAME",
        help="go1, go2, ... or the path of a robot's YAML file; motors and joint_zeros of it "
        "are in the readings, gear_loss and stribeck in the physics",
    )
    parser.add_argument("--motion", help=f"motion (default: {MOTION}; an unknown name lists all)")
    parser.add_argument(
        "--duration",
        type=float,
        metavar="S",
        help="seconds (default: 12; with --live until interrupted)",
    )
    parser.add_argument("--out", metavar="DIR", help="bag folder to make (not with --live)")
    add_payload_arguments(parser)
    add_ground_arguments(parser)
    add_push_argument(parser)
    parser.add_argument(
        "--faults", default="default", help="constant errors of the sensors: default (none) or hard"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of motion, ground and noise (default: 0)"
    )
    add_progress_argument(parser)
    simulate_live.add_arguments(parser)


def _check_live(args: argparse.Namespace) -> None:
    """ConfigError where something is asked for that only a recording has, or no time."""
    if args.push:
        raise ConfigError("--push is for recordings: a robot on the network is not pushed")
    if args.out:
        raise ConfigError("--out is for recordings: ros2 bag record makes one of a robot of --live")
    if args.duration is not None and not 0.0 < args.duration < float("inf"):
        raise ConfigError(f"--duration must be above 0 s, and finite, got {args.duration:g}")
    if args.motion:
        raise ConfigError("--motion is for recordings: prime node mpc moves a robot of --live")


def need_mujoco() -> None:
    """Raises a PrimeError with the remedy when there is no MuJoCo."""
    if importlib.util.find_spec("mujoco") is None:
        raise PrimeError("MuJoCo is not installed; pip install 'prime_estimation[sim]'")


def run(args: argparse.Namespace) -> dict:
    """Simulates and prints what was made."""
    need_mujoco()
    from .. import simulate

    ground = ground_of(args)
    if args.live:
        _check_live(args)
        return simulate_live.run(args, payload_of(args), ground)
    if not args.out:
        raise ConfigError("where to? Give --out DIR, or --live for a robot on the network")
    simulate_live.check_unused(args)
    duration = DURATION if args.duration is None else args.duration
    pushes = pushes_of(args, duration)
    with progress_bar(args, "simulate") as progress:
        out = simulate.run(
            args.robot,
            args.motion or MOTION,
            duration,
            Path(args.out),
            payload=payload_of(args),
            terrain=ground,
            faults=args.faults,
            seed=args.seed,
            pushes=pushes,
            progress=progress,
        )
    truth_path = out.with_name(f"{out.name}.json")
    truth = json.loads(truth_path.read_text())
    keys = (
        "duration_s",
        "path_length_m",
        "yaw_total_rad",
        "base_z_range",
        "total_mass_true",
        "total_mass_nominal",
    )
    result = {
        "out": str(out),
        "truth": str(truth_path),
        **{k: truth[k] for k in keys if k in truth},
    }
    say(args, table("simulated", result))
    return result
