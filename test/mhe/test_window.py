# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One optimum, whichever way it is sought.

Disturbance or next velocity decides, multiple shooting or Crocoddyl's FDDP.
"""

from __future__ import annotations

import crocoddyl
import numpy as np
import pytest
from helpers.models import config, problem
from helpers.runs import measurements
from helpers.windows import GivenWindow

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.mhe.initialization import start_window
from prime_estimation.mhe.knowledge import widen
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.robot import Robot
from prime_estimation.sensors.mocap_mount import MocapMount

SECONDS = 0.45
# a contact disturbance that is Gaussian: its weights stay, the problem is one; touch-downs then
# need room
HELD = {"contact_dof": 1e9, "force_dof": 1e9, "contact_tangential": 0.02, "contact_normal": 0.1}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A trotting Go2 with 3 kg that the model does not know."""
    pytest.importorskip("mujoco")
    from prime_estimation.simulate import Payload, run

    out = tmp_path_factory.mktemp("window") / "run"
    return run(
        "go2", "trot", SECONDS, out, payload=Payload(3.0, (0.05, 0.02, 0.1)), start=1.0, seed=4
    )


@pytest.fixture(scope="module")
def solved(recording):
    """Function: the converged window of the recording, in one form."""
    windows = {}

    def solve(form: str) -> Window:
        if form not in windows:
            config = Config.load("go2").updated({"estimator": {"form": form}, "noise": HELD})
            robot = Robot(config.robot)
            window = start_window(
                Problem(robot, config, ("mocap",)), measurements(recording, robot, config, SECONDS)
            )
            window.solver.th_stop = 1e-15
            for _ in range(4):
                window.solve(20)
            windows[form] = window
        return windows[form]

    return solve


def differences(a: Window, states) -> np.ndarray:
    return np.array([a.problem.state.diff(x, y) for x, y in zip(a.xs, states)])


def test_forward_and_inverse_form_have_one_optimum(solved):
    forward, inverse = solved("forward"), solved("inverse")
    assert forward.solver.cost == pytest.approx(inverse.solver.cost, rel=1e-8)
    assert abs(differences(forward, inverse.xs)).max() < 1e-6


def test_unexplained_forces_are_the_controls_of_the_forward_form(solved):
    forward, inverse = solved("forward"), solved("inverse")
    nv, w = forward.problem.nv, forward.unexplained()
    np.testing.assert_allclose(w, np.array(forward.us)[:, :nv], rtol=1e-9, atol=1e-9)
    assert abs(inverse.unexplained() - w).max() < 1e-2  # N, Nm
    np.testing.assert_array_equal(forward.unexplained(slice(-1, None)), w[-1:])


def test_forms_have_one_posterior(solved):
    """Eliminating another variable does not change what is known of the head."""
    covariances = []
    for form in ("forward", "inverse"):
        window = solved(form)
        window.posterior()
        covariances.append(window.head_covariance())
    std = np.sqrt(np.diag(covariances[0]))
    assert abs((covariances[0] - covariances[1]) / np.outer(std, std)).max() < 1e-4


@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_crocoddyls_fddp_finds_the_same_optimum(solved, form):
    """From states moved off the optimum, on the same shooting problem."""
    window, rng = solved(form), np.random.default_rng(0)
    state = window.problem.state
    optimum = [np.array(x) for x in window.xs]
    small = 1e-4 * np.ones(window.problem.ndx)
    xs = [state.integrate(x, small * rng.normal(size=len(small))) for x in optimum]
    fddp = crocoddyl.SolverFDDP(window._shooting)
    fddp.th_stop = 1e-12
    correction = state.diff(window.arrival.reference, xs[0])
    fddp.solve([xs[0], *xs], [correction, *window.us], 100, False, 1e-9)
    assert fddp.cost == pytest.approx(window.solver.cost, rel=1e-7)
    assert abs(differences(window, list(fddp.xs)[1:])).max() < 1e-5


@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_converged_window_keeps_the_dynamics(solved, form):
    """No gaps are left, and another iteration changes nothing."""
    window = solved(form)
    assert window.solver.largest_gap < 1e-8
    before = [np.array(x) for x in window.xs]
    window.solve(1)
    assert abs(differences(window, before)).max() < 1e-6


