# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Policies of support: who carries the robot, and what it does."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param


@dataclass(frozen=True)
class AgreementPolicy:
    """When contact forces contradict the torques of the legs."""

    share: float = param(0.1, "of the weight, by which the two forces of a foot may differ")
    relative: float = param(0.3, "and share of the larger one: an impact is within one node")
    nodes: int = param(20, "over which feet that differ are counted")
    most: int = param(8, "of these in which some foot may differ: touch-downs do")
    fewest: int = param(4, "down to which a contradiction lasts; above it no payload is noticed")
    learned: int = param(40, "in which a load that the legs tell is learned, and feet may differ")


@dataclass(frozen=True)
class UnmodelledPolicy:
    """When the torques of a leg tell a force at its foot that no contact law explains."""

    share: float = param(0.3, "of the weight: standard deviation of such a force, in each axis")
    odds: float = param(-2.3, "logarithm of the prior odds: one outlier in ten is a force")
    least: float = param(4.0, "standard deviations of a torque below which nothing is looked for")
    stretched: float = param(
        0.03, "share of the Jacobian's largest pivot below which a leg hides the force along it"
    )
    stop: float = param(
        0.03, "distance from the limit of a joint at which it may be at its stop", "rad"
    )
    at_stop: float = param(
        0.01, "and at which it is: closer, its motor says nothing of what its links get", "rad"
    )
    at_rest: float = param(
        0.05,
        "rate of a joint below which its stop may hold more than its motor: legs turn back there",
        "rad/s",
    )
    beyond: float = param(0.1, "beyond its limit, from which on its stop is elsewhere", "rad")


@dataclass(frozen=True)
class LiftPolicy:
    """When something else than the feet carries the robot."""

    nodes: int = param(
        20, "over which weight and foot forces are compared: longer than a flight phase"
    )
    lost: float = param(0.5, "missing share of the weight above which the feet do not carry it")
    found: float = param(0.25, "and below which they do")
    same: float = param(0.1, "difference to the usual share within which the load is the same")
    usual_nodes: int = param(500, "over which the share of before is averaged")
    reloaded: int = param(4, "start batches on its feet after which the load has changed instead")
    hanging: float = param(
        0.75, "the first one before there is an estimate: stretched legs deceive"
    )
    # recorded falls reach 1.5; torques, or an accelerometer, of the opposite sign 1.9 to 2.1
    pulls: float = param(1.7, "share over a start batch, beyond which feet would pull the ground")
    quiet_rate: float = param(0.1, "of the IMU of a robot that lies still", "rad/s")
    quiet_force: float = param(1.0, "its specific force less gravity", "m/s2")
    quiet_nodes: int = param(40, "in a row: being lifted is quiet for a moment, too")
    resting: float = param(0.05, "deviation of its velocity from zero", "m/s")
    carried: float = param(1.0, "the same of a robot that moves but not on its feet", "m/s")
    unexplained: float = param(
        1.5, "rms of the whitened base force that the estimate must show too"
    )


@dataclass(frozen=True)
class SupportPolicy:
    """When the legs do not carry what the robot is said to weigh."""

    nodes: int = param(200, "over which that is averaged")
    most: float = param(1.0, "largest share of the weight that counts: impacts")
    doubted: float = param(0.15, "share of the weight above which the mass is not to be believed")
    carried: float = param(0.2, "share of the weight that contacts carry of a robot that stands")
    said_nodes: int = param(20, "in a row with less, after which it is said")
    flying_nodes: int = param(60, "and after which the estimate is given up: longer than a jump")


@dataclass(frozen=True)
class StancePolicy:
    """When feet that carry move more than feet that stand."""

    every: int = param(5, "nodes from one look at the soles to the next")
    loaded: float = param(0.15, "share of the weight that a sole has when it is looked at")
    soles: int = param(40, "over which their speed is the median")
    slow: float = param(0.07, "median from which contacts are widened", "m/s")
    widest: float = param(0.15, "median that they are widened by at most: they must hold", "m/s")
    gyro_bias: float = param(0.0005, "deviation of a bias that only such feet would tell", "rad/s")
    fast: float = param(0.5, "median from which the motion is not to be believed", "m/s")
    lost: float = param(1.0, "median from which the estimate is given up", "m/s")


@dataclass(frozen=True)
class ActivityPolicy:
    """What a robot does, by what is felt and by who carries it."""

    nodes: int = param(5, "in a row that must show another activity")
    upright: float = param(0.6, "tilt above which a robot that turns fast falls over", "rad")
    overturned: float = param(0.9, "tilt that is no longer upon its feet or belly", "rad")
    turning: float = param(1.5, "rate that falling over has at some time", "rad/s")
    calm_nodes: int = param(20, "without that, after which a fall is over")
    untold_nodes: int = param(
        200, "for which a robot without torques may still hang when its feet seem to carry it"
    )
    folded: float = param(0.35, "height above the feet that says lying, of the length of a leg")
    still: float = param(0.3, "deviation of the specific force at rest", "m/s2")
    loaded: float = param(0.05, "share of the weight that puts a foot down")
    unloaded: float = param(0.02, "and below which it has been lifted")
    step_nodes: int = param(60, "without a step after which a robot stands")
    speed: float = param(0.15, "of the base, above which it walks whatever its feet do", "m/s")


AGREEMENT = AgreementPolicy()
UNMODELLED = UnmodelledPolicy()
LIFT = LiftPolicy()
SUPPORT = SupportPolicy()
STANCE = StancePolicy()
ACTIVITY = ActivityPolicy()
