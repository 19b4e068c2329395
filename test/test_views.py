# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Layouts of the viewers: they can be read, and every topic and field in them exists."""

import ast
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest
import yaml
from helpers.waiting import wait
from rosbags.interfaces import Nodetype

from prime_estimation.config.files import config_dir
from prime_estimation.config.parameters import Config
from prime_estimation.io.typestore import typestore
from prime_estimation.nodes.markers import TOPIC, MarkersNode, ellipsoid
from prime_estimation.output_messages import Outputs
from prime_estimation.robot import Robot
from prime_estimation.transport.base import Qos
from prime_estimation.transport.inprocess import Bus, InProcessTransport
from prime_estimation.viz.rviz import shown, with_frames

VIEWS = config_dir()


@pytest.fixture(scope="module")
def topics():
    """Types of everything that a viewer may show, for robots with four feet."""
    config = Config.load("go2")
    ours = Outputs(Robot(config.robot), config.estimator, typestore().types.__getitem__).topics()
    absolute = {t if t.startswith("/") else f"/prime/{t}": kind for t, kind in ours.items()}
    return {
        **absolute,
        "/markers/inertia": "visualization_msgs/msg/MarkerArray",
        "/robot_description": "",
        "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    }


def check_field(topics: dict[str, str], path: str) -> None:
    """`/topic/field/field`, `/topic.field.field`, with or without [index], names a number."""
    topic = max((t for t in topics if path.startswith(t)), key=len, default=None)
    assert topic, path
    kind = (Nodetype.NAME, topics[topic])
    for name in filter(None, re.split(r"[/.]|\[\d+\]", path[len(topic) :])):
        assert kind[0] == Nodetype.NAME, path
        kind = dict(typestore().fielddefs[kind[1]][1])[name]
        kind = kind[1][0] if kind[0] in (Nodetype.SEQUENCE, Nodetype.ARRAY) else kind
    assert kind[0] == Nodetype.BASE, path


def test_rviz(topics):
    content = yaml.safe_load((VIEWS / "rviz" / "prime.rviz").read_text())
    displays = content["Visualization Manager"]["Displays"]
    used = {d[key]["Value"] for d in displays for key in ("Topic", "Description Topic") if key in d}
    assert (
        used <= set(topics)
        and {"/prime/odometry", "/prime/wrench/FL_foot", "/markers/inertia"} <= used
    )


@pytest.mark.parametrize("robot", ["go1", "go2", "g1"])
def test_rviz_shows_the_forces_of_every_robot(robot):
    config = Config.load(robot)
    published = Outputs(
        Robot(config.robot), config.estimator, typestore().types.__getitem__
    ).topics()
    remapped = shown((VIEWS / "rviz" / "prime.rviz").read_text(), config)
    forces = [
        topic
        for topic in remapped.values()
        if f"{topic.removeprefix('/prime/')}" in published and "/wrench/" in topic
    ]
    assert (
        len(set(forces)) == len(Robot(config.robot).feet)
        and remapped["/prime/odometry"] == "/prime/odometry"
    )


def test_rviz_shows_a_robot_whose_frames_have_a_prefix():
    text = (VIEWS / "rviz" / "prime.rviz").read_text()
    manager = yaml.safe_load(with_frames(text, "robot1/odom", "robot1/base", "robot1/"))[
        "Visualization Manager"
    ]
    (model,) = [d for d in manager["Displays"] if d["Class"].endswith("/RobotModel")]
    assert model["TF Prefix"] == "robot1"
    assert manager["Global Options"]["Fixed Frame"] == "robot1/odom"
    assert manager["Views"]["Current"]["Target Frame"] == "robot1/base"
    assert with_frames(text, "odom", "base", "") == text


def test_the_aggregator_takes_every_diagnostic_of_ours():
    content = yaml.safe_load((VIEWS / "diagnostics" / "aggregator.yaml").read_text())
    parameters = content["/**"]["ros__parameters"]
    wanted = [word for p in parameters.values() if isinstance(p, dict) for word in p["contains"]]
    for name in ("prime: imu", "robot1/prime: estimator", "unitree_bridge: lowstate", "mpc: x"):
        assert any(word in name for word in wanted), name


def test_rqt(topics):
    manager = json.loads((VIEWS / "rqt" / "prime.perspective").read_text())["groups"][
        "pluginmanager"
    ]
    running = ast.literal_eval(manager["keys"]["running-plugins"]["repr"])
    for plugin, numbers in running.items():
        assert all(
            f"plugin__{plugin.replace('/', '__')}__{n}" in manager["groups"] for n in numbers
        )
    for n in running["rqt_plot/Plot"]:
        keys = manager["groups"][f"plugin__rqt_plot__Plot__{n}"]["groups"]["plugin"]["keys"]
        for path in ast.literal_eval(keys["topics"]["repr"]):
            check_field(topics, path)


def test_rqt_lays_every_plugin_out():
    """Names of the dock widgets, as Qt stores them (UTF-16), in the state of the main window."""
    groups = json.loads((VIEWS / "rqt" / "prime.perspective").read_text())["groups"]
    stored = groups["mainwindow"]["keys"]["state"]["repr(QByteArray.hex)"]
    state = bytes.fromhex(re.search(r"b'([0-9a-f]+)'", stored)[1])
    running = ast.literal_eval(groups["pluginmanager"]["keys"]["running-plugins"]["repr"])
    for plugin, numbers in running.items():
        for number in numbers:
            name = f"{plugin.replace('/', '__')}__{number}__"
            assert name.encode("utf-16-be") in state, name


def test_plotjuggler(topics):
    curves = [c.get("name") for c in ET.parse(VIEWS / "plotjuggler" / "prime.xml").iter("curve")]
    assert len(curves) > 20
    for path in curves:
        check_field(topics, path)


def test_foxglove(topics):
    content = json.loads((VIEWS / "foxglove" / "prime.json").read_text())

    def leaves(node):
        return [node] if isinstance(node, str) else leaves(node["first"]) + leaves(node["second"])

    assert set(leaves(content["layout"])) == set(content["configById"])
    for panel in content["configById"].values():
        for path in panel.get("paths", []):
            check_field(topics, path["value"])
        assert set(panel.get("topics", {})) <= set(topics)


# --- inertia ellipsoids ---------------------------------------------------------------------------


def test_ellipsoid_has_the_inertia_it_was_made_from():
    rng = np.random.default_rng(0)
    for _ in range(20):
        wanted = pin.SE3.Random().act(
            pin.Inertia.FromEllipsoid(rng.uniform(1.0, 9.0), *rng.uniform(0.05, 0.5, 3))
        )
        centre, quaternion, axes = ellipsoid(wanted.toDynamicParameters())
        solid = pin.Inertia.FromEllipsoid(wanted.mass, *axes)
        made = pin.SE3(pin.Quaternion(quaternion), centre).act(solid)
        assert made.isApprox(wanted, 1e-9)
    assert ellipsoid(np.full(10, np.nan)) is None and ellipsoid(-rng.random(10)) is None


@pytest.fixture
def markers():
    """Function from bodies (link, mass, moments) to the markers that are sent of them."""
    from helpers.messages import random_message

    bus, got = Bus(), []
    me = InProcessTransport(bus, "me")
    node = MarkersNode(InProcessTransport(bus, "markers"), "robot1/")
    kind = "visualization_msgs/msg/MarkerArray"
    me.subscribe("/markers/inertia", kind, lambda m, _: got.append(m), Qos.LATCHED)
    send = me.publish(TOPIC, "prime_estimation_msgs/msg/InertialParameters", Qos.LATCHED)
    rng = np.random.default_rng(0)

    def sent(*bodies):
        message = random_message("prime_estimation_msgs/msg/InertialParameters", rng)
        message.bodies = []
        for link, mass, moments in bodies:
            body = random_message("prime_estimation_msgs/msg/BodyInertia", rng)
            body.link, body.inertia.m, body.observable = link, mass, True
            body.inertia.ixx, body.inertia.iyy, body.inertia.izz = moments
            body.inertia.ixy = body.inertia.ixz = body.inertia.iyz = 0.0
            message.bodies.append(body)
        send(message)
        assert typestore().serialize_cdr(got[-1], kind)
        return message, got[-1].markers

    sent.got, sent.me, sent.node = got, me, node
    yield sent
    node.stop()


BOX = (0.03, 0.1, 0.1)  # kg m^2


def test_markers_follow_the_message(markers):
    message, (marker,) = markers(("base", 8.0, BOX))
    assert marker.header.frame_id == "robot1/base" and marker.action == marker.ADD
    assert marker.pose.position.x == pytest.approx(message.bodies[0].inertia.com.x)
    assert min(marker.scale.x, marker.scale.y, marker.scale.z) > 0.0


def test_markers_are_grey_while_there_are_no_estimates(markers, monkeypatch):
    """RViz would show for ever, in green, what an estimator that has ended said last."""
    from helpers.messages import random_message

    monkeypatch.setattr("prime_estimation.nodes.markers.SILENT_S", 0.3)
    kind = "prime_estimation_msgs/msg/EstimatorStatus"
    status = random_message(kind, np.random.default_rng(0))
    send = markers.me.publish("prime/status", kind)
    _, (first,) = markers(("base", 8.0, BOX))
    got = markers.got
    assert first.color.g > first.color.r

    def tell(nodes: int) -> None:
        status.window_nodes = nodes
        send(status)

    markers.node.start()
    assert not wait(lambda: tell(20) or len(got) > 1, 1.2)
    assert wait(lambda: tell(0) or len(got) > 1, 5.0)  # of an estimator that waits for a sensor
    (grey,) = got[-1].markers
    assert grey.color.g == grey.color.r and grey.scale == first.scale and grey.action == grey.ADD
    assert wait(lambda: tell(20) or len(got) > 2, 5.0)
    assert got[-1].markers[0].color == first.color


def test_markers_of_bodies_that_are_none_any_more_are_deleted(markers):
    """RViz keeps the last marker of a number until it is told otherwise."""
    base, hand = ("base", 8.0, BOX), ("hand", 1.0, BOX)
    _, before = markers(base, hand)
    impossible = (0.01, 0.1, 0.2)  # beyond the triangle inequality
    for wrong in (("base", 8.0, impossible), ("base", 0.0, BOX), ("base", float("nan"), BOX)):
        _, (gone, stays) = markers(wrong, hand)
        assert gone.action == gone.DELETE and stays.action == stays.ADD
        assert (gone.ns, gone.id) == (before[0].ns, before[0].id)
        assert (stays.ns, stays.id) == (before[1].ns, before[1].id)
    _, (back, _) = markers(base, hand)
    assert back.action == back.ADD and back.scale.x == before[0].scale.x
    _, (stays, gone) = markers(base)  # the hand is not estimated any more
    assert stays.action == stays.ADD
    assert gone.action == gone.DELETE and gone.id == before[1].id
    assert len(markers(base)[1]) == 1
