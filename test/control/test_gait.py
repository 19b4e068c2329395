# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gaits: duty, pairs, transitions in which no foot is in the air longer than a swing."""

import numpy as np
import pytest

from prime_estimation.control.gait import FOREVER, GAITS, Gait, GaitSchedule, gait_named
from prime_estimation.errors import ConfigError, RobotError
from prime_estimation.robot import Robot

FOUR = [0, 1, 2, 3]
WALKING = [name for name, gait in GAITS.items() if gait.period]
T = np.arange(0.0, 4.0, 0.002)
EPOCH = 1_700_000_000.0  # s: stamps are seconds since 1970


def swings(schedule: GaitSchedule, t=T) -> np.ndarray:
    """(n, 4) bool."""
    return np.array([[schedule.phase(foot, x).swinging for foot in FOUR] for x in t])


@pytest.mark.parametrize("name", WALKING)
def test_each_foot_swings_once_a_cycle(name):
    gait = GAITS[name]
    up = swings(GaitSchedule(FOUR, gait))
    t = np.round(T / gait.period) >= 0
    assert up[t].mean(axis=0) == pytest.approx(gait.swing / gait.period, abs=0.05)
    assert not up[np.isclose(T % gait.period, 0.0, atol=1e-9)].any()  # all stand when it begins


def test_pairs():
    trot, bound = (swings(GaitSchedule(FOUR, GAITS[name])) for name in ("trot", "bound"))
    assert (trot[:, 0] == trot[:, 3]).all() and (trot[:, 1] == trot[:, 2]).all()
    assert not (trot[:, 0] & trot[:, 1]).any()
    assert (bound[:, 0] == bound[:, 1]).all() and (bound[:, 2] == bound[:, 3]).all()
    assert not (bound[:, 0] & bound[:, 2]).any()
    assert swings(GaitSchedule(FOUR, GAITS["walk"])).sum(axis=1).max() == 1


def test_standing_never_ends():
    phase = GaitSchedule(FOUR, GAITS["stand"]).phase(0, EPOCH)
    assert (phase.swinging, phase.lift_off, phase.touch_down) == (False, FOREVER, FOREVER)


@pytest.mark.parametrize("first", GAITS)
@pytest.mark.parametrize("second", GAITS)
def test_no_swing_is_cut_or_prolonged_by_a_change(first, second):
    schedule = GaitSchedule(FOUR, GAITS[first])
    t = EPOCH + T
    before = swings(schedule, t[:500])
    schedule.change(GAITS[second], t[500])
    up = np.vstack([before, swings(schedule, t[500:])])
    assert schedule.gait == GAITS[second] and schedule.name == second
    for foot in FOUR:
        edges = np.flatnonzero(np.diff(up[:, foot].astype(int)))
        lengths = np.diff(edges)[0 if up[edges[0] + 1, foot] else 1 :: 2] if len(edges) > 1 else []
        allowed = [GAITS[name].swing / 0.002 for name in (first, second)]
        for length in lengths:
            assert min(abs(length - a) for a in allowed) <= 1.5, (first, second, length)


def test_a_change_waits_for_the_cycle():
    schedule = GaitSchedule(FOUR, GAITS["trot"])
    schedule.change(GAITS["walk"], 0.6)  # in the second cycle, which ends at 1.04 s
    assert schedule.phase(0, 0.6).swinging  # of the trot
    assert not any(schedule.phase(foot, 1.04).swinging for foot in FOUR)
    assert schedule.phase(2, 1.04 + 0.03).swinging  # the walk's first foot
    schedule = GaitSchedule(FOUR, GAITS["stand"])
    schedule.change(GAITS["trot"], 5.0)
    assert schedule.phase(0, 5.03).swinging and schedule.walks(4.0)


