# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""State observer: what a policy is told of walking robots, and when it is told nothing."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.estimates import make_estimate
from helpers.lowstates import accelerometer, gyro, instants, lowstate, true_contacts, truth

from prime_estimation import Config, Robot, StateObserver
from prime_estimation.config.files import config_dir
from prime_estimation.errors import ConfigError, DataError, RobotError
from prime_estimation.io.joint_order import JointOrder
from prime_estimation.io.unitree import family_of
from prime_estimation.policy.base_state import Joints, base_state
from prime_estimation.recordings.pipeline import Pipeline
from prime_estimation.types import ImuSample, JointSample

SECONDS = 2.5
ANY = 10.0  # m/s
RUNS = [("go2_nominal", "go2"), ("g1_walk_nominal", "g1")]


@pytest.mark.parametrize("run, name", RUNS)
def test_lowstate_of_a_walking_robot(recorded_runs, run, name):
    """Velocity, gravity and contacts at every message, 500 times a second."""
    family, true = family_of(name), truth(recorded_runs / run, SECONDS)
    velocity, gravity, nees, contacts = [], [], [], {}
    with StateObserver(name, joints="unitree", threaded=False) as observer:
        for instant in instants(recorded_runs / run, SECONDS):
            state = observer.lowstate(lowstate(family, instant), instant.stamp_ns)
            assert state.joint_position[5] == lowstate(family, instant).motor_state[5].q
            if not state.valid:
                assert state.reason == "the start batch is being gathered"
                assert np.isnan(state.linear_velocity_base).all() and not state.contacts.any()
                continue
            assert abs(state.stamp_ns - instant.stamp_ns) < 2_000_000 and not state.warnings
            contacts[state.estimate.contacts_stamp_ns] = state.contacts
            if (there := true.get(instant.stamp_ns)) is not None:
                error = state.linear_velocity_base - there.velocity
                velocity.append(error)
                gravity.append(state.projected_gravity - there.gravity)
                nees.append(error @ np.linalg.solve(state.linear_velocity_covariance, error))
    assert len(velocity) > 400
    assert np.sqrt(np.mean(np.square(velocity))) < 0.01
    assert np.sqrt(np.mean(np.square(gravity))) < 0.003
    assert 0.5 < np.mean(nees) < 12.0
    assert f1(contacts, true_contacts(recorded_runs / run, observer.feet, SECONDS)) > 0.95


def f1(found: dict, forces: dict) -> float:
    """F1 of contact flags (nf,) by stamp, where a foot carries above 1 N."""
    stamps = sorted(found.keys() & forces.keys())
    said = np.array([found[t] for t in stamps])
    true = np.array([forces[t] > 1.0 for t in stamps])
    return 2.0 * (said & true).sum() / (said.sum() + true.sum())


def test_arrays_in_a_policys_order_give_what_replay_gives(recorded_runs):
    """One pipeline: bit for bit the estimates of a replay, whatever the order of the arrays."""
    config = Config.load("go2")
    robot, stamps = Robot(config.robot), []
    pipeline = Pipeline(robot, config, mocap=False)
    with StateObserver(robot, config, joints="isaac_lab", threaded=False) as observer:
        for instant in instants(recorded_runs / "go2_nominal", 1.0):
            names = list(instant.joints.name)
            own, wire = (JointOrder(x, names) for x in (robot.joint_names, observer.joint_names))
            values = instant.joints.position, instant.joints.velocity, instant.joints.effort
            imu = gyro(instant), accelerometer(instant)
            state = observer.arrays(
                instant.stamp_ns,
                **dict(zip(("position", "velocity", "torque"), map(wire.pick, values))),
                gyro=imu[0],
                accelerometer=imu[1],
            )
            estimates = list(pipeline.push(JointSample(instant.stamp_ns, *map(own.pick, values))))
            estimates += pipeline.push(ImuSample(instant.stamp_ns, *imu))
            for estimate in estimates:
                assert state.valid
                np.testing.assert_array_equal(
                    state.linear_velocity_base, estimate.linear_velocity_base
                )
                stamps.append(estimate.stamp_ns)
    assert len(stamps) > 40


HANGING = [0.0, 0.8, -1.5] * 4  # rad, hips, thighs and calves within their ranges


