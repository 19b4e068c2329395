# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Workers that compute recordings: one after the other here, or processes of a Dask cluster.

Tasks are pure functions of their arguments, so a worker that dies costs the time of its tasks and
nothing else: what it held is computed anew elsewhere.
"""

from __future__ import annotations

import functools
import os
import signal
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..errors import ConfigError

PATIENCE = 30  # s for a scheduler to answer, and for its first worker
INSTALL = "pip install 'prime_estimation[calibrate]'"


def one_thread(function: Callable, *arguments, **options) -> Any:
    """Value of a function whose linear algebra runs in one thread.

    Sums then come out the same to the last bit, whoever computes them; processes share the cores.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # without the extra all is computed here, by as many threads as there are
        return function(*arguments, **options)
    with threadpool_limits(1, "blas"):
        return function(*arguments, **options)


def never() -> bool:
    """Does not stop."""
    return False


def silent(fraction: float) -> None:
    """Takes the fraction done, and tells nobody."""


class Here:
    """This process: one task after the other."""

    def keep(self, function: Callable, *arguments) -> Any:
        """Value of a function, kept where it is computed: an argument of later tasks."""
        return one_thread(function, *arguments)

    def map(self, function: Callable, *lists) -> list:
        """`function(*arguments)` of each row of the lists."""
        return [one_thread(function, *arguments) for arguments in zip(*lists)]

    def run(
        self,
        function: Callable,
        *lists,
        stop: Callable[[], bool] = never,
        progress: Callable[[float], None] = silent,
    ) -> list:
        """The same for functions that take `stop` and `progress`, which goes over all tasks."""
        shares = _Shares(len(lists[0]), progress)
        return [
            one_thread(function, *arguments, stop=stop, progress=functools.partial(shares, i))
            for i, arguments in enumerate(zip(*lists))
        ]


class _Shares:
    """Progress of all tasks together."""

    def __init__(self, count: int, progress: Callable[[float], None]):
        self._done, self._progress = [0.0] * count, progress

    def __call__(self, task: int, fraction: float) -> None:
        self._done[task] = fraction
        self._progress(sum(self._done) / len(self._done))


class DaskWorkers:
    """Processes of a Dask cluster; they must have this package, and need no files."""

    def __init__(self, client):
        self._client = client

    def keep(self, function: Callable, *arguments) -> Any:
        """Future of a value, computed again where its worker dies."""
        return self._client.submit(one_thread, function, *arguments, pure=False)

    def map(self, function: Callable, *lists) -> list:
        """`function(*arguments)` of each row of the lists, which may hold futures."""
        return self._client.gather([self.keep(function, *row) for row in zip(*lists)])

    def run(
        self,
        function: Callable,
        *lists,
        stop: Callable[[], bool] = never,
        progress: Callable[[float], None] = silent,
    ) -> list:
        """The same for functions that take `stop` and `progress`, both led over the network."""
        from distributed import Event, TimeoutError, wait  # not Python's own in 3.10

        topic, shares = f"prime-{uuid.uuid4()}", _Shares(len(lists[0]), progress)
        self._client.subscribe_topic(topic, lambda event: shares(*event[1]))
        ending, asked = Event(topic, client=self._client), False
        futures = [self.keep(_remote, function, row, topic, i) for i, row in enumerate(zip(*lists))]
        try:
            while not all(f.done() for f in futures):
                if stop() and not asked:
                    ending.set()
                    asked = True
                try:
                    wait(futures, timeout=0.2)
                except TimeoutError:
                    continue
            found = self._client.gather(futures)
        finally:
            self._client.unsubscribe_topic(topic)
        if not all(ended for _, ended in found):
            raise KeyboardInterrupt
        return [value for value, _ in found]


def _remote(function: Callable, arguments: tuple, topic: str, task: int) -> tuple[Any, bool]:
    """A task that takes `stop` and `progress`, on a worker: its value, and whether it has one.

    A KeyboardInterrupt of a task that stops without would end the worker instead.
    """
    from distributed import Event, get_worker

    worker, ending = get_worker(), Event(topic)

    def progress(fraction: float) -> None:
        worker.log_event(topic, (task, fraction))

    try:
        return function(*arguments, stop=ending.is_set, progress=progress), True
    except KeyboardInterrupt:
        return None, False


@contextmanager
def workers(scheduler: str | None, count: int | None, tasks: int) -> Iterator[Here | DaskWorkers]:
    """Workers for so many tasks at a time.

    Args:
        scheduler: address of an existing Dask cluster.
        count: processes of an embedded one; 1: this process alone; None: one for each task and
            core where Dask is installed.
        tasks: that can run at the same time.

    Raises:
        ConfigError: Dask was asked for and is missing, nobody answers at the address, or the
            cluster has no workers or lacks this package.
    """
    if scheduler is None and count is None:
        # fewer where Dask is missing: it was not asked for
        count = min(tasks, os.cpu_count() or 1) if _has_dask() else 1
    if scheduler is None and count <= 1:
        yield Here()
        return
    if not _has_dask():
        option = "--scheduler" if scheduler else f"--workers {count}"
        raise ConfigError(f"{option} needs Dask: {INSTALL}", option)
    with ExitStack() as stack:
        yield DaskWorkers(_client(stack, scheduler, count))


def _has_dask() -> bool:
    try:
        import distributed  # noqa: F401
    except ImportError:
        return False
    return True


def _client(stack: ExitStack, scheduler: str | None, count: int | None):
    """Client of a cluster, closed with the stack."""
    import dask
    from distributed import Client, LocalCluster, TimeoutError  # not Python's own in 3.10

    # a recording is some megabytes, and travels with its task
    stack.enter_context(
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"})
    )
    if scheduler is None:
        cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None)
        client = stack.enter_context(Client(stack.enter_context(cluster)))
        client.register_plugin(_keyboard_plugin())
        return client
    try:
        client = stack.enter_context(Client(scheduler, timeout=PATIENCE))
    except (OSError, ValueError) as error:
        raise ConfigError(f"no Dask scheduler answers at {scheduler}", error) from error
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise ConfigError(
            f"the Dask cluster at {scheduler} has no workers; start one with "
            f"`dask worker {scheduler}`",
            error,
        ) from error

    def has_package() -> bool:  # local: it travels by value
        import importlib.util

        return importlib.util.find_spec("prime_estimation") is not None

    missing = [a for a, there in client.run(has_package).items() if not there]
    if missing:
        raise ConfigError(
            f"{', '.join(missing)}: this worker cannot import prime_estimation; install it there",
            missing,
        )
    return client


def _keyboard_plugin():
    """Lets workers of this machine outlive the Ctrl-C of their terminal: the verb ends them."""
    from distributed import WorkerPlugin

    class OutliveInterrupt(WorkerPlugin):
        def setup(self, worker) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return OutliveInterrupt()
