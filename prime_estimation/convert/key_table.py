# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Every key of a mapping as a Markdown table, from the dataclasses that declare them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields

from .mapping import Columns, Mapping, Rotation
from .units import UNITS

_SHARED = (Columns, Rotation)  # explained once, in tables of their own


def key_table() -> list[str]:
    """Lines of the tables: keys of a mapping, of columns and of rotations, and units."""
    head = ["| key | default | meaning |", "|---|---|---|"]
    lines = [*head, *_rows(Mapping, "")]
    for kind, title in (
        (Columns, "Columns of a quantity (`columns: ...`, or just the columns)"),
        (Rotation, "Columns of an orientation"),
    ):
        lines += ["", f"**{title}**", "", *head, *_rows(kind, "")]
    lines += ["", "**Units**", "", "| quantity | units, SI first |", "|---|---|"]
    lines += [
        f"| {kind} | {', '.join(f'`{unit}`' for unit in units)} |" for kind, units in UNITS.items()
    ]
    return lines


def _rows(kind: type, prefix: str) -> Iterator[str]:
    for f in fields(kind):
        facts, name = f.metadata, f"{prefix}{f.name}"
        section = facts.get("section")
        if section is None:
            unit = f" [{facts['unit']}]" if facts["unit"] else ""
            choices = f" ({', '.join(facts['choices'])})" if facts["choices"] else ""
            yield f"| `{name}` | {_default(f)} | {facts['doc']}{unit}{choices} |"
            continue
        needed = "needed" if facts.get("required") else ""
        what = {Columns: "columns", Rotation: "rotation"}.get(section, "section")
        measure = f", {facts['unit_kind']}" if "unit_kind" in facts else ""
        shown = f"{name}.NAME" if facts.get("by_name") else name
        yield f"| `{shown}` | {needed} | {what}{measure}: {facts['doc']} |"
        if section not in _SHARED:
            yield from _rows(section, f"{shown}.")


def _default(f) -> str:
    value = f.default_factory() if f.default is MISSING else f.default
    return (
        ""
        if value in ("", [], None)
        else f"`{str(value).lower() if isinstance(value, bool) else value}`"
    )
