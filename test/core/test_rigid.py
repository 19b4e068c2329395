# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rigid contacts: against Crocoddyl's contact and impulse models, derivatives against differences,
wrench cone, shares of the corners."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from core.test_dynamics_derivatives import by, moved
from helpers.differences import jacobian, relative_error
from helpers.models import problem, random_point

from prime_estimation import _core
from prime_estimation.contact.points import contact_points
from prime_estimation.mhe.contact_model import _options

OPEN, CLOSED, LANDING = _core.Stance.open, _core.Stance.closed, _core.Stance.landing


def rigid_dynamics(
    of,
    losses: bool = True,
    plain: bool = False,
    armature: float | None = None,
    more: tuple = (),
    **rigid,
) -> "_core.RigidDynamics":
    """The rigid dynamics of a problem; `plain`: neither rolling nor the midpoint, as in Crocoddyl.

    `more`: contacts that it has as well.
    """
    robot, options, contact = of.robot, _options(of.config), _core.RigidOptions()
    options.tolerance = 1e-12
    if plain:
        options.rolling = options.midpoint = False
    for name, value in rigid.items():
        setattr(contact, name, value)
    links = [robot.link_joint(link) for link in robot.estimated_links]
    contacts = [*contact_points(robot), *more]
    lost = float(losses)
    damping, friction = lost * robot.joint_damping, lost * robot.joint_friction
    model = robot.model.copy()
    if armature is not None:
        model.armature[model.nv - of.nj :] = armature
    return _core.RigidDynamics(
        model, contacts, links, _core.JointModel(damping, friction), of.floating, options, contact
    )


def step(dynamics, p, stance, derivatives=False):
    return dynamics.step(p.q, p.v, p.force, p.xi, p.parameters, list(stance), p.v, derivatives)


def nominal_point(of, seed):
    """A point with the model's own inertia and without disturbance."""
    p = random_point(of, np.random.default_rng(seed), "stance")
    return replace(p, xi=0.0 * p.xi, theta=of.theta_nominal)


def rows_of(of, held):
    """Rows of the feet `held` in xi and wrenches."""
    sizes = [6 if sum(c.foot == f for c in of.robot.contacts) > 1 else 3 for f in of.robot.feet]
    first = np.cumsum([0, *sizes])
    return np.concatenate([np.arange(first[f], first[f + 1]) for f in held])


CROCODDYL = json.loads(
    (Path(__file__).parents[1] / "reference/crocoddyl_contacts.json").read_text()
)


@pytest.mark.parametrize(
    "case", CROCODDYL["cases"], ids=lambda c: "{robot} {held} {kind} {damping} {share}".format(**c)
)
def test_contacts_and_impacts_are_those_of_crocoddyl(case):
    """ContactModel3D/6D: acceleration, forces.

    ImpulseModel3D/6D: with forces that balance gravity, a touch-down is the impulse alone.
    """
    of, contact = problem(case["robot"]), case["kind"] == "contact"
    options = dict(velocity_share=case["share"]) if contact else dict(restitution=case["share"])
    options.update(damping=case["damping"], height_share=0.0)
    dynamics = rigid_dynamics(
        of, losses=False, plain=True, armature=CROCODDYL["armature"], **options
    )
    q, v, tau = (np.array(case[name]) for name in ("q", "v", "tau"))
    force = (
        tau if contact else pin.nonLinearEffects(of.robot.model, of.robot.model.createData(), q, v)
    )
    p = replace(nominal_point(of, 0), q=q, v=v, force=force)
    stance = [
        (CLOSED if contact else LANDING) if foot in case["held"] else OPEN
        for foot in range(len(of.robot.feet))
    ]
    out = step(dynamics, p, stance)
    motion, wrench = out["v_next"], out["wrench"][rows_of(of, case["held"])]
    if contact:
        motion, wrench = (motion - v) / of.dt, wrench / of.dt
    np.testing.assert_allclose(
        motion, case["motion"], atol=1e-10 * max(1.0, np.abs(case["motion"]).max())
    )
    np.testing.assert_allclose(
        wrench, case["force"], atol=1e-10 * max(1.0, np.abs(case["force"]).max())
    )


