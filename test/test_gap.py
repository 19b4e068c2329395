# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Data that end for a while: what was known goes on, and what was not is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.models import config, robot
from helpers.runs import measurements, truth
from scipy.spatial.transform import Rotation

from prime_estimation.config.policies import CONSISTENCY
from prime_estimation.estimator import Estimator

LOST, GAP = 250, 60  # node at which data end, and nodes without any


def run(bag, lost: int, gap: int) -> tuple[Estimator, list]:
    """Estimates of a walk with a gap, which the stamps tell."""
    estimator, found = Estimator(robot("go2"), config("go2"), mocap=False), []
    ms = measurements(bag, robot("go2"), config("go2"), 5.0, mocap=False)
    for m in ms[:lost] + ms[lost + gap :]:
        found.append(estimator.update(m))
    return estimator, [e for e in found if e is not None]


def test_place_and_mass_go_on(recorded_runs):
    """They had begun at the origin, and with the mass of the model, as if known."""
    bag = recorded_runs / "go2_payload3"
    estimator, found = run(bag, LOST, GAP)
    assert estimator.monitors.last_restart == (1, "no data for 0.61 s")
    gaps = np.diff([estimate.stamp_ns for estimate in found])
    behind = int(np.argmax(gaps)) + 1
    before, after = found[behind - 1], found[behind]
    assert after.status.restarts == 1
    assert after.total_mass == pytest.approx(before.total_mass, abs=0.3)
    t, p = truth(
        bag, "/ground_truth/odom", lambda m: [getattr(m.pose.pose.position, a) for a in "xyz"]
    )
    true = np.array([p[np.argmin(np.abs(t - e.stamp_ns))] for e in (before, after)])
    error = (after.position_world - before.position_world) - (true[1] - true[0])
    stated = np.sqrt(np.diag(after.pose_covariance)[:3])
    assert np.linalg.norm(error[:2]) < 0.5 * np.linalg.norm(true[1] - true[0])
    assert np.linalg.norm(error[:2]) < 2.0 * np.linalg.norm(stated[:2]) and stated[0] > 0.02
    assert stated[2] > np.sqrt(before.pose_covariance[2, 2])


def test_a_stamp_that_goes_back(recorded_runs):
    """All begins anew, and that is counted: the same measurement twice had been lost in silence."""
    estimator = Estimator(robot("go2"), config("go2"), mocap=False)
    ms = measurements(recorded_runs / "go2_payload3", robot("go2"), config("go2"), 0.7, mocap=False)
    found = [estimator.update(m) for m in ms]
    assert found[-1] is not None and estimator.update(ms[-1]) is None
    assert estimator.monitors.last_restart == (1, "a stamp 0.00 s before the newest")


def test_on_a_slope_and_turned(recorded_runs):
    """The ground is found anew, in the world as it was."""
    bag = recorded_runs / "go2_slope12_payload3"
    estimator, found = run(bag, 340, GAP)
    assert estimator.monitors.last_restart[0] == 1
    laid, now = estimator.horizon.ground._slopes, estimator.window.xs[-1]
    np.testing.assert_allclose(laid._means, laid.at(now), atol=0.05)
    t, q = truth(
        bag, "/ground_truth/odom", lambda m: [getattr(m.pose.pose.orientation, a) for a in "xyzw"]
    )
    last = found[-1]
    attitudes = Rotation.from_quat([last.quat_world_base, q[np.argmin(np.abs(t - last.stamp_ns))]])
    up, true_up = attitudes.as_matrix()[:, 2]
    assert np.linalg.norm(up - true_up) < 0.02


def test_a_long_time_without_data_is_another_recording(recorded_runs):
    for away in (-10, int(1.1e9 * CONSISTENCY.longest_gap)):
        estimator, _ = run(recorded_runs / "go2_payload3", LOST, 0)
        newest = estimator.horizon.newest_ns
        ms = measurements(recorded_runs / "go2_payload3", robot("go2"), config("go2"), 1.0)
        estimator.update(replace(ms[-1], stamp_ns=newest + away))
        assert estimator.window is None and len(estimator.horizon.batch) == 1


def test_a_gap_while_the_first_batch_is_gathered(recorded_runs):
    """Nothing is lost yet: the batch is gathered anew."""
    estimator, found = run(recorded_runs / "go2_payload3", 20, 30)
    assert estimator.monitors.last_restart == (0, "") and found
