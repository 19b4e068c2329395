# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Offsets of several recordings: on linear problems the answer is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation.calibration.fusion import fuse
from prime_estimation.calibration.offsets import OffsetPriors, Offsets
from prime_estimation.calibration.plausibility import check_run
from prime_estimation.calibration.single import RunCalibration
from prime_estimation.errors import DataError
from prime_estimation.robot import Robot

ROBOT = Robot.load("go2")
NOMINAL = Offsets.nominal(ROBOT)
FREE = NOMINAL.free(("feet",))
PRIOR = 1.0 / NOMINAL.stddev(OffsetPriors())[FREE] ** 2
RNG = np.random.default_rng(4)
TRUTH = RNG.uniform(-0.01, 0.01, len(FREE))


def run(information: np.ndarray, seen: np.ndarray, shifts: np.ndarray) -> RunCalibration:
    """Recording whose data alone say `seen`, with that information."""
    covariance = np.linalg.inv(np.diag(PRIOR) + information)
    moved = np.zeros(NOMINAL.size)
    moved[FREE] = covariance @ information @ seen
    result = SimpleNamespace(offsets=NOMINAL.moved(moved), covariance=covariance)
    return RunCalibration("run", 100, NOMINAL, FREE, PRIOR, result, shifts, 1.0, 1.0)


def information(stddev: float) -> np.ndarray:
    """Of twelve numbers with correlated errors."""
    root = np.eye(12) + 0.2 * RNG.normal(size=(12, 12))
    return root @ root.T / stddev**2


NOTHING = np.zeros((1, 12))


def test_the_prior_counts_once():
    one, other = information(2e-3), information(1e-3)
    fused = fuse([run(one, TRUTH, NOTHING), run(other, TRUTH, NOTHING)])
    total = np.diag(PRIOR) + one + other
    np.testing.assert_allclose(fused.deviation, np.linalg.solve(total, (one + other) @ TRUTH))
    # recordings that agree better than their noise says are no reason for less of it
    np.testing.assert_allclose(fused.statistical, np.linalg.inv(total), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(fused.offsets.feet.ravel(), fused.deviation)
    alone = fuse([run(one, TRUTH, NOTHING)])
    np.testing.assert_allclose(alone.statistical, np.linalg.inv(np.diag(PRIOR) + one))


def test_recordings_that_disagree_widen_what_is_said():
    """Each two standard deviations of its own from their mean: twice as wide, and 2.8 times."""
    told = np.eye(12) / 1e-8  # 0.1 mm: the prior has no part in it
    for size in (2.0, 2.8):
        apart = size * 1e-4 * np.ones(12) / np.sqrt(2.0)
        fused = fuse([run(told, TRUTH + s * apart, NOTHING) for s in (-1.0, 1.0)])
        np.testing.assert_allclose(fused.deviation, TRUTH, atol=1e-6)
        np.testing.assert_allclose(fused.stddev, size * 1e-4 / np.sqrt(2.0), rtol=1e-3)
    with pytest.raises(DataError, match="differ by 5 standard deviations"):
        fuse([run(told, TRUTH + s * 5e-4 / np.sqrt(2.0), NOTHING) for s in (-1.0, 1.0)])


def test_systematic_errors_do_not_average_out():
    told, shift = information(1e-4), 1e-3 * RNG.normal(size=(3, 12))
    one = fuse([run(told, TRUTH, shift)])
    four = fuse([run(told, TRUTH, shift)] * 4)
    np.testing.assert_allclose(one.systematic, shift.T @ shift)
    np.testing.assert_allclose(four.systematic, one.systematic, rtol=1e-2, atol=1e-11)
    np.testing.assert_allclose(np.diag(four.statistical), np.diag(one.statistical) / 4, rtol=1e-2)
    row = one.rows(ROBOT)[0]
    assert row["stddev"] == pytest.approx(np.hypot(row["statistical"], row["systematic"]))
    assert row["interval"][1] - row["value"] == pytest.approx(1.96 * row["stddev"], rel=1e-3)


@pytest.mark.parametrize(("left", "told"), [(0.4, True), (0.6, False)])
def test_half_of_the_priors_width_is_observable(left, told):
    data = (left**-2 - 1.0) * np.diag(PRIOR)
    rows = fuse([run(data, TRUTH, NOTHING)]).rows(ROBOT)
    assert [row["observable"] for row in rows] == [told] * 12


@pytest.mark.parametrize(("metres", "possible"), [(0.25, True), (-0.35, False)])
def test_a_foot_that_is_far_from_its_place(metres, possible):
    """Ten of the prior's standard deviations, of 30 mm each, are on no robot."""
    told = np.eye(12) / 1e-10
    seen = run(told, metres * np.eye(12)[4], NOTHING)
    seen.result.outliers = {}
    if possible:
        check_run(seen, ROBOT)
        return
    with pytest.raises(DataError, match="FR_foot y comes out -0.35 m from its place"):
        check_run(seen, ROBOT)
