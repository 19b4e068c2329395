# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A recording as annotated motion.

Dynamically consistent trajectory, contact forces and states at every node, for data sets.

Of each node k: configuration q_k, velocity of the middle of the neighbouring steps, acceleration
(v_k+1 - v_k)/dt, motor torque, contact forces, and what the dynamics need besides (`unexplained`):
M a + h(q, v) + losses = S^T torque + unexplained + sum J^T force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from ..io.bag import BagWriter
from ..mhe.intervals import ForceIntervals
from ..mhe.window import Window
from ..output_messages import Outputs
from ..reporting import SLIP_SPEED
from ..robot import GRAVITY, Robot
from ..types import (
    CONTACT_SHARE,
    BodyInertia,
    ContactEstimate,
    ContactState,
    Estimate,
    SolverStatus,
)
from .posterior import SHRUNK, Posterior
from .single import Run


def motion(window: Window) -> dict[str, np.ndarray]:
    """Arrays over the n nodes that have a successor.

    SI units, world axes for forces and points, base axes for the base's velocity.
    """
    problem = window.problem
    nq, nv, nj, nc = problem.nq, problem.nv, problem.nj, problem.dynamics.nc
    xs = np.array(window.xs)
    v = xs[:, nq : nq + nv]
    w = window.unexplained()
    torque = np.array([given.torque for given in window.inputs[:-1]])
    out = {
        "stamp_ns": np.array(window.stamps[:-1]),
        "q": xs[:-1, :nq],
        "v": 0.5 * (v[1:] + v[:-1]),
        "a": np.diff(v, axis=0) / problem.dt,
        "torque": torque + w[:, nv - nj :],
        "unexplained": np.concatenate([w[:, : nv - nj], np.zeros_like(torque)], axis=1),
    }
    return {**out, **_contact_arrays(window, nc)} if nc else out


def _contact_arrays(window: Window, nc: int) -> dict[str, np.ndarray]:
    """Forces with their posterior covariance, points and states (n, nc, ...)."""
    kinematics = [node.contact_kinematics(data) for node, data in zip(window.nodes, window.data)]
    forces, covariances = zip(*(window.forces(k) for k in range(window.size)))
    force = np.array(forces).reshape(-1, nc, 3)
    # of the covariance of all forces the blocks of single contacts
    covariance = np.einsum("kiaib->kiab", np.array(covariances).reshape(-1, nc, 3, nc, 3))
    velocity = np.array([k["velocity"] for k in kinematics]).reshape(-1, nc, 3)
    slips = np.linalg.norm(velocity[:, :, :2], axis=2) > SLIP_SPEED
    state = np.where(slips, ContactState.SLIPPING, ContactState.STICKING)
    threshold = CONTACT_SHARE * GRAVITY * window.problem.robot.total_mass
    state[force[:, :, 2] < threshold] = ContactState.OPEN
    intervals, slides = ForceIntervals(nc), state == ContactState.SLIPPING
    more = [intervals.variances(f.ravel(), s).reshape(-1, 3) for f, s in zip(force, slides)]
    covariance = covariance + np.eye(3) * np.array(more)[:, :, None]
    deviation = np.sqrt(np.maximum(covariance[:, :, 2, 2], 1e-12))
    return {
        "contact_force": force,
        "contact_force_covariance": covariance,
        "contact_point": np.array([k["points"] for k in kinematics]),
        "contact_state": state,
        "contact_probability": ndtr((force[:, :, 2] - threshold) / deviation),
    }


def write_npz(path: Path, window: Window, arrays: dict[str, np.ndarray]) -> None:
    """Writes the arrays of `motion`, names, and the links' dynamic parameters."""
    robot = window.problem.robot
    names = {
        "joint_names": robot.joint_names,
        "contact_names": [c.name for c in robot.contacts],
        "links": list(robot.estimated_links),
    }
    pi = np.array([pi for pi, _ in window.problem.inertias(window.xs[-1])]).reshape(-1, 10)
    np.savez_compressed(
        path,
        **arrays,
        **{k: np.array(v, dtype=str) for k, v in names.items()},
        dynamic_parameters=pi,
        dt=window.problem.dt,
    )


