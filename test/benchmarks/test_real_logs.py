# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Logs of real robots: what the yardstick filter is given there, and how estimates are compared."""

import numpy as np
import pytest
from contact_ekf import Runner
from missing_readings import complete
from real_logs import LOGS
from real_reference import Reference, against_mocap, against_own_filter
from real_table import COLUMNS, markdown
from scipy.spatial.transform import Rotation

from prime_estimation.config.files import built_in_robots
from prime_estimation.config.parameters import Config
from prime_estimation.convert import load_mapping
from prime_estimation.errors import DataError
from prime_estimation.robot import Robot
from prime_estimation.sensors.contact_flags import FlagSample
from prime_estimation.sensors.foot_force import FootForceSample
from prime_estimation.types import CommandSample, ImuSample, JointSample

STANCE = np.tile([0.0, 0.8, -1.5], 4)
STEP_NS = 2_500_000


@pytest.fixture(scope="module")
def go1():
    return Robot.load("go1")


def joints(count, position=lambda t: STANCE, **given):
    stamps = [STEP_NS * k for k in range(count)]
    return [JointSample(stamp, position(1e-9 * stamp), **given) for stamp in stamps]


def test_rates_are_derivatives_of_positions(go1):
    swing = np.linspace(0.1, 0.3, 12)
    samples = joints(400, lambda t: STANCE + swing * np.sin(6.0 * t))
    samples += [FlagSample(0, np.ones(4))]
    done = [s for s in complete(samples, go1) if isinstance(s, JointSample)]
    for s in done[10:-10]:
        np.testing.assert_allclose(s.velocity, 6.0 * swing * np.cos(6e-9 * s.stamp_ns), atol=2e-3)
        assert s.effort is None


def test_commands_stand_in_for_torque_and_are_better_than_flags():
    robot = Robot.load("mini_cheetah")
    samples = joints(3, velocity=np.zeros(12))
    one, two = (robot.torque_offset + robot.torque_scale * torque for torque in (1.0, 2.0))
    samples += [CommandSample(STEP_NS, one), FlagSample(0, np.ones(4))]
    samples += [CommandSample(2 * STEP_NS, two)]
    done = complete(samples, robot)
    assert all(isinstance(s, JointSample) for s in done)
    np.testing.assert_allclose([s.effort[0] for s in done], [1.0, 1.0, 2.0])


def test_foot_sensors_give_flags_with_hysteresis(go1):
    readings = np.repeat([0.0, 40.0, 60.0, 40.0, 30.0, 60.0, 100.0], 50)
    forces = [FootForceSample(STEP_NS * k, np.full(4, 50.0 + r)) for k, r in enumerate(readings)]
    done = complete(joints(50, velocity=np.zeros(12)) + forces, go1)
    flags = [s.stands[0] for s in done if isinstance(s, FlagSample)]
    np.testing.assert_array_equal(flags[25::50], [0, 0, 1, 1, 0, 1, 1])


def test_nothing_that_tells_contact_is_refused(go1):
    with pytest.raises(DataError, match="contact"):
        complete(joints(50, velocity=np.zeros(12)), go1)


def test_a_robot_that_lies_rests_until_a_foot_is_flagged(go1):
    """An accelerometer that is off would carry it away."""
    felt, samples = np.array([0.1, 0.0, 9.81]), []
    for s in joints(1200, velocity=np.zeros(12)):
        flags = FlagSample(s.stamp_ns, np.full(4, float(s.stamp_ns > 2e9)))
        samples += [s, flags, ImuSample(s.stamp_ns, np.zeros(3), felt)]
    runner = Runner(go1, Config.load("go1"))
    last = list(runner.run(samples))[-1]
    assert runner.ekf.contact.all()
    np.testing.assert_allclose(last.position_world[:2], 0.0, atol=0.01)


def walk(turn=0.0, move=(0.0, 0.0, 0.0), climb=0.0, slow=0.0, seconds=10.0):
    """Along x with 0.5 m/s in the world, heading 0.2 rad; `climb`, `slow` [m/s] are errors."""
    t = np.arange(0.0, seconds, 0.01)
    heading = Rotation.from_euler("z", np.full((len(t), 1), 0.2))
    speed = np.array([0.5 - slow, 0.0, climb])
    world = Rotation.from_euler("z", turn)
    return Reference(
        t,
        world.apply(t[:, None] * speed) + move,
        world * heading,
        heading.inv().apply(np.tile(speed, (len(t), 1))),
        np.zeros((len(t), 3)),
        0.0,
    )


class Estimated:
    """Of a walk, with the fields of an odometry that only estimates have."""

    def __init__(self, motion):
        self.__dict__.update(vars(motion))
        unknown = np.full((len(motion.t), 3, 3), np.nan)
        self.position_covariance = self.rotation_covariance = self.velocity_covariance = unknown


def test_place_and_heading_at_the_start_are_no_errors():
    figures = against_mocap(Estimated(walk(turn=1.0, move=(3.0, 2.0, 1.0))), walk())
    assert figures["path"] == pytest.approx(5.0, abs=0.01)
    for name in ("velocity", "drift", "segments", "z_end", "z", "tilt", "yaw_end", "yaw"):
        assert figures[name] == pytest.approx(0.0, abs=1e-7), name


def test_errors_are_what_they_are():
    figures = against_mocap(Estimated(walk(turn=1.0, climb=0.01, slow=0.05)), walk())
    assert figures["velocity"] == pytest.approx(np.hypot(0.05, 0.01))
    assert figures["drift"] == pytest.approx(10.0)
    assert figures["segments"] == pytest.approx(100 * np.hypot(0.05, 0.01) / 0.5, rel=0.01)
    assert figures["z_end"] == pytest.approx(0.1, abs=1e-3)


def test_heading_against_the_robots_own_filter():
    t = np.arange(0.0, 10.0, 0.02)
    own = Rotation.from_euler("z", (0.7 + 0.01 * t)[:, None])
    figures = against_own_filter(Estimated(walk(climb=0.01)), t, own)
    assert figures["yaw_end"] == pytest.approx(-0.1, abs=1e-3)
    assert figures["path"] == pytest.approx(4.9, abs=0.1)
    assert figures["z_end"] == pytest.approx(0.1, abs=1e-3)


def test_every_log_has_a_shipped_mapping_and_robot():
    for log in LOGS:
        assert load_mapping(log.mapping).robot == log.robot and log.robot in built_in_robots()


def test_table_names_what_went_wrong():
    results = [
        {"log": "a", "error": "no such file"},
        {"log": "b", "prime": {"error": "no data"}, "ekf": {"path": 2.0, "z_end": -0.01}},
    ]
    lines = markdown(results).splitlines()
    assert lines[2].count("|") == len(COLUMNS) + 3 and " -0.5 " in lines[2]
    assert lines[-2:] == ["a: no such file", "b, ours: no data"]
