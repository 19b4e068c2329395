# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Zeros of a driver are no readings of rates or torques."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from prime_estimation.alignment.filled_fields import DRIVEN, MOVED, FilledFields

NJ = 3
ZERO = np.zeros(NJ)


@pytest.mark.parametrize("name, way", [("rate", MOVED), ("torque", DRIVEN)])
def test_zeros_are_none_once_the_joints_have_moved(name, way):
    counts = Counter()
    fields = FilledFields(counts)
    tell = getattr(fields, name)
    fields.follow(np.ones(NJ))
    assert tell(ZERO) is ZERO and tell(None) is None
    fields.follow(1.0 + 0.9 * way * np.eye(NJ)[1])
    assert tell(ZERO) is ZERO and not counts
    for _ in range(2):  # one alone may be a glitch
        assert tell(ZERO) is ZERO
        fields.follow(1.0 + 1.1 * way * np.eye(NJ)[1])
    assert tell(ZERO) is None and counts == {f"joint_{name}_zero": 1}
    fields.follow(np.ones(NJ))
    assert tell(ZERO) is None


def test_what_has_lived_may_be_zero():
    counts = Counter()
    fields = FilledFields(counts)
    fields.follow(ZERO)
    assert fields.rate(np.eye(NJ)[0]) is not None and fields.torque(np.eye(NJ)[2]) is not None
    for _ in range(2):
        fields.follow(ZERO + 1.0)
    assert fields.rate(ZERO) is ZERO and fields.torque(ZERO) is ZERO and not counts


def test_samples_without_positions_say_nothing():
    fields = FilledFields(Counter())
    fields.follow(None)
    assert fields.rate(ZERO) is ZERO


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 3.0])
def test_one_wrong_position_says_nothing(wrong):
    """Neither that the joints have moved, nor, if it is the first, that they never do."""
    first, later = FilledFields(Counter()), FilledFields(Counter())
    for position in (ZERO + (wrong if wrong != 3.0 else 0.0), ZERO, ZERO + 1.0, ZERO + 1.0):
        first.follow(position)
    assert first.rate(ZERO) is None and first.torque(ZERO) is None
    for position in (ZERO, ZERO + wrong, ZERO, ZERO):
        later.follow(position)
    assert later.rate(ZERO) is ZERO and later.torque(ZERO) is ZERO


def test_rates_that_die_are_none_once_a_joint_has_gone_far():
    """A driver that is started anew without them; a machine that rests has such rates, too."""
    counts = Counter()
    fields = FilledFields(counts)
    fields.follow(ZERO)
    assert fields.rate(np.eye(NJ)[0]) is not None
    for way in (0.0, 0.9 * DRIVEN, 1.1 * DRIVEN):  # the last one alone may be a glitch
        fields.follow(ZERO + way)
        assert fields.rate(ZERO) is ZERO and fields.torque(np.eye(NJ)[2]) is not None
    fields.follow(ZERO + 1.2 * DRIVEN)
    assert fields.rate(ZERO) is None and counts == {"joint_rate_zero": 1}
    assert fields.torque(ZERO) is ZERO  # motors may be switched off
    assert fields.rate(np.ones(NJ)) is not None
    fields.follow(ZERO + 2.0)
    assert fields.rate(ZERO) is ZERO and fields.rate(None) is None


def test_the_rate_of_one_joint_that_is_never_told():
    """Until it is; where the joint swings back to is no matter."""
    counts, live = Counter(), np.array([1.0, 0.0, 1.0])
    fields = FilledFields(counts)
    for way in (0.0, 0.0, 0.9 * DRIVEN, 1.1 * DRIVEN):
        fields.follow(ZERO + way)
        assert fields.rate(live) is live and fields.dead is None
    for way in (1.1 * DRIVEN, 0.0):
        fields.follow(ZERO + way)
        assert fields.rate(live) is None
        assert fields.dead.tolist() == [False, True, False]
    assert counts == {"joint_rate_zero": 2}
    assert fields.rate(ZERO + 1.0) is not None and fields.dead is None
    assert fields.rate(live) is live


def test_a_joint_that_rests_and_one_that_turns_over_have_no_dead_rate():
    """One whose rate is read in coarse steps; a reading that begins anew after a turn."""
    fields, live = FilledFields(Counter()), np.array([1.0, 0.0, 0.0])
    for way in np.linspace(0.0, 1.0, 50):
        fields.follow(np.array([way, 0.9 * DRIVEN * way, 2.0 * np.pi * (way > 0.5)]))
        assert fields.rate(live) is live
