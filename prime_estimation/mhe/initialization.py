# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Initialization: from half a second of measurements to a converged window.

Initial guess: attitude from the gyro and the mean specific force (or motion capture), velocity from
standing feet and specific force, ground under these feet. Then the whole batch is solved by
multiple shooting, with the inertia held in the first iterations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from ..config.policies import STANCE
from ..errors import InitializationError
from ..robot import GRAVITY
from ..types import Measurement
from .batch_solution import Way, floor_is_guessed, solve_batch
from .first_state import CREDIBLE, inertia_deviation
from .problem import Problem
from .residual_rows import LOST_RATIO, misfit
from .situation import ON_ITS_FEET, Situation
from .window import Window

# one start after the other until one fits: where the way from one end leads astray, that from the
# other often does not
WAYS = Way(0.1, False), *(Way(soft, True) for soft in (0.1, 0.02, 0.5, 1.0))
# where all lead astray: a step or two on stairs may fit a floor
OFF_FLOOR = Way(0.1, True, floor=False)
FITS = 1.0  # mean square of the whitened residuals of a start that needs no other
NOTHING = "no motion of the model fits the first measurements"
FEET_MOVE = "feet that carry move at {:.2f} m/s: are joint rates, clocks, legs right?"
# s/m, what a speed of feet that carry counts beside that: feet of a Mini Cheetah that trots move at
# .2 to .3 m/s in the best of starts, which differ by less than their residuals do
SLIDES = 3.0
FEWEST = 3  # measurements that make a batch


@dataclass(frozen=True)
class Start:
    """Result of an initialization.

    Attributes:
        window: the sliding window; None when there is none.
        prior_parameters: (np,) mean of the parameters' prior that the batch used.
        reason: why there is no window.
    """

    window: Window | None = None
    prior_parameters: np.ndarray | None = None
    reason: str = ""


def first_window(
    problem: Problem,
    measurements: list[Measurement],
    previous_state: np.ndarray | None,
    situation: Situation = ON_ITS_FEET,
) -> Start:
    """The sliding window at the end of a start batch.

    A batch has several optima. One with the wrong feet on the ground is recognized by its
    residuals, or by loaded feet that slide all the time; then the next strategy is tried. With
    motion capture sliding feet are accepted, because the ground may move.

    Args:
        problem: models and noise.
        measurements: of consecutive nodes.
        previous_state: as for `start_window`.
        situation: what carries the robot.
    """
    ms = usable(measurements)
    if ms is None:
        return Start(reason="the first measurements hold no joint positions")
    ms = without_stray_poses(problem, ms)
    best, least, why = Start(), np.inf, NOTHING
    weighed = any(m.torque is not None for m in ms)
    ways = WAYS if weighed else WAYS[1:]  # without torque, nothing tells friction
    for way in (*ways, OFF_FLOOR) if floor_is_guessed(ms) else ways:
        try:
            start, ratio, speed = _tried(problem, ms, previous_state, way, situation)
        except InitializationError as failure:
            why = str(failure).removeprefix("cannot start: ")
            continue
        if ratio < least:
            best, least = start, ratio
        if ratio < FITS and speed < STANCE.slow:
            break
    return Start(reason=why) if least == np.inf else best


def _tried(
    problem: Problem,
    ms: list[Measurement],
    previous_state: np.ndarray | None,
    way: Way,
    situation: Situation,
) -> tuple[Start, float, float]:
    """Start that one way leads to, its misfit (inf: it is none), and how fast loaded feet move.

    Raises:
        InitializationError: the way leads nowhere.
    """
    try:
        batch = solve_batch(problem, ms, previous_state, way, situation)
        size = min(problem.config.estimator.window, batch.size)
        window = shorten(batch, size, problem.process_noise(held=True))
        window.solve(1)
    except (_core.SolveError, np.linalg.LinAlgError) as failure:
        raise InitializationError(f"{NOTHING} ({failure})", ms) from failure
    told = situation.suspended or window.place.measured
    speed = 0.0 if told else stance_speed(batch)
    ratio = misfit(window) + SLIDES * max(speed - STANCE.slow, 0.0)
    if ratio > LOST_RATIO:
        return Start(), np.inf, speed
    x = batch.xs[-1]
    implausible = np.abs(inertia_deviation(problem, x)).max(initial=0.0) > CREDIBLE
    if implausible or (not told and slippery(problem, x)):
        ratio += LOST_RATIO  # whatever else leads anywhere is better
    if speed > STANCE.fast:
        return Start(reason=FEET_MOVE.format(speed)), ratio, speed
    return Start(window, np.array(problem.layout.p(batch.arrival.reference))), ratio, speed


