# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The page in a real browser, without a display: pictures, clicks, recordings."""

import io
import re

import numpy as np
import pytest
from helpers.views import Standing
from helpers.waiting import wait

pytest.importorskip("viser")

from prime_estimation.errors import ConfigError, PrimeError
from prime_estimation.viz.browser import chromium, record, style
from prime_estimation.viz.browser.chromium import Chromium, find_browser
from prime_estimation.viz.browser.record import Cut

needs_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium")
SIZE = (1280, 800)
SMALL = (960, 600)


@pytest.fixture(scope="module")
def imread():
    return pytest.importorskip("imageio.v3").imread


def share(picture: np.ndarray, color: style.Color, tolerance: int = 30) -> float:
    """Share of the pixels that have about this colour."""
    near = np.abs(picture[:, :, :3].astype(int) - color).max(axis=2) < tolerance
    return float(near.mean())


def opened(view, size) -> Chromium:
    """The page in Chromium, come to rest."""
    browser = Chromium(f"{view.url}/?fixedDpr=1", size)
    record.wait_until_still(browser)
    return browser


@needs_browser
def test_the_page_in_a_browser(page, running, glide, imread, tmp_path):
    """One browser for all that needs one: what is seen, and what the controls do."""
    view = page(Standing(glide))
    view.cursor.playing = False
    view.tick(0.0)
    view.add_meshes()
    view.cursor.seek(2.0)
    view.tick(1.0)
    running(view)
    with opened(view, SIZE) as browser:
        picture = browser.screenshot()
        (tmp_path / "page.png").write_bytes(picture)  # to be looked at, where a test fails
        image = imread(io.BytesIO(picture), extension=".png")
        assert image.shape[:2] == SIZE[::-1]
        scene = image[:, 260:910]
        assert share(scene, style.ESTIMATE, 60) > 1e-3  # box, trail
        # arrows and cones of four feet that stick
        assert (scene[:, :, 1].astype(int) - scene[:, :, 0] > 20).mean() > 5e-3
        assert 0.3 < share(scene, (255, 255, 255), 20) < 0.95  # neither empty nor full
        text = browser.evaluate("document.body.innerText")
        assert {"total mass", "mocap", "no data", "friction cones"} <= set(
            re.split(r"[\n\t]+", text)
        )
        assert browser.evaluate("document.querySelectorAll('.uplot canvas').length") == 3
        press = "[...document.querySelectorAll('button')].find(b => b.innerText == '%s').click()"
        browser.evaluate(press % "play")
        assert wait(lambda: view.cursor.now > 2.1 or not view.cursor.playing, 30.0)
        view.cursor.seek(1.0)
        browser.evaluate(
            "[...document.querySelectorAll('label')]"
            ".find(l => l.innerText == 'friction cones').click()"
        )
        assert wait(lambda: "cones" not in view.controls.layers, 30.0)


@needs_browser
def test_a_film_has_every_frame(page, glide, imread, tmp_path):
    view = page(Standing(glide))
    view.tick(0.0)
    path, done = tmp_path / "out.gif", []
    frames = record.record(view, path, Cut(0.5, 0.5, 4.0, 1.0, SMALL), done.append)
    film = imread(path, index=None)
    assert frames == len(film) == len(done) == 2 and done[-1] == 1.0
    assert film.shape[1:3] == SMALL[::-1]
    assert np.abs(film[0].astype(int) - film[1]).max() > 50  # time has passed


def test_a_web_page_plays_by_itself(page, glide, tmp_path):
    view = page(Standing(glide))
    view.tick(0.0)
    path = tmp_path / "out.html"
    assert record.record(view, path, Cut(0.0, 1.0, 5.0, 0.5, SIZE), lambda _: None) == 10
    text = path.read_text()
    assert "__VISER_EMBED_DATA__" in text and "<svg" in text and "gliding" in text
    # nothing is fetched from anywhere
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="(https?:)?//', text)


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (dict(start=5.0), "nothing to record from 5 s on: the data end at 2.99 s"),
        (dict(rate=0.0), "must be positive"),
        (dict(duration=-1.0), "must be positive"),
        (
            dict(rate=1e12),
            r"a recording of 3e\+12 frames takes days to draw, 1e\+06 are made at most",
        ),
        (dict(rate=1e12, duration=2.0), r"a recording of 2e\+12 frames takes days"),
        (dict(speed=1e-9, duration=2.0), "frames takes days"),
        (dict(size=(99999, 9)), "of 99999x9 pixels: browsers and encoders"),
    ],
)
def test_what_cannot_be_recorded(cut, words, page, glide, tmp_path):
    view = page(Standing(glide))
    view.tick(0.0)
    whole = dict(start=0.0, duration=float("inf"), rate=20.0, speed=1.0, size=SIZE)
    with pytest.raises(ConfigError, match=words):
        record.record(view, tmp_path / "out.html", Cut(**{**whole, **cut}), lambda _: None)
    assert not list(tmp_path.iterdir())


def test_what_is_interrupted_leaves_what_was_there(page, glide, tmp_path):
    out = tmp_path / "out.gif"
    out.write_text("of yesterday")
    view = page(Standing(glide))
    view.tick(0.0)

    def half(page, path, cut, frames):
        path.write_text("half")
        next(frames)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(record, "_write_video", half)
        record.record(view, out, Cut(0.0, 1.0, 20.0, 1.0, SIZE), lambda _: None)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["of yesterday"]


def test_a_place_that_is_a_folder(tmp_path):
    (tmp_path / "out.html").mkdir()
    with pytest.raises(ConfigError, match="it is a folder"):
        record.make_place(tmp_path / "out.html")


def test_a_kind_that_is_none(page, glide, tmp_path):
    with pytest.raises(ConfigError, match="must be one of .html, .mp4, .gif, got out.avi"):
        record.check_kind(tmp_path / "out.avi")


def test_without_a_browser_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(chromium, "NAMES", ("no-such-browser",))
    monkeypatch.delenv(chromium.VARIABLE, raising=False)
    with pytest.raises(PrimeError, match="apt-get install chromium.*PRIME_BROWSER"):
        Chromium("http://127.0.0.1:1", SMALL)
