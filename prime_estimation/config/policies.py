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
    gate: float = param(
        0.004, "a foot that comes to rest so near to the known ground is on it", "m"
    )
    gate_by_motion: float = param(
        0.012, "the same where no torque tells when it touches down, and ground creeps", "m"
    )
    rest: float = param(0.3, "vertical speed below which a foot has arrived", "m/s")
    slow: float = param(0.25, "speed that tells a foot in the air, where no torque does", "m/s")
    near: float = param(0.02, "and height above the lowest foot that does", "m")
    hanging_nodes: int = param(2, "nodes that nothing carries, before the ground is looked for")
    hanging_share: float = param(0.5, "share of the felt weight below which nothing carries")
    missed_nodes: int = param(4, "nodes that a flagged foot carries nothing, likewise")
    missed_share: float = param(0.1, "of what it ought to carry, below which it is nothing")
    still: float = param(0.1, "speed below which a foot with a light load may stand", "m/s")
    still_nodes: int = param(5, "in a row after which it does")
    least_friction: float = param(0.1, "bound of the friction coefficient")
    most_friction: float = param(1.2, "bound: above, the step of a bent leg can jam")
    hardest: float = param(1.0, "bound of the ground's compliance, of the contact law's")
    softest: float = param(50.0, "bound: a Go2 that stands on it sinks by 13 mm")
    sink: float = param(5.0, "a foot sinks so much deeper when it lands than when it stands")
    bounded_stddev: float = param(0.05, "of its logarithm, once it was put back to a bound")


@dataclass(frozen=True)
class AgreementPolicy:
    """When contact forces contradict the torques of the legs."""

    share: float = param(0.1, "of the weight, by which the two forces of a foot may differ")
    relative: float = param(0.3, "and share of the larger one: an impact is within one node")
    nodes: int = param(20, "over which feet that differ are counted")
    most: int = param(8, "of these in which some foot may differ: touch-downs do")
    fewest: int = param(4, "down to which a contradiction lasts; above it no payload is noticed")


@dataclass(frozen=True)
class TerrainPolicy:
    """What the ground may be like between footholds."""

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
        0.005,
        "contact velocity that soft ground adds, per logarithm of its compliance: with more, legs "
        "that give way themselves look like soft ground, from which they bounce up (Mini Cheetah)",
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
    same: float = param(0.1, "difference to the usual share within which the load is the same")
    usual_nodes: int = param(500, "over which the share of before is averaged")
    reloaded: int = param(4, "start batches on its feet after which the load has changed instead")
    hanging: float = param(
        0.75, "the first one before there is an estimate: stretched legs deceive"
    )
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


@dataclass(frozen=True)
class ActivityPolicy:
    """What a robot does, by what is felt and by who carries it."""

    nodes: int = param(5, "in a row that must show another activity")
    upright: float = param(0.6, "tilt above which a robot that turns fast falls over", "rad")
    overturned: float = param(0.9, "tilt that is no longer upon its feet or belly", "rad")
    turning: float = param(1.5, "rate that falling over has at some time", "rad/s")
    calm_nodes: int = param(20, "without that, after which a fall is over")
    folded: float = param(0.35, "height above the feet that says lying, of the length of a leg")
    still: float = param(0.3, "deviation of the specific force at rest", "m/s2")
    loaded: float = param(0.05, "share of the weight that puts a foot down")
    unloaded: float = param(0.02, "and below which it has been lifted")
    step_nodes: int = param(60, "without a step after which a robot stands")
    speed: float = param(0.15, "of the base, above which it walks whatever its feet do", "m/s")


@dataclass(frozen=True)
class PushPolicy:
    """When a force pushes the base that is neither ground nor load."""

    nodes: int = param(5, "over which the force is the median: one impact is no push")
    found: float = param(0.1, "horizontal force above which something pushes", "weight")
    gone: float = param(0.05, "and below which nothing does any more", "weight")
    stddev: float = param(0.2, "of the horizontal force that is then expected", "weight")
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
    lightest: float = param(0.95, "of the model's mass: a robot cannot get rid of more")


@dataclass(frozen=True)
class SmoothedPolicy:
    """Where in the window torques and forces tell best."""

    nodes: int = param(4, "before the head: measurements on both sides tell them")


@dataclass(frozen=True)
class LegWeightPolicy:
    """When the torques of the legs tell that a load was put on or taken off."""

    now: int = param(20, "over which what the legs carry is compared, in two halves")
    before: int = param(200, "with which it is compared")
    fewest: int = param(40, "of these")
    share: float = param(0.08, "of the weight by which either half must differ: steps do by 0.05")
    growth: float = param(0.3, "share of the difference by which the halves may differ: hands pull")
    gait: float = param(0.05, "share of the weight by which they do from step to step")


@dataclass(frozen=True)
class SolverPolicy:
    """Effort of the solver while the window slides."""

    reach: float = param(
        1e-3,
        "change of velocity within which a node's derivatives are kept, of positions in one step",
        "m/s, rad/s",
    )
    settled: float = param(
        10.0,
        "rest of the cost, in chi-square / 2 of all rows of the window, for which no further "
        "iteration is taken: the next node brings one",
    )


