# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings: every kind of bag gives back what was written.

Damaged ones give what is left, or one clear error.
"""

from __future__ import annotations

from shutil import copyfile

import numpy as np
import pytest
import yaml
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from prime_estimation.errors import DataError
from prime_estimation.io import to_messages as outbound
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.topics import Topic
from prime_estimation.io.typestore import typestore

START = 1_700_000_000_000_000_000
COUNT = 400


def pose(i: int):
    """A geometry_msgs/PoseStamped whose x is its number."""
    types = typestore().types
    vector = types["geometry_msgs/msg/Point"](float(i), 0.0, 0.0)
    quaternion = types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)
    header = outbound.header(types.__getitem__, START + i * 1000, "world")
    return types["geometry_msgs/msg/PoseStamped"](
        header, types["geometry_msgs/msg/Pose"](vector, quaternion)
    )


def joints(i: int):
    """A sensor_msgs/JointState with incompressible numbers."""
    types = typestore().types
    rng = np.random.default_rng(i)
    header = outbound.header(types.__getitem__, START + i * 1000, "")
    return types["sensor_msgs/msg/JointState"](
        header, ["a", "b"], rng.normal(size=200), np.zeros(0), np.zeros(0)
    )


def write_with_rosbags(path, plugin, mode=CompressionMode.NONE):
    """A rosbag2 folder with COUNT poses, `arrival` 5 us after the stamp."""
    store = typestore()
    writer = Writer(path, version=8, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connection = writer.add_connection(
            "/mocap/pose", "geometry_msgs/msg/PoseStamped", typestore=store
        )
        for i in range(COUNT):
            writer.write(
                connection, START + i * 1000 + 5, store.serialize_cdr(pose(i), connection.msgtype)
            )
    return path


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize(
    "mode", [CompressionMode.NONE, CompressionMode.MESSAGE, CompressionMode.FILE]
)
def test_reads_folders_of_every_storage_and_compression(tmp_path, plugin, mode):
    path = write_with_rosbags(tmp_path / "bag", plugin, mode)
    with BagReader(path) as bag:
        read = list(bag.messages())
    assert [m.pose.position.x for _, _, m in read] == list(range(COUNT))
    assert [t for _, t, _ in read] == [START + i * 1000 + 5 for i in range(COUNT)]
    assert bag.notice == ""


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_reads_single_files_and_folders_without_metadata(tmp_path, suffix):
    plugin = StoragePlugin.MCAP if suffix == ".mcap" else StoragePlugin.SQLITE3
    folder = write_with_rosbags(tmp_path / "bag", plugin)
    with BagReader(next(folder.glob(f"*{suffix}"))) as bag:
        assert sum(1 for _ in bag.messages()) == COUNT
    (folder / "metadata.yaml").unlink()
    with BagReader(folder) as bag:
        assert sum(1 for _ in bag.messages()) == COUNT
        assert bag.notice == ""


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_messages_that_are_compressed_one_by_one_are_read_without_metadata(tmp_path, plugin):
    """A killed recorder leaves no metadata.yaml, which alone says so."""
    folder = write_with_rosbags(tmp_path / "bag", plugin, CompressionMode.MESSAGE)
    (folder / "metadata.yaml").unlink()
    for path in (folder, next(folder.iterdir())):
        with BagReader(path) as bag:
            assert [m.pose.position.x for _, _, m in bag.messages()] == list(range(COUNT))
            assert not bag.rejected


@pytest.mark.parametrize("mode", [CompressionMode.NONE, CompressionMode.FILE])
@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_qualities_of_service_that_were_changed_in_the_metadata(tmp_path, plugin, mode):
    """Users do that for `ros2 bag play`; the files keep those of the recorder."""
    folder = write_with_rosbags(tmp_path / "bag", plugin, mode)
    path = folder / "metadata.yaml"
    content = yaml.safe_load(path.read_text())
    (topic,) = content["rosbag2_bagfile_information"]["topics_with_message_count"]
    never, at_once = {"sec": 2147483647, "nsec": 4294967295}, {"sec": 0, "nsec": 0}
    qos = dict(history=3, depth=0, reliability=1, durability=2, deadline=never, lifespan=never)
    qos |= dict(liveliness=1, liveliness_lease_duration=at_once)
    qos |= dict(avoid_ros_namespace_conventions=False)
    topic["topic_metadata"]["offered_qos_profiles"] = yaml.safe_dump([qos])
    topic["topic_metadata"]["type_description_hash"] = "RIHS01_" + 64 * "0"
    path.write_text(yaml.safe_dump(content))
    with BagReader(folder) as bag:
        assert [m.pose.position.x for _, _, m in bag.messages()] == list(range(COUNT))
        assert bag.notice == ""


def test_sqlite_bag_without_definitions(tmp_path):
    """Bags older than Iron hold no message definitions."""
    import sqlite3

    folder = write_with_rosbags(tmp_path / "bag", StoragePlugin.SQLITE3)
    with sqlite3.connect(next(folder.glob("*.db3"))) as database:
        database.execute("DELETE FROM message_definitions")
    with BagReader(folder) as bag:
        assert [m.pose.position.x for _, _, m in bag.messages()] == list(range(COUNT))


def test_writer_round_trip_in_order_of_bag_time(tmp_path):
    out = tmp_path / "new" / "out.mcap"
    with BagWriter(out, {"/prime/odometry": "nav_msgs/msg/Odometry"}) as writer:
        for i in reversed(range(COUNT)):
            writer.write("/mocap/pose", START + i * 1000, pose(i))
    with BagReader(out) as bag:
        assert [m.pose.position.x for _, _, m in bag.messages()] == list(range(COUNT))
        assert bag.topics["/prime/odometry"] == Topic("/prime/odometry", "nav_msgs/msg/Odometry", 0)
        assert (bag.start_ns, bag.end_ns) == (START, START + (COUNT - 1) * 1000)
    with AnyReader([out]) as other:  # definitions are inside: no type store given
        assert sum(1 for _ in other.messages()) == COUNT
    assert [p.name for p in out.parent.iterdir()] == ["out.mcap"]


def test_writing_twice_gives_the_same_bytes(tmp_path):
    contents = []
    for _ in range(2):
        with BagWriter(tmp_path / "out.mcap") as writer:
            for i in range(COUNT):
                writer.write("/joint_states", START + i, joints(i))
        contents.append((tmp_path / "out.mcap").read_bytes())
    assert contents[0] == contents[1]


def test_writer_leaves_nothing_after_an_error(tmp_path):
    with pytest.raises(RuntimeError), BagWriter(tmp_path / "out.mcap") as writer:
        writer.write("/mocap/pose", START, pose(0))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with pytest.raises(DataError, match="cannot write .*out.mcap: No space left on device"):
        with BagWriter(tmp_path / "out.mcap") as writer:
            monkeypatch.setattr(writer._writer, "write", full)
            writer.write("/mocap/pose", START, pose(0))
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_a_folder(tmp_path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(DataError, match="runs/a/out.mcap: .*runs is no folder"):
        BagWriter(tmp_path / "runs" / "a" / "out.mcap")


@pytest.mark.parametrize("name", ["out.db3", "out", "folder.mcap"])
def test_writer_refuses_other_names(tmp_path, name):
    (tmp_path / "folder.mcap").mkdir()
    with pytest.raises(DataError, match="mcap"):
        BagWriter(tmp_path / name)


@pytest.fixture(scope="module")
def long_bag(tmp_path_factory):
    """An MCAP file of several zstd chunks."""
    path = tmp_path_factory.mktemp("long") / "long.mcap"
    with BagWriter(path) as writer:
        for i in range(4000):
            writer.write("/joint_states", START + i, joints(i % 50))
    return path


@pytest.mark.parametrize("fraction", [0.98, 0.7, 0.3])
def test_truncated_mcap_gives_what_is_left_and_says_so(long_bag, tmp_path, fraction):
    content = long_bag.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(content[: int(len(content) * fraction)])
    with BagReader(cut) as bag:
        read = [t for _, t, _ in bag.messages()]
    assert read == [START + i for i in range(len(read))]
    # at worst the broken chunk is lost, and it is not lost whole
    assert len(read) > 4000 * fraction - 800
    assert "damaged" in bag.notice and str(len(read)) in bag.notice


def test_mcap_without_its_summary_is_whole(long_bag, tmp_path):
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(long_bag.read_bytes()[:-20])
    with BagReader(cut) as bag:
        assert sum(1 for _ in bag.messages()) == 4000
        assert bag.notice == ""


def test_truncated_folder_says_how_much_is_missing(tmp_path):
    folder = write_with_rosbags(tmp_path / "bag", StoragePlugin.MCAP)
    file = next(folder.glob("*.mcap"))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 3])
    with BagReader(folder) as bag:
        assert 0 < bag.message_count < COUNT
        assert f"of {COUNT} messages" in bag.notice


def test_damage_in_the_middle_ends_the_reading_with_a_notice(long_bag, tmp_path):
    content = bytearray(long_bag.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = bytes(2000)
    broken = tmp_path / "broken.mcap"
    broken.write_bytes(content)
    with BagReader(broken) as bag:
        read = [t for _, t, _ in bag.messages()]
    assert 0 < len(read) < 4000 and read == sorted(read)
    assert "damaged" in bag.notice


def test_undecodable_messages_are_counted(tmp_path):
    store, path = typestore(), tmp_path / "bag"
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection(
            "/mocap/pose", "geometry_msgs/msg/PoseStamped", typestore=store
        )
        whole = bytes(store.serialize_cdr(pose(7), connection.msgtype))
        for data in (whole, whole[:30], b"", whole):
            writer.write(connection, START, data)
    with BagReader(path) as bag:
        assert [m.pose.position.x for _, _, m in bag.messages()] == [7.0, 7.0]
        assert bag.rejected == {"/mocap/pose": 2}


def test_truncated_sqlite(tmp_path):
    folder = write_with_rosbags(tmp_path / "bag", StoragePlugin.SQLITE3)
    file = next(folder.glob("*.db3"))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    try:
        with BagReader(folder) as bag:
            count = sum(1 for _ in bag.messages())
        assert count < COUNT and "damaged" in bag.notice
    except DataError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (None, "absent.mcap", "no such bag"),
        (b"", "empty.mcap", "empty"),
        (b"hello, world, this is text" * 10, "text.mcap", "not an MCAP"),
        (b"hello, world, this is text" * 10, "text.db3", "cannot be read"),
        (b"", "empty.db3", "empty.db3"),
        (b"#ROSBAG V2.0\n", "old.bag", "rosbags-convert"),
        (b"x", "notes.txt", "expected a rosbag2 folder"),
    ],
)
def test_not_a_bag(tmp_path, content, name, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        BagReader(path)


def test_a_device_is_no_bag():
    with pytest.raises(DataError, match="/dev/null is not a bag: expected a rosbag2 folder"):
        BagReader("/dev/null")


def test_folders_that_are_no_bags(tmp_path):
    with pytest.raises(DataError, match="metadata.yaml is missing"):
        BagReader(tmp_path)
    (tmp_path / "metadata.yaml").write_text("rosbag2_bagfile_information: {version: 5}")
    with pytest.raises(DataError, match="not a bag"):
        BagReader(tmp_path)


def test_a_folder_with_the_name_of_a_file_is_passed_over(tmp_path):
    (tmp_path / "runs.mcap").mkdir()
    with pytest.raises(DataError, match="is not a bag: .*no \\*.mcap or \\*.db3 in it"):
        BagReader(tmp_path)
    with BagWriter(tmp_path / "out.mcap") as writer:
        writer.write("/mocap/pose", START, pose(0))
    with BagReader(tmp_path) as reader:
        assert reader.message_count == 1


def test_bag_without_messages(tmp_path):
    with BagWriter(tmp_path / "out.mcap", {"/imu": "sensor_msgs/msg/Imu"}):
        pass
    with pytest.raises(DataError, match="holds no message"):
        BagReader(tmp_path / "out.mcap")


def test_missing_topic_names_what_is_there(tmp_path):
    path = write_with_rosbags(tmp_path / "bag", StoragePlugin.MCAP)
    with (
        BagReader(path) as bag,
        pytest.raises(
            DataError, match=r"no topic /imu; it has /mocap/pose \(geometry_msgs/PoseStamped, 400\)"
        ),
    ):
        bag.messages(["/imu"])


def test_a_path_below_the_home_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write_with_rosbags(tmp_path / "run", StoragePlugin.MCAP)
    with BagReader("~/run") as bag:
        assert bag.message_count


def in_splits(tmp_path):
    """Folder of a recording in three files, its metadata.yaml as rosbag2 writes it."""
    store, folder, told = typestore(), tmp_path / "splits", []
    folder.mkdir()
    for part in range(3):
        of = tmp_path / f"run_{part}"
        with Writer(of, version=8, storage_plugin=StoragePlugin.MCAP) as writer:
            connection = writer.add_connection(
                "/mocap/pose", "geometry_msgs/msg/PoseStamped", typestore=store
            )
            for i in range(100 * part, 100 * part + 100):
                data = store.serialize_cdr(pose(i), connection.msgtype)
                writer.write(connection, START + i * 1000, data)
        told.append(yaml.safe_load((of / "metadata.yaml").read_text()))
        for file in of.glob("run_*"):
            file.rename(folder / file.name)
    bag = told[0]["rosbag2_bagfile_information"]
    bag["relative_file_paths"] = sorted(p.name for p in folder.iterdir())
    bag["message_count"] = bag["topics_with_message_count"][0]["message_count"] = 300
    bag["files"] = []
    (folder / "metadata.yaml").write_text(yaml.safe_dump(told[0]))
    return folder


@pytest.mark.parametrize("lost", ["run_0.mcap", "run_1.mcap", "run_2.mcap"])
def test_a_file_that_is_missing_is_said(tmp_path, lost):
    folder = in_splits(tmp_path)
    with BagReader(folder) as bag:
        assert [m.pose.position.x for *_, m in bag.messages()] == list(range(300))
        assert bag.notice == ""
    (folder / lost).unlink()
    with BagReader(folder) as bag:
        assert sum(1 for _ in bag.messages()) == 200
        assert lost in bag.notice and "recovered 200 of 300 messages" in bag.notice


def test_files_that_a_killed_recorder_compressed_are_said(tmp_path):
    """It writes metadata.yaml at its end, and compresses a file when it begins the next."""
    folder = in_splits(tmp_path)
    (folder / "metadata.yaml").unlink()
    for name in ("run_0.mcap", "run_1.mcap"):
        (folder / name).rename(folder / f"{name}.zstd")
    with BagReader(folder) as bag:
        assert sum(1 for _ in bag.messages()) == 100
        assert "run_0.mcap.zstd is compressed: unpack it" in bag.notice
    (folder / "run_2.mcap").unlink()
    with pytest.raises(DataError, match=r"run_1.mcap.zstd is compressed: unpack it with zstd -d"):
        BagReader(folder)


@pytest.mark.parametrize("metadata", [True, False])
def test_messages_in_the_journal_of_a_killed_recorder(tmp_path, metadata):
    """Preset `resilient` of rosbag2: what was written last is beside the database."""
    import sqlite3

    whole = write_with_rosbags(tmp_path / "bag", StoragePlugin.SQLITE3)
    (killed := tmp_path / "killed").mkdir()
    database = sqlite3.connect(whole / "bag.db3")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA wal_autocheckpoint=0")
    rows = database.execute("SELECT * FROM messages WHERE id > 150").fetchall()
    database.execute("DELETE FROM messages WHERE id > 150")
    database.commit()
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.executemany("INSERT INTO messages VALUES (?, ?, ?, ?)", rows)
    database.commit()
    for name in ("bag.db3", "bag.db3-wal", *(["metadata.yaml"] if metadata else [])):
        copyfile(whole / name, killed / name)
    database.close()
    before = {p.name: p.read_bytes() for p in killed.iterdir()}
    for path in (killed, killed / "bag.db3"):
        with BagReader(path) as bag:
            assert [m.pose.position.x for *_, m in bag.messages()] == list(range(COUNT))
            assert (bag.message_count, bag.notice) == (COUNT, "")
    assert {p.name: p.read_bytes() for p in killed.iterdir()} == before


@pytest.mark.parametrize("name", ["run #2", "why?", "100%41"])
def test_a_sqlite_bag_in_a_folder_of_any_name(tmp_path, name):
    folder = write_with_rosbags(tmp_path / "bag", StoragePlugin.SQLITE3).rename(tmp_path / name)
    for path in (folder, folder / "bag.db3"):
        with BagReader(path) as bag:
            assert sum(1 for _ in bag.messages()) == COUNT
            assert bag.notice == ""
