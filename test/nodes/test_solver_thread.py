# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the solver thread asks of the estimator, by how many nodes wait."""

import threading
from types import SimpleNamespace

import pytest
from helpers.waiting import wait

from prime_estimation.nodes.solver_thread import STRIDE, SolverThread
from prime_estimation.recordings.pipeline import Node


class Slow:
    """An estimator whose first update takes as long as the test wants."""

    monitors = SimpleNamespace(last_restart=(0, ""))

    def __init__(self):
        self.config = SimpleNamespace(node=SimpleNamespace(backlog=500))
        self.go, self.asked, self.resets = threading.Event(), [], 0

    def update(self, measurement, iterations=None):
        self.asked.append((measurement, iterations))
        assert self.go.wait(10.0)

    def reset(self):
        self.resets += 1

    def go_on(self, measurement):
        self.resets += 1

    def interrupt(self):
        self.go.set()


def asked_of(nodes: int):
    """Iterations of all nodes when so many wait behind the first."""
    estimator = Slow()
    thread = SolverThread(estimator, publish=lambda _: None, failed=lambda _: None)
    thread.start()
    thread.put(Node(0))
    assert wait(lambda: estimator.asked)
    for k in range(nodes):
        thread.put(Node(k + 1))
    estimator.go.set()
    assert wait(lambda: thread.pending == 0)
    thread.stop()
    assert [node for node, _ in estimator.asked] == list(range(nodes + 1))
    return [iterations for _, iterations in estimator.asked], thread.overruns


@pytest.mark.parametrize(
    "nodes, expected, overruns",
    [
        (0, [None], 0),
        (1, [None, None], 0),
        (2, [None, 1, 1], 1),
        (4, [None, 0, 1, 0, 1], 3),
        (6, [None, 0, 0, 1, 0, 0, 1], 5),
    ],
)
def test_the_more_wait_the_less_is_solved(nodes, expected, overruns):
    assert asked_of(nodes) == (expected, overruns)


def test_far_behind_every_tenth_is_solved_and_the_last():
    asked, _ = asked_of(200)
    solved = [k for k, iterations in enumerate(asked) if iterations != 0]
    assert solved[-1] == 200 and set(b - a for a, b in zip(solved[2:], solved[3:])) == {STRIDE}


def test_a_gap_is_told_before_the_node_behind_it():
    estimator, parted = Slow(), []
    estimator.go.set()
    thread = SolverThread(
        estimator, lambda _: None, lambda _: None, lambda: parted.append(estimator.resets)
    )
    thread.start()
    for k, gap in enumerate((False, True, False)):
        thread.put(Node(k, gap))
    assert wait(lambda: thread.pending == 0)
    thread.stop()
    assert estimator.resets == 1 and parted == [1]


class Failing(Slow):
    """An estimator that fails at the first node and at one of its orders."""

    def update(self, measurement, iterations=None):
        super().update(measurement, iterations)
        if measurement == 1:
            raise ValueError("no such thing")


def test_a_failure_loses_one_node_and_no_order_and_no_gap():
    estimator, said, parted, done = Failing(), [], [], []

    def fails(_):
        raise RuntimeError("order")

    thread = SolverThread(estimator, lambda _: None, said.append, lambda: parted.append(True))
    thread.start()
    thread.put(Node(0))
    assert wait(lambda: estimator.asked)
    for k, gap in ((1, False), (2, False), (3, True), (4, False)):
        thread.put(Node(k, gap))
    thread.post(fails)
    thread.post(done.append)
    estimator.go.set()
    assert wait(lambda: thread.pending == 0)
    thread.stop()
    assert [node for node, _ in estimator.asked] == [0, 1, 2, 3, 4]
    assert [type(e) for e in said] == [RuntimeError, ValueError]
    assert done == [estimator] and parted == [True] and thread.dropped == 1


@pytest.mark.parametrize("where", ["go_on", "on_discontinuity"])
def test_a_failure_behind_a_gap_ends_no_thread(where):
    """The node had been silent from then on."""
    estimator, said = Slow(), []

    def fails(*_):
        raise ValueError("behind a gap")

    estimator.go.set()
    if where == "go_on":
        estimator.go_on = fails
    parted = fails if where == "on_discontinuity" else lambda: None
    thread = SolverThread(estimator, lambda _: None, said.append, parted)
    thread.start()
    for k, gap in enumerate((False, True, False)):
        thread.put(Node(k, gap))
    assert wait(lambda: thread.pending == 0)
    thread.stop()
    assert [node for node, _ in estimator.asked] == [0, 1, 2]
    assert [str(error) for error in said] == ["behind a gap"]
