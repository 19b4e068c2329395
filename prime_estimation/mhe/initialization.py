# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The first batch: from half a second of measurements, robot standing or walking, to a converged window.

Guess: attitude from the gyro and the mean specific force (or motion capture), velocity from the
    legs that carry load. Then a
multiple-shooting solution of the whole batch, the inertia held for the first iterations.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from ..errors import InitializationError
from ..types import Measurement
from .initial_guess import guess_states
from .problem import Problem
from .residual_rows import LOST_RATIO, misfit
from .window import Window

# standard deviation of tilt [rad] and velocity [m/s, rad/s] where an estimate goes on without its
# feet
CONTINUED = 0.01, 0.05
# with the inertia fixed: until forces and motion roughly agree, it would absorb their errors
HELD_ITERATIONS = 5
# shares of kappa in these, one start after the other until one fits: a softer law lets forces move
# from foot to foot, a sharp one keeps a wrong guess of who stands; where the way from one end leads
# astray, that from the other often does not
SOFT = 0.1, 0.02, 0.5
FITS = 1.0  # mean square of the whitened residuals of a start that needs no other
LARGEST_STEP = 0.5  # of a coordinate of theta in one iteration of the sliding window


def first_window(
    problem: Problem, measurements: list[Measurement], before: np.ndarray | None, noise: np.ndarray
) -> tuple[Window, np.ndarray]:
    """The sliding window behind a start batch, and the parameters that the batch began with.

    A batch has more than one optimum: that with the wrong feet on the ground is told by its
    residuals, and left by another way.

    Args:
        problem: models and noise.
        measurements: of consecutive nodes.
        before: as of `start_window`.
        noise: root of the covariance by which the parameters change from node to node
            (`Terrain.process_noise`).

    Raises:
        InitializationError: the measurements cannot carry a start, or no motion of the model fits
            them.
    """
    best, least, why = None, np.inf, "no motion of the model fits the first measurements"
    for soft in SOFT:
        try:
            batch = start_window(problem, measurements, before, soft)
            window = shorten(batch, min(problem.config.estimator.window, batch.size), noise)
            window.solve(1)
        except (RuntimeError, InitializationError, np.linalg.LinAlgError) as error:
            why = str(error).removeprefix("cannot start: ")
            continue
        if (ratio := misfit(window)) < least:
            best, least = (
                (window, np.array(batch.arrival.reference[problem.nq + problem.nv :])),
                ratio,
            )
        if ratio < FITS:
            break
    if least > LOST_RATIO:
        raise InitializationError(f"cannot start: {why}", measurements)
    return best


def start_window(
    problem: Problem,
    measurements: list[Measurement],
    before: np.ndarray | None = None,
    soft: float = SOFT[0],
) -> Window:
    """A converged window over all measurements but those before the first complete one.

    Args:
        problem: models and noise.
        measurements: of consecutive nodes.
        before: state of a former window at the beginning of the measurements, when the estimate was
            lost: place, heading, ground and parameters go on from there (with the uncertainty of a
            first start).
        soft: share of kappa in the first iterations.

    Raises:
        InitializationError: the measurements cannot carry a start (no joint data, or the batch has
            no solution).
    """
    usable = [
        i for i, m in enumerate(measurements) if m.position is not None and m.velocity is not None
    ]
    if not usable or len(measurements) - usable[0] < 3:
        raise InitializationError(
            "cannot start: the first measurements hold no joint positions and rates", measurements
        )
    ms = measurements[usable[0] :]
    xs = guess_states(problem, ms, before)
    inputs = state_inputs(problem, ms)
    for given, after in zip(inputs, ms[1:]):
        problem.dynamics_input(given, after)
    stamps = [m.stamp_ns for m in ms]
    for m in ms:
        give_poses(problem, m.mocap, inputs, stamps)
    root = prior_root(
        problem, bool(any(m.mocap for m in ms)), problem.carried and before is not None
    )
    arrival = _core.ActionArrival(problem.state, xs[0], root @ root.T)
    window = Window(problem, arrival, inputs, stamps, xs)
    theta = problem.columns("theta")
    held = np.array(arrival.L)
    held[theta] *= 1e-3
    free, arrival.L = np.array(arrival.L), held
    kappa = problem.dynamics.kappa
    try:
        problem.dynamics.kappa = soft * kappa
        window.solve(HELD_ITERATIONS)
        problem.dynamics.kappa = kappa
        # else nothing tells the weight
        if any(m.torque is not None for m in ms) and not problem.carried:
            arrival.L = free
        window.solve(problem.config.estimator.start_iterations)
    except RuntimeError as error:
        raise InitializationError(f"cannot start: {error}", ms) from error
    finally:
        problem.dynamics.kappa = kappa
    return window


def state_inputs(problem: Problem, ms: list[Measurement]) -> list:
    """State parts of consecutive measurements, the first of which has joint positions."""
    seen, inputs = ms[0].position, []
    for m in ms:
        seen = seen if m.position is None else m.position
        inputs.append(problem.state_input(m, seen))
    return inputs


def give_poses(problem: Problem, poses, inputs: list, stamps: list[int]) -> int:
    """Hand motion capture poses to the nodes in whose past step they were taken.

    Returns how many found none.
    """
    lost, used = 0, {}
    for pose in poses:
        k = int(np.searchsorted(stamps, pose.stamp_ns))
        before = stamps[k - 1] if k > 0 else stamps[0] - round(problem.dt * 1e9)
        slot = used.get(k, 0)
        if k == len(stamps) or pose.stamp_ns <= before or slot >= 2:
            lost += 1
            continue
        problem.set_pose(inputs[k], slot, pose, stamps[k])
        used[k] = slot + 1
    return lost


def shorten(window: Window, size: int, noise: np.ndarray) -> Window:
    """The last `size` nodes of a window behind an arrival cost that contains the others, with a bound on its steps of theta.

    One or two steps a node are not enough to come back from a step that the logarithms of an
    inertia do not carry.
    """
    arrival, problem = window.arrival, window.problem
    for k in range(window.size - size):
        arrival.advance(
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
    )
    last.solver.largest_step = np.where(
        np.arange(problem.np) < problem.dynamics.ntheta, LARGEST_STEP, np.inf
    )
    return last


def prior_root(problem: Problem, mocap: bool, continued: bool = False) -> np.ndarray:
    """Square root of the covariance of the first state.

    Wide, but for what defines the world where nothing measures it.

    Args:
        problem: noise and sizes.
        mocap: position and heading are measured.
        continued: attitude and velocity go on from an estimate that was still right.
    """
    noise, e, nv = problem.config.noise, problem.config.estimator, problem.nv
    std = np.ones(problem.ndx)
    std[nv - problem.nj : nv] = 0.01
    std[2 * nv - problem.nj : 2 * nv] = 1.0
    if problem.floating:
        std[:6] = [0.05, 0.05, 0.05, 0.1, 0.1, 0.1] if mocap else [1e-4, 1e-4, 0.02, 0.1, 0.1, 1e-4]
        std[nv : nv + 6] = 0.5
        if continued:
            std[3:5], std[nv : nv + 6] = CONTINUED
    std[problem.columns("accelerometer_bias")] = noise.accelerometer_bias
    std[problem.columns("gyro_bias")] = noise.gyro_bias
    std[problem.columns("height")] = 0.02 if mocap else e.terrain_stddev
    std[problem.columns("friction")] = e.friction_stddev
    std[problem.columns("mocap")] = noise.mocap_offset
    root = np.diag(std)
    root[problem.columns("theta"), problem.columns("theta")] = problem.theta_prior_root
    return root
