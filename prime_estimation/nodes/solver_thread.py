# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Solver thread: runs the estimator, so that the callbacks of a node never wait for it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from .._core import Interrupted
from ..estimator import Estimator
from ..recordings.pipeline import Node
from ..types import Estimate
from .scheduling import take_turns

STRIDE = 10  # moved nodes per solve at most: with more the prediction would run away from the data

BEHIND = 2  # nodes that wait, from which on not every estimate is published,
LATE_S = 0.05  # but one in this time


class SolverThread:
    """Passes measurements to an estimator as they arrive.

    Overrun policy: new measurements wait while an update runs. If several wait, each gets one
    iteration, and the more wait, the more of them only move the window. Thus the estimator catches
    up instead of queueing solves; on a computer that is too slow, the lag settles where the
    remaining solves fit in. Meanwhile estimates are published less often (`BEHIND`, `LATE_S`), with
    their true stamp and latency. If more than `config.node.backlog` nodes wait, the oldest are
    dropped, and the window restarts behind the gap.

    Args:
        estimator: used by this thread only, once it runs.
        publish: called in this thread with every estimate that is to be published.
        failed: called in this thread with an exception that the estimator did not handle, or with
            the reason of a restart.
        on_discontinuity: called in this thread before the first node after a discontinuity: time
            may have gone back.

    Attributes:
        overruns: nodes that waited behind another one: their updates began late.
        dropped: nodes that were given up, including those whose update failed.
        pending: nodes that wait or are being processed.
    """

    def __init__(
        self,
        estimator: Estimator,
        publish: Callable[[Estimate], None],
        failed: Callable[[Exception | str], None],
        on_discontinuity: Callable[[], None] = lambda: None,
    ):
        self._estimator, self._publish, self._failed = estimator, publish, failed
        self._on_discontinuity = on_discontinuity
        self._waiting: deque[tuple[Node, float]] = deque()
        self._orders: deque[Callable[[Estimator], object]] = deque()
        self._condition = threading.Condition()
        self._running = False
        self._thread: threading.Thread | None = None
        self._published = 0.0
        self.overruns = self.dropped = self.pending = 0

    def start(self) -> None:
        """Begin to work."""
        self._running = True
        self._thread = threading.Thread(target=self._run, name="solver", daemon=True)
        self._thread.start()

    @property
    def native_id(self) -> int:
        """Of the running thread, for the system's scheduler."""
        return self._thread.native_id

    def stop(self) -> None:
        """End, within the update that is running; what waits is forgotten."""
        with self._condition:
            self._running = False
            self._condition.notify_all()
        self._estimator.interrupt()
        if self._thread is not None:
            self._thread.join()
        self._waiting.clear()

    def put(self, node: Node) -> None:
        """Hand over the next node."""
        with self._condition:
            self._waiting.append((node, time.perf_counter()))
            self.pending += 1
            while len(self._waiting) > self._estimator.config.node.backlog:
                self._waiting.popleft()
                first, since = self._waiting[0]
                self._waiting[0] = (replace(first, apart=True), since)
                self.dropped += 1
                self.pending -= 1
            self._condition.notify_all()

    def drain(self) -> None:
        """Wait until no node waits or is being worked on, or the thread ends."""
        with self._condition:
            self._condition.wait_for(lambda: not self.pending or not self._running)

    def post(self, action: Callable[[Estimator], object]) -> None:
        """Have something done to the estimator between two updates."""
        with self._condition:
            self._orders.append(action)
            self._condition.notify_all()

    def _run(self) -> None:
        take_turns()
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiting or self._orders or not self._running)
                if not self._running:
                    return
                orders, nodes = list(self._orders), list(self._waiting)
                self._orders.clear()
                self._waiting.clear()
            try:
                for action in orders:
                    self._safely(partial(action, self._estimator))
                self._work(nodes)
            except Interrupted:
                return
            with self._condition:
                self.pending -= len(nodes)
                self._condition.notify_all()

    def _safely(self, act: Callable[[], object]) -> bool:
        """Do something with the estimator; False: that failed, and it begins anew."""
        try:
            act()
        except Interrupted:
            raise
        except Exception as error:  # noqa: BLE001 - a thread that dies silently would be a node that lies
            self._estimator.reset()
            self._failed(error)
            return False
        return True

    def _work(self, nodes: list[tuple[Node, float]]) -> None:
        self.overruns += max(len(nodes) - 1, 0)
        stride, most = min(STRIDE, 1 + len(nodes) // 3), None if len(nodes) == 1 else 1
        for i, (node, since) in enumerate(nodes):
            if not self._running:
                return
            if node.apart:  # first: until then it predicts from what was before
                self._safely(partial(self._part, node))
            behind = len(nodes) - 1 - i
            iterations = 0 if behind % stride else most
            if not self._safely(partial(self._update, node, since, iterations, behind)):
                self.dropped += 1

    def _part(self, node: Node) -> None:
        self._estimator.go_on(node.measurement)
        self._on_discontinuity()

    def _update(self, node: Node, since: float, iterations: int | None, behind: int) -> None:
        restarts, _ = self._estimator.monitors.last_restart
        estimate = self._estimator.update(node.measurement, iterations)
        now_restarts, reason = self._estimator.monitors.last_restart
        if now_restarts > restarts:
            self._failed(reason)
        now = time.perf_counter()
        if estimate is not None and (behind < BEHIND or now - self._published > LATE_S):
            self._published = now
            self._publish(self._timed(estimate, 1e3 * (now - since)))

    def _timed(self, estimate: Estimate, latency_ms: float) -> Estimate:
        status = replace(estimate.status, latency_ms=latency_ms, overruns=self.overruns)
        return replace(estimate, status=status)
