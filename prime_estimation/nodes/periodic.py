# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A thread that works at a fixed period."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from ..config.values import is_number
from ..errors import ConfigError
from .scheduling import take_turns

log = logging.getLogger("prime.periodic")
POLL_S = 5e-4  # at which a clock is looked at that need not go at the pace of the system's
JUMP_S = 1.0  # by which such a clock is ahead of what is due when it has begun, or was set


def period_of(rate: float) -> float:
    """Period [s] of a rate [Hz]; ConfigError where there is none."""
    if not (is_number(rate) and 0.0 < rate <= 1e4):
        raise ConfigError(f"a rate must be between 0 and 10000 Hz, got {rate!r}", rate)
    return 1.0 / rate


class Periodic(ABC):
    """Works once in every period of `period` seconds, from `start` to `stop`.

    Work is due on a fixed grid of times. What is late is done at once; what is late by more than a
    period is left out and counted. What goes wrong once is said, and is no end.

    Args:
        period: between two beginnings [s].
        thread: its name.
        clock: time [s] that counts, when it is not the system's: it may be slow, stand, begin
            late, or be set.
        patient: it takes long, and others come first.

    Attributes:
        missed: periods that were left out.
        worked: periods that were not.
    """

    def __init__(
        self,
        period: float,
        thread: str,
        clock: Callable[[], float] | None = None,
        patient: bool = False,
    ):
        self._period, self._patient = period, patient
        self._clock, self._longest = clock or time.monotonic, POLL_S if clock else period
        self._jump = JUMP_S if clock else float("inf")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=thread, daemon=True)
        self.missed = self.worked = 0

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def stop(self) -> None:
        """End, when the work in hand is done; what has not begun never will."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        if self._patient:
            take_turns()
        due = self._clock() + self._period
        while not self._stopped.wait(min(max(0.0, due - self._clock()), self._longest)):
            now = self._clock()
            if now < due:
                due = min(due, now + self._period)
                continue
            if now - due > self._jump:
                due = now
            try:
                self._work()
            except Exception:  # noqa: BLE001 - a thread that dies silently would be a node that lies
                log.exception("%s went wrong", self._thread.name)
            self.worked += 1
            due += self._period
            late = int((self._clock() - due) / self._period)
            if late > 0:
                self.missed += late
                due += late * self._period

    @abstractmethod
    def _work(self) -> None:
        """Work that is done once in a period."""


class Worker(Periodic):
    """Calls a function once in every period."""

    def __init__(
        self,
        period: float,
        thread: str,
        work: Callable[[], None],
        clock: Callable[[], float] | None = None,
        patient: bool = False,
    ):
        super().__init__(period, thread, clock, patient)
        self._function = work

    def _work(self) -> None:
        self._function()
