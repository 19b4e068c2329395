# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Last iterate of a calibration in a file, from which it goes on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path

import numpy as np

from ..errors import ConfigError
from ..io.whole_file import write_whole
from .frank_wolfe import Descent, Iterate
from .noise import NoiseModel
from .offsets import Offsets
from .smoother import Smoothed, Start
from .trajectory import Trajectory

FILE = "iterate.npz"


class Checkpoint:
    """`iterate.npz` in the output folder: arrays by name, and what they belong to.

    Args:
        folder: of the results.
        job: recordings, robot, options, as plain values: another job cannot go on from here.
    """

    def __init__(self, folder: Path, job: Mapping):
        self.path, self._job = folder / FILE, json.dumps(job, sort_keys=True)
        self._arrays: dict[str, np.ndarray] = {}

    def load(self) -> None:
        """Read the file; ConfigError where there is none, or it is of another job."""
        try:
            with np.load(self.path) as found:
                arrays = dict(found)
        except FileNotFoundError as error:
            raise ConfigError(
                f"--resume: there is no {self.path} of a calibration that began", self.path
            ) from error
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ConfigError(f"--resume: {self.path} is damaged; begin anew", error) from error
        before = json.loads(str(arrays.pop("job", "{}")))
        now = json.loads(self._job)
        other = [key for key in now if before.get(key) != now[key]]
        if other:
            raise ConfigError(
                f"--resume: {self.path} is of another calibration ({', '.join(other)} differ)",
                before,
            )
        self._arrays = arrays

    def save(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep these arrays besides the others; the file is whole at any time."""
        self._arrays |= arrays
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = BytesIO()
        np.savez(content, job=np.array(self._job), **self._arrays)
        write_whole(self.path, content.getvalue())

    # --- offsets ----------------------------------------------------------------------------------

    def save_run(self, index: int, found: Smoothed) -> None:
        """Iterate of a recording."""
        out = {f"scale.{k}": scale for k, scale in found.scales.items()}
        for part in (found.trajectory, found.offsets):
            kind = type(part).__name__
            out |= {f"{kind}.{f.name}": getattr(part, f.name) for f in fields(part)}
        self.save({f"run{index}.{k}": v for k, v in out.items()})

    def run(self, index: int) -> Start | None:
        """Where a recording's estimate goes on; None: from the beginning."""
        prefix = f"run{index}."
        found = {k.removeprefix(prefix): v for k, v in self._arrays.items() if k.startswith(prefix)}
        if not found:
            return None
        trajectory, offsets = (
            kind(**{f.name: found[f"{kind.__name__}.{f.name}"] for f in fields(kind)})
            for kind in (Trajectory, Offsets)
        )
        scales = {k.removeprefix("scale."): v for k, v in found.items() if k.startswith("scale.")}
        return Start(trajectory, offsets, scales)

    # --- noise ------------------------------------------------------------------------------------

    def save_descent(self, descent: Descent) -> None:
        """Iterate of the noise."""
        history = np.array([list(asdict(i).values()) for i in descent.history])
        numbers = np.array([descent.before, descent.after, descent.radius])
        blocks = {f"descent.block.{k}": S for k, S in descent.noise.blocks.items()}
        self.save({"descent.history": history, "descent.numbers": numbers, **blocks})

    def descent(self, noise: NoiseModel) -> Descent | None:
        """Where the noise goes on; None: from the shipped."""
        if "descent.numbers" not in self._arrays:
            return None
        blocks = {k: self._arrays[f"descent.block.{k}"] for k in noise.blocks}
        before, after, radius = map(float, self._arrays["descent.numbers"])
        history = [Iterate(*map(float, row)) for row in self._arrays["descent.history"]]
        return Descent(noise.with_blocks(blocks), before, after, history, False, radius)

    # --- levels of the moving-horizon estimator ---------------------------------------------------

    def save_levels(self, levels: Mapping[str, float]) -> None:
        """Iterate of noise levels."""
        self.save({f"level.{k}": np.array(v) for k, v in levels.items()})

    def levels(self) -> dict[str, float] | None:
        """Levels to go on from; None: from the shipped."""
        found = {k: float(v) for k, v in self._arrays.items() if k.startswith("level.")}
        return {k.removeprefix("level."): v for k, v in found.items()} or None
