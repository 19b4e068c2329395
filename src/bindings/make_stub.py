# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Type stub of the compiled core, made from the docstrings that Boost.Python writes.

    python src/bindings/make_stub.py && ruff format prime_estimation/_core.pyi

Run it when the bindings have changed; a test compares names and signatures.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import eigenpy

from prime_estimation import _core

STUB = Path(__file__).resolve().parents[2] / "prime_estimation" / "_core.pyi"
HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
# Made by src/bindings/make_stub.py: do not edit.
"""The compiled core, as Python sees it; equations stand in front of the C++ classes, below src/."""
{typing}
import crocoddyl
import numpy
import pinocchio as pin
'''
_SIGNATURE = re.compile(r"^(?P<name>\w+)\((?P<arguments>.*)\) -> (?P<result>[\w.]+) :$")
_ARGUMENT = re.compile(r"\((?P<type>[\w.]+)\)(?P<name>\w+)(?:=(?P<default>\[\]|[^,\[\]]+))?")
_PLAIN = {"None", "bool", "int", "float", "str", "list", "tuple", "dict"}


def stub() -> str:
    """Text of the stub."""
    known = set(dir(eigenpy))
    names = [n for n in dir(_core) if not n.startswith("_") and n not in known]
    # Boost's registries of types and eigenpy's memory switch come along with every such module
    members = {n: getattr(_core, n) for n in names}
    classes = {n: m for n, m in members.items() if isinstance(m, type)}
    lines = []
    for name in _by_bases(classes):
        lines += [*_class(name, classes[name]), ""]
    for name, member in members.items():
        if name not in classes:
            lines += [*_function(name, member.__doc__ or "", None), ""]
    body = "\n".join(lines).rstrip() + "\n"
    typing = [word for word in ("Any", "overload") if re.search(rf"\b{word}\b", body)]
    imported = f"\nfrom typing import {', '.join(typing)}\n" if typing else ""
    return HEAD.format(typing=imported) + "\n" + body


def _by_bases(classes: dict[str, type]) -> list[str]:
    """Names of classes, bases first."""
    return sorted(classes, key=lambda name: (len(classes[name].__mro__), name))


def _class(name: str, kind: type) -> Iterator[str]:
    bases = [_type(f"{b.__module__}.{b.__name__}") for b in kind.__bases__]
    bases = [b for b in bases if b not in ("Any", "object")]
    values = getattr(kind, "names", None) if issubclass(kind, int) else None
    bases = ["int"] if values else bases
    yield f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
    if kind.__doc__:
        yield from _text(kind.__doc__)
    body = [f"    {value}: {name}" for value in values] if values else list(_members(kind))
    yield from body or ([] if kind.__doc__ else ["    pass"])


def _members(kind: type) -> Iterator[str]:
    for name, member in kind.__dict__.items():
        if isinstance(member, property):
            found = _SIGNATURE.match(_first_line(member.fget.__doc__ or member.__doc__ or ""))
            kind_of = _type(found["result"]) if found else "Any"
            yield f"    {name}: {kind_of}"
        elif type(member).__name__ == "function" and (name == "__init__" or name[0] != "_"):
            lines = _function(name, member.__doc__ or "", kind)
            yield from (f"    {line}" if line else "" for line in lines)


def _function(name: str, doc: str, owner: type | None) -> Iterator[str]:
    blocks = [b for b in re.split(r"\n(?=\w+\( ?.*\) -> )", f"\n{doc}") if b.strip()]
    for block in blocks:
        head, *rest = block.strip().splitlines()
        found = _SIGNATURE.match(head)
        if len(blocks) > 1:
            yield "@overload"
        arguments = _arguments(found["arguments"], owner) if found else "*arguments: Any"
        result = "None" if name == "__init__" or not found else _type(found["result"])
        text = textwrap.dedent("\n".join(rest)).split("C++ signature :")[0].strip()
        yield f"def {name}({arguments}) -> {result}:" + ("" if text else " ...")
        if text:
            yield from _text(text)


def _arguments(text: str, owner: type | None) -> str:
    out = []
    for i, a in enumerate(_ARGUMENT.finditer(text)):
        if owner is not None and i == 0:
            out.append("self")
            continue
        optional = "[" in text and a.start() > text.index("[")
        value = (a["default"] or "...").strip()
        default = f" = {'...' if value == 'inf' else value}" if optional else ""
        none = " | None" if optional and value == "None" else ""
        out.append(f"{a['name']}: {_type(a['type'])}{none}{default}")
    return ", ".join(out)


def _type(name: str) -> str:
    last = name.rsplit(".", 1)[-1]
    if name == "numpy.ndarray":
        return name
    if name in _PLAIN or hasattr(_core, last) and name in (last, f"{_core.__name__}.{last}"):
        return last
    for alias, package in (("crocoddyl", "crocoddyl."), ("pin", "pinocchio.")):
        if name.startswith(package):
            return f"{alias}.{last}"
    return "Exception" if name.endswith("Error") else "Any"


def _first_line(doc: str) -> str:
    head = doc.strip().splitlines()[0] if doc.strip() else ""
    return re.sub(r"^None\(", "value(", head)


def _text(text: str) -> Iterator[str]:
    lines = textwrap.wrap(" ".join(text.split()), 90)
    if len(lines) == 1:
        yield f'    """{lines[0]}"""'
        return
    yield f'    """{lines[0]}'
    yield from (f"    {line}" for line in lines[1:])
    yield '    """'


if __name__ == "__main__":
    STUB.write_text(stub())
    print(STUB)
