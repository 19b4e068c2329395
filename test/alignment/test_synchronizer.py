# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Time alignment: exact averages for any sample times, whatever a robot lacks."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.models import robot
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

from prime_estimation.alignment.averaging import hold_weights, linear_weights
from prime_estimation.alignment.events import EventQueue
from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.errors import ConfigError
from prime_estimation.types import CommandSample

# --- averages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [1.0, 2.0, 5.0, 3.7])
def test_linear_signals_at_any_rate(period):
    nodes = feed(Synchronizer(STEP, NJ), both(np.arange(0, 200, period)))
    assert milliseconds(nodes)[:3] == [10, 20, 30]
    assert nodes[0].torque is None and nodes[0].velocity is not None
    for node in nodes[1:]:
        assert_linear(node)


def test_a_jump_between_samples_is_told():
    """An impact lies somewhere between two samples.

    The mean misses a share of it, that of the interval's weight in the triangle.
    """
    times = range(0, 200, 2)
    jump = [
        replace(imu(t), linear_acceleration=np.array([0.0, 0.0, 40.0 if t >= 100 else 10.0]))
        for t in times
    ]
    nodes = feed(
        Synchronizer(STEP, NJ), [sample for t, s in zip(times, jump) for sample in (joint(t), s)]
    )
    change = {round(t): n.accelerometer_change for t, n in zip(milliseconds(nodes), nodes)}
    np.testing.assert_array_equal(change[90], np.zeros(3))
    # the jump from 98 to 100 ms in the triangle from 90 to 110 ms about 100 ms, whose interval
    # weighs 2/10 (1 - 1/10)
    np.testing.assert_allclose(change[110], [0.0, 0.0, 30.0 * 0.2 * 0.9], rtol=0.05)
    np.testing.assert_array_equal(change[130], np.zeros(3))


def test_so_is_a_jump_of_a_joint_rate():
    times, rates = range(0, 200, 2), 1.0 + np.arange(NJ)
    samples = [replace(joint(t), velocity=rates * (1.0 if t >= 96 else 1e-9)) for t in times]
    nodes = feed(
        Synchronizer(STEP, NJ), [sample for t, s in zip(times, samples) for sample in (s, imu(t))]
    )
    change = {round(t): n.velocity_change for t, n in zip(milliseconds(nodes), nodes)}
    np.testing.assert_allclose(change[100], 0.2 * rates, rtol=0.05)  # one of five intervals
    np.testing.assert_allclose(change[90] + change[120], np.zeros(NJ), atol=1e-12)


@pytest.mark.parametrize("period, told", [(2, 0.0), (5, 5.0 * 0.35 * math.sqrt(3.0))])
def test_so_is_a_jump_of_a_torque_between_samples_far_apart(period, told):
    """What those near each other miss is in the noise of the joints' model."""
    times = range(0, 200, period)
    samples = [replace(joint(t), effort=np.full(NJ, 9.0 if t >= 100 else 4.0)) for t in times]
    nodes = feed(
        Synchronizer(STEP, NJ), [sample for t, s in zip(times, samples) for sample in (s, imu(t))]
    )
    change = {round(t): n.torque_change for t, n in zip(milliseconds(nodes), nodes)}
    np.testing.assert_allclose(change[110], np.full(NJ, told), rtol=0.05)
    np.testing.assert_allclose(change[90] + change[130], np.zeros(NJ), atol=1e-12)


@pytest.mark.parametrize("period, factor", [(1, 1.0), (2, 1.0), (5, 2.0), (10, 4.0)])
def test_samples_far_apart_miss_a_larger_share(period, factor):
    """The gyro's alone does not grow: it is that of an instant that nothing tells."""
    node = feed(Synchronizer(STEP, NJ), both(range(0, 400, period)))[-1]
    # slopes of `joint` and `imu`
    np.testing.assert_allclose(node.velocity_change / 3.0, factor * node.gyro_change / 7.0)
    beyond = math.sqrt(factor**2 - 1.0) / factor
    expected = beyond * node.accelerometer_change / 11.0
    np.testing.assert_allclose(node.torque_change / 5.0, expected, atol=1e-12)


