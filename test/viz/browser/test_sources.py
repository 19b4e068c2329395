# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sources that fill tracks: bags, and a replay as it goes."""

import multiprocessing

import numpy as np
import pytest
from helpers.motions import START_NS, gliding, write_bag
from helpers.waiting import wait

from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError, PrimeError
from prime_estimation.robot import Robot
from prime_estimation.viz.browser.sources import BagSource, ReplaySource, _send_all, nodes_in

NODES = 20


@pytest.fixture(scope="module")
def bag(robot, tmp_path_factory):
    return write_bag(tmp_path_factory.mktemp("bag") / "out.mcap", robot, NODES, "/a/prime")


def read(source):
    source.start()
    assert wait(lambda: source.complete)
    source.stop()
    if source.error:
        raise source.error
    return source.track


def test_a_bag_fills_its_track(robot, bag):
    track = read(BagSource(bag, robot, "/a/prime"))
    assert track.span_ns == (START_NS, START_NS + (NODES - 1) * 10_000_000)
    assert all(len(series) == NODES for series in track.series.values())
    np.testing.assert_allclose(
        track.at(START_NS + 50_000_000).odometry["position"], gliding(robot, 5).position_world
    )


def test_the_nodes_of_a_bag_are_found(bag):
    assert nodes_in(bag) == ["/a/prime"]


def test_a_bag_without_estimates_says_so(robot, tmp_path):
    from prime_estimation.io.bag import BagWriter
    from prime_estimation.io.to_messages import header

    with BagWriter(tmp_path / "sensors.mcap") as writer:
        make = writer.message_class
        empty = make("sensor_msgs/msg/JointState")(
            header=header(make, START_NS, ""),
            name=[],
            position=np.zeros(0),
            velocity=np.zeros(0),
            effort=np.zeros(0),
        )
        writer.write("/joint_states", START_NS, empty)
    with pytest.raises(DataError, match="add --replay"):
        nodes_in(tmp_path / "sensors.mcap")
    with pytest.raises(DataError, match="has no /prime/joint_states, /prime/odometry"):
        BagSource(tmp_path / "sensors.mcap", robot, "/prime")


def test_another_robots_bag_is_an_error_of_the_source(bag):
    with pytest.raises(DataError, match="joint_states lacks 29 of 29 joints"):
        read(BagSource(bag, Robot.load("g1"), "/a/prime"))


def test_a_source_can_be_ended_before_its_end(robot, bag):
    source = BagSource(bag, robot, "/a/prime")
    source.stop()
    source.start()
    source.stop()
    assert source.complete and source.error is None


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A Go2 that stands for 1.2 s, as its sensors see it."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    return simulate.run("go2", "stand", 1.2, tmp_path_factory.mktemp("run") / "stand")


def test_a_replay_fills_its_track_as_it_goes(robot, recording):
    config = Config.load("go2")
    source = ReplaySource(recording, robot, config, mocap=True, topics={})
    source.start()
    assert wait(lambda: source.track.span_ns is not None, 60.0)
    assert wait(lambda: source.complete, 60.0)
    source.stop()
    assert source.error is None
    begin, end = source.track.span_ns
    assert 0.5e9 < end - begin < 1.2e9
    moment = source.track.at(end)
    assert moment.inertia["total_mass"] == pytest.approx(robot.total_mass, abs=1.5)
    assert moment.contacts["force"][:, 2].sum() == pytest.approx(9.81 * robot.total_mass, rel=0.2)


def test_a_replay_that_cannot_be_is_an_error_of_the_source(robot, bag):
    source = ReplaySource(bag, robot, Config.load("go2"), mocap=True, topics={})
    source.start()
    assert wait(lambda: source.complete, 60.0)
    source.stop()
    assert isinstance(source.error, Exception) and "\n" not in str(source.error)


def test_a_replay_ends_with_its_view(robot, recording):
    source = ReplaySource(recording, robot, Config.load("go2"), mocap=True, topics={})
    source.start()
    source.stop()
    assert not source._process.is_alive()


def test_a_process_that_is_killed_is_an_error_of_its_source(robot, recording):
    source = ReplaySource(recording, robot, Config.load("go2"), mocap=True, topics={})
    source.start()
    source._process.kill()
    assert wait(lambda: source.complete, 60.0)
    source.stop()
    assert isinstance(source.error, PrimeError) and "with exit code -9" in str(source.error)


def test_a_process_that_finds_no_room_says_so(monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)  # those of this process stay

    def work(_send):
        raise OSError(28, "No space left on device", "estimate.mcap")

    receiver, sender = multiprocessing.Pipe(duplex=False)
    _send_all(sender, work, ())
    assert str(receiver.recv()) == "No space left on device: estimate.mcap"


def test_a_message_that_cannot_be_used_is_an_error_of_the_source(robot, bag, monkeypatch):
    source = BagSource(bag, robot, "/a/prime")
    monkeypatch.setattr(source.track, "put", lambda *_: 1 / 0)
    with pytest.raises(PrimeError, match="out /a/prime: ZeroDivisionError"):
        read(source)
