# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Finding of a check."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

FAULT = "fault"  # recording and model contradict each other: estimates will be wrong
HINT = "hint"  # a setting that suits this recording better
FACT = "fact"  # measured, and as it should be
UNKNOWN = "unknown"  # cannot be told from this recording


@dataclass(frozen=True)
class Finding:
    """One thing that a recording tells, in a line.

    Attributes:
        name: of the check, and of what it is about, as in `delay.mocap`.
        severity: FAULT, HINT, FACT or UNKNOWN.
        text: one line: what is so, and what was expected.
        evidence: the figures that it rests on, SI.
        proposal: changes of the configuration (nested, as YAML has them), or a sentence.
    """

    name: str
    severity: str
    text: str
    evidence: dict = field(default_factory=dict)
    proposal: dict | str = ""

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return asdict(self)