def test_what_comes_and_goes_between_samples_is_as_large_as_usual_changes():
    """At 50 Hz a node whose own samples are alike may have missed what others have seen."""
    times = range(0, 6000, 20)
    quiet = {t for t in times if 5000 <= t < 5200}
    force = {t: 10.0 * (t % 40 == 0 or t in quiet) for t in times}
    imus = [replace(imu(t), linear_acceleration=np.array([0.0, 0.0, force[t]])) for t in times]
    joints = [replace(joint(t), effort=np.full(NJ, 0.3 * force[t])) for t in times]
    nodes = feed(Synchronizer(STEP, NJ), [s for pair in zip(joints, imus) for s in pair])
    node = next(n for at, n in zip(milliseconds(nodes), nodes) if round(at) == 5100)
    assert node.accelerometer[2] == pytest.approx(10.0)
    # the mean is that of two samples; what others have seen is 6 times what fast ones would miss
    expected = 0.5 * math.sqrt(6.0**2 - 1.0) * 10.0
    np.testing.assert_allclose(node.accelerometer_change, [0.0, 0.0, expected], rtol=0.06)
    np.testing.assert_allclose(
        node.torque_change, 0.9 * 0.3 * node.accelerometer_change[2], rtol=1e-6
    )


LOST = 30  # ms


@pytest.mark.parametrize("period, seldom", [(2, False), (5, False), (10, True)])
def test_a_slow_stream_loses_no_samples(period, seldom):
    """Only what is missing in it is a burst."""
    sync = Synchronizer(STEP, NJ)
    node = feed(sync, both(range(0, 2000, period)))[-1]
    assert node.joint_interval == node.imu_interval == pytest.approx(1e-3 * period)
    assert node.joints_seldom is seldom and node.imu_seldom is seldom
    assert not sync.counts
    feed(sync, both([*range(2000, 2400, period), *range(2400 + LOST, 2600, period)]))
    assert dict(sync.counts) == dict.fromkeys(
        ("joint_bridged", "imu_bridged"), pytest.approx(5, abs=1)
    )


def test_that_of_a_stream_at_40_hz_is_no_burst():
    """Once its rate is known."""
    sync = Synchronizer(STEP, NJ)
    feed(sync, both(range(0, 2000, 25)))
    begun = dict(sync.counts)
    feed(sync, both(range(2000, 4000, 25)))
    assert dict(sync.counts) == begun


def test_all_positions_of_a_step_carried_to_its_end():
    """Constant acceleration: they agree with the last one.

    In noise they are far better, as long as the rates are good.
    """
    rng, times, sigma = np.random.default_rng(4), np.arange(0, 4000, 2.0), 1e-3
    accelerated = [(1e-3 * t, 20.0 * (1e-3 * t) ** 2, 40.0 * (1e-3 * t)) for t in times]
    clean = [
        replace(joint(t), position=np.full(NJ, q), velocity=np.full(NJ, dq))
        for t, (_, q, dq) in zip(times, accelerated)
    ]
    noisy = [replace(s, position=s.position + sigma * rng.normal(size=NJ)) for s in clean]
    imus = [imu(t) for t in times]
    exact = feed(Synchronizer(STEP, NJ), [sample for pair in zip(clean, imus) for sample in pair])
    found = feed(Synchronizer(STEP, NJ), [sample for pair in zip(noisy, imus) for sample in pair])
    for node in exact[1:]:
        # of lines between samples, not a parabola
        np.testing.assert_allclose(node.position_carried, node.position, atol=20.0 * 0.002**2)
    errors = np.array(
        [
            (n.position_carried - e.position, n.position - e.position)
            for n, e in zip(found[1:], exact[1:])
        ]
    )
    assert errors[:, 1].std() == pytest.approx(sigma, rel=0.1)
    assert errors[:, 0].std() == pytest.approx(sigma / np.sqrt(exact[-1].velocity_samples), rel=0.1)


