# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One robot on the page: its source, and what is drawn of it in the scene and beside it."""

from __future__ import annotations

import numpy as np

from .drawing import RobotDrawing
from .plots import RobotPlots
from .readout import label_text, readout_html
from .scene import RobotScene, SceneBuilder
from .sources import Source
from .track import STALE_NS
from .visuals import Visual

TRAIL_S = 10.0  # of the base's way behind it
TRAIL_POINTS = 200


class RobotView:
    """A source with its drawing, curves and figures.

    Args:
        server: viser's server, with the container for the figures open.
        root: scene node of the robot's world.
        source: what the robot's estimator says.
        builder: scenes of the robot.
        lane: (3,) where the robot stands on the page [m], beside the others.

    Attributes:
        scene: what is drawn; None before there is anything.
    """

    def __init__(self, server, root: str, source: Source, builder: SceneBuilder, lane):
        self.source, self.builder, self._lane = source, builder, np.asarray(lane, float)
        self.scene: RobotScene | None = None
        self._drawing = RobotDrawing(server.scene, root, builder)
        self.shift = np.zeros(3)
        self._readout = server.gui.add_html("")
        self._plots = RobotPlots(server.gui, source.track)
        self._zero: tuple[int, int] | None = None  # stamp, restarts of the source before it

    @property
    def zero_ns(self) -> int | None:
        """Stamp at which the page's time is zero; None while it is not known."""
        known = self._zero is not None and self._zero[1] == self.source.track.restarts
        return self._zero[0] if known else None

    def set_zero(self, stamp_ns: int) -> None:
        """Let the page's time be zero at a stamp, until the source begins anew."""
        self._zero = (stamp_ns, self.source.track.restarts)

    @property
    def span(self) -> tuple[float, float] | None:
        """First and last instant that can be shown, in the page's time [s]."""
        span, zero_ns = self.source.track.span_ns, self.zero_ns
        if span is None or zero_ns is None:
            return None
        return (span[0] - zero_ns) * 1e-9, (span[1] - zero_ns) * 1e-9

    @property
    def shift(self) -> np.ndarray:
        """By how much (3,) the robot's world is moved out of its lane, to stay in view [m]."""
        return self._shift

    @shift.setter
    def shift(self, shift: np.ndarray) -> None:
        self._shift = shift
        self._drawing.frame.position = self._lane + shift

    @property
    def position(self) -> np.ndarray | None:
        """Place of the robot (3,) on the page [m]; None before it is drawn."""
        return None if self.scene is None else self._lane + self._shift + self.scene.position

    def add_mesh(self, visual: Visual) -> None:
        """Add one of the robot's meshes."""
        self._drawing.add_mesh(visual)

    def show(self, layers: frozenset[str]) -> None:
        """Show these layers."""
        self._drawing.show(layers)

    def draw(self, now: float) -> None:
        """Draw the scene of an instant, where it is another one than before."""
        moment = None if self.zero_ns is None else self.source.track.at(self._stamp(now))
        if moment is None or (self.scene is not None and moment.stamp_ns == self.scene.stamp_ns):
            return
        self.scene = self.builder.build(moment)
        self._drawing.update(self.scene)
        self._drawing.label(label_text(self.scene, self.source.name, self._silent(now)))

    def draw_curves(self, now: float, seconds: float) -> None:
        """Draw what needs less haste: curves over the last seconds, figures, trail."""
        if self.scene is None or self.zero_ns is None:
            return
        stamp, track = self._stamp(now), self.source.track
        self._plots.update(self.zero_ns, stamp, seconds)
        silent = self._silent(now)
        self._drawing.label(label_text(self.scene, self.source.name, silent))
        content = readout_html(self.scene, track, silent)
        if content != self._readout.content:
            self._readout.content = content
        begin = stamp - int(1e9 * TRAIL_S)
        self._drawing.update_trail(track.positions(begin, stamp, TRAIL_POINTS))

    @property
    def news(self) -> tuple[float, tuple[str, ...]]:
        """What changes beside the instant that is drawn: the silence of a live source, troubles."""
        return self._silence_s, self.source.track.troubles

    @property
    def _silence_s(self) -> float:
        """Time [s] for which a source that is heard now has said nothing to be drawn; 0: it has."""
        silent_s = self.source.track.silent_s if self.source.live else 0.0
        return round(silent_s, 1) if silent_s > 1e-9 * STALE_NS else 0.0

    def _silent(self, now: float) -> str:
        """For how long nothing new has been told, as text; empty while it is."""
        behind_ns = self._stamp(now) - self.scene.stamp_ns
        behind_s = 1e-9 * behind_ns if behind_ns > STALE_NS else 0.0
        silent_s = max(self._silence_s, behind_s)
        return f"{silent_s:.1f} s" if silent_s else ""

    def _stamp(self, now: float) -> int:
        return self.zero_ns + round(1e9 * now)
