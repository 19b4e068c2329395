# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Gaits that follow one another, and a humanoid that squats and shifts its weight."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from prime_estimation.closed_loop.lockstep import Lockstep
from prime_estimation.closed_loop.scenario import Scenario, play
from prime_estimation.config.parameters import Config
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.robot import Robot
from prime_estimation.simulate.robot import SimulatedRobot
from prime_estimation.simulate.world import rotation

GAITS_AT = {0.8: "trot", 1.8: "bound", 2.8: "walk", 4.2: "trot", 5.0: "stand"}  # s


@pytest.mark.slow
def test_gaits_follow_one_another():
    config = Config.load("go2")
    loop = Lockstep(SimulatedRobot(Robot(config.robot), config.noise, seed=3), config)
    height = loop.controller.mpc.posture[2]
    for k in range(6000):
        t = round(1e-3 * k, 3)
        if t in GAITS_AT:
            loop.controller.on_gait(GAITS_AT[t])
        moving = 1.0 < t < 4.8
        loop.step(VelocityCommand(vx=0.3, yaw_rate=0.4) if moving else VelocityCommand())
        q = loop.simulated.step.q
        assert q[2] > height - 0.04 and rotation(q[3:7])[2, 2] > 0.95, t
    assert not loop.stopped
    assert q[2] == pytest.approx(height, abs=0.002)
    assert np.linalg.norm(q[:2]) > 0.6
    assert np.abs(loop.estimate.position_world - q[:3]).max() < 0.02


def squat(t: float) -> VelocityCommand:
    """Down by 8 cm until 3 s, up, then 3 cm to the left."""
    if t < 4.0:
        return VelocityCommand(height=-0.08 * np.sin(0.5 * np.pi * (t - 2.0)) ** 2)
    return VelocityCommand(lean=(0.0, 0.03))


@pytest.mark.slow
def test_humanoid_squats_and_shifts_its_weight():
    run = play(Scenario("g1", "stand", squat, 5.0))
    trace = run.trace
    assert not run.fell and not run.stopped
    height = trace.height - trace.nominal_height
    assert height[np.argmin(np.abs(trace.t - 3.1))] < -0.06
    assert abs(height[np.argmin(np.abs(trace.t - 4.1))]) < 0.02
    assert trace.lean[-1, 1] - trace.lean[np.argmin(np.abs(trace.t - 4.0)), 1] > 0.01
    assert np.degrees(np.abs([trace.roll, trace.pitch]))[:, trace.t > 1.0].max() < 2.0
