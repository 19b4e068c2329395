# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scale of poses that are refused: another unit, but not another place, is told."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.models import config, robot

from prime_estimation.mhe.problem import Problem
from prime_estimation.sensors.pose_gate import PoseGate
from prime_estimation.sensors.pose_scale import PoseScale


def said(scale: float, seconds: float = 3.0, away: float = 0.0, noise: float = 1e-3) -> str:
    """Of poses at 100 Hz of a robot that walks at 0.4 m/s, in another unit."""
    rng, told = np.random.default_rng(0), PoseScale()
    for k in range(round(100 * seconds)):
        place = np.array([0.004 * k, 0.0, 0.3])
        seen = scale * (place + noise * rng.standard_normal(3)) + away
        told.take(10_000_000 * k, seen, place)
    return told.remark()


@pytest.mark.parametrize("scale", [1000.0, 100.0, 0.001])
def test_another_unit(scale):
    assert said(scale).endswith(": are they in m?")


@pytest.mark.parametrize("scale, away", [(1.0, 0.0), (1.0, 300.0), (2.0, 0.0), (0.4, 0.0)])
def test_another_place_or_a_wrong_mount(scale, away):
    assert said(scale, away=away) == ""


def test_too_few_tell_nothing():
    assert said(1000.0, seconds=0.5) == ""


@pytest.fixture(scope="module")
def gate():
    return PoseGate(Problem(robot("go2"), config("go2"), {"mocap"}))


def refused(gate: PoseGate, scale: float, begin_s: float, at: float = 0.0) -> None:
    """Two seconds of refused poses of a robot that walks at 0.4 m/s, estimated from a place on."""
    for k in range(200):
        way = np.array([0.004 * k, 0.0, 0.0])
        gate._scale.take(round(1e9 * begin_s) + 10_000_000 * k, scale * way, way + [at, 0.0, 0.0])
    gate.refused += 200


def test_windows_that_begin_anew(gate):
    """What was learned before stays, and the way from one window to the next is none."""
    refused(gate, 1.0, 0.0)
    gate.reset()
    refused(gate, 1.0, 2.0, at=50.0)  # the estimate begins elsewhere
    assert gate.refused == 400 and "are they in m?" not in gate.remark()
    gate._scale.reset()
    refused(gate, 1000.0, 4.0)
    before = gate.remark()
    gate.reset()  # which poses of another unit may be the reason for
    assert before.endswith("are they in m?") and gate.remark() == before
    refused(gate, 1000.0, 6.0, at=50.0)
    assert "went 1.4e+03 m while the robot went 1.4 m: are they in m?" in gate.remark()
