# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Dry friction that turns before the joints, as that of simulators, is told from Coulomb's."""

from __future__ import annotations

import numpy as np
import pytest
from identify.conftest import CONFIG

from prime_estimation.identify import identify_run
from prime_estimation.identify.friction_lead import LEADS, _lowest
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
