# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings that our own simulator did not make: no false alarm, and what real logs hide."""

import itertools

import pytest
from helpers.spoiling import SENSORS, write

from prime_estimation.config.parameters import Config
from prime_estimation.convert import convert, load_mapping
from prime_estimation.doctor import examine
from prime_estimation.doctor.recording import read_recording
from prime_estimation.io.bag import BagReader
from prime_estimation.robot import Robot

CLEAN = (
    "go2_nominal",
    "go2_stairs_payload3",
    "go2_lift_payload3",
    "go1_bumps_payload3",
    "g1_hands15",
)


def examined(bag, robot: str, seconds: float = 11.0):
    config = Config.load(robot)
    model = Robot(config.robot)
    return examine(read_recording(bag, model, longest=seconds), model, config)


@pytest.mark.slow
@pytest.mark.parametrize("run", CLEAN)
def test_no_false_alarm(run, recorded_runs):
    assert [f.text for f in examined(recorded_runs / run, run.split("_")[0]).faults] == []


def test_seldom_torques_tell_no_armature(recorded_runs, tmp_path):
    """Of joints read every 10 ms the torques of a swing are guessed between readings."""
    number = itertools.count()

    def seldom(topic, seconds, message):
        return None if topic == "/joint_states" and next(number) % 5 else message

    with BagReader(recorded_runs / "go2_payload3") as bag:
        spoilt = write(tmp_path / "seldom.mcap", list(bag.messages(SENSORS)), seldom)
    found = {f.name: f for f in examined(spoilt, "go2").findings}
    assert found["timing.joint_states"].evidence["rate_hz"] == pytest.approx(100.0, rel=0.01)
    assert "torques" in found and "torques.armature" not in found


def test_motion_capture_of_the_sipo_recording_is_late(real, tmp_path):
    bag = tmp_path / "a1.mcap"
    convert(real / "a1_sipo_mocap", load_mapping("sipo_a1"), bag)
    found = {f.name: f for f in examined(bag, "a1", 27.0).findings}
    assert [f.name for f in found.values() if f.severity == "fault"] == ["delay.mocap"]
    assert found["delay.mocap"].evidence["seconds"] == pytest.approx(0.33, abs=0.02)
    assert found["imu.gravity"].evidence["mean"] == pytest.approx(9.81, abs=0.1)


def test_a_robot_that_trots_in_the_air_has_no_fault(real, tmp_path):
    """Its torques are not too small: no factor makes the feet carry it."""
    bag = tmp_path / "air.mcap"
    log = real / "mini_cheetah_umich" / "air_walking_gait.npz"
    convert(log, load_mapping("mini_cheetah_umich"), bag)
    found = {f.name: f for f in examined(bag, "mini_cheetah", 10.0).findings}
    assert [f.text for f in found.values() if f.severity == "fault"] == []
    assert found["mechanics"].severity == "unknown" and "hangs" in found["mechanics"].text


def test_mini_cheetah_fits_once_its_clock_is_told_by_the_joints(real, tmp_path):
    bag = tmp_path / "sidewalk.mcap"
    log = real / "mini_cheetah_umich" / "sidewalk.npz"
    conversion = convert(log, load_mapping("mini_cheetah_umich"), bag)
    held = {
        s.topic: s.left_out["held"] / (s.left_out["held"] + len(s.times)) for s in conversion.series
    }
    assert held["joint_states"] > 0.5 and held["imu"] > 0.7
    found = {f.name: f for f in examined(bag, "mini_cheetah", 30.0).findings}
    assert [f.name for f in found.values() if f.severity == "fault"] == []
    assert abs(found["delay.torque"].evidence["seconds"]) < 0.005
    assert found["mechanics"].evidence["force"] < 0.3 and found["mechanics"].evidence["swing"] < 0.3
    assert min(found["rates"].evidence["slope"].values()) > 0.97
