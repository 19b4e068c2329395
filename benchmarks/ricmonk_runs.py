# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Swings of RicMonk on one hook, from its builders' recordings.

dfki-ric-underactuated-lab/ricmonk, results/*/measured.csv, BSD-3-Clause. It hangs on one arm,
swings, hooks the other arm in and lets the first one go: the arms change places from swing to
swing, and the recording turns all signs in every second one. The arms are mirror images, so that
one model serves both. A run without load has neither a mass nor `Load` nor `disturbance` in its
name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prime_estimation.fixed_base import JointRecording

ARM, BARS = 0.31400886, 0.34  # m: hook to shoulder (URDF), between two bars
CLEAR = 0.08  # m: nearer to a bar the free hook may touch it
SETTLED = 0.05  # s: the first samples of a swing repeat what was read before
SWING = 1  # of state_machine_flag; 0: the hook is pulled off its bar
PAUSE = 0.03  # s
GYRO_LATE = 0.005  # s, behind the encoders: residuals of runs without load are least at 4 to 6 ms
NAMES = ("tail_meas_Ang_pos", "phi_meas_Ang_pos", "arm1_meas_Ang_pos", "tail_meas_Ang_vel")
TORQUES = ("tail_meas_tau", "phi_meas_tau")


@dataclass(frozen=True)
class Swing:
    """A swing on one hook; in odd ones (first, third) it hangs on the arm that it began with."""

    odd: bool
    recording: JointRecording


@dataclass(frozen=True)
class Run:
    """A recording.

    Attributes:
        load: mass in the name [kg]; zero without load, None where a load has no mass.
    """

    name: str
    load: float | None
    backward: bool
    swings: list[Swing]

    @classmethod
    def read(cls, path: Path) -> Run:
        """From a CSV named as its folder in the repository is."""
        name = path.stem.removeprefix("TVLQR_")
        mass = re.search(r"(\d+)gm", name)
        load = 1e-3 * float(mass[1]) if mass else None
        if not re.search("gm|Load|disturbance", name):
            load = 0.0
        with path.open() as file:
            head = file.readline().strip().split(",")
        columns = dict(zip(head, np.genfromtxt(path, delimiter=",", skip_header=1).T))
        parts = swings(columns["meas_time"], columns["state_machine_flag"])
        of = [
            Swing(k % 2 == 0, hanging({n: c[part] for n, c in columns.items()}, k % 2 == 0))
            for k, part in enumerate(parts)
        ]
        return cls(name, load, bool(re.search("Backward|ZB|FB", name)), of)


def swings(time: np.ndarray, flag: np.ndarray) -> list[slice]:
    """Spans between changes of the flag, and pauses, in which it swings."""
    cuts = np.flatnonzero((np.diff(flag) != 0) | (np.diff(time) > PAUSE)) + 1
    spans = zip(np.r_[0, cuts], np.r_[cuts, len(time)])
    return [slice(first, last) for first, last in spans if flag[first] == SWING]


def hanging(columns: dict[str, np.ndarray], odd: bool) -> JointRecording:
    """The longest part of a swing with the free hook clear of the bars, in the model's signs.

    The angle of the arm that it hangs on is what the IMU's filter makes of the tail's, off by 20 to
    30 mrad while it swings; its rate is the gyroscope's less the encoder's.
    """
    t = columns["meas_time"]
    tail, phi, arm, tail_rate = (columns[name] for name in NAMES)
    gyro = np.interp(t + GYRO_LATE, t, columns["raw_imu_vel"])
    nothing = np.full_like(t, np.nan)
    part = _longest(clear_of_bars(arm, arm + tail + phi) & (t > t[0] + SETTLED))
    sign = 1.0 if odd else -1.0
    position, torque, rate = (
        sign * np.column_stack(c)[part]
        for c in (
            (arm, tail, phi),
            (0.0 * t, *(columns[name] for name in TORQUES)),
            (gyro - tail_rate, nothing, nothing),
        )
    )
    return JointRecording(t[part] - t[part.start], position, torque, rate)


def clear_of_bars(arm: np.ndarray, free_arm: np.ndarray) -> np.ndarray:
    """Whether the free hook is clear of the bars beside it; angles of the arms from down [rad]."""
    along = ARM * (np.sin(arm) + np.sin(free_arm))
    below = ARM * (np.cos(arm) + np.cos(free_arm))
    return np.hypot(np.abs(along) - BARS, below) > CLEAR


def _longest(chosen: np.ndarray) -> slice:
    edges = np.flatnonzero(np.diff(np.r_[False, chosen, False].astype(int)))
    spans = list(zip(edges[::2], edges[1::2]))
    return slice(*max(spans, key=lambda span: span[1] - span[0]))
