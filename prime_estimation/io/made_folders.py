# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Folders that are made for results: none stays behind empty where there are no results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def missing_folders(folder: Path) -> list[Path]:
    """Those of a folder and the ones around it that are not there, the innermost first."""
    folder = folder.absolute()
    return [around for around in (folder, *folder.parents) if not around.exists()]


def remove_empty(folders: list[Path]) -> None:
    """Remove those of the folders that are there and empty, in this order."""
    for folder in folders:
        with suppress(OSError):  # it holds something, or is not there
            folder.rmdir()


@contextmanager
def none_left_empty(folder: Path) -> Iterator[None]:
    """What happens within may make this folder: if nothing is in it at the end, it goes again.

    A folder that was there before stays, empty or not.
    """
    missing = missing_folders(folder)
    try:
        yield
    finally:
        remove_empty(missing)
