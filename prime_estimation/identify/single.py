# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Identification from one recording: full information, residuals before and after, error budget."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..config.parameters import Config
from ..errors import DataError
from ..estimator import Estimator
from ..io.bag import named
from ..mhe.joint_parameters import chosen
from ..recordings.samples import measurements
from ..robot import Robot
from ..robot.checks import check_configuration
from ..types import Measurement
from .friction_lead import fitting_robot
from .full_information import ForwardPass, no_stop, smooth_forward
from .joint_notices import still_joints
from .joints import JointPosterior
from .posterior import Posterior
from .residuals import Residuals, residuals, residuals_held
from .solution import Solution, solve
from .systematic import COMMON, inertia_budget, responses
from .uneven import Tracked, track, with_torques

# s between nodes: no divisor of the 20 ms and 10 ms for which most policies hold their targets,
# whose jumps would alias
STEP = 0.008
# m/s2, what the model misses of the specific force where all nodes are solved with the sharp
# contact law
MISSED_ACCELERATION = 0.05
# of the unexplained forces, at most: where all else fits, nodes with an impact are outliers
FORCE_DOF = 2.5
UNEVEN = (
    "the ground is uneven: inertia and friction are those of the sliding window, which follows it; "
    "the residuals, one ground height under each foot"
)
FEWEST_NODES = 100  # below a second of data the start decides, not the run
MISFIT = 5.0  # rms of the unexplained forces in units of the noise model: this is another robot
FAR = 2.5  # factor between friction coefficients that ask for a reason
# mean square of the reweighted ones; good runs of a robot that fits have 0.1 to 0.35
SUSPICIOUS = 0.45


@dataclass
class Run:
    """Estimate of one recording.

    Attributes:
        name: of the recording. span: first and last second that were used.
        result: trajectory, forces and parameters, converged.
        posterior: of theta.
        before, after: residuals with the nominal and with the identified inertia.
        friction: coefficient of the ground and its standard deviation.
        notices: what the user should know.
        joints: joint parameters, where they are estimated.
        counts: refused messages and samples by reason.
        way: the sliding window's, through what was used.
    """

    name: str
    span: tuple[float, float]
    result: Solution
    posterior: Posterior
    before: Residuals
    after: Residuals
    way: ForwardPass
    friction: tuple[float, float]
    notices: list[str] = field(default_factory=list)
    joints: JointPosterior | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """Nodes of the window."""
        return self.result.window.size + 1

    @property
    def unfinished(self) -> str:
        """Why the result is no optimum; empty where it is."""
        if self.result.converged:
            return ""
        return f"{self.name} did not converge in {len(self.result.history)} iterations"


def load(
    bag: str | Path,
    robot: Robot,
    config: Config,
    mocap: bool,
    topics: Mapping[str, str] | None,
    span: tuple[float, float],
    counted: Callable[[Mapping[str, int]], None] = lambda counts: None,
    noticed: Callable[[str], None] = lambda notice: None,
) -> tuple[list[Measurement], float]:
    """Measurements of a recording that is long enough for an identification.

    And the second of the recording at which they begin.
    """
    began: list[float] = []
    options = dict(mocap=mocap, topics=topics, span=span, counted=counted, noticed=noticed)
    ms = measurements(bag, robot, config.estimator.step, began=began.append, **options)
    if len(ms) < FEWEST_NODES:
        step = config.estimator.step
        raise DataError(
            f"{bag} gives {len(ms)} nodes of {step:g} s; an identification needs {FEWEST_NODES} "
            f"({FEWEST_NODES * step:g} s) or more",
            bag,
        )
    return _without_filled(ms), began[0]


def _without_filled(ms: list[Measurement]) -> list[Measurement]:
    """Measurements without zeros in place of torques, which later ones show to be filled in.

    `alignment.filled_fields` needs joints that move to tell it.
    """
    out, filled = [], False
    for m in reversed(ms):
        filled = m.torque is None or (filled and m.unpowered)
        out.append(replace(m, torque=None) if filled and m.torque is not None else m)
    return out[::-1]


