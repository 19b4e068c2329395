# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Policies of the window: effort of the solver, consistency with the data, intervals."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param


@dataclass(frozen=True)
class SolverPolicy:
    """Effort of the solver while the window slides."""

    reach: float = param(
        2e-2,
        "change of velocity within which a node's derivatives are kept, of positions in one step: "
        "the estimate moves by some 0.05 mm/s",
        "m/s, rad/s",
    )
    settled: float = param(
        0.5556,
        "rest of the cost, in chi-square / 2 of all rows of the window by the robot's degrees of "
        "freedom, for which no further iteration is taken: the next node brings one",
    )


@dataclass(frozen=True)
class SmoothedPolicy:
    """Place in the window where torques and forces tell best."""

    nodes: int = param(4, "before the head: measurements on both sides tell them")


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
    longest_gap: float = param(
        60.0, "time without any data, after which a robot may be another one anywhere", "s"
    )


@dataclass(frozen=True)
class IntervalPolicy:
    """Uncertainty beside the posterior: its noise is white, errors of the model are not.

    One set of numbers for all robots and grounds, from recorded walks of Go1, Go2 and G1.
    """

    shock: float = param(
        2e-3, "variance of the velocity after a jump of the specific force, per jump", "m/s"
    )
    shock_decay: float = param(0.7, "of such a jump's mark on the contact forces, per node")
    force_change: float = param(
        0.06,
        "share that is not known of the second difference of a contact force: when within a node "
        "a foot lands or leaves",
    )
    force_slip: float = param(
        0.04, "of the force along the ground of a contact that slides, as a share of its load"
    )
    force_open: float = param(
        3e-3,
        "of the force of a contact that carries nothing, at least, as a share of the weight, and "
        "half of it along the ground: of simulated Go2 it errs by 4e-3 and 1.3e-3",
    )
    soft: float = param(
        2.5e-3, "velocity by creep of feet on soft ground, per logarithm of its compliance", "m/s"
    )
    tilt: float = param(
        1.0e-3, "deviation of roll and pitch by creep of all feet, and zeros of encoders", "rad"
    )
    tilt_uneven: float = param(1.9e-3, "the same where no floor tells them", "rad")
    tilt_tracked: float = param(1.3e-3, "the same there, where motion capture does", "rad")
    rest_rate: float = param(
        0.1, "of all joints below which dry friction holds a robot as nothing tells", "rad/s"
    )
    rest_lever: float = param(
        0.3, "by which dry friction of a resting joint changes what its leg carries", "m"
    )
    rest_arm: float = param(0.2, "distance of feet from the middle between them all", "m")
    rest_tilt: float = param(
        6e-3,
        "of roll and pitch there: dry friction of 0.2 Nm bends forces of feet by a hundredth of "
        "the weight, and the accelerometer's bias may be 5 mrad of it",
        "rad",
    )
    rest_memory: float = param(
        1.0,
        "time after a rest in which such a tilt, and the mass that it has taught in as much time, "
        "come right: what the window has learned of the accelerometer's bias outlasts it",
        "s",
    )
    start_tilt: float = param(
        5.5e-3,
        "of roll and pitch after a start in the middle of a walk off a floor: a foot of 20 mm that "
        "rolls over a slope of 0.15 that nothing tells comes up by a hundredth of its way",
        "rad",
    )
    start_tilt_felt: float = param(
        0.01, "the same without motion capture: what is felt while it walks tells the tilt", "rad"
    )
    start_memory: float = param(
        1.0, "time after such a start in which that comes right, over other slopes", "s"
    )
    start_sinking: float = param(
        0.06,
        "of the velocity after such a start without motion capture that makes the ground soft: "
        "feet that sink in look like a base that climbs less",
        "m/s",
    )
    start_on_hard: float = param(
        0.03,
        "the same where it makes the ground hard: a heavy robot that sinks in looks like one that "
        "walks downhill",
        "m/s",
    )
    start_sinking_memory: float = param(
        0.7, "time in which that comes right, with the first feet that land", "s"
    )
    tilt_soft: float = param(
        2.5e-3,
        "the same on soft ground, per unit by which that is more than uneven: feet that come up "
        "while they stand look like a robot that walks uphill",
        "rad",
    )
    landing_share: float = param(
        0.5,
        "of what landing feet that all sink alike would do to roll and pitch: with it, 95 % "
        "intervals of simulated Go1 and Go2 hold on stairs, a slope, and at a pace",
    )
    landing_way: float = param(
        0.03,
        "way of the base in a stance, on shorter ones of which feet tell the tilt less and less",
        "m",
    )
    landing_few: int = param(4, "touch-downs that do not sink, said to be before the first one")
    landing_steps: int = param(40, "touch-downs over which these are means")
    heading: float = param(1.0e-3, "of the heading", "rad")
    heading_soft: float = param(
        2.5e-3,
        "the same on soft ground, per unit by which that is more than uneven: feet that creep "
        "sideways look like a robot that walks askew",
        "rad",
    )
    untold_velocity: float = param(
        6e-3, "of the velocity where no torque tells which feet carry how much", "m/s"
    )
    untold_speed: float = param(
        0.08,
        "the same as a share of the speed, where no motion capture tells it either: flags of feet "
        "come early and go late, and legs are not quite those of the YAML. Of a real A1 at up to "
        "0.4 m/s 95 % intervals hold with it; without, they had held two thirds of the time",
    )
    untold_tilt: float = param(
        6e-3,
        "of roll and pitch there, and where torques are those commanded: only the accelerometer "
        "tells them, but for its bias",
        "rad",
    )
    untold_force: float = param(0.1, "of the force of a foot there, as a share of the weight")
    seldom_tilt: float = param(
        60.0,
        "of roll and pitch where joints and IMU are read seldom and nothing else tells them, per "
        "square of the shorter interval: what falls between samples is not white",
        "rad/s2",
    )
    often: float = param(2.5e-3, "interval between samples up to which that is nothing", "s")
    com: float = param(1e-3, "of a centre of mass, along the first two axes of its link", "m")
    com_height: float = param(
        3e-3, "and along the third one: only what the base accelerates and tilts tells it", "m"
    )
    tensor: float = param(
        0.2,
        "of each moment of inertia about it, as a share: the first two of simulated Go1, Go2 and "
        "G1 are off by 1 to 48 %, the third by 7 to 41 %",
    )
    mount_tilt: float = param(
        6e-3,
        "of the rotation of a robot whose sensors are not mounted as the YAML says: its legs are "
        "not the model's either",
        "rad",
    )
    mount_velocity: float = param(5e-3, "of its velocity", "m/s")
    mount_place: float = param(6e-3, "of its position", "m")
    unlike_torque: float = param(
        0.03,
        "of all torques alike, as a share, where losses of the joints or mounts are not the "
        "YAML's: then gains (3 %) need not be either, and gears may lose 5 % of what they carry",
    )
    unlike_tilt: float = param(
        3.2e-3, "of roll and pitch by zeros of the joints, where losses are not the YAML's", "rad"
    )
    unlike_com: float = param(4e-3, "of a centre of mass there, along each axis", "m")
    place: float = param(0.17e-3, "of the position", "m")
    place_uneven: float = param(0.29e-3, "the same on uneven ground", "m")
    place_poses: float = param(
        1e-4,
        "up to which that is so: deviation of the positions of motion capture, times the root of "
        "the time from one to the next",
        "m sqrt(s)",
    )
    place_memory: float = param(1.0, "time over which their number is a mean", "s")
    slip_usual: float = param(
        0.15, "share of the feet that carry and slide, mostly as they land or leave, on any ground"
    )
    slip_place: float = param(3.2e-3, "of the position, per share that slides beyond that", "m")
    slip_memory: float = param(1.0, "time over which that share is a mean", "s")
    elsewhere: float = param(
        8e-3, "of the velocity while links whose inertia is not estimated carry a load", "m/s"
    )
    elsewhere_place: float = param(0.3e-3, "of the position, then", "m")
    elsewhere_heading: float = param(
        12e-3,
        "of the heading, then: with motion capture 5 to 20 mrad with 1 to 2 kg in a hand of a G1",
        "rad",
    )
    hoist: float = param(
        0.1,
        "of the velocity of a robot that hangs, without motion capture: what a gantry does evenly, "
        "no IMU feels",
        "m/s",
    )
    tumble: float = param(
        0.25, "of one that falls: impacts are over between two readings of an IMU", "m/s"
    )
    fall: float = param(0.05, "of the velocity of a robot that falls, whatever measures it", "m/s")
    fall_place: float = param(2e-3, "of its position: half a millisecond of such a motion", "m")
    carried_force: float = param(
        0.05,
        "mean specific force that an IMU which carries odometry on does not tell: walks of Go1, "
        "Go2 and G1 have velocities off by 20 to 27 mm/s after 0.25 s, half of it stated without",
        "m/s2",
    )
    memory: float = param(2.0, "time over which ground that was uneven still counts as such", "s")


SOLVER = SolverPolicy()
SMOOTHED = SmoothedPolicy()
CONSISTENCY = ConsistencyPolicy()
INTERVAL = IntervalPolicy()
