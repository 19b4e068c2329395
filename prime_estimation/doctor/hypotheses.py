# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Single mistakes that a recording may have, and how it would look without each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .legs import Legs
from .signals import Signals

_EVERY = ("position", "velocity", "acceleration", "torque")
_MOTION = ("position", "velocity", "acceleration")


@dataclass(frozen=True)
class Hypothesis:
    """A mistake: name of its kind, words for it, and the signals without it."""

    kind: str
    text: str
    subject: dict
    corrected: Callable[[Signals], Signals]
    proposal: dict | str = ""


def all_hypotheses(legs: Legs, signals: Signals) -> list[Hypothesis]:
    """Legs in another order, joints with another sign, an IMU with other axes, late torques."""
    found = [*_leg_orders(legs), *_signs(legs, signals), *_imu_axes()]
    return found + (list(_torque_delays()) if signals.torque is not None else [])


def _leg_orders(legs: Legs) -> Iterator[Hypothesis]:
    """Every order of the legs that have equally many joints."""
    feet, count = legs.robot.feet, len(legs.feet)
    if len({len(foot.columns) for foot in legs.feet}) > 1 or count > 4:
        return
    for order in itertools.permutations(range(count)):
        moved = [i for i in range(count) if order[i] != i]
        if not moved:
            continue
        columns = np.arange(legs.robot.nj)
        for i in moved:
            columns[legs.joints_of(i)] = legs.joints_of(order[i])
        told = ", ".join(f"what is called {feet[i]} is {feet[order.index(i)]}" for i in moved)
        if len(moved) == 2:
            told = f"{feet[moved[0]]} and {feet[moved[1]]} are exchanged"
        yield Hypothesis(
            "legs",
            f"legs are in another order: {told}",
            {"feet": [feet[i] for i in moved]},
            lambda s, columns=columns: s.permuted(columns),
            "exchange the joints of these legs where the messages are made (joints.names of a "
            "mapping)",
        )


def _signs(legs: Legs, signals: Signals) -> Iterator[Hypothesis]:
    robot = legs.robot
    joints = sorted({int(j) for f in range(len(legs.feet)) for j in legs.joints_of(f)})
    kinds = [("motion", _MOTION, "position and rate have")]
    if signals.torque is not None:
        kinds = [
            ("joint", _EVERY, "position, rate and torque have"),
            ("torque", ("torque",), "torque has"),
            *kinds,
        ]
    for j in joints:
        flipped = np.ones(robot.nj)
        flipped[j] = -1.0
        for kind, names, words in kinds:
            yield Hypothesis(
                f"sign.{kind}",
                f"joint {robot.joint_names[j]}: {words} the opposite sign",
                {"joint": robot.joint_names[j]},
                lambda s, flipped=flipped, names=names: s.scaled(flipped, names),
                "change its sign where the messages are made (joints.signs of a mapping)",
            )
    if signals.torque is not None:
        yield Hypothesis(
            "sign.torques",
            "all torques have the opposite sign",
            {},
            lambda s: s.scaled(-np.ones(robot.nj), ("torque",)),
            "change the sign of the efforts where the messages are made",
        )


def _imu_axes() -> Iterator[Hypothesis]:
    """The 23 other ways in which an IMU's axes may lie along those of its frame."""
    for axes in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            rotation = np.zeros((3, 3))
            rotation[range(3), axes] = signs
            if np.linalg.det(rotation) < 0.0 or np.allclose(rotation, np.eye(3)):
                continue
            named = " ".join(f"{'-' if s < 0 else '+'}{'xyz'[a]}" for a, s in zip(axes, signs))
            yield Hypothesis(
                "imu_axes",
                f"the IMU is turned by {_angle(rotation):.0f} degrees: x, y, z of its frame in the "
                f"model are {named} of what it reports",
                {"rotation": rotation.tolist()},
                lambda s, rotation=rotation: s.turned(rotation),
                _imu_proposal(rotation),
            )


def _angle(rotation: np.ndarray) -> float:
    return float(np.degrees(np.arccos(np.clip(0.5 * (np.trace(rotation) - 1.0), -1.0, 1.0))))


def _imu_proposal(rotation: np.ndarray) -> str:
    roll, pitch, yaw = pin.rpy.matrixToRpy(rotation)
    return (
        f"turn the IMU's readings by rpy [{roll:.4f}, {pitch:.4f}, {yaw:.4f}] (imu.rotation of a "
        "mapping), or its frame in the URDF by the inverse"
    )


def _torque_delays() -> Iterator[Hypothesis]:
    """Torques that are late or early; `delays` finds by how much exactly."""
    for delay in (-0.05, -0.03, -0.02, -0.01, 0.01, 0.02, 0.03, 0.05):
        yield Hypothesis(
            "delay.torque", "", {"seconds": delay}, lambda s, d=delay: s.later("torque", d)
        )