def _check_torques(bag: str | Path, ms: list[Measurement]) -> None:
    if all(m.torque is None for m in ms):
        raise DataError(
            f"{bag} has no joint torques, without which nothing weighs a link: record the effort "
            "of joint_states, or joint_commands",
            bag,
        )


def _check_links(robot: Robot) -> None:
    if not robot.estimated_links:
        which = (
            f"{', '.join(robot.links[1:])} in robot.estimated_links, or with prime identify --links"
        )
        raise DataError(f"{robot.name}: no link to identify; name some of {which}", robot.name)


def identify_run(
    bag: str | Path,
    robot: Robot,
    config: Config,
    *,
    mocap: bool = True,
    topics: Mapping[str, str] | None = None,
    span: tuple[float, float] = (0.0, float("inf")),
    budget: bool = True,
    progress: Callable[[float], None] = lambda fraction: None,
    stop: Callable[[], bool] = no_stop,
) -> Run:
    """Identify `robot.estimated_links` from one recording.

    Where a payload is put on or taken off, only what follows the last change is used, and a notice
    says so.

    Args:
        bag: rosbag2 folder, MCAP or sqlite3 file.
        robot: whose links are identified.
        config: prior, noise, step between nodes.
        mocap: use motion capture if the bag has it.
        topics: sensor topics by role, where they cannot be found by type and name.
        span: first and last second of the recording to use.
        budget: compute the systematic errors.
        progress: called with the fraction done.
        stop: True ends the iterations; the last iterate counts.

    Raises:
        DataError: too short, or it does not fit the robot. InitializationError: the estimate was
            lost. Stopped: before the first iteration.
    """
    check_configuration(robot, config)
    _check_links(robot)
    name, notices, counts = named(bag).name, [], Counter()
    ms, first = load(bag, robot, config, mocap, topics, span, counts.update, notices.append)
    _check_torques(bag, ms)
    began = time.perf_counter()
    # the sliding window's states are only a guess here: one iteration per node
    way = config.updated({"estimator": {"iterations": 1, "adapt_joints": False}})
    estimator = Estimator(robot, way, any(m.mocap for m in ms))
    passage, tracked = _carried(estimator, config, ms, lambda f: progress(0.5 * f), stop)
    since = 0
    if tracked is not None:
        notices.append(f"{name}: {UNEVEN}")
    if passage.changes_ns:
        since = passage.changes_ns[-1]
        notices.append(_after_change(name, ms, since, first))
    noise = {
        "accelerometer_model": min(MISSED_ACCELERATION, config.noise.accelerometer_model),
        "force_dof": min(FORCE_DOF, config.noise.force_dof),
    }
    if "dry_friction" in chosen(config.estimator.joint_parameters):
        robot = fitting_robot(passage, since, noise, stop)
    result = solve(passage.window(since, noise, robot), lambda f: progress(0.5 + 0.3 * f), stop)
    if tracked is not None:
        result.told, result.converged = tracked.parameters, not stop()
    result.seconds = time.perf_counter() - began
    if not result.converged:
        why = "stopped early" if stop() else "not converged"
        notices.append(
            f"{name}: {why} after {len(result.history)} iterations; the last iterate is used"
        )
    counts.update(estimator.problem.measurements.refused)
    run = _summary(name, result, passage, (ms[0].stamp_ns, first), notices)
    run.counts = dict(counts)
    if tracked is not None:
        run.after = replace(run.after, misfit=tracked.misfit)
    check_fit(bag, run)
    progress(0.85)
    if budget:  # also after Ctrl-C: an interval without its systematic part would promise too much
        run = _with_budget(run, lambda f: progress(0.85 + 0.15 * f))
    progress(1.0)
    return run


def _carried(
    guess: Estimator,
    config: Config,
    ms: list[Measurement],
    progress: Callable[[float], None],
    stop: Callable[[], bool],
) -> tuple[ForwardPass, Tracked | None]:
    """The sliding window's way through measurements, and what it has found of uneven ground."""
    way, iterations = smooth_forward(guess, ms, progress, stop), config.estimator.iterations
    if not way.uneven or chosen(config.estimator.joint_parameters):
        return way, None
    tracked = track(guess, iterations, ms, stop)
    if changes := tracked.way.changes_ns:
        after = [m for m in ms if m.stamp_ns >= changes[-1]]
        if len(after) >= FEWEST_NODES:
            tracked = track(guess, iterations, after, stop)
            tracked = replace(tracked, way=replace(tracked.way, changes_ns=changes))
    return tracked.way, tracked


