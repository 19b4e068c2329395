# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Without torque on any ground: nothing weighs the robot, nor says which feet carry it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.added_sensors import vertical_forces
from helpers.runs import measurements, tilt_errors, velocity_errors

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.load_by_motion import LoadByMotion
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.sensors.contact_flags import NAME as FLAGS
from prime_estimation.sensors.sensor import Aligned
from prime_estimation.types import Activity

SECONDS = 3.0


def estimates_of(bag, name: str, seconds: float, mocap: bool = False, change=lambda m: m) -> list:
    """Estimates without torque, of changed readings."""
    config = Config.load(name)
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, mocap)
    ms = measurements(bag, robot, config, seconds, mocap=mocap, effort=False)
    return [e for m in ms if (e := estimator.update(change(m))) is not None]


def stated(estimates) -> np.ndarray:
    """Deviations of the same."""
    return np.sqrt([np.diag(e.twist_covariance)[:3] for e in estimates])


@pytest.mark.slow
def test_base_is_where_motion_capture_sees_it(tmp_path):
    """A foot on a bump of less than 12 mm hung in the air, and the base fell onto the others."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    ground = simulate.Ground(bump_height=0.035)
    load = simulate.Payload(3.0, (0.05, 0.02, 0.1))
    run = simulate.run(
        "go2", "trot", SECONDS, tmp_path / "run", payload=load, terrain=ground, seed=5, start=1.0
    )
    out = estimates_of(run, "go2", SECONDS, mocap=True)[50:]
    error = velocity_errors(run, out)
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.015
    assert np.mean(np.abs(error) < 1.96 * stated(out)) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "speed", "tilt"),
    [
        ("go2_stairs_payload3", 0.018, 0.015),  # it flew: 1.2 m/s
        ("go2_slope12_payload3", 0.015, 0.015),  # likewise, 2 m/s
        ("go2_rough11_payload3", 0.012, 0.02),  # 0.33 m/s, 80 mrad
        ("go1_bumps_payload3", 0.018, 0.012),  # 0.11 m/s, 22 mrad
        ("g1_bumps_payload29", 0.03, 0.03),  # 0.05 m/s, 32 mrad
    ],
)
def test_any_ground_without_motion_capture(run, speed, tilt, recorded_runs):
    """Feet that come down on higher or lower ground stand there, and the base stays level."""
    bag, name = recorded_runs / run, run.split("_")[0]
    out = estimates_of(bag, name, 12.0)[150:]
    error = velocity_errors(bag, out)
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < speed
    assert np.mean(np.abs(error) < 1.96 * stated(out)) > 0.9
    assert np.sqrt(np.mean(tilt_errors(bag, out) ** 2)) < tilt


def estimates_like_real_ones(run, seconds: float, seed: int) -> list:
    """Estimates of a machine whose flags are a plan, 40 ms early and 20 ms late.

    The zeros of its joints are not the YAML's.
    """
    config = Config.load("go2")
    robot = Robot(config.robot)
    stamps, forces = map(np.array, zip(*vertical_forces(run, list(robot.feet))))
    zeros = np.random.default_rng(seed).normal(0.0, 0.05, robot.nj)
    estimator, out = Estimator(robot, config, mocap=False, sensors=(FLAGS,)), []
    for m in measurements(run, robot, config, seconds, mocap=False, effort=False):
        first, last = np.searchsorted(stamps, [m.stamp_ns - 25_000_000, m.stamp_ns + 35_000_000])
        stands = (forces[first : last + 1] > 5.0).any(axis=0).astype(float)
        angles = {name: getattr(m, name) for name in ("position", "position_carried")}
        off = {name: q + zeros for name, q in angles.items() if q is not None}
        m = replace(m, readings={**m.readings, FLAGS: Aligned(stands, 1.0)}, **off)
        if (estimate := estimator.update(m)) is not None:
            out.append(estimate)
    return out


@pytest.mark.slow
def test_intervals_hold_for_a_machine_like_real_ones(tmp_path):
    """The velocity of a real A1 is off by 20 mm/s at 0.3 m/s."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    run = simulate.run("go2", "trot", 4.0, tmp_path / "run", seed=4, start=1.0)
    out = estimates_like_real_ones(run, 4.0, seed=3)
    error = velocity_errors(run, out[50:])
    assert np.sqrt(np.mean(error**2)) > 0.01  # or the machine is none of those
    assert np.mean(np.abs(error) < 1.96 * stated(out[50:])) > 0.9


@pytest.mark.slow
def test_feet_of_such_a_machine_do_not_tilt_it(tmp_path):
    """A start in the middle of a walk, of whose gyro and accelerometer no rest has told the biases.

    They had told wrong ones: the tilt went from 52 to 68 mrad off, that of a real A1 to 67.
    """
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    run = simulate.run("go2", "forward", 4.0, tmp_path / "run", seed=6, start=1.0)
    out = estimates_like_real_ones(run, 4.0, seed=5)
    errors = tilt_errors(run, out)
    assert np.sqrt(np.mean(errors[:100] ** 2)) < 0.035
    assert np.sqrt(np.mean(errors[200:] ** 2)) < 0.015


