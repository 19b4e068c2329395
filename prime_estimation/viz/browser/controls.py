# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Controls of the page: time, layers, camera. They change what is looked at and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from .cursor import TimeCursor
from .drawing import LAYERS
from .readout import LEGEND

SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4")
STEP_S = 0.01


class Controls:
    """Panels at both sides of the scene.

    Args:
        server: viser's server.
        cursor: what the controls of time move.
        names: of the robots; several of them get a tab each.

    Attributes:
        layers: names of the layers that are shown.
        follow: the camera goes with the robots.
        plot_seconds: span of the plots [s].
    """

    def __init__(self, server, cursor: TimeCursor, names: Sequence[str]):
        gui = server.gui
        self._cursor, self._gui, self._scene = cursor, gui, server.scene
        gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        self._range = (0.0, 0.0)
        self._show_time()
        self._tabs = gui.add_tab_group() if len(names) > 1 else None
        self._show_layers()
        gui.main_panel.dock_right()
        gui.main_panel.set_width(360)

    def tab(self, name: str) -> AbstractContextManager:
        """Where the figures of one robot go."""
        return nullcontext() if self._tabs is None else self._tabs.add_tab(name)

    @property
    def layers(self) -> frozenset[str]:
        """Layers with a tick."""
        return frozenset(name for name, box in self._boxes.items() if box.value)

    @property
    def follow(self) -> bool:
        """Camera follows."""
        return self._follow.value

    @property
    def plot_seconds(self) -> float:
        """Span of the plots [s]."""
        return float(self._plot_seconds.value)

    def update(self, begin: float, end: float) -> None:
        """Show the instant, and what there is to choose from."""
        self._range = (begin, end)
        slider, cursor = self._slider, self._cursor
        begin, end = round(begin, 2), round(max(end, begin + STEP_S), 2)
        if slider.min != begin:
            slider.min = begin
        if slider.max != end:
            slider.max = end
        value = round(min(max(cursor.now, begin), end), 2)
        if slider.value != value:
            slider.value = value
        label = "pause" if cursor.playing else "play"
        if self._play.label != label:
            self._play.label = label

    def _show_time(self) -> None:
        gui, cursor = self._gui, self._cursor
        self._slider = gui.add_slider("time [s]", 0.0, STEP_S, STEP_S, 0.0)
        self._play = gui.add_button("pause")
        live = gui.add_button("newest", visible=cursor.following)

        @self._slider.on_update
        def _(event) -> None:
            if event.client is not None:  # a user's hand, not our own update
                cursor.seek(self._slider.value)

        self._play.on_click(lambda _: cursor.toggle(*self._range))
        live.on_click(lambda _: cursor.follow())

    def _show_layers(self) -> None:
        panel = self._gui.add_panel()
        with panel.add_tab("view"):
            speed = self._gui.add_dropdown("speed", SPEEDS, initial_value="1")
            self._follow = self._gui.add_checkbox("camera follows", True)
            self._plot_seconds = self._gui.add_slider("plots [s]", 2, 60, 1, 12)
            self._boxes = {
                name: self._gui.add_checkbox(text, True) for name, text in LAYERS.items()
            }
            # without a graphics card they take most of the time of drawing
            shadows = self._gui.add_checkbox("shadows", False)
            self._gui.add_html(LEGEND)

        @speed.on_update
        def _(_) -> None:
            self._cursor.speed = float(speed.value)

        @shadows.on_update
        def _(_) -> None:
            self._scene.configure_default_lights(cast_shadow=shadows.value)

        self._scene.configure_default_lights(cast_shadow=shadows.value)
        panel.dock_left()
        panel.set_width(250)