def write_mcap(
    path: Path,
    run: Run,
    arrays: dict[str, np.ndarray],
    progress: Callable[[float], None] = lambda f: None,
) -> int:
    """Writes the same as the topics of `prime replay` (`/prime/odometry`, ...).

    Returns:
        The number of nodes.
    """
    problem = run.result.window.problem
    with BagWriter(path) as writer:
        outputs = Outputs(problem.robot, problem.config.estimator, writer.message_class)
        for topic, kind in outputs.topics().items():
            writer.add_topic(_absolute(topic), kind)
        n = 0
        for n, estimate in enumerate(estimates(run, arrays), 1):
            for topic, message in outputs.messages(estimate):
                writer.write(_absolute(topic), estimate.stamp_ns, message)
            if n % 50 == 0:
                progress(n / run.result.window.size)
    return n


def _absolute(topic: str) -> str:
    return topic if topic.startswith("/") else f"/prime/{topic}"


def estimates(run: Run, arrays: dict[str, np.ndarray]) -> Iterator[Estimate]:
    """Smoothed states as the estimates that the online estimator would publish.

    Forces are those of the node before. Intervals of the inertia have the systematic part that was
    computed for the run.
    """
    result, posterior = run.result, run.posterior
    window = result.window
    problem = window.problem
    robot: Robot = problem.robot
    nq, nv, nj = problem.nq, problem.nv, problem.nj
    bodies = _bodies(posterior)
    fixed = robot.total_mass - sum(
        robot.model.inertias[robot.link_joint(link)].mass for link in robot.estimated_links
    )
    mass = fixed + sum(b.mass for b in bodies)
    status = SolverStatus(
        0.0,
        0.0,
        len(result.history),
        float(window.solver.cost),
        float(window.solver.largest_gap),
        window.size,
    )
    for k in range(1, window.size):
        q, v = arrays["q"][k], arrays["v"][k]
        P = window.solver.posterior(k + 1)
        yield Estimate(
            stamp_ns=int(window.stamps[k]),
            position_world=q[:3].copy() if problem.floating else np.zeros(3),
            quat_world_base=q[3:7].copy() if problem.floating else np.array([0.0, 0.0, 0.0, 1.0]),
            linear_velocity_base=v[:3].copy() if problem.floating else np.zeros(3),
            angular_velocity_base=v[3:6].copy() if problem.floating else np.zeros(3),
            pose_covariance=P[:6, :6].copy() if problem.floating else np.zeros((6, 6)),
            twist_covariance=P[nv : nv + 6, nv : nv + 6].copy()
            if problem.floating
            else np.zeros((6, 6)),
            joint_position=robot.positions(window.xs[k][:nq]),
            joint_velocity=window.xs[k][nq + nv - nj : nq + nv].copy(),
            joint_torque=arrays["torque"][k - 1].copy(),
            contacts_stamp_ns=int(window.stamps[k - 1]),
            contacts=_contacts(robot, arrays, k - 1),
            bodies=bodies,
            total_mass=float(mass),
            total_mass_stddev=posterior.total_mass_stddev(),
            status=status,
        )


def _bodies(posterior: Posterior) -> tuple[BodyInertia, ...]:
    out = []
    for link in posterior.links:
        quantities = posterior.quantities(link)
        com = np.array([q.stddev for q in quantities[1:4]])
        observable = quantities[0].stddev < SHRUNK * quantities[0].prior_stddev
        out.append(
            BodyInertia(
                link,
                posterior.pi(link),
                posterior.pi_covariance(link),
                quantities[0].stddev,
                com,
                observable,
            )
        )
    return tuple(out)


def _contacts(robot: Robot, arrays: dict[str, np.ndarray], k: int) -> tuple[ContactEstimate, ...]:
    out = []
    for i, contact in enumerate(robot.contacts):
        state = ContactState(int(arrays["contact_state"][k, i]))
        out.append(
            ContactEstimate(
                contact.name,
                arrays["contact_point"][k, i].copy(),
                arrays["contact_force"][k, i].copy(),
                arrays["contact_force_covariance"][k, i].copy(),
                float(arrays["contact_probability"][k, i]),
                state,
                contact.foot,
            )
        )
    return tuple(out)
