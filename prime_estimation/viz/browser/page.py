# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Page of the view: a viser server with the robots, their curves, and the controls of time."""

from __future__ import annotations

import contextlib
import errno
import io
import math
import socket
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from ...errors import ConfigError, PrimeError
from .controls import Controls
from .cursor import TimeCursor
from .robot_view import RobotView
from .scene import SceneBuilder
from .sources import Source
from .visuals import visuals

RATE = 20.0  # drawings per second
PORTS = 100  # that are tried
CURVES_S = 0.2  # between two drawings of curves and figures, which nobody reads any faster
ALIKE_NS = 5_000_000_000  # recordings that begin within this time of each other share their clock
FOLLOW_S = 0.3  # time constant of the camera
JUMP_M, LEAP_S = 1.0, 0.5  # of the robots, of time: beyond, it does not glide but jumps
FIELD_OF_VIEW = math.radians(38.0)
CAMERA = np.array([2.7, -3.1, 1.9])


class ViewPage:
    """Page in the browser. It reads its sources; no control on it reaches a node or a file.

    Args:
        sources: what is shown, side by side.
        friction: coefficient of the ground in each source's friction cones.
        host, port: address of the page; another port is taken where this one is in use.
        spacing: sideways distance of the robots [m]; 0 leaves them in one world.

    Attributes:
        server: viser's.
        cursor: the instant that is shown.

    Raises:
        PrimeError: viser is not installed.
        ConfigError: nothing can be served at this address.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        friction: Sequence[float],
        host: str,
        port: int,
        spacing: float,
    ):
        self.server = _server(host, port)
        self.cursor = TimeCursor(live=any(s.live for s in sources))
        builders = [SceneBuilder(s.track.robot, f) for s, f in zip(sources, friction)]
        size, count = max(b.leg_length for b in builders), len(sources)
        self._apart = count > 1 and spacing > 0.0
        self._ground = _add_ground(self.server, size, lines=not self._apart)
        _set_camera(self.server, size * (1.0 + 0.35 * spacing / size * (count - 1)), size)
        self.controls = Controls(self.server, self.cursor, [s.name for s in sources])
        self.robots = []
        for k, (source, builder) in enumerate(zip(sources, builders)):
            lane = (0.0, spacing * (0.5 * (count - 1) - k), 0.0)
            with self.controls.tab(source.name):
                view = RobotView(self.server, f"/robot{k}", source, builder, lane)
            self.robots.append(view)
        self._curves_age, self._drawn, self._shown = math.inf, (), frozenset()
        self._followed = -math.inf  # instant at which the camera was moved last

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self.server.get_host()}:{self.server.get_port()}"

    @property
    def span(self) -> tuple[float, float] | None:
        """First and last instant that can be shown [s]; None before there is one."""
        spans = [r.span for r in self.robots if r.span is not None]
        return (min(b for b, _ in spans), max(e for _, e in spans)) if spans else None

    def add_meshes(self, stop: threading.Event | None = None) -> None:
        """Load the robots' meshes, which the page can do without, until `stop` is set."""
        for robot in self.robots:
            for visual in visuals(robot.source.track.robot):
                if stop is not None and stop.is_set():
                    return
                robot.add_mesh(visual)

    def run(
        self,
        stop: threading.Event,
        on_tick: Callable[[], None] = lambda: None,
        rate: float = RATE,
    ) -> None:
        """Draw until `stop` is set, or a source fails.

        Raises:
            PrimeError: what a source failed of.
        """
        last = time.perf_counter()
        while not stop.is_set():
            now = time.perf_counter()
            self.tick(now - last)
            last = now
            on_tick()
            stop.wait(max(0.0, 1.0 / rate - (time.perf_counter() - now)))

    def tick(self, seconds: float) -> None:
        """Let time pass and draw what is due.

        Raises:
            PrimeError: what a source failed of.
        """
        for robot in self.robots:
            if robot.source.error is not None:
                raise robot.source.error
        self._set_zeros()
        span = self.span
        if span is None:
            return
        cursor = self.cursor
        cursor.advance(seconds, *span, all(r.source.complete for r in self.robots))
        self.draw(seconds)
        self._curves_age += seconds
        news = [robot.news for robot in self.robots]
        asked = (cursor.now, cursor.playing, self.controls.plot_seconds, *news)
        if self._curves_age >= CURVES_S and asked != self._drawn:
            self.draw_curves()
            self._curves_age, self._drawn = 0.0, asked

    def draw(self, seconds: float) -> None:
        """Draw the instant of the cursor, `seconds` after the last one that was drawn."""
        layers = self.controls.layers
        with self.server.atomic():
            for robot in self.robots:
                robot.draw(self.cursor.now)
                if layers != self._shown:
                    robot.show(layers)
            self._follow(seconds)
        self._shown = layers

    def draw_curves(self) -> None:
        """Draw what needs less haste: curves, figures and controls."""
        for robot in self.robots:
            robot.draw_curves(self.cursor.now, self.controls.plot_seconds)
        self.controls.update(*self.span)

    def close(self) -> None:
        """End the server."""
        with _silence():
            self.server.stop()

    def _follow(self, seconds: float) -> None:
        """Move the worlds under the camera, which stays where its user has put it.

        Robots apart are each followed on their own, those in one world together.
        """
        leap = abs(self.cursor.now - self._followed) > LEAP_S
        self._followed = self.cursor.now
        if not self.controls.follow:
            return
        for group in [[r] for r in self.robots] if self._apart else [self.robots]:
            seen = [r.scene.position for r in group if r.scene is not None]
            if not seen:
                continue
            way = -np.mean(seen, axis=0) * [1.0, 1.0, 0.0] - group[0].shift
            jump = leap or np.linalg.norm(way) > JUMP_M
            shift = group[0].shift + (1.0 if jump else 1.0 - math.exp(-seconds / FOLLOW_S)) * way
            for robot in group:
                robot.shift = shift
            if not self._apart:
                self._ground.position = shift

    def _set_zeros(self) -> None:
        for robot in self.robots:
            span = robot.source.track.span_ns
            if robot.zero_ns is None and span is not None:
                others = [r.zero_ns for r in self.robots if r.zero_ns is not None]
                near = [z for z in others if robot.source.live or abs(z - span[0]) < ALIKE_NS]
                robot.set_zero(near[0] if near else span[0])


