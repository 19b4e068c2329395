# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Tare: a recording of known total mass tells torque scales and the friction coefficient.

Which no residual shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from ..config.files import unfinished_head
from ..config.parameters import Config
from ..config.robot_yaml import robot_content
from ..errors import DataError
from ..io.whole_file import write_whole
from ..robot import Robot
from .joint_yaml import noise_changes, robot_changes
from .joints import JointPosterior
from .single import Run
from .systematic import COMMON

# of the total mass per unit of scale: below, the torques do not carry the robot
LEAST_RESPONSE = 0.2
LARGEST_CHANGE = 0.3  # of the scale: above, the known mass or the robot is wrong


@dataclass(frozen=True)
class Tare:
    """Torque scale to be used (readings are divided by it) and its standard deviation.

    Friction coefficient and its own.
    """

    torque_scale: float
    torque_scale_stddev: float
    friction: float
    friction_stddev: float
    mass_before: float
    mass_known: float


def tare(run: Run, known_mass: float) -> Tare:
    """Torque scale that makes the identified total mass the known one.

    The total mass responds linearly to the scale s of all torques: `dm/ds` comes from the error
    budget of the run. What is left as uncertainty of the scale is the statistical error of the mass
    and that of the other causes.

    Raises:
        DataError: the run does not respond to the scale, or the difference is too large to be one
            of scale.
    """
    problem = run.result.window.problem
    robot, old = problem.robot, float(problem.robot.torque_scale.mean())
    posterior, noise = run.posterior, problem.config.noise
    total = robot.total_mass + sum(
        posterior.pi(n)[0] - robot.model.inertias[robot.link_joint(n)].mass for n in posterior.links
    )
    shifts = {cause: shift[::10].sum() for cause, shift in posterior.budget.items()}
    response = shifts.pop(COMMON, 0.0) / noise.torque_scale
    base = robot.links[1] if robot.config.floating_base else None
    if response < LEAST_RESPONSE * total and base not in (None, *posterior.links):
        raise DataError(
            f"{run.name}: a tare needs {base} among the estimated links, which takes up what the "
            "torques get wrong of the weight; leave --links out",
            posterior.links,
        )
    if response < LEAST_RESPONSE * total:
        raise DataError(
            f"{run.name}: the torques do not carry the robot's weight, so this run cannot tare "
            "them; let it stand or walk on its feet",
            run.name,
        )
    change = (total - known_mass) / response  # readings are too large by this share
    if abs(change) > LARGEST_CHANGE:
        raise DataError(
            f"{run.name}: {total:.3f} kg were identified but {known_mass:.3f} kg are said to be "
            "known; no torque scale explains that",
            known_mass,
        )
    alone = {c: v for c, v in shifts.items() if not c.startswith("torque scale of")}
    variance = posterior.total_mass_variance() + sum(v**2 for v in alone.values())
    stddev = float(np.sqrt(variance) / response)
    return Tare(
        float(old * (1.0 + change)),
        stddev,
        run.friction[0],
        run.friction[1],
        float(total),
        known_mass,
    )


@dataclass(frozen=True)
class JointTare:
    """Joint parameters of a robot of known mass, jointly with its friction coefficient."""

    joints: JointPosterior
    friction: float
    friction_stddev: float
    mass_before: float
    mass_known: float


def tare_joints(run: Run, known_mass: float) -> JointTare:
    """Joint parameters of a run with joint parameters, given the total mass.

    Raises:
        DataError: no joint parameters explain that mass.
    """
    found = run.joints
    total = found.mass
    if abs(total - known_mass) > LARGEST_CHANGE * known_mass:
        raise DataError(
            f"{run.name}: {total:.3f} kg were identified but {known_mass:.3f} kg are said to be "
            "known; no joint parameters explain that",
            known_mass,
        )
    return JointTare(found.of_mass(known_mass), *run.friction, total, known_mass)


def write_tare(
    found: Tare | JointTare,
    robot: Robot,
    config: Config,
    source: str,
    out: str | Path,
    unfinished: str = "",
) -> Path:
    """Write the robot's YAML with what a tare found, its remaining uncertainty, and friction.

    A robot that was given as a YAML file keeps everything else of that file; for a built-in one a
    complete YAML is written. `unfinished`, why its run is no optimum, goes to its head.

    Returns:
        The file: `out`/<robot>.yaml.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    content = robot_content(str(source), config)
    changes = {"robot": _robot_changes(found, robot), "noise": _noise_changes(found)}
    if np.isfinite(found.friction):
        changes["estimator"] = {"friction": round(found.friction, 4)}
    for section, values in changes.items():
        content[section] = {**content.get(section, {}), **values}
    path = out / f"{robot.name}.yaml"
    run = f"a run of {found.mass_known:g} kg"
    what = "Torque scale" if isinstance(found, Tare) else "Joint parameters"
    first = f"# {what} and friction from {run} (`prime identify --tare`).\n"
    text = unfinished_head(unfinished) + first + yaml.safe_dump(content, sort_keys=False)
    write_whole(path, text)
    return path


def _robot_changes(found: Tare | JointTare, robot: Robot) -> dict:
    if isinstance(found, JointTare):
        return robot_changes(found.joints, robot)
    scale = found.torque_scale
    if isinstance(robot.config.torque_scale, dict):
        own = robot.torque_scale / robot.torque_scale.mean() * scale
        return {"torque_scale": {n: round(float(s), 6) for n, s in zip(robot.joint_names, own)}}
    return {"torque_scale": round(scale, 6)}


def _noise_changes(found: Tare | JointTare) -> dict:
    if isinstance(found, JointTare):
        return noise_changes(found.joints)
    return {"torque_scale": round(max(found.torque_scale_stddev, 1e-4), 6)}
