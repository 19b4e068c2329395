# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stamps, held rows and seams with known answers."""

import numpy as np
import pytest

from prime_estimation.convert.clocks import (
    on_times,
    row_times,
    times_from_rates,
    times_of_arrivals,
)
from prime_estimation.convert.held import fresh_rows
from prime_estimation.convert.mapping import Clock, LogFile, Seams
from prime_estimation.convert.seams import seam_rows, with_gaps
from prime_estimation.convert.tables import open_table
from prime_estimation.errors import ConfigError, DataError


@pytest.fixture
def table(tmp_path):
    def make(stamps):
        path = tmp_path / "log.csv"
        path.write_text("t\n" + "\n".join(map(str, stamps)) + "\n")
        return open_table(path, "log", LogFile(time=Clock(column="t")))

    return make


def test_stamps_with_unit_and_offset(table):
    times, kept = row_times(table([1000, 1002, 1005]), Clock("t", "ms", offset=0.5))
    assert times == pytest.approx([1.5, 1.502, 1.505]) and kept.all()


@pytest.mark.parametrize("stamps", [[0, 1, 1, 2], [0, 2, 1, 3], [0, 1, "nan", 2]])
def test_stamps_that_repeat_or_go_back(table, stamps):
    with pytest.raises(DataError, match="repeat or go back in 1 of 4 rows, first in row 2") as e:
        row_times(table(stamps), Clock("t"))
    assert "\n" not in str(e.value) and "irregular: drop" in str(e.value)
    times, kept = row_times(table(stamps), Clock("t", irregular="drop"))
    assert kept.tolist() == [True, True, False, True] and (np.diff(times) > 0).all()


def test_rows_without_stamps(table):
    times, _ = row_times(table([7, 7, 7]), Clock(rate=100.0, offset=2.0))
    assert times == pytest.approx([2.0, 2.01, 2.02])
    times, _ = row_times(table([7, 7, 7]), Clock(step=0.5))
    assert times == pytest.approx([0.0, 0.5, 1.0])
    for wrong in (Clock(), Clock(rate=1.0, step=1.0), Clock("t", rate=1.0)):
        with pytest.raises(ConfigError):
            row_times(table([1, 2, 3]), wrong)
    with pytest.raises(ConfigError, match="a step of -0.01 s goes back"):
        row_times(table([1, 2, 3]), Clock(step=-0.01))


def _arrivals():
    """Rows sampled at 180 Hz that a network holds back now and then, and 40 of them lost."""
    rng = np.random.default_rng(2)
    sampled = np.arange(4000) / 180.0
    sampled = np.delete(sampled, np.arange(2000, 2040))
    arrival = sampled + 0.0005 + rng.exponential(0.001, len(sampled))
    for first in range(300, len(sampled), 400):  # 27 rows, 150 ms
        arrival[first : first + 27] = arrival[first + 27]
    return sampled, np.maximum.accumulate(arrival)


@pytest.mark.parametrize("rate", [0.0, 180.0])
def test_rows_that_arrived_all_at_once(rate):
    """The stamps they were sampled at come back to half a period, and what was lost stays lost."""
    sampled, arrival = _arrivals()
    assert np.abs(arrival - sampled).max() > 0.14
    told = times_of_arrivals(arrival, rate)
    late = told - sampled
    assert np.ptp(late) < 0.5 / 180.0 and np.diff(told).min() > 0.9 / 180.0
    assert np.diff(told).max() == pytest.approx(41.0 / 180.0, abs=0.003)


def test_arrivals_in_a_mapping(table):
    stamps = [0.0, 0.01, 0.05, 0.05, 0.05, 0.0503, 0.06]
    times, kept = row_times(table(stamps), Clock("t", arrivals=True, rate=100.0, offset=1.0))
    assert kept.all() and (times <= 1.0 + np.array(stamps) + 1e-12).all()
    assert np.diff(times).min() > 0.0098
    with pytest.raises(ConfigError, match="arrivals want a column"):
        row_times(table(stamps), Clock(rate=100.0, arrivals=True))


def test_the_joints_tell_the_time():
    """Rows at irregular times, counted as if regular: rates and positions give the times back."""
    rng = np.random.default_rng(1)
    true = np.cumsum(rng.choice([0.002, 0.004, 0.008], 400))
    rate = np.stack([6.0 * np.cos(9.0 * true + i) for i in range(4)], axis=1)
    position = np.stack([6.0 / 9.0 * np.sin(9.0 * true + i) for i in range(4)], axis=1)
    position += rng.normal(0.0, 2e-4, position.shape)
    guess = np.linspace(0.0, true[-1] - true[0], 400)
    told = times_from_rates(guess, np.ones(400, bool), position, rate)
    assert np.abs(np.diff(told) - np.diff(true)).std() < 1e-4
    assert np.diff(guess).std() == pytest.approx(0.0, abs=1e-12)
    # rows that hold lie between
    held = np.repeat(np.arange(400), 2)
    fresh = np.tile([True, False], 400)
    again = times_from_rates(np.linspace(0.0, true[-1], 800), fresh, position[held], rate[held])
    assert (np.diff(again) > 0.0).all()


def test_the_joints_tell_no_time_across_a_cut():
    """Half a radian further, or not at all, at 1 rad/s: such rows keep the time of the others."""
    guess, rate = 0.01 * np.arange(6), np.ones((6, 1))
    position = np.array([0.0, 0.01, 0.02, 0.52, 0.52, 0.53])[:, None]
    told = times_from_rates(guess, np.ones(6, bool), position, rate)
    assert told == pytest.approx(guess, abs=1e-9)


