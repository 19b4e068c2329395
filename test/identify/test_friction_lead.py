# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Dry friction that turns before the joints, as that of simulators, is told from Coulomb's."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from identify.conftest import CONFIG

from prime_estimation.identify import friction_lead, identify_run
from prime_estimation.identify.friction_lead import LEADS, _lowest, fitting_robot
from prime_estimation.identify.full_information import no_stop
from prime_estimation.identify.joint_notices import joint_notices
from prime_estimation.identify.joint_yaml import robot_changes
from prime_estimation.robot import Robot

TIME_CONSTANT, IMPEDANCE = 0.02, 0.95  # s, of the constraint: MuJoCo's defaults


@pytest.mark.parametrize("lead", [0.0, 0.0019, 0.0095, 0.015])
def test_the_lowest_point_of_a_parabola(lead):
    costs = 100.0 + 1e6 * (np.array(LEADS) - lead) ** 2
    assert _lowest(costs) == pytest.approx(lead, abs=1e-9)


def test_beyond_the_leads_that_are_tried_is_none():
    assert _lowest(np.arange(4.0)) == 0.0 and _lowest(-np.arange(4.0)) == LEADS[-1]


def found_lead(fall: float, monkeypatch, config=CONFIG, stop=no_stop) -> float:
    """Of a recording whose cost falls by so much from no lead to one of 10 ms, its lowest."""
    monkeypatch.setattr(friction_lead, "approach", lambda solution, iterations: None)

    def window(since_ns, noise, robot, nodes):
        away = float(robot.friction_lead.mean()) / 0.01 - 1.0
        return SimpleNamespace(solver=SimpleNamespace(cost=500.0 + fall * away**2))

    passage = SimpleNamespace(estimator=SimpleNamespace(robot=Robot(config.robot)), window=window)
    return float(fitting_robot(passage, 0, {}, stop).friction_lead.mean())


def test_a_lead_must_be_clear(monkeypatch):
    assert found_lead(19.0, monkeypatch) == 0.0
    assert found_lead(21.0, monkeypatch) == pytest.approx(0.01)
    told = CONFIG.updated({"robot": {"friction_lead": 0.003}})  # by its YAML
    assert found_lead(1e3, monkeypatch, told) == pytest.approx(0.003)
    assert found_lead(1e3, monkeypatch, stop=lambda: True) == 0.0


@pytest.mark.slow
def test_friction_of_a_damped_constraint_is_found(tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    from prime_estimation import simulate
    from prime_estimation.simulate.model import PHYSICS

    monkeypatch.setitem(PHYSICS, "solreffriction", [TIME_CONSTANT, 1.0])
    bag = simulate.run("go2", "trot", 4.0, tmp_path / "trot", start=1.0, seed=5)
    config = CONFIG.updated({"estimator": {"joint_parameters": "losses"}})
    robot = Robot(config.robot)
    run = identify_run(bag, robot, config, budget=False)
    assert run.joints.lead == pytest.approx(0.5 * IMPEDANCE * TIME_CONSTANT, abs=0.004)
    assert any("before the joints" in line for line in joint_notices(run.joints))
    changes = robot_changes(run.joints, robot)
    assert changes["friction_lead"] == pytest.approx(run.joints.lead, rel=0.01)
