# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Every parameter that is said to be tunable while the estimator runs has the effect then that it has from the start."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.ground import Ground
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement

START = Config.load("g1")  # it has flat feet
ROBOT = Robot(START.robot)
TUNABLE = [
    (s, f.name)
    for s in ("noise", "estimator")
    for f in fields(getattr(START, s))
    if f.metadata["tunable"]
]
ELSEWHERE = {  # read from the configuration when they are used
    *(
        "contact_dof",
        "wrench_cone",
        "iterations",
        "payload_threshold",
        "publish_mass_stddev",
        "terrain_stddev",
        "contact_landing",
    ),
    *("mocap_position", "mocap_rotation"),
}


def measurement() -> Measurement:
    n = ROBOT.nj
    return Measurement(
        stamp_ns=10_000_000,
        position=np.zeros(n),
        velocity=np.zeros(n),
        velocity_change=np.ones(n),
        torque=np.zeros(n),
        gyro=np.zeros(3),
        accelerometer=np.zeros(3),
        accelerometer_change=np.ones(3),
        quat_world_imu=np.array([0.0, 0.0, 0.0, 1.0]),
    )


def effect(problem: Problem) -> np.ndarray:
    """All weights of a node and all process noise, in one vector."""
    m = measurement()
    node = problem.state_input(m)
    problem.dynamics_input(node, m)
    weights = [
        np.ravel(getattr(node, name)) for name in sorted(dir(node)) if name.startswith("weight")
    ]
    return np.concatenate([*weights, Ground(problem).process_noise(False).ravel()])


@pytest.mark.parametrize(("section", "name"), TUNABLE, ids=[".".join(p) for p in TUNABLE])
def test_retuned_is_as_if_from_the_start(section, name):
    value = getattr(getattr(START, section), name)
    changed = START.updated(
        {section: {name: value + 1 if isinstance(value, int) else 1.5 * value + 1e-6}}
    )
    estimator = Estimator(ROBOT, START)
    before = effect(estimator.problem)
    estimator.window = SimpleNamespace(force_dof=START.noise.force_dof)
    estimator.retune(changed)
    after = effect(estimator.problem)
    assert np.array_equal(after, effect(Problem(ROBOT, changed, True)))
    if name == "force_dof":
        assert estimator.window.force_dof == changed.noise.force_dof
    elif name not in ELSEWHERE:
        assert not np.array_equal(before, after)
