# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint parameters: losses, motor gains and encoder zeros that are estimated beside the inertia.

Each is a constant of the window with a prior; losses are positive by construction.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import _core
from ..errors import ConfigError, RobotError
from ..robot import Robot

CHOICES = ("losses", "stribeck", "gains", "offsets", "delay", "zeros")
POSITIVE = ("losses", "stribeck")  # by construction
# of the mean of all gains: a factor on all torques is one on all masses, and what the legs' own
# inertia says of it is worth less than it seems; it is a systematic error, which a tare removes
COMMON_GAIN = 1e-4
TOLD = 0.5  # of the prior's standard deviation: above, a parameter has not been observed
# joint parameters of recorded runs with known truth are so many times as far from it as noise
# alone explains: sticking, impacts within a node, creep of the feet
MODEL_ERROR = 4.0
LEAST = 1e-9  # standard deviation of a prior
WALK = 0.01  # of a standard deviation of the prior, 1/sqrt(s): online, over 100 s a tenth of it
_SIDES = {"fl", "fr", "rl", "rr", "hl", "hr", "lf", "rf", "lh", "rh", "left", "right", "l", "r"}
GAINS, OFFSETS, ZEROS = "torque_gain", "torque_offset", "encoder_zero"
DELAY = "torque_delay"
COMMON = "all joints"  # label of what all joints have in common


@dataclass(frozen=True)
class Declaration:
    """One kind of joint parameter.

    Attributes:
        name: of its parameter block. choice: under which it is asked for.
        unit: of its value. label: for people.
        stddev: of the prior, in the unit, for the robot of a stranger; the value of the YAML is
            taken for a guess on top of it (100 %).
        shared: one value for "type", all joints of a type (both sides, front and rear), for
            "all" joints, or for each "joint".
    """

    name: str
    choice: str
    unit: str
    label: str
    stddev: float
    shared: str

    @property
    def positive(self) -> bool:
        """By construction."""
        return self.choice in POSITIVE

    @property
    def softness(self) -> float:
        """Value below which a loss is as good as none."""
        return 0.02 * self.stddev

    def coordinate(self, value: np.ndarray) -> np.ndarray:
        """Parameters p of values; of a loss that is as good as none, that of the softness n.

        `value = (p + sqrt(p^2 + 4 n^2))/2`, as in the core.
        """
        if not self.positive:
            return value
        value = np.maximum(value, self.softness)
        return value - self.softness**2 / value


# Sources of the widths. Armature: 0.0023 (Mini Cheetah's rotor behind its gear of 6, MIT's
# Cheetah-Software) to 0.01 (Go1 and Go2 in MuJoCo Menagerie) and 0.025 kg m2 (largest motor of the
# G1, Unitree's model). Dry friction: 0.2 Nm in all of these. Damping: 0.01 (MIT) to 0.1 Nm s/rad
# (Unitree's MuJoCo model of the Go2). Gear, gain, zeros are guesses: a planetary stage loses 2 to
# 6 %, torque constants hold to some percent, a joint is set by hand to half a degree. Stribeck,
# offset and delay too: friction at rest exceeds Coulomb's by up to its size, currents are read to
# some percent of their range, and buses and filters take some milliseconds.
DECLARATIONS = (
    Declaration("armature", "losses", "kg m2", "rotor inertia", 0.01, "type"),
    Declaration("damping", "losses", "Nm s/rad", "viscous friction", 0.1, "type"),
    Declaration("dry_friction", "losses", "Nm", "dry friction", 0.3, "type"),
    Declaration("gear_loss", "losses", "", "gear loss", 0.05, "type"),
    Declaration("stribeck", "stribeck", "Nm", "breakaway friction", 0.3, "type"),
    Declaration("stribeck_velocity", "stribeck", "rad/s", "Stribeck velocity", 0.5, "type"),
    Declaration(GAINS, "gains", "", "torque gain (log)", 0.03, "joint"),
    Declaration(OFFSETS, "offsets", "Nm", "torque offset", 0.3, "joint"),
    Declaration(DELAY, "delay", "s", "torque delay", 0.005, "all"),
    Declaration(ZEROS, "zeros", "rad", "encoder zero", 0.01, "joint"),
)
BY_NAME = {d.name: d for d in DECLARATIONS}


