# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Machines whose parameters are known: pendulums with friction, a Furuta pendulum."""

from __future__ import annotations

from dataclasses import replace

import furuta
import numpy as np
import pytest
from scipy.signal import lfilter

from prime_estimation.errors import ConfigError, DataError
from prime_estimation.fixed_base import (
    JointRecording,
    Leapfrog,
    Machine,
    Payload,
    Weights,
    estimate,
    noise_levels,
    notices,
    validate,
)
from prime_estimation.fixed_base.levenberg_marquardt import linearized
from prime_estimation.fixed_base.noise import _ratios
from prime_estimation.robot import Robot

INERTIA = 0.0039 + furuta.MASS_B * furuta.L2**2  # of the pendulum about its hinge
TRUTHS = {
    "viscous": furuta.Truth((1e-3,)),
    "dry": furuta.Truth((1e-3,), dry=(0.01,)),
    "stribeck": furuta.Truth((1e-3,), dry=(0.01,), stribeck=(0.01,), stribeck_velocity=2.0),
}
BOXES = {
    "viscous": {"B.Iyy": (0.0, 0.1), "hinge2.viscous": (0.0, 0.1)},
    "dry": {"hinge2.dry": (0.0, 0.1)},
    "stribeck": {"hinge2.stribeck": (0.0, 0.1), "hinge2.stribeck_velocity": (0.05, 10.0)},
}
BOXES["dry"] |= BOXES["viscous"]
BOXES["stribeck"] |= BOXES["dry"]
START = {"B.Iyy": 0.02, "hinge2.viscous": 1e-4, "hinge2.stribeck_velocity": 0.5}
WEIGHTS = Weights(np.full(1, 1e-3), np.full(1, 2e-3))


@pytest.fixture(scope="module")
def pendulums():
    return {
        name: furuta.simulate(furuta.pendulum(), truth, 5.0, (3.0,), noise=3e-4)
        for name, truth in TRUTHS.items()
    }


@pytest.fixture(scope="module")
def swung():
    """Furuta pendulum swung up for 3 s."""
    robot = furuta.furuta()
    return furuta.simulate(robot, furuta.TABLE_5, 3.0, (0.0, 0.0), furuta.swing_up(robot))


@pytest.mark.slow
@pytest.mark.parametrize("kind", TRUTHS)
def test_friction_is_found(pendulums, kind):
    """Inertia to 0.1 %, friction in its interval; the costs of simpler models are higher."""
    machine, truth = Machine(furuta.pendulum()), TRUTHS[kind]
    found = estimate(machine, [pendulums[kind]], BOXES[kind], WEIGHTS, 0.01, START)
    true = {
        "B.Iyy": INERTIA,
        "hinge2.viscous": truth.viscous[0],
        "hinge2.dry": sum(truth.dry),
        "hinge2.stribeck": sum(truth.stribeck),
        "hinge2.stribeck_velocity": truth.stribeck_velocity,
    }
    assert found.solution.converged
    assert found.parameters["B.Iyy"] == pytest.approx(INERTIA, rel=1e-3)
    for name, value in found.parameters.items():
        assert abs(value - true[name]) < 3.0 * found.stddev[name], name
    if kind != "viscous":
        simpler = estimate(machine, [pendulums[kind]], BOXES["viscous"], WEIGHTS, 0.01, START)
        assert simpler.cost > 1.2 * found.cost


def test_no_friction_to_find(pendulums):
    """Friction that is not there stays at the bound of its box, to what the noise allows."""
    machine = Machine(furuta.pendulum())
    found = estimate(machine, [pendulums["viscous"]], BOXES["dry"], WEIGHTS, 0.01, START)
    dry, stddev = found.parameters["hinge2.dry"], found.stddev["hinge2.dry"]
    assert 0.0 <= dry < 3.0 * stddev < 0.002


def test_boxes_hold(pendulums):
    """A box that excludes the truth: the estimate is on its side, and inside to the last digit."""
    boxes = BOXES["viscous"] | {"B.Iyy": (0.5 * INERTIA, 0.9 * INERTIA)}
    machine = Machine(furuta.pendulum())
    found = estimate(machine, [pendulums["viscous"]], boxes, WEIGHTS, 0.01, START)
    assert found.parameters["B.Iyy"] == 0.9 * INERTIA
    assert found.solution.converged


