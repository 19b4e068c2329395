# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensor streams whose averages are known: all signals are linear in time."""

from __future__ import annotations

import numpy as np

from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.types import ImuSample, JointSample, PoseSample

MS = 1_000_000
STEP = 10 * MS
START = 1_700_000_000 * 10**9
NJ = 3


def joint(t_ms, value=None, **fields):
    """A joint sample at START + t whose signals are linear in time, so that every average is
    known."""
    t = t_ms * 1e-3 if value is None else value
    content = dict(
        position=np.full(NJ, 2.0 * t), velocity=np.full(NJ, 3.0 * t), effort=np.full(NJ, 5.0 * t)
    )
    return JointSample(START + round(t_ms * MS), **{**content, **fields})


def imu(t_ms, quat=None):
    t = t_ms * 1e-3
    return ImuSample(START + round(t_ms * MS), np.full(3, 7.0 * t), np.full(3, 11.0 * t), quat)


def pose(t_ms, arrival_ms=None):
    arrival = t_ms if arrival_ms is None else arrival_ms
    return PoseSample(
        START + round(t_ms * MS),
        np.zeros(3),
        np.array([0.0, 0.0, 0.0, 1.0]),
        START + round(arrival * MS),
    )


def feed(sync: Synchronizer, samples):
    """Push one sample after the other and pop whatever is ready in between."""
    nodes = []
    for sample in samples:
        sync.push(sample)
        while (node := sync.pop()) is not None:
            nodes.append(node)
    return nodes


def both(times):
    return [make(t) for t in times for make in (joint, imu)]


def milliseconds(nodes):
    return [(n.stamp_ns - START) / MS for n in nodes]


def assert_linear(node):
    """All averages of signals that are linear in time: the signal at the centre of the kernel.

    Positions between samples are off by what the rates add, which do not belong to them here.
    """
    t = (node.stamp_ns - START) * 1e-9
    dt = STEP * 1e-9
    expected = dict(
        velocity=3 * (t - dt / 2),
        torque=5 * (t - dt),
        gyro=7 * (t - dt / 2),
        gyro_now=7 * t,
    )
    expected.update(accelerometer=11 * (t - dt), accelerometer_ramp=11 * (t - dt / 3))
    off = np.abs(node.position - 2 * t)
    np.testing.assert_allclose(off, node.position_change, atol=1e-9, err_msg="position")
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(node, name), value, atol=1e-12, err_msg=name)
