# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The books of the simulation balance, and the robots do what they are asked to."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.config.parameters import Config, ContactConfig, RobotConfig
from prime_estimation.errors import ConfigError, RobotError
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.simulate import MOTIONS, Ground, Payload, SimulationError, simulate
from prime_estimation.simulate import recording as making
from prime_estimation.simulate.bag import foot_wrenches
from prime_estimation.simulate.controller import Controller
from prime_estimation.simulate.model import loaded_model
from prime_estimation.simulate.recording import _check_upright


def rigid_body_torque(recording, k):
    """rnea(q, v, a) - J^T f with the inertias of that moment, no armature."""
    robot = recording.robot
    model = loaded_model(robot, recording.payload if recording.loaded[k] else None)
    model.armature[:] = 0.0
    data = model.createData()
    tau = pin.rnea(model, data, recording.q[k], recording.v[k], recording.a[k])
    pin.computeJointJacobians(model, data, recording.q[k])
    pin.updateFramePlacements(model, data)
    for contact, force, moment in zip(
        robot.contacts, recording.contact_force[k], recording.contact_moment[k]
    ):
        J = pin.getFrameJacobian(
            model, data, model.getFrameId(contact.frame), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        tau = tau - J.T @ np.concatenate([force, moment])
    return tau


@pytest.mark.parametrize("fixture", ["walk", "stand"])
def test_equation_of_motion_holds_at_every_sample(fixture, request):
    recording = request.getfixturevalue(fixture)
    robot = recording.robot
    for k in range(0, len(recording.t), 29):
        losses = (
            recording.tau_friction[k]
            - robot.joint_damping * recording.v[k, 6:]
            - robot.model.armature[6:] * recording.a[k, 6:]
        )
        expected = np.concatenate([np.zeros(6), recording.tau_motor[k] + losses])
        np.testing.assert_allclose(rigid_body_torque(recording, k), expected, atol=1e-3)


def test_accelerations_lead_to_the_next_velocity_and_velocities_to_the_next_state(walk):
    model, dt = walk.robot.model, walk.dt
    np.testing.assert_allclose(walk.v[1:, 6:], walk.v[:-1, 6:] + dt * walk.a[:-1, 6:], atol=1e-9)
    for k in range(0, len(walk.t) - 1, 17):
        # world velocity of the base: the integrator is linear in it
        now, after = (pin.Quaternion(walk.q[i, 3:7]).matrix() @ walk.v[i, :3] for i in (k, k + 1))
        rate = pin.Quaternion(walk.q[k, 3:7]).matrix() @ (
            walk.a[k, :3] + np.cross(walk.v[k, 3:6], walk.v[k, :3])
        )
        np.testing.assert_allclose(after, now + dt * rate, atol=1e-9)
        moved = pin.difference(model, walk.q[k], walk.q[k + 1]) / dt
        np.testing.assert_allclose(walk.q[k + 1, :3] - walk.q[k, :3], dt * after, atol=1e-9)
        np.testing.assert_allclose(moved[3:], walk.v[k + 1, 3:], atol=1e-6)


def test_ground_carries_the_weight_of_robot_and_payload(walk, stand):
    for recording, mass in (
        (walk, walk.robot.total_mass + 0.5 * walk.payload.mass),
        (stand, stand.robot.total_mass + 2.0),
    ):
        impulse = recording.contact_force[:, :, 2].sum() * recording.dt
        height = recording.q[:, 2]
        momentum = mass * (
            np.gradient(height, recording.dt)[-1] - np.gradient(height, recording.dt)[0]
        )
        assert impulse / (GRAVITY * recording.t[-1]) == pytest.approx(
            mass + momentum / (GRAVITY * recording.t[-1]), rel=0.02
        )


def test_forces_stay_in_the_friction_cone_and_friction_opposes_motion(walk):
    force = walk.contact_force.reshape(-1, 3)
    assert force[:, 2].min() >= -1e-6
    assert np.all(np.linalg.norm(force[:, :2], axis=1) <= 0.8 * force[:, 2] + 1e-3)
    assert np.all(np.abs(walk.tau_friction) <= walk.robot.joint_friction + 1e-6)
    # the constraint acts on the velocity that follows; impacts may outdo it for a step
    fast = np.abs(walk.v[1:, 6:]) > 0.5
    assert np.mean((walk.tau_friction[:-1] * walk.v[1:, 6:])[fast] < 0) > 0.995
    assert np.all(np.abs(walk.tau_motor) <= [23.7, 23.7, 45.43] * 4)


def test_gears_lose_a_share_of_the_torque_to_either_side():
    config = Config.load("go2").updated({"robot": {"gear_loss": 0.06}})
    run = simulate(Robot(config.robot), "trot", 0.6)
    lost, most = np.abs(run.tau_friction), 0.2 + 0.06 * np.abs(run.tau_motor)
    assert np.all(lost <= most + 1e-6)
    sliding = np.abs(run.v[:, 6:]) > 1.0
    assert np.median((lost / most)[sliding]) > 0.99


def test_joints_break_away():
    changes = {"joint_friction": 0.1, "stribeck": 0.3, "stribeck_velocity": 0.5}
    run = simulate(Robot(Config.load("go2").updated({"robot": changes}).robot), "trot", 0.6)
    rate = run.v[:, 6:]
    most = 0.1 + 0.3 * np.exp(-((rate / 0.5) ** 2))
    lost = np.abs(run.tau_friction)
    assert np.all(lost <= most + 1e-6) and np.median((lost / most)[np.abs(rate) > 0.8]) > 0.99


def test_payload_comes_when_it_should(walk):
    assert not walk.loaded[:1000].any() and walk.loaded[1000:].all()
    gone = simulate("go2", "stand", 0.4, Payload(2.0, t_off=0.1))
    assert gone.loaded[:100].all() and not gone.loaded[100:].any()


def test_same_seed_same_run_other_seed_other_run():
    a, b, c = (simulate("go2", "trot", 0.3, seed=s, start=0.3) for s in (1, 1, 2))
    assert all(
        np.array_equal(getattr(a, n), getattr(b, n))
        for n in ("q", "v", "a", "tau_motor", "contact_force")
    )
    assert not np.array_equal(a.q, c.q)


@pytest.mark.parametrize(
    "name, motion",
    [("go2", m) for m in MOTIONS if m not in ("stand", "step")] + [("go1", "trot"), ("go1", "hop")],
)
def test_robots_do_what_they_are_asked_to(name, motion):
    recording = simulate(name, motion, 1.5, Payload(4.0, (0.05, -0.02, 0.1)), seed=5, start=1.5)
    on = recording.contact_force[:, :, 2] > 1.0
    flying = (~on.any(axis=1)).mean()
    assert (flying > 0.2) == (motion == "hop")
    assert on.all(axis=1).mean() > 0.95 if motion == "sway" else on.all(axis=1).mean() < 0.8
    v = recording.v[:, [0, 1, 5]].mean(axis=0)
    command = np.mean([_command(recording, t) for t in recording.t[::10] + 1.5], axis=0)
    assert np.abs(v - command).max() < 0.12


def _command(recording, t):
    c = MOTIONS[recording.motion].script(recording.seed)(t)
    return [*(c.velocity + c.body_rate[:2]), c.yaw_rate + c.body_rate[5]]


@pytest.fixture(scope="module")
def biped():
    """A 29-joint humanoid with four contact spheres under each foot."""
    corners = [(-0.05, 0.025), (-0.05, -0.025), (0.12, 0.03), (0.12, -0.03)]
    contacts = [
        ContactConfig(f"{side}_foot/{i}", f"{side}_ankle_roll_link", [x, y, -0.03], 0.005)
        for side in ("left", "right")
        for i, (x, y) in enumerate(corners)
    ]
    losses = dict(armature=0.01, joint_friction=0.2, joint_damping=0.05)
    return Robot(
        RobotConfig(
            name="g1",
            urdf="example-robot-data:g1",
            base_frame="pelvis",
            contacts=contacts,
            **losses,
        )
    )


def test_a_humanoid_stands_and_sways_with_a_payload(biped):
    recording = simulate(
        biped, "sway", 1.0, Payload(2.9, (-0.1, 0.0, 0.2), link="torso_link"), start=1.0
    )
    assert recording.contact_force.shape[1] == 8
    for k in range(0, 1000, 97):
        losses = (
            recording.tau_friction[k]
            - biped.joint_damping * recording.v[k, 6:]
            - biped.model.armature[6:] * recording.a[k, 6:]
        )
        expected = np.concatenate([np.zeros(6), recording.tau_motor[k] + losses])
        np.testing.assert_allclose(rigid_body_torque(recording, k), expected, atol=5e-3)
    feet, force, _ = foot_wrenches(recording, 4)
    assert feet == ["left_foot", "right_foot"]  # as in the output, whatever the frame is called
    np.testing.assert_allclose(
        force.sum(axis=1).mean(axis=0)[2] / GRAVITY, biped.total_mass + 2.9, rtol=0.05
    )
    with pytest.raises(RobotError, match="four point feet"):
        simulate(biped, "trot", 1.0)


def test_walks_over_bumps():
    recording = simulate(
        "go2",
        "forward",
        3.0,
        Payload(3.0, (0.05, 0.02, 0.1)),
        Ground(bump_height=0.05),
        seed=2,
        start=1.0,
    )
    assert np.linalg.norm(recording.q[-1, :2] - recording.q[0, :2]) > 0.8
    assert np.abs(recording.contact_force[:, :, :2]).max() > 20.0


def test_progress_runs_from_zero_to_one():
    seen = []
    simulate("go2", "stand", 0.2, progress=seen.append)
    assert seen[0] == 0.0 and seen[-1] == 1.0 and seen == sorted(seen)


def test_a_fall_is_an_error_that_says_when():
    with pytest.raises(SimulationError, match=r"fell [0-9.]+ s before the recording"):
        simulate("go2", "stand", 1.0, Payload(60.0))


def test_a_fall_in_the_last_moment_is_seen(monkeypatch):
    seen = []
    monkeypatch.setattr(making, "_check_upright", lambda step, height, t: seen.append(t))
    last = simulate("go2", "stand", 0.12).t[-1]
    assert seen[-1] == pytest.approx(last) and np.diff(seen).max() < 0.0501


@pytest.mark.parametrize(("at", "told"), [(0.1, "at t = 0.1"), (-0.5, "0.50 s before the recor")])
def test_what_becomes_unstable_does_so_at_a_time_of_the_recording(at, told, monkeypatch, tmp_path):
    """Which begins when the robot has settled, and moved for a while."""
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it is
    usual, start = Controller.torque, 0.3

    def torque(self, time, *state):
        return usual(self, time, *state) * (np.nan if time >= at + start else 1.0)

    monkeypatch.setattr(Controller, "torque", torque)
    with pytest.raises(SimulationError, match=f"go2 became unstable {told}"):
        simulate("go2", "stand", 0.3, start=start)


BAD = [
    ("go2", "moonwalk", 1.0),
    ("go2", "trot", float("nan")),
    ("go2", "trot", -1.0),
    ("go9", "trot", 1.0),
]


@pytest.mark.parametrize("arguments", BAD)
def test_bad_requests_are_refused(arguments):
    with pytest.raises(ConfigError):
        simulate(*arguments)
    with pytest.raises(ConfigError, match="within the recording"):
        simulate("go2", "trot", 1.0, Payload(1.0, t_on=2.0))


@pytest.mark.parametrize(
    ("time", "told"),
    [
        (2.0, "fell at t = 2.00 s;"),
        (0.0, "fell at t = 0.00 s;"),
        (-0.75, "fell 0.75 s before the recording;"),
    ],
)
def test_no_fall_is_told_at_a_negative_time(time, told):
    step = SimpleNamespace(q=np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]))
    _check_upright(step, 0.5, time)  # which stands
    with pytest.raises(SimulationError, match=told):
        _check_upright(step, 0.3, time)
