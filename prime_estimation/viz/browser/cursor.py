# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Cursor of time: the instant that is shown, as the clock on the wall and the user move it."""

from __future__ import annotations


class TimeCursor:
    """Time that is shown, in seconds of the data.

    Attributes:
        now: the instant; None before there are data.
        playing: time goes on.
        speed: seconds of data per second.
        following: the newest instant is shown, whatever the speed (live nodes).
    """

    def __init__(self, live: bool, speed: float = 1.0):
        self.now: float | None = None
        self.playing, self.speed, self.following = True, speed, live

    def advance(self, seconds: float, begin: float, end: float, complete: bool) -> None:
        """Let time pass.

        Args:
            seconds: since the last call, on the wall.
            begin: of what there is to be shown.
            end: of it.
            complete: nothing will be added; where playing reaches the end it stops.
        """
        if self.now is None:
            self.now = begin
        if self.following:
            self.now = end if self.playing else self.now
        elif self.playing:
            self.now += self.speed * seconds
            if self.now >= end and complete:
                self.playing = False
        self.now = min(max(self.now, begin), end)

    def start_at(self, now: float) -> None:
        """Begin elsewhere than at the beginning of the data."""
        self.now = now or None

    def seek(self, now: float) -> None:
        """Show another instant, and stay there."""
        self.now, self.playing, self.following = now, False, False

    def toggle(self, begin: float, end: float) -> None:
        """Play or pause; playing from the end begins anew."""
        self.playing = not self.playing
        if self.playing and not self.following and self.now is not None and self.now >= end:
            self.now = begin

    def follow(self) -> None:
        """Show the newest instant from now on."""
        self.following = self.playing = True
