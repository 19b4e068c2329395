# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Meshes of a URDF: where they are, what colour they have, how many faces a browser gets."""

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("trimesh")

from prime_estimation.config.parameters import RobotConfig
from prime_estimation.robot import Robot
from prime_estimation.viz.browser.visuals import MANY_FACES, UNPAINTED, visuals

BODY = """<inertial><mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"""
URDF = f"""<robot name="shapes">
<material name="sky"><color rgba="0.2 0.4 0.6 1"/></material>
<link name="base">{BODY}
  <visual><origin xyz="0 0 1" rpy="0 0 1.5707963"/><geometry><box size="0.4 0.2 0.1"/></geometry>
    <material name="sky"/></visual>
  <visual><geometry><mesh filename="absent.stl"/></geometry></visual>
</link>
<link name="arm">{BODY}<visual><geometry><sphere radius="0.3"/></geometry></visual></link>
<link name="tool"><visual><geometry><cylinder radius="0.1" length="1"/></geometry></visual></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
  <origin xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="glue" type="fixed"><parent link="arm"/><child link="tool"/>
  <origin xyz="0 0 2"/></joint>
</robot>"""


def test_shapes_in_the_frames_of_their_joints(tmp_path, caplog):
    path = tmp_path / "shapes.urdf"
    path.write_text(URDF)
    robot = Robot(RobotConfig(name="shapes", urdf=str(path)))
    box, sphere, cylinder = visuals(robot)
    assert "absent.stl is not shown" in caplog.text
    assert [v.joint for v in (box, sphere, cylinder)] == [1, 2, 2]
    assert (box.color, sphere.color) == ((51, 102, 153), UNPAINTED)
    np.testing.assert_allclose(np.ptp(box.vertices, axis=0), [0.2, 0.4, 0.1], atol=1e-6)
    np.testing.assert_allclose(box.vertices.mean(axis=0), [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(sphere.vertices, axis=1), 0.3, atol=1e-6)
    np.testing.assert_allclose(cylinder.vertices[:, 2].max(), 2.5, atol=1e-6)


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_robots_are_dressed(name):
    robot = Robot.load(name)
    shown = list(visuals(robot))
    assert all(len(v.faces) <= MANY_FACES and v.faces.max() < len(v.vertices) for v in shown)
    # every link of the robot's chains has a mesh, and they reach down to the contacts
    assert {v.joint for v in shown} == set(range(1, robot.model.njoints))
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    lowest = min((data.oMi[v.joint].act(p)[2] for v in shown for p in v.vertices), default=0.0)
    contacts = [
        data.oMf[robot.model.getFrameId(c.frame)].act(np.array(c.position))[2] - c.radius
        for c in robot.contacts
    ]
    assert lowest == pytest.approx(min(contacts), abs=0.02)
