# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Real-time priority, CPUs and locked memory: what they do, and what is said without permission."""

import os
import subprocess
import sys

import pytest

from prime_estimation.errors import ConfigError
from prime_estimation.nodes.scheduling import cpus_of

# in a process of its own: priorities and limits are those of the process
SCRIPT = """
import os, resource, sys, threading
from prime_estimation.config.parameters import NodeConfig
from prime_estimation.errors import ConfigError
from prime_estimation.nodes.scheduling import schedule
limit, options = sys.argv[1] == "limited", eval(sys.argv[2])
if limit:
    for kind in (resource.RLIMIT_RTPRIO, resource.RLIMIT_MEMLOCK):
        resource.setrlimit(kind, (0, 0))
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
waiting = threading.Event()
threading.Thread(target=waiting.wait).start()
try:
    schedule(NodeConfig(**options))
    for thread in sorted(map(int, os.listdir("/proc/self/task"))):
        print(os.sched_getscheduler(thread) == os.SCHED_FIFO, sorted(os.sched_getaffinity(thread)))
    print([line for line in open("/proc/self/status") if line.startswith("VmLck")])
except ConfigError as error:
    print(f"refused: {error}")
waiting.set()
"""


def run(kind: str, **options) -> list[str]:
    command = [sys.executable, "-c", SCRIPT, kind, repr(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def permitted() -> bool:
    return not run("as it is", priority=10)[0].startswith("refused")


def test_every_thread_runs_on_the_given_cpus():
    first = min(os.sched_getaffinity(0))
    *threads, _ = run("as it is", cpus=str(first))
    assert len(threads) >= 2 and all(line == f"False [{first}]" for line in threads)


@pytest.mark.parametrize("text", ["", "all", "-1", "100000", "0;1"])
def test_cpus_that_are_not_there_are_refused(text):
    with pytest.raises(ConfigError, match="node.cpus wants some of"):
        cpus_of(text)


def test_every_thread_gets_the_priority():
    if not permitted():
        pytest.skip("this user may not use real-time priorities")
    *threads, _ = run("as it is", priority=10)
    assert len(threads) >= 2 and all(line.startswith("True") for line in threads)


@pytest.mark.parametrize("options", [{"priority": 10}, {"lock_memory": True}])
def test_without_permission_one_line_says_what_to_do(options):
    if os.geteuid() != 0:  # who is not root may be given these rights by the machine
        pytest.skip("only root can give its rights away")
    (line,) = run("limited", **options)
    (name,) = options
    assert line.startswith(f"refused: node.{name} ") and "/etc/security/limits.d" in line


FIRST_SCRIPT = """
import os, sys, threading
if sys.argv[1] == "chosen":
    os.nice(3)
from prime_estimation.nodes.scheduling import precedence, take_turns
if sys.argv[1] == "limited":
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
waiting = threading.Event()
def niceness():
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
def solve():
    take_turns()
    print(niceness())
threading.Thread(target=waiting.wait).start()
with precedence():
    threads = map(int, os.listdir("/proc/self/task"))
    print(*{os.getpriority(os.PRIO_PROCESS, thread) for thread in threads})
    solver = threading.Thread(target=solve)
    solver.start()
    solver.join()
print(niceness())
waiting.set()
"""


def may_have(niceness: int) -> bool:
    """Whether this user may have a niceness."""
    asked = f"import os; os.setpriority(os.PRIO_PROCESS, 0, {niceness})"
    done = subprocess.run([sys.executable, "-c", asked], stderr=subprocess.DEVNULL)
    return not done.returncode


def printed(script: str, kind: str) -> list[str]:
    """What a script prints that begins with niceness 0, also where the tests run under `nice`."""
    if not may_have(0):
        pytest.skip("the tests run under `nice`, and this user may not take that back")
    usual = "import os; os.setpriority(os.PRIO_PROCESS, 0, 0)"
    command = [sys.executable, "-c", f"{usual}\n{script}", kind]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize(
    ("kind", "others", "solver", "afterwards"),
    [("as it is", "-10", "-5", "0"), ("limited", "0", "0", "0"), ("chosen", "3", "3", "3")],
)
def test_what_must_not_wait_comes_before_what_solves(kind, others, solver, afterwards):
    if kind != "chosen" and not (os.getuid() == 0 and may_have(-10)):
        pytest.skip("this user may not have it")
    assert printed(FIRST_SCRIPT, kind) == [others, solver, afterwards]


UNINTERRUPTED_SCRIPT = """
import os, sys, threading
if sys.argv[1] == "chosen":
    os.nice(3)
from prime_estimation.nodes.scheduling import uninterrupted
def give_rights_away():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
if sys.argv[1] == "limited":
    give_rights_away()
def say():
    scheduler = os.sched_getscheduler(0)
    print(scheduler & ~os.SCHED_RESET_ON_FORK == os.SCHED_FIFO)
def make():
    say()
    thread = threading.Thread(target=say)
    thread.start()
    thread.join()
    if sys.argv[1] == "until then":
        give_rights_away()
    return "made"
print(uninterrupted(make))
print(os.sched_getscheduler(0) == os.SCHED_OTHER)
"""


@pytest.mark.parametrize(
    ("kind", "within"),
    [("as it is", "True"), ("limited", "False"), ("chosen", "False"), ("until then", "True")],
)
def test_what_makes_a_node_is_not_interrupted_but_what_it_starts_is(kind, within):
    """And nothing of it stays behind, which a user who has only a limit could not take back."""
    if not (os.getuid() == 0 and may_have(-10)):
        pytest.skip("only root has rights, and can give them away")
    assert printed(UNINTERRUPTED_SCRIPT, kind) == [within, "False", "made", "True"]
