# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Files of results that are whole at any time: a full disk leaves those that were there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DataError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its place first, and put it there in one step.

    Text is written in UTF-8.

    Raises:
        DataError: it cannot be written; an older one is as it was.
    """
    try:
        with in_one_step(path) as beside:
            beside.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}", path) from error


@contextmanager
def in_one_step(path: Path) -> Iterator[Path]:
    """A place beside a file to write it to, of the same suffix; at the end it is put there.

    Where that fails nothing is left of it, and an older file is as it was.
    """
    beside = path.with_name(f".{os.getpid()}.{path.name}")  # two runs into one folder
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
