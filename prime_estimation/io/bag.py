# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings: read rosbag2 folders, MCAP and sqlite3 files of any ROS 2 age, write MCAP.

No ROS 2 installation needed.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from ..errors import DataError
from .made_folders import missing_folders, remove_empty
from .opening import one_line, open_sources, typestore_of
from .salvage import unpacked
from .topics import Topic, describe_topics
from .typestore import typestore


def named(path: str | Path) -> Path:
    """Path of a recording that ends in its name, as `.` from inside of its folder does not."""
    path = Path(path).expanduser()
    return path.resolve() if path.name in ("", "..") else path


class BagReader:
    """A recording, read in the order in which the messages arrived.

    Opens a rosbag2 folder (with or without its metadata.yaml), an `.mcap` or a `.db3` file. What a
    crash of the recorder cut off is lost, the rest is read, and `notice` says so.

    Attributes:
        topics: what the bag holds, by topic name.
        start_ns, end_ns: arrival times of the first and the last message.
        message_count: messages in the bag (those that can be recovered, when it is damaged).
        notice: empty, or one line about what could not be read.
        rejected: number of undecodable messages by topic.

    Raises:
        DataError: not a bag, nothing readable in it, or no message at all.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path).expanduser()
        self.rejected: Counter[str] = Counter()
        self._sources, self.notice = open_sources(self.path)
        connections = [c for source in self._sources for c in source.connections]
        self.message_count = sum(s.message_count for s in self._sources)
        if self.message_count == 0:
            self.close()
            raise DataError(f"{self.path} holds no message", self.path)
        self.start_ns = min(s.start_time for s in self._sources if s.message_count)
        self.end_ns = max(s.end_time for s in self._sources if s.message_count) - 1
        self.topics: dict[str, Topic] = {}
        for c in connections:
            before = self.topics[c.topic].count if c.topic in self.topics else 0
            self.topics[c.topic] = Topic(c.topic, c.msgtype, before + c.msgcount)

    @property
    def undecodable(self) -> Counter[str]:
        """Their number in words, beside other reasons of a refusal."""
        return Counter({f"{topic}: undecodable": n for topic, n in self.rejected.items()})

    def messages(self, topics: Iterable[str] | None = None) -> Iterator[tuple[str, int, object]]:
        """Messages of topics (default: all) as (topic, arrival_ns, message), in order of arrival.

        Raises:
            DataError: a topic is not in the bag, or the bag's first message already cannot be read.
        """
        wanted = set(self.topics if topics is None else topics)
        missing = sorted(wanted - set(self.topics))
        if missing:
            raise DataError(
                f"{self.path} has no topic {', '.join(missing)}; it has "
                f"{describe_topics(self.topics)}",
                missing,
            )
        return self._stream(wanted)

    def _stream(self, wanted: set[str]) -> Iterator[tuple[str, int, object]]:
        count = 0
        for source in self._sources:
            connections = [c for c in source.connections if c.topic in wanted]
            if not connections:
                continue
            store = typestore_of(connections, self.path)
            try:
                for connection, arrival_ns, raw in source.messages(connections):
                    try:
                        message = store.deserialize_cdr(unpacked(raw), connection.msgtype)
                    except Exception:  # noqa: BLE001 - the decoder of foreign bytes raises whatever it stumbles over
                        self.rejected[connection.topic] += 1
                        continue
                    count += 1
                    yield connection.topic, arrival_ns, message
            except Exception as error:  # noqa: BLE001 - same for the bag's container
                if count == 0:
                    raise DataError(
                        f"{self.path} cannot be read: {one_line(error)}", self.path
                    ) from error
                what = f"{self.path} is damaged ({one_line(error)})"
                self.notice = f"{what}: read {count} messages, the rest is lost"
                return
        if count == 0 and self.rejected:
            raise DataError(
                f"{self.path}: none of {sum(self.rejected.values())} messages on "
                f"{', '.join(self.rejected)} can be decoded",
                self.path,
            )

    def close(self) -> None:
        """Close the files."""
        for source in self._sources:
            with suppress(Exception):
                source.close()
        self._sources = []

    def __enter__(self) -> "BagReader":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def keep_input(out: str | Path, recording: str | Path) -> None:
    """Refuse an output that is the recording itself, or a file of its folder.

    Raises:
        DataError: writing `out` would overwrite what it is made from.
    """
    out, recording = Path(out), Path(recording)
    files = recording.iterdir() if recording.is_dir() else [recording]
    if out.exists() and any(out.samefile(file) for file in files if file.exists()):
        raise DataError(f"input and output are the same file: {out}", out)


class BagWriter:
    """Writes one MCAP file with the message definitions inside, so that any tool can read it.

    The file appears at `path` when the writer is closed, replacing an older one; after an error
    nothing is left behind.

    Args:
        path: the file, `OUT.mcap`.
        topics: types by topic name, for topics that shall exist even without messages; others are
            added as they come.

    Raises:
        DataError: the path cannot be written.
    """

    def __init__(self, path: str | Path, topics: Mapping[str, str] | None = None):
        self.path = Path(path)
        if self.path.suffix != ".mcap":
            raise DataError(f"the output must be named *.mcap, got {self.path}", self.path)
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder; give the name of a file", self.path)
        there = next(folder for folder in self.path.absolute().parents if folder.exists())
        if not there.is_dir():
            raise DataError(f"cannot write {self.path}: {there} is no folder", self.path)
        self._store = typestore()
        self._connections: dict[str, object] = {}
        self._made = missing_folders(self.path.parent)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # rosbags writes a folder; the file is taken out of it at the end, in one atomic step
            self._folder = tempfile.TemporaryDirectory(
                prefix=f".{self.path.stem}.", dir=self.path.parent
            )
        except OSError as error:
            raise DataError(f"cannot write {self.path}: {error.strerror}", self.path) from error
        self._writer = Writer(
            Path(self._folder.name) / self.path.stem,
            version=Writer.VERSION_LATEST,
            storage_plugin=StoragePlugin.MCAP,
        )
        self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._writer.open()
        for topic, type_name in (topics or {}).items():
            self.add_topic(topic, type_name)

    def message_class(self, type_name: str) -> type:
        """Class of a message type, by name: the factory that `io.messages` asks for."""
        return self._store.types[type_name]

    def add_topic(self, topic: str, type_name: str) -> None:
        """Declare a topic."""
        self._connections[topic] = self._writer.add_connection(
            topic, type_name, typestore=self._store
        )

    def write(self, topic: str, stamp_ns: int, message) -> None:
        """Append a message (an instance of `message_class`) with its bag time."""
        if topic not in self._connections:
            self.add_topic(topic, message.__msgtype__)
        connection = self._connections[topic]
        content = self._store.serialize_cdr(message, connection.msgtype)
        try:
            self._writer.write(connection, int(stamp_ns), content)
        except OSError as error:  # a full disk, of which Python names no file
            raise DataError(f"cannot write {self.path}: {error.strerror}", self.path) from error

    def close(self) -> None:
        """Finish the file and put it in its place."""
        try:
            self._writer.close()
            written = self._writer.path / f"{self.path.stem}.mcap"
            os.replace(written, self.path)
        except OSError as error:
            raise DataError(f"cannot write {self.path}: {error.strerror}", self.path) from error
        finally:
            self._clean_up()

    def abort(self) -> None:
        """Throw away what was written, and the folders that were made for it."""
        self._writer.abort()
        self._clean_up()

    def _clean_up(self) -> None:
        self._folder.cleanup()
        remove_empty(self._made)

    def __enter__(self) -> "BagWriter":
        return self

    def __exit__(self, kind, *_) -> None:
        self.close() if kind is None else self.abort()
