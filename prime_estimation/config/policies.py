# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Policies: constants of decisions that no user tunes, each with unit and reason.

Parameters that a user may change are in `parameters`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..declaration import param


@dataclass(frozen=True)
class GroundPolicy:
    """When the ground under a foot is placed anew."""

    load: float = param(15.0, "normal force above which a foot has touched down", "N")
    load_share: float = param(0.08, "the same, as a share of the weight: the larger one counts")
    load_most: float = param(0.15, "and at most this share, for light robots")
    release_share: float = param(1.0 / 3.0, "of that force, below which a foot may have lifted")
    release_nodes: int = param(3, "without load before it has: an early release costs mass")
    caution: float = param(4.0, "factor on the load that a robot which is held must show")
    gate: float = param(0.004, "a foot that comes to rest so near to the known ground is on it", "m")
    gate_by_motion: float = param(
        0.012, "the same where no torque tells when it touches down, and ground creeps", "m"
    )
    rest: float = param(0.3, "vertical speed below which a foot has arrived", "m/s")
    slow: float = param(0.25, "speed that tells a foot in the air, where no torque does", "m/s")
    near: float = param(0.02, "and height above the lowest foot that does", "m")
    hanging_nodes: int = param(2, "nodes that nothing carries, before the ground is looked for")
    hanging_share: float = param(0.5, "share of the felt weight below which nothing carries")
    least_friction: float = param(0.1, "bound of the friction coefficient")
    most_friction: float = param(1.2, "bound: above, the step of a bent leg can jam")
    bounded_stddev: float = param(0.05, "of its logarithm, once it was put back to a bound")


@dataclass(frozen=True)
class ConsistencyPolicy:
    """When a window no longer fits its data, and when the robot's model is doubted."""

    lost_nodes: int = param(
        20, "nodes in a row that explain nothing, before the estimate is given up"
    )
    smoothing: float = param(0.05, "share of the newest window in the published mean squares")
    doubt_ratio: float = param(2.0, "mean square over doubt_nodes above which the model is doubted")
    doubt_nodes: int = param(200, "nodes that a doubt needs")
    worst_ratio: float = param(20.0, "mean squares count at most this: doubts go within seconds")
    lighter: float = param(
        5.0, "standard deviations below the robot's own mass that no load explains"
    )
    lighter_share: float = param(0.05, "and share of the mass")
    fastest: float = param(100.0, "speed of base or joints that no robot has", "m/s, rad/s")


@dataclass(frozen=True)
class LiftPolicy:
    """When something else than the feet carries the robot."""

    nodes: int = param(
        20, "over which weight and foot forces are compared: longer than a flight phase"
    )
    lost: float = param(0.5, "missing share of the weight above which the feet do not carry it")
    found: float = param(0.25, "and below which they do")
    hanging: float = param(
        0.75, "the first one before there is an estimate: stretched legs deceive"
    )
    quiet_rate: float = param(0.1, "of the IMU of a robot that lies still", "rad/s")
    quiet_force: float = param(1.0, "its specific force less gravity", "m/s2")
    resting: float = param(0.02, "deviation of its velocity from zero", "m/s")
    carried: float = param(1.0, "the same of a robot that moves but not on its feet", "m/s")
    unexplained: float = param(
        1.5, "rms of the whitened base force that the estimate must show too"
    )


@dataclass(frozen=True)
class PayloadPolicy:
    """Change detector of payloads."""

    rest_nodes: int = param(20, "without a new alarm, while the inertia settles")


@dataclass(frozen=True)
class NoiseLevelsPolicy:
    """How the levels of noise follow what is seen."""

    every: int = param(5, "nodes from one look at the residuals to the next")
    gain: float = param(0.05, "share of a look in the logarithm of a level: a second")
    slow_gain: float = param(0.005, "the same of levels that a payload disturbs: ten seconds")
    first: int = param(3, "looks that the configuration is worth at the start")
    outlier: float = param(25.0, "largest square that counts")
    worth_saying: float = param(1.5, "factor that the status mentions")


GROUND = GroundPolicy()
CONSISTENCY = ConsistencyPolicy()
LIFT = LiftPolicy()
PAYLOAD = PayloadPolicy()
NOISE_LEVELS = NoiseLevelsPolicy()
