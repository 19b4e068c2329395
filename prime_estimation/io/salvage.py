# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Salvage of an MCAP file whose end is missing or damaged (recorder killed, disk full).

Layout of the file: https://mcap.dev/spec. Records are `opcode (1), length (8), content`; chunks
hold compressed records.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from lz4.frame import LZ4FrameDecompressor
from rosbags.interfaces import (
    Connection,
    ConnectionExtRosbag2,
    MessageDefinition,
    MessageDefinitionFormat,
)

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor
else:
    from backports.zstd import ZstdDecompressor

_MAGIC = b"\x89MCAP0\r\n"
_ZSTD = b"\x28\xb5\x2f\xfd"  # no encoding of CDR begins so
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x03, 0x04, 0x05, 0x06, 0x0F
_FORMATS = {
    "ros2msg": MessageDefinitionFormat.MSG,
    "ros2idl": MessageDefinitionFormat.IDL,
    "omgidl": MessageDefinitionFormat.IDL,
}


class SalvagedMcap:
    """Same reading interface as rosbags' Reader, over the intact part of a damaged MCAP file.

    Attributes:
        loss: one phrase that says where reading had to stop; empty if all of the data section was
            read.
    """

    def __init__(self, path: Path):
        self.loss = ""
        self.connections: list[Connection] = []
        self._schemas: dict[int, tuple[str, str, str]] = {}
        self._channels: dict[int, Connection] = {}
        self._messages: list[tuple[int, int, bytes]] = []
        content = path.read_bytes()
        if not content:
            self.loss = f"{path.name} is empty"
        elif content[:8] != _MAGIC:
            self.loss = f"{path.name} is not an MCAP file"
        else:
            stopped = self._records(memoryview(content)[8:], in_chunk=False)
            if stopped is not None:
                read, whole = (stopped + 8) / 1e6, len(content) / 1e6
                self.loss = f"{path.name} breaks off after {read:.3f} of {whole:.3f} MB"
        self._messages.sort(key=lambda m: m[0])
        counts = {}
        for _, channel, _ in self._messages:
            counts[channel] = counts.get(channel, 0) + 1
        self.connections = [
            c._replace(msgcount=counts.get(i, 0)) for i, c in self._channels.items()
        ]
        self.message_count = len(self._messages)
        self.start_time = self._messages[0][0] if self._messages else 0
        self.end_time = self._messages[-1][0] + 1 if self._messages else 0

    def messages(
        self, connections: Collection[Connection]
    ) -> Iterator[tuple[Connection, int, bytes]]:
        """Messages of the given connections in order of time."""
        wanted = {c.id: c for c in connections}
        for stamp_ns, channel, raw in self._messages:
            if channel in wanted:
                yield wanted[channel], stamp_ns, raw

    def close(self) -> None:
        """Forget the messages."""
        self._messages = []

    def _records(self, data: memoryview, in_chunk: bool) -> int | None:
        """Read records until the data ends.

        The position of the first one that is cut or broken, else None.
        """
        position = 0
        while position < len(data):
            if position + 9 > len(data):
                return position
            code, length = data[position], struct.unpack_from("<Q", data, position + 1)[0]
            body = data[position + 9 : position + 9 + length]
            if code == _DATA_END and not in_chunk:
                return None
            try:
                whole = self._record(code, body) if code == _CHUNK or len(body) == length else False
            except Exception:  # noqa: BLE001 - broken bytes end the readable part, however they show
                whole = False
            if not whole or len(body) != length:
                return position
            position += 9 + length
        # a healthy file ends with DATA_END and a summary; a chunk simply ends
        return None if in_chunk else position

    def _record(self, code: int, body: memoryview) -> bool:
        if code == _MESSAGE:
            channel, _, log_time, _ = struct.unpack_from("<HIQQ", body)
            if channel in self._channels:
                self._messages.append((log_time, channel, bytes(body[22:])))
        elif code == _SCHEMA:
            (key,) = struct.unpack_from("<H", body)
            name, at = _string(body, 2)
            encoding, at = _string(body, at)
            self._schemas[key] = (name, encoding, _string(body, at)[0])
        elif code == _CHANNEL:
            self._channel(body)
        elif code == _CHUNK:
            return self._chunk(body)
        return True

    def _channel(self, body: memoryview) -> None:
        key, schema = struct.unpack_from("<HH", body)
        topic, at = _string(body, 4)
        encoding, _ = _string(body, at)
        name, form, text = self._schemas.get(schema, ("", "", ""))
        definition = MessageDefinition(_FORMATS.get(form, MessageDefinitionFormat.NONE), text)
        if encoding == "cdr" and key not in self._channels:
            self._channels[key] = Connection(
                key, topic, name, definition, "", 0, ConnectionExtRosbag2(encoding, []), self
            )

    def _chunk(self, body: memoryview) -> bool:
        compression, at = _string(body, 28)
        (size,) = struct.unpack_from("<Q", body, at)
        compressed = body[at + 8 : at + 8 + size]
        unpack = {
            "": bytes,
            "zstd": lambda b: ZstdDecompressor().decompress(b),
            "lz4": lambda b: LZ4FrameDecompressor().decompress(bytes(b)),
        }
        return self._records(memoryview(unpack[compression](compressed)), in_chunk=True) is None


def unpacked(raw: bytes | memoryview) -> bytes | memoryview:
    """A message as it was sent; only the metadata.yaml of a bag says that each is compressed."""
    return ZstdDecompressor().decompress(bytes(raw)) if raw[:4] == _ZSTD else raw


def _string(body: memoryview, at: int) -> tuple[str, int]:
    (length,) = struct.unpack_from("<I", body, at)
    end = at + 4 + length
    if end > len(body):
        raise ValueError("string beyond its record")
    return bytes(body[at + 4 : end]).decode(), end
