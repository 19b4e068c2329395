# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Standing feet, as motion capture and gyro see them.

Leg forces alone may miss that a foot has lifted, and do not tell that a sole rolls over an edge.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.ndimage import uniform_filter1d

from ..config.policies import SOLE
from ..contact.detection import ContactFlags
from ..errors import DataError
from .leg_factors import leg_measurement, leg_terms
from .leg_kinematics import Leg
from .offsets import Offsets
from .recording import LANDING, LIFTING, KinematicRecording
from .trajectory import Trajectory

MOVING = 1.5 * ContactFlags.SLOW  # m/s: no slip, and more than offsets and noise make of standing
SMOOTHING = 5  # nodes over which the turning of a sole is averaged: joint rates are noise
NEAR = 2  # nodes to the next pose within which motion capture tells a velocity


def without_moving_feet(
    recording: KinematicRecording, legs: list[Leg], x: Trajectory, offsets: Offsets
) -> KinematicRecording:
    """The recording in which a foot does not stand while, or shortly before and after, it moves.

    A foot that is taken to stand through its swing pulls the whole trajectory: tails that are heavy
    weigh single rows, not half of a leg's. A sole moves also while it turns, by gyro and joint
    rates: it rolls over an edge then.

    Args:
        recording: its signals.
        legs: of the robot.
        x: trajectory of the motion capture.
        offsets: at which the feet's velocities are computed.

    Raises:
        DataError: a sole never lies.
    """
    stance = recording.stance.copy()
    poses = np.zeros(len(recording), bool)
    for shift in range(-NEAR, NEAR + 1):
        poses[np.clip(recording.mocap.node + shift, 0, len(poses) - 1)] = True
    for i, leg in enumerate(legs):
        seen = leg_measurement(x, leg, i, leg_terms(leg, i, recording, offsets), recording)
        moving = poses & (np.linalg.norm(seen.residual[:, 3:6], axis=1) > MOVING)
        if leg.flat:
            turning = uniform_filter1d(seen.residual[:, 6:], SMOOTHING, axis=0)
            moving |= np.linalg.norm(turning, axis=1) > SOLE.still
        for shift in range(-LIFTING, LANDING + 1):
            at = np.flatnonzero(moving) + shift
            stance[at[(at >= 0) & (at < len(stance))], i] = False
        if leg.flat and not stance[:, i].any():
            raise DataError(
                f"{recording.name}: {leg.name} never lies still on its sole; calibration needs a "
                "recording that steps on whole soles",
                leg.name,
            )
    return replace(recording, stance=stance)
