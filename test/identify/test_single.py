# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Identification of one recording: the truth is found, and the intervals say how well."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from identify.conftest import CONFIG

from prime_estimation import errors
from prime_estimation.identify import identify_run
from prime_estimation.identify.least_squares import baseline
from prime_estimation.identify.posterior import to_psi
from prime_estimation.identify.residuals import residuals, residuals_held
from prime_estimation.identify.single import check_fit, load
from prime_estimation.identify.solution import RestoreOnExit
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.robot import Robot


@pytest.mark.slow
def test_mass_and_com_are_found_and_covered(run, truth):
    psi, found = to_psi(truth), run.posterior.quantities("base")
    assert run.result.converged and not run.notices
    assert abs(found[0].value - psi[0]) < 0.06
    assert np.linalg.norm([q.value - v for q, v in zip(found[1:4], psi[1:4])]) < 0.004
    for q, true in zip(found[:4], psi[:4]):
        assert q.observable and q.interval[0] < true < q.interval[1], q


def test_friction_comes_out_right(run):
    assert run.friction[0] == pytest.approx(0.8, abs=0.45)  # this gait hardly slips


def test_friction_of_no_floor_is_called_out(run):
    other = replace(run, friction=(0.2, 0.02), notices=[])
    check_fit("bag", other)
    assert (
        "friction 0.20, far from estimator.friction, 0.8" in other.notices[0]
        and "prime doctor" in other.notices[0]
    )


def test_the_identified_inertia_explains_the_forces(run):
    assert run.before.force > 3.0 * run.after.force and run.before.cost > 2.0 * run.after.cost
    assert run.after.misfit < 1.5


def test_a_trial_leaves_no_trace(run):
    window = run.result.window
    before = residuals(window)
    other = residuals_held(window, window.problem.theta_nominal)
    after = residuals(window)
    assert other.cost > 2.0 * before.cost
    assert after.cost == pytest.approx(before.cost, rel=1e-6) and after.force == pytest.approx(
        before.force, rel=1e-4
    )


def test_one_percent_of_torque_scale_is_one_percent_of_the_mass(run):
    window = run.result.window
    total = window.problem.robot.total_mass - 7.277 + run.posterior.pi("base")[0]
    expected = CONFIG.noise.torque_scale * total
    assert run.posterior.budget["torque scale"][0] == pytest.approx(expected, rel=0.15)
    one_leg = sum(v[0] for cause, v in run.posterior.budget.items() if cause.endswith("alone"))
    spread = CONFIG.noise.torque_scale_spread / CONFIG.noise.torque_scale
    assert one_leg == pytest.approx(spread * run.posterior.budget["torque scale"][0], rel=0.05)


def test_the_budget_says_what_a_wrong_zero_does(run):
    window = run.result.window
    robot, offset, joint = window.problem.robot, CONFIG.noise.encoder_offset, "FL_thigh_joint"
    readings = [given.value("encoders") for given in window.inputs]
    wrong = np.concatenate([np.zeros(7), offset * np.eye(robot.nj)[robot.joint_names.index(joint)]])

    def solved(error):
        """Dynamic parameters of the base with the weights as they are."""
        for given, reading in zip(window.inputs, readings):
            given.set("encoders", reading + error, given.weight("encoders"))
        correction = window.problem.state.diff(window.arrival.reference, window.xs[0])
        window.solver.solve([window.xs[0], *window.xs], [correction, *window.us], 8)
        return window.problem.inertias(window.solver.states()[-1])[0][0]

    with RestoreOnExit(window):
        change = solved(wrong) - solved(0.0)
    expected = run.posterior.budget[f"zero of {joint}"]
    np.testing.assert_allclose(change[:4], expected[:4], atol=0.15 * np.abs(expected[:4]).max())


def test_least_squares_beside_it(run, truth):
    pytest.importorskip("cvxpy")
    pytest.importorskip("clarabel")
    methods, missing = baseline([run.result.window], run.posterior)
    assert len(methods) == 2 and not missing
    for bodies in methods.values():
        assert abs(bodies["base"][0] - truth[0]) < 0.2
        assert (
            np.linalg.norm(bodies["base"][1:4] / bodies["base"][0] - truth[1:4] / truth[0]) < 0.03
        )


def test_least_squares_without_a_solver_for_the_consistent_one(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    methods, missing = baseline([run.result.window], run.posterior)
    assert (
        list(methods) == ["least squares"]
        and len(missing) == 1
        and "prime_estimation[identify]" in missing[0]
    )


def test_standing_still_is_said_to_show_little(tmp_path):
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    bag = simulate.run("go2", "stand", 2.0, tmp_path / "stand", seed=1)
    found = identify_run(bag, Robot(CONFIG.robot), CONFIG, budget=False)
    by_name = {q.name: q for q in found.posterior.quantities("base")}
    assert by_name["mass"].observable and by_name["com x"].observable
    for name in ("Ixx", "Iyy", "Izz"):
        q = by_name[name]
        assert not q.observable
        assert q.interval == pytest.approx(
            (q.prior - 1.96 * q.prior_stddev, q.prior + 1.96 * q.prior_stddev)
        )


@pytest.mark.parametrize(("end", "words"), [(0.02, "0.8 s"), (0.5, "0.8 s")])
def test_too_short(recording, end, words):
    with pytest.raises(errors.DataError, match=words):
        identify_run(recording, Robot(CONFIG.robot), CONFIG, span=(0.0, end))


@pytest.mark.parametrize("clock_s", [0, 7])
def test_seconds_are_those_of_the_recording(clock_s, recording, tmp_path):
    """Of sensors that begin a second after other topics, whose stamps are of any clock."""
    sensors = ("/joint_states", "/imu", "/mocap/pose")
    with BagReader(recording) as bag, BagWriter(tmp_path / "late.mcap") as late:
        for topic, at_ns, message in bag.messages([*sensors, "/ground_truth/odom"]):
            if topic not in sensors or at_ns >= bag.start_ns + 10**9:
                message.header.stamp.sec += clock_s
                late.write(topic, at_ns, message)
    task = Robot(CONFIG.robot), CONFIG, True, None
    for begin, expected in ((0.0, 1.0), (1.5, 1.5)):
        _, second = load(tmp_path / "late.mcap", *task, (begin, np.inf))
        assert expected <= second < expected + 0.05
    _, second = load(recording, *task, (0.0, np.inf))
    assert second < 0.05


def test_a_robot_that_does_not_fit(run):
    doubtful = replace(
        run,
        after=replace(run.after, mean_squares={**run.after.mean_squares, "model": 0.6}),
        notices=[],
    )
    check_fit("bag", doubtful)
    assert len(doubtful.notices) == 1 and "Wrong robot" in doubtful.notices[0]
    with pytest.raises(errors.DataError, match="9.0 times as large.*Wrong robot, wrong sign"):
        check_fit("bag", replace(run, after=replace(run.after, misfit=9.0), notices=[]))
