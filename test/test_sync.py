# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time alignment: exact averages for any sample times, and a counted answer to every fault of a stream."""


from dataclasses import replace

import numpy as np
import pytest

from prime_estimation.errors import DataError
from prime_estimation.stream import hold_weights, linear_weights
from prime_estimation.sync import Synchronizer
from prime_estimation.types import CommandSample, ImuSample, JointSample, PoseSample

MS = 1_000_000
STEP = 10 * MS
START = 1_700_000_000 * 10**9
NJ = 3


def joint(t_ms, value=None, **fields):
    """A joint sample at START + t whose signals are linear in time, so that every average is known."""
    t = t_ms * 1e-3 if value is None else value
    content = dict(position=np.full(NJ, 2.0 * t), velocity=np.full(NJ, 3.0 * t), effort=np.full(NJ, 5.0 * t))
    return JointSample(START + round(t_ms * MS), **{**content, **fields})


def imu(t_ms, quat=None):
    t = t_ms * 1e-3
    return ImuSample(START + round(t_ms * MS), np.full(3, 7.0 * t), np.full(3, 11.0 * t), quat)


def pose(t_ms, arrival_ms=None):
    arrival = t_ms if arrival_ms is None else arrival_ms
    return PoseSample(START + round(t_ms * MS), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), START + round(arrival * MS))


def feed(sync, samples):
    """Push one sample after the other and pop whatever is ready in between."""
    nodes = []
    for sample in samples:
        sync.push(sample)
        while (node := sync.pop()) is not None:
            nodes.append(node)
    return nodes


def both(times):
    return [make(t) for t in times for make in (joint, imu)]


def milliseconds(nodes):
    return [(n.stamp_ns - START) / MS for n in nodes]


def assert_linear(node):
    """All averages of signals that are linear in time: the signal at the centre of the kernel."""
    t = (node.stamp_ns - START) * 1e-9
    dt = STEP * 1e-9
    expected = dict(position=2 * t, velocity=3 * (t - dt / 2), torque=5 * (t - dt), gyro=7 * (t - dt / 2), gyro_now=7 * t)
    expected.update(accelerometer=11 * (t - dt), accelerometer_ramp=11 * (t - dt / 3))
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(node, name), value, atol=1e-12, err_msg=name)


# --- averages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [1.0, 2.0, 5.0, 3.7])
def test_linear_signals_at_any_rate(period):
    nodes = feed(Synchronizer(STEP, NJ), both(np.arange(0, 200, period)))
    assert milliseconds(nodes)[:3] == [10, 20, 30]
    assert nodes[0].torque is None and nodes[0].velocity is not None
    for node in nodes[1:]:
        assert_linear(node)


def test_a_jump_between_samples_is_told():
    """An impact lies somewhere between two samples: the mean misses a share of it, that of the interval's weight in the triangle."""
    times = range(0, 200, 2)
    jump = [replace(imu(t), linear_acceleration=np.array([0.0, 0.0, 40.0 if t >= 100 else 10.0])) for t in times]
    nodes = feed(Synchronizer(STEP, NJ), [sample for t, s in zip(times, jump) for sample in (joint(t), s)])
    change = {round(t): n.accelerometer_change for t, n in zip(milliseconds(nodes), nodes)}
    np.testing.assert_array_equal(change[90], np.zeros(3))
    # the jump from 98 to 100 ms in the triangle from 90 to 110 ms about 100 ms, whose interval weighs 2/10 (1 - 1/10)
    np.testing.assert_allclose(change[110], [0.0, 0.0, 30.0 * 0.2 * 0.9], rtol=0.05)
    np.testing.assert_array_equal(change[130], np.zeros(3))


def test_linear_signals_with_jitter_and_unequal_clocks():
    rng = np.random.default_rng(1)
    samples = [joint(t) for t in np.sort(np.arange(0, 300, 2.0) + rng.uniform(-0.9, 0.9, 150))]
    samples += [imu(t) for t in np.sort(np.arange(0, 300, 4.0) + rng.uniform(-1.9, 1.9, 75))]
    nodes = feed(Synchronizer(STEP, NJ), sorted(samples, key=lambda s: s.stamp_ns))
    assert len(nodes) > 25
    for node in nodes[2:]:
        assert_linear(node)


def kernel(name, x):
    inside = (x >= (-2 if name == "triangle" else -1)) & (x <= 0)
    return inside * {"flat": np.ones_like(x), "ramp": 2 * (x + 1), "triangle": 1 - np.abs(x + 1)}[name]


