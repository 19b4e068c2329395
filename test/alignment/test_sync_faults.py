# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time alignment: a counted answer to every fault of a stream."""

import dataclasses

import numpy as np
import pytest
from helpers.streams import (
    MS,
    NJ,
    START,
    STEP,
    assert_linear,
    both,
    feed,
    imu,
    joint,
    milliseconds,
    pose,
)

from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.errors import DataError
from prime_estimation.sensors.contact_flags import FlagSample
from prime_estimation.sensors.external_odometry import OdometrySample
from prime_estimation.sensors.sensor import Wearer
from prime_estimation.types import CommandSample, ImuSample, JointSample, PoseSample

# --- faults, each counted -------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(bad):
    samples = both(np.arange(0, 100, 2.0))
    broken = [
        joint(51.0, position=np.array([0, bad, 0])),
        joint(53.0, effort=np.array([bad, bad, 0])),
    ]
    broken += [
        ImuSample(START + 55 * MS, np.full(3, bad), np.zeros(3)),
        imu(57.0, np.array([bad, 0, 0, 1])),
    ]
    broken += [PoseSample(START + 56 * MS, np.array([bad, 0, 0]), np.array([0, 0, 0, 1.0]))]
    broken += [PoseSample(START + 58 * MS, np.zeros(3), np.zeros(4))]
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, sorted(samples + broken, key=lambda s: s.stamp_ns))
    assert dict(sync.counts) == {"joint_not_finite": 2, "imu_not_finite": 2, "mocap_not_finite": 2}
    assert sync.dropped_samples == 6
    for node in nodes[1:]:
        assert_linear(node)


def test_wrong_size_is_an_error():
    with pytest.raises(DataError, match="3 values"):
        Synchronizer(STEP, NJ).push(JointSample(START, np.zeros(NJ + 1)))
    with pytest.raises(DataError, match="got str"):
        Synchronizer(STEP, NJ).push("joint")


@pytest.mark.parametrize(
    "sample", [joint(0.0), imu(0.0), pose(0.0), CommandSample(0, np.zeros(NJ))]
)
@pytest.mark.parametrize("stamp", [0.5, float("nan"), "0", None])
def test_a_stamp_that_is_no_whole_number_is_an_error(sample, stamp):
    """In seconds it had been cut off to zero: no node ever came, and nothing was said."""
    with pytest.raises(DataError, match=r"stamp_ns of a \w+ must be a whole number of ns, got"):
        Synchronizer(STEP, NJ).push(dataclasses.replace(sample, stamp_ns=stamp))


@pytest.mark.parametrize("kind", [list, tuple, np.float32])
def test_lists_of_numbers_are_read_as_arrays_are(kind):
    """A list of rates had been an error of NumPy's."""
    fields = "position", "velocity", "effort", "angular_velocity", "linear_acceleration"
    fields += ("quat_world_imu",)
    samples = [s for t in range(0, 60, 2) for s in (joint(t), imu(t, np.array([0, 0, 0, 1.0])))]
    given = [
        dataclasses.replace(s, **{f: kind(getattr(s, f)) for f in fields if hasattr(s, f)})
        for s in samples
    ]
    nodes, expected = (feed(Synchronizer(STEP, NJ), s) for s in (given, samples))
    assert len(nodes) == len(expected) == 5
    for node, other in zip(nodes, expected):
        for field in ("position", "velocity", "torque", "gyro", "accelerometer", "quat_world_imu"):
            if (value := getattr(other, field)) is not None:
                np.testing.assert_allclose(getattr(node, field), value, rtol=1e-6)


@pytest.mark.parametrize("value", [["a"] * NJ, "abc", [None, [1.0], 2.0], object()])
def test_what_is_no_number_is_an_error(value):
    for sample in (JointSample(START, value), CommandSample(START, value)):
        with pytest.raises(DataError, match="sample must have 3 values, got"):
            Synchronizer(STEP, NJ).push(sample)


