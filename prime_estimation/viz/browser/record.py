# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings of the view: a web page that plays by itself, and videos photographed in Chromium."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np

from ...errors import ConfigError, PrimeError
from ...io.whole_file import in_one_step
from .chromium import Chromium
from .leaflet import leaflet
from .page import ViewPage

KINDS = (".html", ".mp4", ".gif")
STILL_S = 0.3  # between two pictures that must be equal before the page counts as complete
PICTURES = 200  # that it may take until they are
_FRAME = "prime-frame"  # id of an element that says which frame the page has come to
# settled two drawings after the page has taken a frame's messages
_DRAWN = """new Promise(done => {
  const look = () => document.getElementById("%s")?.textContent == "%d"
    ? requestAnimationFrame(() => requestAnimationFrame(done)) : requestAnimationFrame(look);
  look();
})"""
_FADED_IN = """document.querySelector('canvas') &&
  [...document.querySelectorAll('canvas')].every(c => getComputedStyle(c).opacity == 1)"""
_NO_WARNINGS = "document.querySelectorAll('.mantine-Notification-root').forEach(e => e.remove())"

MOST_FRAMES, MOST_PIXELS = 1_000_000, 8192  # of a recording, of a side of its pictures

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Cut:
    """Cut of the view that is recorded.

    Attributes:
        start, duration: part of the data [s]; an infinite one goes to their end.
        rate: frames per second of data.
        speed: seconds of data per second of the recording.
        size: width and height [pixels]; a web page takes that of its window.
    """

    start: float
    duration: float
    rate: float
    speed: float
    size: tuple[int, int]

    def __post_init__(self):
        finite = (self.rate, self.speed, *self.size)
        if not (self.duration > 0 and all(0 < x < math.inf for x in finite)):
            raise ConfigError(
                "duration, rate, speed and size of a recording must be positive, and finite", self
            )
        if max(self.size) > MOST_PIXELS:
            width, height = self.size
            raise ConfigError(
                f"a recording of {width}x{height} pixels: browsers and encoders make pictures of "
                f"{MOST_PIXELS} a side at most",
                self,
            )
        if math.isfinite(self.duration):
            self._check_number(self.end)

    @property
    def end(self) -> float:
        """Where it ends at the latest [s]."""
        return self.start + self.duration

    def times(self, end: float) -> np.ndarray:
        """Instants of the frames [s], where the data end at `end`.

        Raises:
            ConfigError: they are more than MOST_FRAMES.
        """
        last = min(self.end, end)
        self._check_number(last)
        return np.arange(self.start, last, self.speed / self.rate)

    def _check_number(self, last: float) -> None:
        if (frames := (last - self.start) * self.rate / self.speed) > MOST_FRAMES:
            raise ConfigError(
                f"a recording of {frames:.2g} frames takes days to draw, {MOST_FRAMES:.0g} are "
                "made at most: give a smaller rate, a larger speed, or a shorter duration",
                self,
            )


def check_kind(path: Path) -> None:
    """ConfigError for a file that is none of KINDS."""
    if path.suffix not in KINDS:
        raise ConfigError(f"a recording must be one of {', '.join(KINDS)}, got {path.name}", path)


def make_place(path: Path) -> None:
    """Makes the folder of a recording; ConfigError where it cannot be written to."""
    if path.is_dir():
        raise ConfigError(f"cannot write {path}: it is a folder", path)
    try:  # minutes before the recording is written; permissions alone do not tell it
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}", path) from error


def record(page: ViewPage, path: Path, cut: Cut, progress: Progress) -> int:
    """Record a part of what the page can show; returns the number of frames.

    Raises:
        PrimeError: a video, and no Chromium or no encoder to make it with.
    """
    check_kind(path)
    times = cut.times(page.span[1])
    if not len(times):
        raise ConfigError(
            f"nothing to record from {cut.start:g} s on: the data end at {page.span[1]:.2f} s", cut
        )
    page.cursor.seek(cut.start)
    page.draw(0.0)
    page.draw_curves()
    write = _write_html if path.suffix == ".html" else _write_video
    with in_one_step(path) as part:  # a part of a film would pass for all of it
        write(page, part, cut, _frames(page, times, cut.rate, progress))
    return len(times)


def _write_html(page: ViewPage, path: Path, cut: Cut, frames: Iterator[int]) -> None:
    """One file that needs neither a server nor the network: the scene plays, the curves stand."""
    recorder = page.server.get_scene_serializer()
    for _ in frames:
        recorder.insert_sleep(1.0 / cut.rate)
    text = recorder.as_html()
    body = text.rindex("</body>")
    extra = leaflet(page.robots, cut.start, min(cut.end, page.span[1]))
    path.write_text(text[:body] + extra + text[body:], encoding="utf-8")


def _write_video(page: ViewPage, path: Path, cut: Cut, frames: Iterator[int]) -> None:
    marker = page.server.gui.add_html("", order=1e6)
    # its own resolution: viser would lower it where drawing is slow
    with Chromium(f"{page.url}/?fixedDpr=1", cut.size) as browser, _encoder(path, cut) as encoder:
        wait_until_still(browser)
        for number in frames:
            marker.content = f'<span id="{_FRAME}" hidden>{number}</span>'
            page.server.flush()
            browser.evaluate(_DRAWN % (_FRAME, number))
            encoder.append_data(_picture(browser))
    marker.remove()


def _frames(page: ViewPage, times: np.ndarray, rate: float, progress: Progress) -> Iterator[int]:
    """Draw one instant after the other; yields their numbers."""
    for number, now in enumerate(times):
        page.cursor.seek(now)
        page.draw(1.0 / rate)
        page.draw_curves()
        yield number
        progress((number + 1) / len(times))


def wait_until_still(browser: Chromium) -> None:
    """Wait for a page that has been opened: it fades in, and its warnings are not for a film."""
    browser.wait_for(_FADED_IN)
    before = b""
    for _ in range(PICTURES):
        browser.evaluate(_NO_WARNINGS)
        browser.evaluate(f"new Promise(done => setTimeout(done, {1e3 * STILL_S:g}))")
        now = browser.screenshot()
        if now == before:
            return
        before = now
    raise PrimeError("the page in Chromium does not come to rest")


def _picture(browser: Chromium) -> np.ndarray:
    from imageio.v3 import imread

    return imread(io.BytesIO(browser.screenshot()), extension=".png")[:, :, :3]


def _encoder(path: Path, cut: Cut):
    import imageio

    if path.suffix == ".gif":
        return imageio.get_writer(path, duration=1e3 / cut.rate, loop=0)
    try:
        return imageio.get_writer(path, format="FFMPEG", fps=cut.rate, macro_block_size=2)
    except ImportError as error:
        raise PrimeError(
            "an .mp4 needs imageio-ffmpeg: pip install 'prime_estimation[viz]' (or record a .gif)"
        ) from error
