# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The classical baseline.

Linear regression of the dynamic parameters, plain and physically consistent.

The equations of motion are linear in pi, `Y(q, v, a) pi + losses = S^T tau + J^T f`. The unknown
contact forces are eliminated by the null space N of the feet in contact, `N^T Y pi = N^T (S^T tau -
losses)`, and every row is weighted by the noise that the torques and the model have there.
Positions, rates and accelerations are those of the smoothed trajectory. No prior but a tie to the
nominal values that only unexcited directions feel. The consistent version bounds the pseudo-inertia
of each link from below (semidefinite program, Wensing, Kim, Slotine 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..errors import PrimeError
from ..joint_friction import joint_losses
from ..mhe.window import Window
from .posterior import Posterior

LOADED = 5.0  # N, normal force of a foot whose force is unknown; the others have none
TIE = 1e-4  # weight of the nominal values, in units of the prior's standard deviations
SMALLEST_MASS = 1e-3  # kg, of a link in the semidefinite program


@dataclass(frozen=True)
class Regression:
    """Compressed normal equations |A pi - b|^2 of all rows; pi: 10 per link.

    `rows`: how many there were.
    """

    links: tuple[str, ...]
    A: np.ndarray
    b: np.ndarray
    nominal: np.ndarray
    rows: int


def regression(windows: list[Window]) -> Regression:
    """Regression over the nodes of solved windows of the same robot."""
    problem = windows[0].problem
    robot = problem.robot
    joints = [robot.link_joint(link) for link in robot.estimated_links]
    nominal = np.concatenate([robot.model.inertias[j].toDynamicParameters() for j in joints])
    data = robot.model.createData()
    stacked, rows = np.zeros((0, len(nominal) + 1)), 0
    for window in windows:
        blocks = [_node_rows(window, k, joints, data) for k in range(window.size)]
        rows += sum(len(b) for b in blocks)
        stacked = np.linalg.qr(np.vstack([stacked, *blocks]), mode="r")
    return Regression(tuple(robot.estimated_links), stacked[:, :-1], stacked[:, -1], nominal, rows)


def baseline(
    windows: list[Window], posterior: Posterior
) -> tuple[dict[str, dict[str, np.ndarray]], list[str]]:
    """Both versions: dynamic parameters (10,) by link, by method.

    And why one of them is missing.
    """
    r, stddev = regression(windows), posterior.pi_prior()[1]
    found, notices = {}, []
    for name, method in {
        "least squares": ordinary,
        "least squares, consistent": consistent,
    }.items():
        try:
            found[name] = dict(zip(r.links, np.split(method(r, stddev), len(r.links))))
        except PrimeError as error:
            notices.append(str(error))
    return found, notices


def _node_rows(window: Window, k: int, joints: list[int], data: pin.Data) -> np.ndarray:
    """[A, b] of node k, whitened."""
    problem, given = window.problem, window.inputs[k]
    robot, nq, nv, nj = problem.robot, problem.nq, problem.nv, problem.nj
    model = robot.model
    x, after = window.xs[k], window.xs[k + 1]
    q, v0, v1 = x[:nq], x[nq : nq + nv], after[nq : nq + nv]
    v, a = 0.5 * (v0 + v1), (v1 - v0) / problem.dt
    regressor = pin.computeJointTorqueRegressor(model, data, q, v, a)
    columns = np.concatenate([np.arange(10 * (j - 1), 10 * j) for j in joints])
    Y = regressor[:, columns]
    nominal = np.concatenate([model.inertias[j].toDynamicParameters() for j in joints])
    known = pin.rnea(model, data, q, v, a) - Y @ nominal  # which has the armature in it
    known[nv - nj :] += joint_losses(robot, v[nv - nj :], given.torque) - given.torque
    N = _free_directions(window, k)
    noise = N.T / np.array(given.weight_force)
    root = np.linalg.cholesky(noise @ noise.T)
    return np.linalg.solve(root, np.column_stack([N.T @ Y, -N.T @ known]))


def _free_directions(window: Window, k: int) -> np.ndarray:
    """(nv, n) directions in which the feet in contact do not move."""
    nv = window.problem.nv
    if not window.problem.dynamics.nc:
        return np.eye(nv)
    node, solved = window.nodes[k], window.data[k]
    force = node.contact_forces(solved)[0]
    J = np.array(node.contact_kinematics(solved)["jacobian"])
    J = J[np.repeat(force[2::3] > LOADED, 3)]
    if not len(J):
        return np.eye(nv)
    _, s, vt = np.linalg.svd(J)
    return vt[np.count_nonzero(s > 1e-8 * s[0]) :].T


def ordinary(r: Regression, prior_stddev: np.ndarray) -> np.ndarray:
    """Least-squares pi, tied to the nominal values with weight TIE.

    It need not belong to a physical body.
    """
    A = np.vstack([r.A, np.diag(TIE / prior_stddev)])
    return (
        r.nominal
        + np.linalg.lstsq(
            A, np.concatenate([r.b - r.A @ r.nominal, np.zeros(len(r.nominal))]), rcond=None
        )[0]
    )


def consistent(r: Regression, prior_stddev: np.ndarray) -> np.ndarray:
    """Least squares with a positive semidefinite pseudo-inertia of every link, as an SDP.

    Raises:
        PrimeError: cvxpy or Clarabel are not installed, or they found no solution.
    """
    try:
        import clarabel  # noqa: F401
        import cvxpy
    except ImportError as error:
        raise PrimeError(
            "the physically consistent least squares need cvxpy and Clarabel: pip install "
            "'prime_estimation[identify]'"
        ) from error
    # variables z in which the cost is |z - z_0|^2, z_0 the ordinary solution: else directions that
    # hardly count are lost in its tolerance
    n = len(r.nominal)
    Q, R = np.linalg.qr(np.vstack([r.A * prior_stddev, TIE * np.eye(n)]))
    z0 = Q.T @ np.concatenate([r.b - r.A @ r.nominal, np.zeros(n)])
    norm = max(1.0, float(np.linalg.norm(z0)))
    to_pi = norm * prior_stddev[:, None] * np.linalg.inv(R)
    z = cvxpy.Variable(n)
    pi = r.nominal + to_pi @ z
    constraints = []
    for i in range(0, n, 10):
        constraints += [
            _pseudo_inertia(cvxpy, [pi[i + j] for j in range(10)]) >> 0,
            pi[i] >= SMALLEST_MASS,
        ]
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(z - z0 / norm)), constraints)
    program.solve(solver=cvxpy.CLARABEL)
    if z.value is None:
        raise PrimeError(
            "the semidefinite program of the least-squares baseline has no solution: "
            f"{program.status}",
            program.status,
        )
    return r.nominal + to_pi @ z.value


def _pseudo_inertia(cvxpy, pi: list):
    """(4, 4) pseudo-inertia [[S, m c], [m c^T, m]], S = 1/2 tr(I) 1 - I."""
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = pi
    sx, sy, sz = 0.5 * (yy + zz - xx), 0.5 * (xx + zz - yy), 0.5 * (xx + yy - zz)
    rows = [[sx, -xy, -xz, hx], [-xy, sy, -yz, hy], [-xz, -yz, sz, hz], [hx, hy, hz, m]]
    return cvxpy.bmat([[cvxpy.reshape(e, (1, 1), order="C") for e in row] for row in rows])
