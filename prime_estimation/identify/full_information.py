# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Full-information estimate: one window over all measurements, solved to convergence.

The reference that the sliding window is held to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from .. import _core
from ..config.policies import PUSH
from ..errors import InitializationError, Stopped
from ..estimator import Estimator
from ..mhe.batch_solution import batch_inputs
from ..mhe.problem import Problem
from ..mhe.situation import Situation
from ..mhe.window import Window
from ..robot import Robot
from ..types import Measurement

ROUNDS, ITERATIONS = 20, 5  # the weights of slipping feet are renewed after every round
TOLERANCE = 1e-7  # relative change of the cost
UNEVEN = 0.9  # unevenness of the ground above which the footholds lie on no floor
OFTEN = 0.2  # of the nodes: on a floor a few steps, on uneven ground all but where feet creep
KNOWN_S = 1.5  # after which those on a floor have shown it
RESTARTS = 2  # of the sliding window that are tolerated on the way


def no_stop() -> bool:
    """Never asks to stop."""
    return False


def full_information(estimator: Estimator, measurements: Iterable[Measurement]) -> Window:
    """Window over all measurements from the first complete one on, with the estimator's model.

    The sliding window's smoothed states are its initial guess: from there a multiple-shooting
    solution takes a handful of iterations, however long the data. Parameters are constant over the
    whole span (no random walk).

    Args:
        estimator: a fresh estimator; its problem defines models and noise.
        measurements: of all nodes, in order.

    Raises:
        InitializationError: the sliding window could not be carried through the data.
    """
    window = smooth_forward(estimator, measurements).window()
    cost = np.inf
    for _ in range(ROUNDS):
        window.solve(ITERATIONS)
        if abs(cost - window.solver.cost) < TOLERANCE * cost:
            break
        cost = window.solver.cost
    return window


