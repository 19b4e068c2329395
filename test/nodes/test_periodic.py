# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Threads that work at a fixed period, of the system's time or of another."""

import time

import pytest
from helpers.waiting import wait

from prime_estimation.errors import ConfigError
from prime_estimation.nodes.periodic import Worker, period_of
from prime_estimation.transport.base import pace_of
from prime_estimation.transport.inprocess import Bus, InProcessTransport


class Clock:
    """Time that goes when it is told to [s]."""

    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_clock_that_stands_lets_nothing_happen():
    clock, done = Clock(), []
    worker = Worker(0.02, "work", lambda: done.append(clock.now), clock)
    worker.start()
    time.sleep(0.1)
    assert not done
    for _ in range(10):
        clock.now += 0.02
        assert wait(lambda before=len(done): len(done) > before)
    worker.stop()
    assert (len(done), worker.missed) == (10, 0)


def test_what_a_fast_clock_leaves_out_is_counted():
    clock, done = Clock(), []
    worker = Worker(0.01, "work", lambda: done.append(clock.now), clock)
    worker.start()
    time.sleep(0.02)
    clock.now += 0.0555
    assert wait(lambda: worker.worked > 0)
    time.sleep(0.02)
    worker.stop()
    assert worker.worked + worker.missed == 5


def test_a_clock_that_is_set_back_begins_anew():
    clock, done = Clock(), []
    worker = Worker(0.02, "work", lambda: done.append(clock.now), clock)
    worker.start()
    time.sleep(0.02)
    clock.now = 5.0
    time.sleep(0.02)
    clock.now += 0.021
    assert wait(lambda: done == [clock.now])
    worker.stop()


def test_a_clock_that_begins_leaves_nothing_out():
    clock, done = Clock(), []
    clock.now = 0.0  # as that of a node before it has heard of /clock
    worker = Worker(0.02, "work", lambda: done.append(clock.now), clock)
    worker.start()
    time.sleep(0.05)
    clock.now = 1_700_000_000.0
    assert wait(lambda: done == [clock.now])
    worker.stop()
    assert worker.missed == 0


@pytest.mark.parametrize("wrong", ["5", None, True, 0.0, -1.0, 1.1e4, float("nan")])
def test_what_is_no_rate(wrong):
    with pytest.raises(ConfigError, match="a rate must be between 0 and 10000 Hz, got "):
        period_of(wrong)


def test_periods_of_rates():
    assert (period_of(250), period_of(1e4)) == (0.004, 1e-4)


def test_the_pace_is_that_of_the_graph():
    assert pace_of(InProcessTransport(Bus(), "me")) is None
    pace = pace_of(InProcessTransport(Bus(), "me", clock=lambda: 2_500_000_000))
    assert pace() == 2.5
