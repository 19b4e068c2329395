# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What a recording lacks of what the yardstick filter needs, made of what it has.

With all of the recording at hand, which is more than a filter that runs live would have: rates by
derivatives that look ahead, thresholds of foot sensors from the whole range of their readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from scipy.signal import savgol_filter

from prime_estimation.errors import DataError
from prime_estimation.robot import Robot
from prime_estimation.sensors.contact_flags import FlagSample
from prime_estimation.sensors.foot_force import FootForceSample
from prime_estimation.types import CommandSample, JointSample, Sample

RATE_SPAN = 0.0175  # s of positions, of whose parabola a joint rate is the slope
# share of the range of a foot sensor above which a foot stands, below which it does not any more
STANDS, LIFTED = 0.5, 0.35
RANGE = (5.0, 95.0)  # percentiles of its readings that are the range


def complete(samples: Iterable[Sample], robot: Robot) -> list[Sample]:
    """Samples whose joints have rate and torque, or rate and contact flags beside them.

    Commanded torque stands in for measured torque; foot force sensors for flags.

    Raises:
        DataError: neither torque nor flags nor foot forces tell which feet stand.
    """
    samples = list(samples)
    joints = [s for s in samples if isinstance(s, JointSample)]
    rates, torques = _rates(joints), _torques(joints, samples, robot)
    forces = [s for s in samples if isinstance(s, FootForceSample)]
    flagged = any(isinstance(s, FlagSample) for s in samples)
    if torques is None and not flagged and not forces:
        raise DataError("nothing tells contact: no torque, no contact flags, no foot force", None)
    of_joint = {
        id(s): replace(s, velocity=rates[i], effort=None if torques is None else torques[i])
        for i, s in enumerate(joints)
    }
    stands = {} if flagged or torques is not None else _stands(forces)
    kept = [of_joint.get(id(s), stands.get(id(s), s)) for s in samples]
    if torques is not None:  # they tell contact better than flags
        kept = [s for s in kept if not isinstance(s, FlagSample)]
    return [s for s in kept if not isinstance(s, CommandSample | FootForceSample)]


def _rates(joints: Sequence[JointSample]) -> np.ndarray:
    """Joint rates (n, nj) [rad/s], measured or slopes of a parabola through `RATE_SPAN`."""
    if all(s.velocity is not None for s in joints):
        return np.array([s.velocity for s in joints])
    t = np.array([s.stamp_ns for s in joints]) * 1e-9
    position = np.array([s.position for s in joints])
    step = float(np.median(np.diff(t)))
    grid = np.arange(t[0], t[-1], step)
    regular = np.stack([np.interp(grid, t, column) for column in position.T], axis=1)
    width = 2 * max(1, round(0.5 * RATE_SPAN / step)) + 1
    slopes = savgol_filter(regular, width, 2, deriv=1, delta=step, axis=0)
    return np.stack([np.interp(t, grid, column) for column in slopes.T], axis=1)


def _torques(
    joints: Sequence[JointSample], samples: Iterable[Sample], robot: Robot
) -> np.ndarray | None:
    """Joint torques (n, nj) [Nm] of true size: measured, or the commands in force; None: none."""
    if all(s.effort is not None for s in joints):
        return robot.motor_torque(np.array([s.effort for s in joints]))
    commands = [s for s in samples if isinstance(s, CommandSample)]
    if not commands:
        return None
    t = np.array([s.stamp_ns for s in commands])
    held = np.searchsorted(t, [s.stamp_ns for s in joints], side="right") - 1
    effort = np.array([s.effort for s in commands])
    return robot.motor_torque(effort[np.clip(held, 0, None)])


def _stands(forces: Sequence[FootForceSample]) -> dict[int, FlagSample]:
    """Flags in place of readings of foot sensors, with hysteresis, foot by foot."""
    readings = np.array([s.force for s in forces])
    low, high = np.percentile(readings, RANGE, axis=0)
    share = (readings - low) / np.maximum(high - low, 1e-9)
    flags, now = {}, np.zeros(readings.shape[1], bool)
    for sample, s in zip(forces, share):
        now = s > np.where(now, LIFTED, STANDS)
        flags[id(sample)] = FlagSample(sample.stamp_ns, now.astype(float))
    return flags
