# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Held fit: keeps parameters at their YAML values until the data contradict these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from ..mhe.hold import Hold
from ..mhe.knowledge import renew
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..types import Measurement
from .monitor import Monitor


class HeldFit(ABC):
    """Computes by how much the cost would decrease if some held parameters were released.

    The arrival cost contains all nodes that have left the window since the hold began
    (`Hold.estimate`). If the YAML is right, the decrease is that of unmodelled effects; if a
    parameter is wrong by about its own size, it is many times larger in every look. Then the
    parameters are released.

    Attributes:
        fall: of the cost by each node between the last two looks.
        estimate: (n,) parameters that the data would rather have.
    """

    def __init__(self, problem: Problem, hold: Hold, policy):
        self.problem, self.hold, self._policy = problem, hold, policy
        self._columns = problem.layout.components(hold.names)
        self._limit = policy.fall  # of the fall, above which the YAML is wrong
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.fall, self.estimate = 0.0, self.hold.mean
        self._nodes = self._agreed = 0
        self._before = 0.0  # fall at the last look
        self._spoilt = False  # by nodes that say nothing of the parameters

    def begin(self) -> None:
        """A new window has the prior again."""
        self._nodes, self._agreed, self._before = 0, 0, 0.0

    def heed(self, m: Measurement) -> None:
        """Take note of how the next node was measured."""

    def look(self, window: Window, situation: Situation) -> bool:
        """Look at a window solved with the hold; True where the parameters are contradicted."""
        if not self._tells(window, situation):
            self._spoilt = True
            return False
        if self._spoilt:
            self._begin_anew(window)
        self._nodes += 1
        if self._nodes % self._policy.every:
            return False
        self._ask(window)
        self._agreed = self._agreed + 1 if self._contradicts() else 0
        contradicted = self.agreed or self._is_plain()
        if not contradicted and self._nodes >= self._policy.most:
            self._begin_anew(window)
        return contradicted

    @abstractmethod
    def _tells(self, window: Window, situation: Situation) -> bool:
        """Whether a node says anything of the parameters."""

    def _contradicts(self) -> bool:
        """Whether what was seen since the last look speaks against the YAML."""
        return self.fall > self._limit

    @property
    def agreed(self) -> bool:
        """As many looks in a row as it takes have contradicted."""
        return self._agreed >= self._policy.looks

    def _is_plain(self) -> bool:
        """Whether it is so wrong that no more looks are needed."""
        return False

    @property
    def explains(self) -> float:
        """Fall of the cost by each node that has told anything."""
        return self._before / self._nodes if self._nodes else 0.0

    @abstractmethod
    def let_go(self, window: Window) -> str:
        """Estimate the parameters from now on; returns why the estimate must start anew for it."""

    def follow(self, window: Window) -> None:
        """Remember what is estimated by now of parameters that are let go."""
        parameter, head = self.problem.parameter, window.xs[-1]
        self.estimate = np.concatenate([parameter(head, name) for name in self.hold.names])

    def again(self) -> None:
        """Others have been let go: what was seen may have been those."""
        self._agreed = 0

    def _ask(self, window: Window) -> None:
        mean, root = window.arrival.estimate(), window.arrival.L[self._columns]
        told = self.problem.layout.p(mean)[self._columns - 2 * self.problem.nv]
        self.estimate, fall = self.hold.estimate(told, root @ root.T)
        self.fall, self._before = (fall - self._before) / self._policy.every, fall

    def _begin_anew(self, window: Window) -> None:
        """Forget what the nodes said so far; what is held stays so."""
        self._renew(window, self.hold.mean)
        self._nodes, self._agreed, self._before = 0, 0, 0.0
        self._spoilt = False

    def _renew(self, window: Window, mean: np.ndarray) -> None:
        """Put the parameters at a mean (n,), with the width of the prior at present."""
        stddev, first = self.hold.share * self.hold.stddev, 0
        for name in self.hold.names:
            columns = self.problem.columns(name)
            own = slice(first, first := first + columns.stop - columns.start)
            renew(window, name, list(range(own.stop - own.start)), mean[own], stddev[own])


class HeldFits(Monitor):
    """Releases held parameters, beginning with those whose release decreases the cost most.

    One wrong parameter looks like errors of others at first; once it is estimated, the others are
    judged again.
    """

    def __init__(self, parts: Sequence[HeldFit]):
        self._parts = tuple(parts)

    def reset(self) -> None:
        """Forget everything."""
        for part in self._parts:
            part.reset()

    def begin(self, window: Window, batch: list[Measurement], situation: Situation) -> None:
        """A new window has the prior again."""
        for part in self._parts:
            part.begin()

    def assess(self, m: Measurement, window: Window | None, situation: Situation) -> Situation:
        """Note how the next node was measured."""
        for part in self._parts:
            part.heed(m)
        return situation

    def judge(self, window: Window, situation: Situation) -> str:
        """Look at a solved window, every few nodes; let go of what is wrong."""
        wrong = [part for part in self._parts if part.hold.held and part.look(window, situation)]
        for part in self._parts:
            if part.hold.let_go:
                part.follow(window)
        chosen = self._choose(wrong) if wrong else None
        if chosen is None:
            return ""
        failure = chosen.let_go(window)
        for part in self._parts:
            part.again()
        return failure

    def _choose(self, wrong: list[HeldFit]) -> HeldFit | None:
        """Which of those that are contradicted is let go."""
        return max(wrong, key=lambda part: part.fall)