@pytest.fixture
def hanging():
    """Readings of a Go2 that hangs with bent legs, at a time in seconds."""

    def readings(t: float) -> dict:
        rest = np.zeros(12)
        return dict(
            stamp_ns=round(1e9 * t),
            position=np.array(HANGING),
            velocity=rest,
            torque=rest,
            gyro=np.zeros(3),
            accelerometer=np.array([0.0, 0.0, 9.81]),
        )

    return readings


def test_says_why_it_is_not_valid(hanging):
    with StateObserver("go2", threaded=False, largest_stddev=ANY) as observer:
        assert observer.state().reason == "no joints and no imu yet"
        only_joints = {k: v for k, v in hanging(0.0).items() if k not in ("gyro", "accelerometer")}
        assert observer.arrays(**only_joints).reason == "no imu yet"
        assert observer.arrays(**hanging(0.002)).reason == "the start batch is being gathered"
        for k in range(2, 400):
            state = observer.arrays(**hanging(0.002 * k))
        assert state.valid and any("feet" in text for text in state.warnings)
        for k in range(400, 440):
            imu = {k: v for k, v in hanging(0.002 * k).items() if k not in _JOINTS}
            state = observer.arrays(**imu)
        assert not state.valid and state.reason.startswith("no joints for 0.0")
        observer.reset()
        assert observer.state().reason == "the start batch is being gathered"


_JOINTS = ("position", "velocity", "torque")


def test_wide_velocity_is_not_valid(hanging):
    """Against what the caller finds too wide; the numbers are there all the same."""
    with StateObserver("go2", threaded=False, largest_stddev=1e-5) as observer:
        for k in range(400):
            state = observer.arrays(**hanging(0.002 * k))
        assert not state.valid and state.reason.startswith("the velocity is known to 0.")
        assert np.isfinite(state.linear_velocity_base).all()
        # what readings cannot be is said before, though there is an estimate
        observer._readings.plausibility = SimpleNamespace(doubts=["in degrees?", "dead?"])
        assert observer.state().reason == "in degrees?; dead?"


def test_a_call_does_not_wait_for_a_solve(hanging):
    """While the solver is busy for a second, calls return, carry the state on, and then say so."""
    with StateObserver("go2", largest_stddev=ANY) as observer:
        deadline, k = time.monotonic() + 30.0, 0
        while not observer.state().valid:
            k += 1
            observer.arrays(**hanging(0.002 * k))
            time.sleep(0.001)
            assert time.monotonic() < deadline
        while observer._solver.pending:
            time.sleep(0.001)
        observer._solver.post(lambda estimator: time.sleep(1.0))
        begin, states = time.monotonic(), []
        for i in range(100):
            states.append(observer.arrays(**hanging(0.002 * (k + i))))
        assert time.monotonic() - begin < 0.9
        assert states[20].valid and states[20].stamp_ns == round(2e6 * (k + 20))
        assert states[-1].reason.startswith("the estimate is 0.")
        time.sleep(0.1)
        assert not observer.state().valid


def test_wrong_use_is_refused(hanging):
    with StateObserver("go2", threaded=False) as observer:
        with pytest.raises(DataError, match="gyro and accelerometer come together"):
            observer.arrays(0, gyro=np.zeros(3))
        with pytest.raises(ConfigError, match=r"must have the shape \(12,\), has \(29,\)"):
            observer.arrays(0, position=np.zeros(29))
    with pytest.raises(RobotError, match="a base state needs a floating base and an IMU"):
        StateObserver("ricmonk")
    with StateObserver("mini_cheetah", threaded=False) as observer:
        with pytest.raises(ConfigError, match="'mini_cheetah' has no known LowState"):
            observer.lowstate(None)


def test_torque_of_joint_targets(hanging):
    """Targets in one's own order and on one's own clock; the status says what torque is made of."""
    with StateObserver("go2", joints="isaac_lab", sensors=["joint_targets"], threaded=False) as own:
        names = np.array([float(own.robot.joint_names.index(n)) for n in own.joint_names])
        for k in range(400):
            told = dict(
                stiffness=10.0 * np.ones(12), damping=np.ones(12) / 2, stamp_ns=2_000_000 * k
            )
            bent = np.array(HANGING)[names.astype(int)]
            forward = dict(velocity=0.3 * np.ones(12), effort=2.0 * np.ones(12))
            own.targets(bent + 0.01 * names, **told, **forward)
            read = {n: v for n, v in hanging(0.002 * k).items() if n != "torque"}
            state = own.arrays(**read | {"position": bent})
        torque = own.estimator.window.inputs[-2].torque
        np.testing.assert_allclose(torque, 0.1 * np.arange(12.0) + 0.15 + 2.0, atol=1e-9)
        assert "torque: made of joint targets, not measured" in map(
            str, state.estimate.status.sensors
        )


