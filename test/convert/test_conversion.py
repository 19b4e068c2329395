# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""From a log to a bag: values, units, axes and stamps as they went in; bad input in one line."""

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from prime_estimation import cli
from prime_estimation.convert import convert
from prime_estimation.convert.mapping_file import mapping_of
from prime_estimation.errors import DataError
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns


def read(path) -> dict[str, list]:
    """Messages by topic as (seconds, message)."""
    found: dict[str, list] = {}
    with BagReader(path) as bag:
        for topic, arrival_ns, message in bag.messages():
            assert arrival_ns == stamp_ns(message.header)
            found.setdefault(topic, []).append((arrival_ns * 1e-9, message))
    return found


def converted(log, content: dict, tmp_path):
    """Conversion, and what stands in the bag."""
    out = tmp_path / "out.mcap"
    return convert(log, mapping_of(content), out), read(out)


def test_round_trip(table, mapping, write_csv, tmp_path):
    _, bag = converted(write_csv(table), mapping, tmp_path)
    joints, imu = bag["/joint_states"], bag["/imu"]
    assert [t for t, _ in joints] == pytest.approx(table["t"])
    assert joints[0][1].name == ["left", "right"]
    for field, key in (("position", "q"), ("velocity", "dq"), ("effort", "tau")):
        told = np.array([getattr(m, field) for _, m in joints])
        assert told == pytest.approx(np.stack([table[f"{key}0"], table[f"{key}1"]], 1), abs=1e-8)
    assert [m.linear_acceleration.z for _, m in imu] == pytest.approx(table["az"])
    assert imu[0][1].orientation_covariance[0] == -1.0


def test_units_signs_offsets_and_axes(table, mapping, write_csv, tmp_path):
    table["q0"], table["dq0"] = np.degrees(table["q0"] - 0.1), np.degrees(table["dq0"])
    table["q1"], table["dq1"] = -np.degrees(table["q1"]), -np.degrees(table["dq1"])
    table["tau1"] = -table["tau1"]
    left = {key: table[key].copy() for key in ("ax", "ay", "wx", "wy")}
    # an IMU whose x points to the left of the robot
    table["ax"], table["ay"] = left["ay"] / 9.80665, -left["ax"] / 9.80665
    table["wx"], table["wy"], table["az"] = left["wy"], -left["wx"], table["az"] / 9.80665
    mapping["joints"] |= {
        "signs": [1, -1],
        "offsets": [0.1, 0.0],
        "position": {"columns": "q{}", "unit": "deg"},
        "velocity": {"columns": "dq{}", "unit": "deg/s"},
    }
    mapping["imu"]["accelerometer"] = {"columns": ["ax", "ay", "az"], "unit": "g"}
    mapping["imu"]["rotation"] = [0.0, 0.0, np.pi / 2]
    _, bag = converted(write_csv(table), mapping, tmp_path)
    t = table["t"]
    assert [m.position[0] for _, m in bag["/joint_states"]] == pytest.approx(
        0.4 * np.sin(2.0 * t), abs=1e-7
    )
    assert [m.velocity[1] for _, m in bag["/joint_states"]] == pytest.approx(
        0.8 * np.cos(2.0 * t + 1), abs=1e-7
    )
    assert [m.effort[1] for _, m in bag["/joint_states"]] == pytest.approx(
        3.0 * np.cos(5.0 * t + 1), abs=1e-7
    )
    for axis in "xy":
        felt = [getattr(m.linear_acceleration, axis) for _, m in bag["/imu"]]
        assert felt == pytest.approx(left[f"a{axis}"], abs=1e-6)
        turned = [getattr(m.angular_velocity, axis) for _, m in bag["/imu"]]
        assert turned == pytest.approx(left[f"w{axis}"], abs=1e-6)