def test_so_is_a_jump_of_an_angular_velocity():
    times = range(0, 200, 2)
    turning = [
        replace(imu(t), angular_velocity=np.array([0.0, 0.0, 1.0 if t >= 96 else 0.0]))
        for t in times
    ]
    nodes = feed(
        Synchronizer(STEP, NJ), [sample for t, s in zip(times, turning) for sample in (joint(t), s)]
    )
    change = {round(t): n.gyro_change for t, n in zip(milliseconds(nodes), nodes)}
    np.testing.assert_allclose(change[100], [0.0, 0.0, 0.2], rtol=0.05)
    np.testing.assert_allclose(change[90] + change[120], np.zeros(3), atol=1e-12)


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
    return (
        inside * {"flat": np.ones_like(x), "ramp": 2 * (x + 1), "triangle": 1 - np.abs(x + 1)}[name]
    )


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
        np.testing.assert_allclose(
            weights[row] @ values, np.sum((product[1:] + product[:-1]) / 2) * 5e-6, atol=2e-5
        )
        np.testing.assert_allclose(weights[row].sum(), 1.0, atol=1e-12)
        np.testing.assert_allclose(samples[row], 1 / np.sum(weights[row] ** 2))


def test_weights_do_not_suffer_from_samples_close_together():
    relative = np.array(
        [-21 * MS, -20 * MS + 1, -12 * MS, -12 * MS + 100, -5 * MS, -1, 0], np.int64
    )
    weights, _ = linear_weights(relative.tobytes(), STEP)
    assert np.all(weights >= -1e-8)
    np.testing.assert_allclose(weights @ (relative / STEP), [-1 / 2, -1 / 3, -1, 0], atol=1e-8)


def test_effective_samples_at_500_hz():
    nodes = feed(Synchronizer(STEP, NJ), both(np.arange(0, 60, 2.0)))
    flat = np.array([0.5, 1, 1, 1, 1, 0.5]) / 5
    triangle = np.array([1 / 5, 5, 10, 15, 20, 24 - 0.4, 20, 15, 10, 5, 1 / 5])
    assert nodes[-1].velocity_samples == pytest.approx(1 / np.sum(flat**2))
    assert nodes[-1].gyro_samples == nodes[-1].velocity_samples
    assert nodes[-1].torque_samples == pytest.approx(
        1 / np.sum((triangle / triangle.sum()) ** 2), rel=0.05
    )


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
    assert (
        nodes[0].torque is not None and nodes[0].accelerometer is None and nodes[0].gyro is not None
    )


def test_orientation_is_interpolated_the_short_way():
    half = np.array([0.0, 0.0, np.sin(0.1), np.cos(0.1)])
    samples = [
        s
        for t in (1.0, 5.0, 9.0, 11.0, 13.0)
        for s in (joint(t), imu(t, -half if t > 10.0 else np.array([0, 0, 0, 1.0])))
    ]
    node = feed(Synchronizer(STEP, NJ), samples)[-1]
    np.testing.assert_allclose(node.quat_world_imu, [0, 0, np.sin(0.1), np.cos(0.1)], atol=1e-12)
    node = feed(
        Synchronizer(STEP, NJ), [joint(0.0), imu(0.0, np.array([0, 0, 0, 1.0])), *samples[2:]]
    )[-1]
    np.testing.assert_allclose(node.quat_world_imu, [0, 0, np.sin(0.05), np.cos(0.05)], atol=1e-4)


# --- what robots lack -----------------------------------------------------------------------------


def test_no_effort_no_rate():
    samples = [
        s for t in np.arange(0, 60, 2.0) for s in (joint(t, effort=None, velocity=None), imu(t))
    ]
    node = feed(Synchronizer(STEP, NJ), samples)[-1]
    assert node.torque is None and node.velocity is None and node.position is not None


def test_effort_switched_off():
    assert all(
        n.torque is None
        for n in feed(Synchronizer(STEP, NJ, use_effort=False), both(np.arange(0, 60, 2.0)))
    )


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
    # at 60 ms the triangle spans 40..60: the command of 40 is in force over the first half of it,
    # that of 50 over the second
    np.testing.assert_allclose(node.torque, 45.0)
    assert node.torque_samples == pytest.approx(2.0)
    weights, _ = hold_weights(np.array([-25, -13, -4], np.int64).tobytes(), 10)
    np.testing.assert_allclose(weights, [0.245, 0.675, 0.08])


def test_dead_commands_are_not_held_for_ever():
    samples = [CommandSample(START, np.ones(NJ))] + [
        s for t in np.arange(0, 100, 2.0) for s in (joint(t, effort=None), imu(t))
    ]
    assert feed(Synchronizer(STEP, NJ), samples)[-1].torque is None


