# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Benchmarks of forms and ablations.

Their instruments, and one optimum of both forms on a stretch of a recorded run.
"""

import numpy as np
import one_problem
import pytest
from ablation import COLUMNS, VARIANTS, SampledSynchronizer, row
from recordings import excerpt, swapped, table
from scores import batch_figures

from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError
from prime_estimation.io.bag import BagReader
from prime_estimation.mhe.problem import Problem
from prime_estimation.recordings import pipeline as pipeline_module
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample, JointSample


def test_sampled_synchronizer_hands_on_samples_and_not_means():
    kinds, nodes = (Synchronizer, SampledSynchronizer), ([], [])
    for kind, out in zip(kinds, nodes):
        sync = kind(10_000_000, 1)
        for k in range(40):
            value = np.array([float(k % 7)])
            sync.push(JointSample(2_000_000 * k, np.array([0.1]), value, value))
            sync.push(ImuSample(2_000_000 * k, value.repeat(3), value.repeat(3)))
            while (m := sync.pop()) is not None:
                out.append(m)
    mean, sample = nodes[0][3], nodes[1][3]
    k = sample.stamp_ns // 2_000_000
    assert sample.velocity == [k % 7] and sample.torque == [(k - 5) % 7] and sample.gyro[0] == k % 7
    assert sample.velocity_samples == sample.gyro_samples == sample.torque_samples == 1.0
    assert mean.velocity_samples > 3.0 and mean.velocity[0] != sample.velocity[0]
    np.testing.assert_array_equal(mean.accelerometer, sample.accelerometer)


def one_step(config):
    """Next velocity of a Go2 that stands on its feet and slides."""
    robot = Robot(config.robot)
    problem = Problem(robot, config, ("mocap",))
    q, v = np.zeros(robot.model.nq), np.full(robot.model.nv, 0.3)
    q[2], q[6], q[7:] = 0.325, 1.0, np.tile([0.0, 0.7, -1.4], 4)
    force, dynamics = np.zeros(robot.model.nv), problem.dynamics
    flat = np.zeros(dynamics.nfeet), [np.log(0.8)], np.zeros(2 * dynamics.nfeet), [0.0]
    parameters = np.concatenate([problem.theta_nominal, *flat])
    return dynamics.step(q, v, force, np.zeros(dynamics.nxi), parameters, v)["v_next"]


@pytest.fixture(scope="module")
def full_step():
    return one_step(Config.load("go2"))


@pytest.mark.parametrize("variant", VARIANTS[1:], ids=lambda v: v.name)
def test_every_variant_is_another_program(variant, full_step):
    """A renamed key, or a swap that no longer reaches the program, would compare the full model
    with itself."""
    base = Config.load("go2")
    config = base.updated(variant.overlay, variant.name)
    with variant.active():
        assert pipeline_module.Synchronizer is variant.synchronizer
        same_step = np.allclose(one_step(config), full_step, atol=1e-6)
    assert pipeline_module.Synchronizer is Synchronizer
    only_noise = variant.overlay.keys() == {"noise"} or variant.synchronizer is SampledSynchronizer
    assert same_step == only_noise
    assert (config == base) == (not variant.overlay)


def test_iterations_are_counted_until_the_cost_stays_at_the_best():
    history = [(9.0, 1.0), (1.0, 1e-3), (1.0, 0.0), (1.2, 0.0), (1.0, 0.0), (1.0, 0.0)]
    assert one_problem.needed(history, 1.0, 1e-4) == 5
    assert one_problem.needed(history[:4], 1.0, 1e-4) is None
    assert one_problem.needed([(1.0, 0.0)], 1.0, 1e-4) == 1


def test_a_failure_is_a_row_of_its_own():
    def score(mocap):
        if mocap:
            raise DataError("too\nshort")
        return {
            "mass error [kg]": 0.1,
            "velocity [mm/s]": 2.0,
            "drift [%]": 3.0,
            "force 40 ms [%]": 4.0,
        }

    figures = row("a", "b", VARIANTS[0], score)
    assert figures["error"] == "with mocap: too short" and figures["drift, no mocap"] == 3.0
    assert table([figures], COLUMNS).splitlines()[2].count(" - ") == 8


def test_swapped_restores_after_an_error():
    with pytest.raises(ZeroDivisionError), swapped(one_problem, LIMIT=1):
        assert one_problem.LIMIT == 1
        1 / 0
    assert one_problem.LIMIT > 1


def test_both_forms_have_one_optimum(recorded_runs):
    bag = recorded_runs / "go2_payload3"
    windows = one_problem.same_problem(bag, "go2", 0.85)
    results = {form: one_problem.descend(window) for form, window in windows.items()}
    (forward, xs, _), (inverse, ys, _) = results["forward"], results["inverse"]
    assert forward[-1][1] < 1e-8 and inverse[-1][1] < 1e-8
    assert inverse[-1][0] == pytest.approx(forward[-1][0], rel=1e-8)
    assert max(one_problem._differences(windows["forward"].problem, xs, ys).values()) < 1e-6
    figures = batch_figures(windows["forward"], bag, 0.85)
    assert (
        abs(figures["mass error [kg]"]) < 1.0
        and figures["F1"] > 0.7
        and figures["velocity [mm/s]"] < 100.0
    )


def test_excerpt_keeps_the_beginning(recorded_runs, tmp_path):
    bag = recorded_runs / "go2_nominal"
    assert excerpt(bag, 100.0, tmp_path) == bag
    with BagReader(excerpt(bag, 0.1, tmp_path)) as cut, BagReader(bag) as whole:
        assert cut.topics.keys() == whole.topics.keys() and cut.start_ns == whole.start_ns
        assert cut.topics["/joint_states"].count == pytest.approx(50, abs=2)
