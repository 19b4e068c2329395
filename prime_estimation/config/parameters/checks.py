# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of values against their declaration: name, type, range, choice."""

from __future__ import annotations

import difflib
import math
import typing
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace

from ...declaration import types_of
from ...errors import ConfigError
from ..values import check_names, is_file_name, laid_over, three_numbers
from .robot import THREE_NUMBERS, THREE_NUMBERS_EACH, ContactConfig, RobotConfig


def updated(section, content: dict, source: str, prefix: str = ""):
    """A copy of a section with the given nested values.

    Args:
        section: dataclass of parameters, or of sections.
        content: changes; an unknown key or a value out of range raises ConfigError.
        source: of the content, for the error.
        prefix: names of the sections around this one, for the error.
    """
    known = {f.name: f for f in fields(section)}
    changes = {}
    for key, value in (content or {}).items():
        if key not in known:
            close = difflib.get_close_matches(str(key), known, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else f"; known are {', '.join(known)}"
            raise ConfigError(f"{source}: unknown key '{prefix}{key}'{hint}", key)
        current = getattr(section, key)
        if is_dataclass(current):
            # None: a section whose entries are all commented out
            if value is not None and not isinstance(value, dict):
                raise ConfigError(
                    f"{source}: '{prefix}{key}' must be a mapping, got {value!r}", value
                )
            changes[key] = updated(current, value, source, f"{prefix}{key}.")
        else:
            changes[key] = _check_value(
                type(section), known[key], laid_over(current, value), source, prefix
            )
    return replace(section, **changes)


def _check_value(owner, f, value, source: str, prefix: str):
    """`value` as the type of field `f` of dataclass `owner`.

    ConfigError when type, range or choice does not fit.
    """
    name = f"{source}: '{prefix}{f.name}'"
    if owner is RobotConfig and f.name == "contacts":
        return _contacts(value, source, f"{prefix}contacts")
    if (owner, f.name) in THREE_NUMBERS:
        return _three_in_range(f, value, name)
    kinds = types_of(owner)[f.name]
    kinds = typing.get_args(kinds) or (kinds,)
    if float in kinds and isinstance(value, str):  # YAML takes 1e-3 for a word
        with suppress(ValueError):
            value = float(value)
    _check_type(kinds, value, name)
    if (owner, f.name) in THREE_NUMBERS_EACH:
        return {k: _three_in_range(f, v, f"{name}, {k},") for k, v in value.items()}
    if owner is RobotConfig and f.name == "name" and not is_file_name(value):
        raise ConfigError(
            f"{name} becomes the name of files: letters, digits, and - _ . between them, got "
            f"{value!r}",
            value,
        )
    if f.metadata["choices"] and value not in f.metadata["choices"]:
        raise ConfigError(
            f"{name} must be one of {', '.join(f.metadata['choices'])}, got {value!r}", value
        )
    _check_range(f, value, name)
    return float(value) if kinds == (float,) else value


def _check_type(kinds: tuple[type, ...], value, name: str) -> None:
    """A whole number is a number, too; yes and no are none."""
    expected = (*kinds, int) if float in kinds else kinds
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in kinds):
        raise ConfigError(
            f"{name} must be {' or '.join(k.__name__ for k in kinds)}, got {value!r}", value
        )
    for key in value if isinstance(value, dict) else ():
        if not isinstance(key, str):  # 1: and no: are a number and a truth value
            raise ConfigError(f"{name}: names must be text, in quotes, got {key!r}", value)


def _three_in_range(f, value, name: str) -> list[float]:
    numbers = three_numbers(value, name, f.metadata["unit"])
    for number in numbers:
        _check_range(f, number, name)
    return numbers


def _check_range(f, value, name: str) -> None:
    """All numbers of a value must be finite and within the field's range."""
    if isinstance(value, dict):
        numbers = list(value.values())
    else:
        numbers = [value] if isinstance(value, (int, float)) else []
    low, high = f.metadata["low"], f.metadata["high"]
    for number in numbers:
        outside = not isinstance(number, (int, float)) or not math.isfinite(number)
        if outside or (low is not None and number < low) or (high is not None and number > high):
            raise ConfigError(
                f"{name} = {number!r} is outside [{low}, {high}] {f.metadata['unit']}".rstrip(),
                value,
            )


def _contacts(entries, source: str, name: str) -> list[ContactConfig]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError(
            f"{source}: '{name}' must be a list of mappings with name, frame, position, radius, "
            f"got {entries!r}",
            entries,
        )
    contacts = [
        updated(ContactConfig(), entry, source, f"{name}[{i}].") for i, entry in enumerate(entries)
    ]
    check_names([contact.name for contact in contacts], f"{source}: '{name}'")
    return contacts
