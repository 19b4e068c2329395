# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Legs in another order, and joints in another order in every leg."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..legs import Legs
from ..signals import Signals
from .hypothesis import EVERY, MOTION, TORQUE, Hypothesis

_MOST_LEGS, _MOST_JOINTS = 4, 3  # of which every order is looked at
_REMEDY = "exchange the {} of these {} where the messages are made (joints.names of a mapping)"


def hypotheses(legs: Legs, signals: Signals) -> Iterator[Hypothesis]:
    """Every order of the legs, pairs where it is not of all readings; orders of a leg's joints."""
    if not legs.alike:
        return
    yield from _of_legs(legs, "legs", "legs", EVERY)
    if signals.torque is not None:
        yield from _of_legs(legs, "legs.motion", "positions and rates of the legs", MOTION)
        yield from _of_legs(legs, "legs.torque", "torques of the legs", TORQUE)
    yield from _in_legs(legs)
    yield from _by_kind(legs)


def _of_legs(legs: Legs, kind: str, what: str, names: tuple[str, ...]) -> Iterator[Hypothesis]:
    feet, count = legs.robot.feet, len(legs.feet)
    if count > _MOST_LEGS:
        return
    for order in itertools.permutations(range(count)):
        moved = [i for i in range(count) if order[i] != i]
        # a part of the readings is exchanged in pairs; who has another order has it in all of them
        paired = all(order[order[i]] == i for i in moved)
        if not moved or not (paired or names is EVERY):
            continue
        columns = np.arange(legs.robot.nj)
        for i in moved:
            columns[legs.joints_of(i)] = legs.joints_of(order[i])
        told = ", ".join(f"what is called {feet[i]} is {feet[order.index(i)]}" for i in moved)
        if len(moved) == 2:
            told = f"{feet[moved[0]]} and {feet[moved[1]]} are exchanged"
        yield Hypothesis(
            kind,
            f"{what} are in another order: {told}",
            {"feet": [feet[i] for i in moved]},
            lambda s, columns=columns: s.permuted(columns, names),
            _REMEDY.format("joints", "legs"),
        )


def _in_legs(legs: Legs) -> Iterator[Hypothesis]:
    """Every order of a short leg's joints, and every two exchanged of a long one's."""
    count = len(legs.feet[0].columns)
    if count > _MOST_JOINTS:
        orders = [_exchanged(count, *pair) for pair in itertools.combinations(range(count), 2)]
        orders.append(tuple(reversed(range(count))))
    else:
        orders = list(itertools.permutations(range(count)))[1:]
    names = legs.robot.joint_names
    for order in orders:
        columns = np.arange(legs.robot.nj)
        for f in range(len(legs.feet)):
            columns[legs.joints_of(f)] = legs.joints_of(f)[list(order)]
        first = legs.joints_of(0)
        told = ", ".join(
            f"what is called {names[first[k]]} is {names[first[order.index(k)]]}"
            for k in range(count)
            if order[k] != k
        )
        yield Hypothesis(
            "joints",
            f"joints of every leg are in another order: {told}, and so in the other legs",
            {"order": list(order)},
            lambda s, columns=columns: s.permuted(columns, EVERY),
            _REMEDY.format("names", "joints"),
        )


def _by_kind(legs: Legs) -> Iterator[Hypothesis]:
    """All hips first, then all thighs, where leg after leg is expected, or the other way round."""
    by_leg = np.concatenate([legs.joints_of(f) for f in range(len(legs.feet))])
    by_kind = np.concatenate(legs.places)
    orders = [(by_kind, by_leg, "kind after kind, not leg after leg")]
    orders.append((by_leg, by_kind, "leg after leg, not kind after kind"))
    for there, named, words in orders:
        columns = np.arange(legs.robot.nj)
        columns[there] = named
        yield Hypothesis(
            "joints",
            f"joints are in another order: {words}",
            {"order": columns.tolist()},
            lambda s, columns=columns: s.permuted(columns, EVERY),
            _REMEDY.format("names", "joints"),
        )


def _exchanged(count: int, i: int, j: int) -> tuple[int, ...]:
    order = list(range(count))
    order[i], order[j] = j, i
    return tuple(order)
