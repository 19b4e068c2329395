# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The yardstick filter: its derivatives, a robot that stands still, a recorded run."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from contact_ekf import Runner, read_samples
from invariant_ekf import ContactEkf, Tuning
from legs import ContactDetector, Legs
from yardstick import find_runs
from yardstick_table import COLUMNS, markdown

from prime_estimation.config.parameters import Config
from prime_estimation.robot import Robot
from prime_estimation.types import ImuSample, JointSample, PoseSample

RUNS = Path(__file__).resolve().parents[3] / "shared" / "data" / "sim"
STANCE = np.tile([0.0, 0.8, -1.5], 4)


@pytest.fixture(scope="module")
def config():
    return Config.load("go2")


@pytest.fixture(scope="module")
def legs(config):
    return Legs(Robot(config.robot))


def standing(robot, seconds, tilt=0.0, torque_noise=0.0, seed=0):
    """Samples of a robot that stands still with its weight on four feet, base pitched by `tilt`."""
    rng = np.random.default_rng(seed)
    model, data = robot.model, robot.model.createData()
    q = np.concatenate(
        [pin.SE3ToXYZQUAT(pin.SE3(pin.rpy.rpyToMatrix(0, tilt, 0), np.zeros(3))), STANCE]
    )
    up = pin.rpy.rpyToMatrix(0, tilt, 0).T @ [0, 0, 9.81]
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    J = [
        pin.getFrameJacobian(model, data, model.getFrameId(c.frame), pin.LOCAL_WORLD_ALIGNED)[:3]
        for c in robot.contacts
    ]
    A, gravity = np.hstack([j.T for j in J]), pin.computeGeneralizedGravity(model, data, q)
    forces = np.linalg.lstsq(A[:6], gravity[:6], rcond=None)[0]
    tau = (gravity - A @ forces)[6:]
    samples = []
    for k in range(int(seconds * 500)):
        effort = tau + torque_noise * rng.normal(size=12)
        samples += [
            JointSample(2_000_000 * k, STANCE, np.zeros(12), effort),
            ImuSample(2_000_000 * k, np.zeros(3), up),
        ]
    return samples, forces.reshape(4, 3)


def test_foot_jacobians_and_forces(legs, config):
    rng = np.random.default_rng(0)
    q = STANCE + 0.1 * rng.normal(size=12)
    rest = (np.zeros(12), np.zeros(12), np.zeros(3), np.array([0, 0, 9.81]))

    def at(q):
        return legs.feet(q, *rest).position

    numeric = np.stack([(at(q + 1e-6 * e) - at(q - 1e-6 * e)) / 2e-6 for e in np.eye(12)], axis=2)
    feet = legs.feet(q, *rest)
    np.testing.assert_allclose(feet.jacobian, numeric, atol=1e-8)
    samples, forces = standing(legs.robot, 0.002)
    feet = legs.feet(STANCE, np.zeros(12), samples[0].effort, np.zeros(3), np.array([0, 0, 9.81]))
    np.testing.assert_allclose(feet.force, forces, atol=0.5)


def test_detector_has_hysteresis():
    detector = ContactDetector(1, 100.0, on=0.5, off=0.3, time_constant=0.0)
    flags = [
        bool(detector.update(np.array([f]), 0.002)[0]) for f in (40, 49, 51, 40, 31, 29, 40, 51)
    ]
    assert flags == [False, False, True, True, True, False, False, True]


def random_filter(legs, config, rng):
    ekf = ContactEkf(legs, config.noise, Tuning())
    ekf.R = pin.exp3(rng.normal(size=3))
    ekf.v, ekf.p, ekf.d = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(4, 3))
    ekf.gyro_bias, ekf.accelerometer_bias = 0.01 * rng.normal(size=3), 0.1 * rng.normal(size=3)
    ekf.P = np.zeros((30, 30))
    return ekf


def copy_of(ekf, legs, config):
    other = ContactEkf(legs, config.noise, ekf.tuning)
    for name in ("R", "v", "p", "d", "gyro_bias", "accelerometer_bias", "P", "R_offset"):
        setattr(other, name, getattr(ekf, name).copy())
    return other


