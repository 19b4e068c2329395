# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Error budget: effect of constants of the model that are off by one standard deviation.

Chi-square does not see these errors (1 % of torque scale is 1 % of the total mass, at the same
residuals), and more data do not reduce them. Every cause acts like an error of the measured torques
or joint positions along the trajectory. At the solution such an error only changes residuals; what
the parameters answer is one more Gauss-Newton step on the same linearization.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..joint_friction import FRICTION_VELOCITY, dry_friction
from ..mhe.joint_parameters import DELAY, GAINS, ZEROS
from ..mhe.layout import block_diagonal
from ..mhe.residual_rows import rows_by_sensor
from ..mhe.window import Window
from ..robot import Robot

# s, between the stamp of a torque and its action (hold of a discrete controller)
TORQUE_DELAY = 5e-4
# s, of the lead of dry friction that is found: its spread over recordings of robots with one lead
LEAD_ERROR = 3e-3
SMALL = 0.01  # share of all torques whose response is computed
COMMON = "torque scale"  # cause: of all torques
ZERO = "zero of "  # cause: a joint's


def inertia_budget(window: Window, steps: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Change of pi (10 per link) by cause, from `responses`."""
    problem = window.problem
    theta = problem.columns("theta")
    by_theta = block_diagonal([jacobian for _, jacobian in problem.inertias(window.xs[-1])])
    return {name: by_theta @ step[theta] for name, step in steps.items()}


def responses(
    window: Window, progress: Callable[[float], None] = lambda f: None
) -> dict[str, np.ndarray]:
    """Change (ndx,) of the first state's tangent by cause, for one standard deviation of each."""
    out, reference, shifts = {}, window.direction()[0][0], _residual_shifts(window)
    for k, (name, (rows, shift)) in enumerate(shifts.items()):
        out[name] = _response(window, rows, shift, reference)
        progress((k + 1) / len(shifts))
    return out


def scale_response(window: Window) -> np.ndarray:
    """Change (ndx,) of the first state's tangent per share by which all readings are too large."""
    problem, inputs = window.problem, window.inputs[:-1]
    joints = slice(problem.nv - problem.nj, problem.nv)
    shift = np.array([-given.weight_force[joints] * given.torque for given in inputs])
    return _response(window, joints, SMALL * shift, window.direction()[0][0]) / SMALL


def _response(window: Window, rows, shift: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Change of the step of the first state when the nodes' residuals change."""
    for data, change in zip(window.data, shift):
        data.r[rows] += change
    step = window.solver.redirect()[0][1]
    for data, change in zip(window.data, shift):
        data.r[rows] -= change
    return step - reference


def _residual_shifts(window: Window) -> dict[str, tuple[slice, np.ndarray]]:
    """Change of the nodes' residuals by cause: rows, and their change (n, rows).

    A reading that is too large lowers its residual.
    """
    problem, inputs = window.problem, window.inputs[:-1]
    joints = slice(problem.nv - problem.nj, problem.nv)
    encoders = rows_by_sensor(window)["encoders"]
    by_torque = np.array([given.weight_force[joints] for given in inputs])
    by_position = np.array([given.weight("encoders") for given in inputs])
    out = {name: (joints, -by_torque * error) for name, error in torque_errors(window).items()}
    estimated = {block.name for block in problem.joints}
    for j, name in enumerate(problem.robot.joint_names if ZEROS not in estimated else ()):
        error = np.zeros(problem.nj)
        error[j] = problem.config.noise.encoder_offset
        out[ZERO + name] = (encoders, -by_position * error)
    return out


def torque_errors(window: Window) -> dict[str, np.ndarray]:
    """Change (n, nj) of the measured torques [Nm] by cause, one standard deviation each.

    What is estimated is no cause: its uncertainty is in the posterior.
    """
    problem = window.problem
    robot, noise, nj = problem.robot, problem.config.noise, problem.nj
    torque = np.array([given.torque for given in window.inputs[:-1]])
    velocity = np.array(
        [x[problem.nq + problem.nv - nj : problem.nq + problem.nv] for x in window.xs]
    )
    rate = 0.5 * (velocity[1:] + velocity[:-1])
    acceleration = np.diff(velocity, axis=0) / problem.dt
    estimated = {block.name for block in problem.joints}
    gains = GAINS in estimated
    out = {COMMON: noise.torque_scale * torque}  # the mean of all gains is not estimated
    groups = {} if gains else _legs(robot)
    for name, joints in groups.items() if len(groups) > 1 else ():
        alone = np.zeros_like(torque)
        alone[:, joints] = noise.torque_scale_spread * torque[:, joints]
        out[f"torque scale of {name} alone"] = alone
    losses = (
        {}
        if "armature" in estimated
        else {
            "armature": robot.model.armature[-nj:] * acceleration,
            "joint friction": dry_friction(robot, rate),
            "joint damping": robot.joint_damping * rate,
        }
    )
    out.update({name: -noise.joint_losses * loss for name, loss in losses.items() if np.any(loss)})
    out |= _lead_error(window, rate, acceleration)
    if DELAY not in estimated:
        out["torque delay"] = TORQUE_DELAY * np.gradient(torque, problem.dt, axis=0)
    return out


def _lead_error(window: Window, rate: np.ndarray, acceleration: np.ndarray) -> dict:
    """Of dry friction that is estimated, and turns earlier than the joints by another time."""
    problem = window.problem
    block = next((b for b in problem.joints if b.name == "dry_friction"), None)
    if block is None:
        return {}
    lead = problem.robot.friction_lead
    ahead = [rate + (lead + more) * acceleration for more in (0.0, LEAD_ERROR)]
    before, after = (x / np.hypot(x, FRICTION_VELOCITY) for x in ahead)
    friction = block.per_joint(problem.parameter(window.xs[-1], block.name))
    return {"lead of dry friction": -friction * (after - before)}


def _legs(robot: Robot) -> dict[str, list[int]]:
    """Joints of each foot's leg, by the foot's name; every joint alone for a robot without feet."""
    if not robot.contacts:
        return {name: [i] for i, name in enumerate(robot.joint_names)}
    first, out = robot.joint_ids[0], {}
    for foot in robot.feet:
        frame = next(c.frame for c in robot.contacts if c.foot == foot)
        joint = robot.model.frames[robot.model.getFrameId(frame)].parentJoint
        out[foot] = [j - first for j in robot.joints_to(joint)]
    return out
