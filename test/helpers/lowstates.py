# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Unitree's LowState as a program on the robot would get it, made of a simulated run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.unitree import Family


@dataclass(frozen=True)
class Instant:
    """Joint and IMU message of one instant."""

    stamp_ns: int
    joints: object
    imu: object


def instants(run: Path, seconds: float) -> Iterator[Instant]:
    """The instants of a run at which both were measured."""
    with BagReader(run) as bag:
        joints = {}
        for topic, arrival, message in bag.messages(["/joint_states", "/imu"]):
            if arrival - bag.start_ns > 1e9 * seconds:
                return
            stamp = stamp_ns(message.header)
            if topic == "/joint_states":
                joints[stamp] = message
            elif stamp in joints:
                yield Instant(stamp, joints.pop(stamp), message)


def lowstate(family: Family, instant: Instant) -> SimpleNamespace:
    """The fields of LowState that are read, joints by motor number."""
    j = instant.joints
    order = [list(j.name).index(name) for name in family.joints]
    motors = [
        SimpleNamespace(q=j.position[k], dq=j.velocity[k], tau_est=j.effort[k]) for k in order
    ]
    imu = SimpleNamespace(
        quaternion=[0.0] * 4, gyroscope=gyro(instant), accelerometer=accelerometer(instant)
    )
    tick = instant.stamp_ns // 1_000_000 % 2**32
    fields = {"motor_state": motors, family.imu: imu, "tick": tick, "foot_force": [0] * 4}
    return SimpleNamespace(**fields, mode_pr=0)


def gyro(instant: Instant) -> np.ndarray:
    v = instant.imu.angular_velocity
    return np.array([v.x, v.y, v.z])


def accelerometer(instant: Instant) -> np.ndarray:
    v = instant.imu.linear_acceleration
    return np.array([v.x, v.y, v.z])


@dataclass(frozen=True)
class Truth:
    """Of the base, by stamp."""

    velocity: np.ndarray  # (3,) m/s, base axes
    gravity: np.ndarray  # (3,) unit vector, base axes


def truth(run: Path, seconds: float) -> dict[int, Truth]:
    """What the simulation knows of the base."""
    out = {}
    with BagReader(run) as bag:
        for _, arrival, m in bag.messages(["/ground_truth/odom"]):
            if arrival - bag.start_ns > 1e9 * seconds:
                break
            v, q = m.twist.twist.linear, m.pose.pose.orientation
            world_R_base = pin.Quaternion(np.array([q.x, q.y, q.z, q.w])).toRotationMatrix()
            out[stamp_ns(m.header)] = Truth(np.array([v.x, v.y, v.z]), -world_R_base[2])
    return out


def true_contacts(run: Path, feet: tuple[str, ...], seconds: float) -> dict[int, np.ndarray]:
    """Vertical force (nf,) [N] on the feet by stamp."""
    out: dict[int, np.ndarray] = {}
    topics = {f"/ground_truth/contacts/{foot}": k for k, foot in enumerate(feet)}
    with BagReader(run) as bag:
        for topic, arrival, m in bag.messages(topics):
            if arrival - bag.start_ns > 1e9 * seconds:
                break
            row = out.setdefault(stamp_ns(m.header), np.zeros(len(feet)))
            row[topics[topic]] = m.wrench.force.z
    return out