@pytest.mark.parametrize("name, column", [("position", "q0"), ("effort", "tau0")])
def test_garbage_beyond_its_limit_is_left_out(name, column, table, mapping, write_csv, tmp_path):
    table[column][50] = 30.0
    mapping["joints"][name] = {"columns": f"{column[:-1]}{{}}", "limit": 10.0}
    conversion, bag = converted(write_csv(table), mapping, tmp_path)
    assert len(bag["/joint_states"]) == len(table["t"]) - 1
    assert max(abs(v) for _, m in bag["/joint_states"] for v in getattr(m, name)) < 10.0


@pytest.mark.parametrize(
    ("section", "part", "columns", "topic"),
    [
        ("imu", "gyro", ["wx", "wy", "wz"], "/imu"),
        ("imu", "accelerometer", ["ax", "ay", "az"], "/imu"),
        ("mocap", "position", ["X", "Y", "Z"], "/mocap/pose"),
        ("foot_force", "values", ["f0", "f1"], "/foot_force"),
    ],
)
def test_limits_are_those_of_their_columns(
    section, part, columns, topic, table, mapping, write_csv, tmp_path
):
    """A glitch in every column of the log; the row is left out of that sensor alone."""
    t = table["t"]
    table |= {"X": 1.0 * t, "Y": 2.0 * t, "Z": 0.5 + 0.0 * t, "f0": 20.0 + t, "f1": 40.0 - t}
    table |= {f"q{axis}": 0.0 * t for axis in "xyz"} | {"qw": 1.0 + 0.0 * t}
    for name in (*"XYZ", "f0", "wx", "ax"):
        table[name][50] = 300.0
    mapping["mocap"] = {
        "position": list("XYZ"),
        "orientation": {"columns": [f"q{c}" for c in "xyzw"]},
    }
    mapping["foot_force"] = {"names": ["a", "b"], "values": "f{}"}
    mapping[section][part] = {"columns": columns, "limit": 100.0}
    _, bag = converted(write_csv(table), mapping, tmp_path)
    lengths = {name: len(messages) for name, messages in bag.items()}
    assert lengths.pop(topic) == len(t) - 1 and set(lengths.values()) == {len(t)}


def test_stamps_of_another_unit_than_said(table, mapping, write_csv, tmp_path):
    table["t"] = 1e3 * (1.7e9 + table["t"])
    with pytest.raises(DataError, match="is the unit of the stamps"):
        converted(write_csv(table), mapping, tmp_path)


@pytest.mark.parametrize("factor", [1e-3, 1e-9, 1e3])
def test_rates_that_no_sensor_has(factor, table, mapping, write_csv, tmp_path):
    """Stamps in s that are read as ms or ns, and in ms that are read as s."""
    table["t"] = np.arange(len(table["t"])) * factor / 200.0
    np.savetxt(
        log := tmp_path / "log.csv",
        np.stack(list(table.values()), axis=1),
        delimiter=",",
        header=",".join(table),
        comments="",
    )
    with pytest.raises(DataError, match="times a second: is the unit"):
        convert(log, mapping_of(mapping), tmp_path / "out.mcap")