def test_thirteen_parameters(swung):
    """As many as in the paper, in its six iterations; what the motion does not tell is said."""
    import joint_parameters_problems as tables

    weights = tables.ratio_weights(1e4, 0.01, 2)
    start = tables.START | {"delay": tables.HALF_HOLD}
    boxes = tables.boxes(tuple(tables.START))
    found = estimate(Machine(furuta.furuta()), [swung], boxes, weights, 0.01, start)
    assert len(found.parameters) == 13
    assert found.solution.converged and found.solution.iterations <= 6
    unseen = {n for n, seen in zip(found.boxes, found.posterior.observable) if not seen}
    assert unseen == {"A.Ixx", "A.Iyy", "tilt_z"}
    assert found.parameters["A.Iyy"] == pytest.approx(start["A.Iyy"], rel=1e-3)
    for name, value in tables.TRUE.items():
        assert abs(value - found.parameters[name]) < 3.0 * found.stddev[name], name


def test_gear_loss(swung):
    """A motor whose gear lets 10 % less through than it is told, and one that loses nothing."""
    boxes = {"A.Izz": (0.0, 0.1), "B.Ixx": (0.0, 0.1), "hinge1.gear_loss": (0.0, 0.5)}
    known = {"hinge1.gain": furuta.GAIN, "delay": 5e-4, "hinge1.viscous": 1e-3}
    known |= {"hinge2.viscous": 1e-4}
    machine, weights = Machine(furuta.furuta()), Weights(np.full(2, 1e-3), np.full(2, 1e-3))
    none = estimate(machine, [swung], boxes, weights, 0.01, known)
    assert none.parameters["hinge1.gear_loss"] < 0.005
    v = np.gradient(swung.position[:, 0], swung.time)  # a control that makes up for the loss
    v = np.convolve(v, np.ones(25) / 25.0, mode="same")
    sign = v / np.hypot(v, machine.friction_velocity)
    told = swung.torque.copy()
    told[:, 0] /= 1.0 - 0.1 * np.sign(told[:, 0]) * sign
    some = estimate(machine, [replace(swung, torque=told)], boxes, weights, 0.01, known)
    assert some.parameters["hinge1.gear_loss"] == pytest.approx(0.1, abs=0.01)


def test_scale_of_everything_is_said(swung):
    """Gain and inertias free: only their ratios are observable. With the gain known: all."""
    boxes = {
        "hinge1.gain": (0.0, 0.2),
        "A.Izz": (0.0, 0.02),
        "B.mz": (-0.1, 0.0),
        "B.Ixx": (0.0, 0.02),
        "B.Iyy": (0.0, 0.02),
    }
    known = {"delay": 5e-4, "hinge1.viscous": 1e-3, "hinge2.viscous": 1e-4}
    machine, weights = Machine(furuta.furuta()), Weights(np.full(2, 1e-3), np.full(2, 0.01))
    free = estimate(machine, [swung], boxes, weights, 0.01, known)
    (line,) = [n for n in notices(free) if "only together" in n]
    assert all(name in line for name in boxes)
    del boxes["hinge1.gain"]
    known["hinge1.gain"] = furuta.GAIN
    assert notices(estimate(machine, [swung], boxes, weights, 0.01, known)) == []
    # the mass at the end of the arm turns with the arm: one inertia
    both = estimate(machine, [swung], boxes | {"B.mass": (0.0, 1.0)}, weights, 0.01, known)
    (line,) = notices(both)
    assert "only together: A.Izz, B.mass;" in line


def test_a_joint_that_rests():
    """Friction of a joint that does not move: it stays where it was, and that is said."""
    run = furuta.simulate(furuta.pendulum(), furuta.Truth((1e-3,)), 1.0, (0.0,))
    weights, boxes = Weights(np.full(1, 1e-3), np.full(1, 0.02)), {"hinge2.viscous": (0.0, 0.1)}
    found = estimate(Machine(furuta.pendulum()), [run], boxes, weights, 0.01)
    assert found.parameters["hinge2.viscous"] == pytest.approx(0.0, abs=1e-3)
    assert notices(found)[0].startswith("not observable in these recordings")


