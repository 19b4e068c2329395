# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots that are not walking machines, and measurements of another robot.

A plain answer or a plain refusal.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import asdict

import numpy as np
import pytest
from helpers import models

from prime_estimation.config.parameters import Config
from prime_estimation.errors import ConfigError, DataError, RobotError
from prime_estimation.estimator import Estimator
from prime_estimation.identify.full_information import full_information
from prime_estimation.mhe.world_motion import move_window
from prime_estimation.recordings.replay import replay
from prime_estimation.robot import Robot, urdf_path
from prime_estimation.sensors.frames import WorldMotion
from prime_estimation.types import Measurement

STEP_NS = 10_000_000


def at_rest(nj: int, k: int, **changes) -> Measurement:
    """A measurement of an arm that nothing moves: neither gravity nor motors."""
    return Measurement(
        **{
            **dict(
                stamp_ns=k * STEP_NS,
                position=np.zeros(nj),
                velocity=np.zeros(nj),
                gyro=None,
                torque=np.zeros(nj),
            ),
            **changes,
        }
    )


def arm(form: str = "forward", elimination: str = "schur") -> Estimator:
    """Without contacts, IMU and unknown inertias: a window without parameters."""
    config = models.config("kinova", form=form, elimination=elimination).updated(
        {"robot": {"contacts": [], "estimated_links": []}}
    )
    robot = Robot(config.robot)
    robot.model.gravity.linear = np.zeros(3)
    return Estimator(robot, config)


@pytest.mark.parametrize("elimination", ["schur", "nullspace"])
@pytest.mark.parametrize("form", ["forward", "inverse"])
def test_arm_without_any_parameter(form, elimination):
    estimator = arm(form, elimination)
    nj = estimator.robot.nj
    estimates = [estimator.update(at_rest(nj, k)) for k in range(60)]
    assert estimator.problem.np == 0 and estimator.horizon.prior_parameters.shape == (0,)
    np.testing.assert_allclose(estimates[-1].joint_position, 0.0, atol=1e-6)
    assert estimates[-1].bodies == () and estimator.monitors.last_restart == (0, "")
    window = full_information(arm(form, elimination), [at_rest(nj, k) for k in range(60)])
    np.testing.assert_allclose(window.xs[-1], estimator.window.xs[-1], atol=1e-6)


@pytest.mark.parametrize(
    "name, size",
    [
        ("position", 5),
        ("velocity", 5),
        ("velocity", 7),
        ("velocity", 1),
        ("torque", 1),
        ("position_carried", 7),
        ("gyro", 2),
        ("accelerometer", 4),
    ],
)
def test_measurement_of_another_robot_is_refused(name, size):
    """One joint more or less, or a number in place of an array.

    Which numpy would spread over all joints.
    """
    estimator = Estimator(models.robot("kinova"), models.config("kinova"))
    with pytest.raises(
        DataError, match=rf"kinova: {name} must have the shape \(\d,\), has \({size},\)"
    ):
        estimator.update(at_rest(6, 0, **{name: np.zeros(size)}))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"position": [0.0] * 6}, r"position must be an array of the shape \(6,\), is a list"),
        ({"gyro_samples": 0.0}, "gyro_samples must be above 0, is 0.0"),
        ({"torque_samples": np.nan}, "torque_samples must be above 0, is nan"),
        ({"imu_dead": np.zeros(3)}, r"imu_dead must have the shape \(6,\), has \(3,\)"),
    ],
)
def test_measurements_that_are_none(change, words):
    estimator = Estimator(models.robot("kinova"), models.config("kinova"))
    with pytest.raises(DataError, match=words):
        estimator.update(at_rest(6, 0, **change))


def test_a_robot_is_made_of_its_configuration():
    with pytest.raises(RobotError, match="by name or file: Robot.load; got a str"):
        Robot("go2")
    with pytest.raises(RobotError, match="the configuration is that of go2, the robot is g1"):
        Estimator(Robot.load("g1"), Config.load("go2"))
    with pytest.raises(ConfigError, match="for a mapping there is Config.updated"):
        Config.load("go2", {"noise": {"gyro": 0.01}})


def test_floating_base_needs_contacts():
    config = models.config("go2").updated({"robot": {"contacts": []}})
    with pytest.raises(RobotError, match="floating base needs contacts"):
        Estimator(Robot(config.robot), config)


