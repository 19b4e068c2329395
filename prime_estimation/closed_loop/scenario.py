# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scenarios of a closed loop: gait, velocity, ground, loads that come and go, pushes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from ..config.parameters import Config
from ..config.values import is_number
from ..control.gait import gait_named
from ..control.motion_types import VelocityCommand
from ..control.parameters import ControlConfig
from ..errors import ConfigError
from ..robot import Robot
from ..simulate.ground import Ground
from ..simulate.model import loaded_model
from ..simulate.payload import Payload
from ..simulate.push import Push, force_at
from ..simulate.recording import LONGEST, SHORTEST
from ..simulate.robot import SimulatedRobot
from ..simulate.scene import check_scene
from .lockstep import Lockstep
from .trace import Trace

WALK_AT = 1.5  # s, when the gait begins
MOVE_AT = 2.0  # s, when the velocity command begins
UPDATES = ("off", "on", "true")


@dataclass(frozen=True)
class Scenario:
    """Scenario that a robot goes through.

    Attributes:
        robot: name, or path of a YAML.
        gait: from `WALK_AT` on.
        command: velocity command over time [s], from `MOVE_AT` on.
        duration: s.
        load: what is put on at `load_on` and taken off at `load_off` [s].
        update: what the controller learns of inertia: nothing (off), what the estimator says (on),
            or the truth at once (true), which is the reference that nobody has.
        seed: of noise, biases and ground.
    """

    robot: str
    gait: str = "trot"
    command: Callable[[float], VelocityCommand] = lambda t: VelocityCommand()
    duration: float = 10.0
    ground: Ground = field(default_factory=Ground)
    load: Payload | None = None
    load_on: float = float("inf")
    load_off: float = float("inf")
    pushes: tuple[Push, ...] = ()
    update: str = "on"
    seed: int = 0

    def __post_init__(self):
        if self.update not in UPDATES:
            raise ConfigError(
                f"update must be one of {', '.join(UPDATES)}, got '{self.update}'", self
            )
        if not (is_number(self.duration) and SHORTEST <= self.duration <= LONGEST):
            raise ConfigError(
                f"duration must be {SHORTEST:g} s or more, and {LONGEST:g} s at most, whose trace "
                f"finds room in memory, got {self.duration!r}",
                self,
            )
        if not callable(self.command):
            what = "command must be a function of the time [s] that returns a VelocityCommand"
            raise ConfigError(f"{what}, got {self.command!r:.60}", self)
        check_scene(self.load, self.ground, self.seed, self.pushes)
        for name in ("load_on", "load_off"):
            if not isinstance(time := getattr(self, name), Real):
                raise ConfigError(f"{name} must be a time [s], inf for never, got {time!r}", self)
        load = self.load
        if load is not None and (load.slides or load.switches):
            raise ConfigError(
                "the load of a scenario is welded on, from load_on to load_off: it neither slides "
                f"nor has times of its own, got {load}",
                self,
            )


@dataclass(frozen=True)
class Run:
    """Outcome of a scenario.

    Attributes:
        fell: the trunk left the range of a walking robot.
        stopped: why the controller stopped; empty if it did not.
        solve_times: of all solves [s].
    """

    scenario: Scenario
    trace: Trace
    fell: bool
    stopped: str
    solve_times: np.ndarray


def play(
    scenario: Scenario,
    control: ControlConfig = ControlConfig(),
    watch: Callable[[Lockstep, float], None] = lambda loop, t: None,
) -> Run:
    """Run a scenario in lockstep; `watch(loop, t)` looks on after each step of physics."""
    config = Config.load(scenario.robot)
    robot = Robot(config.robot)
    gait_named(scenario.gait, robot)
    simulated = SimulatedRobot(
        robot, config.noise, scenario.load, scenario.ground, seed=scenario.seed
    )
    loop = Lockstep(simulated, config, control, update=scenario.update == "on")
    director = _Director(scenario, loop)

    def observe(t: float) -> bool:
        watch(loop, t)
        return director.observe(t)

    stands = loop.run(scenario.duration, director.command, observe)
    return Run(
        scenario, director.trace.finish(), not stands, loop.stopped, np.array(loop.solve_times)
    )


class _Director:
    """Makes happen what the scenario says."""

    def __init__(self, scenario: Scenario, loop: Lockstep):
        self._scenario, self._loop, self.trace = scenario, loop, Trace(loop)
        self._walking = self._loaded = False

    def command(self, t: float) -> VelocityCommand:
        """The velocity command at this time [s]."""
        if t >= WALK_AT and not self._walking:
            self._walking = True
            self._loop.controller.on_gait(self._scenario.gait)
        self._now = self._scenario.command(t) if t >= MOVE_AT else VelocityCommand()
        return self._now

    def observe(self, t: float) -> bool:
        """Loads and pushes of this time [s]; False once the robot has fallen."""
        scenario, world = self._scenario, self._loop.simulated.world
        loaded = scenario.load is not None and scenario.load_on <= t < scenario.load_off
        if loaded != self._loaded:
            self._loaded = loaded
            world.load(loaded)
            if scenario.update == "true":
                self._tell(scenario.load if loaded else None)
        if scenario.pushes:
            world.push(force_at(scenario.pushes, t))
        self.trace.note(t, self._now)
        return self.trace.upright()

    def _tell(self, load: Payload | None) -> None:
        horizon = self._loop.controller.mpc.horizon
        truth = loaded_model(self._loop.simulated.robot, load)
        for joint in range(1, truth.njoints):
            horizon.model.inertias[joint] = truth.inertias[joint]
        horizon.take_inertias()
