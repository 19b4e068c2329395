# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A trotting robot loses its estimate: it brakes or goes on, and never jumps."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from prime_estimation.closed_loop.lockstep import Lockstep
from prime_estimation.config.parameters import Config
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.control.supervisor import Mode
from prime_estimation.control.torque_limits import torque_limits
from prime_estimation.robot import Robot
from prime_estimation.simulate.payload import Payload
from prime_estimation.simulate.robot import SimulatedRobot
from prime_estimation.types import Estimate

LOAD = 4.6  # kg
TROT_AT, LOSS_AT, END = 0.8, 1.8, 3.0  # s
JUMP = 0.04  # m, that no trunk may rise
SINK = 0.8  # m/s, that no braked trunk may sink: from 0.3 m it would fall at 2.4 m/s


class Spoiled(Lockstep):
    """A loop in which something goes wrong at `LOSS_AT` between estimator and controller."""

    def __init__(self, loss: str):
        config = Config.load("go2")
        load = Payload(LOAD, (0.0, 0.0, 0.1))
        super().__init__(SimulatedRobot(Robot(config.robot), config.noise, load), config)
        self.loss, self.lost = loss, False

    def hear(self, estimate: Estimate) -> None:
        if not (self.lost and self.loss == "killed"):
            super().hear(estimate)

    def hear_odometry(self, estimate: Estimate) -> None:
        if self.lost and self.loss in ("killed", "no odometry"):
            return
        if self.lost and self.loss == "nan":
            estimate = replace(estimate, position_world=np.full(3, np.nan))
        if self.lost and self.loss == "jump":
            estimate = replace(estimate, position_world=estimate.position_world + [0.0, 0.0, 0.5])
        if self.lost and self.loss == "turn":  # by half a turn about the vertical
            x, y, z, w = estimate.quat_world_base
            estimate = replace(estimate, quat_world_base=np.array([-y, x, w, -z]))
        super().hear_odometry(estimate)


def walked(loss: str) -> Spoiled:
    """Trot, lose something, and go on; what is asserted of every loss is asserted here."""
    loop = Spoiled(loss)
    world, dt = loop.simulated.world, loop.simulated.world.dt
    world.load(loss in ("stale inertia", "frozen inertia"))
    heights, limit = [], torque_limits(loop.simulated.robot)
    for k in range(round(END / dt)):
        t = k * dt
        if k == round(TROT_AT / dt):
            loop.controller.on_gait("trot")
        if k == round(LOSS_AT / dt):
            loop.lost = True
            spoil(loop, loss)
        loop.step(VelocityCommand(vx=0.3 if t > TROT_AT else 0.0))
        heights.append(loop.simulated.step.q[2])
        assert (np.abs(loop.simulated.step.tau_motor) <= limit + 1e-9).all()
    heights = np.array(heights)
    lost = round(LOSS_AT / dt)
    assert heights[lost:].max() < heights[lost - round(0.5 / dt) : lost].max() + JUMP
    loop.sinking = -np.diff(heights[lost:]).min() / dt
    return loop


def spoil(loop: Spoiled, loss: str) -> None:
    gate, world = loop.controller.gate, loop.simulated.world
    if loss == "stale inertia":  # nothing is said any more of a load that is taken off
        gate.offer = lambda message: ""
        world.load(False)
    elif loss == "clock":
        set_back(loop.controller, 10_000_000_000)
    elif loss == "frozen inertia":
        gate.on_freeze(SimpleNamespace(data=True))
        world.load(False)


def set_back(controller, by_ns: int) -> None:
    """Set the clock of estimator and controller back, as a time server does."""
    for name in ("on_odometry", "on_joints", "on_contacts", "on_velocity", "solve", "command"):
        method = getattr(controller, name)
        setattr(controller, name, lambda ns, *told, call=method: call(ns - by_ns, *told))


def test_it_goes_on_when_the_clock_is_set_back_a_little():
    config = Config.load("go2")
    loop = Lockstep(SimulatedRobot(Robot(config.robot), config.noise), config)
    told = []
    update = loop.controller.mpc.update
    loop.controller.mpc.update = lambda state, told_: told.append(told_) or update(state, told_)
    loop.run(1.0)
    begun = len(told)
    set_back(loop.controller, 50_000_000)
    loop.run(0.4)
    assert not loop.stopped and begun and len(told) == begun + 20
    assert all((c.vx, c.vy, c.yaw_rate) == (0.0, 0.0, 0.0) for c in told)


@pytest.mark.parametrize("lean", [(0.3, 0.0), (1.0, 1.0)])
def test_it_leans_no_further_than_its_feet_reach(lean):
    config = Config.load("go2")
    loop = Lockstep(SimulatedRobot(Robot(config.robot), config.noise), config)
    loop.run(1.0)
    before = loop.simulated.step.q[:2].copy()
    loop.run(1.5, lambda t: VelocityCommand(lean=lean))
    step = loop.simulated.step
    moved = np.linalg.norm(step.q[:2] - before)
    assert not loop.stopped and 0.07 < moved < 0.15
    assert step.q[2] == pytest.approx(loop.controller.mpc.posture[2], abs=0.01)


@pytest.mark.parametrize(
    ("loss", "reason"),
    [
        ("killed", "no joint states"),
        ("no odometry", "no odometry"),
        ("nan", "no odometry"),
        ("jump", "jumped"),
        ("turn", "turned by 180 degrees"),
        ("clock", "set back"),
    ],
)
def test_without_a_state_it_brakes(loss, reason):
    loop = walked(loss)
    supervisor = loop.controller.supervisor
    assert supervisor.mode is Mode.DAMPING and reason in loop.stopped
    assert (supervisor.refused > 0) == (loss == "nan")
    assert loop.sinking < SINK and np.abs(loop.simulated.step.v[:3]).max() < 0.3


@pytest.mark.parametrize("force", [None, np.nan])
def test_without_contact_forces_it_walks_on_by_its_schedule(force):
    """Swings had begun where feet were lifted last, as far as was known: ever further behind."""
    config = Config.load("go2")
    loop = Lockstep(SimulatedRobot(Robot(config.robot), config.noise), config, gait="trot")
    loop.run(1.5, lambda t: VelocityCommand(vx=0.4))
    told = loop.controller.on_contacts
    spoilt = lambda ns, normal: force is None or told(ns, np.full(4, force))  # noqa: E731
    loop.controller.on_contacts = spoilt
    heights = []
    loop.run(2.5, lambda t: VelocityCommand(vx=0.4), lambda t: heights.append(height(loop)))
    assert not loop.stopped and np.ptp(heights) < 0.01
    assert loop.simulated.step.v[0] == pytest.approx(0.4, abs=0.1)
    doubt = loop.controller.supervisor.doubt(loop.simulated.now_ns)
    assert doubt.startswith("no contact forces for 25")


def height(loop: Lockstep) -> float:
    """Of the trunk [m]."""
    return float(loop.simulated.step.q[2])


@pytest.mark.parametrize("loss", ("stale inertia", "frozen inertia"))
def test_with_an_old_inertia_it_walks_on(loss):
    loop = walked(loss)
    assert not loop.stopped and loop.controller.supervisor.mode is Mode.ACTIVE
    step = loop.simulated.step
    assert step.q[2] == pytest.approx(loop.controller.mpc.posture[2], abs=0.02)
    model_mass = sum(i.mass for i in loop.controller.mpc.horizon.model.inertias)
    assert model_mass > loop.simulated.robot.total_mass + 0.8 * LOAD
