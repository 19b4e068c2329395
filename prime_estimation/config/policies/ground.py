# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Policies of the ground: where feet stand, what lies between footholds, what soles tell."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param


@dataclass(frozen=True)
class GroundPolicy:
    """When the ground under a foot is placed anew."""

    load: float = param(15.0, "normal force above which a foot has touched down", "N")
    load_share: float = param(0.08, "the same, as a share of the weight: the larger one counts")
    load_most: float = param(0.15, "and at most this share, for light robots")
    release_share: float = param(1.0 / 3.0, "of that force, below which a foot may have lifted")
    release_nodes: int = param(3, "without load before it has: an early release costs mass")
    caution: float = param(4.0, "factor on the load that a robot which is held must show")
    gate: float = param(
        0.004, "a foot that comes to rest so near to the known ground is on it", "m"
    )
    gate_by_motion: float = param(
        0.012,
        "the same where no torque tells when it touches down, nor motion capture where the base is",
        "m",
    )
    flat: float = param(0.0001, "deviation of a floor from one foothold to the next", "m")
    firm: float = param(
        3.0,
        "power of the compliance by which a new foothold is less free to be higher or lower than "
        "the one before it, within the gate",
    )
    rest: float = param(0.3, "vertical speed below which a foot has arrived", "m/s")
    slow: float = param(0.25, "speed that tells a foot in the air, where no torque does", "m/s")
    near: float = param(0.008, "and height above the lowest foot that does", "m")
    elsewhere: float = param(
        0.1, "likelihood that one which is still stands on ground that is elsewhere"
    )
    share: float = param(0.05, "share of the weight by which such loads may miss it")
    lever: float = param(0.05, "lever arm of the weight by which they may miss its moment", "m")
    hanging_nodes: int = param(2, "nodes that nothing carries, before the ground is looked for")
    hanging_share: float = param(0.5, "share of the felt weight below which nothing carries")
    missed_nodes: int = param(4, "nodes that a flagged foot carries nothing, likewise")
    missed_share: float = param(0.1, "of what it ought to carry, below which it is nothing")
    standing: float = param(0.03, "speed of feet below which none of them is on its way", "m/s")
    standing_nodes: int = param(
        10, "in a row, after which ground of those that carry nothing is free within the gate"
    )
    still: float = param(0.1, "speed below which a foot with a light load may stand", "m/s")
    still_nodes: int = param(5, "in a row after which it does")
    least_friction: float = param(0.1, "bound of the friction coefficient")
    most_friction: float = param(1.2, "bound: above, the step of a bent leg can jam")
    hardest: float = param(1.0, "bound of the ground's compliance, of the contact law's")
    softest: float = param(50.0, "bound: a Go2 that stands on it sinks by 13 mm")
    untold_softness: float = param(
        0.67,
        "factor on the first deviation of its logarithm where no torque tells the load, or slopes "
        "are not known: legs that yield, and slopes, look like it",
    )
    uneven_softness: float = param(
        2.0, "the same off a floor: the solution goes on from one on hard ground that slopes"
    )
    stood: int = param(50, "nodes on its feet, before which ground becomes no softer")
    sink: float = param(5.0, "a foot sinks so much deeper when it lands than when it stands")
    bounded_stddev: float = param(0.05, "of its logarithm, once it was put back to a bound")