def _after_change(name: str, ms: list[Measurement], change_ns: int, offset: float) -> str:
    """The notice that says what is used of a recording in which the inertia changes."""
    seconds = offset + 1e-9 * (change_ns - ms[0].stamp_ns)
    change, before = f"{name}: the inertia changes at {seconds:.2f} s", f"--to {seconds - 0.2:.1f}"
    if sum(m.stamp_ns >= change_ns for m in ms) < FEWEST_NODES:
        raise DataError(f"{change}, too near the end; identify what was before with {before}", name)
    return f"{change}; used is what follows ({before}: what was before)"


def _summary(
    name: str, result: Solution, way: ForwardPass, began: tuple[int, float], notices: list[str]
) -> Run:
    window, (begin, offset) = result.window, began
    problem = window.problem
    theta, covariance = result.parameters("theta")
    posterior = Posterior.of_problem(problem, theta, covariance)
    mu = (float("nan"), float("nan"))
    if problem.dynamics.nc:
        log_mu, variance = result.parameters("friction")
        mu = (float(np.exp(log_mu[0])), float(np.exp(log_mu[0]) * np.sqrt(variance[0, 0])))
    span = tuple(offset + 1e-9 * (window.stamps[i] - begin) for i in (0, -1))
    after = residuals(window)
    joints = JointPosterior.of_window(window)
    if joints is not None:
        lead = float(np.mean(problem.robot.friction_lead))
        joints = replace(joints, still=still_joints(window), lead=lead)
    before = residuals_held(window, problem.theta_nominal)
    return Run(name, span, result, posterior, before, after, way, mu, notices, joints)


def check_fit(bag: str | Path, run: Run) -> None:
    """Notice when residuals are too large, DataError when it cannot be the right robot."""
    name, worst = run.result.window.problem.robot.name, run.after.misfit
    causes = (
        "Wrong robot, wrong sign or unit of the torques, or armature and joint friction wrong in "
        "the robot's YAML?"
    )
    if run.after.mean_squares["model"] > SUSPICIOUS and not run.result.told:
        run.notices.append(
            f"{run.name}: the unexplained forces are larger than a robot '{name}' should leave. "
            f"{causes}"
        )
    run.notices += _friction_notice(run)
    if worst > MISFIT:
        raise DataError(
            f"{bag} does not fit the robot '{name}': the unexplained forces are {worst:.1f} times "
            f"as large as the noise model allows. {causes}",
            bag,
        )


def _friction_notice(run: Run) -> list[str]:
    """Notice where the friction coefficient is that of no floor.

    Under a contact law that is too soft for the robot's weight feet creep, and it takes the blame.
    """
    found, expected = run.friction[0], run.result.window.problem.config.estimator.friction
    if np.isnan(found) or expected / FAR < found < expected * FAR:
        return []
    why = "another floor, or a contact law that does not suit the weight (prime doctor --robot)?"
    return [f"{run.name}: friction {found:.2f}, far from estimator.friction, {expected:.2g}: {why}"]


def _with_budget(run: Run, progress: Callable[[float], None]) -> Run:
    window = run.result.window
    steps = responses(window, progress)
    budget = inertia_budget(window, steps)
    if run.result.told:  # outliers that one ground makes of nodes do not answer
        scale = window.problem.config.noise.torque_scale
        theta = with_torques(run.way, 1.0 + scale)
        scaled = Posterior.of_problem(window.problem, theta, run.posterior.covariance)
        change = [scaled.pi(link) - run.posterior.pi(link) for link in scaled.links]
        budget[COMMON] = np.concatenate(change)
    if run.joints is not None:
        run.joints = run.joints.with_errors(window, steps)
    run.posterior = Posterior.of_problem(
        window.problem, run.posterior.theta, run.posterior.covariance, budget
    )
    return run
