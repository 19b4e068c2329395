# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Page of the view: what it draws and when, that it only reads, that nobody has to look at it."""

import ast
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.motions import SPEED, gliding, messages
from helpers.waiting import wait

pytest.importorskip("viser")

from helpers.views import Standing, fill
from websockets.sync.client import connect

from prime_estimation.errors import ConfigError, DataError
from prime_estimation.output_messages import TOPICS
from prime_estimation.robot import Robot
from prime_estimation.viz.browser import page as page_module
from prime_estimation.viz.browser import track as track_module
from prime_estimation.viz.browser.track import Track

PACKAGE = Path(page_module.__file__).parents[2]


def test_a_recording_plays(page, glide):
    view = page(Standing(glide))
    view.tick(0.0)
    assert view.cursor.now == 0.0 and view.robots[0].scene.stamp_ns == glide.span_ns[0]
    for _ in range(20):
        view.tick(0.05)
    assert view.cursor.now == pytest.approx(1.0)
    np.testing.assert_allclose(view.robots[0].scene.position[0], SPEED, atol=0.006)


def test_the_slider_shows_another_instant(page, glide):
    view = page(Standing(glide))
    view.tick(0.0)
    view.cursor.seek(2.5)
    view.tick(0.05)
    assert view.robots[0].scene.stamp_ns == glide.span_ns[0] + 2_500_000_000
    view.tick(1.0)
    assert view.robots[0].scene.stamp_ns == glide.span_ns[0] + 2_500_000_000  # and stays there
    assert view.controls._slider.value == 2.5
    assert (view.controls._slider.min, view.controls._slider.max) == (0.0, 2.99)
    assert view.controls._play.label == "play"


def test_the_scene_moves_under_the_camera(page, glide):
    view = page(Standing(glide))
    for _ in range(60):
        view.tick(0.05)
    robot = view.robots[0]
    assert robot.scene.position[0] > 1.4 and abs(robot.position[0]) < 0.2
    np.testing.assert_allclose(view._ground.position, robot.shift)
    before = robot.shift
    view.cursor.seek(0.0)
    view.controls._follow.value = False
    view.tick(0.05)
    np.testing.assert_array_equal(robot.shift, before)
    view.controls._follow.value = True
    view.cursor.seek(2.9)
    view.tick(0.05)
    assert abs(robot.position[0]) < 1e-6  # over a leap in time it does not glide


def test_layers_are_shown_on_request(page, glide):
    view = page(Standing(glide))
    view.tick(0.0)
    layers = view.robots[0]._drawing._layers
    assert all(frame.visible for frame in layers.values())
    view.controls._boxes["cones"].value = False
    view.tick(0.05)
    assert not layers["cones"].visible and layers["forces"].visible


def test_robots_stand_side_by_side_at_the_same_time(page, robot, glide):
    late = Track(robot)
    fill(late, range(50, 300))  # the same run, its first half second missing
    other = Track(robot)
    fill(other, range(100_000, 100_100))  # another run
    view = page(Standing(glide), Standing(late, "late"), Standing(other, "other"), spacing=1.5)
    view.tick(0.0)
    view.cursor.seek(0.7)
    view.tick(0.05)
    stamps = [r.scene.stamp_ns for r in view.robots]
    assert stamps[0] == stamps[1] and stamps[2] == other.span_ns[0] + 700_000_000
    for robot, y in zip(view.robots, (1.5, 0.0, -1.5)):
        np.testing.assert_allclose(robot.position[:2], [0.0, y], atol=1e-6)
    assert view.span == (0.0, pytest.approx(2.99))


