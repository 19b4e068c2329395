# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The node that leaves the window next keeps its ground when the ground is moved."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.mhe.planes import Planes

FOOT = 1


def moved(estimator) -> None:
    """Put the ground under a foot elsewhere, turned."""
    window, problem = estimator.window, estimator.problem
    now = Planes.of(problem, window)
    height, slope, anchor = now.height, now.slope.copy(), now.anchor.reshape(-1, 2).copy()
    height[FOOT] -= 0.006
    slope[2 * FOOT : 2 * FOOT + 2] += [0.1, -0.05]
    anchor[FOOT] += [0.04, 0.02]
    window.set_parameter("height", height)
    window.set_parameter("slope", slope)
    problem.dynamics.anchor = anchor


def gaps(window) -> list[float]:
    """Of the velocities [m/s, rad/s] between each running node's step and the state behind it."""
    out, layout = [], window.problem.layout
    for node, data, x, u, after in zip(
        window.nodes, window.data, window.xs, window.us, window.xs[1:]
    ):
        node.calc(data, x, u)
        out.append(np.abs(layout.v(np.array(data.xnext)) - layout.v(after)).max())
    return out


def test_ground_by_offsets_is_ground_by_parameters(standing):
    """The same residual, derivatives and step."""
    estimator, _ = standing
    window, problem, rng = estimator.window, estimator.problem, np.random.default_rng(1)
    node, data, x, u = window.nodes[3], window.data[3], window.xs[3].copy(), window.us[3]
    up, turn, aside = (rng.normal(0.0, s, n) for s, n in ((0.002, 4), (0.05, 8), (0.03, 8)))
    anchor, given = np.array(problem.dynamics.anchor), node.input

    def evaluated(at) -> list[np.ndarray]:
        node.calc(data, at, u)
        node.calcDiff(data, at, u)
        return [np.array(a) for a in (data.r, data.Rx, data.Ru, data.Fx, data.Fu, data.xnext)]

    given.height_offset, given.slope_offset, given.anchor_offset = up, turn, aside
    by_offsets = evaluated(x)
    given.height_offset, given.slope_offset, given.anchor_offset = 0 * up, 0 * turn, 0 * aside
    here = evaluated(x)
    y = x.copy()
    problem.parameter(y, "height")[:] += up
    problem.parameter(y, "slope")[:] += turn
    problem.dynamics.anchor = anchor + aside.reshape(-1, 2)
    by_parameters = evaluated(y)
    by_parameters[-1] += x - y
    for one, other in zip(by_offsets, by_parameters):
        np.testing.assert_allclose(one, other, atol=1e-9)
    assert np.abs(by_offsets[-1] - here[-1]).max() > 1e-4


def test_only_the_node_that_leaves_next_keeps_its_ground(standing):
    estimator, _ = standing
    window, problem = estimator.window, estimator.problem
    solved, before = gaps(window), Planes.of(problem, window)
    for _ in range(2):  # twice before a node has left
        at = Planes.of(problem, window)
        moved(estimator)
        at.stay_under_the_oldest(window, Planes.of(problem, window))
        now = gaps(window)
        assert now[0] == pytest.approx(solved[0], abs=1e-9)
        assert min(now[1:]) > 0.01
    lower = before.height - Planes.of(problem, window).height
    np.testing.assert_allclose(window.inputs[0].height_offset, lower, atol=1e-15)


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_known_is_not_strained_by_ground_that_moves(standing, kept, monkeypatch):
    """A node that left with other ground than it was solved with would contradict it."""
    estimator, last = standing
    window, ground, horizon = estimator.window, estimator.horizon.ground, estimator.horizon
    feet, above = np.array([FOOT]), np.array([0.0, -0.006, 0.0, 0.0])
    monkeypatch.setattr(ground, "_follow", lambda w, situation: ground._place(w, feet, above))
    if not kept:
        monkeypatch.setattr(Planes, "stay_under_the_oldest", lambda *_: None)
    situation = estimator.monitors.assess(last, window)
    ground.update(window, situation)
    before = window.strain()
    horizon.complete(last, situation)
    assert horizon.shift(last, situation) == ""
    assert (window.strain() < before + 0.2) is kept


def test_a_node_knows_where_its_ground_is(standing):
    """What it has found at other anchors of the slopes is found anew, derivatives too."""
    estimator, _ = standing
    window, problem = estimator.window, estimator.problem
    node, data, x, u = window.nodes[3], window.data[3], window.xs[3].copy(), window.us[3]
    problem.parameter(x, "slope")[:] += 0.15
    anchor = np.array(problem.dynamics.anchor)

    def evaluated(data) -> list[np.ndarray]:
        node.calc(data, x, u)
        node.linearize(data, x)
        return [np.array(a) for a in (data.r, data.xnext)]

    here = evaluated(data)
    problem.dynamics.anchor = anchor + 0.05
    try:
        there, anew = evaluated(data), evaluated(node.createData())
    finally:
        problem.dynamics.anchor = anchor
    for one, fresh in zip(there, anew):
        np.testing.assert_allclose(one, fresh, atol=1e-8)
    assert np.abs(there[0] - here[0]).max() > 1e-3
