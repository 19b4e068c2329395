# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The yardstick: runs a contact-aided invariant EKF on a recorded bag.

    python benchmarks/contact_ekf.py BAG --robot go2 [--no-mocap] [--published] --out OUT.mcap

OUT holds /prime/odometry (100 Hz) and the sensors' joint states as /prime/joint_states; `prime
evaluate OUT BAG` scores it.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from invariant_ekf import PUBLISHED, ContactEkf, Odometry, Tuning
from legs import Legs

from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError, PrimeError
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import MessageReader
from prime_estimation.io.to_messages import header, odometry
from prime_estimation.io.topics import find_sensor_topics
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.types import ImuSample, JointSample, PoseSample, Sample

START_NS = 200_000_000  # of IMU data for the first orientation
PERIOD_NS = 10_000_000  # of the output


class Runner:
    """Feeds the filter in the order of time.

    A joint sample waits for the IMU sample that reaches its stamp.
    """

    def __init__(self, robot: Robot, config: Config, tuning: Tuning = Tuning()):
        self.ekf = ContactEkf(Legs(robot), config.noise, tuning)
        self._first: list[ImuSample] = []
        self._joints: deque[JointSample] = deque()
        self._joint_ns: int | None = None
        self._next_ns = 0
        self._placed = False

    def run(self, samples: Iterable[Sample]) -> Iterator[Odometry]:
        """Odometry, one per `PERIOD_NS`, from samples in order of arrival."""
        for sample in samples:
            if isinstance(sample, JointSample):
                self._joints.append(sample)
            elif isinstance(sample, PoseSample):
                self._mocap(sample)
            elif isinstance(sample, ImuSample) and self._started(sample):
                self._imu(sample)
                if sample.stamp_ns >= self._next_ns:
                    self._next_ns = sample.stamp_ns + PERIOD_NS
                    yield self.ekf.odometry()

    def _started(self, imu: ImuSample) -> bool:
        if self.ekf.stamp_ns is not None:
            return True
        self._first.append(imu)
        if imu.stamp_ns - self._first[0].stamp_ns < START_NS or not self._joints:
            return False
        joint = self._joints.pop()
        self._joints.clear()
        still = np.array([0.0, 0.0, GRAVITY])
        self.ekf.start(
            self._first,
            self.ekf.legs.feet(joint.position, joint.velocity, joint.effort, np.zeros(3), still),
        )
        return True

    def _imu(self, sample: ImuSample) -> None:
        self.ekf.predict(sample)
        while self._joints and self._joints[0].stamp_ns <= sample.stamp_ns:
            joint = self._joints.popleft()
            self.ekf.legs_update(
                joint, 0.0 if self._joint_ns is None else (joint.stamp_ns - self._joint_ns) * 1e-9
            )
            self._joint_ns = joint.stamp_ns

    def _mocap(self, sample: PoseSample) -> None:
        if self.ekf.stamp_ns is None:
            return
        if not self._placed:
            self.ekf.mocap_start(sample)
            self._placed = True
        self.ekf.mocap_update(sample)


def read_samples(bag: str | Path, robot: Robot, mocap: bool) -> list[Sample]:
    """Sensor samples of a bag in order of arrival.

    DataError without joint states, torque or IMU.
    """
    with BagReader(bag) as reader:
        topics = find_sensor_topics(
            reader.topics, roles=["joint_states", "imu"] + (["mocap"] if mocap else [])
        )
        if missing := {"joint_states", "imu"} - set(topics):
            raise DataError(
                f"{bag} has no {' and no '.join(sorted(missing))}: the filter needs both", bag
            )
        roles = {topic: role for role, topic in topics.items()}
        messages = MessageReader(robot.joint_names)
        samples = [
            messages.sample(roles[topic], message, arrival)
            for topic, arrival, message in reader.messages(roles)
        ]
        messages.check_joints_seen()
    samples = [s for s in samples if s is not None]
    if any(
        isinstance(s, JointSample) and (s.velocity is None or s.effort is None) for s in samples
    ):
        raise DataError(
            f"{bag}: joint states need rate and torque (contact is judged from torque)", bag
        )
    return samples


def run_bag(
    bag: str | Path, robot_name: str, out: str | Path, mocap: bool = True, tuning: Tuning = Tuning()
) -> int:
    """Filter a bag into `out`; the number of odometry messages."""
    config = Config.load(robot_name)
    robot = Robot(config.robot)
    samples = read_samples(bag, robot, mocap)
    with BagWriter(out) as writer:
        make = writer.message_class
        outputs = [
            ("odometry", o.stamp_ns, odometry(make, o, "odom", "base"))
            for o in Runner(robot, config, tuning).run(samples)
        ]
        for s in samples:
            if isinstance(s, JointSample):
                fields = dict(
                    header=header(make, s.stamp_ns, ""), name=robot.joint_names, position=s.position
                )
                joints = make("sensor_msgs/msg/JointState")(
                    **fields, velocity=s.velocity, effort=s.effort
                )
                outputs.append(("joint_states", s.stamp_ns, joints))
        for topic, stamp, message in sorted(outputs, key=lambda o: o[1]):
            writer.write(f"/prime/{topic}", stamp, message)
    return sum(topic == "odometry" for topic, *_ in outputs)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bag")
    parser.add_argument("--robot", required=True)
    parser.add_argument("--no-mocap", action="store_true")
    parser.add_argument(
        "--published",
        action="store_true",
        help="foot positions only, as in the paper; default: joint rates as well",
    )
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    try:
        tuning = PUBLISHED if args.published else Tuning()
        print(
            f"{run_bag(args.bag, args.robot, args.out, not args.no_mocap, tuning)} odometry "
            f"messages in {args.out}"
        )
    except PrimeError as error:
        print(f"contact_ekf: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
