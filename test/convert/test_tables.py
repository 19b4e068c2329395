# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Files of every format hold the same columns; what cannot be read is said in one line."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn

from prime_estimation.convert.mapping import Clock, Columns, LogFile, Rotation
from prime_estimation.convert.tables import open_table
from prime_estimation.convert.units import UNITS, factor_to_si
from prime_estimation.errors import DataError

T = np.arange(6) * 0.1
Q = np.stack([T + 1.0, T + 2.0], axis=1)


def opened(log, **keys):
    return open_table(log, "log", LogFile(time=Clock(column="t"), **keys))


def saved(kind: str, folder):
    path = folder / f"log.{kind}"
    rows = np.column_stack([T, Q])
    if kind == "csv":
        np.savetxt(path, rows, delimiter=",", header="t,q0,q1", comments="")
    elif kind == "txt":
        np.savetxt(path, rows, header="t q0 q1", comments="")
    elif kind == "npz":
        np.savez(path, t=T, q0=Q[:, 0], q1=Q[:, 1])
    elif kind == "mat":
        pytest.importorskip("scipy.io").savemat(path, {"t": T, "q0": Q[:, 0], "q1": Q[:, 1]})
    else:
        pytest.importorskip("pyarrow")
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({"t": T, "q0": Q[:, 0], "q1": Q[:, 1]})
        pyarrow.parquet.write_table(table, path)
    return path


@pytest.mark.parametrize(
    ("kind", "unit", "factor"),
    [
        ("time", "ms", 1e-3),
        ("time", "us", 1e-6),
        ("time", "ns", 1e-9),
        ("angle", "deg", 0.017453292519943295),
        ("angle", "turn", 6.283185307179586),
        ("rate", "deg/s", 0.017453292519943295),
        ("rate", "turn/s", 6.283185307179586),
        ("rate", "rpm", 0.10471975511965978),
        ("torque", "mNm", 1e-3),
        ("stiffness", "Nm/deg", 57.29577951308232),
        ("damping", "Nm s/deg", 57.29577951308232),
        ("acceleration", "g", 9.80665),
        ("acceleration", "mg", 9.80665e-3),
        ("length", "cm", 1e-2),
        ("length", "mm", 1e-3),
        ("force", "kgf", 9.80665),
    ],
)
def test_units(kind, unit, factor):
    assert factor_to_si(kind, unit, "log") == pytest.approx(factor, rel=1e-14)
    assert factor_to_si(kind, "", "log") == factor_to_si(kind, next(iter(UNITS[kind])), "log") == 1


@pytest.mark.parametrize("kind", ["csv", "txt", "npz", "mat", "parquet"])
def test_formats(kind, tmp_path):
    table = opened(saved(kind, tmp_path))
    assert table.column("t") == pytest.approx(T)
    assert table.quantity(Columns("q{}"), 2, "angle", "q") == pytest.approx(Q)


def test_without_header(tmp_path):
    path = tmp_path / "log.dat"
    np.savetxt(path, np.column_stack([T, Q]))
    table = opened(path, header=False, names=["t", "left", "right"])
    assert table.quantity(Columns(["right"], "deg"), 1, "angle", "q")[:, 0] == pytest.approx(
        np.radians(Q[:, 1])
    )
    with pytest.raises(DataError, match="has 3 columns, but 'names' has 2"):
        opened(path, header=False, names=["t", "left"])


def test_arrays_scalars_and_structures(tmp_path):
    path = tmp_path / "log.mat"
    pytest.importorskip("scipy.io").savemat(path, {"run": {"q": Q, "dt": 0.1, "name": "trot"}})
    table = opened(path)
    assert table.quantity(Columns("run.q"), 2, "angle", "q") == pytest.approx(Q)
    assert table.scalar("run.dt") == 0.1
    with pytest.raises(DataError, match="no scalar 'run.step'; did you mean 'run.dt'|known are"):
        table.scalar("run.step")


