# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""All results of an identification in one place, and as files.

JSON, URDF, YAML for the live node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml

from ..config.files import unfinished_head
from ..config.parameters import Config
from ..inertia import inertia_about_com
from ..io.json_text import json_text
from ..io.trajectory import versions
from ..io.whole_file import write_whole
from ..robot import Robot
from .fusion import repeatability
from .joint_yaml import noise_changes, robot_changes
from .joints import JointPosterior
from .observability import Direction, directions
from .posterior import Posterior, to_psi
from .single import Run
from .systematic import ZERO
from .urdf import patch_urdf


@dataclass
class Outcome:
    """Outcome of `prime identify`.

    Attributes:
        config: that of the live node: without step and joint parameters of the identification.
        runs: one per recording. posterior: of all together.
        baseline: dynamic parameters (10,) by link, by method; empty when it could not be computed.
        held_out: fit of recordings that were not used, with the nominal, identified and their own
            best inertia.
        notices: what the user should know.
        joints: joint parameters of all recordings together, where they are estimated.
    """

    robot: Robot
    config: Config
    runs: list[Run]
    posterior: Posterior
    baseline: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    held_out: list[dict] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    joints: JointPosterior | None = None

    @property
    def unfinished(self) -> str:
        """Recordings that did not converge; empty where all did."""
        return ", ".join(run.unfinished for run in self.runs if run.unfinished)

    @property
    def inertias(self) -> dict[str, np.ndarray]:
        """Dynamic parameters (10,) by link."""
        return {link: self.posterior.pi(link) for link in self.posterior.links}

    def posterior_directions(self, link: str) -> list[Direction]:
        """Eigen-directions of a link, worst known first."""
        return directions(self.posterior, link)

    def baseline_psi(self, method: str, link: str) -> np.ndarray:
        """(mass, com, tensor about the com) of the baseline."""
        return to_psi(self.baseline[method][link])

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        p = self.posterior
        links = {
            link: {
                "quantities": {q.name: q.to_dict() for q in p.quantities(link)},
                "dynamic_parameters": p.pi(link).tolist(),
                "box": equivalent_box(p.pi(link)),
                "directions": [d.to_dict() for d in directions(p, link)],
                "baseline": {
                    method: bodies[link].tolist() for method, bodies in self.baseline.items()
                },
            }
            for link in p.links
        }
        return {
            "robot": self.robot.name,
            "links": links,
            "joints": [q.to_dict() for q in self.joints.quantities()] if self.joints else None,
            "error_budget": error_table(p),
            "runs": [_run_dict(run) for run in self.runs],
            "repeatability": repeatability(self.runs) if len(self.runs) > 1 else None,
            "held_out": self.held_out,
            "notices": self.notices,
            "versions": versions(),
        }

    def write(self, folder: Path) -> dict[str, str]:
        """Write <robot>.urdf, <robot>.yaml and identification.json; returns their paths by kind."""
        folder.mkdir(parents=True, exist_ok=True)
        urdf = folder / f"{self.robot.name}.urdf"
        self.notices += patch_urdf(self.robot, self.inertias, urdf)
        files = {
            "urdf": urdf,
            "yaml": folder / f"{self.robot.name}.yaml",
            "json": folder / "identification.json",
        }
        write_whole(files["yaml"], unfinished_head(self.unfinished) + self.live_yaml(urdf))
        write_whole(files["json"], json_text(self.to_dict()) + "\n")
        return {kind: str(path) for kind, path in files.items()}

    def live_yaml(self, urdf: Path) -> str:
        """Robot's YAML with the patched URDF, for `prime node --robot FILE` and other verbs."""
        content = self.config.to_dict()
        content["robot"]["urdf"] = str(urdf.resolve())
        lines = ["# Written by `prime identify`. 95 % intervals:"]
        for link in self.posterior.links:
            for q in self.posterior.quantities(link)[:4]:
                low, high = q.interval
                lines.append(
                    f"#   {link} {q.name}: {q.reported:.5g} [{low:.5g}, {high:.5g}] {q.unit}"
                    + ("" if q.observable else ", not observable")
                )
        if self.joints is not None:
            content["robot"].update(robot_changes(self.joints, self.robot))
            content["noise"].update(noise_changes(self.joints))
            lines += [
                f"#   {q.label} {q.kind}: {q.value:.4g} "
                f"[{q.interval[0]:.4g}, {q.interval[1]:.4g}] {q.unit}".rstrip()
                + ("" if q.observable else ", not observable")
                for q in self.joints.quantities()
            ]
        return "\n".join(lines) + "\n" + yaml.safe_dump(content, sort_keys=False)


def equivalent_box(pi: np.ndarray) -> dict:
    """The homogeneous box with the same inertia.

    Edges [m], centre in the link frame [m], axes (columns) in the link frame.
    """
    moments, axes = np.linalg.eigh(inertia_about_com(pi))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    edges = np.sqrt(np.maximum(6.0 / pi[0] * (moments.sum() - 2.0 * moments), 0.0))
    rpy = pin.rpy.matrixToRpy(axes)
    return {
        "edges": edges.tolist(),
        "centre": (pi[1:4] / pi[0]).tolist(),
        "axes": axes.tolist(),
        "rpy": rpy.tolist(),
    }


def error_table(p: Posterior) -> dict[str, dict[str, dict[str, float]]]:
    """Mass and com error by cause and link, for one standard deviation of each.

    The joints' zeros together (root of the sum of squares).
    """
    shifts = {
        cause: {link: _psi_shift(p, link, shift) for link in p.links}
        for cause, shift in p.budget.items()
    }
    zeros = [shifts.pop(cause) for cause in p.budget if cause.startswith(ZERO)]
    if zeros:
        names = next(iter(zeros[0].values()))
        shifts["zeros of the joints"] = {
            link: {
                name: float(np.linalg.norm([zero[link][name] for zero in zeros])) for name in names
            }
            for link in p.links
        }
    return shifts


def _psi_shift(p: Posterior, link: str, shift: np.ndarray) -> dict[str, float]:
    i = p.links.index(link)
    pi, d = p.pi(link), shift[10 * i : 10 * i + 10]
    com = (d[1:4] - pi[1:4] / pi[0] * d[0]) / pi[0]
    return dict(zip(("mass", "com x", "com y", "com z"), [float(d[0]), *map(float, com)]))


def _run_dict(run: Run) -> dict:
    p = run.posterior
    return {
        "name": run.name,
        "span_s": list(run.span),
        "nodes": run.nodes,
        "iterations": len(run.result.history),
        "converged": run.result.converged,
        "solve_seconds": run.result.seconds,
        "friction": {"value": run.friction[0], "stddev": run.friction[1]},
        "counts": dict(run.counts),
        "residuals_nominal": run.before.to_dict(),
        "residuals_identified": run.after.to_dict(),
        "quantities": {link: {q.name: q.to_dict() for q in p.quantities(link)} for link in p.links},
    }
