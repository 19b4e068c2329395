# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""`prime identify` on what cannot be identified: exit code 2 with one clear line, no result."""

from __future__ import annotations

import pytest
from helpers.spoiling import SENSORS, write

from prime_estimation import cli
from prime_estimation.io.bag import BagReader


@pytest.fixture
def refused(tmp_path, capsys):
    """Function: the one line on stderr of `prime identify ARGUMENTS`, which must write nothing."""

    def run(*arguments) -> str:
        code = cli.main(
            ["identify", *map(str, arguments), "--out", str(tmp_path / "out"), "--no-progress"]
        )
        captured = capsys.readouterr()
        assert code == 2 and captured.out == "" and not (tmp_path / "out").exists()
        assert captured.err.count("\n") == 1 and "Traceback" not in captured.err
        return captured.err

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--robot", "go2", "--links", "bass"),
            "go2: no moving link 'bass'; moving links are base, FL_hip",
        ),
        (("--robot", "go2", "--links", "base", "FL_foot"), "no moving link 'FL_foot'"),
        (("--robot", "go3"), "unknown robot 'go3'"),
        (("--robot", "g1"), "lacks 29 of 29 joints"),
        (
            ("--robot", "go2", "--to", "0.01"),
            "gives 1 nodes of 0.008 s; an identification needs 100",
        ),
        (("--robot", "go2", "--from", "100"), "before the 100 s at which to begin"),
        (
            ("--robot", "go2", "--tare", "160"),
            "160.000 kg are said to be known; no torque scale explains that",
        ),
    ],
)
def test_one_line(options, words, recording, refused):
    assert words in refused(recording, *options)


@pytest.mark.slow
def test_other_payloads_in_one_identification(recording, tmp_path, refused):
    from prime_estimation import simulate

    other = simulate.run(
        "go2",
        "trot",
        2.0,
        tmp_path / "other",
        payload=simulate.Payload(1.0, (0.0, 0.0, 0.1)),
        start=1.0,
        seed=6,
    )
    line = refused(recording, other, "--robot", "go2")
    assert (
        "contradict each other: mass of base" in line and "in trot" in line and "in other" in line
    )


def test_no_bag(tmp_path, refused):
    assert "no such bag" in refused(tmp_path / "nothing", "--robot", "go2")


def test_a_clock_that_is_set_is_not_the_torques_fault(recording, tmp_path, refused):
    def spoil(topic, seconds, message):
        message.header.stamp.sec -= 5 * (seconds > 1.5)
        return message

    with BagReader(recording) as bag:
        write(tmp_path / "set.mcap", list(bag.messages(SENSORS)), spoil)
    told = refused(tmp_path / "set.mcap", "--robot", "go2")
    assert "s before the newest): choose a part without gaps or a clock that is set" in told
    assert "torques" not in told
