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

from ..inertia import InertiaBelief
from ..io.bag import BagWriter
from ..mhe.intervals import (
    ForceIntervals,
    Intervals,
    creep_covariance,
    open_variances,
    sole_tilt,
)
from ..mhe.problem import Problem
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
    SensorHealth,
    SolverStatus,
)
from .full_information import ForwardPass, smooth_forward
from .posterior import Posterior
from .single import Run

BEGIN_NS = 1_000_000_000  # by which motion on uneven ground begins later: what follows smooths it


def motion(run: Run) -> dict[str, np.ndarray]:
    """Arrays over the n nodes that have a successor.

    SI units, world axes for forces and points, base axes for the base's velocity. Covariances (n,
    6, 6) of the pose and of the twist of the base in its axes, linear part first.
    """
    window = run.result.window
    if run.result.told:
        return with_intervals(*tracked_nodes(run), window.problem)
    window.posterior()  # other inertias have been tried on it since it was solved
    return with_intervals(nodes(window, range(window.size)), run.way, window.problem)


def nodes(window: Window, which: range) -> dict[str, np.ndarray]:
    """Arrays of some running nodes, next to each other, as their posterior has them."""
    problem = window.problem
    nq, nv, nj, nc = problem.nq, problem.nv, problem.nj, problem.dynamics.nc
    xs = np.array(window.xs[which.start : which.stop + 1])
    v = xs[:, nq : nq + nv]
    w = window.unexplained(slice(which.start, which.stop))
    torque = np.array([window.motor_torque(k) for k in which])
    out = {
        "stamp_ns": np.array([window.stamps[k] for k in which]),
        "q": xs[:-1, :nq],
        "v": 0.5 * (v[1:] + v[:-1]),
        "a": np.diff(v, axis=0) / problem.dt,
        "torque": torque,
        "unexplained": np.concatenate([w[:, : nv - nj], np.zeros_like(torque)], axis=1),
    }
    if problem.floating:
        P = [window.solver.posterior(k + 1) for k in which]
        out["pose_covariance"] = np.array([p[:6, :6] for p in P])
        out["twist_covariance"] = np.array([p[nv : nv + 6, nv : nv + 6] for p in P])
    return {**out, **_contact_arrays(window, which, nc)} if nc else out


def with_intervals(
    arrays: dict[str, np.ndarray], way: ForwardPass, problem: Problem
) -> dict[str, np.ndarray]:
    """The arrays, with covariances that contain what the model misses (`mhe.intervals`)."""
    if "contact_force" in arrays:
        arrays |= _known_contacts(arrays, problem.robot)
    if not problem.floating:
        return arrays
    states, loaded = arrays["contact_state"], arrays["contact_state"] != ContactState.OPEN
    slides = (states == ContactState.SLIPPING).sum(axis=1) / np.maximum(loaded.sum(axis=1), 1)
    zeros = sole_tilt(problem.robot, problem.noise.encoder_offset)
    vibration = way.estimator.config.noise.accelerometer_model
    measured, intervals = {m.stamp_ns: m for m in way.measurements}, Intervals(problem.dt)
    for k, stamp in enumerate(arrays["stamp_ns"].tolist()):
        uneven = way.unevenness.get(stamp, 1.0)
        arrays["pose_covariance"][k] += creep_covariance(
            uneven,
            arrays["q"][k, 3:7],
            zeros=zeros + way.tilts.get(stamp, 0.0),
            slipping=slides[k],
            late=problem.delay,
        )
        variance = intervals.velocity(measured[stamp], vibration, max(uneven - 1.0, 0.0))
        arrays["twist_covariance"][k].flat[:15:7] += variance
    return arrays


