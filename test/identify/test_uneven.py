# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Walks over uneven ground: what is identified and reconstructed of them holds."""

import numpy as np
import pytest
from helpers.runs import tilt_errors, velocity_errors

from prime_estimation.config.parameters import Config
from prime_estimation.evaluation.statistics import HALF_WIDTH_95
from prime_estimation.identify.full_information import ForwardPass
from prime_estimation.identify.reconstruct import estimates, motion
from prime_estimation.identify.single import STEP, identify_run
from prime_estimation.robot import Robot

MASS, COM = 7.277 + 3.0, [0.02881, 0.00584, 0.02558]  # of a Go2's trunk with its payload


@pytest.fixture(scope="module", params=["go2_rough11_payload3", "go2_slope12_payload3"])
def walk(request, recorded_runs):
    """Recording and what one ground height under each foot does not explain of it."""
    config = Config.load("go2").updated({"estimator": {"step": STEP}})
    bag = recorded_runs / request.param
    return bag, identify_run(bag, Robot(config.robot), config, span=(2.0, 8.0))


def test_the_inertia_is_that_of_the_window_that_follows_the_ground(walk):
    _, run = walk
    assert any("the ground is uneven" in notice for notice in run.notices) and not run.unfinished
    mass, *com = run.posterior.quantities("base")[:4]
    assert mass.value == pytest.approx(MASS, abs=0.1)
    assert [q.value for q in com] == pytest.approx(COM, abs=0.004)
    # what one ground makes an outlier answers nothing: 1 % of torque scale is 1 % of the total mass
    assert mass.systematic > 0.009 * 19.0


def test_the_motion_holds_and_its_intervals_do(walk):
    bag, run = walk
    found = list(estimates(run, motion(run)))
    assert 1.0 < 1e-9 * (found[0].stamp_ns - run.way.measurements[0].stamp_ns) < 1.6
    error = velocity_errors(bag, found)
    assert np.sqrt(np.mean(error**2)) < 0.005
    stddev = np.sqrt([np.diag(e.twist_covariance)[:3] for e in found])
    assert np.mean(np.abs(error) < HALF_WIDTH_95 * stddev) > 0.9
    assert np.sqrt(np.mean(tilt_errors(bag, found) ** 2)) < 0.009
    stamps = [e.stamp_ns for e in found]
    assert np.ptp(np.diff(stamps)) == 0


def test_a_floor_is_no_uneven_ground():
    """Its feet are some steps on their way until they are known to stand on one."""

    def way(unevenness) -> ForwardPass:
        stamps = 8_000_000 * np.arange(len(unevenness))
        return ForwardPass(None, [], {}, {}, [], dict(zip(stamps.tolist(), unevenness)))

    assert not way([1.0] * 300 + [0.2] * 450).uneven
    assert not way([1.0] * 200).uneven  # too short to tell
    assert way([1.0, 1.0, 0.0] * 250).uneven
