# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""From a mapping's YAML to a checked `Mapping`."""

from __future__ import annotations

import math
import typing
from dataclasses import fields, replace
from pathlib import Path

from ..config.files import config_dir, is_yaml, read_yaml
from ..config.parameters.robot import TURN
from ..declaration import types_of
from ..errors import ConfigError
from .hints import did_you_mean
from .mapping import Columns, Feet, Joints, LogFile, Mapping, Rotation, Seams, Targets
from .units import factor_to_si

LONGEST_DELAY = 1.0  # s, of a sensor or a drive: motion capture over a network has a third of it
_EULER = 3  # columns of Euler angles, and of a vector; a quaternion has one more


def built_in_mappings() -> list[str]:
    """Names of the mappings that come with the package."""
    return sorted(p.stem for p in (config_dir() / "mappings").glob("*.yaml"))


def load_mapping(mapping: str) -> Mapping:
    """Mapping by name (`mini_cheetah_umich`, ...) or by the path of its YAML file.

    Raises:
        ConfigError: no such mapping, an unknown key or unit, a value of another type, columns that
            do not fit the names.
    """
    path = Path(str(mapping)).expanduser()
    if not is_yaml(str(mapping)):
        path = config_dir() / "mappings" / f"{mapping}.yaml"
        if not path.is_file():
            known = ", ".join(built_in_mappings())
            raise ConfigError(
                f"no mapping '{mapping}'; there are {known}, or give the path of a YAML file"
            )
    return mapping_of(read_yaml(path, [f.name for f in fields(Mapping)]), path.name)


def mapping_of(content: dict, source: str = "mapping") -> Mapping:
    """Mapping of nested plain values; `source` begins the messages of errors."""
    mapping = _section(Mapping, content, source, "")
    if not mapping.files:
        raise ConfigError(f"{source}: 'files' names no file", content)
    for name, file in mapping.files.items():
        if file.time is None:
            raise ConfigError(f"{source}: 'files.{name}' lacks 'time': column, rate or step")
        if file.names and file.header:
            raise ConfigError(
                f"{source}: 'files.{name}.names' are of a file without a header: set header: false"
            )
        if not all(isinstance(entry, str) for entry in file.names):
            raise ConfigError(
                f"{source}: 'files.{name}.names' must be a list of names, numbers in quotes, got "
                f"{file.names!r}",
                file.names,
            )
        _check_columns(file.time.column, f"{source}: 'files.{name}.time.column'")
    return _checked(_with_files(mapping, source), source)


def _section(kind: type, content, source: str, prefix: str):
    """An instance of a dataclass of `mapping`, every key checked."""
    if kind is Columns and isinstance(content, (list, str, int, float)):
        content = {"columns": content}
    if kind is LogFile and isinstance(content, str):
        content = {"path": content}
    if not isinstance(content, dict):
        where = f"'{prefix.rstrip('.')}'" if prefix else "the file"
        raise ConfigError(f"{source}: {where} must be a mapping, got {content!r}", content)
    known = {f.name: f for f in fields(kind)}
    values = {}
    for key, value in content.items():
        if key not in known:
            raise ConfigError(
                f"{source}: unknown key '{prefix}{key}'{did_you_mean(key, known)}", key
            )
        values[key] = _field_value(kind, known[key], value, source, prefix)
    for name, f in known.items():
        if f.metadata.get("required") and values.get(name) is None:
            raise ConfigError(f"{source}: '{prefix}{name}' is missing: {f.metadata['doc']}", kind)
    return kind(**values)


def _field_value(kind: type, f, value, source: str, prefix: str):
    section, name = f.metadata.get("section"), f"{prefix}{f.name}"
    if section is None:
        return _plain_value(kind, f, value, source, name)
    if f.metadata.get("by_name"):
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise ConfigError(f"{source}: '{name}' must be a mapping of names, got {value!r}")
        return {
            key: _section(section, entry or {}, source, f"{name}.{key}.")
            for key, entry in value.items()
        }
    if value is None:  # a section whose entries are all commented out
        return f.default_factory()
    made = _section(section, value, source, f"{name}.")
    if section is Columns:
        factor_to_si(f.metadata["unit_kind"], made.unit, f"{source}: '{name}.unit'")
    return made


