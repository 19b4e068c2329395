# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bases of trajectories, and what is made of recorded torques."""

from __future__ import annotations

from pathlib import Path

import furuta
import numpy as np
import pytest

from prime_estimation.errors import ConfigError, DataError
from prime_estimation.fixed_base import JointRecording, Leapfrog, Spline, read_bag
from prime_estimation.io.bag import BagWriter
from prime_estimation.io.sensor_messages import joint_state


def write(path: Path, **values: float) -> Path:
    """Bag of 20 joint states, 10 ms apart; every stamp comes twice, joints in another order."""
    with BagWriter(path) as bag:
        for k in range(40):
            stamp = 10**9 + k // 2 * 10**7
            arrays = {name: np.array([value, k // 2]) for name, value in values.items()}
            names = ["hinge2", "hinge1"]
            message = joint_state(bag.message_class, stamp, names, **arrays)
            bag.write("/joint_states", stamp + k % 2, message)
    return path


def test_bag(tmp_path):
    robot = furuta.furuta()
    run = read_bag(write(tmp_path / "run.mcap", position=0.5, effort=0.0), robot)
    np.testing.assert_allclose(run.time, 0.01 * np.arange(20))
    np.testing.assert_allclose(run.position, np.column_stack([np.arange(20), np.full(20, 0.5)]))
    np.testing.assert_allclose(run.torque[:, 1], 0.0)
    with pytest.raises(DataError, match="no effort"):
        read_bag(write(tmp_path / "dumb.mcap", position=0.5), robot)
    with pytest.raises(DataError, match="no joint states from 0.081 to 0.089 s"):
        read_bag(tmp_path / "run.mcap", robot, (0.081, 0.089))


@pytest.mark.parametrize(("basis", "degree"), [(Spline, 5), (Leapfrog, 2)])
def test_polynomials_are_exact(basis, degree):
    """Rates and accelerations of the polynomials that a basis contains."""
    of = basis.over(1.0, 2.0, 0.05)
    polynomial = np.polynomial.Polynomial(np.arange(1.0, degree + 2.0))
    times = np.linspace(1.0, 2.0, 333)
    c = np.linalg.lstsq(of.positions(times).toarray(), polynomial(times), rcond=None)[0]
    np.testing.assert_allclose(of.positions(times) @ c, polynomial(times), rtol=1e-9)
    for order, B in enumerate(of.motion()):
        expected = (polynomial if order == 0 else polynomial.deriv(order))(of.nodes)
        np.testing.assert_allclose(B @ c, expected, rtol=1e-6)


def test_splines_converge_with_the_fourth_power():
    """Acceleration of a sine; central differences with the second."""
    errors = {}
    for basis in (Spline, Leapfrog):
        for step in (0.1, 0.05):
            of = basis.over(0.0, 10.0, step)
            times = np.linspace(0.0, 10.0, 2001)
            c = np.linalg.lstsq(of.positions(times).toarray(), np.sin(times), rcond=None)[0]
            inner = slice(10, -10)
            error = of.motion()[2] @ c + np.sin(of.nodes)
            errors[basis, step] = np.abs(error[inner]).max()
    assert errors[Spline, 0.1] / errors[Spline, 0.05] > 12.0
    assert errors[Leapfrog, 0.1] / errors[Leapfrog, 0.05] == pytest.approx(4.0, rel=0.1)
    assert errors[Spline, 0.1] < 0.02 * errors[Leapfrog, 0.1]


def test_mean_torque():
    """Mean of a torque that rises, late; constant beyond the ends."""
    t = np.array([0.0, 0.1, 0.25, 0.3, 0.6, 0.7, 0.8, 0.95, 1.0, 1.2])
    of = JointRecording(t, np.zeros((10, 1)), (3.0 * t)[:, None])
    at = np.array([0.33, 0.5, 0.9])
    mean, by_delay = of.mean_torque(at, 0.2, 0.05)
    np.testing.assert_allclose(mean[:, 0], 3.0 * (at - 0.05))
    np.testing.assert_allclose(by_delay[:, 0], -3.0)
    ends, _ = of.mean_torque(np.array([-1.0, 2.0]), 0.2, 0.0)
    np.testing.assert_allclose(ends[:, 0], [0.0, 3.6], atol=1e-12)


def test_refused():
    t, good = np.arange(20) * 0.01, np.zeros((20, 1))
    with pytest.raises(DataError, match="increasing times"):
        JointRecording(t[::-1], good, good)
    with pytest.raises(DataError, match="one row for each of 20 times"):
        JointRecording(t, good, good[:5])
    with pytest.raises(DataError, match="not finite"):
        JointRecording(t, good, good + np.nan)
    with pytest.raises(ConfigError, match="fewer than 10 steps"):
        Spline.over(0.0, 0.2, 0.1)
    for step in (0.0, -0.1, np.nan):
        with pytest.raises(ConfigError, match="expected more than zero"):
            Spline.over(0.0, 2.0, step)
