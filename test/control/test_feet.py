# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Swings, footholds, and the planner that makes them follow what the feet feel."""

import numpy as np
import pytest

from prime_estimation.control.feet import DETECTION, GROUND_TIME, LATEST, SEARCH_SPEED, FootPlanner
from prime_estimation.control.footholds import REACH, foothold
from prime_estimation.control.gait import GAITS
from prime_estimation.control.motion_types import RobotState, VelocityCommand
from prime_estimation.control.posture import standing_posture
from prime_estimation.control.swing import DEPTH, Swing
from prime_estimation.control.trunk import TrunkReference
from prime_estimation.robot import GRAVITY

TIMES = np.arange(26) * 0.02


# --- swing


def test_swing_begins_and_ends_at_rest_and_clears_its_apex():
    swing = Swing(1.0, 1.2, np.array([0.0, 0.1, 0.0]), np.array([0.2, 0.1, 0.03]), 0.07)
    for t, place in ((0.9, swing.start), (1.0, swing.start), (1.2, swing.end), (1.5, swing.end)):
        position, velocity = swing.at(t)
        assert position == pytest.approx(place) and velocity == pytest.approx(np.zeros(3))
    path = np.array([swing.at(t)[0] for t in np.linspace(1.0, 1.2, 201)])
    assert path[:, 2].max() >= 0.03 + 0.07 - 1e-9  # above the higher end
    assert path[100, 2] == pytest.approx(0.03 + 0.07)


def test_swing_velocity_is_the_slope_of_its_position():
    swing = Swing(0.0, 0.22, np.zeros(3), np.array([0.15, -0.02, 0.01]), 0.07)
    for t in np.linspace(0.01, 0.21, 9):
        slope = (swing.at(t + 1e-6)[0] - swing.at(t - 1e-6)[0]) / 2e-6
        assert swing.at(t)[1] == pytest.approx(slope, abs=1e-6)


# --- foothold


def place(command=VelocityCommand(), error=(0.0, 0.0), base=(1.0, 2.0), yaw=0.0, height=0.3):
    nominal = np.array([0.2, 0.1])
    return foothold(nominal, np.array(base), yaw, command, 0.3, np.array(error), height)


def test_foothold_is_below_the_hip_at_mid_stance():
    assert place() == pytest.approx([1.2, 2.1])
    assert place(VelocityCommand(vx=0.5)) == pytest.approx([1.2 + 0.15 * 0.5, 2.1])
    # seen from the base it turns with the base
    assert place(yaw=np.pi / 2) == pytest.approx([1.0 - 0.1, 2.0 + 0.2])
    turned = place(VelocityCommand(yaw_rate=1.0))
    assert np.linalg.norm(turned - [1.0, 2.0]) == pytest.approx(np.hypot(0.2, 0.1))
    assert np.arctan2(*(turned - [1.0, 2.0])[::-1]) == pytest.approx(np.arctan2(0.1, 0.2) + 0.15)


def test_foothold_steps_to_where_the_robot_is_falling():
    moved = place(error=(0.2, 0.0)) - place()
    assert moved == pytest.approx([0.2 * np.sqrt(0.3 / GRAVITY), 0.0])
    assert np.linalg.norm(place(error=(9.0, 9.0)) - place()) == pytest.approx(REACH)


# --- planner


class Standing:
    """A planner of a Go2 that stands at the origin, and what it is told."""

    def __init__(self, robot, gait="trot"):
        self.posture = standing_posture(robot)
        self.feet = FootPlanner(robot, self.posture, GAITS[gait], 0.07)
        self.height = self.posture[2]
        self.v = np.zeros(robot.model.nv)

    def state(self, carries=(True,) * 4, dz=0.0, known=0.0) -> RobotState:
        q = self.posture.copy()
        q[2] += dz
        return RobotState(0, q, self.v, np.array(carries), round(1e9 * known))

    def plan(
        self,
        now=0.0,
        carries=(True,) * 4,
        command=VelocityCommand(),
        shift=(0.0, 0.0),
        dz=0.0,
        late=0.0,
        ahead=0.0,
    ):
        state = self.state(carries, dz, now - late)
        self.feet.observe(state, now, 0.02)
        trunk = TrunkReference(state, self.height)
        trunk.position = trunk.position + [ahead, 0.0]
        return self.feet.plan(state, trunk, command, now + TIMES, np.zeros(2), np.array(shift))


@pytest.fixture
def standing(go2) -> Standing:
    return Standing(go2)


def test_plan_follows_the_schedule(standing):
    plan = standing.plan()
    gait = GAITS["trot"]
    for foot, lift_off in enumerate(gait.lift_off):
        middle = TIMES + 0.01
        up = (middle >= lift_off) & (middle < lift_off + gait.swing)
        assert (plan.stands[:, foot] == ~up).all()
    assert (plan.weight > 0.0).tolist() == (~plan.stands).tolist()
    lift = plan.position[:, 0, 2].max() - standing.feet.centres(standing.posture)[0, 2]
    assert lift == pytest.approx(0.07, abs=0.003)


def test_a_node_is_in_the_phase_of_its_middle(standing):
    assert standing.plan(0.005).stands[0, 0]  # lifts off at 20 ms
    assert not standing.plan(0.015).stands[0, 0]