def test_rates_that_are_not_measured_are_those_of_the_estimate(hanging):
    """In one's own order, and from the first state on that may be used."""
    with StateObserver("go2", joints="isaac_lab", threaded=False, largest_stddev=ANY) as observer:
        names = [observer.robot.joint_names.index(n) for n in observer.joint_names]
        before, valid = None, 0
        for k in range(400):
            read = {n: v for n, v in hanging(0.002 * k).items() if n != "velocity"}
            state = observer.arrays(**read | {"position": np.array(HANGING)[names]})
            if state.estimate is None:
                assert np.isnan(state.joint_velocity).all()
                continue
            told = state.estimate.joint_velocity[names]
            assert any(np.array_equal(state.joint_velocity, rates) for rates in (told, before))
            before, valid = told, valid + state.valid
        assert valid > 100


def test_a_robot_and_feet_of_ones_own(tmp_path):
    """A Robot of a YAML with another name, whose contacts name the feet that they are of."""
    known = Config.load("go2")
    contacts = [
        replace(c, name=f"tip_{i}", foot=f"paw_{i}") for i, c in enumerate(known.robot.contacts)
    ]
    robot = Robot(replace(known.robot, name="my_dog", contacts=contacts))
    changes = tmp_path / "changes.yaml"
    changes.write_text("estimator: {window: 8}\n")
    with StateObserver(robot, changes, threaded=False) as observer:
        assert observer.feet == ("paw_0", "paw_1", "paw_2", "paw_3")
        assert observer.estimator.config.estimator.window == 8
        estimate = make_estimate(robot, 0)
        assert [c.foot for c in estimate.contacts] == list(observer.feet)
        joints = Joints(*np.zeros((2, robot.nj)))
        assert len(base_state(estimate, "", observer.feet, joints).contacts) == 4


def test_a_robot_of_a_file_has_the_noise_of_that_file(tmp_path):
    path = tmp_path / "go2own.yaml"
    text = (config_dir() / "robots" / "go2.yaml").read_text()
    path.write_text(f"{text}\nnoise: {{joint_torque: 3.3}}\n")
    with StateObserver(Robot.load(str(path)), threaded=False) as observer:
        assert observer.estimator.config.noise.joint_torque == 3.3


def test_a_reset_outlasts_an_update_that_is_running():
    """What that update still finds is forgotten with the rest."""
    running, go_on, told = threading.Event(), threading.Event(), []

    with StateObserver("go2") as observer:

        def update(_):
            running.set()
            assert go_on.wait(10.0)
            observer._solved(make_estimate(observer.robot, 0))
            told.append(observer.state().reason)

        observer._solver.post(update)
        assert running.wait(10.0)
        observer.reset()
        go_on.set()
        done = threading.Event()
        observer._solver.post(lambda _: done.set())
        assert done.wait(10.0)
        assert observer.state().reason == "no joints and no imu yet"
        assert told == ["no joints and no imu yet"]  # nor handed out until then


def test_readings_that_are_refused_are_none(hanging):
    """A wrong stamp, what no sensor reads, NaN: neither carried on nor handed to the policy."""
    with StateObserver("go2", threaded=False, largest_stddev=ANY) as observer:
        for k in range(400):
            good = observer.arrays(**hanging(0.002 * k))
        assert good.valid
        ahead = hanging(0.8) | {"stamp_ns": round(1e9 * 1.8)}
        glitch = hanging(0.802) | {"gyro": np.full(3, 1000.0)}
        blind = hanging(0.804) | {"position": np.full(12, np.nan)}
        for wrong in (ahead, glitch, blind):
            state = observer.arrays(**wrong)
            assert state.valid and state.stamp_ns - good.stamp_ns < 10_000_000
            assert np.linalg.norm(state.linear_velocity_base - good.linear_velocity_base) < 0.05
            assert np.isfinite(state.joint_position).all()
        for k in range(404, 440):  # as long as joints are refused, they are silent
            nan = hanging(0.002 * k) | {"position": np.full(12, np.nan)}
            state = observer.arrays(**nan)
        assert not state.valid and re.match(r"no joints for 0.0\d s \(.*not finite", state.reason)


