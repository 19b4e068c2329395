# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Every residual of the core, alone in a node: value, Jacobian, and what its readings must be.

A new one is found by its name; it needs a twin in `reference.node` and a `random_reading`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from helpers.differences import jacobian, relative_error
from helpers.models import problem, random_point
from helpers.nodes import exact_dynamics, random_reading
from reference.node import OF_THE_STEP, RESIDUALS, Step

from prime_estimation import _core
from prime_estimation.mhe.layout import StateLayout
from prime_estimation.mhe.problem import Problem

OF_THE_DYNAMICS = {"force", "contact", "encoders", "rates"}
every_residual = pytest.mark.parametrize("name", _core.residuals())
both_forms = pytest.mark.parametrize("form", ["forward", "inverse"])
# an IMU on the base, and one behind joints; feet that are points, and soles
every_robot = pytest.mark.parametrize("robot", ["go2", "g1"])


@dataclass
class Alone:
    """A node with room for two readings of one residual, at a random point (x, u).

    Attributes:
        of: problem of the same robot.
        model: of the measurements. node: with its input. layout: of its states.
        state: manifold of x.
    """

    name: str
    of: Problem
    model: "_core.MeasurementModel"
    node: "_core.ActionMeasurement"
    layout: StateLayout
    state: "_core.StateParameters"
    x: np.ndarray
    u: np.ndarray

    def __getattr__(self, name):
        return getattr(self.of, name)  # what a twin asks of a problem

    def parameter(self, x, name):
        return self.layout.part(x, name)

    @property
    def feet(self) -> int:
        """Their number."""
        return len(self.of.robot.feet)

    @property
    def rows(self) -> list[slice]:
        """Rows of the two readings."""
        parts = [(first, size) for name, first, size in self.model.rows() if name == self.name]
        return [slice(first, first + size) for first, size in parts]

    def give(self, rng, slot=0) -> None:
        """A random reading with random weights."""
        value, age = random_reading(self.name, rng, self.of.layout.q(self.x), self.feet)
        weight = rng.uniform(0.5, 2.0, len(self.node.input.weight(self.name, slot)))
        self.node.input.set(self.name, value, weight, age, slot)

    def calc(self, x=None, u=None, data=None):
        """Data at (x, u), with derivatives."""
        data, at = data or self.node.createData(), (self.x if x is None else x)
        for evaluate in (self.node.calc, self.node.calcDiff):
            evaluate(data, at, self.u if u is None else u)
        return data


def alone(
    name: str,
    robot: str,
    form: str = "forward",
    seed: int = 0,
    mounts: bool = True,
    zeros: list[int] | None = None,
) -> Alone:
    """The residual in a random state; the wrench cone belongs to rigid contacts."""
    rng = np.random.default_rng(seed)
    of = problem(robot, form, contact_model="rigid" if name == "wrench_cone" else "smoothed")
    zeros = list(range(of.nj)) if zeros is None else zeros
    model = _core.MeasurementModel(exact_dynamics(of), of.mount.core, [name, name], mounts, zeros)
    layout = StateLayout(of.nq, of.nv, of.nj, model.parameters())
    state = _core.StateParameters(of.robot.model, model.np)
    node = _core.ActionMeasurement(state, model, form == "inverse")
    p = random_point(of, rng, "stance")
    x = np.concatenate([p.q, p.v, 0.1 * rng.normal(size=model.np)])
    layout.p(x)[: len(p.parameters)] = p.parameters
    first = p.force if form == "forward" else p.v + 0.3 * rng.normal(size=of.nv)
    given = node.input
    given.weight_force, given.weight_xi = np.ones(of.nv), np.ones(len(p.xi))
    flags = (_core.Stance.landing, _core.Stance.closed, _core.Stance.open)
    given.stance = [flags[i % 3] for i in range(of.dynamics.nfeet)]
    return Alone(name, of, model, node, layout, state, x, np.concatenate([first, p.xi]))


def test_all_have_a_twin():
    assert set(RESIDUALS) >= set(_core.residuals())


