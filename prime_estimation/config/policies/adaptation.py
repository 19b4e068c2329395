# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Policies of adaptation: noise levels, the IMU's bias and clock, losses of the joints."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param


@dataclass(frozen=True)
class NoiseLevelsPolicy:
    """Adaptation of the levels of noise to what is seen."""

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
class GyroRestPolicy:
    """When a robot rests, so that its gyro reads its bias."""

    nodes: int = param(50, "for which it must")
    every: int = param(10, "nodes from one look to the next")
    joints: float = param(0.002, "by which a joint's position may differ in them", "rad")
    deviation: float = param(0.02, "of the gyro, most", "rad/s")
    drift: float = param(0.002, "between the means of their halves, most", "rad/s")
    most: float = param(20.0, "prior deviations of a bias; with more, the robot turns evenly")
    floor: float = param(0.0002, "least deviation of the mean: noise that is not white", "rad/s")
    worth: float = param(1.2, "deviation of a bias, by that of the mean, that gets renewed")
    contradicted: float = param(4.0, "deviations by which a bias may differ from the mean")


@dataclass(frozen=True)
class AccelerometerBiasPolicy:
    """When the accelerometer's bias makes the tilt doubtful."""

    most: float = param(
        3.0,
        "prior deviations of a bias that is the sensor's: on recorded walks, on any ground, up to "
        "2.6, of a machine whose gears are not the YAML's 3.2",
    )
    said: float = param(
        5e-3, "tilt above which the status says so: below, others of its errors are as large", "rad"
    )
    creep: float = param(
        2.0,
        "velocity by which feet creep the way a tilt that is wrong lets them, by that tilt: 1.5 to "
        "4 of Mini Cheetahs on five grounds, without and with the IMU's own orientation",
        "m/s/rad",
    )


@dataclass(frozen=True)
class ImuClockPolicy:
    """When the stamps of an IMU are late against those of the joints."""

    felt: float = param(0.3, "share of gravity below which the robot falls, and nothing stands")
    fastest: float = param(0.3, "motion of two feet against each other: one of them swings", "m/s")
    slip: float = param(0.02, "the same above which their weight fades", "m/s")
    sole: float = param(0.2, "length by which a sole that turns moves as a pair does", "m")
    iterations: int = param(8, "of the weights")
    nodes: int = param(500, "newest ones that tell")
    pairs: int = param(150, "of standing feet, or soles, that a look needs")
    every: int = param(25, "nodes from one look to the next")
    looks: int = param(2, "in a row that must agree")
    alike: float = param(0.3, "share of it by which each half of what was seen may differ")
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
class PoseClockPolicy:
    """When poses are late by more than a mount explains."""

    span: float = param(0.1, "over which turns are compared: longer than the noise of poses", "s")
    memory: float = param(3.0, "over which they are: so long no trot is even", "s")
    gap: float = param(0.5, "between poses, above which they say nothing", "s")
    every: int = param(50, "nodes from one look to the next")
    looks: int = param(2, "in a row that must agree")
    turns: float = param(0.1, "rate of turning, rms, below which nothing tells a delay", "rad/s")
    agreement: float = param(
        0.9, "correlation that tells a delay: 0.92 to 0.99 of simulated walks and a real A1"
    )
    in_time: float = param(0.6, "the same that tells that there is none")
    gain: float = param(0.2, "of it over that without delay")
    least: float = param(0.1, "delay below which the estimate finds it (`noise.mocap_delay`)", "s")
    alike: float = param(0.03, "by which two looks may differ", "s")
    most: float = param(0.6, "looked for", "s")
    outliers: int = param(10, "poses refused, after which the clock may have been set")


@dataclass(frozen=True)
class HoldPolicy:
    """When parameters that are held at the robot's YAML are looked at."""

    held: float = param(0.002, "their prior's width while they are held, of its own")
    every: int = param(40, "nodes from one look to the next")
    most: int = param(1000, "nodes that tell: with time any data tell some difference")
    looks: int = param(3, "in a row that must agree")


@dataclass(frozen=True)
class JointFitPolicy(HoldPolicy):
    """When joint losses of the YAML are given up."""

    fall: float = param(
        1.0,
        "fall of the cost by each node, three looks in a row: where the YAML is right up to 0.45, "
        "with a load in the hands of a G1 0.8; 1.5 with half of a G1's losses, 4 with none, 3.4 "
        "with offsets of 0.4 Nm",
    )
    commanded: float = param(
        2.0,
        "the same where torques are those commanded: what drives make of them looks like losses, "
        "0.3 to 1.2 on real Mini Cheetahs, whose mass it would make 2 % worse",
    )
    zeros: float = param(
        0.5,
        "the same of the encoders' zeros: up to 0.44 where they are right, on 37 recorded runs; "
        "0.6 and more where they are 3 to 5 mrad off, or legs are bent",
    )
    slipped: float = param(0.03, "deviation of the zero of an encoder that is not right", "rad")
    swings: float = param(0.02, "share of the weight below which a foot carries nothing")
    stands: int = param(100, "nodes for which no foot of a robot that walks carries all the time")