def test_touch_downs_of_the_past():
    schedule = GaitSchedule(FOUR, GAITS["trot"])
    assert schedule.last_touch_down(0, 0.3) == pytest.approx(0.24)
    assert schedule.last_touch_down(1, 0.3) == -FOREVER  # in the air
    assert schedule.last_touch_down(1, 0.1) == -FOREVER  # has not swung yet
    assert schedule.last_touch_down(1, 0.55) == pytest.approx(0.5)


def test_a_gait_that_has_ended_sets_no_foot_down():
    schedule = GaitSchedule(FOUR, GAITS["trot"])
    schedule.change(GAITS["stand"], 1.0)  # from 1.04 s on
    downs = [schedule.last_touch_down(foot, 10.0) for foot in FOUR]
    assert downs == pytest.approx([0.76, 1.02, 1.02, 0.76])
    schedule = GaitSchedule(FOUR, GAITS["trot"])
    schedule.change(GAITS["walk"], 1.0)
    assert schedule.last_touch_down(1, 1.5) == pytest.approx(1.02)  # in the walk it swings last


def test_swings_of_a_gait_that_is_to_come():
    schedule = GaitSchedule(FOUR, GAITS["walk"])
    schedule.change(GAITS["trot"], 0.1)  # from 0.88 s on, more than a cycle of the trot away
    phase = schedule.phase(2, 0.3)  # which has swung for the last time in the walk
    assert (phase.swinging, phase.lift_off) == (False, pytest.approx(0.88 + 0.28))


def test_a_clock_that_is_set_back_a_little_before_the_gait():
    schedule = GaitSchedule(FOUR, GAITS["trot"])
    schedule.change(GAITS["walk"], EPOCH)
    schedule.change(GAITS["stand"], EPOCH + 5.0)
    schedule.begin(EPOCH + 5.0)
    assert not schedule.walks(EPOCH + 4.99)
    schedule.change(GAITS["trot"], EPOCH + 4.99)
    assert schedule.name == "trot"


def test_what_is_no_gait():
    with pytest.raises(ConfigError, match="gait must be one of"):
        gait_named("gallop", Robot.load("go2"))
    with pytest.raises(RobotError, match="four feet"):
        gait_named("trot", Robot.load("g1"))
    with pytest.raises(ConfigError, match="inside its cycle"):
        Gait(0.4, 0.3, (0.0, 0.0, 0.2, 0.2))


@pytest.mark.parametrize("name", ["trot", "walk", "bound"])
def test_swings_are_equal_at_the_times_of_solves(name):
    """Lift-offs fall on multiples of 20 ms: what doubles make of them must not decide."""
    schedule = GaitSchedule(FOUR, GAITS[name])
    t = 1e-9 * (1_700_000_000_000_000_000 + 20_000_000 * np.arange(2000))
    for foot in FOUR:
        up = np.array([schedule.phase(foot, time).swinging for time in t])
        edges = np.flatnonzero(np.diff(up.astype(int)))
        lengths = np.diff(edges)[int(not up[edges[0] + 1]) :: 2]
        assert set(lengths) == {round(GAITS[name].swing / 0.02)}


def test_the_last_gait_begins_with_a_clock_that_was_set_back():
    schedule = GaitSchedule(FOUR, GAITS["stand"])
    schedule.change(GAITS["trot"], EPOCH)
    schedule.change(GAITS["walk"], EPOCH + 5.0)
    schedule.begin(100.0)
    assert schedule.name == "walk" and schedule.walks(100.0)
    assert not any(schedule.phase(foot, 100.0).swinging for foot in FOUR)
    assert schedule.phase(2, 100.03).swinging  # the walk's first foot
    schedule.change(GAITS["trot"], 100.5)
    assert schedule.name == "trot"


def test_a_gait_goes_on_where_the_clock_did():
    schedule, other = GaitSchedule(FOUR, GAITS["trot"]), GaitSchedule(FOUR, GAITS["trot"])
    other.begin(EPOCH)
    assert (swings(schedule, EPOCH + T) == swings(other, EPOCH + T)).all()