def test_orientation_mocap_feet_and_targets(table, mapping, write_csv, tmp_path):
    t = table["t"]
    turn = Rotation.from_euler("xyz", np.stack([0.1 * t, 0.05 * t, 0.2 * t], axis=1))
    for name, column in zip(("qx", "qy", "qz", "qw"), turn.as_quat().T):
        table[name] = column
    # motion capture whose y points upwards, in millimetres, stamped 0.3 s late
    body = Rotation.from_euler("x", -np.pi / 2) * turn
    for name, column in zip(("rx", "ry", "rz"), body.as_euler("xyz", degrees=True).T):
        table[name] = column
    table |= {"X": 1e3 * t, "Y": np.full_like(t, 300.0), "Z": 0.0 * t}
    table |= {"f0": 20.0 + 0.0 * t, "f1": 100.0 + t, "d0": 0.0 * t, "d1": 0.1 + 0.0 * t}
    mapping["joints"]["effort"] = None
    mapping["joints"]["targets"] = {"position": "d{}", "kp": 20, "kd": 0.5}
    mapping["joints"]["offsets"] = [0.0, 0.3]  # of measured and desired positions alike
    mapping["joints"]["command_delay"] = 0.01
    mapping["imu"]["orientation"] = {"columns": ["qw", "qx", "qy", "qz"], "order": "wxyz"}
    mapping["imu"]["rotation"] = [0.0, 0.0, np.pi / 2]
    mapping["mocap"] = {
        "delay": 0.3,
        "position": {"columns": ["X", "Y", "Z"], "unit": "mm"},
        "orientation": {"columns": ["rx", "ry", "rz"], "order": "xyz", "unit": "deg"},
        "world_rotation": [np.pi / 2, 0.0, 0.0],
    }
    mapping["imu"]["delay"] = 0.002
    mapping["foot_force"] = {"names": ["a", "b"], "values": "f{}", "delay": 0.004}
    mapping["contacts"] = {"names": ["a", "b"], "values": "f{}", "threshold": 50}
    mapping["held"] = {"drop": False}
    conversion, bag = converted(write_csv(table), mapping, tmp_path)
    assert conversion.shift == 0.0
    seconds, imu = bag["/imu"][100]
    assert seconds == pytest.approx(t[100] - 0.002)
    own = Rotation.from_quat([getattr(imu.orientation, c) for c in "xyzw"])
    # the orientation of the frame that the readings were turned into
    back = turn[100] * Rotation.from_euler("z", -np.pi / 2)
    assert (own * back.inv()).magnitude() < 1e-6
    seconds, pose = bag["/mocap/pose"][100]
    assert seconds == pytest.approx(t[100] - 0.3)
    assert (pose.pose.position.x, pose.pose.position.z) == pytest.approx((t[100], 0.3))
    seen = Rotation.from_quat([getattr(pose.pose.orientation, c) for c in "xyzw"])
    assert (seen * turn[100].inv()).magnitude() < 1e-6
    assert bag["/foot_force"][0][1].name == ["a", "b"]
    assert bag["/foot_force"][100][0] == pytest.approx(t[100] - 0.004)
    assert bag["/contacts"][0][1].force.tolist() == [0.0, 1.0]
    seconds, command = bag["/joint_commands"][7]
    assert seconds == pytest.approx(t[7] + 0.01)
    wanted = 20.0 * (0.1 - table["q1"][7]) - 0.5 * table["dq1"][7]
    assert command.effort[1] == pytest.approx(wanted, abs=1e-6)
    assert len(bag["/joint_states"][0][1].effort) == 0


