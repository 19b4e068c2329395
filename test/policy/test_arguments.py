# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Arguments of the Python calls that are of another type: one line says what was expected."""

import numpy as np
import pytest

from prime_estimation import Config, Estimator, InertiaGate, Robot, StateObserver
from prime_estimation.control.motion_types import VelocityCommand
from prime_estimation.convert import convert, load_mapping
from prime_estimation.doctor import examine
from prime_estimation.errors import ConfigError, DataError
from prime_estimation.fixed_base import Machine, read_bag
from prime_estimation.identify import fuse, identify_run
from prime_estimation.inertia_gate import Bounds
from prime_estimation.policy.joint_order import JointArrays
from prime_estimation.recordings.replay import replay
from prime_estimation.sensors.choice import sensor_names, switch
from prime_estimation.types import ImuSample, JointSample


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"joints": 3}, "joints must be pinocchio, .*, or a list of the names .*, got 3"),
        ({"joints": None}, "joints must be .*, got None"),
        ({"joints": [1, 2]}, r"joints must be .*, got \[1, 2\]"),
        ({"joints": [["a"]]}, r"joints must be .*, got \[\['a'\]\]"),
        ({"joints": b"unitree"}, "joints must be .*, got b'unitree'"),
        ({"sensors": 3}, r"sensors must be a list of names, as \['foot_force'\], got 3"),
        ({"sensors": None}, "sensors must be a list of names, .* got None"),
        ({"sensors": [["a"]]}, "sensors must be a list of names"),
        ({"sensors": "foot_force"}, r"write sensors=\['foot_force'\]"),
        ({"mocap": "no"}, "mocap must be True or False, got 'no'"),
        ({"threaded": None}, "threaded must be True or False, got None"),
        ({"config": 3}, "changes are the path of a YAML file, got a int"),
    ],
)
def test_observer(argument, words):
    with pytest.raises(ConfigError, match=words) as raised:
        StateObserver("go2", **{"threaded": False, **argument})
    assert "\n" not in str(raised.value)


def test_observer_of_a_robot_with_changes_that_are_no_file():
    with pytest.raises(ConfigError, match="config is the path of a YAML file or a whole Config"):
        StateObserver(Robot.load("go2"), 3, threaded=False)


def test_estimator_and_gate():
    robot, config = Robot.load("go2"), Config.load("go2")
    for arguments in ((3, config), ("go2", config), (robot, None), (config, robot)):
        with pytest.raises(ConfigError, match=r"takes a Robot \(Robot.load\) and a Config: got a"):
            Estimator(*arguments)
    with pytest.raises(ConfigError, match="mocap must be True or False, got 'yes'"):
        Estimator(robot, config, "yes")
    with pytest.raises(ConfigError, match=r"write sensors=\['foot_force'\]"):
        Estimator(robot, config, sensors="foot_force")
    for arguments in ((3,), (robot, 3)):
        with pytest.raises(ConfigError, match=r"takes a Robot \(Robot.load\) and Bounds: got a"):
            InertiaGate(*arguments)
    with pytest.raises(DataError, match="offer takes an InertialParameters message, got a int"):
        InertiaGate(robot).offer(3)
    with pytest.raises(ConfigError, match="changes must be a mapping of sections, got a int"):
        config.updated(3)


@pytest.mark.parametrize("measurement", [3, None, "m", JointSample(0, np.zeros(12))])
def test_a_measurement_that_is_none(measurement):
    estimator = Estimator(Robot.load("go2"), Config.load("go2"), mocap=False)
    with pytest.raises(DataError, match=r"takes a Measurement \(Synchronizer.pop\), got"):
        estimator.update(measurement)


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (3, "predicts to an ImuSample, got 3"),
        (JointSample(0, np.zeros(12)), "predicts to an ImuSample, got JointSample"),
        (ImuSample(0, [0.0, 0.0, 0.0], np.zeros(3)), "angular_velocity of an imu sample must be"),
        (ImuSample(0, np.zeros(3), 9.8), "linear_acceleration of an imu sample must be an array"),
    ],
)
def test_what_nothing_is_predicted_to(sample, words):
    estimator = Estimator(Robot.load("go2"), Config.load("go2"), mocap=False)
    with pytest.raises(DataError, match=words):
        estimator.predict(sample)
    assert estimator.predict(ImuSample(0, None, np.zeros(3))) is None  # lost, and passed over


