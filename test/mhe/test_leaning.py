# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Touch-downs that all pull at the tilt alike, by known answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation.config.policies import INTERVAL
from prime_estimation.mhe.leaning import Leaning

DT, NV, SIZE, STANCE, SPEED = 0.01, 18, 12, 20, 0.5
WAY = STANCE * DT * SPEED


def trot(sinks, flat=False, speed=SPEED, weight=1.0, moved=None, steps=100):
    """A `Leaning` that has seen two pairs of feet in turn, which sink in so as they land [m]."""
    size = 6 if flat else 3
    parts = [slice(size * f, size * (f + 1)) for f in range(4)]
    leaning = Leaning(SimpleNamespace(nv=NV, dt=DT, process=SimpleNamespace(foot_parts=parts)))
    nominal = np.full(4 * size, 12.5)
    nodes = []
    for k in range(steps * STANCE):
        pair, u = k // STANCE % 2, np.zeros(NV + 4 * size)
        if k % STANCE == 0:
            for foot in (pair, 3 - pair):
                u[NV + parts[foot].start + 2] = sinks(k) / DT
        stands = np.array([pair == 0, pair == 1, pair == 1, pair == 0])
        given = SimpleNamespace(nominal_xi=nominal, weight_xi=weight * nominal)
        nodes.append((10_000_000 * k, np.array([speed * DT * k, 0.0]), u, given, stands))
        if moved == k:
            leaning.move()
        if k > SIZE:
            seen = nodes[-SIZE - 1 :]
            window = SimpleNamespace(
                stamps=[n[0] for n in seen],
                xs=[n[1] + 1e3 * (moved is not None and k >= moved) for n in seen],
                us=[n[2] for n in seen[:-1]],
                inputs=[n[3] for n in seen],
            )
            leaning.look(window, seen[-2][4])
    return leaning.tilt


def told(sinks):
    """The tilt [rad] of feet that all sink so [m]."""
    return INTERVAL.landing_share * sinks * WAY / (WAY**2 + INTERVAL.landing_way**2)


def test_feet_that_sink_alike_make_the_tilt_uncertain():
    assert trot(lambda k: 4e-4) == pytest.approx(told(4e-4), rel=0.05)
    assert trot(lambda k: -4e-4) == pytest.approx(told(4e-4), rel=0.05)


def test_a_disturbance_without_a_mean_does_not():
    rng = np.random.default_rng(1)
    assert trot(lambda k: rng.choice([-4e-4, 4e-4])) < 0.3 * told(4e-4)


def test_outliers_do_not_pull():
    assert trot(lambda k: 4e-4, weight=0.3) == pytest.approx(0.09 * told(4e-4), rel=0.05)


def test_old_touch_downs_are_forgotten():
    """Over `landing_steps`, of which each step of a trot has two."""
    sank, since = 4e-4, 20
    left = trot(lambda k: sank * (k < 60 * STANCE), steps=60 + since)
    fades = (1.0 - 1.0 / INTERVAL.landing_steps) ** (2 * since)
    assert left == pytest.approx(fades * told(sank), rel=0.1)


def test_feet_that_step_on_the_spot_or_are_flat_do_not_tell_the_tilt_so():
    assert trot(lambda k: 4e-4, speed=0.0) == 0.0
    assert trot(lambda k: 4e-4, flat=True) == 0.0


def test_a_world_that_moves_is_no_way():
    assert trot(lambda k: 4e-4, moved=1010) == pytest.approx(told(4e-4), rel=0.05)


def test_it_is_said_of_roll_and_pitch(standing):
    estimator, last = standing
    before = estimator.update(last).pose_covariance
    window = estimator.window
    window.leaning = 0.01
    field = estimator._reporter._base.fields
    beside = 0.0, False, 0.0, np.zeros(3), False
    more = field(window, last, np.zeros((12, 12)), *beside)["pose_covariance"]
    window.leaning = 0.0
    more = more - field(window, last, np.zeros((12, 12)), *beside)["pose_covariance"]
    np.testing.assert_allclose(np.diag(more), [0, 0, 0, 1e-4, 1e-4, 0], atol=2e-6)
    assert before.shape == (6, 6)
