# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Headless Chromium, which photographs the page for videos: started here, spoken to by DevTools."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from ...errors import PrimeError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
VARIABLE = "PRIME_BROWSER"
# WebGL in software, nothing that calls home, nothing that asks
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-quic",
    "--disable-sync",
    "--remote-debugging-port=0",
)
PATIENCE_S = 60.0
PARTING_S = 5.0


def find_browser() -> str | None:
    """Path of a Chromium; of the environment variable PRIME_BROWSER, else of the usual names."""
    return next(filter(None, map(shutil.which, (os.environ.get(VARIABLE, ""), *NAMES))), None)


class Chromium:
    """One page in a headless Chromium of its own, with a new and empty profile.

    Args:
        url: of the page.
        size: width and height [pixels].

    Raises:
        PrimeError: there is no Chromium, or it does not start.
    """

    def __init__(self, url: str, size: tuple[int, int]):
        path = find_browser()
        if path is None:
            raise PrimeError(
                "no Chromium found: install it (Debian: apt-get install chromium), "
                f"or name a Chrome in the environment variable {VARIABLE}"
            )
        self._profile = tempfile.TemporaryDirectory(
            prefix="prime_view_", ignore_cleanup_errors=True
        )
        # a sandbox is refused to root, as whom containers run
        flags = (*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else []))
        where = (f"--user-data-dir={self._profile.name}", f"--window-size={size[0]},{size[1]}")
        self._process = subprocess.Popen(
            [path, *flags, *where, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._socket, self._numbers = None, itertools.count(1)
        try:
            self._open(url, size)
        except BaseException:
            self.close()
            raise

    def evaluate(self, expression: str):
        """Value of a JavaScript expression, of a promise when it is settled."""
        answer = self._call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        return answer["result"].get("value")

    def wait_for(self, expression: str, seconds: float = PATIENCE_S) -> None:
        """Wait until an expression is true.

        Raises:
            PrimeError: it does not become so in time.
        """
        end = time.monotonic() + seconds
        while not self.evaluate(f"!!({expression})"):
            if time.monotonic() > end:
                raise PrimeError(f"the page in Chromium has not come to {expression}")
            time.sleep(0.01)

    def screenshot(self) -> bytes:
        """PNG of the page."""
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """End the browser and forget its profile."""
        if self._socket is not None:
            self._socket.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):  # all of its processes are one group
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(PARTING_S)
        self._profile.cleanup()

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _open(self, url: str, size: tuple[int, int]) -> None:
        from websockets.sync.client import connect

        port = self._port()
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S
        ) as found:
            page = next(p for p in json.load(found) if p["type"] == "page")
        self._socket = connect(page["webSocketDebuggerUrl"], max_size=None, compression=None)
        # the window's own size counts its frame in
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=size[0],
            height=size[1],
            deviceScaleFactor=1,
            mobile=False,
        )
        self._call("Page.navigate", url=url)

    def _port(self) -> int:
        said = Path(self._profile.name) / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self._process.poll() is None:
            if said.is_file() and (lines := said.read_text().splitlines()):
                return int(lines[0])
            time.sleep(0.02)
        raise PrimeError(f"{self._process.args[0]} does not start headless")

    def _call(self, method: str, **parameters) -> dict:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(PATIENCE_S))
            if answer.get("id") == number:
                break
        if "error" in answer:
            raise PrimeError(f"Chromium: {method}: {answer['error']['message']}")
        return answer["result"]