def test_rows_before_the_first_fresh_reading_keep_their_time():
    guess = 0.01 * np.arange(6)
    fresh = np.array([False, False, True, True, True, True])
    told = times_from_rates(guess, fresh, guess[:, None], np.ones((6, 1)))
    assert told == pytest.approx(guess, abs=1e-6)


def test_fresh_rows():
    times = np.arange(10) * 0.01
    values = np.array([1, 1, 2, 2, 2, 2, 2, 2, 2, 3.0])[:, None]
    assert fresh_rows(values, times, 1.0).tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
    # what stands still is read all the same
    assert fresh_rows(values, times, 0.03).tolist() == [1, 0, 1, 0, 0, 1, 0, 0, 1, 1]
    # once in two rows, whatever the rounding of their times
    still = np.zeros((200, 1))
    assert fresh_rows(still, 0.01 * np.arange(200), 0.02).tolist() == [1, 0] * 100
    # a column without readings is equal to itself
    still[:] = np.nan
    assert fresh_rows(np.hstack([values, still[:10]]), times, 1.0).sum() == 3


def test_seams(table):
    n, step = 300, 0.005
    times = step * np.arange(n)
    rate = np.stack([3.0 * np.cos(5.0 * times + i) for i in range(6)], axis=1)
    position = np.stack([0.6 * np.sin(5.0 * times + i) for i in range(6)], axis=1)
    position[200:] += 0.3
    position[100, 0] += 0.4  # an encoder's glitch is no seam
    log, fresh = table(range(n)), np.ones(n, bool)
    assert seam_rows(Seams(), log, times, fresh, position, rate) == [200]
    assert seam_rows(Seams(), log, times, fresh, position, None) == [200]
    assert seam_rows(Seams(detect=False, rows=[50]), log, times, fresh, position, rate) == [50]
    # without rates, what the joints did before goes on: a fast one jumps nowhere
    fast = 0.08 * np.arange(n)[:, None] * np.ones(6)
    assert seam_rows(Seams(), log, times, fresh, fast, None) == []
    # 201 and the jump at 200 are one cut
    assert seam_rows(Seams(rows=[201]), log, times, fresh, position, rate) == [200]
    late = times + np.where(np.arange(n) >= 120, 0.8, 0.0)
    smooth = np.zeros((n, 6))
    assert seam_rows(Seams(), log, late, fresh, smooth, smooth) == [120]
    for row in (0, 400, -1):
        with pytest.raises(ConfigError, match=f"row {row} of .* begins no new part: .* 1 to 299, "):
            seam_rows(Seams(rows=[row]), log, times, fresh, position, rate)
    assert with_gaps(times[[199, 200]], np.array([times[200]]), 1.0) == pytest.approx(
        [times[199], times[200] + 1.0]
    )


@pytest.mark.parametrize("rate, seams", [(500.0, [200]), (50.0, [])])
def test_landing_feet_are_no_seam_where_readings_are_rare(table, rate, seams):
    """Half of a running Go2's joints move 0.1 rad within 20 ms, which the rates do not show."""
    n = 400
    times = np.arange(n) / rate
    position, velocity = np.zeros((n, 12)), np.zeros((n, 12))
    position[200:, :5] += 0.1
    assert seam_rows(Seams(), table(range(n)), times, np.ones(n, bool), position, velocity) == seams


@pytest.mark.parametrize("joints, seams", [(3, []), (4, [200])])
def test_a_third_of_the_joints_makes_a_seam(table, joints, seams):
    n = 400
    position, velocity = np.zeros((n, 12)), np.zeros((n, 12))
    position[200:, :joints] += 0.3
    rows = np.arange(n) / 500.0, np.ones(n, bool), position, velocity
    assert seam_rows(Seams(), table(range(n)), *rows) == seams


@pytest.mark.parametrize("lost, seams", [(0.027, []), (0.1, [100])])
def test_some_lost_rows_of_a_log_without_stamps_are_no_seam(table, lost, seams):
    """The joints go on as their rates say, for longer than the rows tell."""
    n = 200
    true = 0.002 * np.arange(n) + np.where(np.arange(n) >= 100, lost, 0.0)
    position, rate = 3.0 * true[:, None] * np.ones(6), np.full((n, 6), 3.0)
    times, fresh = 0.002 * np.arange(n), np.ones(n, bool)
    assert seam_rows(Seams(), table(range(n)), times, fresh, position, rate) == seams


def test_another_files_stamps():
    own = np.array([0.0, 1.0, 2.0, 3.0, 20.0])
    values = own[:, None] * 2.0
    times = np.array([-0.5, 0.5, 1.0, 3.0, 10.0, 20.0])
    found = on_times(times, own, values)[:, 0]
    assert np.isnan(found[[0, 4]]).all()
    assert found[[1, 2, 3]] == pytest.approx([1.0, 2.0, 6.0])
    # beside a row without a reading values at their own times are what they are
    found = on_times(np.array([0.0, 0.5, 2.0, 3.0]), own[:4], np.array([[1.0], [np.nan], [3], [4]]))
    assert found[[0, 2, 3], 0].tolist() == [1.0, 3.0, 4.0] and np.isnan(found[1, 0])
