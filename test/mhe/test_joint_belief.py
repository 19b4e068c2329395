# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What was learned of joints is the prior of the next estimate."""

from __future__ import annotations

import numpy as np
import pytest

from prime_estimation.mhe.joint_belief import JointBelief
from prime_estimation.mhe.joint_parameters import COMMON_GAIN, GAINS, WALK, joint_blocks
from prime_estimation.robot import Robot
from prime_estimation.types import JointParameter


@pytest.fixture(scope="module")
def blocks():
    return {b.name: b for b in joint_blocks(Robot.load("go2"), "losses,gains,zeros")}


@pytest.mark.parametrize("value, stddev", [(0.25, 0.02), (0.004, 0.01), (0.0, 0.01)])
def test_a_value_and_its_deviation_come_back(blocks, value, stddev):
    block = blocks["dry_friction"]
    told = JointParameter("dry_friction", "calf_joint", value, stddev, True)
    mean, root = JointBelief((told,)).prior(block)
    i, least = block.labels.index("calf_joint"), block.declaration.softness
    assert block.values(mean)[0][i] == pytest.approx(max(value, least))
    assert block.spread(mean, np.diag(root))[i] == pytest.approx(stddev)
    others = np.arange(len(mean)) != i
    assert mean[others] == pytest.approx(block.mean[others])
    assert root[others, others] == pytest.approx(block.prior_root[others, others])


def test_a_loss_of_next_to_none_is_not_known_to_any_digit(blocks):
    """There the map to it is flat: a parameter that may be 0.26 is not known to 0.002."""
    block = blocks["dry_friction"]
    parameters, stddev = np.full(3, -0.07), np.full(3, 0.33)
    value, slope = block.values(parameters)
    assert (value < 0.001).all() and (slope * stddev < 0.003).all()
    spread = block.spread(parameters, stddev)
    np.testing.assert_allclose(spread, 0.26, atol=0.001)
    assert not block.told(spread).any()
    assert block.told(block.spread(parameters, 0.2 * stddev)).all()  # it is next to none then
    np.testing.assert_allclose(block.spread(np.full(3, 0.25), 0.1 * stddev), 0.033, rtol=0.01)


def test_what_was_not_observed_is_not_taken_up(blocks):
    block = blocks["armature"]
    told = JointParameter("armature", "calf_joint", 0.05, 0.01, False)
    mean, root = JointBelief((told,)).prior(block)
    assert mean == pytest.approx(block.mean) and root == pytest.approx(block.prior_root)


def test_deviations_grow_with_time_up_to_the_prior(blocks):
    block = blocks["encoder_zero"]
    told = JointParameter("encoder_zero", block.labels[0], 0.003, 0.001, True)
    deviations = [JointBelief((told,), age).prior(block)[1][0, 0] for age in (0.0, 100.0, 1e9)]
    walked = np.hypot(0.001, WALK * block.stddev[0] * 10.0)
    assert deviations == pytest.approx([0.001, walked, block.stddev[0]])


def test_the_mean_of_all_gains_stays_held(blocks):
    block = blocks[GAINS]
    told = tuple(JointParameter(GAINS, n, 0.02, 0.01, True) for n in block.labels[:3])
    _, root = JointBelief(told).prior(block)
    common = np.full(len(block.labels), 1.0 / len(block.labels))
    assert np.linalg.norm(common @ root) * np.sqrt(len(common)) == pytest.approx(COMMON_GAIN)
