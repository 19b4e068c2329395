# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Declaration of parameters: a dataclass field with default, unit, range and meaning.

Checks of YAML files, ROS descriptors, documentation and help are derived from it.
"""

from __future__ import annotations

import typing
from dataclasses import field
from functools import cache

# types of a dataclass by field: to tell them evaluates all its annotations, each time
types_of = cache(typing.get_type_hints)


def param(
    default,
    doc: str,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices=(),
    tunable: bool = False,
):
    """Declares a parameter as a dataclass field with the facts that all else is derived from.

    Args:
        default: value; a list or a dict is copied for every instance.
        doc: meaning, in one phrase.
        unit: of the value.
        low: smallest value that is accepted.
        high: largest one.
        choices: the only values that are accepted, where there are some.
        tunable: it may change while the node runs.
    """
    metadata = dict(doc=doc, unit=unit, low=low, high=high, choices=tuple(choices), tunable=tunable)
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def with_values(parameters, **values):
    """A copy of frozen parameters with other values of some, which are not checked.

    `dataclasses.replace` sets every field again, which takes ten times as long where there are
    many.
    """
    copy = object.__new__(type(parameters))
    copy.__dict__.update(parameters.__dict__, **values)
    return copy