def _server(host: str, port: int):
    try:
        import viser
    except ImportError as error:
        raise PrimeError("the view needs viser: pip install 'prime_estimation[viz]'") from error
    port = _free_port(host, port)
    with _silence():
        return viser.ViserServer(host=host, port=port, label="prime_estimation", verbose=False)


def _free_port(host: str, port: int) -> int:
    """The port, or the next one that is free; viser would look for a good address for ever."""
    trouble: OSError | OverflowError | None = None
    for candidate in range(port, port + PORTS):
        try:
            with socket.create_server((host, candidate)) as found:
                return found.getsockname()[1]
        except (OSError, OverflowError) as error:
            trouble = error
            if getattr(error, "errno", None) != errno.EADDRINUSE:
                break
    raise ConfigError(f"nothing can be served at {host}:{port}: {trouble}", (host, port))


def _silence() -> contextlib.AbstractContextManager:
    """What viser prints about itself is kept off stdout, which belongs to the verb."""
    return contextlib.redirect_stdout(io.StringIO())


def _add_ground(server, size: float, lines: bool):
    """Level ground for robots with legs of this size [m].

    Without lines where several worlds move on it, each at its own speed.
    """
    server.scene.set_up_direction("+z")
    cell = 10.0 ** math.floor(math.log10(size))
    return server.scene.add_grid(
        "/ground",
        infinite_grid=True,
        cell_size=cell,
        section_size=10.0 * cell,
        cell_thickness=1.0 if lines else 0.0,
        section_thickness=1.0 if lines else 0.0,
        fade_distance=14.0 * size,
        plane_color=(244, 246, 248),
        plane_opacity=0.6,
        shadow_opacity=0.2,
    )


def _set_camera(server, distance: float, size: float) -> None:
    """Where a browser looks from at first: a few lengths [m] away from the middle of the robots."""
    camera = server.initial_camera
    camera.position = tuple(distance * CAMERA)
    camera.look_at = (0.0, 0.0, 0.65 * size)
    camera.fov = FIELD_OF_VIEW
