# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Every parameter that is said to be tunable while the estimator runs has the effect then that it
has from the start."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.robot import Robot
from prime_estimation.sensors import SENSORS
from prime_estimation.types import Measurement

START = Config.load("g1")  # it has flat feet
ROBOT = Robot(START.robot)
TUNABLE = [
    (s, f.name)
    for s in ("noise", "estimator")
    for f in fields(getattr(START, s))
    if f.metadata["tunable"]
]
OPTIONAL = [s for s in SENSORS if s.optional]
ELSEWHERE = {  # read from the configuration when they are used
    *(f.name for s in OPTIONAL for f in fields(s.Noise)),
    *(
        *(name for _, name in TUNABLE if name.endswith("_dof")),
        "wrench_cone",
        "adapt_noise",
        "iterations",
        "payload_threshold",
        "publish_mass_stddev",
        "terrain_stddev",
        "contact_landing",
    ),
}


def measurement() -> Measurement:
    n = ROBOT.nj
    return Measurement(
        stamp_ns=10_000_000,
        position=np.zeros(n),
        velocity=np.zeros(n),
        velocity_change=np.ones(n),
        torque=np.zeros(n),
        torque_change=np.ones(n),
        gyro=np.zeros(3),
        accelerometer=np.zeros(3),
        accelerometer_change=np.ones(3),
        quat_world_imu=np.array([0.0, 0.0, 0.0, 1.0]),
        heading_rate=0.0,
    )


def effect(problem: Problem) -> np.ndarray:
    """All weights of a node and all process noise, in one vector."""
    m = measurement()
    node = problem.state_input(m)
    problem.complete(node, m)
    weights = [node.weight(name) for name in ("encoders", "rates", *problem.sensors.residuals)]
    weights += [getattr(node, f"weight_{name}") for name in ("force", "xi")]
    return np.concatenate([*weights, problem.process_noise(False).ravel()])


def degrees_of_freedom(problem: Problem) -> tuple[float, ...]:
    """Those with which a window renews its robust weights."""
    x, seen = problem.first.neutral(), []
    arrival = _core.ActionArrival(problem.state, x, np.eye(problem.ndx))
    inputs = [_core.NodeInput(problem.measurements.core) for _ in range(2)]
    window = Window(problem, arrival, inputs, [0, 10_000_000], [x, x])
    window.solver = SimpleNamespace(
        hold=lambda parameters: None,
        solve=lambda xs, us, iterations: True,
        states=lambda: [x, x, x],
        controls=lambda: [np.zeros(problem.ndx), *window.us],
        reweight=lambda *dofs: seen.append(dofs),
    )
    window.solve(1)
    return seen[0]


@pytest.mark.parametrize(("section", "name"), TUNABLE, ids=[".".join(p) for p in TUNABLE])
def test_retuned_is_as_if_from_the_start(section, name):
    value = getattr(getattr(START, section), name)
    other = {bool: lambda: not value, int: lambda: value + 1, float: lambda: 1.5 * value + 1e-6}
    changed = START.updated({section: {name: other[type(value)]()}})
    names = [s.name for s in OPTIONAL]
    estimator = Estimator(ROBOT, START, sensors=names)
    before = effect(estimator.problem)
    estimator.retune(changed)
    after = effect(estimator.problem)
    assert np.array_equal(after, effect(Estimator(ROBOT, changed, sensors=names).problem))
    dofs = [name for section, name in TUNABLE if section == "noise" and name.endswith("_dof")]
    expected = tuple(getattr(changed.noise, name) for name in dofs)
    assert degrees_of_freedom(estimator.problem) == expected
    if name not in ELSEWHERE:
        assert not np.array_equal(before, after)