def test_covariance_is_that_of_the_whole_problem(swung):
    """Variable projection against the inverse of the normal equations of everything."""
    short = JointRecording(swung.time[:400], swung.position[:400], swung.torque[:400])
    names = ("A.Izz", "hinge1.gain", "hinge2.viscous")
    boxes = dict.fromkeys(names, (-1e9, 1e9))
    weights = Weights(np.full(2, 1e-3), np.full(2, 0.01))
    found = estimate(Machine(furuta.furuta()), [short], boxes, weights, 0.02)
    segment, trajectory = found.segments[0], found.solution.trajectories[0]
    (part,) = linearized([segment], found.solution.values, [trajectory], found.free)
    J = np.hstack([part.P, part.rows.by_trajectory.toarray()])
    scale = 1.0 / np.linalg.norm(J, axis=0)
    whole = scale[:, None] * np.linalg.inv((J * scale).T @ (J * scale)) * scale
    np.testing.assert_allclose(found.posterior.covariance("given"), whole[:3, :3], rtol=1e-3)


def test_noise_is_found(swung):
    """Encoders of 1 mrad."""
    boxes = {"A.Izz": (0.0, 0.1), "B.Ixx": (0.0, 0.1), "hinge1.gain": (0.0, 1.0)}
    machine, begin = Machine(furuta.furuta()), Weights(np.full(2, 3e-3), np.full(2, 5e-3))
    start = {"hinge1.viscous": 1e-3, "hinge2.viscous": 1e-4, "delay": 5e-4}
    weights, found = noise_levels(
        lambda w: estimate(machine, [swung], boxes, w, 0.01, start), begin
    )
    np.testing.assert_allclose(weights.position, furuta.NOISE, rtol=0.05)
    assert np.all(weights.torque < begin.torque)
    assert found.parameters["A.Izz"] == pytest.approx(
        furuta.INERTIA_A[2] + furuta.MASS_A * furuta.L1**2, rel=0.005
    )


def test_noise_of_recordings_that_measure_different_joints():
    """Of a machine that hangs still, once without the encoder of its first hinge."""
    draw, machine = np.random.default_rng(2), Machine(furuta.furuta())
    t, noise = 0.002 * np.arange(1000), np.array([1e-4, 3e-3])
    both, one = (
        JointRecording(t, draw.normal(0.0, noise, (len(t), 2)), np.zeros((len(t), 2)))
        for _ in range(2)
    )
    one.position[:, 0] = np.nan
    weights = Weights(np.full(2, 1e-3), np.full(2, 1e-3))
    for runs in ([both, one], [one, both]):
        _, encoders, rates = _ratios(estimate(machine, runs, {}, weights, 0.05))
        np.testing.assert_allclose(encoders, noise / weights.position, rtol=0.2)
        assert rates.tolist() == [1.0, 1.0]  # nothing measures them


@pytest.mark.slow
def test_validation_keeps_parameters(pendulums):
    """States of another run: same parameters, a cost like the first; the wrong ones cost more."""
    machine = Machine(furuta.pendulum())
    dry = estimate(machine, [pendulums["dry"]], BOXES["dry"], WEIGHTS, 0.01, START)
    again = furuta.simulate(furuta.pendulum(), TRUTHS["dry"], 3.0, (2.5,), noise=3e-4, seed=1)
    checked = validate(dry, [again])
    assert checked.parameters == {}
    np.testing.assert_array_equal(checked.solution.values, dry.solution.values)
    assert checked.cost == pytest.approx(dry.cost, rel=0.2)
    wrong = estimate(machine, [pendulums["dry"]], {}, WEIGHTS, 0.01, START)
    assert validate(wrong, [again]).cost > 10.0 * checked.cost


