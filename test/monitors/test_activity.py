# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Activities: what robots do in recordings where somebody looked, from lying to falling."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import robot
from helpers.runs import truth
from helpers.windows import GivenWindow

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import ACTIVITY, GROUND, INTERVAL
from prime_estimation.convert import convert, load_mapping
from prime_estimation.io.bag import BagReader
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors.activity import ActivityMonitor
from prime_estimation.recordings.pipeline import Pipeline
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import (
    choose_topics,
    lowstate_reader,
    optional_sensors,
)
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.types import Activity, Measurement


def estimates_of(bag, robot_name: str, until: float):
    """(seconds since the first sample, estimate) of all nodes, without motion capture."""
    config, out, first = Config.load(robot_name), [], None
    robot = Robot(config.robot)
    with BagReader(bag) as reader:
        used = choose_topics(reader, robot, False, {}, [])
        low = lowstate_reader(reader, used)
        pipeline = Pipeline(robot, config, False, optional_sensors(used, low, []), low)
        for at, sample in sensor_samples(reader, used, pipeline.intake.reader):
            first = first or at
            if at - first > until * 1e9:
                break
            out += [((e.stamp_ns - first) * 1e-9, e) for e in pipeline.push(sample)]
    return out


def course(estimates) -> list[Activity]:
    """The activities one after the other."""
    return [a for a, _ in itertools.groupby(e.activity for _, e in estimates if e.activity)]


def velocity(odometry) -> list[float]:
    v = odometry.twist.twist.linear
    return [v.x, v.y, v.z]


def at(stamps, true: np.ndarray, estimate) -> np.ndarray:
    """Truth (n, 3) at the stamp of an estimate."""
    return np.array([np.interp(estimate.stamp_ns, stamps, axis) for axis in true.T])


def between(estimates, begin: float, end: float):
    return [e for t, e in estimates if begin <= t < end]


def test_a_robot_falls_lies_and_is_put_upright(recorded_runs):
    """Pushed over at 3.5 s, picked up at 6.1 s, let go at 9.1 s."""
    estimates = estimates_of(recorded_runs / "go2_fall_payload2", "go2", 10.5)
    a = Activity
    assert course(estimates) == [a.WALKING, a.FALLING, a.FALLEN, a.SUSPENDED, a.WALKING]
    assert between(estimates, 3.5, 3.7)[-1].activity is Activity.FALLING
    assert all(e.activity.base_contact for e in between(estimates, 5.0, 6.1))
    assert not any(e.bodies[0].observable for e in between(estimates, 3.7, 9.1))
    assert between(estimates, 9.1, 9.9)[-1].activity is Activity.WALKING
    # velocities of the fall, and of a lift, had been stated to 0.02 where they were 0.4 m/s off
    stamps, true = truth(recorded_runs / "go2_fall_payload2", "/ground_truth/odom", velocity)
    off = [(e, e.linear_velocity_base - at(stamps, true, e)) for e in between(estimates, 3.5, 9.1)]
    ratios = [error**2 / np.diag(e.twist_covariance)[:3] for e, error in off]
    assert np.mean(np.array(ratios) < 1.96**2) > 0.9
    # and to 0.09 where a robot lay on its side for half a second, its velocity 0.35 m/s off
    lies = np.array([r for (e, _), r in zip(off, ratios) if e.activity is a.FALLEN])
    assert len(lies) > 100 and np.mean(lies < 1.96**2) > 0.95


