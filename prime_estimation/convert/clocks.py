# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time of a file's rows: from a column of stamps, from a rate, or from the joint rates."""

from __future__ import annotations

import numpy as np

from ..errors import ConfigError, DataError
from .mapping import Clock
from .tables import Table
from .units import factor_to_si

# of `from_rates`: what a change of position misses (a step of the encoder, and how the rate changed
# between) [rad], and how far the first guess of an elapsed time may be off, relative to it
_POSITION = 0.001
_GUESS = 0.75
# of `arrivals`: rows over which the mean step is taken, longer than a burst, and the share of the
# period that is kept between stamps: one a little too long would push all rows ever earlier
_BURST = 100
_SPACING = 0.99


def row_times(table: Table, clock: Clock) -> tuple[np.ndarray, np.ndarray]:
    """Seconds (n,) of the rows that have a stamp of their own, and which rows those are (rows,).

    Raises:
        ConfigError: neither stamps nor a rate are given, or both.
        DataError: stamps that repeat or go back, or none at all.
    """
    if clock.column:
        if (clock.rate and not clock.arrivals) or clock.step or clock.from_rates:
            raise ConfigError(
                f"files.{table.name}.time: rows have a column of stamps, or a rate, not both", clock
            )
        stamps = table.first_of(clock.column) * factor_to_si("time", clock.unit, "time.unit")
        keep = _increasing(table, clock, stamps)
        stamps = stamps[keep]
        if clock.arrivals:
            stamps = times_of_arrivals(stamps, clock.rate)
        return stamps + clock.offset, keep
    if clock.arrivals:
        raise ConfigError(
            f"files.{table.name}.time: arrivals want a column of stamps, those of arrival", clock
        )
    step = table.scalar(clock.step) if isinstance(clock.step, str) else clock.step
    if bool(step) == bool(clock.rate):
        raise ConfigError(
            f"files.{table.name}.time: give a column of stamps, or one of rate and step", clock
        )
    step = step or 1.0 / clock.rate
    if step <= 0.0:
        raise ConfigError(f"files.{table.name}.time: a step of {step:g} s goes back", clock)
    return clock.offset + step * np.arange(table.rows), np.ones(table.rows, bool)


def _increasing(table: Table, clock: Clock, stamps: np.ndarray) -> np.ndarray:
    """Rows whose stamps are later than all before; arrivals may be equal: several come at once."""
    known = np.isfinite(stamps)
    if not known.any():
        raise DataError(f"{table.path}: the column of stamps is NaN throughout", clock)
    filled = np.where(known, stamps, -np.inf)
    newest = np.maximum.accumulate(filled)
    before = np.concatenate([[-np.inf], newest[:-1]])
    later = known & ((filled >= before) if clock.arrivals else (filled > before))
    wrong = np.flatnonzero(~later)
    if len(wrong) and clock.irregular == "refuse":
        row, value = table.first + wrong[0], stamps[wrong[0]]
        what = "repeat or go back" if known[wrong].all() else "are missing, repeat or go back"
        first = f"{value:.6f} s" if known[wrong[0]] else "none"
        raise DataError(
            f"{table.path}: stamps {what} in {len(wrong)} of {table.rows} rows, first in row {row} "
            f"({first}); files.{table.name}.time.irregular: drop leaves such rows out",
            wrong,
        )
    return later


def times_of_arrivals(arrivals: np.ndarray, rate: float = 0.0) -> np.ndarray:
    """Seconds (n,) at which rows were sampled, up to the delay of those that came at once.

    No row was sampled after it arrived, and none less than a period before the next: the latest
    such times are taken. Rows that were lost leave their gap.

    Args:
        arrivals: (n,) not decreasing [s].
        rate: at which rows were sampled [Hz]; 0: the usual one over stretches longer than a burst.
    """
    n = len(arrivals)
    if n < 3:
        return arrivals
    span = min(_BURST, n - 1)
    period = 1.0 / rate if rate else float(np.median(arrivals[span:] - arrivals[:-span])) / span
    spaced = _SPACING * period * np.arange(n)
    # the latest t with t_k <= arrival_k and t_k <= t_(k+1) - spacing
    return spaced + np.minimum.accumulate((arrivals - spaced)[::-1])[::-1]


def times_from_rates(
    times: np.ndarray, fresh: np.ndarray, position: np.ndarray, velocity: np.ndarray
) -> np.ndarray:
    """Seconds (n,) of rows whose own count tells the time only roughly.

    Between two fresh readings of the joints passes the time `T` that minimizes `|dq - v T|^2 /
    s_q^2 + (T - T_0)^2 / s_T^2`: what the mean rates `v` need for the change `dq` of the positions,
    and the first guess `T_0` where the joints hardly move. Rows between are interpolated.

    Args:
        times: (n,) first guess [s].
        fresh: (n,) rows with a new reading of the joints.
        position: (n, nj) [rad].
        velocity: (n, nj) [rad/s].
    """
    rows = np.flatnonzero(fresh)
    if len(rows) < 2:
        return times
    change = np.diff(position[rows], axis=0)
    rate = 0.5 * (velocity[rows][1:] + velocity[rows][:-1])
    guess = np.diff(times[rows])
    weight, trust = 1.0 / _POSITION**2, 1.0 / (_GUESS * guess) ** 2
    elapsed = (weight * (change * rate).sum(axis=1) + trust * guess) / (
        weight * (rate**2).sum(axis=1) + trust
    )
    # no reading takes no time, and none ten times as long as rows tell: the recording was cut there
    possible = (elapsed > 0.1 * guess) & (elapsed < 10.0 * guess)
    at_fresh = np.concatenate([[0.0], np.cumsum(np.where(possible, elapsed, guess))])
    inside = np.interp(np.arange(len(times)), rows, at_fresh + times[rows[0]])
    # before the first fresh row, and after the last, the first guess goes on
    before, after = np.arange(len(times)) < rows[0], np.arange(len(times)) > rows[-1]
    inside[before] = times[before]
    inside[after] = times[after] - times[rows[-1]] + inside[rows[-1]]
    return inside


def on_times(times: np.ndarray, own_times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (m, k) of another file at `times` (n,): linear, and NaN where it has none.

    None is where its rows lie further apart than five of their usual steps.
    """
    usual = float(np.median(np.diff(own_times)))
    after = np.clip(np.searchsorted(own_times, times), 1, len(own_times) - 1)
    gap = own_times[after] - own_times[after - 1]
    share = ((times - own_times[after - 1]) / gap)[:, None]
    known = (gap <= 5.0 * usual) & (share[:, 0] > -1e-6) & (share[:, 0] < 1.0 + 1e-6)
    # a value at its own time is itself, whatever its neighbour may be
    between = np.where(
        share > 1.0 - 1e-6,
        values[after],
        np.where(
            share < 1e-6,
            values[after - 1],
            (1.0 - share) * values[after - 1] + share * values[after],
        ),
    )
    return np.where(known[:, None], between, np.nan)
