# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A walk under a push: its force is neither blamed on the feet nor on the inertia."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.identify import identify_run
from prime_estimation.identify.reconstruct import motion
from prime_estimation.identify.single import STEP
from prime_estimation.robot import Robot
from prime_estimation.sensors.imu import world_axes

FORCE, BEGIN, SECONDS = np.array([0.0, 50.0, 0.0]), 1.0, 0.8  # N, s of the recording


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The identification of a trotting Go2 that is pushed from the right."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    push = simulate.Push(tuple(FORCE), 1.0 + BEGIN, SECONDS)
    out = tmp_path_factory.mktemp("pushed") / "trot"
    bag = simulate.run("go2", "trot", 2.6, out, pushes=(push,), start=1.0, seed=5)
    config = Config.load("go2").updated({"estimator": {"step": STEP}})
    return identify_run(bag, Robot(config.robot), config)


def test_the_unexplained_force_is_the_push(run):
    """The feet had taken four fifths of it."""
    arrays = motion(run)
    t = 1e-9 * (arrays["stamp_ns"] - min(run.way.pushed_ns))  # since it began
    held = (t > 0.1) & (t < SECONDS - 0.1)
    q = arrays["q"][held]
    pushed = zip(q, arrays["unexplained"][held])
    force = np.mean([world_axes(x[3:7]) @ w[:3] for x, w in pushed], axis=0)
    assert force == pytest.approx(FORCE, abs=5.0)
    free = (t < -0.1) | (t > SECONDS + 0.2)
    assert np.sqrt(np.mean(arrays["unexplained"][free, :3] ** 2)) < 3.0


def test_the_inertia_learns_little_of_it(run):
    mass = run.posterior.quantities("base")[0]
    assert mass.value == pytest.approx(7.277, abs=0.1)
    assert run.after.misfit < 1.2
