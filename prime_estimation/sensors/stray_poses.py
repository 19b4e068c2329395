# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stray poses of motion capture before there is an estimate that could tell them."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..types import PoseSample

REACH, SPEED = 0.05, 3.0  # m, m/s: how far a robot comes from one pose to another at most
REACH_TURN, RATE = 0.1, 6.0  # rad, rad/s: and turns
NEAR_NS = 70_000_000  # between poses that are compared: some that stray may lie between them


def agreeing_poses(poses: list[PoseSample]) -> list[bool]:
    """Which of the poses, oldest first, belong to most of them.

    Two poses agree where a robot can have gone from one to the other. All that agree with one that
    agrees are of one set, and the largest set is kept: a jump within the poses leaves the longer
    part, single outliers none of them.
    """
    pairs = [
        (i, j)
        for j in range(len(poses))
        for i in range(j)
        if (i == j - 1 or poses[j].stamp_ns - poses[i].stamp_ns <= NEAR_NS)
        and _agree(poses[i], poses[j])
    ]
    rows, columns = np.array(pairs, int).reshape(-1, 2).T
    size = len(poses), len(poses)
    _, sets = connected_components(coo_array((np.ones(len(pairs)), (rows, columns)), shape=size))
    return (sets == np.bincount(sets, minlength=1).argmax()).tolist()


def _agree(a: PoseSample, b: PoseSample) -> bool:
    seconds = 1e-9 * abs(b.stamp_ns - a.stamp_ns)
    if np.linalg.norm(b.position_world - a.position_world) > REACH + SPEED * seconds:
        return False
    turns = [pin.Quaternion(p.quat_world_body / np.linalg.norm(p.quat_world_body)) for p in (a, b)]
    return turns[0].angularDistance(turns[1]) <= REACH_TURN + RATE * seconds
