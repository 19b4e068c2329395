# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Files of results where the disk is full: those that were there stay as they were."""

from __future__ import annotations

import resource
import signal

import pytest

from prime_estimation.errors import DataError
from prime_estimation.io.whole_file import write_whole


@pytest.fixture
def full_disk():
    """No file may be longer than 100 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_what_was_there(tmp_path, full_disk):
    path = tmp_path / "go2.urdf"
    write_whole(path, "<robot/>")
    with pytest.raises(DataError, match="cannot write .*go2.urdf: File too large"):
        write_whole(path, "x" * 1000)
    assert path.read_text() == "<robot/>"
    assert list(tmp_path.iterdir()) == [path]


def test_text_and_bytes(tmp_path):
    for content in ("Fu\xdf", "Fu\xdf".encode()):
        write_whole(tmp_path / "file", content)
        assert (tmp_path / "file").read_text(encoding="utf-8") == "Fu\xdf"
