# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Presence of sensors, and what cannot be told without those that are missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Case, Verdict
from ..finding import FACT, FAULT, HINT, UNKNOWN, Finding
from ..recording import Recording


def examine(case: Case) -> Verdict:
    """Sensors of the recording."""
    return case, list(_findings(case))


def _findings(case: Case) -> Iterator[Finding]:
    recording, robot = case.recording, case.robot
    there = {name: list(stream.values) for name, stream in recording.streams.items()}
    told = ", ".join(f"{name} ({', '.join(fields)})" for name, fields in there.items())
    yield Finding("sensors", FACT, f"{recording.seconds:.1f} s of {told}", {"streams": there})
    joints = recording.streams["joint_states"].values
    if robot.imu_joint is not None and "imu" not in there:
        yield Finding("sensors.imu", FAULT, "there is no IMU, but the robot's YAML has one")
    if "velocity" not in joints:
        yield Finding(
            "sensors.velocity",
            UNKNOWN,
            "no joint rates: they are differentiated from the positions, and signs of rates cannot "
            "be told",
        )
    yield from _torques(recording)
    if robot.config.floating_base and "mocap/pose" not in there:
        yield Finding(
            "sensors.mocap",
            UNKNOWN,
            "no motion capture: foot radius, leg lengths and the IMU's yaw cannot be told, or only "
            "roughly",
        )
    if recording.refused:
        reasons = ", ".join(f"{reason} ({n})" for reason, n in recording.refused.items())
        text = f"messages with something wrong: {reasons}"  # refused, or used without it
        yield Finding("sensors.refused", FAULT, text, recording.refused)


def _torques(recording: Recording) -> Iterator[Finding]:
    """Whether torques are measured, and what cannot be told without."""
    if recording.torque_stream is None:
        yield Finding(
            "sensors.torque",
            UNKNOWN,
            "no torque, measured or commanded: weight, forces, and which feet carry them cannot be "
            "told, order and signs of the joints only roughly",
        )
    elif recording.torque_stream == "joint_commands":
        yield Finding(
            "sensors.torque",
            UNKNOWN,
            "torque is commanded, not measured: what the drives make of it cannot be told apart "
            "from what the model lacks",
        )
    effort = recording.streams["joint_states"].values.get("effort")
    if effort is not None and not effort[np.isfinite(effort)].any():
        yield Finding(
            "sensors.torque_zero",
            HINT,
            "all measured torques are zero: they are none, and not used",
            {},
            "leave effort empty where torques are not measured; else look why none are",
        )