def test_held_rows_garbage_and_the_beginning_of_time(table, mapping, write_csv, tmp_path):
    table["t"] = table["t"] - 3.0
    for name, column in table.items():
        if name.startswith("w") or name.startswith("a"):
            table[name] = column[np.arange(400) // 4 * 4]
    table["q0"][10], table["dq1"][20] = np.nan, 1e3
    mapping["joints"]["velocity"] = {"columns": "dq{}", "limit": 50}
    table |= {f"f{i}": (10.0 * i + table["t"])[np.arange(400) // 2 * 2] for i in (0, 1)}
    mapping["foot_force"] = {"names": ["a", "b"], "values": "f{}"}
    conversion, bag = converted(write_csv(table), mapping, tmp_path)
    told = {s.topic: dict(s.left_out) for s in conversion.series}
    assert told == {
        "joint_states": {"not finite": 1, "velocity beyond limit": 1},
        "imu": {"held": 300},
        "foot_force": {"held": 200},
    }
    assert len(bag["/imu"]) == 100 and conversion.shift == 1.0
    assert bag["/imu"][1][0] == pytest.approx(1.02)


def test_torques_that_are_read_at_other_rows(table, mapping, write_csv, tmp_path):
    for name in ("q0", "q1", "dq0", "dq1"):
        table[name] = table[name][np.arange(400) // 2 * 2]
    conversion, _ = converted(write_csv(table), mapping, tmp_path)
    assert "map it as joints.command" in conversion.notes[0]


def test_a_seam_is_a_gap_in_the_bag(table, mapping, write_csv, tmp_path):
    for name in ("q0", "q1"):
        table[name][200:] += 0.5
        table[name][350:] += 0.5
    conversion, bag = converted(write_csv(table), mapping, tmp_path)
    # where the parts begin in the bag
    begins = [bag["/joint_states"][row][0] for row in (200, 350)]
    assert conversion.seams == pytest.approx(begins)
    for topic in ("/joint_states", "/imu"):
        steps = np.diff([t for t, _ in bag[topic]])
        assert np.flatnonzero(steps > 0.9).tolist() == [199, 349]


def test_parts_whose_joints_tell_the_time_follow_each_other(table, mapping, write_csv, tmp_path):
    for name in ("q0", "q1"):
        table[name][200:] += 0.5
    mapping["files"]["log"]["time"] = {"rate": 200.0, "from_rates": True}
    _, bag = converted(write_csv(table), mapping, tmp_path)
    steps = np.diff([t for t, _ in bag["/joint_states"]])
    assert len(steps) == 399 and np.delete(steps, 199) == pytest.approx(0.005, abs=1e-3)
    assert steps[199] == pytest.approx(1.005, abs=1e-6)


def test_a_pause_is_its_own_gap(table, mapping, write_csv, tmp_path):
    table["t"][200:] += 2.0
    conversion, bag = converted(write_csv(table), mapping, tmp_path)
    assert conversion.seams == []
    assert [t for t, _ in bag["/imu"]] == pytest.approx(table["t"])


@pytest.mark.parametrize("still", ["wx wy wz", "ax ay az"])
def test_either_sensor_of_an_imu_tells_a_fresh_reading(still, table, mapping, write_csv, tmp_path):
    for name in still.split():
        table[name][:] = 1.0
    _, bag = converted(write_csv(table), mapping, tmp_path)
    assert len(bag["/imu"]) == 400


def test_a_seam_is_that_row_of_the_file(table, mapping, write_csv, tmp_path):
    """Whatever rows before it have no stamp of their own."""
    table["t"][50:60] = table["t"][49]
    mapping["files"]["log"]["time"]["irregular"] = "drop"
    mapping["seams"] = {"rows": [395]}
    conversion, bag = converted(write_csv(table), mapping, tmp_path)
    times = np.array([t for t, _ in bag["/joint_states"]])
    assert len(conversion.seams) == 1 and np.flatnonzero(np.diff(times) > 0.9) == [384]


def test_the_orientation_of_another_file_changes_sign(table, mapping, write_csv, tmp_path):
    """A quaternion and its negative are one, and nothing lies between them."""
    angle = 3.0 + 0.4 * (table["t"] - 3.0)
    quat = Rotation.from_euler("z", angle[:, None]).as_quat()
    quat[angle > np.pi] *= -1.0
    write_csv(table, "log.csv")
    others = {f"q{axis}": column for axis, column in zip("xyzw", quat.T)}
    write_csv({"t": table["t"] + 0.0025, **others}, "own.csv")
    mapping["files"] = {
        name: {"path": f"{name}.csv", "time": {"column": "t"}} for name in ("log", "own")
    }
    mapping["joints"]["file"] = mapping["imu"]["file"] = "log"
    mapping["imu"]["orientation"] = {"columns": list(others), "file": "own"}
    _, bag = converted(tmp_path, mapping, tmp_path)
    turns = [(t, m.orientation) for t, m in bag["/imu"]]
    told = np.unwrap([2.0 * np.arctan2(o.z, o.w) for _, o in turns])
    expected = 3.0 + 0.4 * (np.array([t for t, _ in turns]) - 3.0025)
    assert np.angle(np.exp(1j * (told - expected))) == pytest.approx(0.0, abs=1e-4)


def test_two_files_of_one_sensor(table, mapping, write_csv, tmp_path):
    rates = {name: table.pop(name) for name in ("dq0", "dq1")}
    write_csv(table, "positions.csv")
    write_csv({"t": table["t"] + 0.0025, **rates}, "rates.csv")
    mapping["files"] = {
        name: {"path": f"{name}.csv", "time": {"column": "t"}} for name in ("positions", "rates")
    }
    mapping["joints"] |= {"file": "positions", "velocity": {"columns": "dq{}", "file": "rates"}}
    mapping["imu"]["file"] = "positions"
    conversion, bag = converted(tmp_path, mapping, tmp_path)
    # the first position lies before the first rate
    assert dict(conversion.series[0].left_out) == {"not finite": 1}
    assert bag["/joint_states"][5][1].velocity[0] == pytest.approx(
        0.8 * np.cos(2.0 * (bag["/joint_states"][5][0] - 0.0025)), abs=1e-4
    )


def test_nothing_left(table, mapping, write_csv, tmp_path):
    mapping["joints"]["velocity"] = {"columns": "dq{}", "limit": 1e-9}
    with pytest.raises(DataError, match="joint_states: no row is left"):
        converted(write_csv(table), mapping, tmp_path)
    assert not (tmp_path / "out.mcap").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda c, m: m["joints"].update(position="p{}"), "has no column 'p0'"),
        (lambda c, m: c["q1"].fill(np.nan), "column 'q1' (joints.position) is NaN throughout"),
        (lambda c, m: c["t"].__setitem__(5, c["t"][4]), "stamps repeat or go back in 1 of 400"),
        (lambda c, m: m["joints"].update(unit="deg"), "unknown key 'joints.unit'"),
        (lambda c, m: m.update(robot="go2"), "go2 has no joint 'left'"),
        (lambda c, m: m["imu"].update(gyro=["wx", "wy"]), "has 3 columns per quantity"),
    ],
)
def test_bad_input_is_one_line(spoil, said, table, mapping, write_csv, tmp_path, capsys):
    spoil(table, mapping)
    path = tmp_path / "log.yaml"
    path.write_text(yaml.safe_dump(mapping))
    out = tmp_path / "out.mcap"
    code = cli.main(["convert", str(write_csv(table)), "--mapping", str(path), "--out", str(out)])
    error = capsys.readouterr().err.strip()
    assert code == 2 and said in error and "\n" not in error and not out.exists()


def test_command_line(table, mapping, write_csv, tmp_path, capsys):
    path = tmp_path / "log.yaml"
    path.write_text(yaml.safe_dump(mapping))
    out = tmp_path / "out.mcap"
    words = ["convert", str(write_csv(table)), "--mapping", str(path), "--out", str(out)]
    assert cli.main(words) == 0
    assert "joint_states" in capsys.readouterr().out and out.is_file()
    assert cli.main(["convert", "--keys"]) == 0
    assert "`joints.position`" in capsys.readouterr().out
    assert cli.main(["convert", "log.csv"]) == 2
    assert "--mapping is missing" in capsys.readouterr().err


def test_rows_whose_stamps_repeat_are_counted(table, mapping, write_csv, tmp_path):
    table["t"][100:120] = table["t"][99]
    mapping["files"]["log"]["time"]["irregular"] = "drop"
    conversion, bag = converted(write_csv(table), mapping, tmp_path)
    assert len(bag["/imu"]) == 380
    for series in conversion.series:
        assert series.left_out["with stamps that repeat or go back"] == 20


def test_one_row_is_no_recording(table, mapping, write_csv, tmp_path):
    table["t"][:] = 3.0
    mapping["files"]["log"]["time"]["irregular"] = "drop"
    with pytest.raises(DataError, match="1 is left .left out: 399 with stamps that repeat"):
        converted(write_csv(table), mapping, tmp_path)