@pytest.mark.parametrize("weighed", [True, False])
def test_what_a_fall_and_a_gantry_leave_of_the_velocity(weighed):
    """A fall's until the robot rests or stands; a gantry's for a while where no torque tells."""
    a = Activity
    monitor = ActivityMonitor(Problem(robot("go2"), Config.load("go2")))
    window = SimpleNamespace(place=SimpleNamespace(unfelt=0.0), weighed=lambda: weighed)

    def unfelt(activity: Activity, nodes: int = 1, resting: bool = False) -> float:
        monitor.activity = activity
        for _ in range(nodes):
            assert not monitor.judge(window, Situation(resting=resting))
        return window.place.unfelt

    assert unfelt(a.WALKING) == 0.0
    assert unfelt(a.FALLING) == unfelt(a.FALLEN, 300) == INTERVAL.tumble
    assert unfelt(a.FALLEN, resting=True) == unfelt(a.FALLEN) == 0.0
    assert unfelt(a.FALLING) == unfelt(a.SUSPENDED) == INTERVAL.tumble
    assert unfelt(a.STANDING) == 0.0
    assert unfelt(a.SUSPENDED, 300) == INTERVAL.hoist
    assert unfelt(a.STANDING, ACTIVITY.untold_nodes - 1) == (0.0 if weighed else INTERVAL.hoist)
    assert unfelt(a.STANDING) == 0.0


def test_a_robot_is_lifted_and_put_down(recorded_runs):
    estimates = estimates_of(recorded_runs / "go2_lift_payload3", "go2", 10.5)
    assert course(estimates) == [Activity.WALKING, Activity.SUSPENDED, Activity.WALKING]
    assert between(estimates, 5.0, 5.4)[-1].activity is Activity.SUSPENDED
    held = between(estimates, 5.6, 8.8)
    assert max(f.force_world[2] for e in held for f in e.feet) < 5.0


def test_a_robot_hangs_in_the_air_and_moves_its_legs(real, tmp_path):
    """Noisy, with gaps, commanded torques only."""
    log = real / "mini_cheetah_umich" / "air_walking_gait.npz"
    convert(log, load_mapping("mini_cheetah_umich"), tmp_path / "air.mcap")
    estimates = estimates_of(tmp_path / "air.mcap", "mini_cheetah", 8.0)
    assert {e.activity for _, e in estimates} == {Activity.SUSPENDED}
    assert max(np.linalg.norm(f.force_world) for _, e in estimates for f in e.feet) < 5.0


def test_a_robot_gets_up_from_its_belly(real, tmp_path):
    """No torque: what the legs do, and that it lies still, tells."""
    convert(real / "a1_sipo_mocap", load_mapping("sipo_a1"), tmp_path / "a1.mcap")
    estimates = estimates_of(tmp_path / "a1.mcap", "a1", 5.0)
    told = course(estimates)
    assert told[0] is Activity.LYING and Activity.LYING not in told[1:]
    assert set(told[1:]) == {Activity.STANDING, Activity.WALKING}


def test_what_was_learned_is_forgotten_at_the_start_after_getting_up_only():
    """Once: torque that is read from then on says that a later start is for something else."""
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config)
    state, postures = problem.first.neutral(), {"lies": (1.4, -2.7), "stands": (0.8, -1.6)}
    problem.parameter(state, "accelerometer_bias")[:] = 0.1
    window = GivenWindow(problem, [state] * 3)
    window.inputs = [SimpleNamespace(weighed=False, torque=np.zeros(12), torque_change=0.0)] * 3
    monitor, restart, up = ActivityMonitor(problem), "", np.array([0.0, 0.0, 9.81])
    for how in ("lies", "stands"):
        joints, nodes = np.tile([0.0, *postures[how]], 4), 0
        m = Measurement(0, joints, np.zeros(12), np.zeros(3), accelerometer=up)
        while not restart and nodes < 3 * config.estimator.start_nodes:
            restart, nodes = monitor.assess(m, window, Situation()).restart, nodes + 1
    assert restart == "the robot has got up"
    assert config.estimator.start_nodes <= nodes < 2 * config.estimator.start_nodes
    assert not problem.parameter(monitor.unlearned(state), "accelerometer_bias").any()
    monitor.assess(replace(m, torque=np.ones(12)), window, Situation())
    assert monitor.unlearned(state) is state