def test_robots_of_one_world_keep_their_distance(page, robot, glide):
    other = Track(robot)
    fill(other, range(50))
    view = page(Standing(glide), Standing(other, "other"), spacing=0.0)
    view.tick(0.0)
    view.cursor.seek(2.0)
    view.tick(0.05)
    first, second = (r.position for r in view.robots)
    np.testing.assert_allclose(second - first, [0.49 * SPEED - 2.0 * SPEED, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose((first + second)[:2], 0.0, atol=1e-6)


def test_a_live_node_that_begins_anew_is_followed(page, robot):
    source = Standing(Track(robot), live=True, complete=False)
    view = page(source)
    view.tick(0.05)
    assert view.span is None
    fill(source.track, range(1000, 1010))
    view.tick(0.05)
    assert view.robots[0].scene.stamp_ns == source.track.span_ns[1]
    fill(source.track, range(5))
    view.tick(0.05)
    assert view.robots[0].scene.stamp_ns == source.track.span_ns[1] and view.span == (0.0, 0.04)


def test_a_live_node_that_falls_silent_is_said_to_be(page, robot, monkeypatch):
    """Its instant stands still, and so does the robot: nothing else would tell."""
    now = [100.0]
    monkeypatch.setattr(track_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    source = Standing(Track(robot), live=True, complete=False)
    view = page(source)
    fill(source.track, range(5))
    view.tick(0.25)
    shown = view.robots[0]
    assert "silent" not in shown._readout.content + shown._drawing._label.text
    now[0] += 3.0
    view.tick(0.25)
    assert "3.0 s" in shown._readout.content
    assert shown._drawing._label.text.endswith("kg   silent for 3.0 s")
    status = messages(robot, gliding(robot, 100))["status"]
    status.sensors[0].name, status.sensors[0].ok = "imu", False
    status.sensors[0].message = "no data for 3.2 s"
    source.track.put("status", status)  # of a node that waits
    view.tick(0.25)
    assert "no data for 3.2 s" in shown._readout.content
    fill(source.track, range(200, 202))
    view.tick(0.25)
    assert "silent" not in shown._readout.content + shown._drawing._label.text


def test_a_pose_that_is_none_does_not_move_the_world(page, robot):
    source = Standing(Track(robot), live=True, complete=False)
    view = page(source)
    fill(source.track, range(5))
    for topic, message in messages(robot, gliding(robot, 5)).items():
        if topic == "odometry":
            message.pose.pose.position.x = np.nan
        if topic in TOPICS:
            source.track.put(topic, message)
    view.tick(0.05)
    fill(source.track, range(6, 10))
    view.tick(0.25)
    assert np.isfinite(view.robots[0].shift).all()
    assert np.isfinite(source.track.positions(0, 2**62, 100)).all()


def test_what_a_source_fails_of_ends_the_view(page, glide):
    source = Standing(glide, error=DataError("not readable"))
    with pytest.raises(DataError, match="not readable"):
        page(source).tick(0.05)


def test_curves_are_those_of_the_last_seconds(page, robot, glide):
    view = page(Standing(glide))
    view.tick(0.0)
    view.cursor.seek(2.0)
    view.tick(1.0)
    plots = view.robots[0]._plots
    t, mass, high, low = plots._mass.data
    assert t[-1] == pytest.approx(2.0) and t[0] == 0.0
    np.testing.assert_allclose(mass, robot.total_mass + 3.0)
    np.testing.assert_allclose(high - low, 2 * 1.96 * 0.05)
    assert len(plots._forces.data) == 1 + 4
    np.testing.assert_allclose(plots._forces.data[1:], 40.0)
    np.testing.assert_allclose(plots._time.data[1], 1.5)
    assert "mocap" in view.robots[0]._readout.content
    assert f"{robot.total_mass + 3.0:.3f} ± 0.098 kg" in view.robots[0]._readout.content


def test_a_humanoid_is_drawn(page):
    robot = Robot.load("g1")
    track = Track(robot)
    fill(track, range(3))
    view = page(Standing(track))
    view.tick(0.0)
    view.add_meshes()
    assert len(view.robots[0].scene.contacts) == 8 == view.robots[0]._drawing._contacts._count


# --- who may look, and what looking does ----------------------------------------------------------


def browser(view):
    """A websocket as a browser opens it."""
    import viser

    address = view.url.replace("http", "ws")
    return connect(address, subprotocols=[f"viser-v{viser.__version__}"], max_size=None)


def test_it_is_served_to_this_machine_alone(page, glide):
    view = page(Standing(glide))
    port = view.server.get_port()
    assert view.url == f"http://127.0.0.1:{port}"
    socket.create_connection(("127.0.0.1", port), 5.0).close()
    with pytest.raises(ConnectionRefusedError):  # as it would not be by who listens everywhere
        socket.create_connection(("127.0.0.2", port), 5.0)


def test_an_address_that_is_not_ours_is_one_line(glide):
    from prime_estimation.viz.browser.page import ViewPage

    with pytest.raises(ConfigError, match="nothing can be served at 192.0.2.1:8080"):
        ViewPage([Standing(glide)], [0.8], "192.0.2.1", 8080, 1.0)


def test_a_port_in_use_is_left_to_who_has_it(page, glide):
    first = page(Standing(glide))
    second = page(Standing(glide), port=first.server.get_port())
    assert second.server.get_port() != first.server.get_port()


def test_a_browser_that_is_closed_or_hangs_changes_nothing(page, running, robot):
    """The source's own thread goes on, at its pace, and so does the page for all others."""
    source = Standing(Track(robot), live=True, complete=False)
    view = page(source)
    running(view)
    lost, hanging = browser(view), browser(view)  # the second one never reads
    sent, stop = [], threading.Event()

    def node() -> None:
        k = 0
        while not stop.wait(0.005):
            began = time.perf_counter()
            fill(source.track, [k])
            sent.append(time.perf_counter() - began)
            k += 1

    thread = threading.Thread(target=node)
    thread.start()
    assert wait(lambda: len(view.server.get_clients()) >= 0 and len(sent) > 20)
    lost.socket.close()  # without a word of farewell
    count = len(sent)
    assert wait(lambda: len(sent) > count + 50)
    shown = view.robots[0].scene.stamp_ns
    assert wait(lambda: view.robots[0].scene.stamp_ns > shown)
    other = browser(view)
    assert other.recv(5.0)
    other.close()
    stop.set()
    thread.join()
    hanging.socket.close()


def test_the_view_has_no_way_to_write():
    """None of its files can name a publisher, a service, or a writer of bags."""
    files = [
        *(PACKAGE / "viz" / "browser").glob("*.py"),
        PACKAGE / "nodes" / "viewer.py",
        PACKAGE / "commands" / "view.py",
    ]
    assert len(files) > 10
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node, "attr", getattr(node, "id", ""))
            assert name not in {"publish", "serve", "call", "BagWriter"}, f"{path.name}: {name}"
