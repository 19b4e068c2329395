# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The MuJoCo scene is the same mechanism as the Pinocchio model."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.control.torque_limits import torque_limits
from prime_estimation.errors import ConfigError, RobotError
from prime_estimation.robot import Robot
from prime_estimation.simulate.ground import Ground
from prime_estimation.simulate.model import build, loaded_model
from prime_estimation.simulate.payload import Payload
from prime_estimation.simulate.push import Push
from prime_estimation.simulate.world import SimulationError, World, rotation

PAYLOADS = [
    None,
    Payload(3.0, (0.05, 0.02, 0.1)),
    Payload(0.5, (0.0, 0.0, -0.1), link="FR_calf", size=(0.05, 0.04, 0.03)),
]


@pytest.mark.parametrize("name", ["go1", "go2"])
@pytest.mark.parametrize("payload", PAYLOADS, ids=["bare", "trunk", "calf"])
def test_mass_matrix_and_bias_forces_are_those_of_pinocchio(name, payload):
    robot = Robot.load(name)
    model = loaded_model(robot, payload)
    world = World(robot, payload, Ground(), 0)
    world.load(True)
    rng = np.random.default_rng(1)
    q = np.concatenate([[0.3, -0.2, 5.0], rng.standard_normal(4), rng.uniform(-0.5, 0.5, robot.nj)])
    q[3:7] /= np.linalg.norm(q[3:7])
    world.place(q)
    v = rng.standard_normal(model.nv)
    R = rotation(q[3:7])
    # MuJoCo's free joint has its linear velocity in world axes; both trees are depth first, so the
    # joints agree in order
    turn = np.eye(model.nv)
    turn[:3, :3] = R
    world.data.qvel[:] = turn @ v
    mujoco.mj_forward(world.model, world.data)
    M = np.zeros((model.nv, model.nv))
    for i, e in enumerate(np.eye(model.nv)):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(world.model, world.data, column, e)
        M[:, i] = column
    data = model.createData()
    reference = pin.crba(model, data, q)
    reference = np.triu(reference) + np.triu(reference, 1).T
    np.testing.assert_allclose(turn.T @ M @ turn, reference, atol=1e-9)
    # d(R v)/dt = R (dv + omega x v): its second part belongs to the bias forces of the body-fixed
    # velocity
    bias = turn.T @ world.data.qfrc_bias + reference[:, :3] @ np.cross(v[3:6], v[:3])
    np.testing.assert_allclose(bias, pin.nonLinearEffects(model, data, q, v), atol=1e-8)


def test_contact_spheres_are_where_the_robot_says():
    robot = Robot.load("go1")
    world = World(robot, None, Ground(), 0)
    q = pin.neutral(robot.model)
    q[2], q[7:] = 1.0, 0.3
    world.place(q)
    mujoco.mj_forward(world.model, world.data)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    for contact in robot.contacts:
        geom = mujoco.mj_name2id(world.model, mujoco.mjtObj.mjOBJ_GEOM, contact.name)
        np.testing.assert_allclose(
            world.data.geom_xpos[geom],
            data.oMf[robot.model.getFrameId(contact.frame)].translation,
            atol=1e-12,
        )
        assert world.model.geom_size[geom, 0] == contact.radius


def test_payload_is_lumped_about_the_joint_frame():
    robot = Robot.load("go2")
    payload = Payload(3.0, (0.05, 0.02, 0.1), size=(0.2, 0.16, 0.06))
    difference = (
        loaded_model(robot, payload).inertias[1].toDynamicParameters()
        - robot.model.inertias[1].toDynamicParameters()
    )
    box = 3.0 / 12 * np.diag([0.16**2 + 0.06**2, 0.2**2 + 0.06**2, 0.2**2 + 0.16**2])
    c = np.array([0.05, 0.02, 0.1])
    tensor = box + 3.0 * (c @ c * np.eye(3) - np.outer(c, c))
    expected = [
        3.0,
        *(3.0 * c),
        tensor[0, 0],
        tensor[0, 1],
        tensor[1, 1],
        tensor[0, 2],
        tensor[1, 2],
        tensor[2, 2],
    ]
    np.testing.assert_allclose(difference, expected, atol=1e-12)
    assert robot.total_mass == pytest.approx(16.085)  # the robot itself does not know


def test_bumps_are_as_high_as_asked_and_seeded():
    ground = Ground(bump_height=0.05)
    tops = np.array([c[2] + r for c, r in ground.spheres(4)])
    assert 0.018 < tops.min() and 0.045 < tops.max() <= 0.05
    assert all(np.linalg.norm(c[:2]) > 0.55 for c, _ in ground.spheres(4))
    assert ground.spheres(4)[0][1] == ground.spheres(4)[0][1] != ground.spheres(5)[0][1]
    assert Ground().spheres(4) == []


def test_torque_limits_fall_back_to_the_urdf():
    robot = Robot.load("go1")
    assert torque_limits(robot).tolist() == [23.7, 23.7, 35.55] * 4


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Payload(-1.0), "positive mass"),
        (lambda: Payload(float("nan")), "finite"),
        (lambda: Payload(1.0, t_on=1.0, t_off=1.0), "at the same time"),
        (lambda: Payload(1.0, stiffness=200.0, t_on=1.0), "all the time"),
        (lambda: Ground(stair_height=0.1, slope=0.1), "not both"),
        (lambda: Push((1.0, 0.0, 0.0), 1.0, 0.0), "positive duration"),
        (lambda: Ground(friction=0.0), "out of range"),
        (lambda: Ground(bump_height=0.3), "out of range"),
        (lambda: loaded_model(Robot.load("go2"), Payload(1.0, link="nose")), "unknown link 'nose'"),
    ],
)
def test_nonsense_is_refused(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_inertias_that_no_body_has_become_those_of_the_nearest():
    """The thighs of the Mini Cheetah's URDF violate the triangle inequality."""
    robot, changed = Robot.load("mini_cheetah"), 0
    for own, made in zip(robot.model.inertias[1:], loaded_model(robot, None).inertias[1:]):
        moments = np.linalg.eigvalsh(made.inertia)
        assert moments[0] + moments[1] >= moments[2]
        assert made.mass == own.mass and np.array_equal(made.lever, own.lever)
        a, b, c = np.linalg.eigvalsh(own.inertia)
        if a + b >= c:
            assert np.array_equal(made.inertia, own.inertia)
        else:
            changed += 1
            np.testing.assert_allclose(made.inertia, own.inertia, atol=0.5 * (c - a - b) + 2e-3 * c)
    assert changed == 4 and build(robot, None, Ground(), 0).nbody > 12


def test_a_robot_without_contacts_is_refused():
    robot = Robot.load("go2")
    robot.contacts = []
    with pytest.raises(RobotError, match="contact spheres"):
        build(robot, None, Ground(), 0)


def test_a_simulation_that_becomes_unstable_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it is
    robot = Robot.load("go2")
    world = World(robot, None, Ground(), 0)
    world.place(pin.neutral(robot.model))
    with pytest.raises(SimulationError, match="became unstable at t = 0.00"):
        world.step(np.full(12, np.nan))
