# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A foot lands in the step at whose beginning its flag rises, whenever that is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import models

from prime_estimation import _core
from prime_estimation.contact import schedule
from prime_estimation.contact.schedule import ContactSchedule
from prime_estimation.types import Measurement

OPEN, CLOSED, LANDING = _core.Stance.open, _core.Stance.closed, _core.Stance.landing
FLAGS = np.array([[1, 1, 1, 0], [1, 0, 1, 0], [1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 1]], bool)
STANCES = [
    [CLOSED, CLOSED, CLOSED, OPEN],
    [CLOSED, OPEN, CLOSED, OPEN],
    [CLOSED, OPEN, CLOSED, LANDING],
    [OPEN, LANDING, CLOSED, CLOSED],
    [LANDING, CLOSED, OPEN, CLOSED],
]


@pytest.fixture
def told() -> ContactSchedule:
    """A schedule whose flags are given, by stamps."""
    found = ContactSchedule(models.robot("go2"))
    found._flags.update = lambda m: FLAGS[m.stamp_ns]
    return found


def at(k: int) -> Measurement:
    return Measurement(k, None, None, None)


def test_a_foot_lands_once(told):
    assert [told.before(at(k)) for k in range(5)] == STANCES
    assert [told.before(at(k)) for k in range(5)] == STANCES  # of a batch that is gone through anew


def test_all_feet_stand_before_the_first_measurement_and_after_a_reset(told):
    for k in range(5):
        told.before(at(k))
    told.reset()
    assert told.before(at(1)) == STANCES[1]
    assert told.before(at(2)) == STANCES[2]


def test_only_the_newest_are_remembered(told, monkeypatch):
    monkeypatch.setattr(schedule, "REMEMBERED", 2)
    for k in range(4):
        told.before(at(k))
    assert list(told._known) == [2, 3]
