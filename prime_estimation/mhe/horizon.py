# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Receding horizon: starts the window from a batch, moves it node by node, and restarts it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .. import _core
from ..config.policies import TERRAIN
from ..sensors.frames import WorldMotion
from ..types import Measurement
from .dead_axes import stand_in
from .finite_measurement import finite_measurement
from .ground import Ground
from .initialization import first_window
from .problem import Problem
from .situation import Situation
from .window import Window
from .world_motion import gone, motion_between, move_window, moved_state, way_unseen

RECOVERY = 5  # iterations where legs are seen again, or feet do not hold: the window is far off
SILENT_NS = 300_000_000  # without a pose, and place and heading are not measured any more
RECENT = 5  # nodes back to which legs that were not seen make a node one of these


class Horizon:
    """The sliding window, and the data that are needed to move or restart it.

    Attributes:
        window: None before the first batch is solved.
        prior_parameters: (np,) mean of the parameters' prior that the batch used.
        ground: heights under the feet. newest_ns: stamp of the last measurement; None before it.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        batch = self.problem.config.estimator.start_nodes
        self.window: Window | None = None
        self.prior_parameters: np.ndarray | None = None
        self.ground = Ground(self.problem)
        self._recent: deque[Measurement] = deque(maxlen=batch)
        self._heads: deque[tuple[int, np.ndarray]] = deque(maxlen=batch)
        self._last_position: np.ndarray | None = None
        self._located_ns = 0
        self.newest_ns: int | None = None
        self._displacement = np.zeros((3, 3))  # what was not known of place and heading, when lost
        self._risen = 0.0  # nor of the height
        self._lost: tuple[int, np.ndarray] | None = None  # head then, where no start went on
        self.problem.contacts.reset()

    def connects(self, m: Measurement) -> bool:
        """Whether a measurement is one step after the previous one, so that no data are missing."""
        step_ns = 1e9 * self.problem.dt
        return self.newest_ns is None or abs(m.stamp_ns - self.newest_ns - step_ns) < 0.5 * step_ns

    def take(self, m: Measurement) -> Measurement:
        """Preprocess the next measurement, and store it for a start batch."""
        m = self.problem.measurements.expected(m)
        m = finite_measurement(m, self.problem.measurements.not_finite)
        if m.imu_dead is not None and self.window is not None:
            m = stand_in(self.problem, m, self.window.xs[-1])
        self.problem.contacts.observe(m)
        if m.torque is None and self._recent and self._recent[-1].unpowered:
            # zeros of a driver that has no readings, as has turned out
            told = (replace(r, torque=None) if r.unpowered else r for r in self._recent)
            self._recent = deque(told, maxlen=self._recent.maxlen)
        self._recent.append(m)
        self.newest_ns = m.stamp_ns
        return self.problem.turned_back(m)

    @property
    def batch(self) -> list[Measurement]:
        """The newest measurements, as many as a start batch has."""
        return [self.problem.turned_back(m) for m in self._recent]

    @property
    def gathered(self) -> bool:
        """The start batch is complete."""
        return len(self._recent) == self._recent.maxlen

    def start(self, situation: Situation, previous_state: np.ndarray | None = None) -> str:
        """Solve the start batch, once it is complete. Returns why that failed; else empty."""
        self.window = None
        if not self.gathered:
            return ""
        begun = first_window(self.problem, self.batch, previous_state, situation)
        if begun.window is None:
            return f"cannot start: {begun.reason}"
        self.window, self.prior_parameters = begun.window, begun.prior_parameters
        self._located_ns = self.window.stamps[-1]
        self._go_on(previous_state)
        self.ground.begin(self.window)
        model = self.problem.measurements
        for beside in (*model.trackers.values(), *model.gates.values()):
            beside.reset()
        seen = (m.position for m in reversed(self._recent) if m.position is not None)
        self._last_position = next(seen)
        return ""

    def _go_on(self, previous_state: np.ndarray | None) -> None:
        """Continue position and heading of a lost estimate, with their uncertainty."""
        problem, window, (stamp, x) = self.problem, self.window, self._lost or (0, None)
        if previous_state is None and x is not None and not window.place.measured:
            gap = 1e-9 * (window.stamps[0] - stamp)
            unseen = way_unseen(problem, x, gap)
            there = gone(problem, x, gap)
            move_window(problem, window, motion_between(problem, window.xs[0], there))
            self._displacement = self._displacement + np.diag(unseen**2)
            self._risen = math.hypot(self._risen, TERRAIN.slope * unseen[0])
        window.place.go_on(self._displacement, self._risen)
        self._lost = None

    def restart(self, situation: Situation, previous_state: np.ndarray | None) -> str:
        """Restart from the last measurements, or from the next ones if these have no solution."""
        untried = self.window is not None or previous_state is not None
        self._give_up()
        failure = self.start(situation, previous_state) if untried else "the batch has been tried"
        if failure:
            self._wait()
        return failure

    def break_off(self) -> None:
        """End the estimate where data end; later data continue from there."""
        self._give_up()
        self.window = self.newest_ns = None
        self._wait()

    def _give_up(self) -> None:
        """Keep what outlasts the window: lasting parameters, uncertainty of the position."""
        self.ground = Ground(self.problem)
        if self.window is None:
            return
        arrival, x = self.window.arrival, self.window.xs[0]
        self.problem.first.keep(x, np.sqrt(np.diag(arrival.covariance)))
        displacement = self.window.place.displacement(arrival, x, x)
        self._risen = self.window.place.risen
        if np.isfinite(displacement).all():
            self._displacement = displacement

    def _wait(self) -> None:
        """Wait for new measurements, because the stored ones have no solution."""
        self._lost = self._lost or next(self._finite_heads(), None)
        self._recent.clear()

    def complete(self, m: Measurement, situation: Situation) -> None:
        """Add torque, specific force and disturbances of the step that ends to the former head."""
        former = self.window.inputs[-1]
        self.problem.complete(former, m, situation)
        if m.position is None and m.accelerometer is None:
            self.problem.coast(former, self.window.xs[-1])
        self.problem.process.follow(former, self.window.inputs[-2])
        creep = self.ground.creep
        creep.superseded = situation.unrest > 0.0
        softness = self.problem.softness(self.window.xs[-1])
        self.problem.process.expect_motion(
            former,
            self.ground.airborne,
            softness,
            situation.unrest,
            creep.velocity if creep.any and not creep.superseded else None,
            self.window.place.measured,
            untold=not (former.weighed or self.ground.on_floor),
        )
        # without motion capture the loads of creeping feet are needed to determine the tilt
        if self.window.place.measured and self.window.creeping:
            self.problem.process.expect_lasting_force(former)
        if not former.weighed:
            self.problem.process.expect_unknown_load(former)
        self._last_position = self._last_position if m.position is None else m.position

    def shift(self, m: Measurement, situation: Situation) -> str:
        """Marginalize the oldest node into the arrival cost, and append a new head.

        Returns:
            Why the new head could not be predicted; empty if it could.
        """
        head = self.problem.state_input(m, self._last_position)
        noise = self.problem.process_noise(situation.inertia_held)
        try:
            self.window.shift(head, m.stamp_ns, noise)
        except _core.SolveError as failure:
            return str(failure)
        model = self.problem.measurements
        readings = model.without_outliers(m.readings, self.window)
        if (motion := model.take_motion()) is not None:
            self._move_world(motion)
        self._locate(bool(readings.get("mocap")), m.stamp_ns)
        model.hand_out(readings, self.window)
        return ""

    def _locate(self, seen: bool, stamp_ns: int) -> None:
        """Note that position and heading are measured, or no longer are (motion capture silent)."""
        if seen:
            self.window.place.found(self.window.arrival, self.window.xs[0])
            self._located_ns = stamp_ns
        elif stamp_ns - self._located_ns > SILENT_NS:
            self.window.place.lost()

    def _move_world(self, motion: WorldMotion) -> None:
        """Move window, ground, and the states for a restart together with the world."""
        problem = self.problem
        move_window(problem, self.window, motion)
        self.ground.move(motion)
        heads = ((stamp, moved_state(problem, x, motion)) for stamp, x in self._heads)
        self._heads = deque(heads, maxlen=self._heads.maxlen)

    def solve(self, m: Measurement, iterations: int) -> str:
        """Improve the window by some iterations. Returns why that failed; else empty."""
        number = RECOVERY if iterations and self._legs_are_back(m) else iterations
        us = self.window.us
        try:
            if number:
                self.window.improve(number)
                if self.window.strain() > TERRAIN.strain and self.ground.loosen(self.window, us):
                    self.window.improve(RECOVERY)
        except _core.SolveError as failure:
            return str(failure)
        return ""

    def follow(self, m: Measurement, situation: Situation, solved: bool) -> None:
        """Update the ground under feet that have landed, and remember the head."""
        self.problem.learn(self.window.xs[-1])
        self.ground.update(self.window, situation)
        if solved:
            self._heads.append((m.stamp_ns, self.window.xs[-1]))

    def previous_state(self) -> np.ndarray | None:
        """Former head at the time at which the stored batch begins; None if there is none."""
        began = self._recent[0].stamp_ns
        head = next((x for stamp, x in self._heads if stamp >= began), None)
        return head if head is not None and np.isfinite(head).all() else None

    def _finite_heads(self) -> Iterator[tuple[int, np.ndarray]]:
        """Stamps [ns] and states of heads, the newest first."""
        return ((stamp, x) for stamp, x in reversed(self._heads) if np.isfinite(x).all())

    def _legs_are_back(self, m: Measurement) -> bool:
        recent = self.window.inputs[-RECENT:-1]
        return m.position is not None and any(given.ground_depth > 0.0 for given in recent)
