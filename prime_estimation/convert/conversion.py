# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Log and mapping -> files -> clocks -> readings of each sensor -> bag."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from ..errors import ConfigError, DataError
from ..io.bag import BagWriter
from .clocks import row_times, times_from_rates
from .held import fresh_rows
from .mapping import Mapping
from .messages import message_maker
from .robot_names import check_names
from .seams import seam_rows, with_gaps
from .sensors import JointRows, feet_series, imu_series, mocap_series
from .series import Rows, Series
from .tables import Table, open_table

# no bus of a robot, and no IMU on it, is read faster than 10 kHz: the mean, for rows may come in
# bursts; and nothing is estimated of a sensor that is read every second: the usual step, for
# recordings may pause. Units are a factor of thousand apart, and logs have 10 Hz to 4 kHz
FASTEST, SLOWEST = 10e3, 0.5  # Hz, s
LATEST = 2.0**31  # s, that a stamp of a message can hold

_SERIES = {  # of the sections beside the joints
    "imu": imu_series,
    "mocap": mocap_series,
    "foot_force": partial(feet_series, topic="foot_force"),
    "contacts": partial(feet_series, topic="contacts"),
}
_FIELDS = {  # what tells a fresh reading; orientation comes from a filter of its own
    "joint_states": ("position", "velocity"),
    "joint_commands": ("effort",),
    "imu": ("angular_velocity", "linear_acceleration"),
    "mocap/pose": ("position", "quat"),
    "foot_force": ("force",),
}


@dataclass(frozen=True)
class Conversion:
    """Result of the conversion of a log.

    Attributes:
        series: readings that went into the bag, by sensor.
        seams: times of the cuts in the bag [s].
        shift: added to the log's stamps, gaps aside [s].
        file_notes: notes on the files, a line each.
    """

    series: list[Series]
    seams: list[float]
    shift: float
    file_notes: list[str] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """Notes for the user, a line each."""
        return [*self.file_notes, *(note for s in self.series for note in s.notes)]

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        topics = {
            s.topic: {
                "messages": len(s.times),
                "rate_hz": s.rate,
                "fields": list(s.values),
                "left_out": dict(s.left_out),
            }
            for s in self.series
        }
        return {
            "topics": topics,
            "seams_s": self.seams,
            "clock_shift_s": self.shift,
            "notes": self.notes,
        }


def convert(
    log: str | Path,
    mapping: Mapping,
    out: str | Path,
    progress: Callable[[float], None] = lambda fraction: None,
) -> Conversion:
    """Write the readings of a log as the estimator's sensor topics into a bag.

    Args:
        log: a file, or the folder of several.
        mapping: what its columns are.
        out: the bag, `*.mcap`.
        progress: called now and then with the fraction that is done.

    Raises:
        ConfigError: the mapping does not fit the robot, or itself.
        DataError: the log does not fit the mapping.
    """
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"convert takes a Mapping (load_mapping), got {mapping!r:.60}", mapping)
    check_names(mapping)
    tables = {name: open_table(Path(log), name, file) for name, file in mapping.files.items()}
    series, seams = _readings(mapping, tables)
    _check_rates(series)
    # a bag's stamps are positive, and 0 means none: a log that begins at 0 begins at 1 s
    first = min(float(s.times[0]) for s in series)
    shift = float(max(0, math.ceil(1.0 - first)))
    for s in series:
        s.times = with_gaps(s.times, np.array(seams), mapping.seams.gap) + shift
    last = max(float(s.times[-1]) for s in series)
    if not last < LATEST:
        raise DataError(
            f"{log}: stamps reach {last:.3g} s, later than {LATEST:.3g} s: is the unit of the "
            "stamps (files.NAME.time.unit) ms, us or ns?",
            log,
        )
    cuts = [t + shift + mapping.seams.gap * (i + 1) for i, t in enumerate(seams)]
    _write(mapping, series, Path(out), progress)
    notes = [note for table in tables.values() for note in table.notes]
    return Conversion(series, cuts, shift, notes)


