# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The live benchmarks leave no program behind, however they are ended.

Their figures are not asserted.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("cyclonedds")

from helpers.waiting import wait  # noqa: E402

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.parametrize("script", ["live", "several", "comeback"])
def test_a_recording_that_is_not_there_starts_nothing(script):
    """They had waited for estimates without end."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / f"{script}.py"), "absent.mcap"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "there is no absent.mcap" in done.stderr


def children(pid: int) -> set[int]:
    return {
        int(word)
        for path in Path(f"/proc/{pid}/task").glob("*/children")
        for word in path.read_text().split()
    }


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


@pytest.mark.parametrize("script", ["live.py", "live_faults.py"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_programs_end_with_the_benchmark(script, number, recorded_runs, repository, tmp_path):
    environment = dict(os.environ, PYTHONPATH=str(repository))
    command = [sys.executable, BENCHMARKS / script, recorded_runs / "go2_payload3"]
    table = tmp_path / "table"
    with table.open("w") as out:  # no pipes: a program that is left behind would hold them open
        program = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.DEVNULL)
    started = set()
    try:
        # its head comes when they run
        assert wait(lambda: table.stat().st_size > 0 and bool(children(program.pid)), 180.0)
        started = children(program.pid)
        program.send_signal(number)
        assert program.wait(60.0) != 0
        assert not any(alive(pid) for pid in started)
    finally:  # a failure leaves no estimator behind that slows all other tests
        for pid in filter(alive, started | children(program.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        program.kill()
        program.wait()
