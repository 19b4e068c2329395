# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact spheres in axes of their joint, and the joints that carry."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from helpers import models

from prime_estimation.contact.points import bearing_joints, contact_points, flat_feet, idle_rows


def test_a_sphere_lies_in_its_frame_which_may_be_turned_on_the_link():
    go2, position = models.robot("go2"), [0.01, -0.02, 0.03]
    model, contact = go2.model.copy(), go2.contacts[2]
    frame = model.frames[model.getFrameId(contact.frame)]
    frame.placement = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 1.2), np.array([0.1, 0.2, -0.3]))
    moved = SimpleNamespace(frame=contact.frame, name="heel", radius=0.02, position=position)
    moved.foot = contact.foot
    robot = SimpleNamespace(model=model, contacts=[moved], feet=go2.feet)
    (point,) = contact_points(robot)
    np.testing.assert_allclose(point.position, frame.placement.act(np.array(position)))
    lever = np.array(point.position) - frame.placement.translation  # from the frame's origin
    np.testing.assert_allclose(point.lever, lever, atol=1e-15)
    told = point.name, point.radius, point.foot, point.joint
    assert told == ("heel", 0.02, 2, frame.parentJoint)


@pytest.mark.parametrize("name, flat", [("go2", [False] * 4), ("g1", [True] * 2)])
def test_feet_of_three_spheres_and_more_are_flat(name, flat):
    assert flat_feet(models.robot(name)) == flat


def test_arms_are_idle_and_legs_and_waist_bear():
    """Velocity rows of the joints that are neither in a leg nor below an estimated link."""
    g1 = models.robot("g1")
    rows = idle_rows(g1)
    names = [n for n in g1.model.names[1:] if g1.model.joints[g1.model.getJointId(n)].idx_v in rows]
    arms = ("shoulder", "elbow", "wrist")
    expected = [n for n in g1.joint_names if any(part in n for part in arms)]
    assert names == expected and len(rows) == len(expected)
    assert idle_rows(models.robot("go2")) == []
    bearing = {g1.model.names[j] for j in bearing_joints(g1)}
    assert bearing.isdisjoint(expected) and "waist_yaw_joint" in bearing
