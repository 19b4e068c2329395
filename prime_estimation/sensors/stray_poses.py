# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stray poses of motion capture before there is an estimate that could tell them."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..types import PoseSample

REACH, SPEED = 0.05, 3.0  # m, m/s: how far a robot comes from one pose to another at most
REACH_TURN, RATE = 0.1, 6.0  # rad, rad/s: and turns
NEAR_NS = 70_000_000  # between poses that are compared: some that stray may lie between them
# of the poses that must be of one set: of poses in mm none agrees with another, and any of them
# would place the robot; two jumps within half a second leave a third
LEAST = 0.25


def agreeing_poses(poses: list[PoseSample]) -> list[bool]:
    """Which of the poses, oldest first, belong to most of them.

    Two poses agree where a robot can have gone from one to the other. All that agree with one that
    agrees are of one set, and the largest set is kept: a jump within the poses leaves the longer
    part, single outliers none of them. Where even that holds few, no pose tells the place.
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