def test_shift_keeps_what_is_known(recording):
    """A node more: the window stays as long as it was, its stamps move on, its last states are
    those it had."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    problem, ms = (
        Problem(robot, config, ("mocap",)),
        measurements(recording, robot, config, SECONDS),
    )
    window = start_window(problem, ms[:-1])
    size, stamps, xs = window.size, list(window.stamps), list(window.xs)
    problem.complete(window.inputs[-1], ms[-1])
    window.shift(problem.state_input(ms[-1]), ms[-1].stamp_ns, np.zeros((problem.ndx, problem.np)))
    assert window.size == size and window.stamps == [*stamps[1:], ms[-1].stamp_ns]
    assert abs(differences(window, xs[1:])).max() < 1e-12
    assert (
        len(window.nodes) == len(window.data) == len(window.us) == size
        and len(window.xs) == size + 1
    )


def test_parameters_are_widened_up_to_a_bound(recording):
    """Twice, then up to the bound; nothing else is known less, and nothing is known better."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    problem = Problem(robot, config, ("mocap",))
    window = start_window(problem, measurements(recording, robot, config, SECONDS))
    columns = problem.columns("accelerometer_bias")
    before = window.arrival.covariance
    deviation = np.sqrt(np.diag(before)[columns])
    widen(window, "accelerometer_bias", 2.0, 1e3)
    expected = before.copy()
    block = np.arange(problem.ndx)[columns]
    expected[block, block] *= 4.0
    np.testing.assert_allclose(window.arrival.covariance, expected, atol=1e-9)
    most = 3.0 * deviation.max()
    widen(window, "accelerometer_bias", 100.0, most)
    np.testing.assert_allclose(np.sqrt(np.diag(window.arrival.covariance)[columns]), most)
    widen(window, "accelerometer_bias", 2.0, 0.5 * most)
    np.testing.assert_allclose(np.sqrt(np.diag(window.arrival.covariance)[columns]), most)


@pytest.mark.parametrize("iterations", [1, 5])
def test_cost_never_grows(recording, iterations):
    """A step that does not reduce cost and gaps together is shortened or refused."""
    config = Config.load("go2").updated({"noise": HELD})
    robot = Robot(config.robot)
    problem, ms = (
        Problem(robot, config, ("mocap",)),
        measurements(recording, robot, config, SECONDS),
    )
    window = start_window(problem, ms)
    rng = np.random.default_rng(4)
    window.xs = [problem.state.integrate(x, 0.02 * rng.normal(size=problem.ndx)) for x in window.xs]
    costs, gaps = [], []
    for _ in range(120 // iterations):  # from seed 4 it passes a saddle
        window.solve(iterations)
        costs.append(window.solver.cost)
        gaps.append(window.solver.largest_gap)
    assert gaps[-1] < 1e-6
    closed = [c for c, g in zip(costs, gaps) if g < 1e-6]
    assert len(closed) > 1 and np.all(np.diff(closed) <= 1e-6 * closed[-1])


def test_torques_of_a_node_are_asked_for_from_either_end(solved):
    """The head has no torques yet, and is no running node."""
    window = solved("forward")
    flags, last = [given.weighed for given in window.inputs], window.size - 1
    try:
        for missing in (0, last):
            for k, given in enumerate(window.inputs):
                given.weighed = k not in (missing, window.size)
            told = [window.weighed(k) for k in (0, 1, last, -window.size, -2, -1)]
            first, newest = missing != 0, missing != last
            assert told == [first, True, newest, first, True, newest]
        assert not window.weighed(-window.size - 1)
    finally:
        for given, flag in zip(window.inputs, flags):
            given.weighed = flag


def test_the_torque_of_the_motors_is_the_reading_with_what_it_lacks():
    """Of the newest complete node."""
    window = GivenWindow(problem("go2"), [problem("go2").first.neutral()] * 3, np.ones(12))
    window._unexplained = np.arange(36.0).reshape(2, 18)
    np.testing.assert_array_equal(window.motor_torque(), 1.0 + window._unexplained[1, 6:])
    np.testing.assert_array_equal(window.motor_torque(0), 1.0 + window._unexplained[0, 6:])


def test_the_torque_of_the_motors_is_without_gain_and_offset_of_the_readings():
    """`reading = e^g tau + o`, whatever the estimator found of the sensors."""
    of = Problem(Robot.load("go2"), config("go2", joint_parameters="gains,offsets"))
    x, true = of.first.neutral(), np.linspace(-20.0, 20.0, 12)
    gain, offset = 0.03 * np.cos(np.arange(12.0)), 0.4 * np.sin(np.arange(12.0))
    of.parameter(x, "torque_gain")[:], of.parameter(x, "torque_offset")[:] = gain, offset
    window = GivenWindow(of, [x, x], np.exp(gain) * true + offset)
    window._unexplained = np.zeros((1, 18))
    np.testing.assert_allclose(window.motor_torque(), true, atol=1e-12)


def test_error_of_a_reading_is_without_its_robust_weight(solved):
    window = solved("forward")
    problem, noise = window.problem, window.problem.config.noise
    deviations, read = np.repeat([noise.mocap_position, noise.mocap_rotation], 3), 0
    for k in range(window.size):
        given, x = window.inputs[k], window.xs[k]
        if (error := window.reading(k, "mocap")) is None:
            assert not given.present("mocap")
            continue
        mount, pose = MocapMount.of(problem, x), given.value("mocap")
        body = mount.rotation, mount.position, mount.tilt, given.age("mocap") + mount.delay
        base = problem.layout.q(x)[:7], problem.layout.v(x)[:6]
        away = _core.pose_error(*base, *body, pose[:3], pose[3:])
        np.testing.assert_allclose(error, away / deviations, rtol=1e-6, atol=1e-6)
        read += 1
    assert read > 10
