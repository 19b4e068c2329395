# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Old values with new stamps are no readings; what an IMU felt while its samples are lost."""

from __future__ import annotations

import dataclasses

import numpy as np
from helpers.streams import MS, NJ, START, STEP, feed, imu, joint

from prime_estimation.alignment.held_samples import FROZEN, HeldCheck, HeldOrientation
from prime_estimation.alignment.imu_readings import LOST_FORCE
from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.types import JointSample


def held(sample, since_ms):
    """The sample with the values of an earlier one."""
    old = (joint if isinstance(sample, JointSample) else imu)(since_ms)
    return dataclasses.replace(old, stamp_ns=sample.stamp_ns)


def by_time(nodes):
    return {round((n.stamp_ns - START) / MS): n for n in nodes}


def test_held_samples_are_refused_and_bridged():
    """Joints and IMU say from 152 to 180 ms what they said at 150 ms."""
    samples = []
    for t in range(0, 221, 2):
        now = [joint(t), imu(t)]
        samples += [held(s, 150) for s in now] if 150 < t < 180 else now
    sync = Synchronizer(STEP, NJ)
    nodes = by_time(feed(sync, samples))
    assert sync.counts["joint_held"] == sync.counts["imu_held"] == 14
    for t in (170, 200):  # a line goes on across them
        np.testing.assert_allclose(nodes[t].gyro, 7e-3 * (t - 5), atol=1e-9)


def test_a_gyro_that_dies_beside_its_accelerometer():
    """From 150 ms on it says the same; 50 ms later no sample of the IMU is taken."""
    rng = np.random.default_rng(0)
    samples = []
    for t in range(0, 261, 2):
        felt = imu(t).linear_acceleration + rng.normal(scale=0.1, size=3)
        living = dataclasses.replace(imu(t), linear_acceleration=felt)
        rate = rng.normal(scale=0.1, size=3) if t < 150 else np.zeros(3)
        samples += [joint(t), dataclasses.replace(living, angular_velocity=rate)]
    sync = Synchronizer(STEP, NJ)
    feed(sync, samples)
    assert 20 < sync.counts["imu_held"] < 35
    never = [dataclasses.replace(s, angular_velocity=np.zeros(3)) if hasattr(s, "angular_velocity")
             else s for s in samples]  # fmt: skip
    sync = Synchronizer(STEP, NJ)
    feed(sync, never)
    assert not sync.counts["imu_held"]  # a machine that does not turn


def test_a_robot_at_rest_may_say_the_same_again():
    still = joint(0.0, value=1.0, velocity=np.zeros(NJ))
    level = dataclasses.replace(imu(0.0), linear_acceleration=np.array([0.0, 0.0, 9.81]))
    samples = [dataclasses.replace(s, stamp_ns=s.stamp_ns + t * MS)
               for t in range(0, 60, 2) for s in (still, level)]  # fmt: skip
    sync = Synchronizer(STEP, NJ)
    assert len(feed(sync, samples)) == 5 and not sync.counts


def test_joints_without_rates_are_not_judged():
    check, row = HeldCheck(), np.array([0.1, np.nan, 2.0])
    assert not check.joints(row, 1) and not check.joints(row, 1)


def test_a_foot_may_come_down_while_samples_of_the_imu_are_lost():
    """A line between the ends says nothing of an impact: 200 mm/s were taken for known."""
    times = range(0, 121, 2)
    samples = [joint(t) for t in times] + [imu(t) for t in times if not 50 < t < 80]
    samples.sort(key=lambda s: s.stamp_ns)
    nodes = by_time(feed(Synchronizer(STEP, NJ), samples))
    change = {t: np.max(n.accelerometer_change) for t, n in nodes.items() if t >= 20}
    assert change[70] > 0.3 * LOST_FORCE and change[80] > 0.3 * LOST_FORCE
    assert change[40] < 0.1 and change[110] < 0.1


def test_an_axis_that_says_the_same_beside_others_that_live():
    """Dead after 15 samples where it has lived, after 500 where it has not; it may revive."""
    rng = np.random.default_rng(0)

    def dead_after(lived: bool) -> int:
        check = HeldCheck()
        for _ in range(10):
            check.imu(np.append(rng.normal(size=6) * ([1, 1, lived, 1, 1, 1]), np.zeros(4)))
        for n in range(1000):
            row = np.append(rng.normal(size=6), np.zeros(4))
            row[2] = 0.0
            assert not check.imu(row)
            if check.dead.any():
                break
        assert check.dead.tolist() == [False, False, True, False, False, False]
        check.imu(np.append(rng.normal(size=6), np.zeros(4)))
        assert not check.dead.any()
        return n

    assert 14 <= dead_after(True) <= 17 and 480 <= dead_after(False) <= 501


def held_after(number: int, moves: float) -> list[bool]:
    """Of one orientation beside a gyro that changes by so much [rad/s] each time, in one array."""
    check, rate, quat = HeldOrientation(), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    told = []
    for _ in range(number):
        rate[1] += moves
        told.append(check.holds(quat, rate))
    return told


def test_an_orientation_that_stays_while_the_gyro_changes_is_none():
    """From its fiftieth repetition on; beside a gyro that rests it may stay for ever."""
    told = held_after(70, 0.006)
    assert told.index(True) == FROZEN == 50 and all(told[FROZEN:])
    assert not any(held_after(200, 0.004))


def test_an_orientation_that_changes_again_is_one():
    check, rng = HeldOrientation(), np.random.default_rng(0)
    level, other = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0])
    for quat in (level, other, level):
        told = [check.holds(quat, rng.normal(size=3)) for _ in range(FROZEN)]
        assert not any(told)
    assert check.holds(level, rng.normal(size=3))


def test_one_joint_that_moves_is_enough():
    """The same row again, of a robot whose second joint turns at so much [rad/s]."""
    for rate, held in ((0.19, False), (0.21, True), (-0.21, True)):
        check, row = HeldCheck(), np.array([0.1, 0.2, 0.0, rate, 1.0, 2.0])
        assert not check.joints(row, 2) and check.joints(row.copy(), 2) is held
        row[0] += 1e-9
        assert not check.joints(row, 2)


def test_a_gyro_at_rest_beside_an_accelerometer_that_hardly_changes_is_none():
    """It turned before; a machine that lies still says the same rates for as long as it likes."""
    for noise, dead in ((0.01, False), (0.1, True)):
        check, rng = HeldCheck(), np.random.default_rng(0)
        for _ in range(5):
            check.imu(np.append(rng.normal(size=6), np.zeros(4)))
        still = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 9.81, 0.0, 0.0, 0.0, 0.0])
        check.imu(still)
        told = []
        for k in range(1, 100):
            row = still.copy()
            row[3] = noise * (k % 2)
            told.append(check.imu(row))
        assert any(told) is dead
