# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Files of results that are whole at any time: a full disk leaves those that were there."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import DataError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its place first, and put it there in one step.

    Text is written in UTF-8.

    Raises:
        DataError: it cannot be written; an older one is as it was.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")  # two runs into one folder
    try:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)
        os.replace(beside, path)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}", path) from error
    finally:
        beside.unlink(missing_ok=True)
