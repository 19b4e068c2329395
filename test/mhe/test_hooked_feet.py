# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Feet that risers of stairs hold: their forces are known from the torques of the legs."""

from __future__ import annotations

import numpy as np

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot

RUN, SPAN, SETTLED_NS = "go2_stairs_payload3", (0.0, 5.0), int(1.5e9)
MEAN_NS = int(1e7)  # a force is the mean over two steps of 10 ms


def true_forces(run, feet: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Stamps (n,) [ns] and forces (n, nf, 3) [N] of the simulator."""
    topics = {f"/ground_truth/contacts/{foot}": [] for foot in feet}
    with BagReader(run) as bag:
        for topic, _, message in bag.messages(list(topics)):
            force = message.wrench.force
            topics[topic].append((stamp_ns(message.header), [force.x, force.y, force.z]))
    stamps = np.array([stamp for stamp, _ in topics[f"/ground_truth/contacts/{feet[0]}"]])
    return stamps, np.stack([[f for _, f in rows] for rows in topics.values()], axis=1)


def error(run, told: bool) -> float:
    """Relative error of the feet's forces, with what torques tell beside the law or without."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    estimator = Estimator(robot, config)
    if not told:
        none = dict(stddev=1.0, odds=0.0, least=4.0, stretched=0.03, stop=0.03)
        estimator.problem.measurements.core.look_for_forces([[]] * len(robot.feet), **none)
    ms = measurements(run, robot, config.estimator.step, span=SPAN)
    stamps, forces = true_forces(run, robot.feet)
    away, true = [], []
    for estimate in filter(None, map(estimator.update, ms)):
        near = abs(stamps - estimate.contacts_stamp_ns) <= MEAN_NS
        if estimate.contacts_stamp_ns - ms[0].stamp_ns > SETTLED_NS and near.any():
            true.append(forces[near].mean(axis=0))
            away.append([c.force_world for c in estimate.contacts] - true[-1])
    return float(np.linalg.norm(away) / np.linalg.norm(true))


def test_forces_of_feet_on_risers(recorded_runs):
    told, law = (error(recorded_runs / RUN, told) for told in (True, False))
    assert told < 0.8 * law  # 0.67 when it was written