def tracked_nodes(run: Run) -> tuple[dict[str, np.ndarray], ForwardPass]:
    """Arrays of nodes as the sliding window leaves them behind, which follows uneven ground.

    And its way. The inertia is held at what has been identified.
    """
    posterior, estimator = run.posterior, run.way.anew()
    estimator.resume(
        InertiaBelief(
            tuple(posterior.pi(link) for link in posterior.links),
            tuple(posterior.pi_covariance(link) for link in posterior.links),
        )
    )
    estimator.freeze(True)
    told: dict[int, dict[str, np.ndarray]] = {}  # by stamp; what comes later replaces it

    def tell(window: Window, count: int) -> None:
        window.posterior(count - 1)
        told.update((window.stamps[k], nodes(window, range(k, k + 1))) for k in range(count))

    def look(window: Window) -> None:
        """Its oldest node will not change any more; of the first window all may be left behind."""
        tell(window, 1 if told else window.size)

    way = smooth_forward(estimator, run.way.measurements, one_ground=False, look=look)
    tell(estimator.window, estimator.window.size)
    stamps = sorted(told)
    begin_ns = stamps[0] + min(BEGIN_NS, (stamps[-1] - stamps[0]) // 2)
    kept = [told[t] for t in stamps if t >= begin_ns]
    return {name: np.concatenate([part[name] for part in kept]) for name in kept[0]}, way


def _contact_arrays(window: Window, which: range, nc: int) -> dict[str, np.ndarray]:
    """Forces with their posterior covariance, points and velocities (n, nc, ...)."""
    kinematics = [window.nodes[k].contact_kinematics(window.data[k]) for k in which]
    forces, covariances = zip(*(window.forces(k) for k in which))
    force = np.array(forces).reshape(-1, nc, 3)
    velocity = np.array([k["velocity"] for k in kinematics]).reshape(-1, nc, 3)
    slips = np.linalg.norm(velocity[:, :, :2], axis=2) > SLIP_SPEED
    return {
        "contact_force": force,
        # of the covariance of all forces the blocks of single contacts
        "contact_force_covariance": np.einsum(
            "kiaib->kiab", np.array(covariances).reshape(-1, nc, 3, nc, 3)
        ),
        "contact_point": np.array([k["points"] for k in kinematics]).reshape(-1, nc, 3),
        "contact_state": np.where(slips, ContactState.SLIPPING, ContactState.STICKING),
    }


def _known_contacts(arrays: dict[str, np.ndarray], robot: Robot) -> dict[str, np.ndarray]:
    """States of contacts that carry nothing; covariances of forces, and what follows from them."""
    force, covariance = arrays["contact_force"], arrays["contact_force_covariance"]
    weight, state = GRAVITY * robot.total_mass, arrays["contact_state"].copy()
    threshold = CONTACT_SHARE * weight
    opens = force[:, :, 2] < threshold
    state[opens] = ContactState.OPEN
    intervals, slides = ForceIntervals(force.shape[1]), state == ContactState.SLIPPING
    more = [intervals.variances(f.ravel(), s).reshape(-1, 3) for f, s in zip(force, slides)]
    covariance = covariance + np.eye(3) * np.array(more)[:, :, None]
    least, axes = open_variances(opens, weight * len(robot.feet) / len(robot.contacts)), range(3)
    covariance[:, :, axes, axes] = np.maximum(covariance[:, :, axes, axes], least)
    deviation = np.sqrt(np.maximum(covariance[:, :, 2, 2], 1e-12))
    return {
        "contact_force_covariance": covariance,
        "contact_state": state,
        "contact_probability": ndtr((force[:, :, 2] - threshold) / deviation),
    }


def write_npz(path: Path, run: Run, arrays: dict[str, np.ndarray]) -> None:
    """Writes the arrays of `motion`, names, and the links' dynamic parameters."""
    problem, posterior = run.result.window.problem, run.posterior
    robot = problem.robot
    names = {
        "joint_names": robot.joint_names,
        "contact_names": [c.name for c in robot.contacts],
        "links": list(robot.estimated_links),
    }
    pi = np.array([posterior.pi(link) for link in posterior.links]).reshape(-1, 10)
    np.savez_compressed(
        path,
        **arrays,
        **{k: np.array(v, dtype=str) for k, v in names.items()},
        dynamic_parameters=pi,
        dt=problem.dt,
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
                progress(n / len(arrays["stamp_ns"]))
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
    nj, fixed = problem.nj, not problem.floating
    rates = arrays["v"] - 0.5 * problem.dt * arrays["a"]  # means of the steps that end at the nodes
    bodies = _bodies(posterior)
    mass = robot.total_mass + sum(
        b.mass - robot.model.inertias[robot.link_joint(b.link)].mass for b in bodies
    )
    status = SolverStatus(
        0.0,
        0.0,
        len(result.history),
        float(window.solver.cost),
        float(window.solver.largest_gap),
        window.size,
        sensors=_sensors(run),
    )
    for k in range(1, len(arrays["stamp_ns"])):
        q, v = arrays["q"][k], arrays["v"][k]
        yield Estimate(
            stamp_ns=int(arrays["stamp_ns"][k]),
            position_world=np.zeros(3) if fixed else q[:3].copy(),
            quat_world_base=np.array([0.0, 0.0, 0.0, 1.0]) if fixed else q[3:7].copy(),
            linear_velocity_base=np.zeros(3) if fixed else v[:3].copy(),
            angular_velocity_base=np.zeros(3) if fixed else v[3:6].copy(),
            pose_covariance=np.zeros((6, 6)) if fixed else arrays["pose_covariance"][k],
            twist_covariance=np.zeros((6, 6)) if fixed else arrays["twist_covariance"][k],
            joint_position=robot.positions(q),
            joint_velocity=rates[k, len(v) - nj :].copy(),
            joint_torque=arrays["torque"][k - 1].copy(),
            contacts_stamp_ns=int(arrays["stamp_ns"][k - 1]),
            contacts=_contacts(robot, arrays, k - 1),
            bodies=bodies,
            total_mass=float(mass),
            total_mass_stddev=posterior.total_mass_stddev(),
            status=status,
        )


def _sensors(run: Run) -> tuple[SensorHealth, ...]:
    """Sensors that were read, with mean squares of their whitened residuals over the recording."""
    squares = run.after.mean_squares
    parts = [(s.name, next(iter(s.innovations), "")) for s in run.result.window.problem.sensors]
    return tuple(SensorHealth(n, True, "", squares[part]) for n, part in parts if part in squares)


def _bodies(posterior: Posterior) -> tuple[BodyInertia, ...]:
    out = []
    for link in posterior.links:
        quantities = posterior.quantities(link)
        com = np.array([q.stddev for q in quantities[1:4]])
        out.append(
            BodyInertia(
                link,
                posterior.pi(link),
                posterior.pi_covariance(link),
                quantities[0].stddev,
                com,
                quantities[0].observable,
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