@pytest.mark.parametrize(
    "place, quat",
    [
        (np.zeros(2), np.ones(4)),
        ([0.0] * 3, np.ones(4)),
        (np.zeros(3), None),
        (np.zeros(3), "xyzw"),
    ],
)
def test_poses_are_arrays(place, quat):
    """Gates and trackers read them as they are: lists had ended the estimator."""
    sync = Synchronizer(STEP, NJ, sensors=("mocap", "external_odometry"))
    for kind, name in ((PoseSample, "mocap"), (OdometrySample, "external_odometry")):
        with pytest.raises(DataError, match=f"of a {name} sample must be an array of [34] numbers"):
            sync.push(kind(START, place, quat))


def test_an_odometry_whose_quaternion_is_none():
    """Of zeros it had been taken for no rotation at all."""
    sync = Synchronizer(STEP, NJ, sensors=("external_odometry",))
    for quat in (np.zeros(4), np.array([0.0, 0.0, 0.0, 0.9])):
        sync.push(OdometrySample(START, np.zeros(3), quat))
    sync.push(OdometrySample(START, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.004])))
    assert sync.counts == {"external_odometry_not_finite": 2}


def test_late_and_duplicate_samples_are_dropped():
    samples = (
        both(np.arange(0, 50, 2.0))
        + [joint(48.0, value=9.0), joint(46.0, value=9.0), imu(30.0)]
        + both(np.arange(50, 100, 2.0))
    )
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, samples)
    assert dict(sync.counts) == {"joint_duplicate": 1, "joint_late": 1, "imu_late": 1}
    assert milliseconds(nodes) == list(range(10, 100, 10))
    for node in nodes[1:]:
        assert_linear(node)


def test_reordered_burst_is_no_new_clock():
    times = np.arange(0, 300, 2.0)
    order = np.concatenate([times[:50], times[80:100], times[50:80], times[100:]])
    sync = Synchronizer(STEP, NJ)
    feed(sync, both(order))
    assert sync.counts["clock_back"] == 0 and not sync.pop_discontinuity()
    assert sync.counts["joint_late"] == 30


@pytest.mark.parametrize("ahead", [30, 2000, 10_000_000])
def test_single_stamp_ahead_does_not_poison(ahead):
    wrong = imu(50.0 + ahead).stamp_ns
    samples = (
        both(np.arange(0, 50, 2.0))
        + [joint(50.0 + ahead, value=9.0), dataclasses.replace(imu(51.0), stamp_ns=wrong)]
        + both(np.arange(50, 100, 2.0))
    )
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, samples)
    assert dict(sync.counts) == {"joint_jump": 1, "imu_jump": 1}
    assert milliseconds(nodes) == list(range(10, 100, 10)) and not sync.pop_discontinuity()
    for node in nodes[1:]:
        assert_linear(node)


def test_first_stamp_ahead_is_survived():
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, [joint(5000.0), *both(np.arange(0, 100, 2.0))])
    assert sync.counts["clock_back"] == 1 and not sync.pop_discontinuity()
    assert len(nodes) >= 7 and milliseconds(nodes)[-1] < 100


def test_jump_forward_of_all_streams_restarts_the_grid():
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, both(np.concatenate([np.arange(0, 50, 2.0), np.arange(2051, 2100, 2.0)])))
    assert milliseconds(nodes) == [10, 20, 30, 40, 2061, 2071, 2081, 2091]
    assert sync.pop_discontinuity() and not sync.pop_discontinuity()
    assert dict(sync.counts) == {"clock_forward": 1}
    assert nodes[4].torque is None and nodes[4].velocity is not None
    assert_linear(nodes[5])


def test_jump_forward_with_streams_arriving_in_blocks():
    """One stream jumps long before the other arrives.

    No empty nodes are made up for the time that was skipped.
    """
    before, after = np.arange(0, 50, 2.0), np.arange(2051, 2100, 2.0)
    sync = Synchronizer(STEP, NJ)
    nodes = feed(
        sync,
        both(before)
        + [joint(t) for t in after[:8]]
        + [imu(t) for t in after[:8]]
        + both(after[8:]),
    )
    assert milliseconds(nodes)[:5] == [10, 20, 30, 40, 2061]
    assert sync.counts["clock_forward"] == 1


