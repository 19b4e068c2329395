# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rows of a log's file, and its columns by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import DataError
from .formats import Content, read_content
from .hints import did_you_mean
from .mapping import Columns, LogFile, Rotation
from .units import factor_to_si

LARGEST_TILT = 3.2  # rad: roll and pitch lie within half a turn


@dataclass(frozen=True)
class Table:
    """Rows of a file, garbage at both ends left out.

    Attributes:
        name: of the file in the mapping; `path`: where it lies.
        rows: their number; `first`: number of the first one in the file.
    """

    name: str
    path: Path
    rows: int
    first: int
    _content: Content
    _usual: int = 0  # rows of the file
    _others: Mapping[str, int] = field(default_factory=dict)  # rows of what has more or fewer

    @property
    def notes(self) -> list[str]:
        """What the user should know of the file, a line each."""
        return self._content.notes

    def column(self, name: str) -> np.ndarray:
        """(rows,) a column."""
        found = self._content.columns.get(name)
        if found is None and name in self._others:
            raise DataError(
                f"{self.path}: '{name}' has {self._others[name]} rows where others have "
                f"{self._usual}: is it transposed?",
                name,
            )
        if found is None and name in self._content.scalars:
            raise DataError(
                f"{self.path}: '{name}' is a single number, where a column of {self.rows} rows is "
                "expected",
                name,
            )
        if found is None:
            hint = did_you_mean(name, [*self._content.arrays, *self._content.columns])
            raise DataError(f"{self.path} has no column '{name}'{hint}", name)
        return found[self.first : self.first + self.rows]

    def first_of(self, names: str | list) -> np.ndarray:
        """(rows,) the first of several columns that exists."""
        names = [names] if isinstance(names, str) else names
        there = [name for name in names if name in self._content.columns]
        return self.column((there or names)[0])

    def scalar(self, name: str) -> float:
        """A number that stands in the file by its name."""
        if name not in self._content.scalars:
            hint = did_you_mean(name, self._content.scalars)
            raise DataError(f"{self.path} has no scalar '{name}'{hint}", name)
        return self._content.scalars[name]

    def quantity(self, part: Columns, count: int, unit_kind: str, what: str) -> np.ndarray:
        """(rows, count) columns of a quantity in SI.

        Raises:
            DataError: a column is missing, is NaN throughout, or their number is not `count`; or a
                number is both a constant and the name of a column.
        """
        factor = part.scale * factor_to_si(unit_kind, part.unit, what)
        if isinstance(part.columns, (int, float)):
            self._check_constant(part.columns, what)
            return np.full((self.rows, count), factor * part.columns)
        return factor * self._stack(part.columns, count, what)

    def rotation(self, part: Rotation, what: str) -> np.ndarray:
        """(rows, 4) quaternions xyzw; NaN where the columns have none."""
        from scipy.spatial.transform import Rotation as Turn

        if part.order in ("xyzw", "wxyz"):
            raw = self._stack(part.columns, 4, what)
            quat = raw if part.order == "xyzw" else raw[:, [1, 2, 3, 0]]
            norm = np.linalg.norm(quat, axis=1, keepdims=True)
            usual = np.abs(norm - 1.0) < 0.05
            if not usual.any():
                raise DataError(f"{what}: no row is a unit quaternion", part.columns)
            return np.where(usual, quat / np.where(usual, norm, 1.0), np.nan)
        angles = self._stack(part.columns, 3, what) * factor_to_si("angle", part.unit, what)
        known = np.isfinite(angles).all(axis=1)
        _check_euler(angles[known], part, what)
        quat = np.full((self.rows, 4), np.nan)
        quat[known] = Turn.from_euler(part.order, angles[known]).as_quat()
        return quat

    def _stack(self, columns: list | str, count: int, what: str) -> np.ndarray:
        names = columns
        if isinstance(columns, str):
            in_array = self._content.arrays.get(columns)
            names = in_array or [columns.replace("{}", str(i)) for i in range(count)]
            if in_array is None and "{}" not in columns:
                names = [columns]
        if len(names) != count:
            raise DataError(
                f"{what} wants {count} columns, but {columns!r} of {self.path} has {len(names)}",
                names,
            )
        for name in names:
            self._check_constant(name, what)
        # a number among the names is a constant
        stacked = np.stack(
            [
                self.column(name) if isinstance(name, str) else np.full(self.rows, float(name))
                for name in names
            ],
            axis=1,
        )
        empty = [name for name, column in zip(names, stacked.T) if not np.isfinite(column).any()]
        if empty:
            raise DataError(f"{self.path}: column '{empty[0]}' ({what}) is NaN throughout", empty)
        return stacked

    def _check_constant(self, number: str | float, what: str) -> None:
        """DataError for an integer by which a column is called: names of YAML may want quotes."""
        if isinstance(number, int) and str(number) in self._content.columns:
            raise DataError(
                f"{what}: {number} is a constant, but {self.path} has a column of that name: write "
                f"'{number}' for the column, {number}.0 for the constant",
                number,
            )


def _check_euler(angles: np.ndarray, part: Rotation, what: str) -> None:
    """DataError where roll or pitch are larger than any: a heading may have been unwrapped."""
    for axis, column in zip(part.order.lower(), angles.T):
        if axis != "z" and len(column) and np.percentile(np.abs(column), 99.0) > LARGEST_TILT:
            raise DataError(
                f"{what}: angles about {axis} reach {np.abs(column).max():.3g} rad, which is "
                "beyond half a turn: is their unit another?",
                part.columns,
            )


def open_table(log: Path, name: str, file: LogFile) -> Table:
    """The rows of a file of the log.

    Raises:
        DataError: it is not there, cannot be read, or has fewer than two rows left.
    """
    if not log.exists():
        raise DataError(f"no log {log}", log)
    if file.path and not log.is_dir():
        raise DataError(
            f"the mapping names the file {file.path} in a folder, but {log} is a file", log
        )
    if not file.path and log.is_dir():
        raise DataError(f"the mapping is for a single file, but {log} is a folder", log)
    path = log / file.path if file.path else log
    ends = file.drop_first, file.drop_last
    content = read_content(path, file.format, file.header, file.names, ends)
    lengths = {name: len(column) for name, column in content.columns.items()}
    if not lengths:
        raise DataError(f"{path} holds no column of numbers", path)
    usual = _usual_length(file, lengths)
    others = {column: length for column, length in lengths.items() if length != usual}
    for column in others:
        del content.columns[column]
    rows = usual - file.drop_first - file.drop_last
    if rows < 2:
        raise DataError(f"{path} has {usual} rows, of which {max(rows, 0)} are left", path)
    return Table(name, path, rows, file.drop_first, content, usual, others)


def _usual_length(file: LogFile, lengths: dict[str, int]) -> int:
    """Rows of a file: as many as it has stamps, else as most of its numbers stand in."""
    stamps = file.time.column if file.time is not None else ""
    for name in [stamps] if isinstance(stamps, str) else stamps:
        if name in lengths:
            return lengths[name]
    counts = Counter(lengths.values())
    return max(counts, key=lambda length: length * counts[length])
