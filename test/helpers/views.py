# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sources of a view whose tracks a test fills."""

from __future__ import annotations

from dataclasses import dataclass

from helpers.motions import gliding, messages
from prime_estimation.errors import PrimeError
from prime_estimation.output_messages import TOPICS
from prime_estimation.viz.browser.track import Track


@dataclass
class Standing:
    """A source whose track is filled by the test."""

    track: Track
    name: str = "gliding"
    live: bool = False
    complete: bool = True
    error: PrimeError | None = None

    def start(self) -> None:
        """Nothing to begin."""

    def stop(self) -> None:
        """Nothing to end."""


def fill(track: Track, nodes) -> None:
    """Put the messages of these nodes."""
    for k in nodes:
        for topic, message in messages(track.robot, gliding(track.robot, k)).items():
            if topic in TOPICS:
                track.put(topic, message)
