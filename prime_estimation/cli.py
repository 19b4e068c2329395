# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The command `prime`: one verb per module of `commands/`, loaded when it is used.

A verb's module has `DESCRIPTION`, `EXAMPLES`, `add_arguments(parser)` and `run(args) -> dict` (what
`--json` prints). Exit codes: 0 done, 1 a bug of ours, 2 bad input (one line on stderr says what and
how to fix it), 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .errors import PrimeError
from .nodes.viewerless import import_module

VERBS = {
    "demo": "simulate a robot with a hidden payload, estimate it, show the result",
    "walk": "let a simulated robot walk on its own estimate, put a load on, look at it",
    "simulate": "make a recording of a simulated robot, with sensor noise and ground truth",
    "convert": "make a bag of a log that is none: CSV, NPZ, MAT, parquet",
    "replay": "estimate from a recording",
    "identify": "find mass, centre of mass and inertia of links from whole recordings",
    "calibrate": "find feet, IMU and motion capture body of a machine from recordings",
    "reconstruct": "turn a recording into motion with contact forces that obeys the dynamics",
    "evaluate": "score an estimate against the ground truth of its recording",
    "view": "look at estimates in the browser: of a node, of a bag, or of a replay as it goes",
    "node": "run the estimator, or another node, on a robot's network (ROS 2, or DDS without it)",
    "config": "print all parameters with unit, range and meaning",
    "doctor": "say what is installed and what is missing; examine a robot's YAML or a recording",
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str):
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


class _Version(argparse.Action):
    """Prints the installed version."""

    def __call__(self, parser, *_):
        from .io.trajectory import versions

        found = versions()
        installed = found.get("prime_estimation") or found.get("git", "not installed")
        parser.exit(0, f"prime_estimation {installed}\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; returns the exit code."""
    _open_streams()
    argv = list(sys.argv[1:] if argv is None else argv)
    overview = _overview()
    head, _ = overview.parse_known_args(argv[:1])
    with _terminable():
        return _guarded(f"prime {head.verb}", lambda: _run(head.verb, argv[1:]))


def _open_streams() -> None:
    """Streams that were closed (`>&-`) take what is written, and lose it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the file takes the free number, which no output may get
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a verb as Ctrl-C does: nothing half-written is left behind."""
    # signals belong to the main thread
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _loading() -> Iterator[None]:
    """Signals wait for modules to be loaded: what they raise, Crocoddyl would swallow."""
    noted: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, lambda n, _: noted.append(n))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if noted:
        signal.raise_signal(noted[0])


def parser_of(name: str) -> argparse.ArgumentParser:
    """Parser of a verb's arguments, with its help."""
    with _loading():
        verb = import_module(f".commands.{name}", __package__)
    parser = _Parser(
        prog=f"prime {name}",
        description=verb.DESCRIPTION,
        epilog="examples:\n" + "\n".join(f"  {line}" for line in verb.EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,  # --to of another verb is no --topic
    )
    verb.add_arguments(parser)
    parser.add_argument(
        "--json", action="store_true", help="print the result as JSON, and nothing else, on stdout"
    )
    return parser


def _run(name: str, argv: list[str]) -> None:
    args = parser_of(name).parse_args(argv)
    result = import_module(f".commands.{name}", __package__).run(args)
    if args.json:
        print(import_module(".io.json_text", __package__).json_text(result))
    sys.stdout.flush()


def _overview() -> argparse.ArgumentParser:
    listing = "\n".join(f"  {name:<11} {text}" for name, text in VERBS.items())
    parser = _Parser(
        prog="prime",
        usage="prime VERB [options]",
        description="Base state, contact forces and inertia of legged robots, with covariances.",
        epilog=f"verbs:\n{listing}\n\n`prime VERB --help` explains each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help=argparse.SUPPRESS)
    return parser


def _guarded(prog: str, run: Callable[[], None]) -> int:
    """Run and turn whatever goes wrong into one line and an exit code."""
    try:
        run()
        return 0
    except PrimeError as error:
        return _fail(prog, " ".join(str(error).split()), 2)
    except BrokenPipeError:  # the reader of our output has seen enough, e.g. `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(prog, f"{error.strerror or error}: {error.filename or ''}".rstrip(": "), 2)
    except KeyboardInterrupt:
        return _fail(prog, "interrupted", 130)
    except Exception as error:
        if os.environ.get("PRIME_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        text = f"a bug, please report it: {what} (PRIME_TRACEBACK=1 shows where)"
        return _fail(prog, text, 1)


def _fail(prog: str, text: str, code: int) -> int:
    sys.stdout.flush()
    print(f"{prog}: error: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
