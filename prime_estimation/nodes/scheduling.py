# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Scheduling of a node on a busy computer: real-time priority, CPUs, locked memory (Linux)."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

from ..config.parameters import NodeConfig
from ..errors import ConfigError

# niceness of what must not wait for solvers, and of these: others come after both, for a solver
# that must wait while it has the interpreter's lock makes all threads wait
_EARLIER, _SOLVING = -10, -5
_LOCK_ALL = 1 | 2  # MCL_CURRENT | MCL_FUTURE: what is mapped, and what is going to be

Made = TypeVar("Made")


def schedule(config: NodeConfig) -> None:
    """Give all threads of this process what the configuration asks for; later ones inherit it.

    Raises:
        ConfigError: the user may not have it, or there are no such CPUs.
    """
    if config.cpus:
        _run_on(cpus_of(config.cpus))
    if config.priority:
        for thread in _threads():
            give_priority(thread, config.priority)
    if config.lock_memory:
        _lock_memory()


@contextmanager
def precedence() -> Iterator[None]:
    """What carries odometry on, or commands motors, comes before what solves, here and elsewhere.

    All threads of this process, and those that they start, get more of a busy processor (nice -10),
    but for those that `take_turns`. Where the user may not have that, or has chosen another
    niceness for the program, nothing changes.
    """
    chosen = os.getpriority(os.PRIO_PROCESS, 0) != 0
    if not chosen:
        _be_nice(_EARLIER)
    try:
        yield
    finally:
        if not chosen:
            _be_nice(0)


def uninterrupted(make: Callable[[], Made]) -> Made:
    """What `make` returns, called in a thread that runs without a break.

    Threads that it starts run as usual.

    For the making of a node: Fast DDS announces a participant before it attaches what receives
    answers. One that comes in between is thrown away and not repeated; participants that sent it
    are unknown until they announce themselves, up to 3 s later. Where the user may not have a
    real-time priority, or has chosen priority or niceness of the program, nothing changes.
    """

    def alone() -> Made:
        usual = os.sched_getscheduler(0) == os.SCHED_OTHER
        if usual and os.getpriority(os.PRIO_PROCESS, 0) == 0:
            with suppress(PermissionError):
                os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
        return make()

    # of its own, for only the privileged may take back that a priority is not inherited
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(alone).result()


def take_turns() -> None:
    """The calling thread solves: it comes after those that do not, before other programs."""
    thread = threading.get_native_id()
    if os.getpriority(os.PRIO_PROCESS, thread) == _EARLIER:
        os.setpriority(os.PRIO_PROCESS, thread, _SOLVING)


def _be_nice(niceness: int) -> None:
    for thread in _threads():
        try:
            os.setpriority(os.PRIO_PROCESS, thread, niceness)
        except ProcessLookupError:  # it has ended meanwhile
            continue
        except PermissionError:
            return


def give_priority(thread: int, priority: int) -> None:
    """SCHED_FIFO for a thread, by its native id."""
    try:
        os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))
    except ProcessLookupError:  # it has ended meanwhile
        return
    except PermissionError as error:
        raise ConfigError(
            f"node.priority {priority} is not permitted: give the user a limit (`USER - rtprio 98` "
            "in /etc/security/limits.d, then log in anew; docker: --ulimit rtprio=98 --cap-add "
            "SYS_NICE), or set it to 0",
            error,
        ) from error


def cpus_of(text: str) -> set[int]:
    """CPUs of a list such as `2,3`; ConfigError where it is none, or where there are none such."""
    words = [word.strip() for word in text.split(",")]
    there = os.sched_getaffinity(0)
    if not all(word.isdigit() for word in words) or not {int(w) for w in words} <= there:
        known = ",".join(map(str, sorted(there)))
        raise ConfigError(
            f"node.cpus wants some of {known}, separated by commas, got '{text}'", text
        )
    return {int(word) for word in words}


def _threads() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/task")]


def _run_on(cpus: set[int]) -> None:
    for thread in _threads():
        try:
            os.sched_setaffinity(thread, cpus)
        except ProcessLookupError:
            continue


def _lock_memory() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mlockall(_LOCK_ALL) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise ConfigError(
            f"node.lock_memory is not permitted ({reason}): give the user a limit (`USER - memlock "
            "unlimited` in /etc/security/limits.d, then log in anew; docker: --ulimit memlock=-1), "
            "or set it to false",
            reason,
        )
