# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The yardstick: runs a contact-aided invariant EKF on a recorded bag.

    python benchmarks/contact_ekf.py BAG --robot go2 [--no-mocap] [--published] --out OUT.mcap

OUT holds /prime/odometry (100 Hz) and the sensors' joint states as /prime/joint_states; `prime
evaluate OUT BAG` scores it. Without torque contact is what flags or foot force sensors say.
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
from missing_readings import complete

from prime_estimation.config.parameters import Config
from prime_estimation.errors import DataError, PrimeError
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.io.messages import MessageReader
from prime_estimation.io.to_messages import header, odometry
from prime_estimation.io.topics import find_sensor_topics
from prime_estimation.robot import GRAVITY, Robot
from prime_estimation.sensors.contact_flags import FlagSample
from prime_estimation.types import ImuSample, JointSample, PoseSample, Sample

# Chosen on the real logs that `real_logs.py` scores: flags there come 40 ms before the feet stand,
# feet slip and give way, and with the gyro bias of the noise files slipping feet turn the robot
ON_MACHINES = Tuning(
    accelerometer_model=1.0,
    slip=0.01,
    foot_position=0.005,
    foot_rate=0.05,
    touchdown=0.03,
    touchdown_gain=40.0,
    gyro_bias=5e-4,
    gyro_bias_walk=1e-5,
)

START_NS = 200_000_000  # of IMU data for the first orientation
PERIOD_NS = 10_000_000  # of the output
SENSORS = ("joint_states", "imu", "joint_commands", "contact_flags", "foot_force")


class Runner:
    """Feeds the filter in the order of time.

    A joint sample waits for the IMU sample that reaches its stamp. Until contact flags say for the
    first time that a foot stands, the robot lies still.
    """

    def __init__(self, robot: Robot, config: Config, tuning: Tuning = Tuning()):
        self.ekf = ContactEkf(Legs(robot), config.noise, tuning)
        self._first: list[ImuSample] = []
        self._joints: deque[JointSample] = deque()
        self._flags: deque[FlagSample] = deque()
        self._stands: np.ndarray | None = None  # by the newest flags; None: torques tell
        self._stood = False
        self._joint_ns: int | None = None
        self._next_ns = 0
        self._placed = False

    def run(self, samples: Iterable[Sample]) -> Iterator[Odometry]:
        """Odometry, one per `PERIOD_NS`, from samples in order of arrival."""
        for sample in samples:
            if isinstance(sample, JointSample):
                self._joints.append(sample)
            elif isinstance(sample, FlagSample):
                self._flags.append(sample)
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
            dt = 0.0 if self._joint_ns is None else (joint.stamp_ns - self._joint_ns) * 1e-9
            self._heed_flags(joint.stamp_ns)
            if self._stood or self._stands is None:
                self.ekf.legs_update(joint, dt, self._stands)
            else:
                self.ekf.rest_update()
            self._joint_ns = joint.stamp_ns

    def _heed_flags(self, stamp_ns: int) -> None:
        while self._flags and self._flags[0].stamp_ns <= stamp_ns:
            self._stands = self._flags.popleft().stands > 0.5
            self._stood |= bool(self._stands.any())

    def _mocap(self, sample: PoseSample) -> None:
        if self.ekf.stamp_ns is None:
            return
        if not self._placed:
            self.ekf.mocap_start(sample)
            self._placed = True
        self.ekf.mocap_update(sample)


def read_samples(bag: str | Path, robot: Robot, mocap: bool) -> list[Sample]:
    """Sensor samples of a bag in order of arrival, with what it lacks made of what it has.

    DataError without joint states or IMU, or without anything that tells contact.
    """
    with BagReader(bag) as reader:
        topics = find_sensor_topics(
            reader.topics, roles=[*SENSORS, "mocap"] if mocap else list(SENSORS)
        )
        if missing := {"joint_states", "imu"} - set(topics):
            raise DataError(
                f"{bag} has no {' and no '.join(sorted(missing))}: the filter needs both", bag
            )
        roles = {topic: role for role, topic in topics.items()}
        messages = MessageReader(robot.joint_names, feet=robot.feet)
        samples = [
            messages.sample(roles[topic], message, arrival)
            for topic, arrival, message in reader.messages(roles)
        ]
        messages.check_joints_seen()
    return complete((s for s in samples if s is not None), robot)


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
                effort = np.empty(0) if s.effort is None else s.effort
                joints = make("sensor_msgs/msg/JointState")(
                    **fields, velocity=s.velocity, effort=effort
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
