# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Noise levels that were found for the moving-horizon estimator, as YAML and JSON."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import yaml

from ..config.parameters import Config, NoiseConfig
from ..config.robot_yaml import robot_content
from ..evaluation.statistics import HALF_WIDTH_95
from ..io.trajectory import versions
from ..robot import Robot
from .outcome import WrittenOutcome
from .window_noise import CalibratedLevels


@dataclass
class WindowOutcome(WrittenOutcome):
    """Outcome of `prime calibrate --estimator window`.

    Attributes:
        source: of the robot, as it was named on the command line.
        names: of the recordings. nodes: that they have.
        levels: what was found.
        held_out: recording that was not used, and its residuals by whose levels they are.
        notices: what the user should know.
    """

    robot: Robot
    config: Config
    source: str
    names: list[str]
    nodes: list[int]
    levels: CalibratedLevels
    held_out: dict = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    @property
    def unfinished(self) -> str:
        """What did not converge; empty where it did."""
        found = self.levels
        return "" if found.converged else f"not converged in {len(found.history)} iterations"

    def rows(self) -> list[dict]:
        """Levels with their 95 % intervals."""
        found, units = self.levels, NoiseConfig.__dataclass_fields__
        return [
            {
                "name": name,
                "unit": units[name].metadata["unit"],
                "before": found.shipped[name],
                "after": after,
                "interval": [
                    after * float(np.exp(s * found.stddev[name]))
                    for s in (-HALF_WIDTH_95, HALF_WIDTH_95)
                ],
                "observable": found.observable(name),
            }
            for name, after in found.found.items()
        ]

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        history = [{"levels": s.levels, "change": s.change} for s in self.levels.history]
        return {
            "robot": self.robot.name,
            "what": ["noise"],
            "estimator": "window",
            "levels": self.rows(),
            "runs": [dict(name=n, nodes=k) for n, k in zip(self.names, self.nodes)],
            "converged": self.levels.converged,
            "history": history,
            "held_out": self.held_out,
            "notices": self.notices,
            "versions": versions(),
        }

    def live_yaml(self) -> str:
        """The robot's YAML with the levels, for every verb and node as `--robot FILE`."""
        content = robot_content(self.source, self.config)
        found = {name: float(f"{level:.4g}") for name, level in self.levels.found.items()}
        content["noise"] = {**content.get("noise", {}), **found}
        lines = ["# Written by `prime calibrate --estimator window`. Levels with 95 % intervals:"]
        for row in self.rows():
            low, high = row["interval"]
            told = "" if row["observable"] else ", not observable"
            lines.append(
                f"#   {row['name']}: {row['before']:.4g} -> {row['after']:.4g} "
                f"[{low:.4g}, {high:.4g}] {row['unit']}{told}"
            )
        return "\n".join(lines) + "\n" + yaml.safe_dump(content, sort_keys=False)
