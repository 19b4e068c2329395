# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Loads of a simulated RicMonk: recordings like its builders', mass and place are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import ricmonk
import ricmonk_runs

from prime_estimation.robot import Robot

MASS, PLACE = 0.17, 0.11  # kg, m from the shoulder on the arm that is free in odd swings
SAMPLE, SUBSTEPS, SECONDS = 0.006, 6, 3.0
COLUMNS = (
    "meas_time",
    *ricmonk_runs.NAMES,
    *ricmonk_runs.TORQUES,
    "raw_imu_vel",
    "state_machine_flag",
)


def swing(mass: float, odd: bool, phase: float) -> np.ndarray:
    """Columns of a swing; the motors follow sines, nothing turns the hook but gravity."""
    model = Robot.load("ricmonk").model.copy()
    body, place = (3, PLACE) if odd else (1, ricmonk_runs.ARM - PLACE)
    load = pin.Inertia(mass, np.array([0.0, place, 0.0]), np.zeros((3, 3)))
    model.inertias[body] = model.inertias[body] + load
    data, q, v, rows = model.createData(), np.zeros(3), np.zeros(3), []
    noise = np.random.default_rng(int(odd))
    for k in range(round(SECONDS / SAMPLE)):
        t = k * SAMPLE
        target = np.array([0.5 * np.sin(4.0 * t + phase), 1.3 * np.sin(3.0 * t + 1.7 * phase)])
        torque = np.r_[0.0, 20.0 * (target - q[1:]) - np.array([2.0, 0.5]) * v[1:]]
        hook, tail, phi = q + noise.normal(0.0, 5e-4, 3)
        rows.append([t, tail, phi, hook, v[1], *torque[1:], v[0] + v[1], ricmonk_runs.SWING])
        for _ in range(SUBSTEPS):
            v = v + SAMPLE / SUBSTEPS * pin.aba(model, data, q, v, torque)
            q = q + SAMPLE / SUBSTEPS * v
    out = np.array(rows)
    late = out[:, 0] - ricmonk_runs.GYRO_LATE
    out[:, -2] = np.interp(late, out[:, 0], out[:, -2])
    out[:, 1:-1] *= 1.0 if odd else -1.0
    return out


def write(folder: Path, name: str, mass: float) -> ricmonk_runs.Run:
    """A run of two swings, read again."""
    parts = [swing(mass, odd, phase) for odd, phase in ((True, 0.3), (False, 1.0))]
    parts[1][:, 0] += SECONDS + 0.5
    path = folder / f"TVLQR_{name}.csv"
    np.savetxt(path, np.vstack(parts), delimiter=",", header=",".join(COLUMNS), comments="")
    return ricmonk_runs.Run.read(path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ricmonk")
    return write(folder, "2xForward", 0.0), write(folder, "2xForward_170gm_asymmetricLoad", MASS)


def test_runs_are_read(runs):
    unloaded, loaded = runs
    assert (unloaded.load, loaded.load) == (0.0, MASS)
    assert [s.odd for s in loaded.swings] == [True, False]
    assert all(s.recording.time[-1] > 0.9 * SECONDS for s in loaded.swings)
    assert ricmonk.tare_of(loaded, list(runs)) == [unloaded]


def test_load_is_found(runs, monkeypatch):
    """With its place known, and without; not on the tail."""
    monkeypatch.setattr(ricmonk, "HALF", PLACE)
    unloaded, loaded = runs
    known, free = (ricmonk.find(loaded, [unloaded], ricmonk.PLACES[0], k) for k in (True, False))
    assert known.mass == pytest.approx(MASS, abs=0.005)
    assert abs(free.mass - MASS) < min(0.02, 3.0 * free.mass_stddev)
    assert free.distance == pytest.approx(PLACE, abs=0.02)
    assert ricmonk.find(loaded, [unloaded], "tail", True).cost > known.cost


def test_hook_near_a_bar():
    """Beside the bar that it hangs from it is clear, at the next one it is not."""
    at_bars = np.arcsin(0.5 * ricmonk_runs.BARS / ricmonk_runs.ARM)
    arm, free = np.array([0.0, at_bars]), np.array([0.0, np.pi - at_bars])
    np.testing.assert_array_equal(ricmonk_runs.clear_of_bars(arm, free), [True, False])
