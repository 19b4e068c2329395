# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What was refused of a recording is counted by every verb that estimates it, in the same words."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers.spoiling import trot, write

from prime_estimation import cli

REFUSED = "joint_states: no positions"
VERBS = [
    ("replay", "--out", "{out}.mcap"),
    ("identify", "--out", "{out}"),
    ("reconstruct", "--out", "{out}"),
    ("calibrate", "--what", "mocap", "--out", "{out}"),
]


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb",
    VERBS,
    ids=lambda verb: verb[0],
)
def test_refused_samples_are_counted(verb, spoilt, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, *options = verb
    options = [option.format(out=tmp_path / "out") for option in options]
    assert cli.main([name, str(spoilt), "--robot", "go2", *options, "--no-progress"]) == 0
    counted = [s for s in capsys.readouterr().out.splitlines() if s.startswith("counted: ")]
    assert len(counted) == 1 and f"{REFUSED} 3" in counted[0]


@pytest.mark.parametrize(
    "verb",
    [*VERBS, ("calibrate", "--estimator", "window", "--iterations", "1", "--workers", "1")],
    ids=lambda verb: "-".join(verb[:3:2]),
)
def test_what_a_damaged_recording_lacks_is_said(verb, spoilt, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    damaged, whole = tmp_path / "damaged.mcap", spoilt.read_bytes()
    damaged.write_bytes(whole[: int(0.9 * len(whole))])
    name, *options = verb
    options = [option.format(out=tmp_path / "out") for option in options]
    options += [] if "--out" in options else ["--out", str(tmp_path / "out")]
    assert cli.main([name, str(damaged), "--robot", "go2", *options, "--json"]) == 0
    out, err = capsys.readouterr()
    told = [s for s in err.splitlines() if "is damaged" in s]
    assert len(told) == 1 and told[0].startswith("warning: ") and "breaks off" in told[0]
    found = json.loads(out)
    assert told[0].removeprefix("warning: ") in (found.get("notices") or found["notice"])