@pytest.mark.slow
def test_payload_against_a_run_without():
    """200 g at a known place of the rod; the run without gives inertia and friction."""
    mass, place = 0.2, -0.05
    whole = furuta.MASS_B + mass
    lever = (furuta.MASS_B * furuta.L2 - mass * place) / whole
    about = furuta.MASS_B * (lever - furuta.L2) ** 2 + mass * (lever + place) ** 2
    robots = (furuta.pendulum(), furuta.pendulum(whole, lever, 0.0039 + about))
    runs = [furuta.simulate(r, TRUTHS["viscous"], 3.0, (2.5,), noise=3e-4) for r in robots]
    machines = [
        Machine(furuta.pendulum(), payloads=[Payload("bob", "B", (0.0, 0.0, place), share)])
        for share in (0.0, 1.0)
    ]
    boxes = BOXES["viscous"] | {"bob.mass": (-1.0, 1.0)}
    found = estimate(machines, runs, boxes, WEIGHTS, 0.01, START)
    error = found.parameters["bob.mass"] - mass
    assert abs(error) < min(0.005, 3.0 * found.stddev["bob.mass"])
    assert found.parameters["B.Iyy"] == pytest.approx(INERTIA, rel=1e-3)
    with_load, without = (validate(found, runs[1:], m) for m in (machines[1], machines[0]))
    assert with_load.cost < 0.5 * without.cost
    with pytest.raises(ConfigError, match="say which machines these are of"):
        validate(found, runs[1:])
    with pytest.raises(ConfigError, match="1 machines for 2 recordings"):
        estimate(machines[:1], runs, boxes, WEIGHTS, 0.01)
    with pytest.raises(ConfigError, match="payload bob is on 'C', the moving links are B"):
        Machine(furuta.pendulum(), payloads=[Payload("bob", "C", (0.0, 0.0, 0.0))])


def test_payload_at_an_unknown_place():
    """Mass and place on a rod that swings on a driven arm, beside the same without load."""
    t, w = np.arange(0.0, 4.0, 2e-3)[:, None], np.array([3.0, 5.0])
    motion = np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)
    true = {"bob.mass": 0.2, "bob.along": 0.07}
    machines, runs = [], []
    for share, seed in ((0.0, 0), (1.0, 1)):
        bob = Payload("bob", "B", (0.0, 0.0, 0.0), share, (0.0, 0.0, -1.0))
        machines.append(Machine(furuta.furuta(), payloads=[bob]))
        torque = machines[-1].loads(machines[-1].values(true), *motion).torque
        noise = np.random.default_rng(seed).normal(0.0, 3e-4, torque.shape)
        runs.append(JointRecording(t[:, 0], motion[0] + noise, torque))
    weights = Weights([3e-4, 3e-4], [2e-3, 2e-3])
    boxes = {"B.Ixx": (0.0, 0.1), "bob.mass": (-1.0, 1.0), "bob.along": (0.0, 0.3)}
    found = estimate(machines, runs, boxes, weights, 0.01, {"bob.mass": 0.1, "bob.along": 0.15})
    assert found.solution.converged
    for name, value in true.items():
        assert abs(found.parameters[name] - value) < min(0.01, 3.0 * found.stddev[name]), name


def test_rates_help_a_poor_encoder(pendulums):
    """Angles with noise of 0.1 rad, without and with a gyroscope of 10 mrad/s."""
    machine, run = Machine(furuta.pendulum()), pendulums["viscous"]
    noise = np.random.default_rng(0).normal(0.0, 0.1, run.position.shape)
    rate = np.convolve(np.gradient(run.position[:, 0], run.time), np.full(15, 1.0 / 15.0), "same")
    inner, boxes = np.s_[15:-15], BOXES["viscous"]
    parts = (run.time, run.position + noise, run.torque, rate[:, None])
    with_rate = JointRecording(*(x[inner] for x in parts))
    weights = Weights([0.1], [2e-3], [0.01])
    alone, found = (
        estimate(machine, [r], boxes, weights, 0.01, START)
        for r in (replace(with_rate, rate=None), with_rate)
    )
    assert found.stddev["B.Iyy"] < 0.3 * alone.stddev["B.Iyy"]
    assert found.parameters["B.Iyy"] == pytest.approx(INERTIA, rel=2e-3)
    with pytest.raises(ConfigError, match="give the weights a rate for each joint"):
        estimate(machine, [with_rate], boxes, WEIGHTS, 0.01)


