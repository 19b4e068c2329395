# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator with rigid contacts.

Standing, feet off the ground, and contact flags that contradict the forces.
"""

from __future__ import annotations

import numpy as np
import pytest
from helpers.choreography import POSTURES, perform, standing_pose
from monitors.test_lift_off import AWAY, BACK, carried, estimates_of, lifted, tilt_error

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.errors import RobotError
from prime_estimation.estimator import Estimator
from prime_estimation.mhe.contact_model import CONTRADICTED
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot
from prime_estimation.types import Estimate

WRONG = (1.0, 1.3)  # when the flags lie [s]


class Lying:
    """Contact flags that are right but for a while after `begin_ns`."""

    def __init__(self, schedule, lie: "_core.Stance", begin_ns: int):
        self._schedule, self._lie, self._begin = schedule, lie, begin_ns
        self.reset = schedule.reset

    def before(self, m):
        right = self._schedule.before(m)
        return (
            [self._lie] * len(right)
            if WRONG[0] < 1e-9 * (m.stamp_ns - self._begin) < WRONG[1]
            else right
        )


def rigid(name: str) -> Config:
    return Config.load(name).updated({"estimator": {"contact_model": "rigid"}})


def run(config: Config, ms: list, lie=None) -> list[tuple[float, Estimate | None]]:
    """(time, estimate, None where there is none) of all nodes, with flags that lie for a while."""
    estimator, begin = Estimator(Robot(config.robot), config, mocap=False), ms[0].stamp_ns
    if lie is not None:
        contacts = estimator.problem.contacts
        contacts._schedule = Lying(contacts._schedule, lie, begin)
    return [(1e-9 * (m.stamp_ns - begin), estimator.update(m)) for m in ms]


def standing(name: str, seconds: float, lie=None):
    config = rigid(name)
    robot = Robot(config.robot)
    q = standing_pose(robot, POSTURES[name])
    return run(config, perform(config, lambda t: q, lambda t: 1.0, seconds), lie), robot


def told(estimate) -> bool:
    """The status says so of the contacts."""
    told_of = [s for s in estimate.status.sensors if s.name == "contacts"]
    return any(not s.ok and s.message == CONTRADICTED for s in told_of)


def weight_share(estimate, robot) -> float:
    return sum(c.force_world[2] for c in estimate.contacts) / (9.81 * robot.total_mass)


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_standing_robot(name):
    estimates, robot = standing(name, 1.5)
    last = estimates[-1][1]
    assert [c.name for c in last.contacts] == [c.name for c in robot.contacts]
    assert abs(weight_share(last, robot) - 1.0) < 0.05
    assert min(c.force_world[2] for c in last.contacts) > -1.0
    assert np.linalg.norm(last.linear_velocity_base) < 0.02
    assert abs(last.total_mass - robot.total_mass) < 2.0 * last.total_mass_stddev
    assert last.status.restarts == 0


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_flags_that_say_open_while_the_robot_stands(name):
    """The feet carry the robot, the flags say that they do not.

    Said in the status, the base follows the IMU until the flags are right.
    """
    estimates, robot = standing(name, 2.6, lie=_core.Stance.open)
    during = [e for t, e in estimates if WRONG[0] + 0.1 < t < WRONG[1]]
    assert during and all(told(e) for e in during)
    for e in during:
        assert (
            e.twist_covariance[:3, :3].trace() < 0.1**2
            and np.linalg.norm(e.linear_velocity_base) < 0.05
        )
        assert abs(e.total_mass - robot.total_mass) < 2.0 * e.total_mass_stddev
    last = estimates[-1][1]
    assert (
        abs(weight_share(last, robot) - 1.0) < 0.05
        and np.linalg.norm(last.linear_velocity_base) < 0.03
    )
    assert not told(last) and last.status.restarts == 0


@pytest.fixture(scope="module")
def trotting(tmp_path_factory):
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    path = simulate.run("go2", "trot", 2.4, tmp_path_factory.mktemp("recording") / "run", start=1.0)
    return measurements(path, Robot(rigid("go2").robot), 0.01, mocap=False)


@pytest.mark.slow
@pytest.mark.parametrize("lie", [_core.Stance.closed, _core.Stance.open])
def test_flags_that_are_wrong_while_the_robot_trots(trotting, lie):
    """All feet are said to stand, or none: said in the status, covered, and over soon after."""
    clean, spoilt = run(rigid("go2"), trotting), run(rigid("go2"), trotting, lie)
    during = [e for t, e in spoilt if WRONG[0] + 0.1 < t < WRONG[1]]
    assert during and all(told(e) and e.twist_covariance[:3, :3].trace() < 0.1**2 for e in during)
    right, last = clean[-1][1], spoilt[-1][1]
    assert not told(last) and last.status.restarts == 0
    np.testing.assert_allclose(last.linear_velocity_base, right.linear_velocity_base, atol=0.05)
    for a, b in zip(last.contacts, right.contacts):
        np.testing.assert_allclose(a.force_world, b.force_world, atol=20.0)


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_all_feet_off_the_ground(name):
    """Lifted and put down again: as with the smoothed law."""
    estimates, robot = estimates_of(name, lifted, contact_model="rigid")
    during = [e for t, _, e in estimates if AWAY[0] + 0.3 < t < BACK[0]]
    assert during and all(carried(e) for e in during)
    for e in during:
        assert e.pose_covariance[2, 2] < 0.3**2 and e.twist_covariance[:3, :3].trace() < 0.5**2
        assert abs(e.total_mass - robot.total_mass) < 0.5
    _, q, last = estimates[-1]
    assert (
        not carried(last)
        and tilt_error(q, last) < 0.005
        and np.linalg.norm(last.linear_velocity_base) < 0.02
    )
    assert abs(weight_share(last, robot) - 1.0) < 0.05


def test_needs_a_floating_base():
    config = Config().updated(
        {"robot": {"name": "leg", "urdf": "example-robot-data:kinova", "floating_base": False}}
    )
    config = config.updated({"estimator": {"contact_model": "rigid"}})
    with pytest.raises(RobotError, match="floating base"):
        Estimator(Robot(config.robot), config)
