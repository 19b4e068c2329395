# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sources that fill tracks: an output bag, and a replay as it goes. A node's is `nodes.viewer`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from ...config.parameters import Config
from ...errors import DataError, PrimeError
from ...io.bag import BagReader
from ...io.topics import Topic, describe_topics
from ...io.typestore import typestore
from ...output_messages import TOPICS, Outputs
from ...recordings.replay import replay
from ...robot import Robot
from ...types import Estimate
from .track import Track

OURS = "/prime"  # the node of `prime replay`
PATIENCE_S = 20.0  # for a process that has been asked to end


class Source(Protocol):
    """Something that fills a track with what an estimator says.

    Attributes:
        name: for people.
        track: filled by another thread, from `start` on.
        live: time goes on whether one looks or not.
        complete: nothing more will come.
        error: what ended it before its time; None when nothing did.
    """

    name: str
    track: Track
    live: bool
    complete: bool
    error: PrimeError | None

    def start(self) -> None:
        """Begin to fill the track."""

    def stop(self) -> None:
        """End, whatever is left."""


class _Thread:
    """A source that is read in a thread of its own."""

    live = False

    def __init__(self, name: str, robot: Robot):
        self.name, self.track = name, Track(robot)
        self.complete, self.error = False, None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"view of {name}", daemon=True)

    def start(self) -> None:
        """Begin to fill the track."""
        self._thread.start()

    def stop(self) -> None:
        """End, whatever is left."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._fill()
        except PrimeError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - a page that stays still would say it is all
            self.error = PrimeError(f"{self.name}: {type(error).__name__}: {error}")
        finally:
            self.complete = True

    def _fill(self) -> None:
        raise NotImplementedError


class BagSource(_Thread):
    """Source of an estimate that was written into a bag (of `prime replay`, or of a recorder).

    Args:
        path: rosbag2 folder, MCAP or sqlite3 file.
        robot: whose estimator it was.
        node: its name in the topics, such as `/prime`.

    Raises:
        DataError: not a bag, or no output of this node in it.
    """

    def __init__(self, path: str | Path, robot: Robot, node: str):
        name = Path(path).stem
        super().__init__(name if node == OURS else f"{name} {node}", robot)
        self._bag = BagReader(path)
        self._topics = _outputs_of(self._bag, node)

    def _fill(self) -> None:
        with self._bag:
            for topic, _, message in self._bag.messages(self._topics):
                self.track.put(self._topics[topic], message)
                if self._stopping.is_set():
                    return


class ProcessSource(_Thread):
    """Estimates that a process of its own makes, while one looks.

    Args:
        name: for people.
        config: of the estimator and its robot.
        work: what the process does, a function of a module: `work(send, *arguments)` with
            `send(estimate)`; what it returns becomes `result`.
        arguments: of `work`.

    Attributes:
        result: of the work; None until it is complete.
    """

    def __init__(self, name: str, robot: Robot, config: Config, work: Callable, arguments: tuple):
        super().__init__(name, robot)
        self._outputs = Outputs(robot, config.estimator, typestore().types.__getitem__)
        context = multiprocessing.get_context("spawn")
        self._receiver, self._sender = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_send_all, args=(self._sender, work, arguments), daemon=True
        )
        self.result: dict | None = None

    def start(self) -> None:
        """Begin to estimate."""
        self._process.start()
        self._sender.close()  # the process has its own: its end is the end of the pipe
        super().start()

    def stop(self) -> None:
        """End the process and the thread."""
        if self._process.is_alive():
            self._process.terminate()
        if self._process.ident is not None:
            self._process.join(PATIENCE_S)
        super().stop()

    def _fill(self) -> None:
        while not self._stopping.is_set():
            try:
                said = self._receiver.recv()
            except EOFError:  # nobody said that it was done: killed, out of memory, a bug of ours
                if self._stopping.is_set():
                    return
                self._process.join(PATIENCE_S)
                raise PrimeError(
                    f"the process that works on {self.name} ended before it was done, with exit "
                    f"code {self._process.exitcode}"
                ) from None
            if isinstance(said, PrimeError):
                raise said
            if not isinstance(said, Estimate):
                self.result = said
                return
            for topic, message in self._outputs.messages(said):
                if topic in TOPICS:
                    self.track.put(topic, message)


class ReplaySource(ProcessSource):
    """The estimator on a recording, while one looks.

    Args:
        path: the recording.
        config: of the estimator and its robot.
        mocap: use motion capture.
        topics: sensor topics by role, where they cannot be found by type and name.
    """

    def __init__(
        self,
        path: str | Path,
        robot: Robot,
        config: Config,
        mocap: bool,
        topics: Mapping[str, str],
    ):
        arguments = (str(path), config, mocap, dict(topics))
        super().__init__(Path(path).stem, robot, config, _estimate, arguments)


def nodes_in(path: str | Path) -> list[str]:
    """Names of the estimators whose output a bag holds, such as `/prime`.

    Raises:
        DataError: there is none.
    """
    with BagReader(path) as bag:
        found = [
            t.name.removesuffix("/status")
            for t in bag.topics.values()
            if t.type == TOPICS["status"]
        ]
        if not found:
            raise DataError(
                f"{path} holds no estimate, only {describe_topics(bag.topics)}; "
                "to estimate from a recording of sensors while you look, add --replay",
                path,
            )
    return sorted(found)


def _outputs_of(bag: BagReader, node: str) -> dict[str, str]:
    """Names in TOPICS by the bag's topics."""
    wanted = {f"{node}/{name}": name for name in TOPICS}
    known: dict[str, Topic] = bag.topics
    there = {
        topic: name
        for topic, name in wanted.items()
        if topic in known and known[topic].type == TOPICS[name]
    }
    lacking = {"odometry", "joint_states"} - set(there.values())
    if lacking:
        missing = ", ".join(f"{node}/{name}" for name in sorted(lacking))
        raise DataError(f"{bag.path} has no {missing}: nothing to draw a robot from", bag.path)
    return there


def _estimate(
    send: Callable[[Estimate], None], path: str, config: Config, mocap: bool, topics: dict[str, str]
) -> None:
    """Replay a recording; the work of `ReplaySource`."""
    with tempfile.TemporaryDirectory(prefix="prime_view_") as folder:
        out = Path(folder) / "estimate.mcap"
        replay(path, Robot(config.robot), config, out, mocap=mocap, topics=topics, observer=send)


def _send_all(sender, work: Callable, arguments: tuple) -> None:
    """What the process of a `ProcessSource` does."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # ended while it works, it leaves nothing half-written
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sender.send(work(sender.send, *arguments))
    except PrimeError as error:
        sender.send(PrimeError(str(error)))
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # nobody looks any more
    except OSError as error:  # no room, most likely
        sender.send(PrimeError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")))
