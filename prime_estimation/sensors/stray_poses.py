# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stray motion capture poses of a start batch, found without an estimate."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..types import PoseSample

REACH, SPEED = 0.05, 3.0  # m, m/s: largest distance of a robot between two poses
REACH_TURN, RATE = 0.1, 6.0  # rad, rad/s: largest rotation
NEAR_NS = 70_000_000  # between compared poses: some stray ones may lie between them
# share of the poses that the largest set must have: of poses in mm none agrees with another, and
# any of them would place the robot; two jumps within half a second leave a third
LEAST = 0.25


def agreeing_poses(poses: list[PoseSample]) -> list[bool]:
    """Which of the poses, oldest first, belong to the largest set of poses that agree.

    Two poses agree if a robot can have moved from one to the other; sets are the connected
    components of this relation. After a jump within the poses the longer part is kept; single
    outliers are not. If even the largest set is small, no pose is kept.
    """
    if not poses:
        return []
    stamps = np.array([pose.stamp_ns for pose in poses])
    places = np.array([pose.position_world for pose in poses])
    turns = np.array([pose.quat_world_body for pose in poses])
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    later = np.abs(stamps[:, None] - stamps)  # ns
    near = later <= NEAR_NS
    near |= np.eye(len(poses), k=1, dtype=bool) | np.eye(len(poses), k=-1, dtype=bool)
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    turned = 2.0 * np.arccos(np.minimum(np.abs(turns @ turns.T), 1.0))
    agree = (apart <= REACH + 1e-9 * SPEED * later) & (turned <= REACH_TURN + 1e-9 * RATE * later)
    _, sets = connected_components(near & agree)
    sizes = np.bincount(sets)
    enough = sizes.max() >= LEAST * len(poses)
    return ((sets == sizes.argmax()) & enough).tolist()
