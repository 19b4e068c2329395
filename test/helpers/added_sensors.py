# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Sensors that a recording does not have, made from its ground truth, in a copy of it."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import stamp_ns
from prime_estimation.io.to_messages import header

Make = Callable[[str], Callable]
KEPT = ("/joint_states", "/imu", "/ground_truth/odom")
Event = tuple[int, str, object]  # arrival [ns], topic, message


def copy_with(
    source: Path,
    target: Path,
    added: Iterable,
    change=lambda topic, m: m,
    longest: float = np.inf,
) -> Path:
    """A bag with joint states, IMU and ground truth of another and added messages, in order
    of arrival.

    Args:
        source, target: bags.
        added: functions from (source, make) to events.
        change: of (topic, message), gives the message that is written instead; None: none.
        longest: seconds of the beginning that are copied.
    """
    end = None
    with BagReader(source) as bag, BagWriter(target) as writer:
        kept = [t for t in bag.topics if t in KEPT or t.startswith("/ground_truth/contacts/")]
        own: Iterator[Event] = ((arrival, topic, m) for topic, arrival, m in bag.messages(kept))
        more = [sorted(of(source, writer.message_class), key=lambda e: e[0]) for of in added]
        for arrival, topic, message in heapq.merge(own, *more, key=lambda e: e[0]):
            end = end or arrival + 1e9 * longest
            if arrival > end:
                break
            if (changed := change(topic, message)) is not None:
                writer.write(topic, arrival, changed)
    return target


def without_effort(topic: str, message):
    """Messages of a robot that does not measure torque."""
    if topic != "/joint_states":
        return message
    return dataclasses.replace(message, effort=np.zeros(0))


@dataclass
class FootForceSensor:
    """Counts of foot force sensors with gains and offsets of their own.

    Attributes:
        feet: names. gain: (nf,) counts per newton. offset: (nf,) counts. noise: counts.
    """

    feet: list[str]
    gain: np.ndarray
    offset: np.ndarray
    noise: float = 1.0
    seed: int = 0

    @classmethod
    def drawn(cls, feet: list[str], seed: int) -> FootForceSensor:
        """One with random gain and offset."""
        rng = np.random.default_rng(seed)
        common = np.exp(rng.uniform(np.log(0.3), np.log(3.0)))
        gain = common * rng.uniform(0.8, 1.2, len(feet))
        return cls(list(feet), gain, rng.uniform(0.0, 100.0, len(feet)), seed=seed)

    def __call__(self, source: Path, make: Make) -> Iterator[Event]:
        """Messages of the whole run, every one with all feet."""
        rng = np.random.default_rng(self.seed)
        for stamp, force in vertical_forces(source, self.feet):
            counts = self.gain * force + self.offset + rng.normal(0.0, self.noise, len(force))
            message = make("prime_estimation_msgs/msg/FootForces")(
                header=header(make, stamp, ""), name=self.feet, force=np.round(counts)
            )
            yield stamp, "/foot_force", message


@dataclass
class ContactSwitches:
    """Contact flags of switches that are wrong now and then.

    Attributes:
        feet: names. wrong: share of wrong flags. least: N, that closes a switch.
    """

    feet: list[str]
    wrong: float = 0.03
    least: float = 5.0
    seed: int = 0

    def __call__(self, source: Path, make: Make) -> Iterator[Event]:
        """Messages of the whole run at 125 Hz, every one with all feet."""
        rng = np.random.default_rng(self.seed)
        for k, (stamp, force) in enumerate(vertical_forces(source, self.feet)):
            if k % 2 == 0:
                flags = (force > self.least) ^ (rng.random(len(force)) < self.wrong)
                message = make("prime_estimation_msgs/msg/FootForces")(
                    header=header(make, stamp, ""), name=self.feet, force=flags.astype(float)
                )
                yield stamp, "/contacts", message


def vertical_forces(source: Path, feet: list[str]) -> list[tuple[int, np.ndarray]]:
    """(stamp, true forces (nf,) [N]) of a run."""
    topics = {f"/ground_truth/contacts/{foot}": i for i, foot in enumerate(feet)}
    rows: dict[int, np.ndarray] = {}
    with BagReader(source) as bag:
        for topic, _, m in bag.messages(topics):
            row = rows.setdefault(stamp_ns(m.header), np.zeros(len(feet)))
            row[topics[topic]] = m.wrench.force.z
    return sorted(rows.items(), key=lambda row: row[0])


