# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Opening of bags: folder or file, whole or damaged, with or without message definitions."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore

from ..errors import DataError
from .salvage import SalvagedMcap
from .typestore import typestore

_SUFFIXES = (".mcap", ".db3")
_PACKED = (".zstd", ".zst")  # of whole files that a recorder compressed
_OF_URI = "#?%"  # characters that end, or change, the path in SQLite's URIs


def open_sources(path: Path) -> tuple[list, str]:
    """Sources that together are the bag, and a line about what they lack."""
    if not path.exists():
        raise DataError(f"no such bag: {path}", path)
    if not path.is_dir() and not (path.is_file() and path.suffix in _SUFFIXES):
        hint = "; convert ROS 1 bags with rosbags-convert" if path.suffix == ".bag" else ""
        raise DataError(
            f"{path} is not a bag: expected a rosbag2 folder, *.mcap or *.db3{hint}", path
        )
    expected = 0
    if path.is_file() or (path / "metadata.yaml").exists():
        try:
            if journals := [p.name for p in path.glob("*.db3-wal") if p.stat().st_size]:
                raise DataError(f"{', '.join(journals)} is not empty", path)
            return [_opened(path)], ""
        except Exception as error:  # noqa: BLE001 - rosbags raises many kinds on damaged files
            reason = one_line(error)
            expected = _count_in_metadata(path)
    else:
        reason = "metadata.yaml is missing"
    files = (
        [path]
        if path.is_file()
        else sorted(
            (p for p in path.iterdir() if p.suffix in _SUFFIXES and p.is_file()), key=_split_number
        )
    )
    packed = _packed(path)
    if not files:
        why = "; ".join(packed) or ("" if expected else "no *.mcap or *.db3 in it")
        raise DataError(f"{path} is not a bag: {reason}" + (f"; {why}" if why else ""), path)
    sources, losses = _open_files(files)
    losses = packed + losses
    if not sources or not any(s.message_count for s in sources):
        raise DataError(f"{path} cannot be read: {'; '.join(losses) or reason}", path)
    count = sum(s.message_count for s in sources)
    if count < expected and not losses:  # files are missing that metadata.yaml names
        losses = [reason]
    share = f" of {expected}" if expected else ""
    return (
        sources,
        f"{path} is damaged ({'; '.join(losses)}): recovered {count}{share} messages"
        if losses
        else "",
    )


def _open_files(files: list[Path]) -> tuple[list, list[str]]:
    sources, losses = [], []
    for file in files:
        try:
            sources.append(_opened(file))
        except Exception as error:  # noqa: BLE001
            if file.suffix != ".mcap":
                losses.append(f"{file.name}: {one_line(error)}")
                continue
            salvaged = SalvagedMcap(file)
            sources.append(salvaged)
            losses += [salvaged.loss] if salvaged.loss else []
    return sources, losses


def _packed(path: Path) -> list[str]:
    """What is said of compressed files of a folder, which only its metadata.yaml would tell of."""
    packed = sorted(p for p in path.glob("*") if p.suffix in _PACKED) if path.is_dir() else []
    return [
        f"{p.name} is compressed: unpack it with zstd -d"
        for p in packed
        if p.with_suffix("").suffix in _SUFFIXES and not p.with_suffix("").exists()
    ]


def _opened(path: Path) -> Reader:
    journal = path.with_name(f"{path.name}-wal")
    left = path.suffix == ".db3" and journal.is_file() and journal.stat().st_size > 0
    if left or (path.suffix == ".db3" and set(_OF_URI) & set(str(path))):
        return _opened_elsewhere(path, journal if left else None)
    reader = Reader(path)
    reader.open()
    if path.is_dir():
        _match(reader)
    return reader


def _match(folder: Reader) -> None:
    """Have the files of a folder give what its metadata.yaml names, by topic and type.

    rosbags compares qualities of service and type hashes, too: where somebody has changed them in
    metadata.yaml it would give no message, and no error.
    """
    named = folder.connections
    told = {(c.topic, c.msgtype): c for c in reversed(named)}
    alike = {(c.topic, c.msgtype, c.digest, repr(c.ext)) for c in named}
    for file in folder.storage.storages:
        for i, c in enumerate(file.connections):
            other = told.get((c.topic, c.msgtype))
            if other and (c.topic, c.msgtype, c.digest, repr(c.ext)) not in alike:
                file.connections[i] = c._replace(ext=other.ext, digest=other.digest)


def _opened_elsewhere(path: Path, journal: Path | None) -> Reader:
    """A sqlite3 file by another name, with the messages that a killed recorder left in its journal.

    SQLite is told that files do not change, and leaves out the journal. An open file needs no name.
    """
    with TemporaryDirectory() as folder:
        other = Path(folder) / "bag.db3"
        if journal is None:
            os.symlink(path.resolve(), other)
        else:
            shutil.copyfile(path, other)
            shutil.copyfile(journal, other.with_name(f"{other.name}-wal"))
            with closing(sqlite3.connect(other)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        reader = Reader(other)
        reader.open()
        return reader


def _split_number(path: Path) -> tuple[int, str]:
    tail = path.stem.rsplit("_", 1)[-1]
    return (int(tail) if tail.isdigit() else -1, path.name)


def _count_in_metadata(path: Path) -> int:
    from ruamel.yaml import YAML  # what rosbags itself reads metadata.yaml with

    try:
        return int(
            YAML(typ="safe").load((path / "metadata.yaml").read_text())[
                "rosbag2_bagfile_information"
            ]["message_count"]
        )
    except Exception:  # noqa: BLE001 - it is only for the wording of a notice about a damaged bag
        return 0


def typestore_of(connections, path: Path):
    """Types of connections, from the bag's own definitions where it has them.

    sqlite3 bags before Iron have none.
    """
    types = {}
    if any(c.msgdef.format == MessageDefinitionFormat.NONE for c in connections):
        types.update(typestore().fielddefs)
    store = get_typestore(Stores.EMPTY)
    try:
        for c in connections:
            if c.msgdef.format == MessageDefinitionFormat.MSG:
                types.update(get_types_from_msg(c.msgdef.data, c.msgtype))
            elif c.msgdef.format == MessageDefinitionFormat.IDL:
                types.update(_types_from_idl(c.msgdef.data))
        store.register(types)
        unknown = sorted({c.msgtype for c in connections} - set(store.types))
    except Exception as error:  # noqa: BLE001 - parser of foreign text
        raise DataError(
            f"{path}: the message definitions in the bag cannot be used: {one_line(error)}", path
        ) from error
    if unknown:
        raise DataError(
            f"{path} has messages of unknown type {', '.join(unknown)} and no definition of them",
            unknown,
        )
    return store


def _types_from_idl(text: str) -> dict:
    separator = "=" * 80 + "\n"
    if not text.startswith(f"{separator}IDL: "):
        return get_types_from_idl(text)
    types = {}
    for part in text.split(separator)[1:]:
        types.update(get_types_from_idl(part.split("\n", 1)[1]))
    return types


def one_line(error: BaseException) -> str:
    """An error's text without line breaks; its type when it has none."""
    return " ".join(str(error).split()) or type(error).__name__
