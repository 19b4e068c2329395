# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Orientation of the IMU's own filter: its heading steadies ours, its errors do not become ours."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.added_sensors import copy_with, true_poses

from prime_estimation.config.parameters import Config
from prime_estimation.io.messages import stamp_ns
from prime_estimation.recordings.replay import replay
from prime_estimation.robot import Robot
from prime_estimation.sensors.imu_orientation import NAME

RUN, SECONDS = "go2_payload3", 8.0


@dataclass
class Filter:
    """Attitude filter of an IMU, written into the messages of a run that has none.

    Attributes:
        yaw: heading of its world in ours [rad]. tilt: constant error of roll [rad]. noise: rad.
        jump: (after s, by rad) of its heading. gyro_bias: put on the IMU's z axis [rad/s].
    """

    source: object
    yaw: float = 2.5
    tilt: float = 0.01
    noise: float = 0.003
    jump: tuple[float, float] = (np.inf, 0.7)
    gyro_bias: float = 0.0
    _poses: dict = field(default_factory=dict)

    def __post_init__(self):
        self._rng, self._first = np.random.default_rng(1), None
        self._poses = dict(true_poses(self.source))

    def __call__(self, topic: str, message):
        stamp = stamp_ns(message.header)
        self._first = self._first or stamp
        if 1e-9 * (stamp - self._first) > SECONDS:
            return None
        if topic != "/imu":
            return message
        rate = dataclasses.replace(
            message.angular_velocity, z=message.angular_velocity.z + self.gyro_bias
        )
        message = dataclasses.replace(message, angular_velocity=rate)
        if stamp not in self._poses:
            return None  # the truth has half the rate
        quat = message.orientation
        x, y, z, w = self._seen(stamp)
        return dataclasses.replace(
            message,
            orientation=type(quat)(x=x, y=y, z=z, w=w),
            orientation_covariance=np.zeros(9),
        )

    def _seen(self, stamp: int) -> np.ndarray:
        yaw = self.yaw + self.jump[1] * (1e-9 * (stamp - self._first) > self.jump[0])
        turned = pin.rpy.rpyToMatrix(self.tilt, 0.0, yaw) @ self._poses[stamp].rotation
        blurred = turned @ pin.exp3(self.noise * self._rng.normal(size=3))
        return pin.Quaternion(blurred).coeffs()


def run(bag, out, sensors: str):
    """Errors of heading and tilt [rad] over a replay, and what was said of the orientation."""
    config = Config.load("go2")
    config = replace(config, node=replace(config.node, sensors=sensors))
    poses = dict(true_poses(bag))
    heading, tilt, said, last = [], [], {}, None

    def listen(estimate) -> None:
        nonlocal last
        last = estimate
        said.update({s.message: estimate for s in estimate.status.sensors if s.name == NAME})
        if estimate.stamp_ns in poses:
            R = pin.Quaternion(np.array(estimate.quat_world_base)).toRotationMatrix()
            error = pin.log3(R @ poses[estimate.stamp_ns].rotation.T)
            heading.append(error[2])
            tilt.append(np.linalg.norm(R[2] - poses[estimate.stamp_ns].rotation[2]))

    replay(bag, Robot(config.robot), config, out, mocap=False, observer=listen)
    heading = np.unwrap(heading)
    return heading - heading[0], np.array(tilt), said, last


@pytest.mark.slow
def test_heading_is_used_and_errors_of_tilt_are_not_taken_over(recorded_runs, tmp_path):
    """A filter that leans by 10 mrad and looks elsewhere; where roll and pitch are used as they
    are, we lean with it. The gyro's bias of 20 mrad/s is told either way."""
    source = recorded_runs / RUN
    bag = copy_with(source, tmp_path / "bag.mcap", [], Filter(source, gyro_bias=0.02))
    heading, tilt, said, last = run(bag, tmp_path / "with.mcap", NAME)
    alone, leaning, nothing, _ = run(bag, tmp_path / "without.mcap", "")
    assert not nothing and set(said) == {"", "no data"}  # none at the very first node
    health = {s.name: s for s in last.status.sensors}[NAME]
    assert health.ok and 0.02 < health.normalized_innovation < 3.0
    assert max(np.abs(heading).max(), np.abs(alone).max()) < 0.01
    assert np.sqrt(np.mean(tilt**2)) < min(0.002, 0.6 * np.sqrt(np.mean(leaning**2)))


def test_jump_of_its_heading_is_not_followed(recorded_runs, tmp_path):
    source = recorded_runs / RUN
    bag = copy_with(source, tmp_path / "bag.mcap", [], Filter(source, jump=(4.0, 0.7)))
    heading, _, said, last = run(bag, tmp_path / "out.mcap", NAME)
    assert any("lies 0.70 rad apart; not used" in text for text in said), said
    assert np.abs(heading).max() < 0.02
    assert {s.name: s for s in last.status.sensors}[NAME].ok  # followed again, from another heading
