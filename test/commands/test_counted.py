# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What was refused of a recording is counted by every verb that estimates it, in the same words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.spoiling import trot, write

from prime_estimation import cli

REFUSED = "joint_states: no positions"


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory):
    """A trot in which three joint messages have no finite position."""
    folder, seen = tmp_path_factory.mktemp("counted"), []

    def spoil(topic, seconds, message):
        if topic != "/joint_states" or not 1.2 < seconds < 1.5 or len(seen) == 3:
            return message
        seen.append(seconds)
        return replace(message, position=np.full(len(message.position), np.nan))

    return write(folder / "spoilt.mcap", trot(folder)[1], spoil)


@pytest.mark.parametrize(
    "verb",
    [
        ("replay", "--out", "{out}.mcap"),
        ("identify", "--out", "{out}"),
        ("reconstruct", "--out", "{out}"),
        ("calibrate", "--what", "mocap", "--out", "{out}"),
    ],
    ids=lambda verb: verb[0],
)
def test_refused_samples_are_counted(verb, spoilt, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *options = verb
    options = [option.format(out=tmp_path / "out") for option in options]
    assert cli.main([name, str(spoilt), "--robot", "go2", *options, "--no-progress"]) == 0
    counted = [s for s in capsys.readouterr().out.splitlines() if s.startswith("counted: ")]
    assert len(counted) == 1 and f"{REFUSED} 3" in counted[0]
