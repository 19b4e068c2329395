# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Recordings that can calibrate nothing, or are of two robots, are refused in one line."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, sway, swinging

from prime_estimation.calibration.offsets import Offsets
from prime_estimation.calibration.position_scale import check_scale
from prime_estimation.calibration.recording import MocapPoses, _check_stance, read_recording
from prime_estimation.calibration.rotations import exp, right_jacobian, rotate
from prime_estimation.calibration.suitability import (
    check_frame,
    check_motion,
    check_noise,
    check_turning,
    check_units,
    loses_contact,
)
from prime_estimation.calibration.trajectory import initial_offsets
from prime_estimation.calibration.travel import check_travel
from prime_estimation.cli import main
from prime_estimation.convert import convert, load_mapping
from prime_estimation.errors import DataError
from prime_estimation.io.bag import BagReader, BagWriter
from prime_estimation.robot import Robot


@pytest.fixture(scope="module")
def machine():
    robot = go2_on_points()
    truth = bent(robot)
    return truth, sway(robot, truth)


def in_a_world(recording, turn):
    """The recording with motion capture in another world."""
    m = recording.mocap
    poses = replace(m, position=m.position @ turn.T, rotation=turn @ m.rotation)
    return replace(recording, mocap=poses)


@pytest.mark.parametrize(
    "turn, up",
    [
        (np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), "y"),
        (np.diag([1.0, -1.0, -1.0]), "-z"),
    ],
)
def test_motion_capture_whose_z_is_not_up(machine, turn, up):
    truth, recording = machine
    check_motion(recording)
    check_frame(recording, initial_offsets(recording, truth))
    turned = in_a_world(recording, turn)
    with pytest.raises(DataError, match=f"'up' is {up}, "):
        check_frame(turned, initial_offsets(turned, truth))


