# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bag and JSON of a simulated run.

Format of the published recordings, consistent with each other.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from scipy.spatial.transform import Rotation

from prime_estimation.errors import DataError
from prime_estimation.simulate import Payload, archive, run, simulate
from prime_estimation.simulate.bag import foot_wrenches

PUBLISHED = Path(__file__).resolve().parents[3] / "shared" / "data" / "sim" / "go2_payload3_online"
FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run on disk: (folder, {topic: [(bag time, message)]}, types, truth)."""
    out = tmp_path_factory.mktemp("runs") / "short"
    run(
        "go2",
        "trot",
        1.5,
        out,
        payload=Payload(3.0, (0.05, 0.02, 0.1), t_on=0.5),
        faults="hard",
        seed=4,
        start=1.0,
    )
    return out, *read(out), json.loads((out.parent / "short.json").read_text())


@pytest.fixture(scope="module")
def short():
    """The shortest recording, not on disk."""
    return simulate("go2", "stand", 0.1)


def read(path):
    messages, types = {}, {}
    with AnyReader([path]) as reader:
        for connection, time, raw in reader.messages():
            types[connection.topic] = connection.msgtype
            messages.setdefault(connection.topic, []).append(
                (time, reader.deserialize(raw, connection.msgtype))
            )
    return messages, types


def ns(message):
    return message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec


def test_topics_rates_and_stamps(made):
    _, messages, types, _ = made
    truth = {"/ground_truth/odom", "/ground_truth/joint_states"} | {
        f"/ground_truth/contacts/{f}" for f in FEET
    }
    assert set(types) == {"/joint_states", "/imu", "/mocap/pose"} | truth
    for topic, period, count in (
        ("/joint_states", 2_000_000, 750),
        ("/imu", 2_000_000, 750),
        ("/ground_truth/odom", 4_000_000, 375),
    ):
        stamps = [ns(m) for _, m in messages[topic]]
        assert len(stamps) == count and set(np.diff(stamps)) == {period}
        assert [t for t, _ in messages[topic]] == stamps
    assert all(t - ns(m) == 8_000_000 for t, m in messages["/mocap/pose"])
    assert all(ns(m) - t == 2_000_000 for t, m in messages["/ground_truth/contacts/FL_foot"])
    assert messages["/imu"][0][1].orientation_covariance[0] == -1.0


def test_twist_is_in_the_base_frame(made):
    _, messages, _, _ = made
    odom = [m for _, m in messages["/ground_truth/odom"]]
    p = np.array(
        [[m.pose.pose.position.x, m.pose.pose.position.y, m.pose.pose.position.z] for m in odom]
    )
    o = [m.pose.pose.orientation for m in odom]
    R = Rotation.from_quat([[q.x, q.y, q.z, q.w] for q in o])
    v = np.array(
        [[m.twist.twist.linear.x, m.twist.twist.linear.y, m.twist.twist.linear.z] for m in odom]
    )
    w = np.array(
        [[m.twist.twist.angular.x, m.twist.twist.angular.y, m.twist.twist.angular.z] for m in odom]
    )
    central = R[1:-1].inv().apply((p[2:] - p[:-2]) / 0.008)
    assert np.sqrt(np.mean((central - v[1:-1]) ** 2)) < 0.01
    turned = (R[:-2].inv() * R[2:]).as_rotvec() / 0.008
    assert np.sqrt(np.mean((turned - w[1:-1]) ** 2)) < 0.06
    assert (odom[0].header.frame_id, odom[0].child_frame_id) == ("world", "base")


def test_truth_accounts_for_the_payload(made):
    _, _, _, truth = made
    after, before = (
        truth[key]["base"]["pin_dynamic_parameters"] for key in ("bodies_true", "bodies_before")
    )
    difference = np.subtract(after, before)
    np.testing.assert_allclose(difference[:4], [3.0, 0.15, 0.06, 0.3], atol=1e-12)
    assert truth["bodies_before"] == truth["bodies_nominal"]
    assert truth["total_mass_true"] == pytest.approx(truth["total_mass_nominal"] + 3.0)
    assert truth["payload"]["t_on"] == 0.5 and truth["payload_time_s"] == 0.5
    assert sum(b["mass"] for b in truth["bodies_true"].values()) == pytest.approx(
        truth["total_mass_true"]
    )


def test_payload_taken_off(tmp_path):
    run("go1", "stand", 0.3, tmp_path / "off", payload=Payload(2.0, t_off=0.1))
    truth = json.loads((tmp_path / "off.json").read_text())
    assert truth["bodies_before"]["base"]["mass"] - truth["bodies_true"]["base"][
        "mass"
    ] == pytest.approx(2.0)
    assert truth["payload_time_s"] == 0.1 and truth["total_mass_true"] == pytest.approx(
        truth["total_mass_nominal"]
    )


def test_contact_force_is_the_mean_around_its_stamp(short):
    feet, force, _ = foot_wrenches(short, 4)
    assert feet == FEET
    np.testing.assert_allclose(force[3, 1], short.contact_force[12:16, 1].mean(axis=0))


def test_same_seed_same_bag(tmp_path):
    for name in ("a", "b"):
        run("go2", "stand", 0.2, tmp_path / name, seed=9)
    (a, _), (b, _) = read(tmp_path / "a"), read(tmp_path / "b")
    assert all(repr(a[topic]) == repr(b[topic]) for topic in a)


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "taken.json").write_text("{}")
    with pytest.raises(DataError, match="exists"):
        run("go2", "stand", 0.2, tmp_path / "taken")
    for here in (".", "..", "/"):
        with pytest.raises(DataError, match="exists"):
            run("go2", "stand", 0.2, here)


def test_where_nothing_can_be_written_is_found_out_before_it_simulates(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        run("go2", "stand", 0.2, tmp_path / "file" / "run", progress=pytest.fail)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), OSError(28, "no space")])
@pytest.mark.parametrize("part", ["bag", "truth"])
def test_nothing_is_left_of_what_is_not_whole(tmp_path, monkeypatch, short, error, part):
    write = Path.write_text
    monkeypatch.setattr("prime_estimation.simulate.archive.simulate", lambda *_: short)

    def fail(path, text, *_):
        if part == "bag":
            raise error
        if path.name == "run.json":
            write(path, text[:9])
            raise error
        return write(path, text)

    where = "simulate.bag.Writer.write" if part == "bag" else "simulate.archive.Path.write_text"
    monkeypatch.setattr(f"prime_estimation.{where}", fail)
    with pytest.raises(DataError if isinstance(error, OSError) else type(error)):
        run("go2", "stand", 0.1, tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not PUBLISHED.exists(), reason="no published recordings beside the checkout")
def test_format_is_that_of_the_published_recordings(made):
    out, messages, types, truth = made
    theirs, their_types = read(PUBLISHED)
    assert types == their_types
    for topic in types:
        mine, other = messages[topic][0][1], theirs[topic][0][1]
        assert mine.header.frame_id == other.header.frame_id
        assert getattr(mine, "name", None) == getattr(other, "name", None)
    reference = json.loads(PUBLISHED.with_name(f"{PUBLISHED.name}.json").read_text())
    assert truth["bodies_true"].keys() == reference["bodies_true"].keys()
    for key in ("bodies_true", "bodies_before", "bodies_nominal"):
        for link, body in reference[key].items():
            np.testing.assert_allclose(
                truth[key][link]["pin_dynamic_parameters"],
                body["pin_dynamic_parameters"],
                atol=1e-9,
            )
    assert set(json.loads((PUBLISHED / "noise.json").read_text())["truth"]) == set(
        json.loads((out / "noise.json").read_text())["truth"]
    )


def test_an_interrupted_run_leaves_nothing_and_takes_nothing_away(tmp_path, monkeypatch):
    """Half a recording would be taken for one."""
    write, (out, beside) = archive.bag.write, (tmp_path / "made" / "run", tmp_path / "there")
    beside.mkdir()

    def interrupted(*given) -> None:
        write(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(archive.bag, "write", interrupted)
    for folder in (out, beside / "run"):
        with pytest.raises(KeyboardInterrupt):
            run("go2", "stand", 0.2, folder)
    assert list(tmp_path.iterdir()) == [beside] and not any(beside.iterdir())
