# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ground, load and pushes of `prime simulate`: what a robot goes through, as options."""

from __future__ import annotations

import argparse
import difflib
import math
from dataclasses import fields

from ..errors import ConfigError

# flag -> field of `Ground`; the others are given by `--ground`
SHORT = {
    "friction": ("MU", "friction coefficient of the floor"),
    "bumps": ("M", "height of bumps on the floor [m]"),
    "stairs": ("M", "riser of stairs [m], up and down along x"),
    "slope": ("DEG", "inclination of a slope [deg], up and down along x"),
    "softness": ("S", "time constant of the contacts [s]: 0.03 gives 5 mm under a Go2"),
    "patches": ("MU", "friction coefficient of patches on the floor"),
}
OF_PAYLOAD = ("at", "link", "on", "off", "slides")
PLACE = (0.05, 0.02, 0.1)  # m, of a payload on its link
FIELD = {"bumps": "bump_height", "stairs": "stair_height", "patches": "patch_friction"}


def add_ground_arguments(parser: argparse.ArgumentParser) -> None:
    """The ground, short forms and `--ground FIELD=VALUE`."""
    for name, (unit, text) in SHORT.items():
        parser.add_argument(f"--{name}", type=float, metavar=unit, help=text)
    parser.add_argument(
        "--ground",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="any other property of the ground (an unknown one lists all)",
    )


def add_push_argument(parser: argparse.ArgumentParser) -> None:
    """`--push`."""
    parser.add_argument(
        "--push",
        type=float,
        nargs=5,
        action="append",
        default=[],
        metavar=("FX", "FY", "FZ", "BEGIN", "DURATION"),
        help="force on the base, world axes [N], its begin and duration [s]; may be repeated",
    )


def add_payload_arguments(parser: argparse.ArgumentParser, mass: float = 0.0) -> None:
    """`--payload`, `--at`, `--link`, `--on`, `--off`, `--slides`."""
    parser.add_argument(
        "--payload",
        type=float,
        default=mass or None,
        metavar="KG",
        help=f"extra mass [kg] (default: {f'{mass:g}' if mass else 'none'})",
    )
    parser.add_argument(
        "--at",
        type=float,
        nargs=3,
        metavar=("X", "Y", "Z"),
        help=f"its place on the link [m] (default: {' '.join(map(str, PLACE))})",
    )
    parser.add_argument("--link", help="link that carries it (default: the base)")
    parser.add_argument("--on", type=float, metavar="S", help="put it on at this time")
    parser.add_argument(
        "--off", type=float, metavar="S", help="take it off at this time; --on may come after"
    )
    parser.add_argument(
        "--slides",
        type=float,
        metavar="N/M",
        help="it slides along x and y on springs of this stiffness [N/m]",
    )


def payload_of(args: argparse.Namespace):
    """The payload that the arguments describe; None without one.

    Raises:
        ConfigError: there is none, but something is said of it, or it cannot be.
    """
    from ..simulate import Payload

    check_payload(args)
    if not args.payload:
        return None
    return Payload(
        args.payload,
        place_of(args),
        args.link,
        t_on=args.on,
        t_off=args.off,
        stiffness=args.slides or 0.0,
    )


def check_payload(args: argparse.Namespace) -> None:
    """ConfigError where something is said of a payload that was not asked for."""
    said = [name for name in OF_PAYLOAD if getattr(args, name) is not None]
    if said and args.payload is None:
        raise ConfigError(f"--{said[0]} is of a payload: give --payload KG too, or leave it out")


def place_of(args: argparse.Namespace) -> tuple[float, ...]:
    """Place of the payload on its link [m]."""
    return tuple(PLACE if args.at is None else args.at)


def pushes_of(args: argparse.Namespace, duration: float) -> tuple:
    """The pushes that the arguments describe.

    Raises:
        ConfigError: one begins when the recording of that many seconds is over, or cannot be.
    """
    from ..simulate import Push

    pushes = tuple(Push(tuple(p[:3]), p[3], p[4]) for p in args.push)
    for push in pushes:
        if not 0.0 <= push.begin < duration:
            raise ConfigError(
                f"--push begins at {push.begin:g} s, but the recording goes from 0 to "
                f"{duration:g} s",
                push,
            )
    return pushes


def ground_of(args: argparse.Namespace):
    """The ground that the arguments describe.

    Raises:
        ConfigError: an unknown field, no number, or one that is out of range.
    """
    from ..simulate import Ground

    given = {FIELD.get(n, n): getattr(args, n) for n in SHORT if getattr(args, n) is not None}
    if "slope" in given:
        given["slope"] = _radians(given["slope"], Ground)
    kinds = {f.name: type(f.default) for f in fields(Ground)}
    for pair in args.ground:
        name, _, value = pair.partition("=")
        if name not in kinds:
            raise ConfigError(_unknown(name, Ground), name)
        if name in given:
            raise ConfigError(f"the ground's {name} is given twice; give it once", pair)
        try:
            given[name] = kinds[name](value)
        except ValueError as error:
            kind = "a whole number" if kinds[name] is int else "a number"
            raise ConfigError(f"--ground {name}: expected {kind}, got '{value}'", pair) from error
    return Ground(**given)


def _radians(slope: float, ground: type) -> float:
    """An inclination [deg] in radians.

    Raises:
        ConfigError: the ground has none like it; said in degrees, as it was given.
    """
    high = next(f.metadata["high"] for f in fields(ground) if f.name == "slope")
    if not 0.0 <= math.radians(slope) <= high:
        upper = math.degrees(high)
        raise ConfigError(f"--slope must be 0 to {upper:.1f} degrees, got {slope:g}", slope)
    return math.radians(slope)


def _unknown(name: str, ground: type) -> str:
    near = difflib.get_close_matches(name, [f.name for f in fields(ground)], 1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    lines = "; ".join(
        f"{f.name} ({f.metadata['doc']}{', ' * bool(f.metadata['unit'])}{f.metadata['unit']})"
        for f in fields(ground)
    )
    return f"the ground has no '{name}'.{hint} Known are {lines}"
