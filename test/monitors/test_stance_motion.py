# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Stance motion: feet that carry and move widen the contacts; feet that stand do not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.config.policies import STANCE
from prime_estimation.convert import convert, load_mapping
from prime_estimation.estimator import Estimator
from prime_estimation.io.bag import BagReader
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.situation import Situation
from prime_estimation.monitors import stance_motion
from prime_estimation.monitors.gyro_rest import GyroRest
from prime_estimation.monitors.stance_motion import MOTION, StanceMotion
from prime_estimation.recordings.pipeline import Pipeline
from prime_estimation.recordings.samples import sensor_samples
from prime_estimation.recordings.topic_choice import choose_topics
from prime_estimation.robot import GRAVITY, Robot


def run(bag, robot_name: str, seconds: float) -> tuple[Pipeline, list]:
    config, out, first = Config.load(robot_name), [], None
    robot = Robot(config.robot)
    pipeline = Pipeline(robot, config, mocap=False)
    with BagReader(bag) as reader:
        used = choose_topics(reader, robot, False)
        for at, sample in sensor_samples(reader, used, pipeline.intake.reader):
            first = first or at
            if at - first > seconds * 1e9:
                break
            out += pipeline.push(sample)
    return pipeline, out


def test_feet_of_a_simulated_robot_stand(recorded_runs):
    pipeline, estimates = run(recorded_runs / "go2_nominal", "go2", 4.0)
    assert 0.0 < pipeline.estimator.monitors.stance.speed < 0.02
    assert not any(h.name == MOTION for e in estimates for h in e.status.sensors)


@pytest.mark.slow
def test_feet_of_a_real_robot_creep_and_friction_stays(repository, tmp_path):
    """Noisy feet once were taken for slips: the friction coefficient fell to 0.3."""
    log = repository.parent / "shared" / "data" / "real" / "mini_cheetah_umich" / "sidewalk.npz"
    if not log.exists():
        pytest.skip("no recordings of real machines beside the repository")
    convert(log, load_mapping("mini_cheetah_umich"), tmp_path / "walk.mcap")
    pipeline, estimates = run(tmp_path / "walk.mcap", "mini_cheetah", 9.0)
    said = [h for h in estimates[-1].status.sensors if h.name == MOTION]
    assert len(said) == 1 and said[0].ok and "feet that carry move" in said[0].message
    assert estimates[-1].friction > 0.45
    assert estimates[-1].status.restarts == 0
    assert abs(estimates[-1].total_mass / 8.95 - 1.0) < 0.03
    # such feet would turn the IMU in its mount
    assert all(hold.held for hold in pipeline.estimator.problem.mount_holds)
    yaw_bias = estimates[-1].gyro_bias[2]
    assert abs(yaw_bias) < 0.005


def test_motion_of_feet_that_never_stand_is_not_to_be_believed():
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config)
    stance = StanceMotion(problem, GyroRest(problem))
    for speed, unrest, ok in (
        (0.0, 0.0, True),
        (0.1, 0.1 / 1.18, True),
        (STANCE.fast, None, False),
    ):
        stance.speed = speed
        assert unrest is None or stance.unrest == pytest.approx(unrest)
        assert all(h.ok == ok for h in stance.health(Situation()))
    assert len(stance.health(Situation())) == 1


class Watched:
    """The monitor of a Go2 that stands, and windows of seven nodes as somebody makes them up."""

    def __init__(self, monkeypatch, measured=False):
        config = Config.load("go2")
        self.problem = Problem(Robot(config.robot), config)
        self.renewed: list[str] = []
        monkeypatch.setattr(stance_motion, "renew", self._renew)
        self.stance = StanceMotion(self.problem, GyroRest(self.problem))
        self.place = SimpleNamespace(measured=measured, drift=0.0)

    def _renew(self, window, name: str, *told) -> None:
        self.renewed.append(name)

    def see(self, looks: int, speeds, loads=((0.25,) * 4,) * 3) -> str:
        """What is said of soles of these speeds [m/s], after so many looks.

        `loads` [weight] are those of the node in the middle, and of those before and after it.
        """
        weight = GRAVITY * self.problem.robot.total_mass
        rates = np.outer(speeds, [0.6, 0.8, 0.0])
        self.stance._legs = SimpleNamespace(evaluate=lambda *_: (None, rates))
        window = SimpleNamespace(
            size=6,
            xs=[self.problem.first.neutral()] * 7,
            inputs=[SimpleNamespace(ground_depth=0.0)] * 7,
            foot_forces=lambda k: weight * np.array(loads[k - 2]),
            place=self.place,
            up=lambda: np.array([0.0, 0.0, 1.0]),
        )
        said = ""
        for _ in range(looks * STANCE.every):
            said = said or self.stance.judge(window, Situation())
        return said