def test_a_name_twice_and_garbage_rows(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,x,x\n9,9,9\n0,1,2\n1,3,4\n2,5,6\n")
    table = opened(path, drop_first=1)
    assert table.column("x").tolist() == [1, 3, 5] and table.column("x#2").tolist() == [2, 4, 6]


def test_the_comment_above_the_rows_names_them(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("# run 7, Go2\n# t q0 q1\n0 1 2\n1 3 4\n")
    assert opened(path).column("q1").tolist() == [2, 4]


def test_an_array_of_one_row_is_a_column(tmp_path):
    np.savez(tmp_path / "log.npz", t=T[None], q0=T[:, None])
    assert opened(tmp_path / "log.npz").column("q0") == pytest.approx(T)


def test_rotations(tmp_path):
    path = tmp_path / "log.csv"
    half = np.sqrt(0.5)
    path.write_text(f"t,a,b,c,d\n0,{half},0,0,{half}\n1,0,0,0,0\n2,1,0,0,0\n")
    table = opened(path)
    quat = table.rotation(Rotation(["a", "b", "c", "d"], "wxyz"), "imu.orientation")
    assert quat[0] == pytest.approx([0, 0, half, half]) and quat[2] == pytest.approx([0, 0, 0, 1])
    assert np.isnan(quat[1]).all()
    turned = table.rotation(Rotation(["b", "c", "a"], "xyz", "deg"), "imu.orientation")
    assert turned[2] == pytest.approx([0, 0, np.sin(np.radians(0.5)), np.cos(np.radians(0.5))])


def test_what_is_no_unit_quaternion_is_no_reading(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,a,b,c,d\n0,0,0,0,1.03\n1,0,0,0,0.9\n2,0,0,0,1.1\n")
    quat = opened(path).rotation(Rotation(["a", "b", "c", "d"]), "imu.orientation")
    assert quat[0].tolist() == [0, 0, 0, 1] and np.isnan(quat[1:]).all()


@pytest.mark.parametrize("order", ["ZYX", "zyx"])
def test_a_heading_may_be_unwrapped(order, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,a,b,c\n0,20,0.1,0.2\n1,21,0.1,0.2\n")
    quat = opened(path).rotation(Rotation(["a", "b", "c"], order), "imu.orientation")
    yaw, pitch, roll = (Turn.from_rotvec(v) for v in ([0, 0, 20], [0, 0.1, 0], [0.2, 0, 0]))
    expected = yaw * pitch * roll if order == "ZYX" else roll * pitch * yaw
    assert (Turn.from_quat(quat[0]) * expected.inv()).magnitude() < 1e-12


def test_constants(tmp_path):
    table = opened(saved("csv", tmp_path))
    assert table.quantity(Columns(20.0), 2, "stiffness", "kp").tolist() == [[20.0, 20.0]] * 6
    mixed = table.quantity(Columns([0, "q1"]), 2, "torque", "tau")
    assert mixed[:, 0].tolist() == [0.0] * 6 and mixed[:, 1] == pytest.approx(Q[:, 1])


def test_a_number_that_is_the_name_of_a_column_is_no_constant(tmp_path):
    """As a data frame without names writes its header: 1 would be one radian throughout."""
    path = tmp_path / "log.csv"
    np.savetxt(path, np.column_stack([T, Q]), delimiter=",", header="t,1,2", comments="")
    table = opened(path)
    for columns in ([1, 2], ["1", 2], 1):
        with pytest.raises(DataError, match=r"q: [12] is a constant, but .*write '[12]' for the"):
            table.quantity(Columns(columns), 2, "angle", "q")
    assert table.quantity(Columns(["1", "2"]), 2, "angle", "q") == pytest.approx(Q)
    assert table.quantity(Columns(["1", 2.0]), 2, "angle", "q")[:, 1].tolist() == [2.0] * 6


def test_a_single_number_is_no_column(tmp_path):
    np.savez(tmp_path / "log.npz", t=T, q=Q, kp=3.0)
    with pytest.raises(DataError, match="'kp' is a single number, where a column of 6 rows"):
        opened(tmp_path / "log.npz").column("kp")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("t,q0\n0,1\n1,2\n", "has no column 'q1'; known are t, q0"),
        ("t,q0,q1\n0,1,nan\n1,2,nan\n", "column 'q1' .q. is NaN throughout"),
        ("t,q0,q1\n0,1,\n1,2,\n", "column 'q1' .q. is NaN throughout"),
    ],
)
def test_bad_columns(content, said, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=said) as error:
        opened(path).quantity(Columns("q{}"), 2, "angle", "q")
    assert "\n" not in str(error.value)


def test_bad_files(tmp_path):
    (tmp_path / "other.csv").write_text("t\n1\n")
    with pytest.raises(DataError, match="no file .*log.csv; there are other.csv"):
        opened(tmp_path, path="log.csv")
    with pytest.raises(DataError, match="but .* is a folder"):
        opened(tmp_path)
    with pytest.raises(DataError, match="has 1 rows, of which 1 are left"):
        opened(tmp_path / "other.csv")
    (tmp_path / "log.npz").write_text("not a zip")
    with pytest.raises(DataError, match="is no NPZ file"):
        opened(tmp_path / "log.npz")
    (tmp_path / "log.xls").write_text("")
    with pytest.raises(DataError, match="give its 'format'"):
        opened(tmp_path / "log.xls")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "has no rows"),
        ("t,q0,q1\n", "has no rows"),
        ("t;q0;q1\n1;2;3\n2;3;4\n", "separated by ';'"),
    ],
)
def test_text_that_is_no_table(content, said, tmp_path, recwarn):
    path = tmp_path / "log.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=said):
        opened(path)
    assert not recwarn.list