@pytest.mark.parametrize("back", [300, 5000])
def test_clock_set_back_for_good_restarts(back):
    sync = Synchronizer(STEP, NJ)
    first = feed(sync, both(np.arange(6000, 6100, 2.0)))
    second = feed(sync, both(np.arange(6100 - back, 6300 - back, 2.0)))
    assert sync.counts["clock_back"] == 1 and sync.pop_discontinuity()
    assert milliseconds(first)[-1] == 6090 and len(second) >= 17
    for node in second[2:]:
        assert_linear(node)


@pytest.mark.parametrize("dead, alive, field", [(joint, imu, "position"), (imu, joint, "gyro_now")])
def test_stream_dead_for_half_a_second(dead, alive, field):
    name = dead.__name__
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, both(np.arange(0, 100, 2.0)))
    silent = feed(sync, [alive(t) for t in np.arange(100, 600, 2.0)])
    assert sync.stale == {name}
    assert [n for n in milliseconds(silent)] == list(range(100, 600, 10))
    assert all(getattr(n, field) is None for n in silent)
    assert sync.counts[f"{name}_missing"] == 50
    back = feed(sync, both(np.arange(600, 700, 2.0)))
    assert sync.stale == set() and not sync.pop_discontinuity()
    assert sync.counts[f"{name}_missing"] <= 51
    for node in nodes[1:] + back[3:]:
        assert_linear(node)


def test_stale_stream_delays_nodes_no_longer_than_stale_ns():
    sync = Synchronizer(STEP, NJ)
    feed(sync, both(np.arange(0, 101, 2.0)))
    assert feed(sync, [imu(t) for t in np.arange(102, 151, 2.0)]) == []
    assert milliseconds(feed(sync, [imu(152.0)])) == [110, 120, 130, 140, 150]
    assert milliseconds(feed(sync, [imu(t) for t in np.arange(154, 161, 2.0)])) == [160]


@pytest.mark.parametrize("make, other", [(joint, imu), (imu, joint)])
def test_a_burst_of_lost_samples_is_waited_for_and_bridged(make, other):
    name, every = make.__name__, np.arange(0, 300, 2.0)
    lost = (every > 101) & (every < 147)
    samples = [make(t) for t in every[~lost]] + [other(t) for t in every]
    if make is joint:  # rates that belong to the positions
        samples = [
            joint(1e-6 * (s.stamp_ns - START), velocity=np.full(NJ, 2.0)) if s in samples else s
            for s in samples[: len(every) - lost.sum()]
        ] + samples[len(every) - lost.sum() :]
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, sorted(samples, key=lambda s: s.stamp_ns))
    assert milliseconds(nodes) == list(range(10, 300, 10))
    assert dict(sync.counts) == {f"{name}_bridged": 6} and sync.dropped_samples == 0
    for node in nodes[1:]:
        if make is imu:
            assert_linear(node)
        else:
            t = 1e-9 * (node.stamp_ns - START)
            np.testing.assert_allclose(node.position, 2.0 * t, atol=1e-12)
            np.testing.assert_allclose(node.position_carried, 2.0 * t, atol=1e-12)
            np.testing.assert_allclose(node.velocity, 2.0, atol=1e-12)


def test_short_silence_of_all_streams_keeps_the_grid():
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, both(np.concatenate([np.arange(0, 100, 2.0), np.arange(300, 400, 2.0)])))
    assert milliseconds(nodes) == list(range(10, 400, 10))
    empty = [n for n in nodes if n.position is None and n.gyro is None]
    assert milliseconds(empty) == list(range(100, 300, 10)) and not sync.pop_discontinuity()


def test_missing_stream_is_named_while_waiting():
    sync = Synchronizer(STEP, NJ)
    assert feed(sync, [joint(t) for t in np.arange(0, 60, 2.0)]) == []
    assert sync.stale == {"imu"}


# --- motion capture -------------------------------------------------------------------------------


