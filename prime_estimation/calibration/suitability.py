# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Suitability of a recording for calibration: it must move, in a world whose z points up."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from ..errors import DataError
from ..recordings.plausibility import no_specific_force
from ..robot import Robot
from .leg_factors import leg_terms
from .leg_kinematics import Leg
from .offsets import Offsets
from .recording import KinematicRecording
from .rotations import rotate, transpose
from .trajectory import initial_offsets, turning_rates

# rad/s, root mean square about the second axis: a robot that stands has the noise of its gyro
LEAST_TURNING = 0.02
LEAST_DERIVATIVE = 0.5  # slope of the positions' derivatives over the rates; noise makes it less
LEAST_STEP = 0.05  # m, by which two feet that stand come neither nearer nor farther
LEAST_AGREEMENT = 0.7  # slope of the tracked body's turning over the gyro's
CLEARLY_BETTER = 0.15  # more of that slope by inverse rotations, which fit right poses no better
ROUNDING = 1e-6  # of that slope
LARGEST_TILT = np.deg2rad(15.0)  # of gravity in the world of the motion capture


def check_motion(recording: KinematicRecording) -> None:
    """DataError where the base does not turn about two axes: nothing tells the offsets then."""
    turning = recording.gyro - recording.gyro.mean(axis=0)
    second = np.linalg.svd(turning, compute_uv=False)[1] / np.sqrt(len(turning))
    if second < LEAST_TURNING:
        raise DataError(
            f"{recording.name}: the base hardly turns ({second:.3f} rad/s about its second axis); "
            "calibration needs a recording that walks, turns, and pitches or rolls",
            second,
        )


def check_units(recording: KinematicRecording) -> None:
    """DataError where the accelerometer, or joint rates beside positions, are in another unit.

    Encoders that are stuck have no derivative at all.
    """
    felt = np.linalg.norm(recording.imu.velocity, axis=1) / recording.step
    if doubt := no_specific_force(float(felt.mean())):
        raise DataError(f"{recording.name}: {doubt}", felt)
    derivative = np.diff(recording.angle, axis=0) / recording.step
    rate = 0.5 * (recording.rate[1:] + recording.rate[:-1])
    slope = float(np.sum(derivative * rate) / max(np.sum(rate * rate), 1e-12))
    if not LEAST_DERIVATIVE < slope < 1.0 / LEAST_DERIVATIVE:
        raise DataError(
            f"{recording.name}: joint positions change by {100.0 * slope:.3g} % of what their "
            "rates say: both must be read, in rad and rad/s",
            slope,
        )


def check_turning(recording: KinematicRecording, offsets: Offsets) -> None:
    """DataError where the tracked body does not turn as the gyro does: nothing ties one to another.

    By the slope of its rates over the gyro's, which noise of the poses leaves at one.

    Args:
        recording: its signals.
        offsets: with the rotation of the tracked body that fits its turning.
    """
    slope = _turning(recording, offsets)
    said = f"turns by {100.0 * max(slope, 0.0):.0f} % of what the gyro says"
    inverse = replace(recording.mocap, rotation=transpose(recording.mocap.rotation))
    other = replace(recording, mocap=inverse)
    if _turning(other, initial_offsets(other, offsets)) > slope + CLEARLY_BETTER:
        # which of the two cannot be told: one is the other, turned by half a turn
        said += (
            ", and its inverse as the gyro does: quaternions in the order (w, x, y, z) where "
            "(x, y, z, w) is meant, or poses of the world in the body"
        )
    elif slope < ROUNDING:
        said = "never turns, as of motion capture that tracks a point; calibration needs a body's"
    elif slope < LEAST_AGREEMENT:
        said += (
            ": its stamps are of another clock (`prime doctor --bag` tells delays), or the "
            "recording hardly moves"
        )
    else:
        return
    raise DataError(f"{recording.name}: the tracked body {said}", slope)


def _turning(recording: KinematicRecording, offsets: Offsets) -> float:
    """Slope of the tracked body's turning over the gyro's."""
    base, body = turning_rates(recording, offsets)
    return float(np.sum(base * (body @ offsets.mocap_rotation.T)) / np.sum(base * base))


def check_frame(recording: KinematicRecording, offsets: Offsets) -> None:
    """DataError where the mean specific force does not point along z of the motion capture.

    Args:
        recording: its signals.
        offsets: with the rotation of the tracked body that fits its turning.
    """
    m, step = recording.mocap, recording.step
    inside = m.node < len(recording) - 1
    body = m.rotation[inside] @ offsets.mocap_rotation.T @ offsets.imu_rotation
    force = rotate(body, recording.imu.velocity[m.node[inside]] / step).mean(axis=0)
    tilt = float(np.arccos(np.clip(force[2] / np.linalg.norm(force), -1.0, 1.0)))
    if tilt > LARGEST_TILT:
        along = "xyz"[int(np.abs(force).argmax())]
        sign = "-" if force["xyz".index(along)] < 0.0 else ""
        raise DataError(
            f"{recording.name}: in the world of the motion capture 'up' is {sign}{along}, "
            f"{np.rad2deg(tilt):.0f} degrees from z; turn its poses so that z points up, with "
            "right-handed axes",
            force,
        )


def loses_contact(recording: KinematicRecording, robot: Robot, offsets: Offsets) -> bool:
    """A foot is ever put elsewhere, or all are in the air.

    By the distances between feet, which stay as they are while all stand, however the base moves
    and whatever is tracked; flags take a foot that carries little for lifted.
    """
    if not recording.stance.any(axis=1).all():
        return True
    feet = [
        leg_terms(Leg(robot, foot), i, recording, offsets).point
        for i, foot in enumerate(robot.feet)
    ]
    # without single readings that are wrong
    spreads = (
        np.ptp(np.percentile(np.linalg.norm(a - b, axis=1), [1.0, 99.0]))
        for a, b in combinations(feet, 2)
    )
    return max(spreads, default=np.inf) > LEAST_STEP


def check_noise(recordings: list[KinematicRecording], robot: Robot, offsets: Offsets) -> None:
    """DataError where no recording loses a contact: nothing slips, and nothing lands."""
    if not any(loses_contact(r, robot, offsets) for r in recordings):
        names = ", ".join(r.name for r in recordings)
        raise DataError(
            f"{names}: no foot ever leaves the ground, and how feet slip and land cannot be told "
            "from that; leave noise out of --what, or add a recording that walks",
            names,
        )
