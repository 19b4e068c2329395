# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Whole-body dynamics and nodes: contact law, known motions, derivatives."""

import crocoddyl
import numpy as np
import pinocchio as pin
import pytest

from prime_estimation._core import StateParameters, WholeBody
from prime_estimation.control.horizon import Horizon
from prime_estimation.control.parameters import ControlConfig
from prime_estimation.control.posture import contact_jacobian, standing_posture
from prime_estimation.robot import GRAVITY, Robot

STEP = ControlConfig().step


def horizon(name: str) -> Horizon:
    robot = Robot.load(name)
    return Horizon(robot, standing_posture(robot), ControlConfig(nodes=5))


@pytest.fixture(scope="module", params=("go2", "g1"))
def problem(request) -> Horizon:
    return horizon(request.param)


def stances(h: Horizon) -> list[np.ndarray]:
    n = len(h._frames)
    return [np.ones(n, bool), np.arange(n) < n // 2, np.zeros(n, bool)]


def aim_anywhere(h: Horizon, stands: np.ndarray, rng) -> None:
    """Targets that are far from everything, so that all costs and their slopes count."""
    n, target = len(stands), h.nodes[0].target
    nj = len(h.posture) - 7
    target.set_base(
        0.1 * rng.normal(size=3), pin.exp3(0.3 * rng.normal(size=3)), *rng.normal(size=(2, 3))
    )
    target.set_joints(h.posture[7:], rng.normal(size=nj), rng.normal(size=nj))
    target.set_feet(
        stands.tolist(),
        30.0 * rng.normal(size=(n, 3)),
        0.1 * rng.normal(size=(n, 3)),
        rng.normal(size=(n, 3)),
        (~stands).astype(float),
    )


def anywhere(h: Horizon, rng) -> tuple[np.ndarray, np.ndarray]:
    model = h.model
    q = pin.integrate(model, h.posture, 0.2 * rng.normal(size=model.nv))
    return np.concatenate([q, rng.normal(size=model.nv)]), 20.0 * rng.normal(size=model.nv - 6)


@pytest.mark.parametrize("which", range(3))
def test_derivatives(problem, which):
    rng = np.random.default_rng(which)
    problem.weights.friction = 0.3  # so that some forces are outside of the pyramid
    aim_anywhere(problem, stances(problem)[which], rng)
    node, (x, u) = problem.nodes[0], anywhere(problem, rng)
    data = node.createData()
    node.calc(data, x, u)
    node.calcDiff(data, x, u)
    state = node.state

    def at(dx, du):
        other = node.createData()
        node.calc(other, state.integrate(x, dx), u + du)
        return np.append(state.diff(data.xnext, other.xnext), other.cost)

    ndx, nu, h = state.ndx, len(u), 1e-6
    moves = h * np.eye(ndx + nu)
    slope = np.array([(at(m[:ndx], m[ndx:]) - at(-m[:ndx], -m[ndx:])) / (2 * h) for m in moves]).T
    for name, wanted in (
        ("Fx", slope[:-1, :ndx]),
        ("Fu", slope[:-1, ndx:]),
        ("Lx", slope[-1, :ndx]),
        ("Lu", slope[-1, ndx:]),
    ):
        found = np.array(getattr(data, name)).reshape(wanted.shape)
        assert np.abs(found - wanted).max() < 2e-5 * np.abs(wanted).max(), name


def test_terminal_derivatives(problem):
    rng = np.random.default_rng(7)
    aim_anywhere(problem, stances(problem)[1], rng)
    node, (x, _) = problem.nodes[0], anywhere(problem, rng)
    data, state = node.createData(), node.state
    node.calc(data, x)
    node.calcDiff(data, x)

    def cost(dx):
        other = node.createData()
        node.calc(other, state.integrate(x, dx))
        return other.cost

    moves = 1e-6 * np.eye(state.ndx)
    slope = np.array([(cost(m) - cost(-m)) / 2e-6 for m in moves])
    assert np.abs(data.Lx - slope).max() < 1e-6 * np.abs(slope).max()


def test_hessians_are_those_of_least_squares(problem):
    """Gauss-Newton: symmetric and never negative."""
    rng = np.random.default_rng(3)
    aim_anywhere(problem, stances(problem)[1], rng)
    node, (x, u) = problem.nodes[0], anywhere(problem, rng)
    data = node.createData()
    node.calc(data, x, u)
    node.calcDiff(data, x, u)
    H = np.block([[data.Lxx, data.Lxu], [data.Lxu.T, data.Luu]])
    assert np.abs(H - H.T).max() < 1e-9 * np.abs(H).max()
    assert np.linalg.eigvalsh(H)[0] > -1e-9 * np.abs(H).max()


def test_carrying_is_the_statics_of_pinocchio(problem):
    """What equal shares leave over is the moment of the weight about the middle of the feet."""
    model, data, q = problem.model, problem.model.createData(), problem.posture
    force, torque = problem.carrying(stances(problem)[0])
    weight = GRAVITY * pin.computeTotalMass(model)
    assert force[:, 2].sum() == pytest.approx(weight)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    left = pin.computeGeneralizedGravity(model, data, q) - np.r_[np.zeros(6), torque]
    points = []
    for frame, offset, f in zip(problem._frames, problem._offsets, force):
        left -= contact_jacobian(model, data, frame, offset).T @ f
        points.append(data.oMf[frame] * offset)
    lever = pin.centerOfMass(model, data, q) - np.mean(points, axis=0)
    moment = np.cross(lever, [0.0, 0.0, weight])
    assert left == pytest.approx(np.r_[np.zeros(3), moment, np.zeros(len(torque))], abs=1e-8)


def test_standing_robot_stays_where_it_is():
    """The Go2, whose centre of mass is between its feet."""
    problem = horizon("go2")
    stands = stances(problem)[0]
    force, torque = problem.carrying(stands)
    aim_anywhere(problem, stands, np.random.default_rng(0))
    node, data = problem.nodes[0], problem.nodes[0].createData()
    x = np.concatenate([problem.posture, np.zeros(problem.model.nv)])
    node.calc(data, x, torque)
    assert np.abs(data.xnext[len(problem.posture) :]).max() < 0.15
    assert node.forces(data)[:, 2].sum() == pytest.approx(force[:, 2].sum(), rel=0.05)


def test_free_fall_of_a_robot_that_does_not_stand(problem):
    none = stances(problem)[2]
    aim_anywhere(problem, none, np.random.default_rng(0))
    node, data, nv = problem.nodes[0], problem.nodes[0].createData(), problem.model.nv
    x = np.concatenate([problem.posture, np.zeros(nv)])
    node.calc(data, x, np.zeros(nv - 6))
    v = data.xnext[len(problem.posture) :]
    assert v[:6] == pytest.approx([0, 0, -GRAVITY * STEP, 0, 0, 0], abs=1e-9)
    # a constant acceleration moves the base by g dt^2/2
    assert data.xnext[2] - x[2] == pytest.approx(-0.5 * GRAVITY * STEP**2, rel=1e-6)
    assert np.abs(node.forces(data)).max() == 0.0


def test_standing_points_have_no_velocity_after_a_node(problem):
    """A foot that comes down at 1 m/s stops; its sphere rolls, the lowest point rests."""
    model, stands = problem.model, stances(problem)[0]
    aim_anywhere(problem, stands, np.random.default_rng(0))
    node, data = problem.nodes[0], problem.nodes[0].createData()
    v = np.zeros(model.nv)
    v[2] = -1.0
    node.calc(data, np.concatenate([problem.posture, v]), np.zeros(model.nv - 6))
    after, pin_data = data.xnext[len(problem.posture) :], model.createData()
    pin.forwardKinematics(model, pin_data, problem.posture, np.array(after))
    robot = Robot.load("go2" if len(problem._frames) == 4 else "g1")
    for frame, contact in zip(problem._frames, robot.contacts):
        joint = model.frames[frame].parentJoint
        placement = model.frames[frame].placement
        centre = pin_data.oMi[joint] * placement.act(np.array(contact.position, float))
        spatial = pin_data.oMi[joint].act(pin_data.v[joint])
        lowest = centre - [0.0, 0.0, contact.radius]
        speed = spatial.linear + np.cross(spatial.angular, lowest)
        assert np.abs(speed).max() < 0.02  # what the compliance of the contact leaves of 1 m/s


def test_inertias_are_taken_over_between_two_solves():
    h = horizon("go2")
    none = stances(h)[0]
    aim_anywhere(h, none, np.random.default_rng(0))
    node, data = h.nodes[0], h.nodes[0].createData()
    x = np.concatenate([h.posture, np.zeros(18)])

    def weight() -> float:
        _, torque = h.carrying(none)
        node.calc(data, x, torque)
        return node.forces(data)[:, 2].sum()

    before = weight()
    h.model.inertias[1] += pin.Inertia(3.0, np.zeros(3), 0.01 * np.eye(3))
    assert weight() == pytest.approx(before)
    h.take_inertias()
    assert weight() - before == pytest.approx(3.0 * GRAVITY, rel=0.05)


def test_what_is_no_whole_body_is_refused(go2):
    model, positions = go2.model, np.zeros((1, 3))
    for joint, compliance in ((1, 1e-4), (99, 1e-4), (3, 0.0)):
        with pytest.raises(ValueError, match="whole body"):
            WholeBody(model, [joint], positions, np.zeros(1), compliance)
    with pytest.raises(ValueError, match="one joint, position"):
        WholeBody(model, [3, 4], positions, np.zeros(1), 1e-4)
    fixed = pin.Model()
    with pytest.raises(ValueError, match="free-flyer"):
        WholeBody(fixed, [3], positions, np.zeros(1), 1e-4)


def test_a_receding_horizon_finds_what_crocoddyl_finds():
    """Iterated, both solvers end at the same cost of the same problem."""
    h = horizon("go2")
    stands = np.ones(4, bool)
    _, torque = h.carrying(stands)
    for node in h.nodes:
        node.target.set_base(h.posture[:3] - [0.0, 0.0, 0.02], np.eye(3), np.zeros(3), np.zeros(3))
        node.target.set_joints(h.posture[7:], np.zeros(12), torque)
        node.target.set_feet([True] * 4, *np.zeros((3, 4, 3)), np.zeros(4))
    x0, n = np.concatenate([h.posture, np.zeros(18)]), len(h.nodes) - 1
    xs, us = np.tile(x0[:, None], n + 1), np.tile(torque[:, None], n)
    assert h.solver.improve(x0, xs, us, 20)
    h.problem.x0 = x0
    reference = crocoddyl.SolverFDDP(h.problem)
    reference.solve([x0] * (n + 1), [torque] * n, 50, False)
    assert h.solver.cost == pytest.approx(reference.cost, rel=1e-4)
    assert h.solver.states().shape == (37, n + 1) and h.solver.controls().shape == (12, n)
    with pytest.raises(ValueError, match="a guess needs"):
        h.solver.improve(x0, xs[:, 1:], us, 1)


def test_a_guess_that_leads_nowhere_is_kept():
    h = horizon("go2")
    x0, n = np.concatenate([h.posture, np.zeros(18)]), len(h.nodes) - 1
    xs, us = np.tile(x0[:, None], n + 1), np.full((12, n), np.nan)
    assert not h.solver.improve(x0, xs, us, 1) and h.solver.refused == 1


def test_states_are_those_of_the_model(go2):
    state = StateParameters(go2.model, 0)
    assert (state.nx, state.ndx) == (37, 36)
