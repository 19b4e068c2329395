# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""External odometry: it holds what the legs lose, and is not followed where it jumps."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers.added_sensors import LidarOdometry, copy_with, pose_of, true_poses
from helpers.models import config, robot

from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.recordings.replay import replay
from prime_estimation.sensors.external_odometry import ExternalOdometry

RUN = "go2_long90_payload3"
SECONDS = 45.0


def end_error(poses: list[tuple[int, pin.SE3]], source: Path) -> float:
    """Distance of the last pose from the truth, with the first one put on it [m]."""
    true = list(true_poses(source))
    stamps = np.array([stamp for stamp, _ in true])

    def truth(stamp: int) -> pin.SE3:
        return true[int(np.argmin(np.abs(stamps - stamp)))][1]

    frame = truth(poses[0][0]) * poses[0][1].inverse()
    stamp, last = poses[-1]
    return float(np.linalg.norm((frame * last).translation - truth(stamp).translation))


def estimated(bag: Path, out: Path, without: tuple[str, ...] = ()):
    """Poses of a replay, and what was said of the odometry."""
    said: dict[str, int] = {}

    def listen(estimate) -> None:
        for sensor in estimate.status.sensors:
            if sensor.name == "external_odometry" and sensor.message:
                said[sensor.message] = estimate.stamp_ns

    replay(bag, robot("go2"), config("go2"), out, mocap=False, without=without, observer=listen)
    with BagReader(out) as reader:
        messages = reader.messages(["/prime/odometry"])
        return [(stamp_ns(m.header), pose_of(m)) for _, _, m in messages][::50], said


@pytest.mark.slow
def test_nearer_than_legs_or_lidar_alone(recorded_runs, tmp_path):
    lidar = LidarOdometry()
    bag = copy_with(recorded_runs / RUN, tmp_path / "bag.mcap", [lidar], longest=SECONDS)
    alone = end_error(list(lidar.readings(bag)), bag)
    legs = end_error(estimated(bag, tmp_path / "legs.mcap", ("external_odometry",))[0], bag)
    poses, said = estimated(bag, tmp_path / "both.mcap")
    assert not [text for text in said if "apart" in text]
    assert end_error(poses, bag) < min(alone, legs)


def test_jump_is_rejected_and_said(recorded_runs, tmp_path):
    source = recorded_runs / "go2_payload3"
    bag = copy_with(source, tmp_path / "bag.mcap", [LidarOdometry(jump=(5.0, 1.0))])
    poses, said = estimated(bag, tmp_path / "out.mcap")
    assert any("apart" in text for text in said), said
    assert any("jumped by" in text for text in said), said
    assert end_error(poses, source) < 0.1


@pytest.mark.parametrize(
    "pose, twist, deviations, known",
    [
        (0.04, 0.09, (0.2, 0.2, 0.3), True),
        (0.0, 0.0, (0.0, 0.0, 0.0), True),
        (np.nan, 0.09, (0.0, 0.0, 0.3), True),
        (0.04, np.nan, (0.2, 0.2, 0.0), False),
        (-1.0, -1.0, (0.0, 0.0, 0.0), False),
    ],
)
def test_variances_that_say_nothing(pose, twist, deviations, known):
    """A variance of NaN had made NaN of the whole window."""
    xyz, unit = SimpleNamespace(x=1.0, y=2.0, z=3.0), SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)
    message = SimpleNamespace(
        pose=SimpleNamespace(
            pose=SimpleNamespace(position=xyz, orientation=unit), covariance=np.full(36, pose)
        ),
        twist=SimpleNamespace(twist=SimpleNamespace(linear=xyz), covariance=np.full(36, twist)),
    )
    sample = ExternalOdometry().read(message, 1, 1, None)
    told = sample.position_stddev, sample.rotation_stddev, sample.velocity_stddev
    assert told == pytest.approx(deviations) and (sample.velocity_base is not None) == known


def test_each_deviation_is_that_of_its_part():
    """In the order of a message: place, then rotation; the largest of three axes."""
    xyz, unit = SimpleNamespace(x=1.0, y=2.0, z=3.0), SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)
    covariance = np.diag([0.01, 0.04, 0.0, 0.0001, 0.0004, 0.0])
    message = SimpleNamespace(
        pose=SimpleNamespace(
            pose=SimpleNamespace(position=xyz, orientation=unit), covariance=covariance.ravel()
        ),
        twist=SimpleNamespace(twist=SimpleNamespace(linear=xyz), covariance=covariance.ravel()),
    )
    sample = ExternalOdometry().read(message, 1, 1, None)
    told = sample.position_stddev, sample.rotation_stddev, sample.velocity_stddev
    assert told == pytest.approx((0.2, 0.02, 0.2))
