# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Messages to samples. Duck-typed: works on the objects of rosbags, Cyclone DDS and rclpy alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pinocchio as pin

from ..errors import DataError
from ..sensors import SENSORS
from ..sensors.message_fields import finite, quaternion, vector
from ..sensors.sensor import Wearer
from ..types import CommandSample, ImuSample, JointSample, PoseSample, Sample
from .joint_order import JointOrder
from .topics import LOWSTATE
from .unitree import LowStateReader
from .unitree_commands import commanded

LOCKED_MOVED = "joint_states: a locked joint is not in its place"  # in MessageReader.counts
# joint messages without all joints before the first good one, until it is an error and not another
# publisher
_PATIENCE = 50


def stamp_ns(header) -> int:
    """Stamp of a std_msgs/Header [ns]."""
    return int(header.stamp.sec) * 1_000_000_000 + int(header.stamp.nanosec)


class MessageReader:
    """Turns sensor messages into samples of one robot and counts what it refuses.

    Attributes:
        counts: number of messages with something wrong, by `<sensor>: <reason>`.
        refused, reason: number of messages that gave no sample, and why the last one did not.
        refused_of: the same number by role.
        imu_late_ns: taken off the stamps of the IMU. mocap_late_ns: of motion capture.
        trouble: what the newest joint message contradicts of the model; empty when nothing.

    Args:
        joint_names: `Robot.joint_names`.
        locked: position [rad] at which the model holds further joints
            (`RobotConfig.locked_joints`).
        feet: `Robot.feet`.
        lowstate: splits Unitree's raw messages, where there are some.
        optional: optional sensors that are read of these, beside joints and IMU.
        zeros: (nj,) reading minus true position [rad] (`Robot.joint_zeros`).
        tracked_body: quaternion xyzw and position [m] of motion capture's body in the base.
        mocap_delay: by which stamps of motion capture are late [s]: taken off them.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        locked: Mapping[str, float] | None = None,
        feet: Sequence[str] = (),
        lowstate: LowStateReader | None = None,
        optional: Collection[str] = (),
        zeros: np.ndarray | None = None,
        tracked_body: tuple[np.ndarray, np.ndarray] | None = None,
        mocap_delay: float = 0.0,
    ):
        self._zeros, self._tracked_body = zeros, tracked_body
        self.mocap_late_ns = round(1e9 * mocap_delay)
        self._in_raw = {"joint_states", "imu", *optional}
        self._wanted, self._locked = list(joint_names), dict(locked or {})
        self._wearer, self.lowstate = Wearer(tuple(joint_names), tuple(feet), 0.0), lowstate
        self.trouble, self.imu_late_ns = "", 0
        self._orders: dict[tuple, JointOrder | DataError] = {}
        self._joints_seen = False
        self.counts: Counter[str] = Counter()
        self.refused, self.reason = 0, ""
        self.refused_of: Counter[str] = Counter()
        self._convert = {
            "joint_states": self._joints,
            "joint_commands": self._commands,
            "imu": self._imu,
        }
        for sensor in SENSORS:
            if sensor.optional:
                self._convert[sensor.name] = partial(sensor.read, wearer=self._wearer)
        if tracked_body is not None or mocap_delay:
            self._convert["mocap"] = partial(self._mocap, self._convert["mocap"])

    def samples(
        self, role: str, message, arrival_ns: int = 0, without: Collection[str] = ()
    ) -> list[Sample]:
        """Samples of a message; Unitree's raw one (role `lowstate`) holds several.

        Args:
            role: of the topic.
            message: as it came.
            arrival_ns: when it came.
            without: roles that are not read of a raw message, because another topic gives them.
        """
        if role != LOWSTATE:
            sample = self.sample(role, message, arrival_ns)
            return [] if sample is None else [sample]
        parts = self.lowstate.read(message, arrival_ns, self._in_raw.difference(without))
        if self.lowstate.counts:
            self.refused, self.reason = self.refused + 1, ", ".join(self.lowstate.counts)
            self.counts.update(self.lowstate.counts)
            self.lowstate.counts.clear()
        read = [self.sample(r, part, arrival_ns) for r, part in parts.items()]
        return [sample for sample in read if sample is not None]

    def sample(self, role: str, message, arrival_ns: int = 0) -> Sample | None:
        """Sample of a message of the given role (`io.topics.ROLES`).

        None when it is refused, see `counts`.

        Raises:
            DataError: no joint message so far holds all joints of the robot.
        """
        stamp = arrival_ns
        try:
            if hasattr(message, "gyroscope"):  # Unitree's IMUState, which has no stamp
                message = self.lowstate.secondary_imu(message, arrival_ns)
            if hasattr(message, "motor_cmd"):  # nor has its LowCmd
                message = commanded(message)
            elif (stamp := stamp_ns(message.header)) == 0:
                self.counts[f"{role}: no stamp, arrival time taken"] += 1
                stamp = arrival_ns
            elif stamp < 0:
                raise ValueError("negative stamp")
            return self._convert[role](message, stamp, arrival_ns)
        except ValueError as error:
            self.refuse(role, str(error))
            return None

    def refuse(self, role: str, reason: str) -> None:
        """Count a message that is refused before it is read."""
        self.counts[f"{role}: {reason}"] += 1
        self.refused, self.reason = self.refused + 1, reason
        self.refused_of[role] += 1

    def check_joints_seen(self) -> None:
        """Raise the reason when joint messages came, but none with all joints of the robot."""
        if not self._joints_seen:
            for order in self._orders.values():
                if isinstance(order, DataError):
                    raise order

    def _order(self, role: str, names) -> JointOrder:
        key = tuple(names)
        if key not in self._orders:
            try:
                self._orders[key] = JointOrder(self._wanted, key, self._locked)
            except DataError as error:
                self._orders[key] = error
        order = self._orders[key]
        if isinstance(order, DataError):
            reason = "not all joints of the robot"
            if not self._joints_seen and self.counts[f"{role}: {reason}"] + 1 >= _PATIENCE:
                raise order
            raise ValueError(reason)
        return order

    def _joints(self, message, stamp: int, _arrival: int) -> JointSample:
        order = self._order("joint_states", message.name)
        position = order.pick(message.position)
        if position is None:
            raise ValueError("no positions")
        if self._zeros is not None:
            position = position - self._zeros
        sample = JointSample(
            stamp, *finite(position, order.pick(message.velocity), order.pick(message.effort))
        )
        self._joints_seen = True
        unlocked = order.unlocked(message.position)
        self.trouble = ", ".join(unlocked)
        if unlocked:
            self.counts[LOCKED_MOVED] += 1
        return sample

    def _commands(self, message, stamp: int, _arrival: int) -> CommandSample:
        effort = self._order("joint_commands", message.name).pick(message.effort)
        if effort is None:
            raise ValueError("no efforts")
        return CommandSample(stamp, *finite(effort))

    def _mocap(self, read, message, stamp: int, arrival: int) -> PoseSample:
        """Pose of the base, from that of the tracked body, at the time when it was taken."""
        sample = read(message, stamp - self.mocap_late_ns, arrival or stamp)
        if self._tracked_body is None:
            return sample
        turn, place = self._tracked_body
        rotation = pin.Quaternion(sample.quat_world_body) * pin.Quaternion(turn).inverse()
        position = sample.position_world - rotation * place
        return replace(
            sample,
            position_world=position,
            quat_world_body=np.array(rotation.normalized().coeffs()),
        )

    def _imu(self, message, stamp: int, _arrival: int) -> ImuSample:
        quat = None
        if message.orientation_covariance[0] != -1.0:
            quat = quaternion(message.orientation)
            if quat is None and any(
                (
                    message.orientation.x,
                    message.orientation.y,
                    message.orientation.z,
                    message.orientation.w,
                )
            ):
                self.counts["imu: orientation is no unit quaternion, ignored"] += 1
        return ImuSample(
            stamp - self.imu_late_ns,
            *finite(vector(message.angular_velocity), vector(message.linear_acceleration)),
            quat,
        )