@pytest.mark.slow
def test_zeros_of_each_recording(pendulums):
    """Encoders that were set to zero elsewhere before each run: found, and not told, a burden."""
    machine, zeros = Machine(furuta.pendulum()), (0.05, -0.08)
    again = furuta.simulate(furuta.pendulum(), TRUTHS["dry"], 3.0, (2.5,), noise=3e-4, seed=1)
    runs = [
        replace(run, position=run.position - zero)
        for run, zero in zip((pendulums["dry"], again), zeros)
    ]
    own = {"hinge2.zero": (-0.2, 0.2)}
    found = estimate(machine, runs, BOXES["dry"], WEIGHTS, 0.01, START, own=own)
    assert list(found.parameters)[-2:] == ["hinge2.zero[0]", "hinge2.zero[1]"]
    for k, zero in enumerate(zeros):
        name = f"hinge2.zero[{k}]"
        assert found.parameters[name] == pytest.approx(zero, abs=5e-3)
        assert abs(found.parameters[name] - zero) < 3.0 * found.stddev[name]
    assert found.parameters["B.Iyy"] == pytest.approx(INERTIA, rel=1e-3)
    untold = estimate(machine, runs, BOXES["dry"], WEIGHTS, 0.01, START)
    assert untold.cost > 5.0 * found.cost
    third = replace(again, position=again.position - 0.1)
    checked = validate(found, [third])
    assert checked.parameters["hinge2.zero[0]"] == pytest.approx(0.1, abs=5e-3)
    assert checked.cost < 1.5 * found.cost


def test_torque_errors_that_fade(swung):
    """Whoever knows that errors of the torque last finds inertias better, and states how well."""
    size, time, draws = 3e-3, 0.2, 12
    memory, draw = np.exp(-1e-3 / time), np.random.default_rng(2)
    boxes = {"A.Izz": (0.0, 0.02), "B.Ixx": (0.0, 0.02), "hinge1.viscous": (0.0, 0.1)}
    known = {"hinge1.gain": furuta.GAIN, "delay": 5e-4, "hinge2.viscous": 1e-4}
    true = [
        furuta.INERTIA_A[2] + furuta.MASS_A * furuta.L1**2,
        furuta.INERTIA_B[1] + furuta.MASS_B * furuta.L2**2,
    ]
    weights = [Weights([1e-3, 1e-3], [size, 1e-3], torque_time=t) for t in (0.0, time)]
    machine, errors, stated = Machine(furuta.furuta()), [], []
    for _ in range(draws):
        news = draw.normal(0.0, size * np.sqrt(1.0 - memory**2), len(swung.time))
        wrong = lfilter([1.0], [1.0, -memory], news) / furuta.GAIN
        run = replace(swung, torque=swung.torque + np.column_stack([wrong, 0.0 * wrong]))
        found = [estimate(machine, [run], boxes, w, 0.01, known) for w in weights]
        errors.append([np.array(list(e.parameters.values()))[:2] - true for e in found])
        stated.append([e.posterior.deviations("given")[:2] for e in found])
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    assert rms[1, 0] < 0.7 * rms[0, 0]
    assert np.all(np.abs(errors)[:, 1] < 3.0 * np.array(stated)[:, 1])


def test_whitening():
    """Errors that fade: their covariance through the operator is the identity."""
    weights, step, nodes = Weights([1.0, 1.0], [0.5, 2.0], torque_time=0.1), 0.02, 6
    apart = step * np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes)))
    covariance = np.kron(np.exp(-apart / 0.1), np.diag([0.25, 4.0]))
    W = weights.whitening(step, nodes)
    np.testing.assert_allclose(W @ covariance @ W.T, np.eye(2 * nodes), atol=1e-12)


