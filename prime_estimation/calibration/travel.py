# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Travel of the tracked body against that of the legs: unit, and axes, of its positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import DataError
from ..robot import Robot, axis_names, signed_axes
from .initial_trajectory import initial_trajectory
from .leg_factors import leg_terms
from .leg_kinematics import Leg
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import rotate

SPAN = 10  # nodes over which travel is told: a tenth of a second, in which a trotting foot stands
FEWEST = 50  # spans
# share of the squares that another explanation must leave, at most. Recordings that are right leave
# 0.9 and more of them by any other axes, mirrored ones 0.1
CLEARLY = 0.5
# of the travel by the legs, which bent machines and rolling feet change by a tenth; the units in
# use are a factor of ten apart, or that of inches and feet to the metre
LARGEST_SCALE = 1.5
# of the travel by the legs, at least, by which a tracked body goes: walks have 0.97 to 1.16 of it,
# a dance with feet that slide 0.65, and noise only adds to it
LEAST_SCALE = 1.0 / 3.0
MOVES = 0.005  # m in a span, of legs that move the base


@dataclass(frozen=True)
class Travel:
    """Spans in which a foot stands: `seen = scale Q legs + turned lever` with the right Q, one.

    Attributes:
        seen: (m, 3) travel of the IMU by motion capture [m]. legs: (m, 3) by the foot [m]; world.
        turned: (m, 3, 3) change of the rotation world from IMU, by which an arm that is not the
            model's moves the tracked body.
    """

    seen: np.ndarray
    legs: np.ndarray
    turned: np.ndarray

    @property
    def sizes(self) -> tuple[float, float]:
        """Root mean square of seen and legs [m], without what an arm of the turning explains."""
        A = self.turned.reshape(-1, 3)
        seen, legs = (
            b.ravel() - A @ np.linalg.lstsq(A, b.ravel(), rcond=None)[0]
            for b in (self.seen, self.legs)
        )
        return float(np.sqrt(3.0 * np.mean(seen**2))), float(np.sqrt(3.0 * np.mean(legs**2)))

    def fit(self, axes: np.ndarray) -> tuple[float, float]:
        """Scale of the travel, and sum of squares that is left, with these axes (3, 3)."""
        along = (self.legs @ axes.T).reshape(-1, 1)
        A = np.concatenate([along, self.turned.reshape(-1, 3)], axis=1)
        b = self.seen.ravel()
        found = np.linalg.lstsq(A, b, rcond=None)[0]
        return float(found[0]), float(np.sum((b - A @ found) ** 2))


def travel(recording: KinematicRecording, robot: Robot, offsets: Offsets) -> Travel:
    """Travel in all spans in which a foot stands and motion capture is there at both ends."""
    legs = [Leg(robot, foot) for foot in robot.feet]
    x = initial_trajectory(legs, recording, offsets)
    seen = np.zeros(len(recording), bool)
    for shift in (-1, 0, 1):
        seen[np.clip(recording.mocap.node + shift, 0, len(seen) - 1)] = True
    parts = []
    for i, leg in enumerate(legs):
        lost = np.cumsum(np.r_[0, ~recording.stance[:, i]])
        first = np.flatnonzero(lost[SPAN + 1 :] == lost[: -SPAN - 1])
        first = first[seen[first] & seen[first + SPAN]]
        reach = rotate(x.rotation, leg_terms(leg, i, recording, offsets).point)
        changes = (x.position, -reach, x.rotation)
        parts.append([c[first + SPAN] - c[first] for c in changes])
    return Travel(*(np.concatenate(rows) for rows in zip(*parts)))


def check_travel(recording: KinematicRecording, robot: Robot, offsets: Offsets) -> None:
    """DataError where positions of motion capture are in another unit, or along other axes.

    Args:
        recording: its signals.
        robot: whose legs these are.
        offsets: with the rotation of the tracked body that fits its turning.
    """
    found = travel(recording, robot, offsets)
    if len(found.seen) < FEWEST:
        return
    unmoved = found.fit(np.zeros((3, 3)))[1]
    fits = [(*found.fit(axes), axes) for axes in signed_axes()]
    scale, left, _ = fits[0]
    if scale < 0.0:  # the other way is another world
        left = unmoved
    # minus a scale is other axes too
    others = sorted((f[1:] for f in fits if f[0] > 0.0), key=lambda f: f[0])
    least, axes = others[0]
    if least < CLEARLY * left:
        hands = {np.linalg.det(a) < 0.0 for rest, a in others if CLEARLY * rest < least}
        causes = {True: "mirrored, left-handed axes", False: "positions of another world"}
        raise DataError(
            f"{recording.name}: positions of the motion capture go along "
            f"({', '.join(axis_names(axes))}) where its orientations and the legs go along "
            f"(x, y, z): {' or '.join(causes[h] for h in sorted(hands))}; export poses of "
            "right-handed axes with z up",
            axes,
        )
    seen, by_legs = found.sizes
    if left < CLEARLY * unmoved and not 1.0 / LARGEST_SCALE < scale < LARGEST_SCALE:
        factor = scale
    elif by_legs > MOVES and seen < LEAST_SCALE * by_legs:
        factor = seen / by_legs
    else:
        return
    raise DataError(
        f"{recording.name}: the tracked body travels {factor:.3g} times as far as the legs carry "
        "the base: its positions are not in metres, or stay where they are, or joints are not in "
        "rad",
        factor,
    )