FEW = STANCE.soles // 4  # looks at four soles


def test_feet_that_move_take_friction_and_bias_back_once(monkeypatch):
    it = Watched(monkeypatch)
    assert not it.see(FEW - 1, [2.0 * STANCE.slow] * 4) and it.stance.unrest == 0.0
    assert not it.see(3 * FEW, [2.0 * STANCE.slow] * 4)
    assert it.stance.speed == pytest.approx(2.0 * STANCE.slow)
    assert it.renewed == ["friction", "gyro_bias"]
    assert it.place.drift == it.problem.config.noise.gyro_bias


@pytest.mark.parametrize(("measured", "dragged"), [(False, 2.0), (True, 0.0)])
def test_what_feet_move_beyond_what_contacts_are_widened_by_the_base_may(
    monkeypatch, measured, dragged
):
    """They must hold what is widened, or nothing holds the robot; poses tell where it is."""
    it = Watched(monkeypatch, measured)
    it.see(2 * FEW, [STANCE.widest] * 4)
    assert it.place.dragged == 0.0
    it.see(4 * FEW, [3.0 * STANCE.widest] * 4)
    assert it.place.dragged == pytest.approx(dragged * STANCE.widest)


def test_soles_that_land_are_not_looked_at(monkeypatch):
    """Of a sole that stands, the nodes before and after carry too."""
    it, one = Watched(monkeypatch), (0.25, 0.25, 0.25, 0.0)
    it.see(4 * FEW, [0.0, 0.0, 0.0, 9.0], (one, (0.25,) * 4, (0.25,) * 4))
    it.see(4 * FEW, [0.0, 0.0, 0.0, 9.0], ((0.25,) * 4, (0.25,) * 4, one))
    assert max(it.stance._speeds) == 0.0


def test_with_poses_it_is_motion_of_feet_against_each_other_that_counts(monkeypatch):
    """A wrong pose moves them all alike."""
    it = Watched(monkeypatch, measured=True)
    assert not it.see(4 * FEW, [2.0 * STANCE.lost] * 4)
    assert it.stance.unrest == 0.0 and not it.renewed
    speeds = np.array([1.0, -1.0, 1.0, -1.0]) * 0.1
    assert not it.see(4 * FEW, speeds)
    assert it.stance.unrest == pytest.approx(0.1 * np.sqrt(4.0 / 3.0) / 1.18)
    assert not it.renewed and it.place.drift == 0.0


def test_feet_that_rush_end_the_estimate(monkeypatch):
    it = Watched(monkeypatch)
    assert "feet that carry move at 2.00 m/s" in it.see(FEW, [2.0] * 4)
    assert it.stance.speed == 0.0 and not it.stance.known


@pytest.mark.parametrize("mocap", [False, True])
def test_an_estimate_whose_feet_slide_is_given_up(recorded_runs, mocap):
    """Where motion capture tells the place, it may be the ground that moves."""
    config = Config.load("go2")
    estimator = Estimator(Robot(config.robot), config, mocap)
    ms = measurements(recorded_runs / "go2_nominal", estimator.robot, config, 3.0, mocap=mocap)
    for m in ms[:150]:
        estimator.update(m)
    estimator.monitors.stance._speeds.extend([1.2 * STANCE.lost] * STANCE.soles)
    after = [e for e in map(estimator.update, ms[150:]) if e is not None]
    restarts, reason = estimator.monitors.last_restart
    assert restarts == (0 if mocap else 1)
    assert mocap or "feet that carry move at 1.20 m/s" in reason
    assert after[-1].status.restarts == restarts
    assert estimator.monitors.stance.speed < (np.inf if mocap else STANCE.slow)


def test_unrest_widens_along_the_ground_only():
    config = Config.load("go2")
    problem = Problem(Robot(config.robot), config)
    given = problem.node().input
    problem.process.unmeasured(given)
    before = given.weight_xi.copy()
    problem.process.expect_motion(given, np.zeros(4, bool), unrest=0.1)
    noise = config.noise
    widened = np.hypot(noise.contact_tangential, 0.1)
    np.testing.assert_allclose(given.weight_xi[0::3], 1.0 / widened)
    np.testing.assert_allclose(given.weight_xi[1::3], 1.0 / widened)
    np.testing.assert_array_equal(given.weight_xi[2::3], before[2::3])