def test_stamps_that_stand_still(hanging):
    """Also where no clock but that of the stamps tells of silence."""
    with StateObserver("go2", threaded=False, largest_stddev=ANY) as observer:
        for k in range(400):
            state = observer.arrays(**hanging(0.002 * k))
        assert state.valid
        for k in range(400, 460):
            state = observer.arrays(**hanging(0.002 * k) | {"stamp_ns": state.stamp_ns})
        assert not state.valid
        told = r"no joints in the last \d+ readings \(\d+ of 460 .* a stamp that was there before"
        assert re.match(told, state.reason)


@pytest.mark.parametrize("per_s", [1, 1_000, 1_000_000])
def test_an_arrival_of_another_unit(recorded_runs, per_s):
    with StateObserver("go2", threaded=False) as observer:
        for instant in instants(recorded_runs / "go2_nominal", 0.3):
            raw = lowstate(family_of("go2"), instant)
            state = observer.lowstate(raw, instant.stamp_ns * per_s // 10**9)
        assert "ns: is arrival_ns in s, ms or us instead of ns?" in state.reason
        with pytest.raises(DataError, match="arrival_ns must be a whole number of ns, got 'now'"):
            observer.lowstate(raw, "now")


def test_a_simulator_that_does_not_count(recorded_runs):
    with StateObserver("go2", threaded=False) as observer:
        for instant in instants(recorded_runs / "go2_nominal", 1.0):
            raw = lowstate(family_of("go2"), instant)
            raw.tick = 0
            state = observer.lowstate(raw, instant.stamp_ns)
        assert state.valid and state.stamp_ns == instant.stamp_ns


def test_the_imu_of_the_torso_is_not_that_of_the_lowstate(recorded_runs):
    torso = Config.load("g1").updated({"robot": {"imu_frame": "imu_in_torso"}})
    with StateObserver(Robot(torso.robot), torso, threaded=False) as observer:
        for instant in instants(recorded_runs / "g1_walk_nominal", 0.3):
            raw = lowstate(family_of("g1"), instant)
            state = observer.lowstate(raw, instant.stamp_ns)
        assert state.reason == "no imu yet (that of imu_in_torso comes by imu_state())"
        state = observer.imu_state(raw.imu_state, instant.stamp_ns)
        assert state.stamp_ns == instant.stamp_ns and "no imu" not in state.reason
    with StateObserver("go2", threaded=False) as observer:
        with pytest.raises(ConfigError, match="go2: the IMU in imu .* has no IMUState of its own"):
            observer.imu_state(raw.imu_state)


def test_stamps_that_go_back(hanging):
    """Until the estimate starts anew, it is that of another time."""
    with StateObserver("go2", threaded=False, largest_stddev=ANY) as observer:
        for k in range(400):
            observer.arrays(**hanging(100.0 + 0.002 * k))
        states = [observer.arrays(**hanging(50.0 + 0.002 * k)) for k in range(30)]
        told = [s.reason for s in states]
        first = told.index("stamps of the readings have gone back by 50.78 s")
        assert first < 10 and not any(s.valid for s in states[first:])
        assert told[-1].startswith("the estimate was lost and starts anew: a stamp 50.7")


def test_a_late_imu_in_arrays_is_corrected(hanging):
    """As it is in messages, once; and the status of every state says so."""
    late_ns = 8_000_000
    with StateObserver("go2", threaded=False, largest_stddev=ANY) as observer:
        observer._intake.reader.imu_late_ns = late_ns  # found
        for k in range(500):
            now = hanging(0.002 * k)
            joints = {n: now.pop(n) for n in _JOINTS}
            observer.arrays(now["stamp_ns"], **joints)
            state = observer.arrays(**now | {"stamp_ns": now["stamp_ns"] + late_ns})
            if state.valid:
                assert state.stamp_ns == now["stamp_ns"]
                (imu,) = (s for s in state.estimate.status.sensors if s.name == "imu")
                assert imu.message == "stamps 8.0 ms late against the joints: corrected"
        assert state.valid
