# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact flags: they say who carries where torque is missing, and are compared where it is not."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.added_sensors import ContactSwitches, copy_with, without_effort
from helpers.models import config, robot
from helpers.streams import STEP, both, feed, milliseconds

from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.contact.detection import ContactFlags
from prime_estimation.errors import DataError
from prime_estimation.evaluation.scores import evaluate
from prime_estimation.mhe.problem import Problem
from prime_estimation.recordings.replay import replay
from prime_estimation.sensors.contact_flags import (
    DOUBT_NODES,
    NAME,
    ContactFlagSensor,
    FlagSample,
    FlagTracker,
    carrying,
)
from prime_estimation.sensors.sensor import Aligned, Wearer
from prime_estimation.types import Measurement

FEET = ("FL", "FR")
STANDS, LIFTED = 50.0, 0.0  # N


def test_probability_of_carrying():
    np.testing.assert_allclose(carrying(np.array([0.0, 0.5, 1.0]), 0.1), [0.1, 0.5, 0.9])


# --- messages and time ----------------------------------------------------------------------------


def message(**fields):
    return SimpleNamespace(**{"name": ["FR", "FL"], "force": [1.0, 0.0], **fields})


@pytest.mark.parametrize(
    "fields, reason",
    [
        (dict(name=["FR", "RL"]), "no flag of FL"),
        (dict(force=[1.0]), "differ in length"),
        (dict(force=[1.0, 80.0]), "flags are 0 or 1"),
        (dict(force=[1.0, np.nan]), "NaN"),
    ],
)
def test_messages_that_are_no_flags(fields, reason):
    read = ContactFlagSensor().read
    assert read(message(), 5, 5, Wearer((), FEET, 0.01)).stands.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match=reason):
        read(message(**fields), 5, 5, Wearer((), FEET, 0.01))


@pytest.mark.parametrize("stands", [[0.0, 80.0], [-1.0, 1.0], [0.0, 1.1]])
def test_forces_are_no_flags(stands):
    """Those of a Python call had been taken for feet that stand."""
    sync = Synchronizer(STEP, 3, sensors=(NAME,), wearer=Wearer(("a", "b", "c"), FEET, 0.01))
    with pytest.raises(DataError, match="contact flags are 0 or 1; are these forces"):
        sync.push(FlagSample(5, np.array(stands)))
    sync.push(FlagSample(5, [True, False]))
    sync.push(FlagSample(6, np.array([0.3, np.nan])))
    assert sync.counts == {f"{NAME}_not_finite": 1}


def test_reading_is_the_share_of_the_step():
    """A foot that stands from 100 ms on: 0 before, 1 after, and one half in the node between."""
    readings = both(np.arange(0, 200, 2.0))
    start = readings[0].stamp_ns
    own = [
        FlagSample(start + 1_000_000 * t, np.array([float(t >= 100), 1.0]))
        for t in range(0, 200, 2)
    ]
    wearer = Wearer(("a", "b", "c"), FEET, 0.01)
    sync = Synchronizer(STEP, 3, sensors=(NAME,), wearer=wearer)
    nodes = feed(sync, sorted([*own, *readings], key=lambda s: s.stamp_ns))
    value = {round(t): m.readings.get(NAME) for t, m in zip(milliseconds(nodes), nodes)}
    assert value[90].value.tolist() == [0.0, 1.0]
    assert value[110].value[0] == pytest.approx(0.5, abs=0.15)  # centred at 100 ms
    assert value[130].value.tolist() == pytest.approx([1.0, 1.0])


# --- beside forces --------------------------------------------------------------------------------


@pytest.fixture
def tracker() -> FlagTracker:
    problem = Problem(robot("go2"), config("go2"), [NAME])
    return problem.measurements.trackers[NAME]


def test_foot_whose_flags_contradict_is_believed_less(tracker):
    """The third foot's switch is stuck closed while the foot steps."""
    for k in range(400):
        steps = k // 20 % 2
        force = np.array([STANDS, STANDS, STANDS * steps, STANDS])
        tracker.compare(np.array([1.0, 1.0, 1.0, 1.0]), force)
    least = tracker.problem.config.noise.contact_flag_error
    np.testing.assert_allclose(tracker.error[[0, 1, 3]], least)
    assert 0.35 < tracker.error[2] <= 0.5
    tracker._last = np.ones(4)
    assert tracker.health().startswith("contradict the forces in RL_foot ")


