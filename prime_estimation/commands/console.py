# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Console output that the verbs share: progress bars, tables, warnings."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..recordings.refusals import by_reason


def add_progress_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `--no-progress`."""
    parser.add_argument(
        "--no-progress",
        action="store_true",
        help="no progress bar (there is none either when stderr is not a terminal)",
    )


@contextmanager
def progress_bar(args: argparse.Namespace, text: str) -> Iterator[Callable[[float], None]]:
    """Progress bar on stderr; yields the function that takes the fraction done.

    That function does nothing with `--no-progress`, with `--json`, or without a terminal.
    """
    if args.no_progress or args.json or not sys.stderr.isatty():
        yield lambda fraction: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=1.0)
        yield lambda fraction: progress.update(task, completed=fraction)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Handler of Ctrl-C; yields a function that says whether it was pressed.

    The first time the work comes to a proper end, the second time it stops at once.
    """
    pressed = []

    def note(*_) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(True)

    # signals belong to the main thread
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def warn(text: str) -> None:
    """Prints a warning on stderr, one line."""
    print(f"warning: {text}", file=sys.stderr)


def say_counts(args: argparse.Namespace, counts: Mapping[str, int], name: str = "") -> None:
    """Says what was refused of a recording; its name where there are several."""
    if counts:
        say(args, f"{name and name + ': '}counted: {by_reason(counts)}")


def say(args: argparse.Namespace, *renderables) -> None:
    """Prints results for people; silent with `--json`."""
    if not args.json:
        # a pipe has no width: do not fold tables to 80 columns there
        console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
        for renderable in renderables:
            console.print(renderable, markup=False) if isinstance(
                renderable, str
            ) else console.print(renderable)


def table(title: str, rows: Mapping[str, object], columns: tuple[str, ...] = ()) -> Table:
    """Table of names and values, one row each; a row has one value, or one per column."""
    out = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        show_header=bool(columns),
        box=None,
        pad_edge=False,
    )
    out.add_column("")
    words = any(isinstance(v, str) for v in rows.values())
    for column in columns or ("",):
        out.add_column(column, justify="left" if words else "right")
    for name, value in rows.items():
        values = value if isinstance(value, (list, tuple)) and columns else [value]
        out.add_row(Text(name), *(Text(number(v)) for v in values))  # Text: brackets are no markup
    return out


def number(value: object) -> str:
    """Text of a value, numbers in four digits."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return " ".join(number(v) for v in value)
    return str(value)
