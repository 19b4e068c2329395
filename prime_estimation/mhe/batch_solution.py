# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Solution of a start batch, from its initial guess: what is held until what has converged."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from ..types import Measurement
from .initial_guess import guess_states
from .problem import Problem
from .situation import ON_ITS_FEET, Situation
from .window import Window

HELD_ITERATIONS = 5  # with the inertia fixed: until forces and motion roughly agree, it would
# absorb their errors
HELD_SHARE = 1e-3  # of the prior's standard deviation of what is held
BIASES = "gyro_bias", "accelerometer_bias"
TOLD = "rotation", *BIASES  # of the base, before feet say anything
# of what feet stand on where it is no floor, before their places have come to an end: from a free
# start, ground that slopes or steps ends as soft ground through which the feet go down
GROUND_TOLD = "softness", "slope"
# standard deviations of its prior, of a bias that few IMUs have: solutions that leant by 15 to 60
# mrad had 2.7 and more, most of them above 4
BIASED = 2.5


@dataclass(frozen=True)
class Way:
    """Strategy for the solution of a batch.

    Attributes:
        soft: share of kappa in the first iterations. A softer law lets forces move from foot to
            foot; a sharp one keeps a wrong guess of which feet stand.
        grip: friction is held, as it always is off a floor. Otherwise it may vanish: feet that
            slide all the time explain the noise of a real robot, whose level is not known yet.
        upright: tilt and biases are held as guessed until the rest has come to its end, as they
            always are off a floor.
        floor: footholds that may be those of a floor are.
    """

    soft: float
    grip: bool
    upright: bool = False
    floor: bool = True


def solve_batch(
    problem: Problem,
    ms: list[Measurement],
    previous_state: np.ndarray | None,
    way: Way,
    situation: Situation,
) -> Window:
    """Converged window over complete measurements; arguments as of `start_window`.

    Feet that step over ground that is nearly a floor may lead to a base that leans, and to biases
    that no IMU has. Then the tilt that is guessed is gone on from, the ground is thought to be no
    floor, and the solution with the least cost is taken.

    Raises:
        _core.SolveError: there is no solution.
        InitializationError: nothing tells the vertical.
    """
    continued = situation.suspended and previous_state is not None
    guess = guess_states(problem, ms, previous_state, situation, floor=way.floor)
    found = [_solve_from(guess, problem, ms, way, situation, continued)]
    if situation.suspended or not _biased(found[0]):
        return found[0]
    with suppress(_core.SolveError):
        upright = replace(way, upright=True)
        found.append(_solve_from(guess, problem, ms, upright, situation, continued))
    if way.floor and floor_is_guessed(ms):
        guess = guess_states(problem, ms, previous_state, situation, floor=False)
        if guess[1] is not None:
            with suppress(_core.SolveError):
                found.append(_solve_from(guess, problem, ms, way, situation, continued))
    return min(found, key=lambda window: window.solver.cost)


def floor_is_guessed(ms: list[Measurement]) -> bool:
    """Whether feet that lie on a floor may stand on other ground.

    Torques tell which of them stand, and no motion capture tells where.
    """
    return any(m.torque is not None for m in ms) and not any(m.mocap for m in ms)


def _biased(window: Window) -> bool:
    """Whether the IMU has biases that its prior does not allow."""
    problem, arrival = window.problem, window.arrival
    if not (problem.floating and problem.has_imu):
        return False
    away = problem.state.diff(arrival.reference, window.xs[0]) / np.diag(arrival.L)
    return any(np.abs(away[problem.columns(name)]).max() > BIASED for name in BIASES)


def _solve_from(
    guess: tuple[list[np.ndarray], np.ndarray | None],
    problem: Problem,
    ms: list[Measurement],
    way: Way,
    situation: Situation,
    continued: bool,
) -> Window:
    """The solution to which one way leads from a guess of `guess_states`.

    Tilt and velocity are those of an estimate that was still right where it is `continued`.
    """
    xs, footholds = guess
    inputs, stamps = batch_inputs(problem, ms, situation), [m.stamp_ns for m in ms]
    uneven, located = footholds is not None, any(m.mocap for m in ms)
    weighed = any(m.torque is not None for m in ms)
    root = problem.first.root(located, continued, uneven, weighed)
    arrival = _core.ActionArrival(problem.state, xs[0], root @ root.T)
    window = Window(problem, arrival, inputs, stamps, xs, located=located)
    window.bound_inertia()
    free = np.array(arrival.L)
    inertia = _holding(problem, free, "theta", *(block.name for block in problem.joints))
    if situation.suspended or not weighed:
        free = inertia  # nothing tells the weight
    held = ["friction"] * (way.grip or uneven)
    if uneven:
        stand_on(inputs, footholds)
        window.footholds = footholds
    # heights and slopes that are free would turn the base by .2 rad, and biases explain what is
    # felt then: the guess is better
    told = TOLD if uneven or way.upright else ()
    if uneven and weighed:
        told = *TOLD, *GROUND_TOLD
    arrival.L = _holding(problem, inertia, *held, *told)
    window.set_kappa(way.soft * problem.config.robot.kappa)
    window.solve(HELD_ITERATIONS)
    window.set_kappa(problem.config.robot.kappa)
    arrival.L = _holding(problem, free, *held, *told)
    window.solve(problem.config.estimator.start_iterations)
    released = weighed if uneven else way.upright
    if released:
        # half a second of ground that is not known yet would still tell biases
        arrival.L = _holding(problem, free, *held, *(BIASES if uneven else ()))
        window.solve(problem.config.estimator.start_iterations)
    arrival.L = free
    return window


def stand_on(inputs: list["_core.NodeInput"], footholds: np.ndarray) -> None:
    """Let the ground of each node be where feet stand then, beside that of the last one.

    Args:
        inputs: of n nodes.
        footholds: (n, nf, 3) [m].
    """
    for given, apart in zip(inputs, footholds - footholds[-1]):
        given.height_offset = apart[:, 2]
        given.anchor_offset = apart[:, :2].ravel()


def _holding(problem: Problem, root: np.ndarray, *names: str) -> np.ndarray:
    """Square root of a prior in which parts of the state are held."""
    held = root.copy()
    for name in names:
        held[problem.columns(name)] *= HELD_SHARE
    return held


def batch_inputs(
    problem: Problem, ms: list[Measurement], situation: Situation = ON_ITS_FEET
) -> list["_core.NodeInput"]:
    """Inputs of consecutive nodes, all but the last one complete.

    The first one has joint positions.
    """
    last_position, inputs = ms[0].position, []
    for m in ms:
        last_position = last_position if m.position is None else m.position
        inputs.append(problem.state_input(m, last_position))
    for given, after in zip(inputs, ms[1:]):
        problem.complete(given, after, situation)
        if not situation.suspended:
            problem.process.leave_ground_open(given)
    for before, given in zip(inputs, inputs[1:-1]):
        problem.process.follow(given, before)
    stamps = [m.stamp_ns for m in ms]
    for m in ms:
        problem.measurements.give_events(m.readings, inputs, stamps)
    return inputs