def rows(*lines: str, columns: int = 3) -> str:
    return "\n".join([",".join(["t", "q0", "q1"][:columns]), "0,1,2", "1,3,4", *lines]) + "\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (rows("2,5"), "row 2 has 2 columns, .* breaks off there; files.NAME.drop_last: 1"),
        (rows("2,5,6,7", "3,7,8"), "row 2 has 4 columns, and there are 3 names$"),
        ("t,q0,q1\n0,0,1,5,2,5\n0,1,1,6,2,6\n0,2,1,7,2\n", "are these decimal commas"),
        ("t\tq0\tq1\n0\t1\t2\n1\t3\t4\n", "separated by tabs, .* files.NAME.format: table"),
    ],
)
def test_rows_that_do_not_fit_their_names(content, words, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=words):
        opened(path)


def test_rows_that_are_cut_empty_or_quoted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(rows("2,5,6", "3,7"))
    assert opened(path, drop_last=1).column("q1").tolist() == [2, 4, 6]
    path.write_text(rows(",,", "", '"2","5","6"'))
    assert opened(path).column("q1").tolist() == [2, 4, 6]
    path.write_text('"t","q0","q1"\n"0","1","2"\n"1","3","4"\n')
    assert opened(path).column("q1").tolist() == [2, 4]