def test_a_heading_is_free(machine):
    truth, recording = machine
    turned = in_a_world(recording, np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    check_frame(turned, initial_offsets(turned, truth))


def test_a_robot_that_stands(machine):
    _, recording = machine
    rng = np.random.default_rng(0)
    still = replace(recording, gyro=0.005 * rng.normal(size=recording.gyro.shape))
    with pytest.raises(DataError, match="the base hardly turns"):
        check_motion(still)


def test_a_robot_whose_feet_never_leave_the_ground(machine):
    """Flags that flicker do not make a step of it; a foot that swings, and a jump, do."""
    truth, recording = machine
    robot = go2_on_points()
    flickering = recording.stance.copy()
    flickering[20:30, 1] = False
    standing = replace(recording, stance=flickering)
    assert not loses_contact(standing, robot, truth)
    with pytest.raises(DataError, match="sway, sway: no foot ever leaves the ground"):
        check_noise([recording, standing], robot, truth)
    stepping = swinging(robot, recording, 2)
    assert loses_contact(stepping, robot, truth)
    check_noise([recording, stepping], robot, truth)
    flickering[20:30] = False
    assert loses_contact(standing, robot, truth)


def test_noise_of_a_recording_that_sways(recorded_runs, tmp_path, capfd):
    command = ["calibrate", str(recorded_runs / "go2_bent_sway"), "--robot", "go2", "--to", "6"]
    command += ["--out", str(tmp_path)]
    assert main([*command, "--what", "mocap,noise"]) == 2
    told = capfd.readouterr().err
    assert "no foot ever leaves the ground" in told and told.count("\n") == 1
    assert main([*command, "--what", "mocap"]) == 0
    notices = json.loads((tmp_path / "calibration.json").read_text())["notices"]
    assert any("its offsets are those of this stance" in line for line in notices)


def test_a_recording_of_a_machine_that_lies_still(real, tmp_path, capfd):
    """Before it gets up."""
    convert(real / "a1_sipo_mocap", load_mapping("sipo_a1"), tmp_path / "a1.mcap")
    command = ["calibrate", str(tmp_path / "a1.mcap"), "--robot", "a1", "--to", "3"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 2
    told = capfd.readouterr().err
    assert "or the recording hardly moves" in told and told.count("\n") == 1


def test_motion_capture_of_another_clock(recorded_runs):
    """A third of a second late."""
    robot = Robot.load("go2")
    recording = read_recording(recorded_runs / "go2_bent_walk", robot, span=(0.0, 5.0))
    nominal, late = Offsets.nominal(robot), 33
    check_turning(recording, initial_offsets(recording, nominal))
    inside = recording.mocap.node < len(recording) - late
    m = MocapPoses(*(getattr(recording.mocap, f.name)[inside] for f in fields(MocapPoses)))
    shifted = replace(recording, mocap=replace(m, node=m.node + late))
    with pytest.raises(DataError, match="its stamps are of another clock"):
        check_turning(shifted, initial_offsets(shifted, nominal))


def test_motion_capture_that_comes_rarely(recorded_runs, tmp_path, capfd):
    rare = tmp_path / "rare.mcap"
    with BagReader(recorded_runs / "go2_bent_walk") as bag, BagWriter(rare) as writer:
        sensors, poses, last = ("/joint_states", "/imu", "/mocap/pose"), 0, bag.start_ns + 3 * 10**9
        for topic, arrival_ns, message in bag.messages(sensors):
            poses += topic == "/mocap/pose"
            if arrival_ns < last and (topic != "/mocap/pose" or poses % 20 == 0):
                writer.write(topic, arrival_ns, message)
    options = ["--robot", "go2", "--out", str(tmp_path / "out")]
    assert main(["calibrate", str(rare), *options]) == 2
    told = capfd.readouterr().err
    assert "poses in 3.0 s; calibration needs 10 a second" in told and told.count("\n") == 1


@pytest.mark.parametrize("weighed, told", [(False, "none are recorded"), (True, "on the ground")])
def test_feet_that_never_stand_by_what_was_recorded(weighed, told):
    """Without torques motion alone tells when they do."""
    with pytest.raises(DataError, match=f"RR_foot never stands; .*{told}$"):
        _check_stance("run", Robot.load("go2"), np.zeros((200, 4), bool), weighed)


def test_bags_of_two_robots(recorded_runs, tmp_path, capfd):
    bags = [str(recorded_runs / name) for name in ("go2_nominal", "go1_nominal")]
    options = ["--robot", "go2", "--to", "5", "--workers", "1", "--out", str(tmp_path)]
    assert main(["calibrate", *bags, *options]) == 2
    told = capfd.readouterr().err
    assert "they are not of one machine" in told and told.count("\n") == 1


def test_readings_in_another_unit(machine):
    _, recording = machine
    check_units(recording)
    imu = replace(recording.imu, velocity=recording.imu.velocity / 9.81)
    with pytest.raises(DataError, match=r"reads 1.0. m/s.2 in the mean, .* is it in g\?"):
        check_units(replace(recording, imu=imu))
    with pytest.raises(DataError, match="change by 1.7. % of what their rates say"):
        check_units(replace(recording, rate=np.degrees(recording.rate)))
    still = np.broadcast_to(recording.angle[0], recording.angle.shape)
    with pytest.raises(DataError, match="change by 0 % of what"):
        check_units(replace(recording, angle=still))


def with_positions(recording, position):
    """The recording with motion capture elsewhere."""
    return replace(recording, mocap=replace(recording.mocap, position=position))


@pytest.mark.parametrize(
    "axes, words",
    [
        (np.diag([1.0, -1.0, 1.0]), r"\(x, -y, z\).* mirrored, left-handed axes"),
        (np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), "positions of another"),
    ],
)
def test_positions_along_other_axes(machine, axes, words):
    truth, recording = machine
    robot = go2_on_points()
    check_travel(recording, robot, initial_offsets(recording, Offsets.nominal(robot)))
    other = with_positions(recording, recording.mocap.position @ axes.T)
    with pytest.raises(DataError, match=words):
        check_travel(other, robot, initial_offsets(other, truth))


def test_positions_in_another_unit(machine):
    truth, recording = machine
    other = with_positions(recording, 1e3 * recording.mocap.position)
    with pytest.raises(DataError, match="travels .* times as far .* not in metres"):
        check_travel(other, go2_on_points(), initial_offsets(other, truth))
    other = with_positions(recording, 0.0 * recording.mocap.position)
    with pytest.raises(DataError, match="or stay where they are"):
        check_travel(other, go2_on_points(), initial_offsets(other, truth))


@pytest.mark.parametrize("scale", [0.8, 1.3])
def test_positions_of_a_wrong_scale(scale, machine):
    """That legs of other lengths might explain."""
    truth, recording = machine
    robot = go2_on_points()
    check_scale(recording, robot, initial_offsets(recording, Offsets.nominal(robot)))
    other = with_positions(recording, scale * recording.mocap.position)
    check_travel(other, robot, initial_offsets(other, truth))
    with pytest.raises(DataError, match=f"accelerated {scale:.1f}.* times as much as the IMU"):
        check_scale(other, robot, initial_offsets(other, truth))


def test_orientations_that_are_inverse_or_none(machine):
    """Of a robot that turns by more than some degrees."""
    truth, recording = machine
    t = recording.step * np.arange(len(recording))
    often = np.array([3.0, 4.1, 5.3])
    w, dw = 0.8 * np.sin(often * t[:, None]), 0.8 * often * np.cos(often * t[:, None])
    turns = exp(w)
    recording = replace(recording, gyro=rotate(right_jacobian(w), dw) @ truth.imu_rotation)
    right = replace(recording, mocap=replace(recording.mocap, rotation=turns))
    check_turning(right, initial_offsets(right, truth))
    for rotation, words in (
        (np.swapaxes(turns, 1, 2), r"in the order \(w, x, y, z\)"),
        (np.broadcast_to(np.eye(3), turns.shape), "tracks a point"),
    ):
        other = replace(recording, mocap=replace(recording.mocap, rotation=rotation))
        with pytest.raises(DataError, match=words):
            check_turning(other, initial_offsets(other, truth))