@pytest.mark.parametrize("row, name", [(0, "flat"), (1, "ramp"), (2, "triangle")])
def test_weights_integrate_the_piecewise_linear_signal(row, name):
    rng = np.random.default_rng(row)
    for _ in range(20):
        inner = np.cumsum(rng.uniform(0.02, 0.6, 12))
        x = inner - inner[-1] + rng.uniform(0, 0.02)
        relative = np.round(x[x > -3.5] * STEP).astype(np.int64)
        weights, samples = linear_weights(relative.tobytes(), STEP)
        values = rng.normal(size=len(relative))
        fine = np.linspace(-2, 0, 400_001)
        product = np.interp(fine, relative / STEP, values) * kernel(name, fine)
        np.testing.assert_allclose(weights[row] @ values, np.sum((product[1:] + product[:-1]) / 2) * 5e-6, atol=2e-5)
        np.testing.assert_allclose(weights[row].sum(), 1.0, atol=1e-12)
        np.testing.assert_allclose(samples[row], 1 / np.sum(weights[row] ** 2))


def test_weights_do_not_suffer_from_samples_close_together():
    relative = np.array([-21 * MS, -20 * MS + 1, -12 * MS, -12 * MS + 100, -5 * MS, -1, 0], np.int64)
    weights, _ = linear_weights(relative.tobytes(), STEP)
    assert np.all(weights >= -1e-8)
    np.testing.assert_allclose(weights @ (relative / STEP), [-1 / 2, -1 / 3, -1, 0], atol=1e-8)


def test_effective_samples_at_500_hz():
    nodes = feed(Synchronizer(STEP, NJ), both(np.arange(0, 60, 2.0)))
    flat = np.array([0.5, 1, 1, 1, 1, 0.5]) / 5
    triangle = np.array([1 / 5, 5, 10, 15, 20, 24 - 0.4, 20, 15, 10, 5, 1 / 5])
    assert nodes[-1].velocity_samples == pytest.approx(1 / np.sum(flat**2))
    assert nodes[-1].gyro_samples == nodes[-1].velocity_samples
    assert nodes[-1].torque_samples == pytest.approx(1 / np.sum((triangle / triangle.sum()) ** 2), rel=0.05)


def test_triangle_equals_the_mean_of_the_running_mean():
    """The kernel's meaning: the flat mean over [t - s, t] averaged over s in the two last steps."""
    t = np.arange(0, 100.1, 2.0)
    signal = np.sin(0.3 * t) + 0.1 * t
    samples = [s for ti, v in zip(t, signal) for s in (joint(ti, effort=np.full(NJ, v)), imu(ti))]
    node = feed(Synchronizer(STEP, NJ), samples)[-1]
    fine = np.linspace(-20, 0, 200_001) + (node.stamp_ns - START) / MS
    value = np.interp(fine, t, signal)
    total = np.concatenate([[0], np.cumsum((value[1:] + value[:-1]) / 2) * 1e-4])
    running = (total[100_000:] - total[:-100_000]) / 10
    np.testing.assert_allclose(node.torque, running.mean(), atol=1e-4)


def test_pop_is_ready_exactly_at_the_node():
    sync = Synchronizer(STEP, NJ)
    assert feed(sync, both(np.arange(0, 10, 2.0))) == []
    sync.push(joint(10.0))
    assert sync.pop() is None
    sync.push(imu(10.0))
    assert milliseconds([sync.pop()]) == [10]
    assert sync.pop() is None


def test_grid_begins_where_both_streams_exist():
    samples = [joint(t) for t in np.arange(0, 33, 2.0)] + both(np.arange(33.5, 80, 2.0))
    nodes = feed(Synchronizer(STEP, NJ), samples)
    assert milliseconds(nodes)[0] == 43.5
    assert nodes[0].torque is not None and nodes[0].accelerometer is None and nodes[0].gyro is not None


def test_orientation_is_interpolated_the_short_way():
    half = np.array([0.0, 0.0, np.sin(0.1), np.cos(0.1)])
    samples = [s for t in (1.0, 5.0, 9.0, 11.0, 13.0) for s in (joint(t), imu(t, -half if t > 10.0 else np.array([0, 0, 0, 1.0])))]
    node = feed(Synchronizer(STEP, NJ), samples)[-1]
    np.testing.assert_allclose(node.quat_world_imu, [0, 0, np.sin(0.1), np.cos(0.1)], atol=1e-12)
    node = feed(Synchronizer(STEP, NJ), [joint(0.0), imu(0.0, np.array([0, 0, 0, 1.0])), *samples[2:]])[-1]
    np.testing.assert_allclose(node.quat_world_imu, [0, 0, np.sin(0.05), np.cos(0.05)], atol=1e-4)


# --- what robots lack -----------------------------------------------------------------------------------------------


def test_no_effort_no_rate():
    samples = [s for t in np.arange(0, 60, 2.0) for s in (joint(t, effort=None, velocity=None), imu(t))]
    node = feed(Synchronizer(STEP, NJ), samples)[-1]
    assert node.torque is None and node.velocity is None and node.position is not None


def test_effort_switched_off():
    assert all(n.torque is None for n in feed(Synchronizer(STEP, NJ, use_effort=False), both(np.arange(0, 60, 2.0))))


def test_robot_without_imu():
    nodes = feed(Synchronizer(STEP, NJ, use_imu=False), [joint(t) for t in np.arange(0, 60, 2.0)])
    assert len(nodes) == 5 and nodes[-1].gyro is None and nodes[-1].torque is not None