STANCES = {"go2": (CLOSED, OPEN, LANDING, CLOSED), "g1": (CLOSED, LANDING)}


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("damping", [0.0, 1e-5])
@pytest.mark.parametrize("manifold", ["log_cholesky", "exponential_eigenvalue"])
@pytest.mark.parametrize("name", ["go2", "g1"])
def test_derivatives(name, manifold, damping, share):
    if manifold != "log_cholesky" and (damping, share) != (1e-5, 1.0):
        pytest.skip("one set of options says it all")
    of = problem(name, manifold=manifold)
    dynamics = rigid_dynamics(of, damping=damping, velocity_share=share, restitution=0.2)
    p = random_point(of, np.random.default_rng(1), "stance")
    model = of.robot.model
    stance = STANCES[name]
    out, worst = step(dynamics, p, stance, derivatives=True), {}
    for argument in ("q", "v", "force", "xi", "theta", "height"):
        for value, prefix in (("v_next", "d"), ("wrench", "wrench_d")):
            analytic = by(out, p, argument, prefix)
            at = lambda dx, a=argument, o=value: step(dynamics, moved(model, p, a, dx), stance)[o]  # noqa: E731
            worst[value, argument] = relative_error(analytic, jacobian(at, analytic.shape[1]), 1e-3)
    assert max(worst.values()) < 1e-6, worst


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_feet_on_the_ground_do_not_accelerate(name):
    """Twin: M (v+ - v)/dt + nle + loss = tau + sum J_i^T f_i, with feet whose acceleration
    Pinocchio says is zero."""
    of = problem(name)
    dynamics = rigid_dynamics(of, plain=True, damping=0.0, velocity_share=0.0, height_share=0.0)
    p, robot, model = nominal_point(of, 5), of.robot, of.robot.model
    out = step(dynamics, p, [CLOSED] * len(robot.feet))
    a, data = (out["v_next"] - p.v) / of.dt, model.createData()
    rate = 0.5 * (p.v + out["v_next"])[-of.nj :]
    balance = pin.rnea(model, data, p.q, p.v, a) - p.force
    balance[-of.nj :] += robot.joint_damping * rate + robot.joint_friction * rate / np.hypot(
        rate, 0.05
    )
    pin.computeJointJacobians(model, data, p.q)
    pin.forwardKinematics(model, data, p.q, p.v, a)
    pin.updateFramePlacements(model, data)
    for contact, impulse in zip(robot.contacts, out["impulse"].reshape(-1, 3)):
        frame = model.getFrameId(contact.frame)
        if len(robot.contacts) > len(robot.feet):
            held = pin.getFrameAcceleration(model, data, frame).vector
        else:
            held = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).linear
        np.testing.assert_allclose(held, 0.0, atol=1e-7)
        lever = data.oMf[frame].rotation @ np.array(contact.position)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        balance -= (J[:3] - pin.skew(lever) @ J[3:]).T @ impulse / of.dt
    np.testing.assert_allclose(balance, 0.0, atol=1e-8 * abs(out["impulse"]).max() / of.dt)


def test_redundant_contacts_need_damping():
    """A quadruped stretched out straight has legs whose contacts cannot be told apart."""
    of = problem("go2")
    p = nominal_point(of, 0)
    straight = p.q.copy()
    straight[7:] = np.tile([0.0, 0.0, 0.0], 4)
    p = replace(p, q=straight, v=0.0 * p.v)
    out = step(rigid_dynamics(of, damping=1e-5), p, [CLOSED] * 4)
    assert np.isfinite(out["v_next"]).all() and np.isfinite(out["wrench"]).all()


def standing_on(force, moment, more=()):
    """A g1 whose left foot transmits this wrench [N, Nm, at the foot's frame]: the step, the corner
    forces, levers of the corners."""
    of = problem("g1")
    model, q = of.robot.model, pin.neutral(of.robot.model)
    data, v = model.createData(), np.zeros(model.nv)
    pin.computeJointJacobians(model, data, q)
    frame = model.getFrameId(of.robot.contacts[0].frame)
    J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
    balance = pin.nonLinearEffects(model, data, q, v) - J.T @ np.concatenate([force, moment])
    p = replace(nominal_point(of, 0), q=q, v=v, force=balance, friction=0.8)
    out = step(rigid_dynamics(of, damping=0.0, height_share=0.0, more=more), p, (CLOSED, OPEN))
    np.testing.assert_allclose(
        out["wrench"][:6], of.dt * np.concatenate([force, moment]), atol=1e-8
    )
    levers = [np.array(c.position) - [0.0, 0.0, c.radius] for c in of.robot.contacts[:4]]
    return out, out["impulse"].reshape(-1, 3) / of.dt, levers


