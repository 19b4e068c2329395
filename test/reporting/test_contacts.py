# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contacts that are reported: their states, and what is not known of their forces."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import problem
from scipy.stats import norm

from prime_estimation.config.policies import INTERVAL
from prime_estimation.reporting.contacts import SLIP_SPEED, ContactReport
from prime_estimation.robot import GRAVITY
from prime_estimation.types import CONTACT_SHARE, ContactState

OPEN, STICKS, SLIPS = ContactState.OPEN, ContactState.STICKING, ContactState.SLIPPING
MASS, STDDEV = 15.0, 2.0
LEAST = CONTACT_SHARE * GRAVITY * MASS  # of a contact that carries [N]


def reported(
    name="go2",
    normal=None,
    speed=None,
    again=1,
    weighed=True,
    depth=0.0,
    unweighed=0.0,
    stddev=STDDEV,
):
    """The report, and its contacts of normal forces [N] and speeds along y [m/s], asked twice."""
    of = problem(name)
    n, report = of.dynamics.nc, ContactReport(of)
    force = np.zeros((n, 3))
    force[:, 2] = 30.0 if normal is None else normal
    velocity = np.zeros((n, 3))
    velocity[:, 1] = 0.0 if speed is None else speed
    newest = np.zeros((n, 3)), force.ravel(), stddev**2 * np.eye(3 * n), velocity.ravel()
    inputs = [SimpleNamespace(ground_depth=depth)] * 2
    window = SimpleNamespace(weighed=lambda: weighed, inputs=inputs)
    for _ in range(40 * again):  # what a force's change has left in the intervals is gone
        contacts = report.contacts(window, newest, MASS, unweighed)
    return report, contacts


def covariances(**given) -> np.ndarray:
    """(3, 3) of the first contact's force."""
    return reported(**given)[1][0].force_covariance


def test_a_contact_is_open_sticks_or_slips():
    normal = np.array([0.9 * LEAST, 1.1 * LEAST, 1.1 * LEAST, 0.0])
    speed = SLIP_SPEED * np.array([0.0, 0.9, -1.1, 5.0])
    report, contacts = reported(normal=normal, speed=speed)
    assert [c.state for c in contacts] == [OPEN, STICKS, SLIPS, OPEN]
    assert [c.name for c in contacts] == [c.name for c in report.robot.contacts]
    assert [c.force_world[2] for c in contacts] == pytest.approx(normal)


def test_only_what_carries_slides():
    """Friction that differs from spot to spot is in the force along the ground."""
    still, moves = (covariances(normal=n, speed=s) for n, s in ((0.9 * LEAST, 0), (0.9 * LEAST, 5)))
    np.testing.assert_array_equal(still, moves)
    still, moves = (covariances(speed=speed) for speed in (0.0, 5.0))
    along = (INTERVAL.force_slip * 30.0) ** 2
    np.testing.assert_allclose(moves - still, np.diag([along, along, 0.0]), atol=1e-9)


def test_how_likely_it_carries():
    """Of a normal force: half where it is as large as the least of a contact that carries."""
    normal = LEAST + STDDEV * np.array([0.0, -1.0, 2.0, 30.0])
    _, contacts = reported(normal=normal)
    likely = [c.probability for c in contacts]
    assert likely == pytest.approx(norm.cdf([0.0, -1.0, 2.0, 30.0]), abs=1e-4)


def test_share_of_contacts_that_slip_is_a_mean_over_those_that_carry():
    one = reported(speed=SLIP_SPEED * np.array([2.0, 0.0, 0.0, 0.0]), again=25)[0]
    assert one.slipping == pytest.approx(0.25, rel=1e-3)
    step = reported(speed=SLIP_SPEED * np.array([2.0, 0.0, 0.0, 0.0]))[0].problem.dt
    first = reported(speed=2.0 * SLIP_SPEED)[0].slipping
    assert first == pytest.approx(1.0 - (1.0 - step / INTERVAL.slip_memory) ** 40)
    assert reported(normal=0.0, speed=2.0 * SLIP_SPEED)[0].slipping == 0.0  # none carries


def test_forces_are_no_better_known_than_a_mass_that_is_not_estimated():
    added = covariances(unweighed=0.1) - covariances()
    np.testing.assert_allclose(added, np.diag([0.0, 0.0, 3.0**2]), atol=1e-6)


@pytest.mark.parametrize("name, corners", [("go2", 1), ("g1", 4)])
def test_the_force_of_a_contact_that_carries_nothing_is_not_exact(name, corners):
    """The law of contacts says so, up to the node in which a foot touches down."""
    least = INTERVAL.force_open * GRAVITY * MASS / corners * np.array([0.5, 0.5, 1.0])
    told = covariances(name=name, normal=0.0, stddev=0.01)
    np.testing.assert_allclose(np.sqrt(np.diag(told)), least, rtol=1e-6)
    carries = covariances(name=name, normal=1.1 * LEAST, stddev=0.01)
    np.testing.assert_allclose(carries, 0.01**2 * np.eye(3), atol=1e-6)
    np.testing.assert_allclose(covariances(normal=0.0), STDDEV**2 * np.eye(3), atol=1e-6)


@pytest.mark.parametrize("name, corners", [("go2", 1), ("g1", 4)])
def test_without_torques_nothing_tells_which_foot_carries_how_much(name, corners):
    added = covariances(name=name, weighed=False) - covariances(name=name)
    untold = INTERVAL.untold_force * GRAVITY * MASS / corners
    np.testing.assert_allclose(added, untold**2 * np.eye(3), atol=1e-6)


def test_where_legs_are_not_seen_a_force_may_be_the_weight():
    added = covariances(depth=10.0) - covariances()
    np.testing.assert_allclose(added, (GRAVITY * MASS) ** 2 * np.eye(3), rtol=1e-9)


def test_a_robot_without_contacts_reports_none():
    of = problem("kinova_free")
    assert ContactReport(of).contacts(None, [], 1.0, 0.0) == ()