def test_other_calls_of_an_estimator():
    estimator = Estimator(Robot.load("go2"), Config.load("go2"), mocap=False)
    with pytest.raises(ConfigError, match="is an InertiaBelief or a JointBelief, got 3"):
        estimator.resume(3)
    with pytest.raises(ConfigError, match=r"takes a Robot \(Robot.load\) and a Config: got a"):
        estimator.retune({"window": 5})
    with pytest.raises(DataError, match="takes a Measurement"):
        estimator.go_on(3)


def test_robots_and_mappings_by_name(tmp_path):
    """Where the thing itself is wanted, its name is not enough."""
    config, out = Config.load("go2"), tmp_path / "out.mcap"
    for call in (
        lambda: identify_run("run.mcap", "go2", config),
        lambda: replay("run.mcap", "go2", config, out),
        lambda: examine(None, "go2", config),
    ):
        with pytest.raises(ConfigError, match=r"takes a Robot \(Robot.load\) and a Config: got a"):
            call()
    with pytest.raises(ConfigError, match=r"Machine takes a Robot \(Robot.load\), got 'ricmonk'"):
        Machine("ricmonk")
    with pytest.raises(ConfigError, match=r"takes a Mapping \(load_mapping\), got 'sipo_a1'"):
        convert("log", "sipo_a1", out)
    with pytest.raises(ConfigError, match=r"takes a Robot \(Robot.load\), got 'ricmonk'"):
        read_bag("run.mcap", "ricmonk")
    with pytest.raises(ConfigError, match="no mapping '3'; there are"):
        load_mapping(3)
    with pytest.raises(DataError, match="no posterior to fuse"):
        fuse([])
    for wrong in (3, None, "base", [3], {"base": 3}):
        with pytest.raises(DataError, match=r"fuse takes a list of posteriors \(Run.posterior\)"):
            fuse(wrong)
    assert not out.exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"vx": "1"}, "vx of a velocity command must be a number, got '1'"),
        ({"yaw_rate": None}, "yaw_rate of a velocity command must be a number, got None"),
        ({"height": [0.1]}, r"height of a velocity command must be a number, got \[0.1\]"),
        ({"lean": 0.1}, r"lean of a velocity command must be two numbers \[m\], got 0.1"),
        ({"lean": "ab"}, "lean of a velocity command must be two numbers"),
        ({"lean": (0.1, 0.0, 0.0)}, "lean of a velocity command must be two numbers"),
    ],
)
def test_a_velocity_command(command, words):
    with pytest.raises(ConfigError, match=words):
        VelocityCommand(**command)
    VelocityCommand(np.float32(0.5), 1, lean=np.array([0.1, 0.0]))


@pytest.mark.parametrize("wrong", ["1", None, float("nan")])
def test_bounds_of_a_gate(wrong):
    with pytest.raises(ConfigError, match="bounds of the inertia listener make no sense"):
        InertiaGate(Robot.load("go2"), Bounds(mass_rate=wrong))


def test_what_may_be_handed_in():
    """Lists of any kind, NumPy's too."""
    robot = Robot.load("go2")
    for names in (robot.joint_names, np.array(robot.joint_names), dict.fromkeys(robot.joint_names)):
        assert list(JointArrays(robot, names).names) == robot.joint_names
    assert switch(np.bool_(True), "mocap") is True and switch(False, "mocap") is False
    for names in ((), ["foot_force"], {"foot_force"}, np.array(["foot_force"])):
        assert sensor_names(names) is names
