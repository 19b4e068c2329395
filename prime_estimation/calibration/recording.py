# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recording as a kinematic calibration needs it: every sensor at the nodes, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..contact.detection import ContactFlags
from ..errors import DataError, RobotError
from ..io.bag import BagReader, named
from ..recordings.pipeline import Intake
from ..recordings.refusals import by_reason
from ..recordings.samples import samples_between
from ..recordings.topic_choice import choose_topics, lowstate_reader
from ..robot import Robot
from ..types import ImuSample, JointSample, Measurement, PoseSample
from .preintegration import Preintegration, preintegrate
from .resampling import changes, mean, part_means, white_noise

STEP = 0.01  # s between nodes
SHORTEST = 100  # nodes
LEAST_POSES = 10.0  # 1/s in the mean, of motion capture
# nodes after touch-down and before lift-off in which a foot moves still, or already
LANDING, LIFTING = 4, 2


@dataclass(frozen=True)
class MocapPoses:
    """Poses of the tracked body, each given to the node next to it.

    Attributes:
        node: (m,) index. age: (m,) time from the node to the pose [s].
        position: (m, 3) m. rotation: (m, 3, 3); both in the world of the motion capture.
        turn: (m, 3, 3) rotation of the IMU from the node to the pose.
        shift: (m, 3) what specific force moves it meanwhile, IMU axes at the node [m].
    """

    node: np.ndarray
    age: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    turn: np.ndarray
    shift: np.ndarray


@dataclass(frozen=True)
class KinematicRecording:
    """Signals at n nodes.

    Attributes:
        name: of the recording. step: between nodes [s]. stamps_ns: (n,).
        angle, rate: (n, nj) mean about the node, the former corrected for its curvature.
        gyro: (n, 3) the same of the angular rate. imu: preintegrated, n - 1 steps.
        stance: (n, nf) bool, the foot stands firmly.
        mocap: poses.
        turn_change, force_change: (n - 1, 3) root of the squared changes from sample to sample in a
            step, times the time between them [rad, m/s]: a share of it falls between samples.
        joint_samples, imu_samples: readings per step, for the noise of the means.
        noise: standard deviations of single readings, as these tell: encoder, rate (nj,) and gyro
            (3,).
        counts: refused messages and samples by reason.
        notice: what could not be read of a damaged bag; empty where all was.
    """

    name: str
    step: float
    stamps_ns: np.ndarray
    angle: np.ndarray
    rate: np.ndarray
    gyro: np.ndarray
    imu: Preintegration
    stance: np.ndarray
    mocap: MocapPoses
    turn_change: np.ndarray
    force_change: np.ndarray
    joint_samples: float
    imu_samples: float
    noise: Mapping[str, np.ndarray]
    counts: Mapping[str, int] = field(default_factory=dict)
    notice: str = ""

    def __len__(self) -> int:
        return len(self.stamps_ns)


def read_recording(
    path: str | Path,
    robot: Robot,
    *,
    topics: Mapping[str, str] | None = None,
    span: tuple[float, float] = (0.0, float("inf")),
    progress: Callable[[float], None] = lambda fraction: None,
) -> KinematicRecording:
    """Signals of a bag with motion capture.

    Raises:
        DataError: the bag cannot be used, is too short, has gaps, no motion capture, or no
            foot ever stands or leaves the ground.
    """
    if robot.imu_joint != 1:
        raise RobotError(f"{robot.name}: calibration needs an IMU on the base", robot.config)
    with BagReader(path) as bag:
        used = choose_topics(bag, robot, True, topics)
        if "mocap" not in used:
            raise DataError(f"{bag.path} has no motion capture, which calibration needs", path)
        intake = Intake(robot, STEP, True, (), lowstate_reader(bag, used))
        samples: dict[type, list] = {JointSample: [], ImuSample: [], PoseSample: []}
        nodes: list[Measurement] = []
        for share, sample in samples_between(bag, used, intake.reader, span):
            samples.setdefault(type(sample), []).append(sample)
            nodes += [node.measurement for node in intake.take(sample)]
            if len(nodes) % 50 == 0:
                progress(share)
        intake.reader.check_joints_seen()
        if not samples[PoseSample]:
            counts = intake.reader.counts.items()
            told = by_reason({reason: n for reason, n in counts if reason.startswith("mocap")})
            refused = f" ({told})" if told else ""
            raise DataError(f"{bag.path}: no pose of motion capture can be used{refused}", path)
        told = dict(counts=dict(intake.counts + bag.undecodable), notice=bag.notice)
    return replace(align(named(path).name, robot, nodes, samples), **told)


