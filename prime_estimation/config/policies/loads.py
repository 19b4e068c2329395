# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Policies of loads: pushes, payloads put on and taken off, the link that carries them."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param


@dataclass(frozen=True)
class PushPolicy:
    """When a force pushes the base that is neither ground nor load."""

    nodes: int = param(5, "over which the force is the median: one impact is no push")
    found: float = param(0.1, "horizontal force above which something pushes", "weight")
    gone: float = param(0.05, "and below which nothing does any more", "weight")
    lasting: int = param(20, "over which a weak force must last")
    certain: float = param(
        5.0,
        "standard deviations of the mean of what the base has of it: walks of simulated robots "
        "show up to 5, those on patches of friction 6, pushes by 4 to 8 % of the weight 8 and more",
    )
    over: float = param(0.02, "of the mean of all of it, below which it is over", "weight")
    began: int = param(50, "nodes in which the begin of a push is sought")
    early: int = param(5, "by which it may have begun before that")
    weak: float = param(0.1, "deviation of the horizontal force that is then expected", "weight")
    stddev: float = param(0.2, "of the horizontal force that a push lets expect", "weight")
    vertical: float = param(0.06, "of the vertical one: the inertia learns little of it", "weight")


@dataclass(frozen=True)
class PayloadPolicy:
    """Change detector of payloads."""

    rest_nodes: int = param(20, "without a new alarm, while the inertia settles")
    agreeing: int = param(3, "nodes in a row that tell it: a misplaced foot moves a whole window")
    upright: float = param(1.5, "vertical part of its force, per horizontal one, at least")
    steady_nodes: int = param(6, "over which a load weighs the same: a hand pulls more and more")
    lasting: float = param(0.5, "share of the alarm's threshold that they must still reach")
    growth: float = param(0.3, "share of its weight by which it may change from half to half")
    sideways: float = param(0.5, "horizontal share of its force, at most: tilt, slopes, gait")
    weak_nodes: int = param(80, "over which a load lasts of which the base feels a tenth or less")
    weak: float = param(2.0, "standard deviations of a node below which a force is so weak")
    lightest: float = param(0.95, "of the model's mass: a robot cannot get rid of more")


@dataclass(frozen=True)
class ExcitationPolicy:
    """When motion tells nothing of a direction of the inertia."""

    every: int = param(5, "nodes from one look at the motion to the next")
    gain: float = param(0.05, "share of a look in what it tells: a second")
    decide: int = param(10, "nodes from one decision to the next")
    fast: float = param(
        8.0, "a, by which squared regressors exceed those of noise: standing robots show up to 4"
    )
    slow: float = param(1.5, "s, by which products of those of two looks do: up to 0.7")
    least: float = param(1.0, "rho of directions of which motion tells something")
    enough: float = param(1.25, "the same, from which on those are told that were not")
    worth: float = param(
        1e-4, "information of a node, by the prior's, that is no more than none: a minute of it"
    )


@dataclass(frozen=True)
class LegWeightPolicy:
    """When the torques of the legs tell that a load was put on or taken off."""

    now: int = param(20, "over which what the legs carry is compared, in two halves")
    before: int = param(200, "with which it is compared")
    fewest: int = param(40, "of these")
    share: float = param(0.08, "of the weight by which either half must differ: steps do by 0.05")
    growth: float = param(0.3, "share of the difference by which the halves may differ: hands pull")
    gait: float = param(0.05, "share of the weight by which they do from step to step")
    means: int = param(50, "newest ones that tell how far what the legs carry scatters")
    least: int = param(12, "of these")
    certain: float = param(3.0, "standard deviations of them by which either half must differ")


@dataclass(frozen=True)
class LoadPlacePolicy:
    """When the link whose inertia is estimated cannot be the one that carries a load."""

    mass: float = param(0.1, "least load that has a place, as a share of the link's own mass")
    far: float = param(
        2.6, "from the link's centre of mass: radii of gyration; a box has 1.7, loads stand on it"
    )
    reach: float = param(0.2, "and so far at least: a hand holds things before it", "m")
    unfelt: float = param(
        0.5, "share of the torque for it that joints before the link lack: the base has it rather"
    )
    nodes: int = param(200, "in a row for which it is there")


@dataclass(frozen=True)
class LimbLoadPolicy:
    """When the joints of a limb without contact tell that it holds something."""

    memory: float = param(1.0, "of the regression", "s")
    share: float = param(0.1, "least load that is told, as a share of the limb's own mass")
    reach: float = param(0.2, "deviation of its place from the last joint", "m")
    torque: float = param(0.5, "of a joint that nothing tells: dry friction, errors of gains", "Nm")
    explained: float = param(0.35, "share of squared unexplained torques that it explains")
    nodes: int = param(30, "in a row in which it does")


@dataclass(frozen=True)
class SwayPolicy:
    """When a load sways or slides on its robot."""

    memory: float = param(2.0, "over which force and acceleration are compared", "s")
    moved: float = param(0.3, "rms of the acceleration without which nothing is told", "m/s2")
    found: float = param(
        0.05,
        "mass that is missing along the ground, by that of the robot: loads on springs of 200 and "
        "260 N/m show 0.06 to 0.15 over 2 s, walks with tied loads up to 0.03, loads in hands 0.04",
    )
    gone: float = param(0.03, "and below which nothing sways any more")
    explained: float = param(0.25, "correlation of the two, at least: 0.3 to 0.7; others to 0.3")
    height: float = param(
        0.15, "deviation of the load's height above the centre of mass of its link", "m"
    )
    way: float = param(0.02, "deviation of the load from its place, along the ground", "m")


@dataclass(frozen=True)
class RunawayPolicy:
    """When an estimated inertia is that of no link with a load."""

    spread: float = param(
        10.0,
        "of its mass about its centre: up to 3 m where a robot that stands tells nothing of it, "
        "1 km on the way to a matrix that cannot be factorized",
        "m",
    )
    nodes: int = param(100, "for which it is held then, as it was before")


PUSH = PushPolicy()
RUNAWAY = RunawayPolicy()
PAYLOAD = PayloadPolicy()
EXCITATION = ExcitationPolicy()
LEG_WEIGHT = LegWeightPolicy()
LOAD_PLACE = LoadPlacePolicy()
LIMB_LOAD = LimbLoadPolicy()
SWAY = SwayPolicy()
