# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Axes of the IMU, and signs of its accelerometer or gyro alone, which no turn explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pinocchio as pin

from ...robot import axis_names, signed_axes
from ..legs import Legs
from ..signals import Signals, upwards
from .hypothesis import Hypothesis

_TURNS = 0.05  # rad/s, standard deviation of a gyro that tells more than where up is
_UNTOLD = (
    "; the robot hardly turns: other turns that lead to the same up, and an accelerometer of the "
    "opposite sign, cannot be told from that"
)


def hypotheses(legs: Legs, signals: Signals) -> Iterator[Hypothesis]:
    """The 23 other ways in which its axes may lie along those of its frame; signs of a sensor."""
    if signals.gyro[signals.usable].std(axis=0).max() < _TURNS:
        yield from _axes(_UNTOLD)
        return
    yield Hypothesis(
        "sign.accelerometer",
        "the accelerometer has the opposite sign: it feels gravity downwards, while the gyro fits",
        {},
        lambda s: replace(s, force=-s.force, up=-s.up),
        "change the sign of its three axes: a specific force is +9.81 m/s2 upwards at rest",
    )
    yield Hypothesis(
        "sign.gyro",
        "the gyro has the opposite sign, while the accelerometer fits",
        {},
        partial(_flipped, "gyro", -1.0),
        "change the sign of its three axes: a turn to the left is positive about the vertical",
    )
    yield from _single_axes()
    yield from _axes()


def _single_axes() -> Iterator[Hypothesis]:
    """One axis of one sensor has the opposite sign."""
    sensors = ("accelerometer", "force", "gyro"), ("gyro", "gyro", "accelerometer")
    for axis, signs in zip("xyz", 1.0 - 2.0 * np.eye(3)):
        for name, signal, other in sensors:
            yield Hypothesis(
                f"sign.{name}",
                f"the {axis} axis of the {name} has the opposite sign, the others and the {other} "
                "fit",
                {"axis": axis},
                partial(_flipped, signal, signs),
                f"change the sign of its {axis} axis where the messages are made",
            )


def _flipped(signal: str, signs: np.ndarray | float, signals: Signals) -> Signals:
    """Signals with these signs of a sensor's axes, and the vertical that follows."""
    flipped = replace(signals, **{signal: signs * getattr(signals, signal)})
    return replace(flipped, up=upwards(flipped.gyro, flipped.force))


def _axes(untold: str = "") -> Iterator[Hypothesis]:
    """Turns by right angles; `untold` is said of each."""
    for rotation in signed_axes()[1:]:
        if np.linalg.det(rotation) < 0.0:
            continue
        named = " ".join(axis_names(rotation, "+"))
        yield Hypothesis(
            "imu_axes",
            f"the IMU is turned by {_angle(rotation):.0f} degrees: x, y, z of its frame in the "
            f"model are {named} of what it reports{untold}",
            {"rotation": rotation.tolist()},
            lambda s, rotation=rotation: s.turned(rotation),
            _proposal(rotation),
        )


def _angle(rotation: np.ndarray) -> float:
    return float(np.degrees(np.arccos(np.clip(0.5 * (np.trace(rotation) - 1.0), -1.0, 1.0))))


def _proposal(rotation: np.ndarray) -> str:
    roll, pitch, yaw = pin.rpy.matrixToRpy(rotation)
    return (
        f"turn the IMU's readings by rpy [{roll:.4f}, {pitch:.4f}, {yaw:.4f}] (imu.rotation of a "
        "mapping), or its frame in the URDF by the inverse"
    )