def align(name: str, robot: Robot, nodes: list[Measurement], samples: Mapping[type, list]):
    """`KinematicRecording` of measurements, for stamps and contacts, and raw samples."""
    stamps = np.array([m.stamp_ns for m in nodes], np.int64)
    joints = [s for s in samples[JointSample] if s.velocity is not None]
    if not joints:
        raise DataError(f"{name} has no joint rates, which calibration needs", name)
    origin = int(stamps[0]) if len(stamps) else 0
    joint_times = _times(joints, origin)
    imu_times = _times(samples[ImuSample], origin)
    t = (stamps - origin) * 1e-9
    first = max(joint_times[0], imu_times[0]) + STEP
    last = min(joint_times[-1], imu_times[-1]) - STEP
    keep = (t > first) & (t < last)
    stamps, t = stamps[keep], t[keep]
    _check(name, t, joint_times, imu_times)
    weighed = any(m.torque is not None for m in nodes)
    stance = _check_stance(name, robot, _stance(robot, nodes)[keep], weighed)
    angle = _array(joints, "position")
    rates = _array(joints, "velocity")
    gyro, force = (
        _array(samples[ImuSample], k) for k in ("angular_velocity", "linear_acceleration")
    )
    rate = mean(joint_times, rates, t, STEP)
    ends = [mean(joint_times, rates, t + s * 0.5 * STEP, 0.2 * STEP) for s in (-1.0, 1.0)]
    parts = max(1, round(STEP / float(np.median(np.diff(imu_times)))))
    return KinematicRecording(
        name,
        STEP,
        stamps,
        mean(joint_times, angle, t, STEP) - STEP / 24.0 * (ends[1] - ends[0]),
        rate,
        mean(imu_times, gyro, t, STEP),
        preintegrate(
            part_means(imu_times, gyro, t, STEP, parts),
            part_means(imu_times, force, t, STEP, parts),
            STEP,
        ),
        stance,
        _mocap(name, samples[PoseSample], origin, t, (imu_times, gyro, force)),
        changes(imu_times, gyro, t),
        changes(imu_times, force, t),
        STEP / float(np.median(np.diff(joint_times))),
        STEP / float(np.median(np.diff(imu_times))),
        {"encoder": white_noise(angle), "rate": white_noise(rates), "gyro": white_noise(gyro)},
    )


def _check_stance(name: str, robot: Robot, stance: np.ndarray, weighed: bool) -> np.ndarray:
    """The stance (n, nf) itself; DataError where a foot never stands, by torques or by motion."""
    if not stance.any(axis=0).all():
        idle = ", ".join(f for f, there in zip(robot.feet, stance.any(axis=0)) if not there)
        need = "calibration needs all feet on the ground"
        if not weighed:
            need += ", which joint torques tell best: none are recorded"
        raise DataError(f"{name}: {idle} never stands; {need}", idle)
    return stance


def _check(name: str, t: np.ndarray, *times: np.ndarray) -> None:
    if len(t) < SHORTEST:
        raise DataError(f"{name}: {len(t)} nodes, calibration needs {SHORTEST} at least", t)
    gap = max(float(np.diff(x).max()) for x in times)
    if gap > 0.05 or np.diff(t).max() > 1.5 * STEP:
        what = (
            f"{name}: joint states or IMU are silent for {max(gap, float(np.diff(t).max())):.2f} s"
        )
        raise DataError(f"{what}; choose a part without gaps with --from and --to", gap)


def _times(samples: list, origin_ns: int) -> np.ndarray:
    """(n,) increasing seconds from the origin; `samples` loses what is out of order."""
    if len(samples) < 2:
        raise DataError("the recording has no joint states or no IMU", samples)
    samples.sort(key=lambda s: s.stamp_ns)
    newer = [b for a, b in zip(samples, samples[1:]) if b.stamp_ns > a.stamp_ns]
    samples[1:] = newer
    return np.array([s.stamp_ns - origin_ns for s in samples]) * 1e-9


def _array(samples: list, name: str) -> np.ndarray:
    return np.array([getattr(s, name) for s in samples], float)


def _stance(robot: Robot, nodes: list[Measurement]) -> np.ndarray:
    """(n, nf) feet that stand, without the nodes beside touch-down and lift-off."""
    detector = ContactFlags(robot)
    # flags are those of the node before the measurement
    flags = np.array([detector.update(m) for m in nodes])
    flags = np.concatenate([flags[1:], flags[-1:]])
    firm = flags.copy()
    for shift in range(1, LANDING + 1):
        firm[shift:] &= flags[:-shift]
    for shift in range(1, LIFTING + 1):
        firm[:-shift] &= flags[shift:]
    return firm


def _mocap(name: str, poses: list, origin_ns: int, t: np.ndarray, imu: tuple) -> MocapPoses:
    """Poses between the first and the last node."""
    times = np.array([p.stamp_ns - origin_ns for p in poses]) * 1e-9
    node = np.round((times - t[0]) / STEP).astype(int)
    good = (node >= 0) & (node < len(t))
    position, quat = _array(poses, "position_world"), _array(poses, "quat_world_body")
    good &= np.isfinite(position).all(axis=1) & (np.linalg.norm(quat, axis=1) > 0.5)
    if good.sum() < LEAST_POSES * STEP * len(t):
        many = f"{good.sum()} poses in {STEP * len(t):.1f} s"
        wanted = f"calibration needs {LEAST_POSES:g} a second in the mean"
        raise DataError(f"{name}: motion capture has {many}; {wanted}", good)
    node = node[good]
    age = times[good] - t[node]
    imu_times, gyro, force = imu
    middle, width = t[node] + 0.5 * age, STEP
    w = mean(imu_times, gyro, middle, width)
    turn = Rotation.from_rotvec(w * age[:, None]).as_matrix()
    shift = 0.5 * (age**2)[:, None] * mean(imu_times, force, middle, width)
    return MocapPoses(
        node, age, position[good], Rotation.from_quat(quat[good]).as_matrix(), turn, shift
    )
