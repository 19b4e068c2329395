# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Curves beside the scene: total mass with its 95 % band, normal forces, solve time."""

from __future__ import annotations

import numpy as np

from ...evaluation.statistics import HALF_WIDTH_95
from . import style
from .track import Track

POINTS = 400  # of a curve at most
FORCE_SHARE = 0.25  # of the time of the other curves that the quick forces are shown over
HEIGHT = 126  # pixels
FONT = "11px sans-serif"


def mass_curves(track: Track, begin_ns: int, end_ns: int, zero_ns: int) -> tuple[np.ndarray, ...]:
    """Time [s], total mass, upper and lower end of its 95 % band [kg]."""
    rows = track.series["inertial_parameters"].between(begin_ns, end_ns, POINTS)
    mass, band = rows["total_mass"], HALF_WIDTH_95 * rows["total_mass_stddev"]
    return _seconds(rows, zero_ns), mass, mass + band, mass - band


def force_curves(track: Track, begin_ns: int, end_ns: int, zero_ns: int) -> tuple[np.ndarray, ...]:
    """Time [s] and normal force of each foot [N], the corners of a flat foot together."""
    rows = track.series["contact_wrenches"].between(begin_ns, end_ns, POINTS)
    feet = feet_of(track)
    return _seconds(rows, zero_ns), *(
        rows["force"][:, members, 2].sum(axis=1).astype(float) for members in feet.values()
    )


def time_curves(track: Track, begin_ns: int, end_ns: int, zero_ns: int) -> tuple[np.ndarray, ...]:
    """Time [s] and duration of the window updates [ms]."""
    rows = track.series["status"].between(begin_ns, end_ns, POINTS)
    return _seconds(rows, zero_ns), rows["solve_time_ms"]


def feet_of(track: Track) -> dict[str, list[int]]:
    """Indices of the contacts of each foot."""
    feet: dict[str, list[int]] = {}
    for k, contact in enumerate(track.robot.contacts):
        feet.setdefault(contact.foot, []).append(k)
    return feet


class RobotPlots:
    """The three plots of one robot in viser's panel.

    Args:
        gui: viser's `GuiApi`.
        track: whose curves.
    """

    def __init__(self, gui, track: Track):
        self._track = track
        names = list(feet_of(track))
        band = {"stroke": style.css(style.ESTIMATE, 0.0), "label": "95 %"}
        self._mass = _plot(
            gui,
            "total mass [kg], 95 % band",
            (_line("mass", style.ESTIMATE), band, band),
            bands=({"series": (2, 3), "fill": style.css(style.ESTIMATE, 0.22)},),
        )
        self._forces = _plot(
            gui,
            "normal forces [N]",
            tuple(_line(n, c) for n, c in zip(names, _repeated(style.CURVES))),
            legend=True,
        )
        curve = (_line("solve time", style.ESTIMATE),)
        self._time = _plot(gui, "solve time [ms]", curve, logarithmic=True)

    def update(self, zero_ns: int, now_ns: int, seconds: float) -> None:
        """Draw the last seconds before an instant; time is counted from `zero_ns`."""
        begin_ns = now_ns - int(1e9 * seconds)
        forces_ns = now_ns - int(1e9 * FORCE_SHARE * seconds)
        _fill(self._mass, mass_curves(self._track, begin_ns, now_ns, zero_ns))
        _fill(self._forces, force_curves(self._track, forces_ns, now_ns, zero_ns))
        _fill(self._time, time_curves(self._track, begin_ns, now_ns, zero_ns))


def _plot(
    gui,
    title: str,
    series: tuple,
    bands: tuple | None = None,
    legend: bool = False,
    logarithmic: bool = False,
):
    # logarithmic: the estimator's start takes fifty times as long as what it would flatten
    x, y = {"time": False}, {"distr": 3 if logarithmic else 1}
    lines = {"show": not logarithmic}  # nine a decade
    return gui.add_uplot(
        # a chart that begins without any point never finds its axes
        (np.array([0.0, 1.0]), *(np.full(2, np.nan) for _ in series)),
        ({"label": "t [s]"}, *series),
        title=title,
        bands=bands,
        scales={"x": x, "y": y},
        axes=(
            {"size": 28, "font": FONT},
            {"size": 46, "font": FONT, "grid": lines, "ticks": lines},
        ),
        legend={"show": legend, "live": False},
        height=HEIGHT,
        padding=(8, 16, 0, 0),
    )


def _line(label: str, color: style.Color) -> dict:
    return {"label": label, "stroke": style.css(color), "width": 1.5, "points": {"show": False}}


def _fill(plot, curves: tuple[np.ndarray, ...]) -> None:
    if len(curves) == len(plot.data) and len(curves[0]) > 1:
        plot.data = tuple(np.ascontiguousarray(c, np.float64) for c in curves)


def _seconds(rows: np.ndarray, zero_ns: int) -> np.ndarray:
    return (rows["stamp_ns"] - zero_ns) * 1e-9


def _repeated(colors: tuple) -> tuple:
    return colors * 8
