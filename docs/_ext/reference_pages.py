# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Reference pages, made anew with every build: command line and rooms of the package.

They are written to `docs/reference`, which is not under version control.
"""

from __future__ import annotations

import importlib
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
PACKAGE = DOCS.parent / "prime_estimation"
# what is imported only by rclpy's own executables
LEFT_OUT = {"commands", "nodes/ros"}


def setup(app) -> dict:
    """Connects to the beginning of a build."""
    app.connect("builder-inited", lambda app: write_pages(DOCS / "reference"))
    return {"parallel_read_safe": True}


def write_pages(folder: Path) -> None:
    """Writes the pages; one that has not changed keeps its date, so that it is not built again."""
    pages = {"command_line": command_line(), **api_pages()}
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in folder.glob("*.md"):
        if path.stem not in pages:
            path.unlink()


def command_line() -> str:
    """`prime --help` and that of every verb."""
    from prime_estimation.cli import VERBS, parser_of

    lines = [
        "# Command line\n",
        "Every verb has `--help`, `--json` for machines, and a progress bar on long work. Bad input"
        " ends it with code 2 and one line that says what is wrong.\n",
    ]
    for verb, summary in VERBS.items():
        text = parser_of(verb).format_help()
        lines += [f"## prime {verb}\n", f"{summary[0].upper()}{summary[1:]}.\n"]
        lines += ["```text", text.rstrip(), "```\n"]
    return "\n".join(lines)


def api_pages() -> dict[str, str]:
    """A page for each room, and one for the modules on top, by name."""
    top = sorted(p.stem for p in PACKAGE.glob("*.py") if p.stem not in ("__init__", "cli"))
    rooms = sorted(
        p.parent.relative_to(PACKAGE).as_posix()
        for p in PACKAGE.rglob("__init__.py")
        if p.parent != PACKAGE
    )
    pages = {"api_package": _page("prime_estimation", "", top)}
    for room in rooms:
        if room in LEFT_OUT:
            continue
        modules = sorted(p.stem for p in (PACKAGE / room).glob("*.py") if p.stem != "__init__")
        pages[f"api_{room.replace('/', '_')}"] = _page(room, room.replace("/", ".") + ".", modules)
    return pages


def _page(title: str, prefix: str, modules: list[str]) -> str:
    lines = [f"# {title}\n"]
    if prefix:
        module = importlib.import_module(f"prime_estimation.{prefix[:-1]}")
        lines += [(module.__doc__ or "").strip() + "\n"]
    for name in modules:
        lines += [f"## {name}\n", "```{eval-rst}"]
        lines += [f".. automodule:: prime_estimation.{prefix}{name}", "   :members:", "```\n"]
    return "\n".join(lines)