def test_mocap_goes_to_its_node():
    samples = both(np.arange(0, 60, 2.0)) + [
        pose(t) for t in (0.0, 8.3, 16.6, 20.0, 25.0, 33.3, 41.6, 50.0)
    ]
    nodes = feed(Synchronizer(STEP, NJ), sorted(samples, key=lambda s: s.stamp_ns))
    got = [[(p.stamp_ns - START) / MS for p in n.mocap] for n in nodes]
    # a pose stamped exactly at a node may come just after the node was popped: then it goes to the
    # next
    assert sum(got, []) == [8.3, 16.6, 20.0, 25.0, 33.3, 41.6]
    assert got[0] == [8.3] and got[3] == [33.3]


@pytest.mark.parametrize("delay, kept", [(8, True), (45, True), (80, False)])
def test_late_mocap(delay, kept):
    taken = np.arange(5, 200, 8.0)
    samples = [(t, s) for t in np.arange(0, 300, 2.0) for s in (joint(t), imu(t))] + [
        (t + delay, pose(t, t + delay)) for t in taken
    ]
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, [s for _, s in sorted(samples, key=lambda p: p[0])])
    delivered = [p for n in nodes for p in n.mocap]
    assert len(delivered) == (len(taken) if kept else 0)
    assert sync.counts["mocap_late_node"] == (0 if kept else len(taken))
    assert all(p.stamp_ns <= n.stamp_ns for n in nodes for p in n.mocap)


def test_mocap_faults():
    sync = Synchronizer(STEP, NJ)
    feed(
        sync,
        both(np.arange(0, 50, 2.0))
        + [pose(45.0), pose(45.0), pose(40.0), pose(9000.0), pose(47.0)],
    )
    assert dict(sync.counts) == {"mocap_duplicate": 1, "mocap_late": 1, "mocap_ahead": 1}
    nodes = feed(sync, both(np.arange(50, 60, 2.0)))
    assert [(p.stamp_ns - START) / MS for p in nodes[0].mocap] == [45, 47]


def test_mocap_clock_set_back_recovers():
    sync = Synchronizer(STEP, NJ)
    feed(sync, both(np.arange(0, 500, 2.0)) + [pose(950.0)])
    samples = [s for t in np.arange(500, 800, 2.0) for s in (joint(t), imu(t), pose(t))]
    nodes = feed(sync, samples)
    assert len([p for n in nodes for p in n.mocap]) > 130 and not sync.pop_discontinuity()


def test_mocap_switched_off():
    assert all(
        not n.mocap
        for n in feed(
            Synchronizer(STEP, NJ, sensors=()), both(np.arange(0, 50, 2.0)) + [pose(45.0)]
        )
    )


# --- cost and memory ------------------------------------------------------------------------------


def test_many_samples_before_the_first_pop():
    sync = Synchronizer(STEP, NJ)
    for sample in both(np.arange(0, 12_000, 0.5)):
        sync.push(sample)
    nodes = feed(sync, both(np.arange(12_000, 12_100, 2.0)))
    assert milliseconds(nodes)[-1] == 12_090
    assert_linear(nodes[-1])


@pytest.mark.parametrize("period, sparse", [(5.0, 0), (19.0, 0), (25.0, 18), (33.0, 14)])
def test_flags_that_are_too_slow_for_a_mean_are_counted(period, sparse):
    """They had been silent: "no data", and nothing refused."""
    sync = Synchronizer(STEP, NJ, ["contact_flags"], wearer=Wearer((), ("foot",), 0.01))
    times = np.arange(0.7, 500.0, period)  # no sample is exactly 20 ms before a node
    flags = [FlagSample(START + round(t * MS), np.ones(1)) for t in [*times, times[5]]]
    samples = sorted(both(np.arange(0, 500, 2.0)) + flags, key=lambda s: s.stamp_ns)
    nodes = feed(sync, samples)
    assert bool(sum("contact_flags" in m.readings for m in nodes)) == (not sparse)
    assert sync.counts.pop("contact_flags_duplicate") == 1
    assert dict(sync.counts) == ({"contact_flags_sparse": sparse} if sparse else {})


