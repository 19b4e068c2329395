# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Drive a simulated robot through a motion and keep everything that is true about it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Callable

import numpy as np

from ..config.values import are_numbers
from ..errors import ConfigError
from ..robot import Robot
from .balance import BipedController
from .controller import PERIOD, Controller
from .ground import Ground
from .motion import Motion, motion
from .payload import Payload
from .push import Push, force_at
from .scene import check_scene
from .world import SimulationError, Step, World, rotation, when

SETTLE = 1.0  # s of standing before the motion starts
SHORTEST = 0.1  # s of a recording, in which every sensor speaks
LONGEST = 3600.0  # s, whose truth finds room in memory


@dataclass(frozen=True)
class Recording:
    """The truth at every physics step; `Step` tells frames and units.

    `t[k]` is the state, forces and a are those acting at it.
    """

    robot: Robot
    motion: str
    seed: int
    payload: Payload | None
    ground: Ground
    dt: float
    t: np.ndarray  # (n,) s from the start of the recording
    q: np.ndarray  # (n, nq)
    v: np.ndarray  # (n, nv)
    a: np.ndarray  # (n, nv)
    tau_motor: np.ndarray  # (n, nj) Nm
    tau_friction: np.ndarray  # (n, nj) Nm
    contact_force: np.ndarray  # (n, contacts, 3) N
    contact_moment: np.ndarray  # (n, contacts, 3) Nm
    external: np.ndarray  # (n, 6) N and Nm
    load_shift: np.ndarray  # (n, 2) m
    loaded: np.ndarray  # (n,) bool, payload attached
    pushes: tuple[Push, ...] = ()


def simulate(
    robot: Robot | str,
    motion_name: str,
    duration: float,
    payload: Payload | None = None,
    ground: Ground = Ground(),
    seed: int = 0,
    start: float = 0.0,
    progress: Callable[[float], None] | None = None,
    pushes: tuple[Push, ...] = (),
) -> Recording:
    """Let a robot move under our controller in MuJoCo.

    Args:
        robot: a Robot, or the name of one.
        motion_name: one of `MOTIONS`.
        duration: length of the recording [s].
        payload: extra mass that the controller does not know.
        ground: the floor.
        seed: of commands and terrain; same seed, same run.
        start: s of the motion that pass before the recording starts (0: it starts standing).
        progress: called with the fraction done.
        pushes: on the base, unknown to the controller.

    Raises:
        ConfigError: unknown motion or robot, payload on an unknown link, or times out of range.
        SimulationError: the robot fell, or the simulation became unstable.
    """
    robot = robot if isinstance(robot, Robot) else Robot.load(robot)
    plan = motion(motion_name)
    check_scene(payload, ground, seed, pushes)
    _check_times(duration, start, payload)
    world = World(robot, payload, ground, seed, begins=SETTLE + start)
    controller = _controller(robot, plan, ground, seed)
    world.place(controller.q_stand)
    lead, total = round((SETTLE + start) / world.dt), round((SETTLE + start + duration) / world.dt)
    steps: list[Step] = []
    loaded = np.zeros(total - lead, bool)
    for k, step in enumerate(_walk(world, controller, payload, pushes, total, lead, start)):
        if k % 50 == 0 or k == total - 1:
            above = step.q[2] - ground.height(step.q[0])
            _check_upright(step, above / controller.height, k * world.dt - SETTLE - start)
            if progress is not None:
                progress(k / total)
        if k >= lead:
            loaded[k - lead] = payload is not None and payload.at((k - lead) * world.dt)
            steps.append(step)
    if progress is not None:
        progress(1.0)
    arrays = {f.name: np.array([getattr(s, f.name) for s in steps]) for f in fields(Step)}
    return Recording(
        robot,
        motion_name,
        seed,
        payload,
        ground,
        world.dt,
        np.arange(total - lead) * world.dt,
        loaded=loaded,
        pushes=pushes,
        **arrays,
    )


def _controller(
    robot: Robot, plan: Motion, ground: Ground, seed: int
) -> Controller | BipedController:
    """Controller for a robot's feet, by their number."""
    if len(robot.feet) != 2:
        return Controller(robot, plan.gait, plan.script(seed, 1.0), ground)
    if ground.has_course:
        raise ConfigError(f"{robot.name} has two feet, which walk no stairs and no slopes", ground)
    # two feet leave little room to sway
    return BipedController(robot, plan.gait, plan.script(seed, 0.4))


def _check_times(duration: float, start: float, payload: Payload | None) -> None:
    known = are_numbers((duration, start), 2)
    if not (known and SHORTEST <= duration <= LONGEST and 0.0 <= start <= 600.0):
        raise ConfigError(
            f"duration must be within {SHORTEST:g}..{LONGEST:g} s and start within 0..600 s, "
            f"got {duration!r} and {start!r}",
            duration,
        )
    for time in payload.switches if payload is not None else ():
        if not 0.0 < time < duration:
            raise ConfigError(
                f"the payload must come or go within the recording of {duration} s, got {time} s",
                payload,
            )


def _walk(
    world: World,
    controller: Controller | BipedController,
    payload: Payload | None,
    pushes: tuple[Push, ...],
    total: int,
    lead: int,
    start: float,
):
    hold = round(PERIOD / world.dt)
    normal = np.zeros(len(world.robot.contacts))
    torque = np.zeros(world.robot.nj)
    for k in range(total):
        time = (k - lead) * world.dt
        if payload is not None:
            world.load(payload.at(time))
        if pushes:
            world.push(force_at(pushes, time))
        if k % hold == 0:
            torque = controller.torque(time + start, *world.state(), normal)
        step = world.step(torque)
        normal = step.contact_force[:, 2]
        yield step


def _check_upright(step: Step, relative_height: float, time: float) -> None:
    upright = rotation(step.q[3:7])[2, 2]
    if relative_height < 0.4 or upright < 0.6:
        hint = "try a lighter payload, lower bumps or another motion"
        raise SimulationError(f"the robot fell {when(time)}; {hint}", step)