@dataclass(frozen=True)
class LoadPlacePolicy:
    """When the link whose inertia is estimated cannot be the one that carries a load."""

    mass: float = param(0.1, "least load that has a place, as a share of the link's own mass")
    far: float = param(2.0, "from the link's centre of mass: radii of gyration; a box has 1.7")
    reach: float = param(0.2, "and so far at least: a hand holds things before it", "m")
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
class NoiseLevelsPolicy:
    """How the levels of noise follow what is seen."""

    every: int = param(5, "nodes from one look at the residuals to the next")
    gain: float = param(0.05, "share of a look in the logarithm of a level: a second")
    slow_gain: float = param(0.005, "the same of levels that a payload disturbs: ten seconds")
    first: int = param(3, "looks that the configuration is worth at the start")
    outlier: float = param(25.0, "largest square that counts")
    least: float = param(0.3, "smallest ratio of variances that a look can show")
    uneven: float = param(0.1, "unevenness of ground on which errors that last are not looked for")
    looks_back: int = param(2, "looks whose errors are compared with those of the present one")
    worth_saying: float = param(1.5, "factor that the status mentions")


@dataclass(frozen=True)
class IntervalPolicy:
    """What the posterior does not know: its noise is white, errors of the model are not.

    One set of numbers for all robots and grounds, from recorded walks of Go1, Go2 and G1.
    """

    shock: float = param(
        2e-3, "variance of the velocity after a jump of the specific force, per jump", "m s"
    )
    shock_decay: float = param(0.7, "of such a jump's mark on the contact forces, per node")
    soft: float = param(
        2.5e-3, "velocity by creep of feet on soft ground, per logarithm of its compliance", "m/s"
    )
    tilt: float = param(0.8e-3, "deviation of roll and pitch by creep of all feet", "rad")
    tilt_uneven: float = param(1.9e-3, "the same where no floor tells them", "rad")
    heading: float = param(0.5e-3, "of the heading", "rad")
    place: float = param(0.2e-3, "of the position", "m")
    place_uneven: float = param(0.35e-3, "the same on uneven ground", "m")
    memory: float = param(2.0, "time over which ground that was uneven still counts as such", "s")


@dataclass(frozen=True)
class ImuClockPolicy:
    """When the stamps of an IMU are late against those of the joints."""

    load: float = param(0.1, "share of the weight that a foot which stands carries at least")
    felt: float = param(0.3, "share of gravity below which the robot falls, and nothing stands")
    fastest: float = param(0.3, "motion of two feet against each other: one of them swings", "m/s")
    slip: float = param(0.02, "the same above which their weight fades", "m/s")
    iterations: int = param(8, "of the weights")
    nodes: int = param(500, "newest ones that tell")
    pairs: int = param(150, "of standing feet that a look needs")
    every: int = param(25, "nodes from one look to the next")
    looks: int = param(2, "in a row that must agree")
    least: float = param(0.0015, "delay below which stamps are as good as those of the joints", "s")
    rest: float = param(0.0005, "the same of what is left, once one is known", "s")
    most: float = param(0.03, "above which its effect is not linear", "s")
    certain: float = param(6.0, "standard deviations that a delay must have")
    gain: float = param(
        0.15,
        "share of the squares that it must explain: walks of Go1, Go2, G1, A1 and Mini Cheetah "
        "whose clocks agree show up to 0.06 by other causes",
    )


@dataclass(frozen=True)
class JointFitPolicy:
    """When joint losses of the YAML are given up."""

    held: float = param(0.002, "their prior's width while they are held, of its own")
    every: int = param(40, "nodes from one look to the next")
    most: int = param(1000, "nodes that tell: with time any data tell some difference")
    fall: float = param(
        0.8,
        "fall of the cost by each node: where the YAML is right up to 0.4, with a load in the "
        "hands of a G1 0.6, three looks in a row; 2 to 4 with none or twice of its losses",
    )
    looks: int = param(3, "in a row that must agree")


GROUND = GroundPolicy()
AGREEMENT = AgreementPolicy()
TERRAIN = TerrainPolicy()
SOLE = SolePolicy()
INTERVAL = IntervalPolicy()
CONSISTENCY = ConsistencyPolicy()
LIFT = LiftPolicy()
ACTIVITY = ActivityPolicy()
STANCE = StancePolicy()
SUPPORT = SupportPolicy()
PAYLOAD = PayloadPolicy()
SMOOTHED = SmoothedPolicy()
LEG_WEIGHT = LegWeightPolicy()
SOLVER = SolverPolicy()
PUSH = PushPolicy()
LOAD_PLACE = LoadPlacePolicy()
LIMB_LOAD = LimbLoadPolicy()
NOISE_LEVELS = NoiseLevelsPolicy()
IMU_CLOCK = ImuClockPolicy()
JOINT_FIT = JointFitPolicy()