def _plain_value(kind: type, f, value, source: str, name: str):
    types = typing.get_args(hint := types_of(kind)[f.name]) or (hint,)
    if float in types and isinstance(value, str):  # YAML takes 1e-3 for a word
        try:
            value = float(value)
        except ValueError:
            pass
    fits = isinstance(value, (*types, int) if float in types else types)
    if not fits or (isinstance(value, bool) and bool not in types):
        wanted = " or ".join(t.__name__ for t in types)
        raise ConfigError(f"{source}: '{name}' must be {wanted}, got {value!r}", value)
    if f.metadata["choices"] and value not in f.metadata["choices"]:
        hint = did_you_mean(value, f.metadata["choices"])
        raise ConfigError(f"{source}: '{name}' cannot be {value!r}{hint}", value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low = f.metadata["low"]
        if not math.isfinite(value):
            raise ConfigError(f"{source}: '{name}' = {value!r} must be finite", value)
        if low is not None and value < low:
            raise ConfigError(f"{source}: '{name}' = {value!r} is below {low}", value)
    return value


def _with_files(mapping: Mapping, source: str) -> Mapping:
    """The mapping with the file of every section named, and known."""
    only = next(iter(mapping.files)) if len(mapping.files) == 1 else ""
    changes = {}
    for name in ("joints", "imu", "mocap", "foot_force", "contacts"):
        section = getattr(mapping, name)
        if section is None:
            continue
        section = replace(section, file=section.file or only)
        if not section.file:
            raise ConfigError(
                f"{source}: '{name}.file' is missing; files are {', '.join(mapping.files)}"
            )
        for file in (section.file, *(c.file for c in _columns_of(section) if c.file)):
            if file not in mapping.files:
                hint = did_you_mean(file, mapping.files)
                raise ConfigError(f"{source}: '{name}' names no file '{file}'{hint}", file)
        changes[name] = section
    if not changes:
        raise ConfigError(f"{source}: no sensor: joints, imu, mocap, foot_force or contacts")
    return replace(mapping, **changes)


def _columns_of(section) -> list[Columns | Rotation]:
    """All quantities of a section, those of PD targets included."""
    found = []
    for f in fields(section):
        value = getattr(section, f.name)
        if isinstance(value, (Columns, Rotation)):
            found.append(value)
        elif f.metadata.get("section") is not None and value is not None:
            found += _columns_of(value)
    return found


def _checked(mapping: Mapping, source: str) -> Mapping:
    """The mapping, if the lengths of its lists agree."""
    for name in ("joints", "imu", "mocap", "foot_force", "contacts"):
        section = getattr(mapping, name)
        if section is None:
            continue
        count = _EULER
        if isinstance(section, (Joints, Feet)):
            count = len(_names(section.names, f"{source}: '{name}.names'"))
        for part in _columns_of(section):
            wanted = count
            if isinstance(part, Rotation):
                wanted = _EULER + (part.order in ("xyzw", "wxyz"))
            _check_columns(part.columns, f"{source}: '{name}'")
            if isinstance(part, Rotation) and wanted > _EULER and part.unit != "rad":
                raise ConfigError(f"{source}: '{name}': a quaternion has no unit '{part.unit}'")
            if isinstance(part, Columns) and part.scale == 0.0:
                raise ConfigError(
                    f"{source}: '{name}': a scale of 0 leaves nothing of {part.columns}"
                )
            if isinstance(part.columns, list) and len(part.columns) != wanted:
                raise ConfigError(
                    f"{source}: '{name}' has {wanted} columns per quantity, but one list names "
                    f"{len(part.columns)}: {', '.join(map(str, part.columns[:3]))} ...",
                    part.columns,
                )
    if mapping.joints is not None:
        _check_joints(mapping.joints, source)
    for name, key in (("imu", "rotation"), ("mocap", "world_rotation")):
        if getattr(mapping, name) is not None:
            _angles(getattr(getattr(mapping, name), key), _EULER, f"{source}: '{name}.{key}'")
    _check_delays(mapping, source)
    _check_vectors(mapping, source)
    _check_seams(mapping.seams, source)
    return mapping


def _check_delays(mapping: Mapping, source: str) -> None:
    for name, key in (
        *((name, "delay") for name in ("imu", "mocap", "foot_force", "contacts")),
        ("joints", "command_delay"),
    ):
        delay = getattr(getattr(mapping, name), key, 0.0)
        if abs(delay) > LONGEST_DELAY:
            raise ConfigError(
                f"{source}: '{name}.{key}' = {delay:g} s is longer than any sensor or drive takes: "
                "delays are in s; a file of another clock has files.NAME.time.offset",
                delay,
            )


def _check_vectors(mapping: Mapping, source: str) -> None:
    """ConfigError where two axes of IMU or motion capture are one column."""
    for name in ("imu", "mocap"):
        section = getattr(mapping, name)
        for part in _columns_of(section) if section is not None else ():
            names = [c for c in part.columns if isinstance(c, str)]
            twice = next((c for c in names if names.count(c) > 1), None)
            if isinstance(part.columns, list) and twice is not None:
                raise ConfigError(f"{source}: '{name}' has column '{twice}' for two axes", names)


def _check_columns(columns, name: str) -> None:
    for entry in columns if isinstance(columns, list) else []:
        if isinstance(entry, bool) or not isinstance(entry, (str, int, float)):
            raise ConfigError(f"{name}: columns are names or numbers, got {entry!r}", entry)


def _check_joints(joints: Joints, source: str) -> None:
    count = len(joints.names)
    if joints.signs:
        _numbers(joints.signs, count, f"{source}: 'joints.signs'")
        if any(abs(sign) != 1 for sign in joints.signs):
            raise ConfigError(f"{source}: 'joints.signs' are 1 or -1, got {joints.signs}")
    if joints.offsets:
        _angles(joints.offsets, count, f"{source}: 'joints.offsets'")
    if joints.command is not None and joints.targets is not None:
        raise ConfigError(f"{source}: 'joints' has both command and targets: give one of them")
    if joints.targets is not None:
        _check_targets(joints, joints.targets, f"{source}: 'joints.targets'")


def _check_targets(joints: Joints, targets: Targets, name: str) -> None:
    if (targets.kp is None) != (targets.position is None):
        raise ConfigError(f"{name}: kp and position belong together, one of them is missing")
    if targets.kd is not None and joints.velocity is None:
        raise ConfigError(f"{name}: kd needs joints.velocity, which is missing")
    if targets.velocity is not None and targets.kd is None:
        raise ConfigError(f"{name}: velocity needs kd, which is missing")
    if targets.effort is targets.kp is targets.kd is None:
        raise ConfigError(f"{name} gives no torque: effort, kp with position, or kd")
    if any(part.limit for part in _columns_of(targets)):
        raise ConfigError(f"{name}: 'limit' is of readings; give it to those of joints")


def _check_seams(seams: Seams, source: str) -> None:
    wrong = [row for row in seams.rows if isinstance(row, bool) or not isinstance(row, (int, str))]
    if wrong:
        raise ConfigError(f"{source}: 'seams.rows' are numbers or names, got {wrong[0]!r}", wrong)


def _names(names: list, name: str) -> list[str]:
    if not names or not all(isinstance(entry, str) and entry for entry in names):
        raise ConfigError(f"{name} must be a list of names, got {names!r}", names)
    double = sorted({entry for entry in names if names.count(entry) > 1})
    if double:
        raise ConfigError(f"{name} has {', '.join(double)} twice", double)
    return names


def _angles(values: list, count: int, name: str) -> None:
    _numbers(values, count, name)
    if any(abs(v) > TURN for v in values):
        raise ConfigError(f"{name} are in rad, at most a turn ({TURN:g}), got {values}", values)


def _numbers(values: list, count: int, name: str) -> None:
    numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(values) != count or len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise ConfigError(f"{name} must be {count} numbers, got {values!r}", values)