@pytest.mark.parametrize("spoil", ["continuous", "no limits"])
def test_legs_whose_joints_have_no_limits(spoil, tmp_path):
    """Continuous ones, and those of a URDF that leaves limits out, are estimated like others."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    config = Config.load("go2")
    tree = ET.parse(urdf_path(config.robot))
    for joint in tree.getroot().iter("joint"):
        if spoil == "continuous" and joint.get("name", "").endswith("_calf_joint"):
            joint.set("type", "continuous")
        elif spoil == "no limits" and joint.find("limit") is not None:
            for side in ("lower", "upper"):
                joint.find("limit").attrib.pop(side, None)
    tree.write(tmp_path / "other.urdf")
    other = config.updated({"robot": {"urdf": str(tmp_path / "other.urdf")}})
    bag = simulate.run("go2", "trot", 1.5, tmp_path / "run", start=1.0)
    ends = [
        replay(bag, Robot(c.robot), c, tmp_path / f"{k}.mcap").final
        for k, c in enumerate((config, other))
    ]
    np.testing.assert_allclose(*(e.position_world for e in ends), atol=1e-4)
    np.testing.assert_allclose(*(e.joint_position for e in ends), atol=1e-4)
    np.testing.assert_allclose(*(e.total_mass for e in ends), atol=1e-2)


PENDULUM = """<robot name="pendulum"><link name="base"/><link name="rod"><inertial>
<origin xyz="0 0 -0.2"/><mass value="1"/>
<inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="50" velocity="20"/></joint></robot>"""


@pytest.mark.parametrize("links", [[], ["rod"]])
@pytest.mark.parametrize("losses", ["", "delay"])
def test_a_machine_of_one_joint(links, losses, tmp_path):
    """Held at 0.5 rad by the torque that its weight asks for."""
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    base = dict(urdf=str(path), floating_base=False, imu_frame="", estimated_links=links)
    config = Config().updated({"robot": base, "estimator": {"joint_parameters": losses}})
    estimator = Estimator(Robot(config.robot), config, mocap=False)
    held = dict(position=np.full(1, 0.5), torque=np.full(1, 9.81 * 0.2 * np.sin(0.5)))
    last = [estimator.update(at_rest(1, k, **held)) for k in range(100)][-1]
    assert estimator.monitors.last_restart == (0, "")
    assert last.joint_position == pytest.approx([0.5], abs=2e-3)
    assert last.joint_torque == pytest.approx(held["torque"], abs=0.05)
    assert len(last.bodies) == len(links)
    later = [estimator.update(at_rest(1, k, **held)) for k in range(115, 215)]  # data were missing
    assert estimator.monitors.last_restart[0] == 1 and later[0] is None
    assert later[-1].joint_position == pytest.approx([0.5], abs=2e-3)


STANDING = np.tile([0.0, 0.8, -1.6], 4)  # rad, joints of a Go2


def standing(k: int) -> Measurement:
    """A Go2 that stands still; its torques are not measured."""
    felt = np.array([0.0, 0.0, 9.81])
    feels = dict(gyro=np.zeros(3), accelerometer=felt, accelerometer_ramp=felt)
    return at_rest(12, k, position=STANDING, torque=None, gyro_now=np.zeros(3), **feels)


@pytest.mark.parametrize("corners", [1, 4])
def test_a_robot_of_one_foot(corners):
    """A hopper; of one contact and of a sole."""
    foot = asdict(models.config("go2").robot.contacts[0])
    places = [[0.05, 0.03, 0], [0.05, -0.03, 0], [-0.05, 0.03, 0], [-0.05, -0.03, 0]]
    sole = [
        {**foot, "name": f"foot/{i}", "foot": "foot", "position": place}
        for i, place in enumerate(places)
    ]
    changes = {"robot": {"contacts": [foot] if corners == 1 else sole}}
    config = Config.load("go2").updated(changes)
    estimator = Estimator(Robot(config.robot), config)
    last = [estimator.update(standing(k)) for k in range(100)][-1]
    assert [len(last.contacts), len(last.feet)] == [corners, 1]
    anchors = estimator.problem.anchors
    assert anchors.shape == (1, 2)
    move_window(estimator.problem, estimator.window, WorldMotion(0.1, np.array([1.0, 2.0, 0.0])))
    assert not np.allclose(estimator.problem.anchors, anchors)