@pytest.mark.slow
def test_a_step_up_is_found(tmp_path):
    """Stairs whose risers are five times what a floor's footholds may differ by."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    ground = simulate.Ground(stair_height=0.06, begin=0.6, extent=2.0)
    run = simulate.run("go2", "trot", 6.0, tmp_path / "run", terrain=ground, seed=3)
    out = estimates_of(run, "go2", 6.0)[100:]
    error = velocity_errors(run, out)
    assert np.sqrt(np.mean(np.sum(error**2, axis=1))) < 0.02
    assert tilt_errors(run, out).max() < 0.02


@pytest.mark.parametrize("seed", [0, 1, 5])
def test_a_robot_that_falls_over_does_not_fly(recorded_runs, seed):
    """Its attitude says so, and that it is upright again; it flew with 2.7 m/s.

    With two of its feet in the air when it had got up, which round-off decided, it began to walk
    with up to 0.12 m/s too much: readings are changed by as much.
    """
    bag, rng = recorded_runs / "go2_fall_payload2", np.random.default_rng(seed)

    def rounded(m):
        if m.position is None:
            return m
        return replace(m, position=m.position + 1e-11 * rng.normal(size=len(m.position)))

    out = estimates_of(bag, "go2", 10.5, change=rounded)
    begins = out[0].stamp_ns
    lies = [e for e in out if 4.5e9 < e.stamp_ns - begins < 5.5e9]
    assert all(e.activity in (Activity.FALLING, Activity.FALLEN) for e in lies)
    assert np.abs([e.linear_velocity_base for e in lies[80:]]).max() < 0.1
    walks = [e for e in out if e.stamp_ns - begins > 9.0e9]
    assert np.sqrt(np.mean(np.sum(velocity_errors(bag, walks) ** 2, axis=1))) < 0.03


def test_legs_that_trot_in_the_air_do_not_tell_the_speed(recorded_runs):
    """A hand lifts a robot that walks on: 0.04 m/s were stated where its velocity is 0.4 off.

    By how much it is off is chance: round-off decides which feet seem to carry.
    """
    run = recorded_runs / "go2_lift_payload3"
    out = [e for e in estimates_of(run, "go2", 9.5) if e.stamp_ns > 1_700_000_007_000_000_000]
    error = velocity_errors(run, out)
    assert np.mean(np.linalg.norm(error[:, :2], axis=1)) > 0.3  # or another robot was lifted
    assert np.mean(np.abs(error) < 1.96 * stated(out), axis=0)[:2].min() > 0.6
    assert np.median(stated(out)[:, :2]) > 0.2


@pytest.fixture(scope="module")
def standing(tmp_path_factory) -> Estimator:
    """A robot on a floor, whose feet are then said to be elsewhere, or to move."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    run = simulate.run("go2", "stand", 2.0, tmp_path_factory.mktemp("stand") / "run", seed=2)
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config, mocap=False)
    for m in measurements(run, robot, config, 2.0, effort=False):
        estimator.update(m)
    return estimator


def shares(standing, above, speeds) -> np.ndarray:
    """Shares of the weight of feet at such heights [m] that move so fast [m/s]."""
    soles, rates = standing.window.legs()[0], np.outer(speeds, [1.0, 0.0, 0.0])
    load = LoadByMotion(standing.problem)
    forces = load.forces(standing.window, np.array(above), soles, rates)
    return forces / (GRAVITY * standing.robot.total_mass)


def test_all_that_stand_share_the_weight_and_its_moment(standing):
    share, true = shares(standing, np.zeros(4), np.zeros(4)), standing.window.foot_forces()
    assert share.sum() == pytest.approx(1.0, abs=0.02) and share.min() > 0.15
    soles = standing.window.legs()[0][:, :2]
    centres = share @ soles / share.sum(), true @ soles / true.sum()
    np.testing.assert_allclose(*centres, atol=0.02)


def test_a_pair_that_carries_leaves_the_others_in_the_air(standing):
    share = shares(standing, [0.0, 0.05, 0.05, 0.0], [0.0, 0.8, 0.8, 0.0])
    assert share[[1, 2]].max() < 0.01 and share[[0, 3]].min() > 0.35


def test_a_high_foot_that_is_needed_stands_there(standing):
    share = shares(standing, [0.08, 0.05, 0.05, 0.0], [0.0, 0.8, 0.8, 0.0])
    assert share[0] > 0.25 and share[[1, 2]].max() < 0.05


def test_a_high_foot_that_is_not_needed_is_held_up(standing):
    assert shares(standing, [0.08, 0.0, 0.0, 0.0], np.zeros(4))[0] < 0.08