def test_a_continuous_joint_whose_encoder_begins_anew_after_a_turn():
    """Half a turn a second in both directions, read in [-pi, pi].

    Nodes lie where the joint is, and not half a turn away.
    """
    times, turning = np.arange(0, 3000, 2.0), [0, 2]
    rate = np.zeros(NJ)
    rate[turning] = np.pi, -np.pi
    samples = []
    for t in times:
        position = 1e-3 * t * rate + 0.5
        samples += [
            replace(joint(t), position=(position + np.pi) % (2.0 * np.pi) - np.pi, velocity=rate),
            imu(t),
        ]
    for node, t in [
        (n, 1e-9 * (n.stamp_ns - START))
        for n in feed(Synchronizer(STEP, NJ, turning=turning), samples)
    ][1:]:
        for position in (node.position, node.position_carried):
            np.testing.assert_allclose(
                np.exp(1j * position), np.exp(1j * (t * rate + 0.5)), atol=1e-6
            )


@pytest.mark.parametrize("step", [0.0, -0.01, math.nan, math.inf, 10_000_000, "0.01", None])
def test_a_step_that_is_none(step):
    """With 0 the nodes had no end."""
    with pytest.raises(ConfigError, match="the step between nodes must be above 0 s"):
        Synchronizer.of(robot("go2"), step)


@pytest.mark.parametrize("number", [0.01, 0, -5, math.nan, math.inf, "12", None])
@pytest.mark.parametrize("name", ["step_ns", "nj", "stale_ns"])
def test_a_number_that_is_none(name, number):
    """A step in seconds had become one of 0 ns, whose nodes had no end."""
    arguments = {"step_ns": STEP, "nj": NJ, "stale_ns": 50 * MS, name: number}
    with pytest.raises(ConfigError, match="must be whole numbers above 0; .* Synchronizer.of"):
        Synchronizer(**arguments)


def test_what_is_no_robot_or_no_sensor():
    machine = robot("go2")
    for other in ("go2", machine.config, None):
        with pytest.raises(ConfigError, match=r"takes a Robot \(Robot.load\) and the step"):
            Synchronizer.of(other, 0.01)
    with pytest.raises(ConfigError, match="no optional sensor 'footforce'; there are mocap"):
        Synchronizer.of(machine, 0.01, sensors=["footforce"])
    for make in (
        lambda s: Synchronizer(STEP, NJ, s),
        lambda s: Synchronizer.of(machine, 0.01, sensors=s),
    ):
        with pytest.raises(ConfigError, match=r"write sensors=\['foot_force'\]"):
            make("foot_force")


def test_events_belong_to_the_node_at_whose_end_they_were_and_late_ones_are_counted():
    counts = Counter()
    queue = EventQueue("mocap", counts)
    for t in (10, 11, 20, 21):
        queue.push(pose(t), None)
    node = START + 20 * MS
    assert [s.stamp_ns for s in queue.take(node, START + 10 * MS)] == [START + 11 * MS, node]
    assert counts == {"mocap_late_node": 1}


def test_positions_between_samples_lie_on_the_parabola_of_the_rates():
    """Of an acceleration that is constant, whichever way it goes."""
    for acceleration in (30.0, -30.0):
        sync = Synchronizer(STEP, NJ)
        samples = []
        for t in range(0, 100, 4):  # nodes in the middle of two
            s = 1e-3 * t
            q, dq = np.full(NJ, 0.5 * acceleration * s * s), np.full(NJ, acceleration * s)
            samples += [joint(t, position=q, velocity=dq), imu(t)]
        nodes = feed(sync, samples)
        assert len(nodes) == 9
        for node in nodes[2:]:
            s = 1e-9 * (node.stamp_ns - START)
            np.testing.assert_allclose(node.position, 0.5 * acceleration * s * s, atol=1e-9)


def test_a_torque_that_is_set_anew_has_not_begun_before():
    """From 50 ms on; seen by a triangle from 40 to 60 ms, half of it."""
    sync, samples = Synchronizer(STEP, NJ), []
    for t in range(0, 100, 2):
        samples += [joint(t, effort=np.full(NJ, 6.0 * (t >= 50))), imu(t)]
    torque = {n.stamp_ns: n.torque for n in feed(sync, samples)}
    np.testing.assert_allclose(torque[START + 60 * MS], 3.0, atol=1e-9)
