# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""MPC and feedback: planned forces, plans that follow one another, commands between two plans."""

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.control.feedback import Feedback, reference_at
from prime_estimation.control.motion_types import Plan, RobotState, VelocityCommand
from prime_estimation.control.mpc import VELOCITY_TIME, WholeBodyMpc
from prime_estimation.control.parameters import ControlConfig
from prime_estimation.robot import GRAVITY

MS = 1_000_000
START = 1_700_000_000_000_000_000  # ns
STAND = VelocityCommand()


def at_rest(mpc: WholeBodyMpc, stamp_ns: int = START) -> RobotState:
    rest, carries = np.zeros(mpc.robot.model.nv), np.ones(len(mpc.robot.contacts), bool)
    return RobotState(stamp_ns, mpc.posture, rest, carries, stamp_ns)


@pytest.mark.parametrize(("gait", "feet"), [("stand", 4), ("trot", 2)])
def test_planned_force_carries_the_robot_and_what_it_is_said_to_carry(go2, gait, feet):
    mpc = WholeBodyMpc(go2, gait=gait)
    stamp = START
    if gait == "trot":  # two feet lift off 20 ms after the beginning of a cycle
        cycle = mpc.feet.schedule.gait.period
        stamp = round((np.ceil(START * 1e-9 / cycle) * cycle + 0.06) * 1e9)
    plan = mpc.update(at_rest(mpc, stamp), STAND)
    assert plan.stands[0].sum() == feet
    assert plan.forces[~plan.stands[0]].tolist() == [[0.0] * 3] * (4 - feet)
    before = plan.forces[:, 2].sum() - lifting(mpc, plan)
    assert before == pytest.approx(GRAVITY * go2.total_mass, rel=0.02)
    mpc.horizon.model.inertias[1] += pin.Inertia(3.0, np.zeros(3), 0.01 * np.eye(3))
    mpc.horizon.take_inertias()
    mpc.reset()
    plan = mpc.update(at_rest(mpc, stamp), STAND)
    after = plan.forces[:, 2].sum() - lifting(mpc, plan)
    assert after - before == pytest.approx(3.0 * GRAVITY, rel=0.1)


def lifting(mpc: WholeBodyMpc, plan) -> float:
    """Force that gives the robot its vertical momentum in the first node [N]."""
    model, data = mpc.horizon.model, mpc.horizon.model.createData()
    q, v = plan.states[1][: model.nq], plan.states[1][model.nq :]
    return pin.computeCentroidalMomentum(model, data, q, v).linear[2] / plan.step


def test_plans_stay_inside_the_friction_pyramid_and_the_torque_limits(go2):
    mpc = WholeBodyMpc(go2)
    for k in range(5):
        plan = mpc.update(at_rest(mpc, START + 20 * k * MS), VelocityCommand(height=-0.05))
    f = plan.forces
    assert (np.abs(f[:, :2]) <= mpc.config.friction * f[:, 2:] + 1.0).all()
    assert (np.abs(plan.torques) <= mpc.horizon.weights.largest_torque).all()


def test_following_plans_agree(go2):
    """From where the last plan said the robot would be, the next one goes on."""
    mpc = WholeBodyMpc(go2)
    plan = mpc.update(at_rest(mpc), VelocityCommand(height=-0.05))
    for k in range(1, 12):
        x = plan.states[1]
        now = START + 20 * k * MS
        state = RobotState(now, x[:19], x[19:], np.ones(4, bool), now)
        after = mpc.update(state, VelocityCommand(height=-0.05))
        change = np.abs(after.states[:-1, 7:19] - plan.states[1:, 7:19]).max()
        plan = after
    assert change < 0.02
    assert plan.states[0, 2] < mpc.posture[2] - 0.01  # it goes down, not faster than it may
    assert plan.states[0, 2] > mpc.posture[2] - 0.05


def test_reference_between_two_nodes(go2):
    mpc = WholeBodyMpc(go2)
    plan = mpc.update(at_rest(mpc), VelocityCommand(height=-0.05))
    first, second = reference_at(go2, plan, START), reference_at(go2, plan, START + 20 * MS)
    middle = reference_at(go2, plan, START + 10 * MS)
    assert first.q == pytest.approx(plan.states[0, :19])
    assert second.q == pytest.approx(plan.states[1, :19])
    assert middle.v == pytest.approx(0.5 * (first.v + second.v))
    assert (middle.torque == plan.torques[0]).all() and (second.torque == plan.torques[1]).all()
    far = reference_at(go2, plan, START + 10_000 * MS)  # beyond its gains it stands still
    assert far.q == pytest.approx(plan.states[len(plan.gains), :19])


def test_feedback_brings_the_base_back_and_obeys_the_limits(go2):
    config, mpc = ControlConfig(), WholeBodyMpc(go2)
    plan = mpc.update(at_rest(mpc), STAND)
    limit = np.full(12, 20.0)
    feedback = Feedback(go2, config, limit)
    x = plan.states[0]
    on_time = feedback.command(plan, START, x[:19], x[19:])
    assert on_time.effort == pytest.approx(np.clip(plan.torques[0], -limit, limit), abs=0.3)
    sunk = x[:19].copy()
    sunk[2] -= 0.01
    pushing = feedback.command(plan, START, sunk, x[19:])
    # a base that is too low: all knees push harder (their torque is negative on a Go2's calf)
    assert (np.abs(pushing.effort)[2::3] > np.abs(on_time.effort)[2::3]).all()
    assert (np.abs(feedback.command(plan, START, x[:19] + 1.0, x[19:]).effort) <= limit).all()


