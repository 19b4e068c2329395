# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Colours of the browser view, told apart by colour-blind eyes, and its legend."""

from __future__ import annotations

from ...types import ContactState

Color = tuple[int, int, int]

ESTIMATE: Color = (11, 111, 164)
NOMINAL: Color = (120, 124, 130)
UNOBSERVABLE: Color = (150, 190, 215)
STATE: dict[ContactState, Color] = {
    ContactState.OPEN: (178, 184, 194),
    ContactState.STICKING: (0, 158, 115),
    ContactState.SLIPPING: (213, 94, 0),
}
PUSH: Color = (204, 60, 150)
COVARIANCE: Color = (117, 76, 190)
TRAIL: Color = (11, 111, 164)
TERRAIN: Color = (150, 105, 30)
INTERVAL: Color = (240, 196, 25)
CURVES: tuple[Color, ...] = (
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (230, 159, 0),
    (86, 180, 233),
    (120, 94, 60),
    (60, 60, 60),
)


def css(color: Color, opacity: float = 1.0) -> str:
    """Colour as a style sheet has it."""
    return f"rgba({color[0]},{color[1]},{color[2]},{opacity:g})"