def chosen(text: str) -> tuple[str, ...]:
    """Names of the kinds in a comma-separated list of choices or kinds, in their order.

    Raises:
        ConfigError: names what is unknown.
    """
    asked = [part.strip() for part in text.split(",") if part.strip()]
    unknown = [part for part in asked if part not in (*CHOICES, *BY_NAME)]
    if unknown:
        known = f"known are {', '.join(CHOICES)}, or single ones: {', '.join(BY_NAME)}"
        raise ConfigError(f"unknown joint parameters {', '.join(unknown)}; {known}", text)
    return tuple(d.name for d in DECLARATIONS if d.name in asked or d.choice in asked)


def joint_types(names: list[str]) -> tuple[list[str], list[int]]:
    """Types of joints, by name without the words that tell the side, and the type of each joint."""
    types = ["_".join(w for w in re.split(r"[_\W]+", n) if w.lower() not in _SIDES) for n in names]
    distinct = list(dict.fromkeys(types))
    return distinct, [distinct.index(t) for t in types]


@dataclass(frozen=True)
class JointBlock:
    """Parameter block of one kind of joint parameter.

    Attributes:
        declaration: what it is. labels: of its parameters: joint types, or joints.
        joints: names of all joints.
        group: (nj,) parameter of each joint; -1: none, its value is a constant.
        ratio: (nj,) joint's value per value of its parameter.
        mean, stddev: (n,) of the prior, in coordinates of the estimate.
        nominal: (nj,) values of the robot's YAML.
    """

    declaration: Declaration
    labels: list[str]
    joints: list[str]
    group: list[int]
    ratio: np.ndarray
    mean: np.ndarray
    stddev: np.ndarray
    nominal: np.ndarray

    @property
    def name(self) -> str:
        """Of the block in the state's parameters."""
        return self.declaration.name

    @property
    def positive(self) -> bool:
        """By construction."""
        return self.declaration.positive

    @property
    def prior_root(self) -> np.ndarray:
        """(n, n) root of the prior's covariance; gains differ, their mean is held."""
        if self.name != GAINS:
            return np.diag(self.stddev)
        n = len(self.labels)
        mean = np.full((n, n), 1.0 / n)
        return (np.eye(n) - mean) * self.stddev + COMMON_GAIN * mean

    @property
    def walk_root(self) -> np.ndarray:
        """(n, n) root of the parameters' random walk, per root of a second."""
        return WALK * self.prior_root

    def values(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (n,) in the declared unit at the parameters (n,), and their slopes."""
        if not self.positive:
            return np.array(parameters), np.ones(len(parameters))
        quantity = getattr(_core.JointQuantity, self.name)
        softness = self.declaration.softness
        pairs = [_core.joint_value(quantity, softness, float(p)) for p in parameters]
        return np.array([v for v, _ in pairs]), np.array([s for _, s in pairs])

    def spread(self, parameters: np.ndarray, stddev: np.ndarray) -> np.ndarray:
        """(n,) standard deviations of values, in their unit: `value(p + stddev) - value(p)`.

        Upwards, for the map to a loss is flat where there is next to none: its slope there would
        have it known to any digit.

        Args:
            parameters: (n,) in coordinates of the estimate.
            stddev: (n,) of them.
        """
        return self.values(parameters + stddev)[0] - self.values(parameters)[0]

    def told(self, spread: np.ndarray) -> np.ndarray:
        """(n,) whether deviations of values are much smaller than those of the prior."""
        return spread < TOLD * self._prior_spread

    @cached_property
    def _prior_spread(self) -> np.ndarray:
        return self.spread(self.mean, self.stddev)

    def per_joint(self, parameters: np.ndarray) -> np.ndarray:
        """Values (nj,) of the joints."""
        estimated = self.ratio * self.values(parameters)[0][self.group]
        return np.where(np.array(self.group) < 0, self.nominal, estimated)


def joint_blocks(
    robot: Robot, choice: str, only: Collection[str] | None = None
) -> list[JointBlock]:
    """The parameter blocks of the chosen kinds, in the order of the core; none without joints.

    Args:
        robot: its joints, their nominal values.
        choice: kinds, as in `estimator.joint_parameters`.
        only: names of the joints that have parameters; default: all.

    Raises:
        ConfigError: there is no such kind. RobotError: `joint_stddev` names what is no parameter.
    """
    wanted = chosen(choice)
    _check_stddev(robot)
    names = [name for name in robot.joint_names if only is None or name in only]
    return [_block(robot, d, names) for d in DECLARATIONS if d.name in wanted and names]


def joint_model(robot: Robot, blocks: list[JointBlock]) -> "_core.JointModel":
    """Losses and motors of a robot, with the parameters that are estimated."""
    model = _core.JointModel(robot.joint_damping, robot.joint_friction)
    for name in ("armature", "gear_loss", "stribeck", "stribeck_velocity", DELAY):
        model.set(getattr(_core.JointQuantity, name), _nominal(robot, BY_NAME[name]))
    model.set(_core.JointQuantity.friction_lead, robot.friction_lead)
    for b in blocks:
        if b.name != ZEROS:
            quantity = getattr(_core.JointQuantity, b.name)
            model.estimate(quantity, b.group, b.ratio, b.declaration.softness)
    return model


def _block(robot: Robot, d: Declaration, names: list[str]) -> JointBlock:
    labels, own = _shared(d, names)
    of = dict(zip(names, own))
    group = [of.get(name, -1) for name in robot.joint_names]
    nominal, n = _nominal(robot, d), len(labels)
    chosen = np.array(group) >= 0
    members = np.array(group)[chosen]
    common = np.bincount(members, nominal[chosen], n) / np.bincount(members, minlength=n)
    ratio, stddev = np.ones(robot.nj), np.full(n, d.stddev)
    if d.positive:
        ratio = np.where(common[group] > 0.0, nominal / np.maximum(common[group], 1e-12), 1.0)
        stddev = np.maximum(d.stddev, common)
    mean = d.coordinate(common)
    told = robot.config.joint_stddev
    stddev = [told.get(f"{d.name}/{n}", told.get(d.name, s)) for n, s in zip(labels, stddev)]
    stddev = np.maximum(np.array(stddev, float), LEAST)
    return JointBlock(d, labels, robot.joint_names, group, ratio, mean, stddev, nominal)


def _shared(d: Declaration, names: list[str]) -> tuple[list[str], list[int]]:
    """Labels of the parameters of a kind, and the one of each joint."""
    if d.shared == "type":
        return joint_types(names)
    if d.shared == "all":
        return [COMMON], [0] * len(names)
    return names, list(range(len(names)))


def _check_stddev(robot: Robot) -> None:
    """Keys are a kind, or kind/label; deviations are not negative."""
    labels = {*joint_types(robot.joint_names)[0], *robot.joint_names, COMMON}
    for key, stddev in robot.config.joint_stddev.items():
        kind, _, label = key.partition("/")
        if kind not in BY_NAME or (label and label not in labels):
            what = f"joint_stddev names '{key}'; a key is one of {', '.join(BY_NAME)}"
            raise RobotError(f"{robot.name}: {what}, or with /joint or /joint type behind it", key)
        if stddev < 0.0:
            what = f"joint_stddev of '{key}' is {stddev:g}"
            raise RobotError(f"{robot.name}: {what}; give 0 or more", key)


def _nominal(robot: Robot, d: Declaration) -> np.ndarray:
    return {
        "armature": robot.model.armature[robot.model.nv - robot.nj :],
        "damping": robot.joint_damping,
        "dry_friction": robot.joint_friction,
        "gear_loss": robot.gear_loss,
        "stribeck": robot.stribeck,
        "stribeck_velocity": robot.stribeck_velocity,
        DELAY: np.full(robot.nj, robot.config.torque_delay),
    }.get(d.name, np.zeros(robot.nj))