@dataclass(frozen=True)
class TerrainPolicy:
    """Prior of the ground between footholds."""

    slope: float = param(0.15, "standard deviation of a slope of which nothing is known")
    footholds: int = param(2, "per foot that tell the plane")
    evenness: float = param(0.0003, "of a floor: deviation of footholds from a plane", "m")
    grain: float = param(0.03, "length over which the deviation from the plane arises", "m")
    floor: float = param(0.03, "slope and its deviation below which the ground is a level floor")
    level: float = param(
        0.01,
        "deviation of a floor's slope under a foot, for a window to learn: on the first step of a "
        "ramp a foot rolls otherwise than on the floor, and would turn the base with it",
    )
    steepest: float = param(0.2, "deviation from the slope expected, above which it is none")
    strain: float = param(3.0, "rms of the window's whitened correction that its feet explain")
    slack: float = param(
        8.0, "standard deviations of a contact velocity beyond which a foot slides"
    )
    sliding: int = param(4, "nodes of a window in which it does, so that it is no touch-down")
    creep: float = param(0.06, "contact velocity of a foot on such an edge", "m/s")
    lasting: float = param(
        10.0, "factor on the vertical force on the base meanwhile: errors of its force last"
    )
    soft_normal: float = param(
        0.010,
        "contact velocity that soft ground adds, per logarithm of its compliance: with more, legs "
        "that give way themselves look like soft ground, from which they bounce up (Mini Cheetah)",
        "m/s",
    )
    soft_located: float = param(
        0.03,
        "the same where a sensor tells the place, against which feet that come up while they stand "
        "would tell a pitch: soft slopes of 10 degrees, Go1, Go2 and B1, 18 to 30 mrad with 0.01, "
        "12 to 15 with 0.03",
        "m/s",
    )
    untold_normal: float = param(
        0.03,
        "contact velocity without torques off a floor, at least: nothing tells what a foot "
        "carries, and so how far rubber and legs give way; with less, feet told biases that no IMU "
        "has (0.4 m/s2 and 10 mrad/s of a real A1 that was walking already), and tilted the base "
        "by 60 mrad",
        "m/s",
    )
    sinking: float = param(
        0.2, "share of the depth to which feet sink by which a foothold there may deviate"
    )
    soft_tangential: float = param(0.010, "the same along the ground", "m/s")
    learned: float = param(
        0.2,
        "share of its deviation that a window may learn of a slope: feet that creep tell it wrong",
    )
    passes: int = param(2, "of the regression, with the deviation of the pass before")


@dataclass(frozen=True)
class SolePolicy:
    """When the sole of a flat foot tells the slope of the ground."""

    spheres: int = param(3, "that span a sole")
    still: float = param(0.15, "rate below which it does not turn", "rad/s")
    nodes: int = param(2, "in a row in which it carries load and does not turn")
    margin: float = param(0.05, "of its length, from its edges: nearer, it stands on one")
    rolls: float = param(1.0, "rate below which it rolls on: landing and lifting", "rad/s")
    alone: float = param(0.8, "share of the load of all feet that one has that stands alone")
    steepest: float = param(0.08, "slope by which it rolls on at most: more is a raised toe")
    below: float = param(0.002, "depth of a corner at which the ground is not where it was", "m")
    ahead: float = param(0.05, "for which it is let turn on", "s")
    gate: float = param(0.01, "slope by which it must differ from what is known: zeros of joints")
    stddev: float = param(0.003, "of the slope, beside the base's tilt")


@dataclass(frozen=True)
class RisingPolicy:
    """When footholds at the same place tell that the estimated ground rises or sinks."""

    footholds: int = param(32, "newest ones that are compared")
    least: int = param(8, "of them without which nothing is told")
    near: float = param(0.2, "distance up to which two of them are", "m")
    apart: float = param(0.1, "time between them, at least", "s")
    roughness: float = param(0.05, "deviation of their heights from one slope, of their distance")
    place: float = param(0.002, "deviation of each height", "m")
    stddev: float = param(0.05, "prior of the rate", "m/s")
    untold: float = param(0.01, "deviation of the vertical velocity before they are enough", "m/s")
    pause: float = param(1.0, "without a new foothold, for which it lasts", "s")
    chance: float = param(0.005, "rate that edges and slopes of hard ground seem to tell", "m/s")
    dof: float = param(1.0, "degrees of freedom of the Student-t of pairs: edges are no noise")
    passes: int = param(5, "of the regression, with the weights of the pass before")


GROUND = GroundPolicy()
TERRAIN = TerrainPolicy()
SOLE = SolePolicy()
RISING = RisingPolicy()
