# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The end of an error message about a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LISTED = 12  # names in a message


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """`; did you mean '...'?` with the nearest known name, else what is known."""
    known = [str(name) for name in known]
    close = get_close_matches(str(word), known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; known are {some(known)}" if known else "; there is none"


def some(names: Iterable[str]) -> str:
    """Names in a message: the first ones of many."""
    names = list(names)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
