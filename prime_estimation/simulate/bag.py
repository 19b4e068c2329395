# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Bag of a simulated run: readings and truth in a rosbag2 folder (MCAP, zstd chunks)."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

import numpy as np
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from ..config.parameters import NoiseConfig
from .recording import Recording
from .sensors import Readings

# start of every simulated run; a fixed one keeps runs reproducible
EPOCH_NS = 1_700_000_000_000_000_000
TRUTH_RATE = 250.0  # Hz
WORLD = "world"


class _Messages:
    """Builds messages of the standard types."""

    def __init__(self):
        self.store = get_typestore(Stores.ROS2_JAZZY)

    def __call__(self, kind: str, /, **fields):
        return self.store.types[kind](**fields)

    def header(self, stamp_ns: int, frame: str):
        seconds, rest = divmod(stamp_ns, 1_000_000_000)
        return self(
            "std_msgs/msg/Header",
            stamp=self("builtin_interfaces/msg/Time", sec=seconds, nanosec=rest),
            frame_id=frame,
        )

    def vector(self, v, kind: str = "Vector3"):
        return self(f"geometry_msgs/msg/{kind}", x=float(v[0]), y=float(v[1]), z=float(v[2]))

    def pose(self, position, quat):
        x, y, z, w = (float(c) for c in quat)
        orientation = self("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)
        return self(
            "geometry_msgs/msg/Pose",
            position=self.vector(position, "Point"),
            orientation=orientation,
        )

    def joints(self, stamp_ns: int, names: list[str], position, velocity, effort):
        fields = dict(
            position=np.array(position), velocity=np.array(velocity), effort=np.array(effort)
        )
        return self(
            "sensor_msgs/msg/JointState", header=self.header(stamp_ns, ""), name=names, **fields
        )


def write(out: Path, recording: Recording, readings: Readings, noise: NoiseConfig) -> None:
    """Write the bag folder `out`.

    Messages are in order of their bag time (arrival for motion capture).
    """
    build = _Messages()
    writer = Writer(out, version=Writer.VERSION_LATEST, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    streams = [_joints, _imu, _mocap, _truth]
    entries = [entry for stream in streams for entry in stream(build, recording, readings, noise)]
    entries.sort(key=lambda entry: entry[0])
    connections = {}
    with writer:
        for time, topic, message in entries:
            if topic not in connections:
                connections[topic] = writer.add_connection(
                    topic, message.__msgtype__, typestore=build.store
                )
            writer.write(
                connections[topic], time, build.store.serialize_cdr(message, message.__msgtype__)
            )


def _ns(t: float) -> int:
    return EPOCH_NS + int(round(t * 1e9))


Entry = tuple[int, str, object]


def _joints(
    build: _Messages, recording: Recording, readings: Readings, noise: NoiseConfig
) -> Iterator[Entry]:
    names = recording.robot.joint_names
    for t, *values in zip(readings.t, readings.position, readings.velocity, readings.effort):
        yield _ns(t), "/joint_states", build.joints(_ns(t), names, *values)


def _imu(
    build: _Messages, recording: Recording, readings: Readings, noise: NoiseConfig
) -> Iterator[Entry]:
    if recording.robot.imu_joint is None:
        return
    # no orientation estimate, in the words of sensor_msgs/Imu
    absent = np.array([-1.0] + [0.0] * 8)
    level = build("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0)
    gyro, force = (np.diag([s**2] * 3).ravel() for s in (noise.gyro, noise.accelerometer))
    for t, w, a in zip(readings.t, readings.gyro, readings.accelerometer):
        yield (
            _ns(t),
            "/imu",
            build(
                "sensor_msgs/msg/Imu",
                header=build.header(_ns(t), recording.robot.config.imu_frame),
                orientation=level,
                orientation_covariance=absent,
                angular_velocity=build.vector(w),
                angular_velocity_covariance=gyro,
                linear_acceleration=build.vector(a),
                linear_acceleration_covariance=force,
            ),
        )


def _mocap(
    build: _Messages, recording: Recording, readings: Readings, noise: NoiseConfig
) -> Iterator[Entry]:
    for t, arrival, p, quat in zip(
        readings.mocap_t, readings.mocap_arrival, readings.mocap_position, readings.mocap_quat
    ):
        header = build.header(_ns(t), WORLD)
        yield (
            _ns(arrival),
            "/mocap/pose",
            build("geometry_msgs/msg/PoseStamped", header=header, pose=build.pose(p, quat)),
        )


def _truth(
    build: _Messages, recording: Recording, readings: Readings, noise: NoiseConfig
) -> Iterator[Entry]:
    robot, every = recording.robot, round(1 / (TRUTH_RATE * recording.dt))
    unknown = np.zeros(36)
    feet, force, moment = foot_wrenches(recording, every)
    for k, i in enumerate(range(0, len(recording.t), every)):
        time, q, v = _ns(recording.t[i]), recording.q[i], recording.v[i]
        twist = build(
            "geometry_msgs/msg/Twist", linear=build.vector(v[:3]), angular=build.vector(v[3:6])
        )
        yield (
            time,
            "/ground_truth/odom",
            build(
                "nav_msgs/msg/Odometry",
                header=build.header(time, WORLD),
                child_frame_id=robot.base_frame,
                pose=build(
                    "geometry_msgs/msg/PoseWithCovariance",
                    pose=build.pose(q[:3], q[3:7]),
                    covariance=unknown,
                ),
                twist=build(
                    "geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=unknown
                ),
            ),
        )
        yield (
            time,
            "/ground_truth/joint_states",
            build.joints(time, robot.joint_names, q[7:], v[6:], recording.tau_motor[i]),
        )
        middle = build.header(time + int(0.5e9 / TRUTH_RATE), WORLD)
        for j, foot in enumerate(feet):
            wrench = build(
                "geometry_msgs/msg/Wrench",
                force=build.vector(force[k, j]),
                torque=build.vector(moment[k, j]),
            )
            yield (
                time,
                f"/ground_truth/contacts/{foot}",
                build("geometry_msgs/msg/WrenchStamped", header=middle, wrench=wrench),
            )


def foot_wrenches(recording: Recording, every: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Feet, and mean force and moment of the ground on each over `every` steps (n, feet, 3).

    A foot has the name that its contacts have in the output: what stands before the corner.
    """
    of_contact = [c.name.partition("/")[0] for c in recording.robot.contacts]
    feet = list(dict.fromkeys(of_contact))
    starts = np.arange(0, len(recording.t), every)
    counts = np.diff([*starts, len(recording.t)])[:, None, None]
    sums = [
        np.add.reduceat(x, starts) / counts
        for x in (recording.contact_force, recording.contact_moment)
    ]
    per_foot = [
        np.stack([s[:, [name == f for name in of_contact]].sum(axis=1) for f in feet], axis=1)
        for s in sums
    ]
    return feet, *per_foot
