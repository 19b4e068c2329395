# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Rows of numbers of a text file: CSV, or a table separated by blanks."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import DataError

_MISSING = {"", "nan", "na", "n/a", "null", "none", "-"}  # words for a reading that is not there


@dataclass(frozen=True)
class TextRows:
    """Rows (n, k) of a text file, NaN where a cell holds no number; names of the columns."""

    names: list[str]
    rows: np.ndarray
    notes: list[str]


def read_text(
    path: Path, delimiter: str | None, header: bool, names: list[str], ends: tuple[int, int]
) -> TextRows:
    """Rows of a text file; those that are empty throughout are none.

    Args:
        path: the file.
        delimiter: between columns; None: blanks.
        header: the first row names the columns.
        names: of the columns without header.
        ends: first and last rows that are garbage: what they look like does not matter.

    Raises:
        DataError: there are no rows, or they have other columns than names.
    """
    first, lines, skip = _head(path, delimiter, header)
    _check_separator(path, delimiter, first)
    head = [part.strip().strip("\"'") for part in first.strip().split(delimiter)]
    if header:
        names = head
    elif len(names) != len(head):
        raise DataError(
            f"{path} has {len(head)} columns, but 'names' has {len(names)}: name each, or set "
            "header",
            path,
        )
    try:
        rows = np.loadtxt(
            path, delimiter=delimiter, skiprows=lines, ndmin=2, encoding="utf-8-sig", quotechar='"'
        )
    except ValueError:  # empty cells, words, rows of another length
        return _cell_by_cell(path, delimiter, skip, names, ends)
    if rows.shape[1] != len(names):
        raise DataError(f"{path}: {len(names)} names for {rows.shape[1]} columns", path)
    return TextRows(names, rows, [])


def _head(path: Path, delimiter: str | None, header: bool) -> tuple[str, int, int]:
    """Line that names the columns, or the first row; lines until rows begin, comments and without.

    Lines that begin with '#' are comments; the last one before the rows names the columns where
    nothing else does, as `numpy.savetxt` writes it.
    """
    comments, number, line = [], 0, ""
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                comments.append(line)
            elif line.strip():
                break
        else:
            raise DataError(f"{path} has no rows", path)
        follows = any(row.strip() for row in file)
    if not header:
        return line, 0, 0
    if comments and _is_number(line.split(delimiter)[0]):
        return comments[-1].lstrip("# "), 0, 0
    if not follows:
        raise DataError(f"{path} has no rows", path)
    return line, number, 1


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().strip("\"'"))
    except ValueError:
        return False
    return True


def _check_separator(path: Path, delimiter: str | None, first: str) -> None:
    if delimiter != "," or "," in first:
        return
    if ";" in first:
        raise DataError(f"{path}: columns are separated by ';', and ',' is wanted", path)
    if "\t" in first:
        raise DataError(
            f"{path}: columns are separated by tabs, not by ',': such a file is read with "
            "files.NAME.format: table",
            path,
        )


def _cell_by_cell(
    path: Path, delimiter: str | None, skip: int, names: list[str], ends: tuple[int, int]
) -> TextRows:
    """Rows of which a cell is empty, or a word, or one is of another length."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, delimiter=delimiter) if delimiter else map(str.split, file)
        cells = [row for row in lines if row and not row[0].startswith("#")][skip:]
    cells = [row for row in cells if any(cell.strip() for cell in row)]
    inside = range(ends[0], len(cells) - ends[1])
    _check_lengths(path, cells, inside, len(names))
    values = np.full((len(cells), len(names)), np.nan)
    words: list[Counter[str]] = [Counter() for _ in names]
    for i in inside:
        for j, cell in enumerate(cells[i]):
            try:
                values[i, j] = float(cell)
            except ValueError:
                if cell.strip().lower() not in _MISSING:
                    words[j][cell.strip()] += 1
    # a column of words alone is none of numbers
    notes = [
        f"{path.name}: text in {said.total()} rows of column '{name}', as '{next(iter(said))}'"
        ", is no reading"
        for name, said, column in zip(names, words, values.T)
        if said and np.isfinite(column).any()
    ]
    return TextRows(names, values, notes)


def _check_lengths(path: Path, cells: list[list[str]], inside: range, count: int) -> None:
    """DataError where rows have more or fewer cells than there are names."""
    wrong = [i for i in inside if len(cells[i]) != count]
    if not wrong:
        return
    row, found = wrong[0], len(cells[wrong[0]])
    said = f"{path}: row {row} has {found} columns, and there are {count} names"
    if wrong == [inside[-1]] and found < count:
        said += ": the file breaks off there; files.NAME.drop_last: 1 leaves it out"
    elif found > count and len(wrong) > len(inside) // 2:
        said += ": are these decimal commas? Write numbers with a point"
    raise DataError(said, wrong)
