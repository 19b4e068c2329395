# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Operations on the prior of a window's parameters: reset, bound, widen, release, hold."""

from __future__ import annotations

import math

import numpy as np

from ..config.policies import GROUND
from .hold import Hold
from .kept import Kept, square_root
from .window import Window

HELD_STDDEV = 1e-6  # of inertial coordinates theta that are held
LEFT = 0.01  # s: share of its deviation that a held direction keeps; with less, ill-conditioned
UNMOVED = 1e-3  # of the standard deviation: what has moved by less has not


def inflate(window: Window, rows: slice | np.ndarray, root: np.ndarray) -> None:
    """Add a covariance with this square root (n, k) to the prior of n rows of the tangent."""
    noise = np.zeros((window.problem.ndx, root.shape[1]))
    noise[rows] = root
    window.arrival.inflate_covariance(noise)


def variance(window: Window, columns: slice) -> np.ndarray:
    """Variance (n,) of n components of the tangent, as known before the data of the window."""
    root = window.arrival.L[columns]
    return np.einsum("ij,ij->i", root, root)


def release_inertia(window: Window, theta_root: np.ndarray) -> None:
    """Add a covariance with this square root (ntheta, ntheta) to the prior of the inertia.

    Used when a payload may have changed.
    """
    if (kept := window.kept) is not None:
        window.kept = kept.wider(theta_root)
        theta_root = theta_root - kept.across @ theta_root
    inflate(window, window.problem.columns("theta"), theta_root)


def widen(window: Window, name: str, growth: float, most: float) -> None:
    """Multiply the standard deviations of a parameter block by a factor above 1, up to `most`.

    Used when the noise of the data that determined it was larger than assumed.
    """
    columns = window.problem.columns(name)
    known = variance(window, columns)
    added = np.minimum(growth**2 * known, most**2) - known
    inflate(window, columns, np.diag(np.sqrt(np.maximum(added, 0.0))))


def renew(
    window: Window,
    name: str,
    elements: list[int],
    mean: float | np.ndarray,
    stddev: float | np.ndarray,
) -> None:
    """Reset elements of a parameter block to means and standard deviations.

    Values that equal their means are not set, because all nodes would have to be evaluated again.
    """
    problem, arrival = window.problem, window.arrival
    first, spread = int(problem.columns(name).start), np.empty(len(elements))
    spread[:] = stddev
    change = mean - problem.parameter(arrival.reference, name)[elements]
    rows, columns = np.zeros((len(elements), problem.ndx)), [first + int(i) for i in elements]
    arrival.replace_prior(columns, rows, spread, change)
    value = problem.parameter(window.xs[0], name)
    away = (value[elements] - mean).tolist()
    if any(abs(a) > UNMOVED * s for a, s in zip(away, spread.tolist())):
        value = value.copy()
        value[elements] = mean
        window.set_parameter(name, value)


def keep_within(window: Window, name: str, least: float, most: float) -> None:
    """Keep a logarithmic parameter of the contact law where the law is one of a ground.

    While nothing slips, friction is hardly observed. A parameter at its bound is let go with little
    uncertainty.
    """
    least, most = math.log(least), math.log(most)
    value = float(window.problem.parameter(window.xs[-1], name)[0])
    window.bound(name, least, most)
    if not least < value < most:
        renew(window, name, [0], min(max(value, least), most), GROUND.bounded_stddev)


def relax(window: Window, hold: Hold) -> None:
    """Release held parameters l, and correct all other variables for the hold.

    The conditional distribution of the others, given l, does not depend on the prior of l. With the
    gain `G = P_l P_ll^-1` and the estimate of l without the hold, `N(m', P')`,

        m := m + G (m' - m_l),   P := P + G (P' - P_ll) G^T
    """
    arrival, problem = window.arrival, window.problem
    columns = problem.layout.components(hold.names)
    across = arrival.L @ arrival.L[columns].T
    own = across[columns]
    present = problem.layout.p(arrival.estimate())[columns - 2 * problem.nv]
    estimate, wider = hold.without(present, own)
    gain = np.linalg.solve(own, across.T).T
    values, vectors = np.linalg.eigh(wider - own)
    arrival.mean = arrival.mean + gain @ (estimate - present)
    arrival.inflate_covariance(gain @ vectors * np.sqrt(np.maximum(values, 0.0)))
    hold.held = False


def _take_as_known(window: Window, across: np.ndarray, value: np.ndarray) -> None:
    """Give theta the part of a value (ntheta,) along directions, with projector `across` on them.

    What was known of it across them stays.
    """
    problem, arrival, columns = window.problem, window.arrival, window.problem.columns("theta")
    indices = list(range(*columns.indices(problem.ndx)))
    rows, n = np.zeros((len(indices), problem.ndx)), len(indices)
    rows[:, columns] = np.eye(n) - across
    change = across @ (value - problem.parameter(arrival.reference, "theta"))
    arrival.replace_prior(indices, rows, np.full(n, HELD_STDDEV), change)
    window.kept = None


def hold_inertia(window: Window) -> None:
    """Treat the inertia as known at its present value."""
    present = window.problem.parameter(window.xs[0], "theta")
    _take_as_known(window, np.eye(len(present)), present)


def hold_directions(window: Window, across: np.ndarray, value: np.ndarray) -> None:
    """Treat the inertia as known along some directions, and keep its covariance along these.

    Schmidt's filter: of the covariance P of theta, with what was kept before, the window has

        (1 - A) P (1 - A)^T + s^2 A P A^T

    and (1 - s^2) A P A^T is kept beside it.

    Args:
        window: solved.
        across: (ntheta, ntheta) projector A on the directions.
        value: (ntheta,) whose part along them theta has from now on.
    """
    problem, columns = window.problem, window.problem.columns("theta")
    if window.kept is not None:
        inflate(window, columns, window.kept.root)
    root = square_root(across @ window.arrival.L[columns])
    _take_as_known(window, across, value)
    if across.any():
        inflate(window, columns, LEFT * root)
        window.kept = Kept(across, math.sqrt(1.0 - LEFT**2) * root)
    present = problem.parameter(window.xs[0], "theta")
    away = across @ (value - present)
    if away.any():
        window.set_parameter("theta", present + away)