def test_words_among_numbers_are_said(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,q0,mode\n0,1,trot\n1,abc,trot\n2,nan,trot\n3,,trot\n")
    table = opened(path)
    assert table.column("q0")[0] == 1 and np.isnan(table.column("q0")[1:]).all()
    assert table.notes == ["log.csv: text in 1 rows of column 'q0', as 'abc', is no reading"]


def test_euler_angles_in_degrees(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("t,roll,pitch,yaw\n" + "".join(f"{k},8,-9,{90 * k}\n" for k in range(4)))
    columns = ["roll", "pitch", "yaw"]
    assert opened(path).rotation(Rotation(columns, "xyz", "deg"), "o").shape == (4, 4)
    with pytest.raises(DataError, match="about x reach 8 rad, which is beyond half a turn"):
        opened(path).rotation(Rotation(columns, "xyz"), "o")


def test_a_glitch_is_no_other_unit_of_angles(tmp_path):
    path = tmp_path / "log.csv"
    rows = np.zeros((400, 4))
    rows[:, 0] = np.arange(400)
    rows[7, 1] = 30.0
    np.savetxt(path, rows, delimiter=",", header="t,a,b,c", comments="")
    assert opened(path).rotation(Rotation(["a", "b", "c"], "xyz"), "imu.orientation").shape[1] == 4


def test_rows_are_those_of_the_stamps(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, t=T, q=Q.T, table=np.zeros((9, 9)))
    table = opened(path)
    assert table.column("t") == pytest.approx(T)
    with pytest.raises(DataError, match=r"'q\[0\]' has 2 rows where others have 6: is it transp"):
        table.quantity(Columns(["q[0]"]), 1, "angle", "q")
    # without stamps, as many as most numbers stand in
    np.savez(path, q=np.tile(Q, (50, 1)), table=np.zeros((9, 9)))
    assert open_table(path, "log", LogFile(time=Clock(rate=10.0))).rows == 300


@pytest.mark.parametrize("kind", ["csv", "txt"])
@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("head", ["# t{0}q0{0}q1\n", "# a log\n# of mine\nt{0}q0{0}q1\n"])
def test_comments_before_the_rows(kind, gap, head, tmp_path):
    """As `numpy.savetxt` writes names; and a comment above them."""
    between = "," if kind == "csv" else " "
    rows = [between.join(map(str, row)) for row in np.column_stack([T, Q])]
    if gap:
        rows[2] = between.join([str(T[2]), "nan", "-"])
    path = tmp_path / f"log.{kind}"
    path.write_text(head.format(between) + "\n".join(rows) + "\n")
    table = opened(path)
    assert table.column("t") == pytest.approx(T)
    assert table.column("q1")[3:] == pytest.approx(Q[3:, 1])
    path.write_text(head.format(between))
    with pytest.raises(DataError, match="has no rows"):
        opened(path)


@pytest.mark.parametrize("kind", ["npz", "parquet"])
@pytest.mark.parametrize("type_", ["M8[us]", "M8[ns]", "m8[ms]"])
def test_dates_are_stamps(kind, type_, tmp_path):
    """In ns, whatever they count; a missing one is none, as in any column."""
    ns = 1_700_000_000_000_000_000 * (type_[0] == "M") + 250_000_000 * np.arange(len(T))
    dates = ns.astype(f"{type_[0]}8[ns]").astype(type_)
    dates[2] = "NaT"
    path = tmp_path / f"log.{kind}"
    if kind == "npz":
        np.savez(path, stamp=dates, t=T)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"stamp": dates, "t": T}), path)
    stamps = opened(path).column("stamp")
    assert np.isnan(stamps[2]) and np.isfinite(np.delete(stamps, 2)).all()
    assert np.diff(stamps)[[0, 3, 4]] == pytest.approx(2.5e8, abs=1e3)
    assert stamps[0] == ns[0]


def test_dates_with_a_zone_are_those_of_utc(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    kind = pyarrow.timestamp("ms", "Europe/Rome")
    path = tmp_path / "log.parquet"
    table = pyarrow.table({"stamp": pyarrow.array([10, 20, 30], kind), "t": [1.0, 2.0, 3.0]})
    parquet.write_table(table, path)
    assert opened(path).column("stamp").tolist() == [1e7, 2e7, 3e7]


def test_text_beside_numbers_in_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    said = [None, "begins", None, None, None, None]
    pairs = [None, *Q[1:].tolist()]
    path = tmp_path / "log.parquet"
    parquet.write_table(pyarrow.table({"t": T, "said": said, "q": pairs}), path)
    values = opened(path).quantity(Columns("q"), 2, "angle", "q")
    assert np.isnan(values[0]).all() and values[1:] == pytest.approx(Q[1:])
