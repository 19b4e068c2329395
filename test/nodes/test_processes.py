# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Player, estimator and inertia listener as three processes over real Cyclone DDS on loopback."""

import os
import time

import numpy as np
import pytest

pytest.importorskip("cyclonedds")

from helpers.processes import Observer, node, overloaded, sent  # noqa: E402
from helpers.waiting import wait  # noqa: E402

from prime_estimation.config.parameters import Config  # noqa: E402
from prime_estimation.io.bag import BagReader  # noqa: E402
from prime_estimation.io.messages import MessageReader, stamp_ns  # noqa: E402
from prime_estimation.recordings.pipeline import Pipeline  # noqa: E402
from prime_estimation.robot import Robot  # noqa: E402

SECONDS = 5.0
SENSORS = {"/joint_states": "joint_states", "/imu": "imu", "/mocap/pose": "mocap"}


@pytest.fixture(scope="module")
def domain():
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return 101 + os.getpid() % 100


@pytest.fixture
def observer(domain):
    observer = Observer(domain)
    yield observer
    observer.close()


@pytest.fixture(scope="module")
def replayed_mass(go2_payload3):
    """Total mass that the same span of the recording gives without any network."""
    config = Config.load("go2")
    robot = Robot(config.robot)
    pipeline, reader, last = Pipeline(robot, config), MessageReader(robot.joint_names), None
    with BagReader(go2_payload3) as bag:
        for topic, at, message in bag.messages(SENSORS):
            if at > bag.start_ns + SECONDS * 1e9:
                break
            for last in pipeline.push(reader.sample(SENSORS[topic], message, at)):
                pass
    return last.total_mass


def test_live_estimator_hears_everything_and_is_heard(
    observer, domain, go2_payload3, replayed_mass
):
    estimator = node("--robot", "go2", domain=domain)
    listener = node("inertia_listener", "--robot", "go2", domain=domain)
    try:
        assert wait(lambda: observer.count("/prime/status") > 2, 30.0), estimator.stop()
        before = {topic: observer.count(topic) for topic in observer.heard}
        count = sent(
            node("replay", "--bag", go2_payload3, "--duration", SECONDS, domain=domain).wait(60.0)
        )
        # no sample is lost without being counted
        assert wait(
            lambda: all(observer.accounted(role) == number for role, number in count.items()), 15.0
        )
    finally:
        results = estimator.stop(), listener.stop()
    assert [code for code, _, _ in results] == [0, 0], results
    odometry = observer.heard["/prime/odometry"]
    assert (np.diff([stamp_ns(m.header) for m, _ in odometry]) > 0).all()
    body = observer.last("/prime/inertial_parameters")
    # on a busy machine the solver skips nodes
    nodes = observer.count("/prime/contact_wrenches")
    busy = overloaded() or observer.last("/prime/status").overruns > 20
    assert body.valid and body.total_mass == pytest.approx(replayed_mass, abs=0.3 if busy else 0.05)
    applied = [m.data for m, _ in observer.heard["/inertia_listener/applied"]]
    assert applied and applied[-1] <= body.sequence
    # how old the odometry is: a figure of benchmarks/live.py, because a busy machine says nothing
    # about the node
    ages = observer.ages_ms("/prime/odometry")
    print(
        f"\nodometry {len(odometry) / (SECONDS - 0.5):.0f} Hz, age p50 {np.median(ages):.1f} "
        f"p99 {np.percentile(ages, 99):.1f} ms"
    )
    assert nodes > 0
    if not busy:
        assert len(odometry) > 200 * (SECONDS - 1.0)
        assert nodes > 90 * (SECONDS - 1.0)
        assert observer.count("/prime/status") - before["/prime/status"] > 90 * (SECONDS - 1.0)


def test_player_that_is_killed_and_restarted(observer, domain, go2_payload3):
    estimator = node("--robot", "go2", domain=domain)
    try:
        assert wait(lambda: observer.count("/prime/status") > 2, 30.0), estimator.stop()
        player = node("replay", "--bag", go2_payload3, domain=domain)
        assert wait(lambda: observer.count("/prime/contact_wrenches") > 20, 30.0)
        player.stop()
        assert wait(
            lambda: any("no data for" in s.message for s in observer.last("/prime/status").sensors),
            30.0,
        )
        heard = observer.count("/prime/contact_wrenches")
        player = node("replay", "--bag", go2_payload3, "--start", 2, domain=domain)
        assert wait(lambda: observer.count("/prime/contact_wrenches") > heard + 20, 30.0)
        player.stop()
    finally:
        code, _, err = estimator.stop()
    assert code == 0 and "Traceback" not in err


def test_a_killed_estimator_is_back_with_the_inertia_it_had(observer, domain, go2_payload3):
    keeper, estimator = node("inertia_keeper", domain=domain), node("--robot", "go2", domain=domain)
    player, inertia = None, observer.heard["/prime/inertial_parameters"]
    try:
        assert wait(lambda: observer.count("/prime/status") > 2, 30.0), estimator.stop()
        player = node("replay", "--bag", go2_payload3, "--loop", domain=domain)
        assert wait(lambda: inertia and observer.last("/prime/inertial_parameters").valid, 30.0)
        time.sleep(2.0)  # of learning
        estimator.kill()
        time.sleep(0.2)  # until what it had sent is here
        for heard in observer.heard.values():
            heard.clear()
        estimator = node("--robot", "go2", domain=domain)
        assert wait(lambda: observer.count("/prime/odometry"), 30.0), estimator.stop()
        assert wait(lambda: inertia, 10.0)
    finally:
        programs = [p for p in (estimator, keeper, player) if p is not None]
        ends = [program.stop() for program in programs]
    assert all("Traceback" not in err for _, _, err in ends), ends
    first, _ = inertia[0]  # how long it is away: benchmarks/comeback.py
    assert first.valid and first.total_mass == pytest.approx(19.085, abs=0.5)


@pytest.mark.slow
def test_bad_options_are_one_line(domain):
    for options, reason in [
        (["--robot", "spot"], "unknown robot 'spot'"),
        ([], "no robot for the node estimator; give --robot"),
        (["replay"], "no recording to replay; give --bag"),
        (["replay", "--bag", "/no/such/bag"], "no such bag"),
        (["mpc", "--robot", "go2", "--remap", "imu"], "give OLD:=NEW"),
        (["--robot", "go2", "--name", "1x"], "no name for a node"),
    ]:
        code, out, err = node(*options, domain=domain).wait(30.0)
        assert code == 2 and reason in err and len(err.strip().splitlines()) == 1 and not out