def test_two_recordings_say_more(pendulums):
    machine, run = Machine(furuta.pendulum()), pendulums["viscous"]
    halves = [
        JointRecording(run.time[part], run.position[part], run.torque[part])
        for part in (np.s_[:2500], np.s_[2500:])
    ]
    one, two = (
        estimate(machine, of, BOXES["viscous"], WEIGHTS, 0.01, START) for of in (halves[:1], halves)
    )
    assert two.parameters["B.Iyy"] == pytest.approx(INERTIA, rel=1e-3)
    given = [np.sqrt(np.diag(e.posterior.covariance("given"))) for e in (one, two)]
    assert np.all(given[1] < given[0])


def test_central_differences_are_biased(pendulums):
    """Shadow parameters of the paper's scheme: their error falls with the square of the step."""
    machine, run = Machine(furuta.pendulum()), pendulums["viscous"]
    error = [
        estimate(machine, [run], BOXES["viscous"], WEIGHTS, step, START, Leapfrog).parameters[
            "B.Iyy"
        ]
        - INERTIA
        for step in (0.04, 0.02)
    ]
    assert error[0] / error[1] == pytest.approx(4.0, rel=0.4)


@pytest.mark.slow
def test_soft_hinges_are_unmeasured_joints():
    """Ten joints that nothing measures, as stiff as the paper's method cannot have them."""
    import joint_parameters as tables

    run = furuta.simulate(furuta.furuta(), furuta.TABLE_5, 1.5, (0.0, np.pi - 0.3))
    rigid = tables.fit_release(run)
    stiff = tables.soft(run, 1e-7)
    for name, value in rigid.parameters.items():
        assert abs(stiff.parameters[name] - value) < 0.1 * rigid.stddev[name], name


def test_refused(pendulums):
    machine, run = Machine(furuta.pendulum()), pendulums["viscous"]
    with pytest.raises(ConfigError, match="no parameter is called 'B.Izy'; near it: B.I"):
        estimate(machine, [run], {"B.Izy": (0.0, 1.0)}, WEIGHTS, 0.01)
    with pytest.raises(ConfigError, match="expected a positive standard deviation"):
        Weights([0.0], [1.0])
    with pytest.raises(ConfigError, match="B.Iyy both in `free` and in `own`"):
        estimate(machine, [run], BOXES["viscous"], WEIGHTS, 0.01, own={"B.Iyy": (0.0, 1.0)})
    with pytest.raises(ConfigError, match="torque_time is -1 s"):
        Weights([1.0], [1.0], torque_time=-1)
    with pytest.raises(ConfigError, match="no parameter is called 'hinge2.nil'"):
        estimate(machine, [run], {}, WEIGHTS, 0.01, own={"hinge2.nil": (0.0, 1.0)})
    with pytest.raises(ConfigError, match="weights of 2 joints, expected 1"):
        estimate(machine, [run], {}, Weights([1e-3, 1e-3], [1.0, 1.0]), 0.01)
    with pytest.raises(ConfigError, match="belongs into start"):
        estimate(machine, [run], {"B.Iyy": (0.1, 0.1)}, WEIGHTS, 0.01)
    with pytest.raises(ConfigError, match="free base"):
        Machine(Robot.load("go2"))
    with pytest.raises(ConfigError, match="B.Iyy is nan, expected a finite number"):
        estimate(machine, [run], BOXES["viscous"], WEIGHTS, 0.01, {"B.Iyy": np.nan})
    wide, with_rates = np.zeros((len(run.time), 2)), replace(WEIGHTS, rate=np.ones(1))
    with pytest.raises(DataError, match="1 joints, the recording rates of 2"):
        estimate(machine, [replace(run, rate=wide)], BOXES["viscous"], with_rates, 0.01)
    holed = run.position.copy()
    holed[3:5] = np.nan
    for gap in ({"position": holed}, {"rate": holed}):
        with pytest.raises(DataError, match="column 0, is not finite in 2 of"):
            replace(run, **gap)
    blind = replace(run, position=np.full_like(run.position, np.nan))
    with pytest.raises(DataError, match="no joint's position"):
        estimate(machine, [blind], BOXES["viscous"], WEIGHTS, 0.01)
