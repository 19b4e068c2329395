# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The folder that a run leaves: configuration, versions, trajectory, metrics, figures.

`latest` points to the newest.
"""

from __future__ import annotations

import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import yaml

from ..errors import DataError
from ..types import Estimate
from .json_text import json_text
from .made_folders import missing_folders, remove_empty

_PACKAGES = (
    "prime_estimation",
    "pin",
    "crocoddyl",
    "eigenpy",
    "numpy",
    "scipy",
    "rosbags",
    "mujoco",
    "example-robot-data",
)


class RunFolder:
    """Collects what is worth keeping of a run.

    Args:
        parent: where run folders are gathered.
        name: what was run; the folder's name is `<date>-<time>_<name>`.

    Attributes:
        path: the folder.
    """

    def __init__(self, parent: str | Path, name: str):
        self._made = missing_folders(Path(parent))
        base = Path(parent) / f"{datetime.now():%Y%m%d-%H%M%S}_{name}"
        try:
            self.path = _fresh_folder(base)
        except OSError as error:
            raise DataError(f"cannot make the run folder {base}: {error.strerror}", base) from error
        self._trajectory: list[tuple[float, ...]] = []
        self._before = _latest(self.path.parent)
        _point_latest_to(self.path)

    @contextmanager
    def if_completed(self) -> Iterator[None]:
        """Leave nothing behind of a run that is refused, fails or is interrupted."""
        try:
            yield
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Remove the folder, and those made for it; `latest` points to the one before it again."""
        shutil.rmtree(self.path)
        link = self.path.parent / "latest"
        if link.is_symlink() and not link.exists():
            link.unlink()
            if self._before is not None and self._before.is_dir():
                _point_latest_to(self._before)
        remove_empty(self._made)

    def add_pose(self, estimate: Estimate) -> None:
        """Append the pose of an estimate to the trajectory."""
        self._trajectory.append(
            (estimate.stamp_ns, *estimate.position_world, *estimate.quat_world_base)
        )

    def write(self, config: dict, command: str, metrics: dict) -> None:
        """Write config.yaml, versions.yaml, trajectory.tum and metrics.json."""
        (self.path / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
        (self.path / "versions.yaml").write_text(
            yaml.safe_dump({"command": command, **versions()}, sort_keys=False)
        )
        (self.path / "metrics.json").write_text(json_text(metrics) + "\n")
        if self._trajectory:
            write_tum(self.path / "trajectory.tum", self._trajectory)


def command_line(verb: str, options: Mapping[str, object]) -> str:
    """The command that makes a run again, for `RunFolder.write`.

    Options that are None or False are left out; True is the name alone, a sequence several words.
    """
    words = ["prime", verb]
    for name, value in options.items():
        if value is None or value is False:
            continue
        values = value if isinstance(value, (list, tuple)) else [] if value is True else [value]
        words += [f"--{name}", *map(str, values)]
    return shlex.join(words)


def write_tum(path: Path, rows: list[tuple[float, ...]]) -> None:
    """Trajectory in TUM format: `seconds x y z qx qy qz qw`.

    Rows start with int64 ns, seconds keep all nine decimals.
    """
    with path.open("w") as file:
        for stamp_ns, *pose in rows:
            seconds, nanoseconds = divmod(int(stamp_ns), 1_000_000_000)
            file.write(f"{seconds}.{nanoseconds:09d} " + " ".join(f"{v:.9g}" for v in pose) + "\n")


def versions() -> dict[str, str]:
    """Versions of Python, platform and the packages that decide about results.

    Git hash when run from a checkout.
    """
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    root = Path(__file__).resolve().parents[2]
    if (root / ".git").exists():
        with suppress(OSError, subprocess.SubprocessError):
            run = subprocess.run(
                ["git", "-C", str(root), "describe", "--always", "--dirty"],
                capture_output=True,
                text=True,
                timeout=5,
                check=True,
            )
            found["git"] = run.stdout.strip()
    return found


def _fresh_folder(base: Path) -> Path:
    for attempt in range(1000):
        path = base if attempt == 0 else base.with_name(f"{base.name}_{attempt}")
        with suppress(FileExistsError):
            path.mkdir(parents=True)
            return path
    raise FileExistsError(17, "too many runs in one second")


def _latest(parent: Path) -> Path | None:
    """The run folder that is the newest so far."""
    link = parent / "latest"
    return parent / link.readlink() if link.is_symlink() else None


def _point_latest_to(path: Path) -> None:
    link = path.parent / "latest"
    with suppress(OSError):  # file systems without links: the folder alone will do
        if link.is_symlink():
            link.unlink()
        link.symlink_to(path.name)
