# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The type stub of the core says what the compiled module has."""

from __future__ import annotations

import ast
import importlib.util

from prime_estimation import _core


def names(text: str) -> set[str]:
    """Classes, functions, attributes, and signatures of functions, with what they belong to."""
    found = set()
    for node in ast.parse(text).body:
        members = node.body if isinstance(node, ast.ClassDef) else []
        owner = f"{node.name}." if members else ""
        found |= {node.name} if members else set()
        for member in members or [node]:
            if isinstance(member, ast.AnnAssign):
                found.add(f"{owner}{member.target.id}")
            elif isinstance(member, ast.FunctionDef):
                found.add(f"{owner}{member.name}({ast.unparse(member.args)})")
    return found


def test_stub_is_current(repository):
    path = repository / "src" / "bindings" / "make_stub.py"
    spec = importlib.util.spec_from_file_location("make_stub", path)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    written, made = names(maker.STUB.read_text()), names(maker.stub())
    assert written == made, "run: python src/bindings/make_stub.py, then ruff format"


def test_stub_has_what_the_package_uses(repository):
    text = (repository / "prime_estimation" / "_core.pyi").read_text()
    declared = {node.name for node in ast.parse(text).body if hasattr(node, "name")}
    used = {
        node.attr
        for path in (repository / "prime_estimation").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "_core"
    }
    assert used <= declared
    assert all(hasattr(_core, name) for name in declared)


def test_package_is_typed(repository):
    assert (repository / "prime_estimation" / "py.typed").is_file()
