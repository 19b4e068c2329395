# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Validity of a state: just before and just behind each bound beyond which a policy is warned."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.estimates import make_estimate

from prime_estimation import Robot
from prime_estimation.monitors.lift_off import PULL
from prime_estimation.monitors.stance_motion import MOTION
from prime_estimation.policy.validity import Validity
from prime_estimation.types import ImuSample, JointSample, SensorHealth

MS = 1_000_000  # ns
NOW = 10_000 * MS


@pytest.fixture(scope="module")
def estimate():
    return make_estimate(Robot.load("go2"), NOW)


def heard(imu_ns: int = NOW, joints_ns: int = NOW, wall_clock: bool = False) -> Validity:
    """Of a caller that allows 0.3 m/s, after one reading of each stream."""
    out = Validity(0.3, wall_clock)
    out.heard(ImuSample(imu_ns, np.zeros(3), np.zeros(3)), True)
    out.heard(JointSample(joints_ns, np.zeros(12)), True)
    return out


def doubt(validity: Validity, estimate, said=None) -> str:
    return validity.doubt(estimate, said or estimate, "")


@pytest.mark.parametrize("ms, told", [(49, ""), (51, "no joints for 0.05 s")])
def test_a_stream_may_be_silent_for_a_twentieth_of_a_second(ms, told, estimate):
    assert doubt(heard(joints_ns=NOW - ms * MS), estimate) == told


@pytest.mark.parametrize("wall_clock, told", [(True, "no reading for 0.06 s"), (False, "")])
def test_silence_by_the_computers_clock(wall_clock, told, estimate, monkeypatch):
    """Where nothing comes no stamp tells of it; a simulation may wait as long as it likes."""
    clock = SimpleNamespace(monotonic=lambda: 100.0)
    monkeypatch.setattr("prime_estimation.policy.validity.time", clock)
    validity = heard(wall_clock=wall_clock)
    clock.monotonic = lambda: 100.06
    assert doubt(validity, estimate) == told


@pytest.mark.parametrize(
    "ms, told", [(99, ""), (101, "the estimate is 0.10 s behind the readings")]
)
def test_an_estimate_may_be_a_tenth_of_a_second_old(ms, told, estimate):
    older = replace(estimate, stamp_ns=NOW - ms * MS)
    validity = heard()
    assert doubt(validity, older) == told and validity.is_behind(older) == bool(told)


@pytest.mark.parametrize("ms, told", [(99, ""), (101, "stamps of the readings have gone back by")])
def test_stamps_may_go_back_by_a_tenth_of_a_second(ms, told, estimate):
    found = doubt(heard(), replace(estimate, stamp_ns=NOW + ms * MS))
    assert found.startswith(told) and bool(found) == bool(told)


def test_readings_in_vain_count_until_one_is_used(estimate):
    """Fifty in a row tell of a stream that is silent; now and then one that is refused does not."""
    validity = heard()
    for _ in range(3):
        for _ in range(50):
            validity.heard(JointSample(NOW, np.zeros(12)), False)
        assert not doubt(validity, estimate)
        validity.heard(JointSample(NOW + MS, np.zeros(12)), True)
        validity.heard(JointSample(NOW, np.zeros(12)), True)
    for _ in range(51):
        validity.heard(JointSample(NOW, np.zeros(12)), False)
    assert doubt(validity, estimate) == "no joints in the last 51 readings"


def test_a_velocity_is_as_wide_as_in_its_widest_direction(estimate):
    """Of the linear velocity, which may be along no axis; the angular one is of another unit."""
    along = np.array([1.0, 2.0, -2.0]) / 3.0

    def wide(stddev: float):
        covariance = np.diag([1e-4] * 3 + [4.0] * 3)
        covariance[:3, :3] += (stddev**2 - 1e-4) * np.outer(along, along)
        return replace(estimate, twist_covariance=covariance)

    assert not doubt(heard(), estimate, wide(0.29))
    assert doubt(heard(), estimate, wide(0.31)) == "the velocity is known to 0.31 m/s only"
    for field in ("twist_covariance", "linear_velocity_base"):
        nothing = replace(estimate, **{field: np.full_like(getattr(estimate, field), np.nan)})
        assert doubt(heard(), estimate, nothing) == "the velocity is not finite"


@pytest.mark.parametrize("name, message", [(MOTION, "feet slide"), ("torque", f"{PULL} the feet")])
def test_what_the_estimator_says_against_its_motion(name, message, estimate):
    def remarked(ok: bool):
        sensors = (SensorHealth(name, ok, message),)
        return replace(estimate, status=replace(estimate.status, sensors=sensors))

    assert message in doubt(heard(), remarked(False)) and not doubt(heard(), remarked(True))
