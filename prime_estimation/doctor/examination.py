# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""All checks on one recording, in an order in which none is misled by what an earlier one finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..config.parameters import Config
from ..errors import DataError
from ..robot import Robot
from ..robot.checks import check_configuration
from .case import Case, Verdict
from .checks import (
    arm,
    delays,
    feet,
    imu,
    imu_orientation,
    levels,
    mechanics,
    mocap,
    mocap_velocity,
    presence,
    rates,
    stuck,
    timing,
    torques,
    units,
    weight,
)
from .clocks import on_one_clock
from .finding import FAULT, UNKNOWN, Finding
from .recording import Recording
from .signals import signals_of

_SIGNALS = "signals"  # finding that no motion could be looked at

CHECKS: tuple[Callable[[Case], Verdict], ...] = (
    presence.examine,
    timing.examine,
    units.examine,
    rates.examine,
    stuck.examine,
    mechanics.examine,
    arm.examine,
    delays.examine,
    mocap.examine,
    mocap_velocity.examine,
    feet.examine,
    imu.examine,
    imu_orientation.examine,
    weight.examine,
    torques.examine,
    levels.examine,
)


@dataclass(frozen=True)
class Examination:
    """Findings about a recording, in the order of the checks."""

    findings: list[Finding]

    @property
    def complete(self) -> bool:
        """Nothing was left that could not be told."""
        return all(f.severity != UNKNOWN for f in self.findings)

    @property
    def faults(self) -> list[Finding]:
        """Findings that make estimates wrong."""
        return [f for f in self.findings if f.severity == FAULT]

    @property
    def void(self) -> str:
        """Why nothing was examined that could be wrong; empty where something was, or a fault is.

        Without joint states and IMU at the same times there is no motion to compare them by: that
        no check found a fault then says nothing.
        """
        reason = next((f.text for f in self.findings if f.name == _SIGNALS), "")
        return "" if self.faults else reason


def examine(
    recording: Recording,
    robot: Robot,
    config: Config,
    progress: Callable[[float], None] = lambda fraction: None,
    checks: Sequence[Callable[[Case], Verdict]] = CHECKS,
) -> Examination:
    """Examine a recording of a robot.

    Args:
        recording: sensor streams, 10 s or more of motion.
        robot: its model.
        config: settings that are compared with what the sensors show.
        progress: called with the fraction that is done.
        checks: which ones, in which order.
    """
    check_configuration(robot, config)
    recording, findings = on_one_clock(recording)
    try:
        signals = signals_of(recording, robot)
    except DataError as error:
        signals = None
        findings.append(Finding(_SIGNALS, UNKNOWN, str(error)))
    case = Case(recording, robot, config, signals)
    for number, check in enumerate(checks):
        case, found = check(case)
        findings += found
        progress((number + 1) / len(checks))
    return Examination(findings)