def test_single_wrong_flags_are_no_doubt(tracker):
    rng = np.random.default_rng(1)
    for k in range(400):
        stands = np.array([1.0, 0.0, k // 20 % 2, 1.0])
        wrong = rng.random(4) < 0.03
        tracker.compare(np.where(wrong, 1.0 - stands, stands), STANDS * stands)
    assert tracker.error.max() < 0.15
    tracker._last = np.ones(4)
    assert tracker.health() == ""
    assert tracker.innovation < 2.0


def test_touch_downs_are_not_compared(tracker):
    tracker.compare(np.full(4, 0.4), np.full(4, STANDS))
    assert np.isnan(tracker.innovation)
    tracker.compare(np.array([1.0, 1.0, 1.0, 0.0]), np.full(4, STANDS))
    doubt = tracker.innovation
    for _ in range(100):  # nor do they say that flags which were wrong are right
        tracker.compare(np.full(4, 0.4), np.full(4, STANDS))
    assert tracker.innovation == doubt


def test_frequency_of_contradictions_is_a_mean_from_the_first_node_on(tracker):
    """And nothing is concluded from it before there are enough of them."""
    stands, declared = np.ones(4), tracker.problem.config.noise.contact_flag_error
    for k in range(DOUBT_NODES - 1):
        tracker.compare(stands, np.array([LIFTED if k % 2 else STANDS, STANDS, STANDS, STANDS]))
    assert tracker.innovation * declared == pytest.approx(0.5 / 4, abs=0.002)
    np.testing.assert_allclose(tracker.error, declared)
    tracker._last = stands
    assert tracker.health() == ""
    tracker.compare(stands, np.array([LIFTED, STANDS, STANDS, STANDS]))
    np.testing.assert_allclose(tracker.error, [0.5, declared, declared, declared], atol=0.006)
    assert tracker.health() == "contradict the forces in FL_foot 50 % of the nodes"


# --- runs -----------------------------------------------------------------------------------------


def scores(bag, out, without=()) -> dict:
    said = {}

    def listen(estimate) -> None:
        said.update({s.name: s for s in estimate.status.sensors})

    go2 = robot("go2"), config_of_go2()
    summary = replay(bag, *go2, out, mocap=False, without=without, observer=listen)
    assert (NAME in summary.topics) == (NAME not in without)
    found = evaluate(out, bag)
    f1, velocity = found["contacts"]["mean_contact_f1"], found["odometry"]["velocity_rmse_mps"]
    return {"f1": f1, "velocity": velocity, "said": said}


def config_of_go2():
    from prime_estimation.config.parameters import Config

    return Config.load("go2")


@pytest.mark.slow
def test_contacts_without_torque_on_rough_ground(recorded_runs, tmp_path):
    switches = ContactSwitches(robot("go2").feet)
    source = recorded_runs / "go2_rough11_payload3"
    bag = copy_with(source, tmp_path / "bag.mcap", [switches], without_effort)
    with_flags = scores(bag, tmp_path / "flags.mcap")
    without = scores(bag, tmp_path / "none.mcap", (NAME,))
    assert with_flags["said"][NAME].ok
    assert with_flags["f1"] > without["f1"] + 0.01
    assert max(with_flags["velocity"], without["velocity"]) < 0.012  # motion tells as well


def test_swapped_switches_are_said_where_torque_is_measured(recorded_runs, tmp_path):
    feet = robot("go2").feet
    switches = ContactSwitches([feet[1], feet[0], *feet[2:]])

    def swapped(topic: str, m):
        named = topic == "/contacts"
        return dataclasses.replace(m, name=list(feet)) if named else m

    bag = copy_with(recorded_runs / "go2_payload3", tmp_path / "bag.mcap", [switches], swapped)
    found = scores(bag, tmp_path / "out.mcap")
    said = found["said"][NAME]
    assert not said.ok and "FL_foot" in said.message and "FR_foot" in said.message
    assert "RL_foot" not in said.message
    assert found["f1"] > 0.98  # torque knows better


# --- rigid contacts -------------------------------------------------------------------------------


def test_flags_of_the_rigid_model_without_torque():
    """Standing still, motion says that all feet carry; the sensor says that two are only near."""
    go2, zeros = robot("go2"), np.zeros(12)

    def standing(k: int, stands=None) -> Measurement:
        readings = {} if stands is None else {NAME: Aligned(np.array(stands), 3.0)}
        return Measurement(
            10_000_000 * k,
            zeros,
            zeros,
            np.zeros(3),
            accelerometer=np.array([0.0, 0.0, 9.81]),
            readings=readings,
        )

    flags = ContactFlags(go2)
    for k in range(5):
        seen = flags.update(standing(k))
    assert seen.all()
    for k in range(5, 10):
        seen = flags.update(standing(k, [1.0, 0.0, 0.0, 1.0]))
    assert seen.tolist() == [True, False, False, True]
