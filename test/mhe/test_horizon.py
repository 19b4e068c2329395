# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Which measurements follow one another, and since when motion capture is silent."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from helpers.models import problem

from prime_estimation.mhe.horizon import SILENT_NS, Horizon
from prime_estimation.types import Measurement


@pytest.mark.parametrize(
    ("steps", "connects"),
    [(1.0, True), (0.51, True), (1.49, True), (0.49, False), (1.51, False), (2.0, False),
     (0.0, False), (-1.0, False)],
)  # fmt: skip
def test_a_measurement_follows_within_half_a_step_of_its_time(steps, connects):
    horizon, before = Horizon(problem("go2")), 1_700_000_000_000_000_000
    m = Measurement(before + round(1e9 * steps * horizon.problem.dt), None, None, None)
    assert horizon.connects(m)  # nothing came before
    horizon.newest_ns = before
    assert horizon.connects(m) == connects


def test_a_place_is_lost_when_motion_capture_has_been_silent_for_a_while():
    horizon, told = Horizon(problem("go2")), []
    place = SimpleNamespace(
        found=lambda arrival, x: told.append("found"), lost=lambda: told.append("lost")
    )
    horizon.window = SimpleNamespace(place=place, arrival=None, xs=[None])
    horizon._locate(True, 0)
    horizon._locate(False, SILENT_NS)
    assert told == ["found"]
    horizon._locate(False, SILENT_NS + 1)
    horizon._locate(True, SILENT_NS + 2)
    horizon._locate(False, 2 * SILENT_NS)
    assert told == ["found", "lost", "found"]
