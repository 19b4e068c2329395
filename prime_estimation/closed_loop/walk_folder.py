# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Run folder of a walk in closed loop: estimate, figure, figures of merit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..config.parameters import Config
from ..control.motion_types import VelocityCommand
from ..io.trajectory import RunFolder, command_line
from ..recordings.estimate_writer import EstimateWriter
from ..robot import Robot
from ..simulate import Ground, Payload
from ..simulate.model import loaded_model
from ..types import Estimate
from ..viz.walk_figure import save_walks
from .scenario import Run, Scenario, play

SETTLED = 1.0  # s after a change, from which on the posture is judged
KNOWN = 0.4  # s after it, from which on the mass is judged


def walk(
    send: Callable[[Estimate], None],
    told: dict,
    out: str,
    realtime: bool = True,
    progress: Callable[[float], None] = lambda fraction: None,
) -> dict:
    """Play the scenario, and again without the update; write the run folder, judge.

    Args:
        send: called with every estimate.
        told: the arguments of the verb.
        out: where the run folder is made.
        realtime: wait for the clock.
        progress: called with the fraction done.
    """
    scenario = _scenario(told)
    config = Config.load(told["robot"])
    robot = Robot(config.robot)
    folder = RunFolder(out, f"{config.robot.name}_walk")
    began, newest = time.perf_counter(), None
    runs = 2 if scenario.update == "on" else 1

    def watch(loop, t: float) -> None:
        nonlocal newest
        if loop.estimate is newest:
            return
        newest = loop.estimate
        writer.add(newest)
        folder.add_pose(newest)
        send(newest)
        progress(t / scenario.duration / runs)
        if realtime:
            time.sleep(max(0.0, began + t - time.perf_counter()))

    with folder.if_completed():
        with EstimateWriter(folder.path / "estimate.mcap", robot, config) as writer:
            played = {scenario.update: play(scenario, watch=watch)}
        if scenario.update == "on":
            played["off"] = play(
                replace(scenario, update="off"),
                watch=lambda loop, t: progress(0.5 + 0.5 * t / scenario.duration),
            )
        figure = _draw(folder.path / "walk.png", scenario, told, played)
        result = {"folder": str(folder.path), "figure": str(figure)}
        result |= _judged(scenario, played[scenario.update])
        if "off" in played and scenario.update == "on":
            result["without_update"] = _judged(scenario, played["off"])
        folder.write(config.to_dict(), _command(told), result)
    return result


def check_scene(told: dict) -> None:
    """ConfigError where the arguments of `walk` describe no ground or load that there can be."""
    load = _scenario(told).load
    loaded_model(Robot.load(told["robot"]), load)


def _command(told: Mapping) -> str:
    """What was asked for, with what was left to the defaults, so that it can be done again."""
    given = {k: v for k, v in told.items() if k != "update" and v != float("inf")}
    options = {"headless": True, **given, "no-update": told["update"] == "off"}
    return command_line("walk", options)


def _draw(path: Path, scenario: Scenario, told: dict, played: Mapping[str, Run]) -> Path:
    name = Config.load(told["robot"]).robot.name
    title = f"{name}, {scenario.gait} at {told['velocity']:g} m/s on its own estimate"
    traces = {update: one.trace for update, one in played.items()}
    shaded = scenario.load_on, scenario.load_off
    return save_walks(path, traces, shaded, 1.0, f"{title}; {told['payload']:g} kg while shaded")


def _scenario(told: dict) -> Scenario:
    load = Payload(told["payload"], tuple(told["at"]), told["link"]) if told["payload"] else None
    return Scenario(
        told["robot"],
        told["gait"],
        lambda t: VelocityCommand(vx=told["velocity"], yaw_rate=told["turn"]),
        told["duration"],
        Ground(bump_height=told["bumps"]),
        load=load,
        load_on=told["on"],
        load_off=told["off"],
        update=told["update"],
        seed=told["seed"],
    )


def _judged(scenario: Scenario, played: Run) -> dict:
    """Figures of merit before and under the load."""
    trace = played.trace
    p50, p99 = np.percentile(1e3 * played.solve_times, [50, 99])
    out = {
        "fell": played.fell,
        "stopped": played.stopped,
        "seconds": float(trace.t[-1]),
        "solve_ms": {"p50": float(p50), "p99": float(p99)},
        "load_kg": scenario.load.mass if scenario.load else 0.0,
    }
    end = min(scenario.load_off, float(trace.t[-1]))
    if played.fell or played.stopped or end <= scenario.load_on + SETTLED:
        return out  # of the loaded robot nothing is known
    known = (trace.t > scenario.load_on + KNOWN) & (trace.t < end)
    last = np.flatnonzero(known)[-1]
    parts = {
        "before": trace.scores(scenario.load_on - SETTLED, scenario.load_on),
        "sagging": trace.scores(scenario.load_on, scenario.load_on + SETTLED),
        "loaded": trace.scores(scenario.load_on + SETTLED, end),
    }
    return out | {
        "mass_kg": float(trace.mass[last]),
        "mass_stddev_kg": float(trace.mass_stddev[last]),
        "mass_true_kg": float(trace.true_mass[last]),
        "mass_error_worst": float(
            np.abs(trace.mass[known] - trace.true_mass[known]).max() / trace.true_mass[last]
        ),
        **{name: vars(scores) for name, scores in parts.items()},
    }