@dataclass
class LidarOdometry:
    """Odometry of a LiDAR in a frame of its own, which is late, drifts, drops out, and may jump.

    Attributes:
        rate: Hz. late: s. drift: error of distances, as a share of them. turn: random walk of
            its heading per root of a metre [rad]. dropouts: share of readings that do not come.
        noise: standard deviations of a pose [m, rad]. jump: (after s, by m).
    """

    rate: float = 10.0
    late: float = 0.1
    drift: float = 0.01
    turn: float = np.deg2rad(0.02)
    dropouts: float = 0.2
    noise: tuple[float, float] = (0.01, 0.003)
    jump: tuple[float, float] = (np.inf, 1.0)
    seed: int = 1

    def readings(self, source: Path) -> Iterator[tuple[int, pin.SE3]]:
        """(stamp, pose) of the readings that come."""
        rng = np.random.default_rng(self.seed)
        pose = pin.SE3(pin.exp3(np.array([0.0, 0.0, 0.7])), np.array([3.0, -2.0, 0.5]))
        first = last = None
        for stamp, here in true_poses(source):
            first = first or stamp
            if last is not None and stamp - last[0] < 1e9 / self.rate:
                continue
            if last is not None:
                moved = last[1].actInv(here)
                walked = np.linalg.norm(moved.translation)
                turned = pin.exp3(np.array([0.0, 0.0, rng.normal(0.0, self.turn * walked**0.5)]))
                moved = pin.SE3(moved.rotation @ turned, moved.translation * (1.0 + self.drift))
                pose = pose * moved
            last = stamp, here
            jumped = np.array([self.jump[1] * (1e-9 * (stamp - first) > self.jump[0]), 0.0, 0.0])
            blurred = pin.exp6(rng.normal(size=6) * np.repeat(self.noise, 3))
            seen = pin.SE3(np.eye(3), jumped) * pose * blurred
            if rng.random() >= self.dropouts:
                yield stamp, seen

    def __call__(self, source: Path, make: Make) -> Iterator[Event]:
        """Messages of the whole run, without velocity."""
        variances = np.repeat(np.square(self.noise), 3)
        for stamp, seen in self.readings(source):
            message = odometry_message(make, stamp, seen, variances)
            yield stamp + round(1e9 * self.late), "/odometry/external", message


def odometry_message(make: Make, stamp: int, pose: pin.SE3, variances: np.ndarray):
    """nav_msgs/Odometry of a pose, whose velocity is not known."""
    unknown = np.full(36, -1.0)
    point, quat = pose.translation, pin.Quaternion(pose.rotation).coeffs()
    geometry = {n: make(f"geometry_msgs/msg/{n}") for n in _GEOMETRY}
    zero = geometry["Vector3"](x=0.0, y=0.0, z=0.0)
    return make("nav_msgs/msg/Odometry")(
        header=header(make, stamp, "lidar_odom"),
        child_frame_id="base",
        pose=geometry["PoseWithCovariance"](
            pose=geometry["Pose"](
                position=geometry["Point"](**dict(zip("xyz", map(float, point)))),
                orientation=geometry["Quaternion"](**dict(zip("xyzw", map(float, quat)))),
            ),
            covariance=np.diag(variances).ravel(),
        ),
        twist=geometry["TwistWithCovariance"](
            twist=geometry["Twist"](linear=zero, angular=zero), covariance=unknown
        ),
    )


_GEOMETRY = (
    "Point",
    "Pose",
    "PoseWithCovariance",
    "Quaternion",
    "Twist",
    "TwistWithCovariance",
    "Vector3",
)


def true_poses(source: Path) -> Iterator[tuple[int, pin.SE3]]:
    """(stamp, pose of the base in the world) of a simulated run."""
    with BagReader(source) as bag:
        for _, _, m in bag.messages(["/ground_truth/odom"]):
            yield stamp_ns(m.header), pose_of(m)


def pose_of(message) -> pin.SE3:
    """Pose in a nav_msgs/Odometry."""
    p, q = message.pose.pose.position, message.pose.pose.orientation
    rotation = pin.Quaternion(np.array([q.x, q.y, q.z, q.w])).toRotationMatrix()
    return pin.SE3(rotation, np.array([p.x, p.y, p.z]))
