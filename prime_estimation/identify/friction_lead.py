# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Lead of dry friction: the one by which a recording fits best.

Coulomb's friction turns with the joint. Friction that is a damped constraint, as simulators have
it, turns before: by `d t/2 = 9.5 ms` with the defaults of MuJoCo (time constant t, impedance d).
Dry friction comes out too small then. The cost has one minimum in the lead L, but Gauss-Newton
steps miss it: `F s(r + L a)` turns within hundredths of a second, and the states adapt to whatever
L there is. So L is found by solving a part of the recording with several, from the same guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..robot import Robot
from .full_information import ForwardPass
from .solution import FEW, Solution, approach

LEADS = (0.0, 0.005, 0.010, 0.015)  # s, that are tried
NODES = 1000  # of the part of the recording
CLEAR = 20.0  # fall of the cost that a lead must bring


def with_lead(robot: Robot, lead: float) -> Robot:
    """The robot, with dry friction that turns so much before its joints."""
    return Robot(replace(robot.config, friction_lead=float(lead)))


def fitting_robot(
    passage: ForwardPass, since_ns: int, noise: dict, stop: Callable[[], bool]
) -> Robot:
    """The robot with the lead of dry friction that fits best; as it is, where none fits clearly.

    Nor is one looked for where its YAML has one.
    """
    robot, costs = passage.estimator.robot, []
    if robot.friction_lead.any():
        return robot
    for lead in LEADS:
        if stop():
            return robot
        window = passage.window(since_ns, noise, with_lead(robot, lead), NODES)
        approach(Solution(window), FEW)
        costs.append(window.solver.cost)
    return robot if costs[0] - min(costs) < CLEAR else with_lead(robot, _lowest(np.array(costs)))


def _lowest(costs: np.ndarray) -> float:
    """Lead at the lowest point of the parabola through the lowest cost and its neighbours."""
    middle = int(np.clip(np.argmin(costs), 1, len(LEADS) - 2))
    near = slice(middle - 1, middle + 2)
    curvature, slope, _ = np.polyfit(LEADS[near], costs[near], 2)
    lowest = -0.5 * slope / curvature if curvature > 0.0 else LEADS[int(np.argmin(costs))]
    return float(np.clip(lowest, LEADS[0], LEADS[-1]))