def _readings(mapping: Mapping, tables: dict[str, Table]) -> tuple[list[Series], list[float]]:
    """Fresh readings of all sensors, and the times of the seams, both by the log's clock [s]."""
    times = {name: row_times(tables[name], mapping.files[name].time) for name in tables}
    series: list[Series | None] = []
    seams: list[float] = []
    if mapping.joints is not None:
        joints = JointRows(mapping.joints, Rows(tables, times, mapping.joints.file, "joints"))
        seams = _join_clock(mapping, tables, times, joints)
        stamps, stamped = times[mapping.joints.file]
        series += _counted(stamped, joints.states(stamps), joints.commands(stamps))
    for name, make in _SERIES.items():
        section = getattr(mapping, name)
        if section is not None:
            made = make(section, Rows(tables, times, section.file, name))
            series += _counted(times[section.file][1], made)
    found = [s for s in series if s is not None]
    for s in found:
        if s.topic in _FIELDS:
            s.keep_fresh(mapping.held, _FIELDS[s.topic])
        if len(s.times) < 2:
            raise DataError(
                f"{s.topic}: of all rows {len(s.times)} is left (left out: "
                f"{', '.join(f'{n} {why}' for why, n in s.left_out.items())})",
                s,
            )
    return found, seams


def _check_rates(series: list[Series]) -> None:
    """DataError where a sensor would be read faster or slower than any is."""
    for s in series:
        usual = float(np.median(np.diff(s.times)))
        if s.rate > FASTEST or usual > SLOWEST:
            rate = s.rate if s.rate > FASTEST else 1.0 / usual
            raise DataError(
                f"{s.topic}: by its stamps it comes {rate:.3g} times a second: is the unit of the "
                "stamps (files.NAME.time.unit), or the rate or step of rows without, another?",
                s,
            )


def _counted(stamped: np.ndarray, *series: Series | None) -> list[Series | None]:
    """These series, with the rows of their file that have no stamp of their own counted."""
    lost = int((~stamped).sum())
    for s in series:
        if s is not None and lost:
            s.left_out["with stamps that repeat or go back"] += lost
    return list(series)


def _join_clock(
    mapping: Mapping, tables: dict[str, Table], times: dict, joints: JointRows
) -> list[float]:
    """Times of the seams [s]; stamps of the joints' file become those that the joint rates tell."""
    name, clock = mapping.joints.file, mapping.files[mapping.joints.file].time
    (stamps, stamped), velocity = times[name], joints.velocity
    others = [n for n, file in mapping.files.items() if file.time.from_rates and n != name]
    if others or (clock.from_rates and velocity is None):
        raise ConfigError(
            f"files.{(others or [name])[0]}.time.from_rates needs positions and rates of joints in "
            "that file",
            clock,
        )
    position = np.where(np.isfinite(joints.position), joints.position, 0.0)
    velocity = None if velocity is None else np.where(np.isfinite(velocity), velocity, 0.0)
    both = position if velocity is None else np.hstack([position, velocity])
    fresh = fresh_rows(both, stamps, mapping.held.longest)
    rows = seam_rows(mapping.seams, tables[name], stamps, fresh, position, velocity, stamped)
    if clock.from_rates:
        parts = np.split(np.arange(len(stamps)), rows)
        begin, told = stamps[0], []
        for part in parts:
            inside = times_from_rates(stamps[part], fresh[part], position[part], velocity[part])
            told.append(inside - inside[0] + begin)
            begin = told[-1][-1] + (stamps[1] - stamps[0])
        stamps = np.concatenate(told)
        times[name] = (stamps, stamped)
    # at a pause the stamps have their gap already
    long = mapping.seams.pause
    return [float(stamps[r]) for r in rows if stamps[r] - stamps[r - 1] <= long]


def _write(
    mapping: Mapping, series: list[Series], out: Path, progress: Callable[[float], None]
) -> None:
    order = [(float(t), i, k) for i, s in enumerate(series) for k, t in enumerate(s.times)]
    order.sort()
    with BagWriter(out) as bag:
        makers = [message_maker(mapping, s, bag.message_class) for s in series]
        for number, (seconds, i, k) in enumerate(order):
            stamp_ns = round(seconds * 1e9)
            bag.write(f"/{series[i].topic}", stamp_ns, makers[i](stamp_ns, k))
            if number % 2000 == 0:
                progress(number / len(order))
    progress(1.0)