def test_covariance_follows_the_mean(legs, config):
    """A covariance of one small error, propagated, is the outer product of that error propagated by
    the mean."""
    rng = np.random.default_rng(3)
    for column in rng.permutation(27)[:12]:
        ekf = random_filter(legs, config, rng)
        xi = np.zeros(30)
        xi[column] = 1e-5
        truth = copy_of(ekf, legs, config)
        truth._apply(xi)
        ekf.P = 1e6 * np.outer(xi, xi)
        noiseless = copy_of(ekf, legs, config)
        noiseless.P *= 0
        imu = ImuSample(0, rng.normal(size=3), rng.normal(size=3) + [0, 0, 9.81])
        for f in (ekf, truth, noiseless):
            f.predict(imu)
            f.predict(ImuSample(2_000_000, imu.angular_velocity, imu.linear_acceleration))
        turn = truth.R @ ekf.R.T
        J = np.linalg.inv(pin.Jexp3(-pin.log3(turn)))
        error = np.concatenate(
            [pin.log3(turn), J @ (truth.v - turn @ ekf.v), J @ (truth.p - turn @ ekf.p)]
        )
        np.testing.assert_allclose(
            (ekf.P - noiseless.P)[:9, :9] * 1e-6, np.outer(error, error), atol=3e-15
        )


def test_standing_robot_stands(config, legs):
    samples, _ = standing(legs.robot, 2.0, tilt=0.1, torque_noise=0.5)
    runner = Runner(legs.robot, config)
    last = list(runner.run(samples))[-1]
    assert runner.ekf.contact.all()
    np.testing.assert_allclose(last.linear_velocity_base, 0.0, atol=1e-3)
    np.testing.assert_allclose(last.position_world[:2], 0.0, atol=2e-3)
    np.testing.assert_allclose(
        pin.rpy.matrixToRpy(pin.Quaternion(last.quat_world_base).matrix()), [0, 0.1, 0], atol=1e-3
    )
    assert (
        np.linalg.eigvalsh(last.pose_covariance)[0] > 0
        and np.linalg.eigvalsh(last.twist_covariance)[0] > 0
    )


def test_late_mocap_moves_the_filter_to_the_pose(config, legs):
    samples, _ = standing(legs.robot, 2.0)
    quat = pin.Quaternion(pin.rpy.rpyToMatrix(0, 0, 1.0)).coeffs()
    late = [
        PoseSample(s.stamp_ns - 8_000_000, np.array([1.0, 2.0, 0.3]), quat)
        for s in samples[1::8]
        if s.stamp_ns > 3e8
    ]
    arrivals = [(s.stamp_ns, s) for s in samples] + [(p.stamp_ns + 8_000_000, p) for p in late]
    mixed = [s for _, s in sorted(arrivals, key=lambda pair: pair[0])]
    last = list(Runner(legs.robot, config).run(mixed))[-1]
    np.testing.assert_allclose(last.position_world, [1.0, 2.0, 0.3], atol=1e-3)
    np.testing.assert_allclose(
        pin.rpy.matrixToRpy(pin.Quaternion(last.quat_world_base).matrix())[2], 1.0, atol=2e-2
    )


@pytest.mark.skipif(not RUNS.is_dir(), reason="no recorded runs beside the repository")
def test_recorded_run():
    assert find_runs(RUNS, "go2_nominal").keys() == {"go2_nominal"}
    robot, config = Robot.load("go2"), Config.load("go2")
    samples = read_samples(RUNS / "go2_nominal", robot, mocap=False)[:4000]
    path = np.array([o.linear_velocity_base for o in Runner(robot, config).run(samples)])
    assert 0.1 < np.abs(path).max() < 1.5 and np.isfinite(path).all()


def test_table_survives_missing_scores():
    table = markdown(
        [{"run": "a", "mocap": True, "prime": {"error": "no data"}, "ekf": {}, "ekf_published": {}}]
    )
    assert table.splitlines()[2].count(" - ") == len(COLUMNS) and table.endswith("prime: no data")
