# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Frame of an external odometry: what nodes are given is the base's own pose, wherever it lies."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.models import config, robot

from prime_estimation.mhe.problem import Problem
from prime_estimation.sensors.external_odometry import OdometrySample
from prime_estimation.sensors.odometry_frame import (
    AGREEING,
    FRAME,
    KEY_DISTANCE,
    NAME,
    OdometryFrame,
)
from prime_estimation.types import NO_DATA, Measurement

STEP_NS, NODES = 10_000_000, 10
TWIST = np.array([0.8, 0.1, -0.05, 0.2, -0.3, 0.6])  # of the base [m/s, rad/s]
START = pin.SE3(pin.exp3(np.array([0.1, -0.2, 0.4])), np.array([1.0, 2.0, 0.3]))
# where the world is in that of the odometry
ODOM = pin.SE3(pin.exp3(np.array([0.3, 0.2, -1.2])), np.array([-4.0, 7.0, 0.5]))


@pytest.fixture(scope="module")
def problem():
    return Problem(robot("go2"), config("go2"), {NAME})


def base(t_ns: float) -> pin.SE3:
    """Pose of a base that goes on with one twist."""
    return START * pin.exp6(1e-9 * t_ns * TWIST)


class Followed:
    """A window that follows the base, and the frame of an odometry."""

    def __init__(self, problem):
        self.problem, self.frame, self.ties = problem, OdometryFrame(problem), []
        self.window = SimpleNamespace(inputs=[], stamps=[], xs=[], size=NODES, tie=self._tie)
        for _ in range(NODES + 1):
            self.move()

    @property
    def head_ns(self) -> int:
        return self.window.stamps[-1]

    def move(self) -> None:
        """Let the window move to the next node."""
        window, layout = self.window, self.problem.layout
        stamp = window.stamps[-1] + STEP_NS if window.stamps else 0
        x, joints = np.zeros(layout.nx), np.zeros(12)
        pose = base(stamp)
        layout.part(x, "position")[:] = pose.translation
        layout.part(x, "rotation")[:] = pin.Quaternion(pose.rotation).coeffs()
        if window.xs:
            self.problem.parameter(x, FRAME)[:] = self.problem.parameter(window.xs[-1], FRAME)
        window.xs.append(x)
        window.stamps.append(stamp)
        measured = Measurement(stamp, joints, joints, np.zeros(3))
        window.inputs.append(self.problem.state_input(measured))
        for entries in (window.inputs, window.stamps, window.xs):
            del entries[: -NODES - 1]
        window.arrival = SimpleNamespace(reference=window.xs[0])

    def _tie(self, name, elements, rows, value, stddev) -> None:
        self.ties.append((rows, value, stddev))
        for x in self.window.xs:
            self.problem.parameter(x, name)[elements] = value

    def see(self, stamp_ns: int, off=pin.SE3.Identity(), **fields) -> bool:
        """Whether a reading of that time is used; `off`: of the odometry's world."""
        pose, refused = off * ODOM * base(stamp_ns), self.frame.refused
        quat = np.array(pin.Quaternion(pose.rotation).coeffs())
        sample = OdometrySample(stamp_ns, pose.translation.copy(), quat, **fields)
        self.frame.give([sample], self.window)
        return self.frame.refused == refused

    def told(self, k: int) -> pin.SE3:
        """Pose of the base in the world that node k is given, by the frame as it is estimated."""
        value = self.window.inputs[k].value(NAME)
        key, relative = (
            pin.SE3(pin.Quaternion(v[3:7]).toRotationMatrix(), v[:3])
            for v in (value[:7], value[7:14])
        )
        shift = self.problem.parameter(self.window.xs[k], FRAME)
        placed = pin.SE3(pin.exp3(shift[3:].copy()) @ key.rotation, key.translation + shift[:3])
        return placed * relative

    def given(self) -> list[int]:
        """Nodes of the window that have a reading."""
        return [k for k, given in enumerate(self.window.inputs) if given.weight(NAME).any()]


def same(pose: pin.SE3, other: pin.SE3) -> bool:
    return np.linalg.norm(pin.log6(pose.actInv(other)).vector) < 1e-7


@pytest.mark.parametrize("age_ns", [0, 4_000_000])
def test_a_node_is_given_the_pose_at_the_time_of_the_reading(age_ns, problem):
    """As near as the first one, which is the base's own at its node, was to its node."""
    followed = Followed(problem)
    assert followed.see(followed.head_ns)
    for _ in range(4):
        followed.move()
        assert followed.see(followed.head_ns - age_ns)
    assert len(followed.given()) == 5
    for k in followed.given()[1:]:
        assert followed.window.inputs[k].age(NAME) == pytest.approx(1e-9 * age_ns)
        assert same(followed.told(k), base(followed.window.stamps[k] - age_ns))
    assert followed.frame.health() == "" and not followed.frame.jumps