@dataclass(frozen=True)
class ForwardPass:
    """The sliding window's way through the measurements: a guess for all of them at once.

    Attributes:
        estimator: whose models and noise they were estimated with.
        measurements: of all nodes that have a state, in order.
        states, controls: smoothed, by stamp.
        changes_ns: stamps at which the payload detector saw the inertia change.
        unevenness: of the ground (`Window.unevenness`, 0 where feet creep), by stamp.
        tilts: variance of roll and pitch by what lands and by the start [rad2], by stamp.
        pushed_ns: stamps of nodes at which something pushed the base.
    """

    estimator: Estimator
    measurements: list[Measurement]
    states: dict[int, np.ndarray]
    controls: dict[int, np.ndarray]
    changes_ns: list[int]
    unevenness: dict[int, float] = field(default_factory=dict)
    tilts: dict[int, float] = field(default_factory=dict)
    pushed_ns: set[int] = field(default_factory=set)

    @property
    def uneven(self) -> bool:
        """Whether no floor explains the footholds of the way's second half.

        Not told of a way that is too short.
        """
        stamps = sorted(self.unevenness)
        half = stamps[len(stamps) // 2 :]
        if not half or 1e-9 * (half[0] - stamps[0]) < KNOWN_S:
            return False
        return sum(self.unevenness[t] > UNEVEN for t in half) > OFTEN * len(half)

    @property
    def situation(self) -> Situation:
        """Who carried the robot in the end.

        Who hangs it up to learn of its joints leaves its legs in the air.
        """
        lift = self.estimator.monitors.lift
        return Situation(lift.since_ns if lift.suspended else None, hanging=lift.suspended)

    def anew(self) -> Estimator:
        """An estimator as the one of this way, before it."""
        mocap = any(m.mocap for m in self.measurements)
        return Estimator(self.estimator.robot, self.estimator.config, mocap)

    def window(
        self,
        since_ns: int = 0,
        noise: dict | None = None,
        robot: Robot | None = None,
        nodes: int | None = None,
    ) -> Window:
        """One window over all nodes from a stamp on, not yet solved.

        Its parameters are the last ones of the way.

        Args:
            since_ns: stamp of its first node, or before it.
            noise: changes to the estimator's, as in the configuration's section of that name.
            robot: instead of the estimator's, with the same joints and links.
            nodes: how many, at most.
        """
        estimator, ms = self.estimator, [m for m in self.measurements if m.stamp_ns >= since_ns]
        ms = ms[:nodes]
        problem = Problem(
            robot or estimator.robot,
            estimator.config.updated({"noise": noise or {}}),
            estimator.problem.optional,
            holds=True,
        )
        stamps = [m.stamp_ns for m in ms]
        inputs = batch_inputs(problem, ms, self.situation)
        for given, stamp in zip(inputs[:-1], stamps):
            if stamp in self.pushed_ns:
                problem.process.expect_push(given, strong=True)
        first, last = problem.nq + problem.nv, self.states[stamps[-1]]
        xs = [np.concatenate([self.states[t][:first], last[first:]]) for t in stamps]
        for x in xs:
            problem.parameter(x, "slope")[:] = 0.0  # of one stance; here one ground is for all
        root = problem.first.root(any(m.mocap for m in ms))
        reference = np.concatenate([xs[0][:first], estimator.horizon.prior_parameters])
        arrival = _core.ActionArrival(problem.state, reference, root @ root.T)
        return Window(problem, arrival, inputs, stamps, xs, [self.controls[t] for t in stamps[:-1]])


def smooth_forward(
    estimator: Estimator,
    measurements: Iterable[Measurement],
    progress: Callable[[float], None] = lambda fraction: None,
    stop=no_stop,
    one_ground: bool = True,
    look: Callable[[Window], None] = lambda window: None,
) -> ForwardPass:
    """Carry the sliding window of a fresh estimator through all measurements.

    Args:
        estimator: that has no estimate yet.
        measurements: of all nodes, in order.
        progress: called with the fraction done.
        stop: True ends it.
        one_ground: it begins as the window does that has it for a guess.
        look: called with the window after every update.

    Raises:
        InitializationError: it was lost on the way. Stopped: it was asked to stop.
    """
    estimator.problem.one_ground = one_ground
    expected = estimator.problem.measurements.expected
    ms = {m.stamp_ns: expected(m) for m in measurements}
    states, controls, changes, alarms, before_ns = {}, {}, [], 0, next(iter(ms), 0)
    unevenness: dict[int, float] = {}
    tilts: dict[int, float] = {}
    pushed: set[int] = set()
    for k, m in enumerate(ms.values()):
        situation = estimator.advance(m)
        restarts, why = estimator.monitors.last_restart
        if restarts > RESTARTS or (restarts and situation is None and states):
            raise InitializationError(_lost(why, estimator, m.stamp_ns - before_ns), m)
        before_ns = m.stamp_ns
        if situation is not None:
            newest = slice(None) if not states else slice(-estimator.window.size - 1, None)
            window = estimator.window
            states.update(zip(window.stamps[newest], window.xs[newest]))
            controls.update(zip(window.stamps[newest], window.us[newest]))
            unevenness[m.stamp_ns] = 0.0 if window.creeping else window.unevenness
            tilts[m.stamp_ns] = window.leaning**2 + window.guessed**2
            if situation.pushed:  # for as long as it takes to tell
                pushed.update(window.stamps[-PUSH.nodes :])
            look(window)
            if estimator.monitors.payload.alarms > alarms:
                changes.append(m.stamp_ns)
            alarms = estimator.monitors.payload.alarms  # counts from zero again after a restart
        if k % 20 == 0:
            progress(k / len(ms))
            if stop():
                raise Stopped
    if len(states) < 2:
        raise InitializationError(f"too few measurements for a start: {len(ms)} nodes", len(ms))
    ms = [ms[t] for t in sorted(states)]
    return ForwardPass(estimator, ms, states, controls, changes, unevenness, tilts, pushed)


def _lost(why: str, estimator: Estimator, apart_ns: int) -> str:
    """What is said of an estimate that is lost at a node, so long after the one before."""
    hint = "wrong robot, or wrong sign or unit of the torques?"
    if abs(apart_ns) > 1.5e9 * estimator.config.estimator.step:
        hint = "choose a part without gaps or a clock that is set, with --from and --to"
    return f"the estimate was lost on the way ({why}): {hint}"
