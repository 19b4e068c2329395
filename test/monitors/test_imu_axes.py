# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""IMU axes: others than the model's are said, by feet that stand; right ones are not doubted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.runs import measurements

from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.monitors.imu_axes import axis_rotations
from prime_estimation.robot import Robot

SECONDS = 3.0


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A trot: robot, configuration, measurements."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    bag = simulate.run("go2", "trot", SECONDS, tmp_path_factory.mktemp("trot") / "run", seed=9)
    config = Config.load("go2")
    robot = Robot(config.robot)
    return robot, config, measurements(bag, robot, config, SECONDS, mocap=False)


def watched(walk, C, torque: bool = True) -> tuple[Estimator, list]:
    """Estimator and estimates of an IMU whose readings are C times those of the model's."""
    robot, config, ms = walk
    estimator, out = Estimator(robot, config, mocap=False), []
    for m in ms:
        turned = dict(gyro=C @ m.gyro, accelerometer=m.accelerometer)
        if m.accelerometer is not None:
            turned["accelerometer"] = C @ m.accelerometer
        turned |= {} if torque else {"torque": None}
        estimate = estimator.update(replace(m, **turned))
        out += [estimate] if estimate else []
    return estimator, out


def test_rotations_are_the_twenty_four():
    axes = axis_rotations()
    assert len({C.tobytes() for C in axes}) == 24 and (axes[0] == np.eye(3)).all()
    np.testing.assert_allclose(
        axes @ np.swapaxes(axes, 1, 2), np.broadcast_to(np.eye(3), (24, 3, 3))
    )
    np.testing.assert_allclose(np.linalg.det(axes), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("yaw", [90.0, 180.0, -90.0])
def test_a_turn_that_gravity_does_not_see_is_said(walk, yaw):
    """Velocity and tilt were wrong by 0.45 m/s and more, said to be well most of the time."""
    turn = np.radians(yaw)
    C = np.array([[np.cos(turn), -np.sin(turn), 0.0], [np.sin(turn), np.cos(turn), 0.0], [0, 0, 1]])
    estimator, out = watched(walk, np.round(C))
    assert estimator.monitors.axes.wrong
    said = [s for s in out[-1].status.sensors if "axes" in s.message]
    assert len(said) == 1 and not said[0].ok and f"{-turn:.2f}"[-4:] in said[0].message
    assert not any(body.observable for body in out[-1].bodies)


@pytest.mark.parametrize("torque", [True, False])
def test_right_axes_are_found_right(walk, torque):
    estimator, out = watched(walk, np.eye(3), torque)
    axes = estimator.monitors.axes
    assert axes.decided == 0 and not axes.wrong and not axes.pending
    assert not any("axes" in s.message for e in out for s in e.status.sensors)