def test_feet_land_where_raibert_says_and_below_the_centre_of_mass(standing):
    still = standing.plan(0.0).position
    moving = standing.plan(0.0, command=VelocityCommand(vx=0.5)).position
    loaded = standing.plan(0.0, shift=(-0.03, 0.01)).position
    last = 11  # the last node of the first swing, 20 ms before it ends
    places = standing.feet.nominal
    assert still[last, 0, :2] == pytest.approx(places[0], abs=1e-3)
    assert moving[last, 0, 0] - still[last, 0, 0] == pytest.approx(0.5 * (0.24 + 0.15), rel=0.02)
    assert loaded[last, 0, :2] - still[last, 0, :2] == pytest.approx([-0.03, 0.01], rel=0.02)
    # 2 mm above the end of the swing, by its polynomial
    assert still[last, 0, 2] == pytest.approx(0.022 - DEPTH + 0.002, abs=1e-3)


def test_a_foot_that_lands_early_stands_from_then_on(standing):
    standing.plan(0.0)
    early = standing.plan(0.18, carries=(True, True, True, False))  # 73 % of the swing of FL and RR
    assert early.stands[:5, 0].all() and not early.stands[0, 3]
    # a load at the beginning of a swing is the one of the stance before
    other = Standing.__new__(Standing)
    other.__dict__ = standing.__dict__
    standing.feet.reset()
    late = standing.plan(0.06, carries=(True,) * 4)
    assert not late.stands[0, 0]


def test_a_foot_that_does_not_land_searches_for_the_ground(standing):
    standing.plan(0.0)
    swinging = (False, True, True, False)
    standing.plan(0.2, carries=swinging)
    touch_down = 0.24
    patient = standing.plan(touch_down + 0.5 * DETECTION, carries=swinging)
    assert patient.stands[0, 0]  # the news of its load may be under way
    searching = standing.plan(touch_down + DETECTION + 0.001, carries=swinging)
    assert not searching.stands[:2, 0].any() and searching.stands[2, 0]
    assert searching.velocity[0, 0].tolist() == [0.0, 0.0, -SEARCH_SPEED]
    assert searching.position[1, 0, 2] < searching.position[0, 0, 2]
    landed = standing.plan(touch_down + DETECTION + 0.021, carries=(True, True, True, False))
    assert landed.stands[0, 0] and not landed.stands[0, 3]


def test_the_search_for_the_ground_has_an_end(standing):
    swinging = (False, True, True, False)
    standing.plan(0.0)
    standing.plan(0.2, carries=swinging)
    assert not standing.plan(0.24 + 0.9 * LATEST, carries=swinging).stands[0, 0]
    assert standing.plan(0.24 + LATEST + 0.001, carries=swinging).stands[0, 0]


def test_a_foot_that_has_landed_early_does_not_search(standing):
    standing.plan(0.0)
    standing.plan(0.18)  # it touches the ground, and bounces
    due = standing.plan(0.24 + DETECTION + 0.001, carries=(False, True, True, False))
    assert due.stands[0, 0]


def test_a_foot_in_the_air_starts_from_where_it_stood(standing):
    standing.plan(0.0)
    lifted = standing.plan(0.04, dz=0.1, late=0.03)  # what it carried is of the time before
    assert lifted.position[0, 0, 2] == pytest.approx(0.022, abs=5e-3)


def test_a_second_swing_starts_where_the_first_one_ends(standing):
    standing.plan(0.0)
    up = (False, True, True, False)
    plan = standing.plan(0.2, carries=up, command=VelocityCommand(vx=0.5))
    first, second = np.flatnonzero(~plan.stands[:, 0])[[1, 2]]
    assert TIMES[second] - TIMES[first] > 0.2
    assert plan.position[second, 0, 0] == pytest.approx(plan.position[first, 0, 0], abs=0.01)
    assert plan.position[second, 0, 0] > standing.feet.nominal[0, 0] + 0.08


def test_footholds_are_seen_from_the_robot_not_from_its_reference(standing):
    here, ahead = standing.plan(0.0), standing.plan(0.0, ahead=0.05)
    assert ahead.position[11, 0] == pytest.approx(here.position[11, 0], abs=1e-9)


def test_late_news_of_contacts_is_of_the_phase_it_comes_from(standing):
    standing.plan(0.0)
    # all carried before the feet were lifted: nothing has come down since
    lifted = standing.plan(0.2, late=0.19)
    assert not lifted.stands[0, 0] and not lifted.stands[0, 3] and lifted.stands[0, 1]
    # nothing was in the air still: no reason to search
    due = 0.24 + 0.06
    landing = standing.plan(due, carries=(False, True, True, False), late=0.06)
    assert landing.stands[0, 0] and landing.stands[0, 3]


def test_a_foot_stands_once_it_is_known_to_have_come_down(standing):
    standing.plan(0.0)
    landed = (True, False, False, True)
    for _ in range(50):  # seen to carry at 98 % of the swing, when its stance has begun
        standing.plan(0.25, carries=landed, dz=0.1, late=0.015)
    assert standing.feet.ground == pytest.approx(0.1, abs=5e-3)


def test_ground_is_where_the_standing_feet_are(standing):
    standing.plan(0.0)
    assert standing.feet.ground == pytest.approx(0.0, abs=2e-3)
    standing.plan(0.001, dz=0.1)
    assert standing.feet.ground == pytest.approx(0.1 * 0.02 / GROUND_TIME, rel=0.1)
    for k in range(50):
        standing.plan(0.001, dz=0.1)
    assert standing.feet.ground == pytest.approx(0.1, abs=5e-3)
