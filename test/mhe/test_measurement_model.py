# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readings that come one by one are those of the node in whose past step they were taken."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from helpers.models import config, robot

from prime_estimation.mhe.problem import Problem

MS = 1_000_000


class Node:
    """Notes what it is given, up to two readings."""

    def __init__(self):
        self.given: list[int] = []

    def present(self, name: str, slot: int) -> bool:
        return slot < len(self.given)


@pytest.fixture
def hand_out():
    """Function: stamps [ms] that nodes at 100, 110 and 120 ms are given; and how many are lost."""
    model = Problem(robot("go2"), config("go2"), ("mocap",)).measurements

    def give_event(given, slot, sample, stamp, noise):
        assert slot == len(given.given)
        given.given.append(sample.stamp_ns // MS)

    model._untracked = [SimpleNamespace(name="mocap", give_event=give_event)]

    def hand_out(*stamps):
        nodes = [Node(), Node(), Node()]
        samples = {"mocap": [SimpleNamespace(stamp_ns=MS * stamp) for stamp in stamps]}
        lost = model.give_events(samples, nodes, [100 * MS, 110 * MS, 120 * MS])
        return [node.given for node in nodes], len(lost)

    return hand_out


def test_a_reading_is_of_the_step_that_ends_at_its_node(hand_out):
    assert hand_out(91, 100, 101, 110, 120) == ([[91, 100], [101, 110], [120]], 0)


@pytest.mark.parametrize("stamp", [15, 85, 90, 121])
def test_what_was_taken_in_no_step_of_the_window_is_lost(hand_out, stamp):
    assert hand_out(stamp) == ([[], [], []], 1)


def test_what_has_no_place_at_its_node_is_left_out(hand_out):
    assert hand_out(102, 104, 106) == ([[], [102, 104], []], 0)
