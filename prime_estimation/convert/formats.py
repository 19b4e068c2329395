# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Files of numbers: CSV, tables separated by blanks, NPZ, MAT and parquet."""

from __future__ import annotations

import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import DataError
from .hints import some
from .text import TextRows, read_text

_SUFFIXES = {
    ".csv": "csv",
    ".txt": "table",
    ".dat": "table",
    ".npz": "npz",
    ".mat": "mat",
    ".parquet": "parquet",
}


@dataclass
class Content:
    """Content of a file: columns by name, arrays as their columns `name[i]`, scalars, and notes."""

    columns: dict[str, np.ndarray] = field(default_factory=dict)
    arrays: dict[str, list[str]] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_content(
    path: Path, kind: str, header: bool, names: list[str], ends: tuple[int, int] = (0, 0)
) -> Content:
    """Content of a file.

    Args:
        path: the file.
        kind: `LogFile.format`.
        header: the first row of a text file names its columns.
        names: of the columns of a text file without header.
        ends: first and last rows of a text file that are garbage, whatever they look like.

    Raises:
        DataError: the file cannot be read as what it should be.
    """
    if not path.is_file():
        siblings = sorted(p.name for p in path.parent.glob("*")) if path.parent.is_dir() else []
        there = f"; there are {some(siblings)}" if siblings else ""
        raise DataError(f"no file {path}{there}", path)
    if kind == "auto":
        if path.suffix.lower() not in _SUFFIXES:
            raise DataError(f"{path}: what kind of file is that? give its 'format'", path)
        kind = _SUFFIXES[path.suffix.lower()]
    try:
        if kind in ("csv", "table"):
            rows = read_text(path, "," if kind == "csv" else None, header, names, ends)
            return _columns(rows)
        return {"npz": _npz, "mat": _mat, "parquet": _parquet}[kind](path)
    except DataError:
        raise
    except Exception as error:  # noqa: BLE001 - readers of foreign files raise whatever they stumble over
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path} cannot be read as {kind}: {reason}", path) from error


def _columns(text: TextRows) -> Content:
    seen: Counter[str] = Counter()
    content = Content(notes=text.notes)
    for name, column in zip(text.names, text.rows.T, strict=True):
        seen[name] += 1
        # a second column of the same name is name#2
        content.columns[name if seen[name] == 1 else f"{name}#{seen[name]}"] = column
    return content


def _npz(path: Path) -> Content:
    if not zipfile.is_zipfile(path):
        raise DataError(
            f"{path} is no NPZ file, which is an archive of arrays (numpy.savez); give its format",
            path,
        )
    content = Content()
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            try:
                _add(content, name, archive[name])
            except ValueError:  # an object array, which would have to be unpickled
                continue
    return content


def _mat(path: Path) -> Content:
    from scipy.io import loadmat

    try:
        loaded = loadmat(path, simplify_cells=True)
    except NotImplementedError as error:
        remedy = "save it with -v7, or export CSV"
        raise DataError(f"{path} is a MAT file of version 7.3 (HDF5): {remedy}", path) from error
    content = Content()
    for name, value in loaded.items():
        if not name.startswith("__"):
            _add(content, name, value)
    return content


def _parquet(path: Path) -> Content:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise DataError(
            f"{path} is parquet, for which pyarrow is missing: "
            "pip install 'prime_estimation[convert]'",
            path,
        ) from error
    content, table = Content(), parquet.read_table(path)
    for name in table.column_names:
        kind = table.schema.field(name).type
        if pyarrow.types.is_timestamp(kind) or pyarrow.types.is_duration(kind):
            _add(content, name, table[name].to_numpy())
            continue
        values = table[name].to_pylist()
        told = next((value for value in values if value is not None), None)
        if isinstance(told, (list, tuple)):
            missing = [None] * len(told)
            values = [missing if value is None else value for value in values]
        elif not isinstance(told, (int, float, type(None))):
            continue
        _add(content, name, np.array(values, float))
    return content


def _add(content: Content, name: str, value) -> None:
    """A value under its name; members of a structure as `structure.member`.

    Dates become ns since 1970, as in pandas, and durations ns.
    """
    if isinstance(value, dict):
        for member, inner in value.items():
            _add(content, f"{name}.{member}", inner)
        return
    array = np.asarray(value)
    if array.dtype.kind in "mM":
        since = array.astype(f"{array.dtype.kind}8[ns]")
        array = np.where(np.isnat(since), np.nan, since.astype(np.int64))
    if array.dtype.kind not in "biuf":
        return
    array = array.astype(float)
    if array.size == 1:
        content.scalars[name] = float(array.reshape(-1)[0])
    elif array.ndim == 1 or (array.ndim == 2 and 1 in array.shape):
        content.columns[name] = array.reshape(-1)
    elif array.ndim >= 2:
        flat = array.reshape(len(array), -1)
        content.arrays[name] = [f"{name}[{i}]" for i in range(flat.shape[1])]
        content.columns.update(zip(content.arrays[name], flat.T))