def test_unknown_residual_is_refused():
    of = problem("go2")
    known = ", ".join(_core.residuals())
    with pytest.raises(ValueError, match=f"no residual 'sonar'; known are {known}"):
        _core.MeasurementModel(of.dynamics, of.mount.core, ["sonar"])


def test_every_encoder_has_a_zero_or_none():
    of = problem("go2")
    with pytest.raises(ValueError, match="one zero, or none"):
        _core.MeasurementModel(of.dynamics, of.mount.core, ["zeroed_encoders"], False, [0, 1])


@pytest.mark.parametrize("name", sorted({*_core.residuals()} - {"zeroed_encoders"}))
def test_fixed_base_is_refused(name):
    of = problem("kinova")
    with pytest.raises(ValueError, match=f"{name} needs a floating base"):
        _core.MeasurementModel(of.dynamics, of.mount.core, [name])


@every_residual
def test_rows_and_parameters_are_listed(name):
    """Two readings share their parameters; rows follow those of the dynamics without a gap."""
    case = alone(name, "go2")
    rows = case.model.rows()
    assert {part for part, _, _ in rows} == OF_THE_DYNAMICS | {name}
    ends = np.cumsum([size for _, _, size in rows])
    assert [first for _, first, _ in rows] == [0, *ends[:-1]]
    assert len(case.calc().r) == ends[-1]
    assert len(case.rows) == 2 and len({part.stop - part.start for part in case.rows}) == 1
    blocks = [block for block, _ in case.model.parameters()]
    assert len(set(blocks)) == len(blocks) and sum(dict(case.model.parameters()).values()) == (
        case.model.np
    )


@every_residual
@every_robot
@both_forms
def test_value_equals_the_twin(name, robot, form):
    for seed in range(5):
        case, rng = alone(name, robot, form, seed), np.random.default_rng(seed)
        case.give(rng, 0)
        case.give(rng, 1)
        data, given = case.calc(), case.node.input
        v_next = np.array(data.xnext)[case.nq : case.nq + case.nv]
        forces = case.node.contact_forces(data)[0].reshape(-1, 3)
        at = Step(case, case.x, v_next, forces)
        for slot, rows in enumerate(case.rows):
            value, age = given.value(name, slot), given.age(name, slot)
            expected = given.weight(name, slot) * RESIDUALS[name](at, value, age)
            scale = max(1.0, abs(expected).max())
            np.testing.assert_allclose(data.r[rows], expected, atol=1e-9 * scale)
            assert expected.any()


@every_residual
@every_robot
@both_forms
def test_jacobian_equals_differences(name, robot, form):
    """On the manifold; in the forward form also through the step that follows."""
    case, rng = alone(name, robot, form, 7), np.random.default_rng(7)
    case.give(rng, 0)
    case.give(rng, 1)
    data, trial = case.calc(), case.calc()
    sensors = slice(case.rows[0].start, case.rows[1].stop)

    def at(dx, du):
        case.node.calc(trial, case.state.integrate(case.x, dx), case.u + du)
        return np.array(trial.r)[sensors]

    ndx, nu = case.state.ndx, len(case.u)
    by_x = jacobian(lambda dx: at(dx, np.zeros(nu)), ndx)
    by_u = jacobian(lambda du: at(np.zeros(ndx), du), nu)
    value = np.hstack([data.Rx[sensors], data.Ru[sensors]])
    assert relative_error(value, np.hstack([by_x, by_u]), 1e-6) < 1e-5


def test_encoders_without_a_zero_read_as_they_are():
    case = alone("zeroed_encoders", "go2", zeros=[-1] * 6 + [*range(6)])
    case.give(np.random.default_rng(7))
    trial, rows = case.calc(), case.rows[0]

    def at(dx):
        case.node.calc(trial, case.state.integrate(case.x, dx), case.u)
        return np.array(trial.r)[rows]

    by_x = jacobian(at, case.state.ndx)
    assert relative_error(case.calc().Rx[rows], by_x) < 1e-5
    by_zero = by_x[:, case.layout.columns("encoder_zero")]
    assert by_zero.shape[1] == 6 and not by_zero[:6].any()
    assert np.count_nonzero(by_zero[6:]) == 6 == np.count_nonzero(np.diag(by_zero[6:]))


