# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Docstrings of the package as reStructuredText, and the fields of its dataclasses as a list.

Docstrings are plain text that is read in an editor: indented lines are equations or tables, and
`|x|`, `*` and `x_` mean themselves. Units and frames of a dataclass's fields stand in the comments
behind them, or in the declaration of a parameter.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator

SECTIONS = ("Args:", "Attributes:", "Returns:", "Raises:", "Yields:")
_FIELD = re.compile(r"^    (?P<name>\w+): (?P<type>[^=#]+?)\s*(?:=[^#]*)?(?:#\s*(?P<text>.*))?$")
_COMMENT = re.compile(r"^    # (?P<text>.*)$")


def setup(app) -> dict:
    """Connects to autodoc, in front of napoleon."""
    app.connect("autodoc-process-docstring", _process, priority=400)
    return {"parallel_read_safe": True}


def _process(app, what, name, obj, options, lines: list[str]) -> None:
    out = list(_blocks([_escaped(line) for line in lines], lines))
    if what == "class" and dataclasses.is_dataclass(obj):
        out += ["", *_fields(obj)]
    lines[:] = out


def _escaped(line: str) -> str:
    """The line with the characters that would be markup, outside of backticks, taken literally."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"([*|\\])|(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
    for i in range(2, len(parts), 2):  # what follows a code without a blank, as in `a`^2
        parts[i] = re.sub(r"^(?=[\w^(])", r"\\ ", parts[i])
    return "`".join(parts)


def _blocks(escaped: list[str], raw: list[str]) -> Iterator[str]:
    """Indented lines outside of sections become literal blocks."""
    section = literal = False
    for text, line in zip(escaped, raw):
        indented = line.startswith("    ")
        if line.strip() in SECTIONS and not indented:
            section, literal = True, False
        elif line and not indented:
            if section or literal:
                yield ""
            section = literal = False
        if indented and not section:
            if not literal:
                yield from ("", "::", "")
            literal = True
            yield line
        else:
            yield text


def _fields(kind: type) -> Iterator[str]:
    """A list of the fields of a dataclass with type, unit and meaning."""
    declared = {f.name: f for f in dataclasses.fields(kind)}
    yield ""
    for name, form, text in _declarations(kind):
        if name not in declared:
            continue
        facts = declared[name].metadata
        if "doc" in facts:
            unit = f" [{facts['unit']}]" if facts.get("unit") else ""
            default = declared[name].default
            given = isinstance(default, (str, int, float)) and default != ""
            text = facts["doc"] + unit + (f"; default {default!r}" if given else "")
        yield f"- **{name}** (`{form}`)" + (f": {_escaped(text)}" if text else "")


def _declarations(kind: type) -> Iterator[tuple[str, str, str]]:
    """Name, type and comment of the fields in the source of a class; a comment may stand above."""
    above = ""
    for line in inspect.getsource(kind).splitlines():
        if comment := _COMMENT.match(line):
            above = f"{above} {comment['text']}".strip()
        elif field := _FIELD.match(line):
            yield field["name"], field["type"], field["text"] or above
            above = ""
        else:
            above = ""
