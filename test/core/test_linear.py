# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The sliding window on a linear-Gaussian system.

Its head is the Kalman filter's, parameters included.
"""

from __future__ import annotations

from dataclasses import dataclass

import crocoddyl
import numpy as np
import pytest
from reference.gaussian import kalman_update

from prime_estimation import _core

NS, NP, NW, NZ = 4, 3, 2, 2  # state, parameters, disturbances, readings
N = 10  # nodes of the window
SHIFTS = 100


@dataclass
class System:
    """x+ = A x + B w + c + E n, z = C x + e; x = (s, p), unit w and e, n only on the parameters."""

    A: np.ndarray
    B: np.ndarray
    c: np.ndarray
    C: np.ndarray
    noise: np.ndarray
    mean: np.ndarray
    P: np.ndarray
    z: list


def random_system(seed: int, walk: float) -> System:
    rng = np.random.default_rng(seed)
    n = NS + NP
    A, B, C = np.eye(n), np.zeros((n, NW)), rng.normal(size=(NZ, n))
    A[:NS] = 0.3 * rng.normal(size=(NS, n))
    A[:NS, :NS] += 0.6 * np.eye(NS)
    B[:NS] = 0.3 * rng.normal(size=(NS, NW))
    noise = np.zeros((n, NP))
    noise[NS:] = walk * (np.eye(NP) + 0.2 * rng.normal(size=(NP, NP)))
    c = np.concatenate([rng.normal(size=NS), np.zeros(NP)])
    root = rng.normal(size=(n, n))
    system = System(A, B, c, C, noise, rng.normal(size=n), root @ root.T + 0.1 * np.eye(n), [])
    x = system.mean + root @ rng.normal(size=n)
    for _ in range(SHIFTS + N + 1):
        system.z.append(C @ x + rng.normal(size=NZ))
        x = A @ x + B @ rng.normal(size=NW) + c + noise @ rng.normal(size=NP)
    return system


def node(system: System, state, z: np.ndarray, parameters: int):
    """Residual (w, C x - z), unit weights."""
    C = np.vstack([np.zeros((NW, NS + NP)), system.C])
    D = np.vstack([np.eye(NW), np.zeros((NZ, NW))])
    return _core.ActionLinear(
        state, system.A, system.B, system.c, C, D, np.concatenate([np.zeros(NW), z]), parameters
    )


def sliding_window(system: System, parameters: int):
    """(mean, covariance) of the head after each of SHIFTS shifts, one Gauss-Newton step each."""
    state = crocoddyl.StateVector(NS + NP)
    rng = np.random.default_rng(1)
    arrival = _core.ActionArrival(state, system.mean + rng.normal(size=NS + NP), system.P)
    arrival.mean = system.mean - arrival.reference
    nodes = [node(system, state, z, parameters) for z in system.z[: N + 1]]
    xs = [np.array(arrival.reference) for _ in nodes]
    us = [np.zeros(NW) for _ in range(N)]
    for shift in range(SHIFTS):
        problem = crocoddyl.ShootingProblem(xs[0], [arrival, *nodes[:-1]], nodes[-1])
        solver = _core.SolverMultipleShooting(problem)
        solver.solve([xs[0], *xs], [xs[0] - arrival.reference, *us], 1)
        solver.compute_posterior()
        xs, us = list(solver.states()[1:]), list(solver.controls()[1:])
        yield xs[-1], solver.posterior(N + 1)
        leaving = nodes.pop(0)
        arrival.marginalize(leaving, leaving.createData(), xs[0], us[0], xs[1], system.noise)
        nodes.append(node(system, state, system.z[N + 1 + shift], parameters))
        xs = [*xs[1:], xs[-1] + rng.normal(size=NS + NP)]  # any guess is as good as another
        us = [*us[1:], rng.normal(size=NW)]


def kalman_filter(system: System, last: int, walking: int):
    """Filtered mean and covariance at node `last`.

    Parameters walk over the first `walking` steps.
    """
    x, P = system.mean, system.P
    for k, z in enumerate(system.z[: last + 1]):
        x, P = kalman_update(x, P, system.C, z, np.eye(NZ))
        if k < last:
            x, P = system.A @ x + system.c, system.A @ P @ system.A.T + system.B @ system.B.T
            P = P + system.noise @ system.noise.T if k < walking else P
    return x, P


@pytest.mark.parametrize("walk", [0.0, 0.05], ids=["constant parameters", "walking parameters"])
@pytest.mark.parametrize("parameters", [0, NP], ids=["in the state", "as parameters"])
@pytest.mark.parametrize("seed", [0, 1])
def test_head_equals_kalman_filter(seed, parameters, walk):
    """Parameters are constant along the window and walk as nodes leave it.

    The filter that says the same is the one whose
    parameters walk until the window begins."""
    system = random_system(seed, walk)
    for shift, (mean, P) in enumerate(sliding_window(system, parameters)):
        if shift % 9 == 0 or shift == SHIFTS - 1:
            expected, covariance = kalman_filter(system, shift + N, shift)
            np.testing.assert_allclose(mean, expected, atol=1e-8 * max(1.0, abs(expected).max()))
            np.testing.assert_allclose(P, covariance, atol=1e-8 * max(1.0, abs(covariance).max()))


def test_one_step_is_enough():
    """A linear problem is solved by one step, whatever the guess.

    The next one finds nothing to do.
    """
    system = random_system(2, 0.0)
    state = crocoddyl.StateVector(NS + NP)
    arrival = _core.ActionArrival(state, system.mean, system.P)
    nodes = [node(system, state, z, NP) for z in system.z[: N + 1]]
    solver = _core.SolverMultipleShooting(
        crocoddyl.ShootingProblem(system.mean, [arrival, *nodes[:-1]], nodes[-1])
    )
    rng = np.random.default_rng(0)
    xs = [system.mean, *(rng.normal(size=NS + NP) for _ in nodes)]
    us = [rng.normal(size=NS + NP), *(rng.normal(size=NW) for _ in range(N))]
    assert solver.solve(xs, us, 5)
    assert solver.iter <= 2 and solver.refused == 0 and solver.largest_gap < 1e-9