@pytest.mark.parametrize("field", ["velocity", "effort"])
def test_fields_that_are_left_out_are_no_dropped_samples(field):
    sync = Synchronizer(STEP, NJ)
    samples = [imu(t) for t in np.arange(0, 200, 2.0)]
    samples += [joint(t, **{field: np.zeros(NJ)}) for t in np.arange(0, 200, 2.0)]
    feed(sync, sorted(samples, key=lambda s: s.stamp_ns))
    assert sync.counts[{"velocity": "joint_rate_zero", "effort": "joint_torque_zero"}[field]] > 10
    assert sync.dropped_samples == 0


@pytest.mark.parametrize("by", [-6, 4])
def test_a_clock_of_the_imu_that_is_corrected(by):
    """Stamped too late by 6 ms or too early by 4: nodes are right once its stamps are moved."""
    samples = [joint(t) for t in range(0, 301, 2)] + [imu(t) for t in range(-20, 301, 2)]
    late = [
        dataclasses.replace(s, stamp_ns=s.stamp_ns - by * MS) if isinstance(s, ImuSample) else s
        for s in samples
    ]
    sync = Synchronizer(STEP, NJ)
    early, later = (
        sorted(
            [s for s in late if (s.stamp_ns < START + 150 * MS) is old], key=lambda s: s.stamp_ns
        )
        for old in (True, False)
    )
    wrong = feed(sync, early)[2:]
    sync.shift_imu(by * MS)
    right = feed(
        sync,
        [
            dataclasses.replace(s, stamp_ns=s.stamp_ns + by * MS) if isinstance(s, ImuSample) else s
            for s in later
        ],
    )[4:]
    off = [node.gyro_now[0] - 7e-9 * (node.stamp_ns - START) for node in wrong]
    np.testing.assert_allclose(off, 7e-3 * by, atol=1e-9)
    assert len(right) > 8
    for node in right:
        assert_linear(node)
    assert sync.counts["imu_clock"] == 1 and not sync.dropped_samples


def test_silence_of_all_is_counted_from_the_return_of_the_first():
    """The joints are 20 ms later behind a gap than the IMU, and are waited for."""
    sync = Synchronizer(STEP, NJ)
    feed(sync, both(range(0, 101, 2)))
    for t in range(300, 320, 2):
        feed(sync, [imu(t)])
        assert not sync.stale
    feed(sync, [imu(t) for t in range(320, 360, 2)])
    assert sync.stale == {"joint"}


def test_a_stream_that_never_came_is_missed_from_the_return_of_the_other():
    sync = Synchronizer(STEP, NJ)
    feed(sync, [imu(t) for t in (*range(0, 40, 2), *range(300, 320, 2))])
    assert not sync.stale
    feed(sync, [imu(t) for t in range(320, 360, 2)])
    assert sync.stale == {"joint"}


def test_behind_a_gap_nodes_begin_where_both_streams_are_back():
    """The joints come back 8 ms before the IMU."""
    sync = Synchronizer(STEP, NJ)
    samples = both(range(0, 101, 2))
    samples += [joint(t) for t in range(1000, 1008, 2)] + both(range(1008, 1101, 2))
    nodes = milliseconds(feed(sync, samples))
    assert nodes[: nodes.index(100.0) + 2] == [*range(10, 101, 10), 1018.0]
    assert sync.counts["clock_forward"] == 1


@pytest.mark.parametrize("make", [joint, imu])
def test_poses_are_not_ahead_of_a_stream_that_lives(make):
    """The other one is dead for 2 s."""
    sync = Synchronizer(STEP, NJ)
    feed(sync, both(range(0, 101, 2)))
    feed(sync, [make(t) for t in range(102, 2001, 2)])
    feed(sync, [pose(2000.0), pose(2002.0), pose(2600.0)])
    assert sync.counts["mocap_ahead"] == 1


def test_only_a_sample_that_has_entered_is_believed():
    sync, pushed = Synchronizer(STEP, NJ), []
    for sample in (imu(0), imu(2), imu(1), imu(2), imu(900), imu(4), pose(0)):
        sync.push(sample)
        pushed.append(sync.believes(sample))
    # late; a duplicate is as good as the one that entered; a stamp far ahead waits
    assert pushed == [True, True, False, True, False, True, True]