class Watched:
    """The monitor of a Go2 with legs half bent, and nodes as somebody makes them up."""

    def __init__(self):
        self.problem = Problem(robot("go2"), Config.load("go2"))
        self.weight = GRAVITY * self.problem.robot.total_mass
        self.monitor = ActivityMonitor(self.problem)

    def see(self, nodes=1, loads=(0.25,) * 4, speed=0.0, rates=None, **how) -> Activity:
        """What it says after so many nodes alike.

        Feet carry `loads` [weight], or where no torque is read move at `rates` [m/s]; the base
        leans by `leans` [rad], turns at `turns` [rad/s], feels `felt` [g], hangs where `hangs`.
        """
        x, leans = self.problem.first.neutral(), how.get("leans", 0.0)
        self.problem.layout.part(x, "velocity")[0] = speed
        up = np.array([np.sin(leans), 0.0, np.cos(leans)])
        window = SimpleNamespace(
            xs=[x],
            weighed=lambda: rates is None,
            foot_forces=lambda: self.weight * np.array(loads),
            legs=lambda: (None, np.outer(rates, [0.6, 0.8, 0.0])),
            up=lambda: up,
        )
        m = Measurement(
            0,
            np.tile([0.0, 0.8, -1.6], 4),
            np.zeros(12),
            np.array([0.0, how.get("turns", 0.0), 0.0]),
            torque=None if rates is not None else np.ones(12),
            accelerometer=GRAVITY * how.get("felt", 1.0) * up,
        )
        for _ in range(nodes):
            hangs = Situation(suspended_since_ns=0 if how.get("hangs") else None)
            self.monitor.assess(m, window, hangs)
        return self.monitor.activity


def test_a_base_that_moves_walks_and_one_node_tells_nothing():
    it = Watched()
    assert it.see() is Activity.STANDING
    assert it.see(ACTIVITY.nodes - 1, speed=1.3 * ACTIVITY.speed) is Activity.STANDING
    assert it.see(speed=1.3 * ACTIVITY.speed) is Activity.WALKING
    assert it.see(ACTIVITY.nodes, speed=0.7 * ACTIVITY.speed) is Activity.STANDING


@pytest.mark.parametrize(
    "up, light, down",
    [
        (dict(loads=(0.33, 0.33, 0.33, 0.0)), dict(loads=(0.32, 0.32, 0.32, 0.04)), dict()),
        (
            dict(rates=(0.0, 0.0, 0.0, 2.0 * GROUND.slow)),
            dict(rates=(0.0, 0.0, 0.0, 0.5 * (GROUND.still + GROUND.slow))),
            dict(rates=(0.0,) * 4),
        ),
    ],
)
def test_a_foot_that_is_lifted_walks_for_a_while_and_one_that_is_unloaded_does_not(up, light, down):
    it = Watched()
    it.see(**down)
    for _ in range(ACTIVITY.nodes):  # on the ground it carries little, now and then
        assert it.see(**light) is it.see(**down) is Activity.STANDING
    it.see(ACTIVITY.nodes, **up)
    assert it.see(**up) is Activity.WALKING
    assert it.see(ACTIVITY.step_nodes - ACTIVITY.nodes - 2, **light) is Activity.WALKING
    assert it.see(2 * ACTIVITY.nodes, **light) is Activity.STANDING


def test_what_nothing_carries_falls_though_it_does_not_turn():
    it = Watched()
    assert it.see(ACTIVITY.nodes, hangs=True, felt=1.0) is Activity.SUSPENDED
    assert it.see(ACTIVITY.nodes, hangs=True, felt=0.05) is Activity.FALLING


def test_what_leans_more_and_more_falls_and_what_is_put_upright_does_not():
    course = np.linspace(1.05, 1.4, ACTIVITY.nodes + 2) * ACTIVITY.upright
    for leans, said in ((course, Activity.FALLING), (course[::-1], Activity.SUSPENDED)):
        it = Watched()
        for angle in leans:
            it.see(hangs=True, leans=angle, turns=1.5 * ACTIVITY.turning)
        assert it.monitor.activity is said


def test_lying_on_the_ground_is_contact_of_the_base():
    assert [a.name for a in Activity if a.base_contact] == ["LYING", "FALLEN"]
