# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What changes under a running estimator node: its parameters, and the time."""

from helpers.waiting import wait

from prime_estimation.io.messages import stamp_ns


def test_retuned_noise_reaches_the_problem(graph, messages):
    g = graph()
    g.node.retune(g.node.config.updated({"noise": {"gyro": 0.02}}))
    assert wait(lambda: g.node.estimator.problem.config.noise.gyro == 0.02)


def test_limit_for_valid_inertia_is_the_tuned_one(graph, messages):
    g = graph()
    g.node.retune(g.node.config.updated({"estimator": {"publish_mass_stddev": 0.001}}))
    g.play(messages[:1600])
    assert wait(lambda: len(g.heard["inertial_parameters"]) > 2)
    assert not any(m.valid for m in g.heard["inertial_parameters"])


def test_recording_that_is_played_once_more(graph, messages):
    """Time goes back: odometry starts anew with it, between nodes too."""
    g = graph()
    g.play(messages[:1600])
    assert wait(lambda: g.node.solver.pending == 0)
    first = len(g.heard["odometry"])
    g.play(messages[:1600])
    assert wait(lambda: len(g.heard["odometry"]) > 1.8 * first)
    stamps = [stamp_ns(m.header) for m in g.heard["odometry"]]
    assert sum(after <= before for before, after in zip(stamps, stamps[1:])) == 1
