# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Checks of a scene: what is around a simulated robot, as calls in Python hand it in."""

from __future__ import annotations

from numbers import Integral

from ..errors import ConfigError
from .ground import Ground
from .payload import Payload
from .push import Push


def check_scene(payload: object, ground: object, seed: object, pushes: object = ()) -> None:
    """Check the kinds of what a simulation is told.

    Raises:
        ConfigError: one is something else, or the seed is negative.
    """
    if not (payload is None or isinstance(payload, Payload)):
        raise ConfigError(f"a load must be a Payload, or None, got {payload!r:.60}", payload)
    if not isinstance(ground, Ground):
        raise ConfigError(f"ground must be a Ground, got {ground!r:.60}", ground)
    listed = isinstance(pushes, (tuple, list)) and all(isinstance(push, Push) for push in pushes)
    if not listed:
        what = "pushes must be a tuple of Push, (Push(...),) for one of them"
        raise ConfigError(f"{what}, got {pushes!r:.60}", pushes)
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise ConfigError(f"a seed must be a whole number, got {seed!r}", seed)
    if seed < 0:
        raise ConfigError(f"a seed must not be negative, got {seed}", seed)
