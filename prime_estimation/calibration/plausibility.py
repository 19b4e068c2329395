# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Result of a calibration: it must fit its own noise, and be possible at all."""

from __future__ import annotations

import numpy as np

from ..errors import DataError
from ..robot import Robot
from .single import RunCalibration

# of the poses whose noise had to be taken for twice the stated or more: recordings that are right
# leave 0.01 and less, simulated and real, a mirrored world 0.24 and more
MOST_OUTLIERS = 0.05
# of `RunCalibration.lasting`, which tells what does not fit from poses that are noisier than
# stated: those have 0.4 to 1.7, positions that are 10 and 50 ms late 3.4 and 7.5
LONGEST_LASTING = 2.0
# of the prior's standard deviations of a length: a foot, or the IMU, 0.3 m from its place, and a
# tracked body 3 m away, are on no robot
IMPOSSIBLE = 10.0


def check_run(run: RunCalibration, robot: Robot) -> None:
    """DataError where motion capture does not fit legs and IMU, or what fits it cannot be."""
    share = run.result.outliers.get("mocap", 0.0)
    if noisy(run) and run.lasting > LONGEST_LASTING:
        raise DataError(
            f"{run.name}: motion capture does not fit legs and IMU: {100.0 * share:.0f} % of its "
            "poses are beyond their noise; are its axes right-handed, its positions in metres, is "
            "its body on this robot, and are its stamps of the same clock (`prime doctor --bag`)?",
            run.result.outliers,
        )
    _check_places(run, robot)


def noisy(run: RunCalibration) -> bool:
    """Whether the poses of motion capture are noisier than the configuration says."""
    return run.result.outliers.get("mocap", 0.0) > MOST_OUTLIERS


def _check_places(run: RunCalibration, robot: Robot) -> None:
    names = [run.nominal.names(robot)[column] for column in run.free]
    far = [
        (abs(value) * np.sqrt(prior), name, value)
        for (name, unit), value, prior in zip(names, run.deviation, run.prior)
        if unit == "m"
    ]
    worst, name, value = max(far, default=(0.0, "", 0.0))
    if worst > IMPOSSIBLE:
        raise DataError(
            f"{run.name}: {name} comes out {value:.2f} m from its place, which cannot be: are "
            "positions in metres, joints in rad and in the robot's order, and is the tracked body "
            "on this robot?",
            run.deviation,
        )
