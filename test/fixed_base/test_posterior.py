# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What recordings leave open of parameters, of residuals with known answers."""

from types import SimpleNamespace

import furuta
import numpy as np
import pytest

from prime_estimation.fixed_base import JointRecording, Machine, Spline, Weights
from prime_estimation.fixed_base.notices import unobservable
from prime_estimation.fixed_base.posterior import Posterior, _bartlett, bandwidth
from prime_estimation.fixed_base.segment import CUT_OFF, Segment


def test_lags_are_those_of_andrews():
    """Equation 6.4 with autocorrelations of a half, and of a half and none."""
    n = 1000
    half, none = 0.5 ** np.arange(n), np.eye(1, n)[0]
    alpha = 4.0 * 0.5**2 / (1.0 - 0.5**2) ** 2
    assert bandwidth([half[:, None]]) == np.ceil(1.1447 * (alpha * n) ** (1 / 3)) == 14
    # of unit variance: 0.75^2 / 0.5^4 = 9 to 1
    both = np.column_stack([half, none])
    assert bandwidth([both[:512], both[512:]]) == bandwidth([both]) == 14
    assert np.ceil(1.1447 * (0.9 * alpha * n) ** (1 / 3)) == 14
    few = np.column_stack([half, *9 * [none]])  # 9 to 9
    assert bandwidth([few]) == np.ceil(1.1447 * (0.5 * alpha * n) ** (1 / 3)) == 12
    # no more than a quarter of the nodes
    assert bandwidth([np.ones((40, 1))]) == 10 and bandwidth([np.zeros((40, 1))]) == 0


def test_sums_of_autocovariances():
    assert _bartlett(np.ones((4, 1)), 1)[0, 0] == 4.0 + 0.5 * 2.0 * 3.0
    later = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(_bartlett(later, 1), [[1.0, 0.5], [0.5, 1.0]])


def mean_of(residual: np.ndarray, box: float) -> Posterior:
    """Of one parameter that all rows, a node each, read with unit noise."""
    free = SimpleNamespace(lower=np.zeros(1), upper=np.full(1, box))
    out = Posterior([], SimpleNamespace(values=None, trajectories=[]), free)
    n = len(residual)
    out._residuals, out._projected = [residual], [np.ones((n, 1))]
    out._groups, out._nodes = [np.zeros(n, int)], [np.arange(n)]
    return out


def test_kinds_of_covariances():
    """Of a mean of a hundred readings with twice the noise, that change their sign once."""
    n = 100
    slow = mean_of(np.repeat([2.0, -2.0], n // 2), 1e6)
    given, white, correlated = (
        slow.deviations(kind)[0] for kind in ("given", "white", "correlated")
    )
    assert given == pytest.approx(0.1) and white == pytest.approx(0.2)
    lags = np.arange(1, 26)  # of autocovariances that fall from 100 on by three a lag
    total = 1.0 + 2.0 * np.sum((1.0 - lags / 26.0) * (100.0 - 3.0 * lags)) / 100.0
    assert correlated == pytest.approx(0.2 * np.sqrt(total), rel=1e-6)
    assert slow.stddev[0] == correlated
    # residuals that are smaller than what was given promise no more
    assert mean_of(np.tile([0.1, -0.1], n // 2), 1e6).stddev[0] == pytest.approx(0.1)


@pytest.mark.parametrize(("box", "told"), [(0.6, False), (0.65, True)])
def test_less_than_half_of_the_box_is_observable(box, told):
    """Of a box the variance is width^2 / 12, which is information of its own."""
    found = mean_of(np.zeros(100), box)
    assert found.prior_stddev[0] == pytest.approx(box / np.sqrt(12.0))
    assert found.stddev[0] == pytest.approx((100.0 + 12.0 / box**2) ** -0.5)
    assert found.observable[0] == told


def test_directions_are_measured_by_their_boxes():
    information = np.diag([1e5, 10.0, 1e6])
    posterior = SimpleNamespace(prior_stddev=np.array([1e-3, 1.0, np.inf]), information=information)
    found = SimpleNamespace(boxes={"a": 0, "b": 0, "free": 0}, posterior=posterior)
    assert unobservable(found) == [["a"]]
    # one of which parts are told: small ones are not named
    told = np.array([0.9, -0.42, 0.05])
    told = told / np.linalg.norm(told)
    posterior.prior_stddev = np.ones(3)
    posterior.information = 100.0 * (np.eye(3) - np.outer(told, told))
    assert unobservable(found) == [["a", "b"]]


def test_whitened_torque_errors_are_white():
    weights = Weights([1.0, 1.0], [0.5, 2.0], torque_time=0.03)
    W = weights.whitening(0.02, 6).toarray()
    time = 0.02 * np.arange(6)
    correlation = np.exp(-np.abs(time[:, None] - time) / 0.03)
    covariance = np.kron(correlation, np.diag([0.5**2, 2.0**2]))
    np.testing.assert_allclose(W @ covariance @ W.T, np.eye(12), atol=1e-12)


def test_weights_of_the_paper():
    weights = Weights.of_state_error_weight(4.0, 0.1, 2)
    assert weights.position.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(weights.torque, 1.0 / (np.sqrt(4.0) * 0.1))


def test_half_of_the_amplitude_is_left_at_the_cut_off():
    t = np.arange(0.0, 4.0, 1e-3)
    sine = np.sin(2.0 * np.pi * CUT_OFF * t)[:, None]
    recording = JointRecording(t, sine, np.zeros_like(sine))
    basis = Spline.over(0.0, t[-1], 0.005)
    machine, weights = Machine(furuta.pendulum()), Weights([1e-3], [1.0])
    segment = Segment(machine, recording, basis, weights)
    inside = (basis.nodes > 1.0) & (basis.nodes < 3.0)
    smooth = segment.motion(segment.start())[0][inside, 0]
    expected = 0.5 * np.sin(2.0 * np.pi * CUT_OFF * basis.nodes[inside])
    np.testing.assert_allclose(smooth, expected, atol=0.01)