@pytest.mark.parametrize("name", ["gyro", "tilt", "accelerometer", "orientation", "mocap"])
@every_robot
def test_mounts_that_are_the_models_change_nothing(name, robot):
    with_mounts, without = alone(name, robot, mounts=True), alone(name, robot, mounts=False)
    blocks = dict(with_mounts.model.parameters()).keys() - dict(without.model.parameters()).keys()
    of_the_imu = {"imu_rotation"} | ({"imu_position"} if name == "accelerometer" else set())
    of_mocap = {"mocap_position", "mocap_delay", "mocap_world"}
    assert blocks == (of_mocap if name == "mocap" else of_the_imu)
    for case in (with_mounts, without):
        case.give(np.random.default_rng(6))
        case.layout.p(case.x)[:] = 0.0
    rows = without.rows[0]
    expected = without.calc().r[rows]
    np.testing.assert_allclose(with_mounts.calc().r[rows], expected, atol=1e-12)
    assert expected.any()


@every_residual
@both_forms
def test_terminal_node_has_those_of_the_state(name, form):
    """What needs the step that follows is none there; the rest is as in a running node."""
    case = alone(name, "go2", form)
    case.give(np.random.default_rng(1))
    running, terminal = case.calc(), case.calc()
    case.node.calc(terminal, case.x)
    case.node.calcDiff(terminal, case.x)
    rows, of_the_step = case.rows[0], name in OF_THE_STEP
    assert running.r[rows].any()
    np.testing.assert_array_equal(terminal.r[rows], 0.0 if of_the_step else running.r[rows])
    np.testing.assert_array_equal(terminal.Rx[rows], 0.0 if of_the_step else running.Rx[rows])
    assert not terminal.Ru[rows].any()


@every_residual
def test_absent_reading_leaves_no_trace(name):
    """Weights of zero: no residual, no derivative, whatever the reading says, be it NaN."""
    case = alone(name, "go2")
    given, rng = case.node.input, np.random.default_rng(2)
    value, size = given.value(name), len(given.weight(name))
    reading = random_reading(name, rng, case.of.layout.q(case.x), case.feet)[0]
    for spoiled in (reading, np.nan * value):
        given.set(name, spoiled, np.zeros(size))
        data = case.calc()
        for rows in case.rows:
            assert not data.r[rows].any() and not data.Rx[rows].any() and not data.Ru[rows].any()


@every_residual
def test_reading_takes_its_own_rows(name):
    """The second one says nothing of the first, and there is no third."""
    case = alone(name, "go2")
    case.give(np.random.default_rng(3), slot=1)
    data, (first, second) = case.calc(), case.rows
    assert not data.r[first].any() and data.r[second].any()
    with pytest.raises(ValueError, match=f"no place for another reading of '{name}'"):
        case.give(np.random.default_rng(3), slot=2)


@every_residual
@both_forms
def test_reading_that_is_not_finite_is_named(name, form):
    """A residual without value has weights that can be wrong."""
    case = alone(name, "go2", form)
    case.give(np.random.default_rng(4))
    given, data = case.node.input, case.calc()
    value, weight = given.value(name), given.weight(name)
    spoiled = (np.nan * value, weight) if len(value) else (value, np.nan * weight)
    given.set(name, *spoiled)
    with pytest.raises(_core.SolveError, match=f"the residual of the {name} is not finite"):
        case.node.calc(data, case.x, case.u)


@every_residual
@pytest.mark.parametrize("change", [-1, 1])
def test_sizes_are_checked(name, change):
    case = alone(name, "go2")
    case.give(np.random.default_rng(5))
    given = case.node.input
    value, weight = given.value(name), given.weight(name)
    for part, sizes in (
        ("value", (len(value) + change, len(weight))),
        ("weight", (len(value), len(weight) + change)),
    ):
        wrong = sizes[part == "weight"]
        if wrong < 0:
            continue
        message = f"{part} of {name} has {wrong} entries, not {wrong - change}"
        with pytest.raises(ValueError, match=message):
            given.set(name, *map(np.zeros, sizes))
    np.testing.assert_array_equal(given.value(name), value)
    np.testing.assert_array_equal(given.weight(name), weight)