def test_motion_that_was_commanded_is_summed_within_plans_only(go2):
    config, mpc = ControlConfig(), WholeBodyMpc(go2)
    feedback = Feedback(go2, config, np.full(12, 45.0))
    assert not np.any(feedback.moved(START, START + MS)[0])
    plan = mpc.update(at_rest(mpc), VelocityCommand(height=-0.1))
    for k in range(0, 21, 2):
        feedback.command(plan, START + k * MS, plan.states[0, :19], plan.states[0, 19:])
    wanted = plan.states[1, 7:19] - plan.states[0, 7:19]
    assert feedback.moved(START, START + 20 * MS)[0] == pytest.approx(wanted, abs=1e-9)
    other = plan.__class__(
        **{**vars(plan), "stamp_ns": START + 20 * MS, "states": plan.states + 1.0}
    )
    feedback.command(other, START + 22 * MS, plan.states[0, :19], plan.states[0, 19:])
    assert feedback.moved(START, START + 22 * MS)[0] == pytest.approx(wanted, abs=1e-9)
    feedback.forget()
    assert not np.any(feedback.moved(START, START + 20 * MS)[0])


def test_feedback_is_its_equation(go2):
    """u - K_b (b (-) b_ref) + d qd_ref + f tanh(qd_ref/0.1), by hand."""
    nv, rng = go2.model.nv, np.random.default_rng(3)
    posture, rate = WholeBodyMpc(go2).posture, rng.uniform(-0.2, 0.2, 12)
    x = np.concatenate([posture, np.zeros(6), rate])
    torques, gains = rng.normal(size=(1, 12)), rng.normal(size=(1, 12, 2 * nv))
    rest = dict(stands=np.ones((1, 4), bool), forces=np.zeros((4, 3)), points=np.zeros((4, 3)))
    plan = Plan(START, 0.02, np.array([x, x]), torques, gains, **rest)
    off = rng.uniform(-0.1, 0.1, nv)
    q, v = pin.integrate(go2.model, posture, off), x[19:] + rng.uniform(-1.0, 1.0, nv)
    config = ControlConfig()
    command = Feedback(go2, config, np.full(12, np.inf)).command(plan, START, q, v)
    base = gains[0][:, :6] @ off[:6] + gains[0][:, nv : nv + 6] @ (v[:6] - x[19:25])
    losses = go2.joint_damping * rate + go2.joint_friction * np.tanh(rate / 0.1)
    assert go2.joint_damping.all() and go2.joint_friction.all()
    assert command.effort == pytest.approx(torques[0] - base + losses)
    assert command.position == pytest.approx(posture[7:]) and command.velocity == pytest.approx(
        rate
    )
    assert set(command.kp) == {config.stiffness} and set(command.kd) == {config.damping}


def test_rates_between_two_nodes(go2):
    mpc = WholeBodyMpc(go2)
    plan = mpc.update(at_rest(mpc), VelocityCommand(height=-0.1))
    first, second = plan.states[:2, 19:]
    assert np.abs(second - first).max() > 0.01
    middle = reference_at(go2, plan, START + 5 * MS)
    assert middle.v == pytest.approx(0.75 * first + 0.25 * second)


def test_the_guess_is_the_last_plan_moved_on(go2):
    mpc = WholeBodyMpc(go2)
    mpc.update(at_rest(mpc), VelocityCommand(height=-0.1))
    _, xs, us = mpc._guess
    n, state = mpc.config.nodes, at_rest(mpc, START + 40 * MS)
    states, torques = mpc._guessed(state, None)
    assert (states[:, 0] == np.concatenate([state.q, state.v])).all()
    assert (states[:, 1 : n - 1] == xs[:, 3:]).all() and (states[:, -1] == xs[:, -1]).all()
    assert (torques[:, : n - 2] == us[:, 2:]).all() and (torques[:, -1] == us[:, -1]).all()


def test_feet_are_told_how_fast_the_base_drifts_and_where_its_weight_is(go2, monkeypatch):
    mpc = WholeBodyMpc(go2, gait="trot")
    told, plan = [], mpc.feet.plan
    monkeypatch.setattr(mpc.feet, "plan", lambda *a: (told.append(a[-2:]), plan(*a))[1])
    mpc.horizon.model.inertias[1] += pin.Inertia(4.0, np.array([0.1, 0.0, 0.0]), 0.01 * np.eye(3))
    mpc.horizon.take_inertias()
    state = at_rest(mpc)
    turned = np.array(
        [*state.q[:3], *pin.Quaternion(pin.rpy.rpyToMatrix(0, 0, np.pi / 2)).coeffs()]
    )
    v = np.array([0.3, *np.zeros(17)])  # forwards, which is along y of the world
    mpc.update(RobotState(START, np.r_[turned, state.q[7:]], v, state.carries, START), STAND)
    drift, shift = told[0]
    assert drift == pytest.approx([0.0, 0.3 * 0.02 / VELOCITY_TIME], abs=1e-9)
    model = mpc.horizon.model
    com = pin.centerOfMass(model, model.createData(), mpc.posture) - mpc.posture[:3]
    assert com[0] > 0.01
    assert shift == pytest.approx(com[:2] - mpc.feet.nominal.mean(axis=0))


def test_a_robot_that_stands_has_its_weight_above_the_middle_of_its_feet(go2):
    mpc = WholeBodyMpc(go2)
    mpc.horizon.model.inertias[1] += pin.Inertia(4.0, np.array([0.1, 0.02, 0.0]), 0.01 * np.eye(3))
    mpc.horizon.take_inertias()
    mpc.update(at_rest(mpc), VelocityCommand(lean=(0.01, 0.0)))
    model = mpc.horizon.model
    com = pin.centerOfMass(model, model.createData(), mpc.posture) - mpc.posture[:3]
    wanted = mpc.feet.middle() + [0.01, 0.0]
    assert mpc._trunk.position + com[:2] == pytest.approx(wanted, abs=1e-9)