def test_commands_stand_in_for_measured_torque_and_are_held():
    samples = []
    for t in np.arange(0, 61, 2.0):
        samples += [joint(t, effort=None), imu(t)]
        if t % 10 == 0:
            samples.append(CommandSample(START + round(t * MS), np.full(NJ, t)))
    node = feed(Synchronizer(STEP, NJ), samples)[-1]
    # at 60 ms the triangle spans 40..60: the command of 40 is in force over the first half of it, that of 50 over the second
    np.testing.assert_allclose(node.torque, 45.0)
    assert node.torque_samples == pytest.approx(2.0)
    weights, _ = hold_weights(np.array([-25, -13, -4], np.int64).tobytes(), 10)
    np.testing.assert_allclose(weights, [0.245, 0.675, 0.08])


def test_dead_commands_are_not_held_for_ever():
    samples = [CommandSample(START, np.ones(NJ))] + [s for t in np.arange(0, 100, 2.0) for s in (joint(t, effort=None), imu(t))]
    assert feed(Synchronizer(STEP, NJ), samples)[-1].torque is None


# --- faults, each counted -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_refused(bad):
    samples = both(np.arange(0, 100, 2.0))
    broken = [joint(51.0, position=np.array([0, bad, 0])), joint(53.0, effort=np.array([bad, bad, 0]))]
    broken += [ImuSample(START + 55 * MS, np.full(3, bad), np.zeros(3)), imu(57.0, np.array([bad, 0, 0, 1]))]
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


def test_late_and_duplicate_samples_are_dropped():
    samples = both(np.arange(0, 50, 2.0)) + [joint(48.0, value=9.0), joint(46.0, value=9.0), imu(30.0)] + both(np.arange(50, 100, 2.0))
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
    samples = both(np.arange(0, 50, 2.0)) + [joint(50.0 + ahead, value=9.0), imu(50.0 + ahead)] + both(np.arange(50, 100, 2.0))
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
    """One stream jumps long before the other arrives: no empty nodes are made up for the time that was skipped."""
    before, after = np.arange(0, 50, 2.0), np.arange(2051, 2100, 2.0)
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, both(before) + [joint(t) for t in after[:8]] + [imu(t) for t in after[:8]] + both(after[8:]))
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
    assert feed(sync, [imu(t) for t in np.arange(102, 121, 2.0)]) == []
    assert milliseconds(feed(sync, [imu(122.0)])) == [110, 120]
    assert milliseconds(feed(sync, [imu(t) for t in np.arange(124, 131, 2.0)])) == [130]


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


# --- motion capture -------------------------------------------------------------------------------------------------


def test_mocap_goes_to_its_node():
    samples = both(np.arange(0, 60, 2.0)) + [pose(t) for t in (0.0, 8.3, 16.6, 20.0, 25.0, 33.3, 41.6, 50.0)]
    nodes = feed(Synchronizer(STEP, NJ), sorted(samples, key=lambda s: s.stamp_ns))
    got = [[(p.stamp_ns - START) / MS for p in n.mocap] for n in nodes]
    # a pose stamped exactly at a node may come just after the node was popped: then it goes to the next
    assert sum(got, []) == [8.3, 16.6, 20.0, 25.0, 33.3, 41.6]
    assert got[0] == [8.3] and got[3] == [33.3]


@pytest.mark.parametrize("delay, kept", [(8, True), (45, True), (80, False)])
def test_late_mocap(delay, kept):
    taken = np.arange(5, 200, 8.0)
    samples = [(t, s) for t in np.arange(0, 300, 2.0) for s in (joint(t), imu(t))] + [(t + delay, pose(t, t + delay)) for t in taken]
    sync = Synchronizer(STEP, NJ)
    nodes = feed(sync, [s for _, s in sorted(samples, key=lambda p: p[0])])
    delivered = [p for n in nodes for p in n.mocap]
    assert len(delivered) == (len(taken) if kept else 0)
    assert sync.counts["mocap_late_node"] == (0 if kept else len(taken))
    assert all(p.stamp_ns <= n.stamp_ns for n in nodes for p in n.mocap)


def test_mocap_faults():
    sync = Synchronizer(STEP, NJ)
    feed(sync, both(np.arange(0, 50, 2.0)) + [pose(45.0), pose(45.0), pose(40.0), pose(9000.0), pose(47.0)])
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
    assert all(not n.mocap for n in feed(Synchronizer(STEP, NJ, use_mocap=False), both(np.arange(0, 50, 2.0)) + [pose(45.0)]))


# --- cost and memory ------------------------------------------------------------------------------------------------


def test_many_samples_before_the_first_pop():
    sync = Synchronizer(STEP, NJ)
    for sample in both(np.arange(0, 40_000, 2.0)):
        sync.push(sample)
    nodes = feed(sync, both(np.arange(40_000, 40_100, 2.0)))
    assert milliseconds(nodes)[-1] == 40_090
    assert_linear(nodes[-1])
