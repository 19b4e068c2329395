# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Text of a URDF file, as every XML parser takes it.

The parser of URDFs bears what others refuse: blanks before the declaration, dashes in comments,
prefixes that are not declared, comments that are not in UTF-8.
"""

from __future__ import annotations

import re
from pathlib import Path

_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_ROOT = re.compile(r"<!--.*?-->|<robot\b", re.DOTALL)
# of elements and attributes, which URDFs of Gazebo use without declaring them
PREFIX = re.compile(r"(</?|\s)([A-Za-z_][\w.-]*):(?=[A-Za-z_][\w.-]*[\s=/>])")


def urdf_source(path: Path) -> str:
    """Text of a URDF file, the same robot for every parser."""
    text = _COMMENT.sub(_comment, _decoded(path.read_bytes()).lstrip())
    declared = {"xml", "xmlns", *re.findall(r"\sxmlns:([\w.-]+)\s*=", text)}
    used = {prefix for _, prefix in PREFIX.findall(without_comments(text))}
    names = "".join(f' xmlns:{prefix}="urn:{prefix}"' for prefix in sorted(used - declared))
    root = next((m for m in _ROOT.finditer(text) if m[0] == "<robot"), None)
    return text if root is None else text[: root.end()] + names + text[root.end() :]


def without_comments(text: str) -> str:
    """Text of a URDF that holds nothing but what is meant."""
    return _COMMENT.sub("", text)


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _comment(match: re.Match) -> str:
    """A comment whose dashes do not end it."""
    words = re.sub("-(?=-)", "- ", match[1])
    return f"<!--{words}{' ' if words.endswith('-') else ''}-->"
