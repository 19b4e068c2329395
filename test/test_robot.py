# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots that are none of the built-in ones.

Where their URDF lies, what it may be like, and what is refused in one line.
"""

import re

import numpy as np
import pinocchio as pin
import pytest
from helpers.estimates import make_estimate

from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.estimator import Estimator
from prime_estimation.io.typestore import typestore
from prime_estimation.mhe.ground import Ground
from prime_estimation.mhe.imu_mount import ImuMount
from prime_estimation.mhe.problem import Problem
from prime_estimation.output_messages import Outputs
from prime_estimation.robot import Robot, urdf_path, urdf_text
from prime_estimation.types import Measurement


def robot(**settings) -> Robot:
    return Robot(Config().updated({"robot": {"name": "mine", **settings}}).robot)


def refused(**settings) -> str:
    with pytest.raises(PrimeError) as error:
        robot(**settings)
    return str(error.value)


@pytest.mark.parametrize(
    ("name", "root"), [("solo12", "base_link"), ("laikago", "trunk"), ("ur5", "world")]
)
def test_the_base_is_the_root_of_the_urdf(name, root):
    assert robot(urdf=f"example-robot-data:{name}").base_frame == root
    assert robot(urdf=f"example-robot-data:{name}", floating_base=False).base_frame in (
        root,
        "base_link",
    )


def test_a_base_frame_that_hangs_nowhere():
    assert (
        robot(urdf="example-robot-data:solo12", base_frame="robot1/base_link").base_frame
        == "robot1/base_link"
    )
    assert "base_frame base is not at the root of the URDF, which is base_link" in refused(
        urdf="example-robot-data:solo12", base_frame="base"
    )


@pytest.mark.parametrize("angle", [0.0, 2.0])
def test_a_continuous_joint_is_locked_where_it_stands(angle):
    whole = robot(urdf="example-robot-data:kinova", floating_base=False)
    joint = whole.joint_names[0]
    part = robot(
        urdf="example-robot-data:kinova", floating_base=False, locked_joints={joint: angle}
    )
    q = np.linspace(0.3, 1.2, whole.nj)
    q[0] = angle
    tips = []
    for of, coordinates in ((whole, whole.coordinates(q)), (part, part.coordinates(q[1:]))):
        data = of.model.createData()
        pin.framesForwardKinematics(of.model, data, coordinates)
        tips.append(data.oMf[of.model.getFrameId("j2s6s200_end_effector")])
    assert tips[0].isApprox(tips[1], 1e-9)


def test_an_imu_behind_continuous_joints():
    of = robot(urdf="example-robot-data:kinova", imu_frame="j2s6s200_end_effector")
    angles = np.linspace(-2.0, 2.5, of.nj)
    data = of.model.createData()
    pin.framesForwardKinematics(
        of.model, data, np.concatenate([[0, 0, 0, 0, 0, 0, 1.0], of.coordinates(angles)])
    )
    assert (
        ImuMount(of)
        .motion(angles, np.zeros(of.nj))[0]
        .isApprox(data.oMf[of.model.getFrameId("j2s6s200_end_effector")], 1e-9)
    )


def test_the_wrench_of_a_contact_behind_continuous_joints():
    contact = {"name": "tip", "frame": "j2s6s200_end_effector"}
    of = robot(
        urdf="example-robot-data:kinova",
        floating_base=False,
        contacts=[contact],
        estimated_links=["j2s6s200_link_6"],
    )
    estimate = make_estimate(of, joint_position=np.linspace(-2.0, 2.5, of.nj))
    force = dict(Outputs(of, Config().estimator, typestore().types.__getitem__).messages(estimate))[
        "wrench/tip"
    ].wrench.force
    data = of.model.createData()
    pin.framesForwardKinematics(of.model, data, of.coordinates(estimate.joint_position))
    expected = (
        data.oMf[of.model.getFrameId("j2s6s200_end_effector")].rotation.T
        @ estimate.contacts[0].force_world
    )
    np.testing.assert_allclose([force.x, force.y, force.z], expected, atol=1e-9)


def test_what_cannot_be_used_is_said_in_one_line(tmp_path):
    xacro = tmp_path / "mine.urdf.xacro"
    xacro.write_text("<robot/>")
    assert "make a URDF of it: xacro mine.urdf.xacro > mine.urdf" in refused(urdf=str(xacro))
    assert f"no URDF at {tmp_path}" == refused(urdf=str(tmp_path))
    assert "nothing moves, neither the base nor a joint" in refused(
        urdf="example-robot-data:hector", floating_base=False
    )
    massless = refused(urdf="example-robot-data:romeo")
    assert "and 18 more has no mass" in massless and "robot.locked_joints" in massless
    solo = urdf_path(robot(urdf="example-robot-data:solo12").config).read_text()
    free = tmp_path / "free.urdf"
    root = (
        '<link name="world"/><joint name="free" type="floating"><parent link="world"/><child '
        'link="base_link"/></joint>'
    )
    free.write_text(solo.replace("</robot>", f"{root}</robot>"))
    assert "unlike free; a free base is robot.floating_base" in refused(urdf=str(free))
    assert "did you mean FL_FOOT" in refused(urdf="example-robot-data:solo12", imu_frame="foot")
    assert "no ROS package 'nowhere' in AMENT_PREFIX_PATH" in refused(
        urdf="package://nowhere/mine.urdf"
    )


@pytest.mark.parametrize(
    ("found", "instead", "words"),
    [
        (r"</robot>", "", "it is no XML"),
        (r"<robot .*", "<html/>", "its root element is <html>, not <robot>"),
        (r"</robot>", '<xacro:include filename="legs.xacro"/></robot>', "it has elements of xacro"),
        (r"</robot>", '<link name="base_link"/></robot>', "it has the link base_link twice"),
        (r"</robot>", '<link name="a"/></robot>', "a and base_link have no parent"),
        (r"<mass value=.[0-9]+\.", '<mass value="1,', "with a decimal point, got '1,"),
        (r"<mass value=.", '<mass value="-', r"in the <inertial> of \w+ is -1.* less than nothing"),
        (r'ixx=".*?"', "", "the inertia in the <inertial> of base_link lacks 'ixx'"),
        (r'(<joint .*?)<axis xyz=".*?"', r'\1<axis xyz="0 0 0"', "axis of .*_HAA has no direction"),
        (r'(<joint .*?xyz=").*?"', r'\1nan 0 0"', "'xyz' of the axis of .* must be 3 numbers"),
    ],
)
def test_what_a_parser_would_leave_out_of_a_urdf(found, instead, words, tmp_path, capfd):
    """A link whose mass cannot be read would have none, and what was not expanded be missing."""
    text = urdf_path(robot(urdf="example-robot-data:solo12").config).read_text()
    wrong = re.sub(found, instead, text, count=1, flags=re.DOTALL)
    assert wrong != text
    (tmp_path / "wrong.urdf").write_text(wrong)
    assert re.search(words, refused(urdf=str(tmp_path / "wrong.urdf")))
    assert capfd.readouterr() == ("", "")


def test_a_urdf_with_elements_of_a_simulator(tmp_path):
    """Whose prefixes it does not declare, and a comment with dashes that is not UTF-8."""
    text = urdf_path(robot(urdf="example-robot-data:solo12").config).read_text()
    more = "<!-- -- Geh\u00e4use -- --><gazebo><sensor:camera visible:at='1'/></gazebo></robot>"
    path = tmp_path / "more.urdf"
    path.write_bytes(text.replace("</robot>", more).encode("latin-1"))
    assert robot(urdf=str(path)).nj == 12


def test_a_urdf_of_a_ros_package(tmp_path, monkeypatch):
    urdf = tmp_path / "share" / "mine_description" / "urdf" / "mine.urdf"
    urdf.parent.mkdir(parents=True)
    urdf.write_text(urdf_path(Config.load("go2").robot).read_text())
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    assert robot(urdf="package://mine_description/urdf/mine.urdf").nj == 12


def test_an_inertia_that_no_body_has(tmp_path):
    """One moment larger than the sum of the others: the estimated inertia could not begin there."""
    urdf = tmp_path / "mine.urdf"
    body = (
        '<inertial><mass value="{}"/><inertia ixx="{}" iyy="0.1" izz="0.1" ixy="0" ixz="0" '
        'iyz="0"/></inertial>'
    )
    joint = (
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 '
        '1"/></joint>'
    )
    urdf.write_text(
        f'<robot name="r"><link name="a">{body.format(5, 1.0)}</link><link name="b">'
        f"{body.format(1, 0.1)}</link>{joint}</robot>"
    )
    assert "the URDF's inertia of a is that of no physical body" in refused(urdf=str(urdf))
    assert robot(urdf=str(urdf), estimated_links=["b"]).estimated_links == ["b"]


@pytest.mark.parametrize(
    ("contacts", "model", "words"),
    [
        (
            [("toe", "FL_FOOT", "left"), ("heel", "FR_FOOT", "left")],
            "smoothed",
            "several links",
        ),
        ([("FL", "FL_FOOT", ""), ("FR", "FL_FOOT", "")], "smoothed", "the same point of FL_FOOT"),
        (
            [("FL/toe", "FL_FOOT", ""), ("FL/heel", "FL_LOWER_LEG", "")],
            "smoothed",
            "'FL_FOOT' and 'FL_LOWER_LEG' are on one link (FL_LOWER_LEG)",
        ),
        ([("FL", "FL_FOOT", ""), ("belly", "base_link", "")], "smoothed", "on the base"),
        (
            [("FL/toe", "FL_FOOT", ""), ("FL/heel", "FL_FOOT", "")],
            "rigid",
            "a foot has one contact, or three and more",
        ),
    ],
)
def test_feet_that_the_model_does_not_have(contacts, model, words):
    spheres = [
        {
            "name": name,
            "frame": frame,
            "foot": foot,
            "radius": 0.01,
            "position": [0.05 * name.endswith("/toe"), 0.0, 0.0],
        }
        for name, frame, foot in contacts
    ]
    settings = {
        "name": "solo",
        "urdf": "example-robot-data:solo12",
        "imu_frame": "base_link",
        "contacts": spheres,
    }
    config = Config().updated({"robot": settings, "estimator": {"contact_model": model}})
    with pytest.raises(PrimeError, match=re.escape(words)):
        Estimator(Robot(config.robot), config)


@pytest.mark.parametrize(
    ("name", "feet"), [("solo12", "FL FR HL HR"), ("hyq", "lf rf lh rh"), ("bolt", "FL FR")]
)
def test_feet_of_light_and_heavy_robots_carry_load_when_they_stand(name, feet):
    spheres = [
        {"name": foot, "frame": f"{foot}_foot" if name == "hyq" else f"{foot}_FOOT"}
        for foot in feet.split()
    ]
    config = Config().updated(
        {"robot": {"name": name, "urdf": f"example-robot-data:{name}", "contacts": spheres}}
    )
    of = Robot(config.robot)
    terrain = Ground(Problem(of, config))
    terrain.stance.update(np.full(len(spheres), 9.81 * of.total_mass / len(spheres)))
    assert not terrain.airborne.any()


def test_an_offset_shifts_a_joint_and_what_it_carries():
    """By axes of the link before it, which a locked joint turns; in what viewers show, too."""
    locked = {"waist_roll_joint": 0.3}
    g1 = Config.load("g1").updated({"robot": {"locked_joints": locked}})
    offsets = {"left_knee_joint": [0.01, 0.02, -0.03], "waist_pitch_joint": [0.0, 0.01, 0.0]}
    there = g1.updated({"robot": {"joint_offsets": offsets}}).robot
    before, after = Robot(g1.robot).model, Robot(there).model
    shown = pin.buildModelFromXML(urdf_text(there), pin.JointModelFreeFlyer())
    expected = dict(offsets, waist_pitch_joint=0.01 * np.array([0.0, np.cos(0.3), np.sin(0.3)]))
    for joint, name in enumerate(after.names):
        was, now = before.jointPlacements[joint], after.jointPlacements[joint]
        shift = expected.get(name, np.zeros(3))
        np.testing.assert_allclose(now.translation - was.translation, shift, atol=1e-12)
        np.testing.assert_array_equal(now.rotation, was.rotation)
        own = shown.jointPlacements[shown.getJointId(name)].translation
        np.testing.assert_allclose(own, now.translation, atol=1e-12)


def test_joints_that_are_locked_are_fixed_in_what_viewers_show():
    """`~/joint_states` does not tell of them: what hangs on them would have no transform."""
    locked = {"waist_roll_joint": 0.3, "waist_pitch_joint": -0.2, "right_elbow_joint": 1.1}
    config = Config.load("g1").updated({"robot": {"locked_joints": locked}}).robot
    model = Robot(config).model
    shown = pin.buildModelFromXML(urdf_text(config), pin.JointModelFreeFlyer())
    assert shown.names.tolist()[2:] == model.names.tolist()[2:]
    q = pin.randomConfiguration(model, np.full(model.nq, -1.0), np.full(model.nq, 1.0))
    for link in ("torso_link", "left_wrist_yaw_link", "right_wrist_yaw_link"):
        here, there = (_place(m, link, q) for m in (model, shown))
        np.testing.assert_allclose(here.homogeneous, there.homogeneous, atol=1e-9)


def _place(model: pin.Model, link: str, q: np.ndarray) -> pin.SE3:
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data.oMf[model.getFrameId(link)]


def test_many_joints_and_nothing_but_their_state_to_estimate():
    """No parameter at all: a fixed base, no contacts, no estimated link."""
    settings = {"name": "g1", "urdf": "example-robot-data:g1", "floating_base": False}
    config = Config().updated({"robot": settings, "estimator": {"start_duration": 0.1}})
    of = Robot(config.robot)
    holding = pin.computeGeneralizedGravity(of.model, of.model.createData(), np.full(of.nj, 0.1))
    readings = dict(
        position=np.full(of.nj, 0.1),
        velocity=np.zeros(of.nj),
        torque=holding,
        gyro=None,
        accelerometer=None,
    )
    estimator = Estimator(of, config)
    estimates = [
        estimator.update(Measurement(stamp_ns=10_000_000 * k, **readings)) for k in range(1, 31)
    ]
    np.testing.assert_allclose(estimates[-1].joint_position, 0.1, atol=1e-3)
    assert estimates[-1].bodies == () and estimates[-1].contacts == ()


def test_a_name_that_a_joint_and_a_link_have_is_that_of_the_link():
    same = dict(urdf="example-robot-data:anymal_c", imu_frame="LF_KFE")
    whole = robot(**same)
    assert whole.links[whole.imu_joint] == "LF_THIGH"  # which carries the link LF_KFE
    locked = robot(**same, locked_joints={"LF_HAA": 0.1}, estimated_links=["LF_HAA"])
    assert locked.nj == 11
    assert locked.estimated_links == ["base"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"imu_frame": "universe"}, "no frame 'universe' for the IMU"),
        ({"contacts": [{"name": "a", "radius": 0.02}]}, "no frame is named for the contact"),
        ({"armature": {1: 0.1}}, "'robot.armature': names must be text, in quotes, got 1"),
        ({"joint_zeros": {False: 0.1}}, "names must be text, in quotes, got False"),
    ],
)
def test_names_that_are_none(settings, words):
    assert words in refused(urdf="example-robot-data:solo12", **settings)


def test_an_imu_that_is_placed_in_the_frame_of_a_link_leaves_the_link_where_it_is():
    mount = dict(imu_frame="FL_FOOT", imu_position=[0.1, 0.0, 0.2], imu_rotation=[3.0, 0.0, 0.0])
    plain, with_imu = (robot(urdf="example-robot-data:solo12", **m) for m in ({}, mount))
    foot, imu = plain.model.getFrameId("FL_FOOT"), with_imu.imu_frame_id
    assert with_imu.model.frames[foot].placement == plain.model.frames[foot].placement
    assert with_imu.model.frames[imu].placement == with_imu.imu_placement
    assert list(with_imu.model.inertias) == list(plain.model.inertias)
    assert with_imu.imu_placement != plain.model.frames[foot].placement
