# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contradictions: which remarks of a status make a state one that is not to be used."""

from __future__ import annotations

from dataclasses import replace

import pytest
from helpers.estimates import make_estimate
from helpers.lowstates import accelerometer, gyro, instants

from prime_estimation import Robot, StateObserver
from prime_estimation.io.joint_order import JointOrder
from prime_estimation.policy.contradictions import NODES, PAIRS, Contradictions
from prime_estimation.types import SensorHealth


@pytest.fixture(scope="module")
def estimate():
    return make_estimate(Robot.load("go2"), 0)


def looked(estimate, remarks: list[SensorHealth], number: int) -> Contradictions:
    status = replace(estimate.status, sensors=tuple(remarks))
    out = Contradictions()
    for _ in range(number):
        out.look(replace(estimate, status=status))
    return out


def wrong(*names: str) -> list[SensorHealth]:
    said = {"robot": "fits its model badly"}
    return [SensorHealth(n, False, said.get(n, f"what is wrong with {n}")) for n in names]


@pytest.mark.parametrize("name", ["contacts", "weight", "robot", "base", "torque", "feet"])
def test_one_remark_is_no_reason(name, estimate):
    assert looked(estimate, wrong(name), NODES).reason == ""


@pytest.mark.parametrize(
    "names", [("weight", "contacts"), ("robot", "contacts"), ("weight", "robot")]
)
def test_remarks_that_exclude_each_others_cause(names, estimate):
    assert looked(estimate, wrong(*names), NODES // 10).reason == ""  # not for a moment
    doubts = looked(estimate, wrong(*names), NODES)
    assert "order of the joints" in doubts.reason and f"{names[0]}: " in doubts.reason
    doubts.look(estimate)
    assert doubts.reason  # not before most of the newest show nothing
    for _ in range(NODES):
        doubts.look(estimate)
    assert doubts.reason == ""


def test_a_quarter_of_the_newest_hundred_tells(estimate):
    """And after a reset nothing does."""
    pair = replace(estimate, status=replace(estimate.status, sensors=tuple(wrong(*PAIRS[0]))))
    doubts = looked(estimate, [], 100)
    for number in range(1, 26):
        doubts.look(pair)
        assert bool(doubts.reason) == (number == 25)
        doubts.look(estimate)
    doubts.reset()
    assert doubts.reason == ""


@pytest.mark.parametrize("name, most, said", [("imu", 4.0, "gyro"), ("mocap", 10.0, "its clock")])
def test_a_sensor_that_does_not_fit(name, most, said, estimate):
    for square in (0.9 * most, float("nan")):
        assert looked(estimate, [SensorHealth(name, True, "", square)], 1).reason == ""
    doubts = looked(estimate, [SensorHealth(name, True, "", 1.1 * most)], 1)
    assert "fits the motion badly (residuals of" in doubts.reason and said in doubts.reason
    silent = replace(estimate, status=replace(estimate.status, sensors=()))
    for _ in range(NODES - 1):  # what it has bent is bent
        doubts.look(silent)
    assert doubts.reason
    doubts.look(silent)
    assert not doubts.reason
    doubts = looked(estimate, [SensorHealth(name, True, "", 1.1 * most)], 1)
    fits = replace(estimate.status, sensors=(SensorHealth(name, True, "", 0.9 * most),))
    doubts.look(replace(estimate, status=fits))  # what it says now counts
    assert not doubts.reason


def test_a_push_while_feet_slide(estimate):
    sliding = SensorHealth("motion", True, "feet that carry move at 0.2 m/s")
    assert looked(estimate, [sliding], NODES).reason == ""
    assert looked(estimate, [sliding, *wrong("base")], NODES).reason


def test_a_model_that_fits_badly_for_long(estimate):
    assert looked(estimate, wrong("robot"), 400).reason == ""
    reason = looked(estimate, wrong("robot"), 401).reason
    assert reason == "the robot fits its model badly"
    lighter = [SensorHealth("robot", False, "weighs 14.0 kg, less than the 16.1 kg of its model")]
    assert looked(estimate, lighter, 401).reason == ""


def test_a_gyro_that_does_not_fit(estimate):
    assert looked(estimate, [SensorHealth("imu", True, "", 1.0)], 1).reason == ""
    assert "is it in rad/s" in looked(estimate, [SensorHealth("imu", True, "", 6.6)], 1).reason


@pytest.mark.parametrize(
    "mistake, words",
    [("", ""), ("order", "order"), ("unit", "rad/s"), ("torque", "pull"), ("force", "pull")],
)
def test_a_walk_that_is_handed_in_wrongly(mistake, words, recorded_runs):
    """Motors in Unitree's order as if in the URDF's, a gyro in degrees/s, opposite signs."""
    valid, reasons = 0, []
    with StateObserver("go2", threaded=False) as observer:
        other = StateObserver("go2", joints="unitree", threaded=False)
        names = (other if mistake == "order" else observer).joint_names
        for instant in instants(recorded_runs / "go2_nominal", 4.0):
            wire = JointOrder(names, list(instant.joints.name))
            rate = gyro(instant) * (57.3 if mistake == "unit" else 1.0)
            state = observer.arrays(
                instant.stamp_ns,
                position=wire.pick(instant.joints.position),
                velocity=wire.pick(instant.joints.velocity),
                torque=wire.pick(instant.joints.effort) * (-1.0 if mistake == "torque" else 1.0),
                gyro=rate,
                accelerometer=accelerometer(instant) * (-1.0 if mistake == "force" else 1.0),
            )
            valid += state.valid
            reasons.append(state.reason)
    assert words in reasons[-1] and bool(words) == bool(reasons[-1])
    assert valid < (10_000 if not words else 900)