def test_the_first_reading_knows_of_the_world_what_is_known_of_the_base(problem):
    followed, noise = Followed(problem), problem.config.noise
    followed.see(followed.head_ns)
    ((rows, value, stddev),) = followed.ties
    R = START.rotation
    np.testing.assert_allclose(rows[:3, problem.columns("position")], R, atol=1e-12)
    np.testing.assert_allclose(rows[3:, problem.columns("rotation")], R, atol=1e-12)
    assert np.count_nonzero(np.abs(rows) > 1e-12) <= 18 and not value.any()
    expected = [noise.odometry_position] * 3 + [noise.odometry_rotation] * 3
    np.testing.assert_allclose(stddev, expected)


@pytest.mark.parametrize("late_ns", [13, 122, 597])
def test_a_late_reading_is_carried_to_the_node_that_is_still_there(late_ns, problem):
    followed, late_ns = Followed(problem), 1_000_000 * late_ns
    followed.see(followed.head_ns)
    for _ in range(70):
        followed.move()
        followed.frame.give([], followed.window)
    stamp = followed.head_ns - late_ns
    assert followed.see(stamp)
    (k,) = followed.given()
    first, age = followed.window.stamps[0], followed.window.inputs[k].age(NAME)
    if stamp > first:
        assert age == pytest.approx(0.003) and same(followed.told(k), base(stamp))
    else:
        assert k == 0 and age == 0.0 and same(followed.told(0), base(first))


def test_a_reading_of_a_time_that_is_not_known_any_more_is_refused(problem):
    followed = Followed(problem)
    followed.see(followed.head_ns)
    for _ in range(150):
        followed.move()
        followed.frame.give([], followed.window)
    assert not followed.see(followed.head_ns - 1_200_000_000)  # more than a second ago
    assert not followed.see(followed.head_ns + STEP_NS)


def test_deviations_are_at_least_those_of_the_configuration(problem):
    followed, noise = Followed(problem), problem.config.noise
    said = dict(position_stddev=0.5, rotation_stddev=1e-4, velocity_stddev=0.7)
    followed.see(followed.head_ns, velocity_base=np.array([0.1, 0.2, 0.3]), **said)
    given = followed.window.inputs[-1]
    expected = np.repeat([1.0 / 0.5, 1.0 / noise.odometry_rotation, 1.0 / 0.7], 3)
    np.testing.assert_allclose(given.weight(NAME), expected)
    np.testing.assert_allclose(given.value(NAME)[14:], [0.1, 0.2, 0.3])
    followed.move()
    followed.see(followed.head_ns)
    assert (
        followed.window.inputs[-1].weight(NAME)[5]
        and not followed.window.inputs[-1].weight(NAME)[6:].any()
    )


@pytest.mark.parametrize("off", [0.09, 0.13])
def test_a_jump_is_larger_than_noise(off, problem):
    """0.1 m or rad, or six deviations of a reading that says more: 0.12."""
    followed = Followed(problem)
    followed.see(followed.head_ns)
    for twist in np.vstack([off * np.eye(6)[:3], off * np.eye(6)[3:]]):
        at = ODOM * base(followed.head_ns)
        jump = at * pin.exp6(twist) * at.inverse()
        assert followed.see(followed.head_ns, jump) is (off < 0.1)
        wide = dict(position_stddev=0.03, rotation_stddev=0.03)
        assert followed.see(followed.head_ns, jump, **wide)


def test_readings_after_a_jump_are_followed_once_they_agree(problem):
    followed, jump = Followed(problem), pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    followed.see(followed.head_ns)
    used = []
    for _ in range(AGREEING + 3):
        followed.move()
        used.append(followed.see(followed.head_ns, jump))
        if len(used) == 5:
            assert followed.frame.health().startswith("lies 1.00 m and 0.00 rad apart; not used")
    assert used == [False] * (AGREEING - 1) + [True] * 4
    assert followed.frame.jumps == 1 and followed.frame.refused == AGREEING - 1
    assert followed.given() == [NODES - 3, NODES - 2, NODES - 1, NODES]  # none of before the jump
    assert all(same(followed.told(k), base(followed.window.stamps[k])) for k in followed.given())