@dataclass(frozen=True)
class MountFitPolicy(HoldPolicy):
    """When a sensor is not mounted as the robot's YAML says."""

    fall: float = param(
        0.25,
        "fall of the cost by each node, three looks in a row: up to 0.13 where the mount is right, "
        "on any ground; 0.37 and more of a Go2 with IMU and markers 24 mrad and 2 cm off",
    )
    plain: float = param(
        1.5,
        "the same over all looks, from the second on: then they need not agree; up to 0.75 where "
        "the mount is right, 4 to 10 of a Go2 that turns with its markers at the head",
    )
    lever: float = param(
        0.02,
        "distance of an IMU from its place below which it is there: accelerations are means of "
        "steps, and touch-downs look like 12 mm on a right Go1, 15 on a right G1",
        "m",
    )
    alike: float = param(
        0.5, "share of what another explains, below which a mount is not what is wrong"
    )
    far: float = param(0.05, "distance of a tracked body from its place that begins anew", "m")
    credible: float = param(2.0, "deviations of the prior that a mount may be off")
    moved: float = param(
        0.5, "share of itself by which it has changed since the last look: it was not wrong before"
    )
    soft: float = param(0.5, "softness of ground on which feet that sink look like a turned IMU")


@dataclass(frozen=True)
class RateLagPolicy:
    """When joint rates lag the positions."""

    nodes: int = param(100, "over which they are compared")
    every: int = param(25, "from one look to the next")
    looks: int = param(2, "in a row that must tell it")
    moves: float = param(5.0, "acceleration of the joints, rms, below which nothing is", "rad/s2")
    least: float = param(
        3e-3,
        "lag that is none of sampling: up to 1 ms at 200 to 500 Hz and on real Mini Cheetahs, A1",
        "s",
    )
    gain: float = param(0.2, "share of the squares that it explains: 0.02 of noise, 0.1 at 50 Hz")


@dataclass(frozen=True)
class ImuAxesPolicy:
    """When the IMU's axes are not those of the model."""

    swings: float = param(0.1, "motion of two feet whatever the axes: one of them swings", "m/s")
    slip: float = param(0.03, "motion of two feet that stand", "m/s")
    turns: float = param(0.1, "rate of the IMU below which nothing tells it", "rad/s")
    pairs: int = param(150, "of feet that it takes")
    soon: int = param(150, "nodes that turn, for which others wait until it is told")
    nodes: int = param(3000, "that turn, after which nothing will tell it")
    margin: float = param(
        0.25,
        "mean loss by which the right axes are better than all others: 0.3 to 0.7 of walks after "
        "one second",
    )


@dataclass(frozen=True)
class OppositePolicy:
    """When a gyro has the opposite sign, or left and right legs are exchanged."""

    slip: float = param(0.05, "motion against each other of two feet that stand", "m/s")
    turn: float = param(0.15, "turning of a sole that stands", "rad/s")
    sole: float = param(0.3, "share of the weight that such a sole carries")
    told: float = param(20.0, "nodes that tell a mistake apart, which it takes")
    margin: float = param(
        0.4,
        "mean loss by which what was read is better, or worse: 0.5 to 0.8 of simulated walks of "
        "Go1, Go2, G1 and of a real A1, on any ground",
    )
    memory: float = param(100.0, "of these nodes: what was wrong may be mended")
    nodes: int = param(600, "that turn, after which nothing will tell it")
    mirrored: float = param(0.4, "share of their distance by which feet are no mirror images")


@dataclass(frozen=True)
class BodyTurnPolicy:
    """When motion capture's body is turned on the base against any mount."""

    span: float = param(0.1, "between poses that are compared: longer than their noise", "s")
    memory: float = param(2.0, "over which they are", "s")
    nodes: int = param(100, "for which gyro and poses are kept: late ones find theirs")
    left: float = param(0.5, "share of all that turned, above which one turn does not explain it")
    known: float = param(0.15, "deviation from which on a turn is known", "rad")
    angle: float = param(0.35, "turn that is no error of a mount", "rad")


GYRO_REST = GyroRestPolicy()
ACCELEROMETER_BIAS = AccelerometerBiasPolicy()
NOISE_LEVELS = NoiseLevelsPolicy()
IMU_CLOCK = ImuClockPolicy()
POSE_CLOCK = PoseClockPolicy()
JOINT_FIT = JointFitPolicy()
MOUNT_FIT = MountFitPolicy()
BODY_TURN = BodyTurnPolicy()
IMU_AXES = ImuAxesPolicy()
OPPOSITE = OppositePolicy()
RATE_LAG = RateLagPolicy()
