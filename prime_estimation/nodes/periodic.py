# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A thread that works at a fixed period."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod

from ..errors import ConfigError

log = logging.getLogger("prime.periodic")


def period_of(rate: float) -> float:
    """Period [s] of a rate [Hz]; ConfigError where there is none."""
    if not 0.0 < rate <= 1e4:
        raise ConfigError(f"a rate must be between 0 and 10000 Hz, got {rate:g}", rate)
    return 1.0 / rate


class Periodic(ABC):
    """Waits for `period` seconds and works, again and again, from `start` to `stop`.

    What goes wrong once is said, and is no end.
    """

    def __init__(self, period: float, thread: str):
        self._period = period
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=thread, daemon=True)

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def stop(self) -> None:
        """End, when the work in hand is done."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(self._period):
            try:
                self._work()
            except Exception:  # noqa: BLE001 - a thread that dies silently would be a node that lies
                log.exception("%s went wrong", self._thread.name)

    @abstractmethod
    def _work(self) -> None:
        """What is done once in a period."""