def without_stray_poses(problem: Problem, ms: list[Measurement]) -> list[Measurement]:
    """Measurements without the poses of motion capture that most others contradict."""
    poses = sorted((pose for m in ms for pose in m.mocap), key=lambda pose: pose.stamp_ns)
    if not poses:
        return ms
    agree = dict(zip(map(id, poses), problem.measurements.gates["mocap"].sift(poses)))
    kept = [tuple(pose for pose in m.mocap if agree[id(pose)]) for m in ms]
    return [replace(m, readings={**m.readings, "mocap": poses}) for m, poses in zip(ms, kept)]


def slippery(problem: Problem, x: np.ndarray) -> bool:
    """Whether the friction coefficient at x (nx,) is lower than that of any plausible ground."""
    e = problem.config.estimator
    away = problem.parameter(x, "friction")[0] - np.log(e.friction)
    return bool(away < -CREDIBLE * e.friction_stddev)


def stance_speed(window: Window) -> float:
    """Median horizontal speed [m/s] of loaded feet over all nodes; 0 if there are none.

    The load is that of the leg torques or, without torques, of the contact law.
    """
    problem, speeds = window.problem, []
    if problem.legs is None:
        return 0.0
    least = STANCE.loaded * GRAVITY * problem.robot.total_mass
    for k in range(window.size):
        _, rates, normal, _ = window.legs(k)
        carries = (normal if window.weighed(k) else window.foot_forces(k)) > least
        speeds += np.hypot(*rates[carries, :2].T).tolist()
    return float(np.median(speeds)) if speeds else 0.0


def start_window(
    problem: Problem,
    measurements: list[Measurement],
    previous_state: np.ndarray | None = None,
    way: Way = WAYS[0],
    situation: Situation = ON_ITS_FEET,
) -> Window:
    """A converged window over all measurements but those before the first complete one.

    Args:
        problem: models and noise.
        measurements: of consecutive nodes.
        previous_state: state of a former window at the beginning of the measurements, when the
            estimate was lost: place, heading, ground and parameters go on from there (with the
            uncertainty of a first start).
        way: that is gone.
        situation: who carries the robot.

    Raises:
        InitializationError: the measurements cannot carry a start (no joint data, or the batch has
            no solution).
    """
    ms = usable(measurements)
    if ms is None:
        what = "cannot start: the first measurements hold no joint positions"
        raise InitializationError(what, measurements)
    try:
        return solve_batch(problem, ms, previous_state, way, situation)
    except _core.SolveError as error:
        raise InitializationError(f"cannot start: {error}", ms) from error


def usable(measurements: list[Measurement]) -> list[Measurement] | None:
    """The measurements from the first complete one on; None when they are too few.

    Complete: with joint positions, and rates where the robot has any.
    """
    rates = any(m.velocity is not None for m in measurements)
    complete = (
        i
        for i, m in enumerate(measurements)
        if m.position is not None and (m.velocity is not None or not rates)
    )
    first = next(complete, None)
    few = first is None or len(measurements) - first < FEWEST
    return None if few else measurements[first:]


def shorten(window: Window, size: int, noise: np.ndarray) -> Window:
    """The last `size` nodes of a window behind an arrival cost that contains the others."""
    arrival, problem = window.arrival, window.problem
    for k in range(window.size - size):
        arrival.marginalize(
            window.nodes[k], window.data[k], window.xs[k], window.us[k], window.xs[k + 1], noise
        )
    keep = slice(-(size + 1), None)
    last = Window(
        problem,
        arrival,
        window.inputs[keep],
        window.stamps[keep],
        window.xs[keep],
        window.us[-size:],
        window.place.measured,
    )
    last.footholds = window.footholds
    last.bound_inertia()
    return last
