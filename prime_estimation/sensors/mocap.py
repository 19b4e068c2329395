# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motion capture: pose of the tracked body, of geometry_msgs/PoseStamped."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..declaration import param
from ..types import PoseSample
from .message_fields import finite, quaternion, vector
from .mocap_mount import DELAY, NAME, POSITION, WORLD
from .pose_gate import PoseGate
from .sensor import Alignment, Block, Role, Sensor, Wearer, check_arrays
from .tracker import EstimationProblem

# half of what a trotting trunk accelerates, rms: what is left of its way and turn over a delay that
# is taken back at its present velocity
SWAY, ROLL = 0.75, 2.0  # m/s^2, rad/s^2


def delayed(noise, delay: float):
    """Section `noise` of motion capture whose poses are late [s], and taken back to their time."""
    return replace(
        noise,
        mocap_position=math.hypot(noise.mocap_position, SWAY * delay**2),
        mocap_rotation=math.hypot(noise.mocap_rotation, ROLL * delay**2),
    )


class Mocap(Sensor):
    """Poses of the tracked body, each given to the node in whose past step it was taken.

    A constant rotation between base and tracked body is a parameter; where data contradict them,
    its place in the base, the clock of the stamps, and that the world is level are, too.
    """

    name = "mocap"
    sample = PoseSample
    role = Role(
        ("geometry_msgs/msg/PoseStamped",),
        ("mocap/pose",),
        ("goal", "target", "desired", "command", "cmd"),
    )
    alignment = Alignment.EVENTS
    residuals = ("mocap", "mocap")  # up to two poses in a step
    optional = True
    innovations = ("mocap",)

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of one pose, of the tracked body's mount, of clock and world."""

        mocap_position: float = param(
            0.001, "motion capture, position", "m", 1e-6, 1.0, tunable=True
        )
        mocap_rotation: float = param(
            0.00873, "motion capture, rotation", "rad", 1e-6, 1.0, tunable=True
        )
        mocap_offset: float = param(
            0.02,
            "unknown constant rotation between tracked body and base, about its vertical",
            "rad",
            0.0,
            1.0,
        )
        mocap_lean: float = param(
            0.05, "and about its horizontal axes, which gravity tells", "rad", 0.0, 1.0
        )
        mocap_lever: float = param(
            0.2,
            "unknown place of the tracked body in the base, once data contradict the model's",
            "m",
            1e-4,
            1.0,
        )
        mocap_delay: float = param(
            0.05, "unknown lateness of its stamps, once data contradict them", "s", 1e-5, 1.0
        )
        mocap_tilt: float = param(
            0.02,
            "unknown tilt of its world, once data contradict that it is level",
            "rad",
            1e-5,
            1.0,
        )

    def values(self, sample: PoseSample) -> np.ndarray:
        """Position and quaternion; a quaternion of zeros is none."""
        check_arrays(NAME, sample, position_world=3, quat_world_body=4)
        known = sample.quat_world_body.any()
        return np.concatenate(
            [sample.position_world, sample.quat_world_body if known else [np.nan]]
        )

    def read(self, message, stamp_ns: int, arrival_ns: int, wearer: Wearer) -> PoseSample:
        """Pose of a message."""
        quat = quaternion(message.pose.orientation)
        if quat is None:
            raise ValueError("orientation is no unit quaternion")
        return PoseSample(
            stamp_ns, *finite(vector(message.pose.position)), quat, arrival_ns or stamp_ns
        )

    def blocks(self, noise, wearer: Wearer) -> dict[str, Block]:
        """Mounting of the tracked body."""
        return {
            NAME: Block(np.array([noise.mocap_lean] * 2 + [noise.mocap_offset])),
            POSITION: Block(noise.mocap_lever, lasting=True),
            DELAY: Block(noise.mocap_delay, lasting=True),
            WORLD: Block(noise.mocap_tilt, lasting=True),
        }

    def gate(self, problem: EstimationProblem) -> PoseGate:
        """Refuses poses that lie where the robot cannot be."""
        return PoseGate(problem)

    def give_event(self, given, slot: int, sample: PoseSample, stamp_ns: int, noise) -> None:
        """A pose, and how long before the node it was taken."""
        x, y, z, w = sample.quat_world_body.tolist()
        norm = math.sqrt(x * x + y * y + z * z + w * w)
        quat = x / norm, y / norm, z / norm, w / norm
        weight = [1.0 / noise.mocap_position] * 3 + [1.0 / noise.mocap_rotation] * 3
        age = 1e-9 * (stamp_ns - sample.stamp_ns)
        pose = np.array([*sample.position_world.tolist(), *quat])
        given.set("mocap", pose, np.array(weight), age, slot)