def test_nothing_of_before_a_jump_is_left_in_the_window(problem):
    """Nor does it come back with the next key frame."""
    followed, jump = Followed(problem), pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    for _ in range(4):
        assert followed.see(followed.head_ns)
        followed.move()
    for _ in range(AGREEING):
        followed.see(followed.head_ns, jump)
    assert followed.frame.jumps == 1 and followed.given() == [NODES]
    followed.frame._carry_on(jump * ODOM * base(followed.head_ns), followed.window)
    assert followed.given() == [NODES] and same(followed.told(NODES), base(followed.head_ns))


def test_a_jump_is_said_until_the_next_reading_fits(problem):
    followed, jump = Followed(problem), pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    followed.see(followed.head_ns)
    for _ in range(AGREEING):
        followed.move()
        followed.see(followed.head_ns, jump)
    assert followed.frame.health() == "jumped by 1.00 m; followed from there"
    followed.move()
    assert followed.see(followed.head_ns, jump) and followed.frame.health() == ""


def test_readings_that_are_each_elsewhere_are_never_followed(problem):
    followed, rng = Followed(problem), np.random.default_rng(0)
    followed.see(followed.head_ns)
    for _ in range(4 * AGREEING):
        followed.move()
        assert not followed.see(followed.head_ns, pin.SE3(np.eye(3), rng.normal(0.0, 3.0, 3)))
    followed.move()
    assert followed.see(followed.head_ns) and not followed.frame.jumps


def test_the_key_frame_comes_along(problem):
    """After a metre the newest reading is the key; what nodes are given stays the same."""
    followed = Followed(problem)
    followed.see(followed.head_ns)
    begun = followed.head_ns
    while np.linalg.norm((base(begun).actInv(base(followed.head_ns))).translation) <= KEY_DISTANCE:
        assert len(followed.ties) == 1
        followed.move()
        assert followed.see(followed.head_ns - 2_000_000)
        followed.move()
        assert followed.see(followed.head_ns)
    assert len(followed.ties) == 2
    assert np.linalg.norm(followed.window.inputs[-1].value(NAME)[7:10]) < 1e-9
    for k in followed.given():
        at = followed.window.stamps[k] - round(1e9 * followed.window.inputs[k].age(NAME))
        assert same(followed.told(k), base(at))


def test_what_is_known_of_the_key_frame_is_known_of_the_next_one(problem):
    """Its place and rotation follow those of the one before, by their derivative."""
    followed = Followed(problem)
    followed.see(followed.head_ns)
    frame, window = followed.frame, followed.window
    phi = np.array([0.0, 0.0, 0.0])
    seen = ODOM * base(window.stamps[-1] + 1_500_000_000)
    before = frame._frame(window.xs[-1])
    relative = frame._key.actInv(seen)
    frame._carry_on(seen, window)
    rows, value, _ = followed.ties[-1]
    assert not value[3:].any() and np.linalg.norm(value[:3]) < 1e-9
    step = 1e-6
    for axis in range(3):
        turned = pin.SE3(
            pin.exp3(phi + step * np.eye(3)[axis]) @ before.rotation, before.translation
        )
        moved = (turned * relative).translation - (before * relative).translation
        column = problem.columns(FRAME).start + 3 + axis
        np.testing.assert_allclose(rows[:3, column], moved / step, atol=1e-5)
    np.testing.assert_array_equal(rows[:, problem.columns(FRAME)][3:, 3:], np.eye(3))
    np.testing.assert_array_equal(rows[:3, problem.columns(FRAME)][:, :3], np.eye(3))


def test_the_next_key_frame_lies_where_the_one_before_has_it(problem):
    """Also where that has been estimated to lie elsewhere than at first."""
    followed = Followed(problem)
    followed.see(followed.head_ns)
    frame, window = followed.frame, followed.window
    for x in window.xs:
        problem.parameter(x, FRAME)[:] = [0.1, -0.2, 0.05, 0.03, -0.02, 0.3]
    before, seen = frame._frame(window.xs[-1]), ODOM * base(window.stamps[-1] + 1_500_000_000)
    relative = frame._key.actInv(seen)
    frame._carry_on(seen, window)
    assert same(frame._frame(window.xs[-1]), before * relative)


def test_an_odometry_that_drops_out_has_no_data(problem):
    followed = Followed(problem)
    followed.see(followed.head_ns)
    for k in range(1, 52):
        followed.move()
        followed.frame.give([], followed.window)
        assert followed.frame.health() == (NO_DATA if k > 50 else "")
    followed.see(followed.head_ns)
    assert followed.frame.health() == ""
    followed.frame.reset()
    assert followed.frame.health() == NO_DATA