@pytest.mark.parametrize(
    "x, y", [(0.035, 0.0), (0.1, 0.02), (-0.045, -0.02), (0.115, -0.025), (0.0, 0.026)]
)
def test_corners_share_the_wrench_of_a_flat_foot(x, y):
    """They add up to it, and none pulls while the centre of pressure lies under the sole, even near
    its rim."""
    force = np.array([20.0, -10.0, 300.0])
    out, corners, levers = standing_on(force, np.cross([x, y, -0.035], force))
    assert not corners[4:].any() and not out["wrench"][6:].any()
    np.testing.assert_allclose(corners.sum(axis=0), force, atol=1e-6)
    moment = sum(np.cross(lever, f) for lever, f in zip(levers, corners))
    np.testing.assert_allclose(moment, np.cross([x, y, -0.035], force), atol=1e-6)
    assert corners[:4, 2].min() > -1e-2
    assert out["cone"].max() < 0.0


@pytest.mark.parametrize(
    "force, at, yaw, row",
    [
        ([260.0, 0.0, 300.0], [0.03, 0.0], 0.0, 0),
        ([0.0, 0.0, -50.0], [0.03, 0.0], 0.0, 0),
        ([0.0, 0.0, 300.0], [0.14, 0.0], 0.0, (1, 2, 3, 4)),
        ([0.0, 0.0, 300.0], [0.03, -0.04], 0.0, (1, 2, 3, 4)),
        ([0.0, 0.0, 300.0], [0.03, 0.0], 30.0, 5),
        ([0.0, 0.0, 300.0], [0.03, 0.0], -30.0, 5),
    ],
)
def test_wrench_cone(force, at, yaw, row):
    """Sliding, pulling, a centre of pressure beside the sole, and a yaw moment each leave the cone
    through their own rows."""
    out, _, _ = standing_on(np.array(force), np.cross([*at, -0.035], force) + [0.0, 0.0, yaw])
    outside = np.flatnonzero(out["cone"][:6] > 0.0)
    assert set(outside) & set(np.atleast_1d(row)), out["cone"]
    if force[2] > 0.0:
        assert len(outside) == 1


def between(a, b, share: float, joint: int | None = None):
    """A contact on the line between two others."""
    point = _core.ContactPoint()
    point.name = "between"
    point.joint = joint or a.joint
    point.foot = a.foot
    point.radius = a.radius
    for name in ("position", "lever"):
        setattr(point, name, (1.0 - share) * getattr(a, name) + share * getattr(b, name))
    return point


def test_contacts_in_the_middle_of_an_edge_leave_the_edge_there():
    """Feet with a third contact on each of the long edges.

    The centre of pressure is kept inside of the same four.
    """
    of = problem("g1")
    corners = contact_points(of.robot)
    middles = tuple(
        between(corners[a], corners[b], share)
        for a, b, share in ((0, 2, 0.5), (1, 3, 0.3), (4, 6, 0.5), (5, 7, 0.3))
    )
    assert rigid_dynamics(of, more=middles).ncone == rigid_dynamics(of).ncone == 12
    force = np.array([0.0, 0.0, 300.0])
    for y, outside in ((0.0, 0), (0.04, 1), (-0.04, 1)):
        out, _, _ = standing_on(force, np.cross([0.03, y, -0.035], force), middles)
        assert np.count_nonzero(out["cone"][1:5] > 0.0) == outside


def test_contacts_of_a_foot_move_with_one_joint():
    of = problem("g1")
    corners = contact_points(of.robot)
    with pytest.raises(ValueError, match="move with one joint"):
        rigid_dynamics(of, more=(between(corners[0], corners[2], 0.5, joint=corners[4].joint),))


@pytest.mark.parametrize("bad", ["q", "v", "force"])
def test_input_that_is_not_finite_is_named(bad):
    of = problem("go2")
    p = nominal_point(of, 0)
    p = replace(p, **{bad: getattr(p, bad) * np.nan})
    with pytest.raises(_core.SolveError, match="contact dynamics"):
        step(rigid_dynamics(of), p, [CLOSED] * 4)


def test_one_flag_per_foot():
    of = problem("go2")
    with pytest.raises(ValueError, match="flag"):
        step(rigid_dynamics(of), nominal_point(of, 0), [CLOSED] * 3)
