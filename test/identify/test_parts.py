# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Steps of an identification and parts of its report, with known answers."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, problem, robot

from prime_estimation.errors import DataError
from prime_estimation.identify import held_out
from prime_estimation.identify.full_information import ForwardPass, _lost
from prime_estimation.identify.fusion import check_agreement, fuse, repeatability
from prime_estimation.identify.joint_notices import joint_notices, still_joints
from prime_estimation.identify.joint_yaml import noise_changes, robot_changes
from prime_estimation.identify.joints import JointPosterior
from prime_estimation.identify.outcome import equivalent_box, error_table
from prime_estimation.identify.posterior import Posterior
from prime_estimation.identify.single import _after_change, _friction_notice, _without_filled
from prime_estimation.identify.systematic import COMMON, ZERO, _lead_error, torque_errors
from prime_estimation.identify.tare import Tare, _robot_changes
from prime_estimation.inertia import from_theta
from prime_estimation.joint_friction import FRICTION_VELOCITY
from prime_estimation.mhe.joint_parameters import joint_blocks
from prime_estimation.robot import Robot
from prime_estimation.types import Measurement


def body(mass: float, com: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Dynamic parameters (10,)."""
    return pin.Inertia(mass, np.array(com, float), tensor).toDynamicParameters()


def test_the_box_of_an_inertia():
    edges, turn = np.array([0.2, 0.3, 0.5]), pin.rpy.rpyToMatrix(0.3, -0.2, 0.9)
    tensor = 4.0 / 12.0 * np.diag((edges**2).sum() - edges**2)
    box = equivalent_box(body(4.0, [0.1, 0.2, -0.1], turn @ tensor @ turn.T))
    axes = np.array(box["axes"])
    assert sorted(box["edges"]) == pytest.approx(edges) and np.linalg.det(axes) > 0.0
    np.testing.assert_allclose(pin.rpy.rpyToMatrix(*box["rpy"]), axes, atol=1e-12)
    along = np.abs(axes.T @ turn)  # each axis is one of the box's
    np.testing.assert_allclose(along, np.round(along), atol=1e-9)
    np.testing.assert_allclose(along @ edges, box["edges"])
    assert box["centre"] == pytest.approx([0.1, 0.2, -0.1])


def posterior(**budget: np.ndarray) -> Posterior:
    """Of a Go2's base, known to a tenth of the prior's width."""
    p = problem("go2")
    covariance = 0.01 * p.theta_prior_root @ p.theta_prior_root.T
    return Posterior.of_problem(p, p.theta_nominal, covariance, budget)


def test_shifts_of_mass_and_centre():
    """Of mass at the centre of mass, which stays, and of mass a metre above it."""
    pi = posterior().pi("base")
    com, mass = pi[1:4] / pi[0], pi[0]
    there, above = np.zeros(10), np.zeros(10)
    there[:4] = 0.5, *(0.5 * com)
    above[:4] = 0.1, *(0.1 * (com + [0.0, 0.0, 1.0]))
    zeros = {f"{ZERO}a": 3.0 * there, f"{ZERO}b": 4.0 * there}
    table = error_table(posterior(there=there, above=above, **zeros))
    assert table["there"]["base"]["mass"] == pytest.approx(0.5)
    assert table["there"]["base"]["com z"] == pytest.approx(0.0, abs=1e-12)
    assert table["above"]["base"]["com z"] == pytest.approx(0.1 / mass)
    assert table["zeros of the joints"]["base"]["mass"] == pytest.approx(2.5)


def shifted(mass: float, systematic: float, name: str) -> SimpleNamespace:
    """Run whose mass is larger, and uncertain for a cause as well."""
    shift = np.zeros(10)
    shift[0] = systematic
    p = posterior(cause=shift)
    slope = np.linalg.lstsq(_by_theta(p), np.eye(10)[0], rcond=None)[0]
    return SimpleNamespace(name=name, posterior=replace(p, theta=p.theta + mass * slope))


def _by_theta(p: Posterior) -> np.ndarray:
    return from_theta(p.theta, p.manifold)[1]


def test_half_of_the_systematic_errors_differs_between_recordings():
    one, other = shifted(0.0, 0.4, "one"), shifted(0.5, 0.4, "other")
    told = one.posterior.quantities("base")[0]
    assert told.systematic == pytest.approx(0.4)
    table = repeatability([one, other])["base"]["mass"]
    assert table["promised"] == pytest.approx(np.hypot(told.statistical, 0.2), rel=0.05)
    values = [run.posterior.quantities("base")[0].value for run in (one, other)]
    assert table["spread"] == pytest.approx((values[1] - values[0]) / np.sqrt(2.0))
    limit = 4.0 * np.sqrt(2.0) * np.hypot(told.statistical, 0.2)
    check_agreement([one, shifted(0.96 * limit, 0.4, "other")])
    with pytest.raises(DataError, match="contradict each other: mass of base"):
        check_agreement([one, shifted(1.04 * limit, 0.4, "other")])


def test_errors_are_weighed_by_what_recordings_know():
    shift = np.eye(10)[0]
    good = posterior(cause=0.1 * shift)
    bad = replace(posterior(cause=0.5 * shift), covariance=9.0 * good.covariance)
    assert fuse([good, bad]).budget["cause"][0] == pytest.approx(0.9 * 0.1 + 0.1 * 0.5)


def test_share_of_the_improvement_that_others_explain(monkeypatch):
    def fit(cost):
        return SimpleNamespace(cost=cost, to_dict=lambda: {"cost_per_node": cost})

    monkeypatch.setattr(held_out, "residuals_held", lambda window, theta: fit(6.0))
    result = SimpleNamespace(window=None)
    run = SimpleNamespace(name="a", result=result, before=fit(10.0), after=fit(5.0))
    found = held_out.cross_validate(run, SimpleNamespace(theta=None))
    assert found["explained"] == pytest.approx(0.8) and found["own"]["cost_per_node"] == 5.0
    run.before = fit(5.0)
    assert held_out.cross_validate(run, SimpleNamespace(theta=None))["explained"] is None


def joints(of: Robot, choice: str, value: float, stddev: float) -> JointPosterior:
    """Of joint parameters that are all alike, beside one coordinate of the inertia."""
    blocks = tuple(joint_blocks(of, choice))
    n = sum(len(b.labels) for b in blocks)
    mean = np.concatenate([[0.0], np.full(n, value)])
    covariance = np.diag([1.0, *np.full(n, stddev**2)])
    return JointPosterior(
        blocks, mean, covariance, np.eye(n + 1)[0], 16.0, np.zeros(n + 1), 0.0, 0.01
    )


def test_offsets_and_zeros_go_on_from_what_the_yaml_has():
    told = {"torque_scale": 1.2, "torque_offset": 0.5, "joint_zeros": {"FL_calf_joint": 0.03}}
    go2 = Robot(config("go2").updated({"robot": told}).robot)
    offsets = robot_changes(joints(go2, "offsets", 0.1, 0.01), go2)["torque_offset"]
    assert list(offsets.values()) == pytest.approx([0.5 + 1.2 * 0.1] * 12)
    found = joints(go2, "zeros", 0.01, 0.001)
    zeros = robot_changes(found, go2)["joint_zeros"]
    assert zeros["FL_calf_joint"] == pytest.approx(0.04) and zeros["FR_calf_joint"] == 0.01
    assert noise_changes(found) == {"encoder_offset": 0.001}
    spread = noise_changes(joints(go2, "gains", 0.0, 0.009))
    assert spread["torque_scale_spread"] == pytest.approx(0.009 / np.sqrt(3.0), rel=0.01)


def test_a_joint_that_does_not_move_tells_its_zero_and_nothing_else():
    go2 = robot("go2")
    still = replace(joints(go2, "zeros", 0.01, 0.001), still=("FL_hip_joint",))
    assert all(q.observable for q in still.quantities()) and not joint_notices(still)
    both = replace(joints(go2, "zeros,offsets", 0.01, 0.001), still=("FL_hip_joint",))
    untold = [(q.kind, q.label) for q in both.quantities() if not q.observable]
    assert untold == [("torque_offset", "FL_hip_joint")]
    assert joint_notices(both)[0].startswith("FL_hip_joint does not move")
    changes = robot_changes(both, go2)["joint_stddev"]
    (offsets,) = (b for b in both.blocks if b.name == "torque_offset")
    assert changes["torque_offset/FL_hip_joint"] == pytest.approx(offsets.stddev[0], rel=1e-3)
    assert changes["torque_offset/FR_hip_joint"] == changes["encoder_zero/FL_hip_joint"] == 0.001


def test_errors_of_a_common_scale_are_in_the_mean_of_all_gains():
    """Those of other causes are in the covariance."""
    found = joints(robot("go2"), "offsets", 0.0, 0.1)
    columns = {"theta": slice(0, 1), "torque_offset": slice(1, 13)}
    of = SimpleNamespace(joints=found.blocks, columns=columns.__getitem__)
    lever = np.linspace(0.0, 1.0, 13)
    steps = {COMMON: np.ones(13), "lever": lever}
    errors = found.with_errors(SimpleNamespace(problem=of), steps)
    np.testing.assert_allclose(errors.covariance - found.covariance, np.outer(lever, lever))


def test_errors_of_the_torques():
    """Of torques that grow by 10 Nm/s, of joints that turn at 2 rad/s, faster by 5 rad/s2."""
    go2, n, dt = robot("go2"), 10, 0.01
    torque = 10.0 * dt * np.arange(n)[:, None] * np.ones(12)
    velocity = 2.0 + 5.0 * dt * (np.arange(n + 1) - 0.5)
    told = config("go2")
    of = SimpleNamespace(robot=go2, config=told, nj=12, nq=0, nv=12, dt=dt, joints=[])
    xs = [v * np.ones(12) for v in velocity]
    inputs = [SimpleNamespace(torque=t) for t in [*torque, torque[-1]]]
    found = torque_errors(SimpleNamespace(problem=of, inputs=inputs, xs=xs))
    np.testing.assert_allclose(found[COMMON], told.noise.torque_scale * torque)
    np.testing.assert_allclose(found["torque delay"], 5e-4 * 10.0)
    alone = found["torque scale of FR_foot alone"]
    spread = told.noise.torque_scale_spread * torque
    own = [name.startswith("FR") for name in go2.joint_names]
    np.testing.assert_allclose(alone, np.where(own, spread, 0.0))
    lost = told.noise.joint_losses * go2.model.armature[-12:] * 5.0  # the motor gives less
    np.testing.assert_allclose(found["armature"], -lost * np.ones((n, 1)))
    rate = 0.5 * (velocity[1:] + velocity[:-1])[:, None]
    damping = -told.noise.joint_losses * go2.joint_damping * rate
    np.testing.assert_allclose(found["joint damping"], damping)


def test_scales_of_joints_keep_their_ratios():
    before = {"FL_hip_joint": 1.3, "FR_calf_joint": 0.8}
    go2 = Robot(config("go2").updated({"robot": {"torque_scale": before}}).robot)
    found = Tare(1.1, 0.01, 0.6, 0.02, 16.0, 15.0)
    scales = np.array(list(_robot_changes(found, go2)["torque_scale"].values()))
    assert scales.mean() == pytest.approx(1.1, abs=1e-6)
    np.testing.assert_allclose(scales / go2.torque_scale, scales[1] / 1.0, rtol=1e-5)


def test_zeros_before_torques_that_are_missing_are_filled_in():
    """Not those of motors that are off for a while, and begin before torques are told."""
    one = np.ones(12)
    torques = [one, 0.0 * one, 0.0 * one, None, 0.0 * one, one]
    ms = [Measurement(k, one, one, np.zeros(3), torque=torque) for k, torque in enumerate(torques)]
    assert [m.torque is None for m in _without_filled(ms)] == [False, *3 * [True], False, False]


@pytest.mark.parametrize(("found", "said"), [(0.1, True), (0.5, False), (3.0, True)])
def test_friction_of_no_floor(found, said):
    window = SimpleNamespace(problem=problem("go2"))
    expected = window.problem.config.estimator.friction
    run = SimpleNamespace(
        name="a", friction=(found * expected / 0.5, 0.01), result=SimpleNamespace(window=window)
    )
    assert bool(_friction_notice(run)) == said


def test_a_change_too_near_the_end():
    ms = [SimpleNamespace(stamp_ns=10_000_000 * k) for k in range(500)]
    told = _after_change("a", ms, 2_000_000_000, 5.0)
    assert "changes at 7.00 s" in told and "--to 6.8" in told
    with pytest.raises(DataError, match="changes at 9.10 s, too near the end"):
        _after_change("a", ms, 4_100_000_000, 5.0)


def way(unevenness: np.ndarray) -> ForwardPass:
    """Way of nodes 10 ms apart."""
    stamps = (10_000_000 * np.arange(len(unevenness))).tolist()
    return ForwardPass(None, [], {}, {}, [], dict(zip(stamps, unevenness)))


def test_uneven_ground_is_told_by_the_second_half():
    begins, rarely, often = np.zeros(400), np.zeros(400), np.zeros(400)
    begins[:200], rarely[200:239], often[200:241] = 1.0, 1.0, 1.0
    assert not way(begins).uneven and not way(rarely).uneven and way(often).uneven
    assert not way(often[100:350]).uneven  # too short to have shown it
    assert not way(np.zeros(0)).uneven


def test_what_is_said_of_a_lost_estimate():
    estimator = SimpleNamespace(config=config("go2"))
    step = int(1e9 * estimator.config.estimator.step)
    assert "sign or unit of the torques" in _lost("why", estimator, step)
    for apart in (2 * step, -step * 100):
        assert "--from and --to" in _lost("why", estimator, apart)


def test_a_joint_that_turns_over_the_end_of_its_range_does_not_move():
    go2 = robot("go2")
    q = np.zeros((20, 12))
    q[:, 0] = np.tile([np.pi - 1e-3, -np.pi + 1e-3], 10)
    q[:, 1:] = np.linspace(0.0, 0.1, 20)[:, None]
    of = SimpleNamespace(robot=SimpleNamespace(joint_names=go2.joint_names, positions=lambda x: x))
    window = SimpleNamespace(problem=SimpleNamespace(**vars(of), nq=12), xs=list(q))
    assert still_joints(window) == (go2.joint_names[0],)


def test_friction_that_turns_with_another_lead():
    block = joint_blocks(robot("go2"), "losses", ["FL_hip_joint"])
    dry = next(b for b in block if b.name == "dry_friction")
    values = dry.per_joint(dry.mean)
    of = SimpleNamespace(
        joints=[dry], parameter=lambda x, name: dry.mean, robot=SimpleNamespace(friction_lead=0.004)
    )
    rate, acceleration = np.full((1, 12), -0.02), np.full((1, 12), 4.0)
    window = SimpleNamespace(problem=of, xs=[None])
    found = _lead_error(window, rate, acceleration)["lead of dry friction"]
    size = np.hypot([-0.004, 0.008], FRICTION_VELOCITY)
    signs = np.array([-0.004, 0.008]) / size
    np.testing.assert_allclose(found[0], -values * (signs[1] - signs[0]))
