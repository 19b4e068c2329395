# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise levels of the moving-horizon estimator come back from where they were put wrongly."""

import json

import numpy as np
import pytest

from prime_estimation.calibration.window_noise import CalibratedLevels, _held, _step, _within
from prime_estimation.calibration.window_outcome import WindowOutcome
from prime_estimation.calibration.window_segment import ENOUGH, LevelStatistics, kept, telling
from prime_estimation.cli import main
from prime_estimation.config.parameters import Config, NoiseConfig

TRUE = {"encoder": 0.002, "joint_velocity": 0.05, "joint_torque": 0.5}  # of the simulated sensors


@pytest.mark.slow
@pytest.mark.parametrize("factor", [10.0, 0.1])
def test_levels_wrong_by_ten_come_back(recorded_runs, tmp_path, factor):
    wrong = tmp_path / "wrong.yaml"
    levels = "".join(f"  {name}: {factor * level:g}\n" for name, level in TRUE.items())
    wrong.write_text(f"noise:\n{levels}")
    command = ["calibrate", str(recorded_runs / "go2_nominal"), "--robot", "go2", "--to", "4"]
    command += ["--config", str(wrong), "--estimator", "window", "--workers", "1"]
    command += ["--iterations", "20", "--out", str(tmp_path / "out")]
    assert main(command) == 0
    found = Config.load(str(tmp_path / "out" / "go2.yaml")).noise
    for name, level in TRUE.items():
        assert level / 1.5 < getattr(found, name) < 1.5 * level, name
    shipped = Config.load("go2").noise
    held = ("base_force", "base_moment", "contact_normal", "accelerometer_model", "gyro")
    assert all(getattr(found, name) == getattr(shipped, name) for name in held)
    rows = json.loads((tmp_path / "out" / "calibration.json").read_text())["levels"]
    told = {r["name"]: r["observable"] for r in rows}
    assert all(told[name] for name in TRUE) and not told["accelerometer"]


def test_offsets_are_not_the_windows(recorded_runs, tmp_path, capfd):
    command = ["calibrate", str(recorded_runs / "go2_nominal"), "--robot", "go2", "--what", "feet"]
    assert main([*command, "--estimator", "window", "--out", str(tmp_path)]) == 2
    told = capfd.readouterr().err
    assert "--estimator window finds noise" in told and told.count("\n") == 1


def test_squares_that_weights_of_outliers_leave():
    """Against a draw of Gaussians: a row alone, a group of three, and a row without tails."""
    rng, seen = np.random.default_rng(0), 0.6
    dof, together = np.array([4.0, 2.0, np.inf]), np.array([1.0, 3.0, 1.0])
    found = kept(np.full((1, 3), seen), dof, together)[0]
    for share, nu, d in zip(found[:2], dof, together):
        square = seen * rng.chisquare(d, 200_000)
        expected = np.mean(np.minimum(1.0, (nu + d) / (nu + square)) * square) / (seen * d)
        assert share == pytest.approx(expected, abs=5e-3)
    assert found[2] == 1.0


def test_rows_that_tell_a_level():
    """Those where it is most of the variance, the quieter half of them; else all."""
    share = np.linspace(0.0, 1.0, 4 * ENOUGH).reshape(-1, 2)
    chosen = telling(share, np.ones(share.shape, bool))
    assert chosen.sum() == ENOUGH and share[chosen].min() > 0.74
    assert telling(0.4 * share, np.ones(share.shape, bool)).sum() == share.size - 1
    assert not telling(share, np.zeros(share.shape, bool)).any()


def statistics(**levels: tuple[float, float, float]) -> LevelStatistics:
    """Of levels with (squares over what is expected, seen, share) in a thousand rows each."""
    rows = 1e3
    ratio, seen, share = (np.array(column) for column in zip(*levels.values()))
    expected = rows * share * seen
    information = np.diag(rows * share**2 * seen**2)
    return LevelStatistics(
        ratio * expected, expected, information, rows * share, np.full(len(levels), rows)
    )


def test_steps_of_levels():
    """To where squares are what is expected, no further than what is told."""
    shipped = {"encoder": 1.0, "gyro": 2.0, "base_force": 3.0}
    said = statistics(encoder=(1.21, 0.9, 0.95), gyro=(0.5, 0.9, 0.5), base_force=(0.5, 0.9, 0.95))
    # a level that is half of its rows' variance is not lowered, and a disturbance only grows
    assert _step(said, shipped, shipped) == pytest.approx([np.log(1.1), 0.0, 0.0], abs=1e-6)
    too_large = statistics(
        encoder=(9.0, 0.9, 0.95), gyro=(1.3, 0.9, 0.5), base_force=(0.5, 0.9, 0.95)
    )
    grown = {"encoder": 1.0, "gyro": 2.0, "base_force": 4.0}
    step = _step(too_large, grown, shipped)
    assert step == pytest.approx([np.log(1.6), 0.5 * np.log(1.3), np.log(0.75)], abs=3e-3)
    # where the data have nothing against a level, it is drawn to the shipped one
    fits = statistics(**dict.fromkeys(shipped, (1.0, 0.9, 0.95)))
    assert (_step(fits, {k: 2.0 * s for k, s in shipped.items()}, shipped) < 0.0).all()
    assert (_step(fits, {k: 0.5 * s for k, s in shipped.items()}, shipped) > 0.0).all()


def test_levels_stay_where_they_are_declared():
    assert _within("encoder", 0.01) == 0.01
    bounds = NoiseConfig.__dataclass_fields__["encoder"].metadata
    assert (_within("encoder", 1e-99), _within("encoder", 1e99)) == (bounds["low"], bounds["high"])


def test_intervals_of_levels_are_those_of_their_logarithms():
    config = Config.load("go2")
    levels = CalibratedLevels({"gyro": 0.01}, {"gyro": 0.02}, {"gyro": 0.1}, [], True)
    (row,) = WindowOutcome(None, config, "go2", [], [], levels).rows()
    low, high = row["interval"]
    assert low * high == pytest.approx(0.02**2) and high == pytest.approx(
        0.02 * np.exp(0.196), 1e-3
    )
    assert (row["before"], row["after"], row["observable"]) == (0.01, 0.02, True)


def test_a_wide_interval_is_not_observable():
    found = CalibratedLevels({}, {}, {"gyro": 0.5, "encoder": 0.01}, [], True)
    assert found.observable("encoder") and not found.observable("gyro")


def test_a_level_that_is_only_known_to_be_no_larger_is_not_observable():
    """Squares three quarters of what is expected, of which the others tell a seventh."""
    rows, share, seen = 400.0, 0.95, 0.15
    square = 0.75 * seen
    n = rows * share
    held = LevelStatistics(
        np.array([n * square, n * 0.9]),
        np.array([n * seen, n * 0.9]),
        np.diag([n * share * seen**2, n * share * 0.9**2]),
        np.array([n, n]),
        np.array([rows, rows]),
    )
    assert _held(held).tolist() == [True, False]
    found = CalibratedLevels({}, {}, {"gyro": 0.1, "encoder": 0.01}, [], True, frozenset({"gyro"}))
    assert found.observable("encoder") and not found.observable("gyro")
