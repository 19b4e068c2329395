# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Messages with arbitrary content, of any type in the store."""

from __future__ import annotations

import numpy as np
from rosbags.interfaces import Nodetype

from prime_estimation.io.typestore import typestore

_WORDS = ("", "base", "FL_foot", "a longer text with ä", "x" * 37)


def random_message(type_name: str, rng: np.random.Generator):
    """A message all of whose fields are filled at random; sequences have 0 to 4 entries."""
    kind = typestore().types[type_name]
    return kind(
        **{
            name: _value(description, rng)
            for name, description in typestore().fielddefs[type_name][1]
        }
    )


def _value(description, rng: np.random.Generator):
    kind, content = description
    if kind == Nodetype.NAME:
        return random_message(content, rng)
    if kind == Nodetype.BASE:
        return _scalar(content[0], rng)
    element, size = content
    count = size if kind == Nodetype.ARRAY else int(rng.integers(0, 5))
    values = [_value(element, rng) for _ in range(count)]
    plain = element[0] == Nodetype.BASE and element[1][0] != "string"
    return np.array(values, _dtype(element[1][0])) if plain else values


def _dtype(name: str) -> str:
    return {"bool": "bool", "byte": "uint8", "octet": "uint8", "char": "uint8"}.get(name, name)


def _scalar(name: str, rng: np.random.Generator):
    if name == "string":
        return str(rng.choice(_WORDS))
    if name == "bool":
        return bool(rng.integers(2))
    if name in ("byte", "octet"):
        return int(rng.integers(128))  # signed for some, unsigned for others
    dtype = np.dtype(_dtype(name))
    if dtype.kind == "f":
        return float(dtype.type(rng.normal()))
    limits = np.iinfo(dtype)
    return int(rng.integers(limits.min, limits.max, dtype=dtype))
