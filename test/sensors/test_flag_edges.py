# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Edges of contact flags: which feet of which nodes are let move beside them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import problem

from prime_estimation.sensors.flag_edges import AFTER, BEFORE, VELOCITY, FlagEdges

NODES, RISE, FALL = 40, 10, 25  # of the first foot's flag


def seen(weighed: bool = False) -> list[np.ndarray]:
    """Weights (nxi,) of the contact disturbances of all nodes; three feet stand throughout."""
    go2 = problem("go2", mocap=False)
    edges, window = FlagEdges(go2, 4), SimpleNamespace(inputs=[go2.node().input])
    for k in range(NODES):
        go2.process.unmeasured(window.inputs[-1])
        window.inputs[-1].weighed = weighed
        window.inputs.append(go2.node().input)
        edges.see(np.array([float(RISE <= k < FALL), 1.0, 1.0, 1.0]), window)
    return [given.nominal_xi.copy() for given in window.inputs[:-1]]


def test_feet_move_beside_the_edges_of_their_flags_only():
    weights = seen()
    stands = weights[(RISE + FALL) // 2]
    widened = [bool((w[:2] < 0.99 * stands[:2]).all()) for w in weights]
    firm = range(RISE + BEFORE, FALL - AFTER)
    assert widened == [k not in firm for k in range(NODES)]
    moved = weights[RISE]
    np.testing.assert_allclose(moved[:2], 1.0 / np.hypot(1.0 / stands[:2], VELOCITY))
    assert moved[2] == stands[2]  # not off the ground
    for w in weights:
        np.testing.assert_array_equal(w[3:], stands[3:])  # nor the other feet


def test_torques_tell_when_a_foot_stands():
    first, *others = seen(weighed=True)
    for w in others:
        np.testing.assert_array_equal(w, first)


def test_flags_that_begin_again_know_no_edge():
    edges = FlagEdges(problem("go2", mocap=False), 4)
    edges.see(np.zeros(4), SimpleNamespace(inputs=[]))
    edges.reset()
    assert (edges._since > BEFORE).all() and not edges._widened


@pytest.mark.parametrize("length", [1, 2])
def test_windows_shorter_than_the_edges(length):
    go2 = problem("go2", mocap=False)
    window = SimpleNamespace(inputs=[go2.node().input for _ in range(length + 1)])
    for given in window.inputs:
        go2.process.unmeasured(given)
    edges = FlagEdges(go2, 4)
    for stands in (np.ones(4), np.ones(4), np.zeros(4)):
        edges.see(stands, window)
