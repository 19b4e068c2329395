# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Results of a calibration in one place, and as files: JSON, and the robot's YAML."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml

from ..config.files import unfinished_head
from ..config.parameters import Config
from ..config.robot_yaml import robot_content
from ..io.json_text import json_text
from ..io.trajectory import versions
from ..io.whole_file import write_whole
from ..robot import Robot
from .frank_wolfe import Descent
from .fusion import FusedOffsets
from .leg_kinematics import Leg
from .noise import UNITS, NoiseModel
from .single import RunCalibration


class WrittenOutcome:
    """An outcome with `robot`, `unfinished`, `live_yaml()` and `to_dict()`, as files."""

    def write(self, folder: Path) -> dict[str, str]:
        """Write <robot>.yaml and calibration.json; returns their paths by kind."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {"yaml": folder / f"{self.robot.name}.yaml", "json": folder / "calibration.json"}
        write_whole(files["yaml"], unfinished_head(self.unfinished) + self.live_yaml())
        write_whole(files["json"], json_text(self.to_dict()) + "\n")
        return {kind: str(path) for kind, path in files.items()}


@dataclass
class CalibrationOutcome(WrittenOutcome):
    """Outcome of `prime calibrate`.

    Attributes:
        source: of the robot, as it was named on the command line.
        what: groups that were calibrated.
        noise: shipped covariances.
        runs: one per recording. fused: offsets of all together.
        descent: noise covariances; None where they were not asked for.
        told: blocks by name, whether the trajectory's error tells them; empty after a Ctrl-C.
        held_out: scores of a recording that was not used, by whose offsets they are.
        notices: what the user should know.
    """

    robot: Robot
    config: Config
    source: str
    what: list[str]
    noise: NoiseModel
    runs: list[RunCalibration]
    fused: FusedOffsets
    descent: Descent | None = None
    told: dict[str, bool] = field(default_factory=dict)
    held_out: list[dict] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def unfinished(self) -> str:
        """Recordings that did not converge; empty where all did."""
        return ", ".join(
            f"{r.name} did not converge in {r.result.iterations} iterations"
            for r in self.runs
            if not r.result.converged
        )

    def rows(self) -> list[dict]:
        """Offsets with their intervals, from the URDF (or from the YAML that was given)."""
        return self.fused.rows(self.robot)

    def noise_rows(self) -> list[dict]:
        """Covariance blocks: standard deviations before and after, largest correlation after."""
        out = []
        for name, S in self.descent.noise.blocks.items():
            stddev = np.sqrt(np.diag(S))
            correlation = S / np.outer(stddev, stddev) - np.eye(len(S))
            out.append(
                {
                    "name": name,
                    "unit": UNITS[name],
                    "before": np.sqrt(np.diag(self.noise.blocks[name])).tolist(),
                    "after": stddev.tolist(),
                    "correlation": float(np.abs(correlation).max()),
                    "covariance": S.tolist(),
                    "observable": self.told.get(name),
                }
            )
        return out

    def _noise_dict(self) -> dict | None:
        if self.descent is None:
            return None
        d = self.descent
        history = [asdict(i) for i in d.history]
        loss = {"before": d.before, "after": d.after, "converged": d.converged}
        return {"blocks": self.noise_rows(), "loss": loss, "history": history}

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "robot": self.robot.name,
            "what": self.what,
            "offsets": self.rows(),
            "noise": self._noise_dict(),
            "runs": [_run_dict(run) for run in self.runs],
            "held_out": self.held_out,
            "notices": self.notices,
            "versions": versions(),
        }

    def live_yaml(self) -> str:
        """The robot's YAML with the offsets, for every verb and node as `--robot FILE`."""
        content = robot_content(self.source, self.config)
        content.setdefault("robot", {}).update(self._robot_section())
        lines = ["# Written by `prime calibrate`. Offsets with 95 % intervals:"]
        for row in self.rows():
            low, high = row["interval"]
            told = "" if row["observable"] else ", not observable"
            lines.append(
                f"#   {row['name']}: {row['value']:.5f} [{low:.5f}, {high:.5f}] {row['unit']}{told}"
            )
        return "\n".join(lines) + "\n" + yaml.safe_dump(content, sort_keys=False)

    def _robot_section(self) -> dict:
        """Parameters of the robot's YAML that the calibrated groups change."""
        found, robot, out = self.fused.offsets, self.robot, {}
        if "feet" in self.what:
            out |= self._feet_section()
        if "joints" in self.what:
            zeros = robot.joint_zeros + found.joints
            out["joint_zeros"] = dict(zip(robot.joint_names, _numbers(zeros)))
        if "imu" in self.what:
            urdf = self._urdf_imu()
            out["imu_position"] = _numbers(found.imu_position - urdf.translation)
            out["imu_rotation"] = _rpy(urdf.rotation.T @ found.imu_rotation)
        if "mocap" in self.what:
            before = robot.mocap_placement
            body = pin.SE3(found.mocap_rotation, found.mocap_position) * before
            out["mocap_position"] = _numbers(body.translation)
            out["mocap_rotation"] = _rpy(body.rotation)
        return out

    def _feet_section(self) -> dict:
        """Spheres of the feet, and origins of the ankles over soles, which keep their spheres."""
        robot, out = self.robot, {}
        legs = {foot: Leg(robot, foot) for foot in robot.feet}
        rolls = [not legs[contact.foot].flat for contact in robot.contacts]
        if any(rolls):
            out["contacts"] = [
                {**contact, "position": _numbers(self._contact_position(i, contact))}
                if rolls[i]
                else contact
                for i, contact in enumerate(self.config.to_dict()["robot"]["contacts"])
            ]
        shifts = {
            robot.joint_names[leg.joints[leg.ankle]]: offset
            for leg, offset in zip(legs.values(), self.fused.offsets.feet)
            if leg.flat
        }
        if shifts:
            before = robot.config.joint_offsets
            found = {k: _numbers(self._joint_origin(k, d)) for k, d in shifts.items()}
            out["joint_offsets"] = {**before, **found}
        return out

    def _joint_origin(self, joint: str, offset: np.ndarray) -> np.ndarray:
        """`joint_offsets` of a joint, its offset turned from the axes of the link's own joint."""
        model = self.robot.model
        own = (pin.FrameType.JOINT, model.getJointId(joint))
        frame = next(f for f in model.frames if (f.type, f.parentJoint) == own)
        link = model.frames[frame.parentFrame].placement.rotation
        return self.robot.config.joint_offsets.get(joint, np.zeros(3)) + link.T @ offset

    def _contact_position(self, index: int, contact: dict) -> np.ndarray:
        """Centre of a sphere in its frame, the offset turned from the axes of its link."""
        frame = self.robot.model.frames[self.robot.model.getFrameId(contact["frame"])]
        foot = self.robot.feet.index(self.robot.contacts[index].foot)
        offset = frame.placement.rotation.T @ self.fused.offsets.feet[foot]
        return np.array(contact["position"], float) + offset

    def _urdf_imu(self) -> pin.SE3:
        """Pose of the IMU as the URDF has it, without what the configuration adds."""
        config, placement = self.robot.config, self.robot.imu_placement
        turn = pin.rpy.rpyToMatrix(*config.imu_rotation)
        return pin.SE3(
            placement.rotation @ turn.T, placement.translation - np.array(config.imu_position)
        )


def observable_in_words(observable: bool | None) -> str:
    """What is said beside a covariance block; nothing where it is observable."""
    return {True: "", False: "not observable", None: "not examined"}[observable]


def _numbers(values: np.ndarray) -> list[float]:
    return [round(float(v), 6) for v in values]


def _rpy(R: np.ndarray) -> list[float]:
    return _numbers(pin.rpy.matrixToRpy(R))


def _run_dict(run: RunCalibration) -> dict:
    result = run.result
    return {
        "name": run.name,
        "nodes": run.nodes,
        "iterations": result.iterations,
        "converged": result.converged,
        "seconds": run.seconds,
        "whitened_mean_squares": result.misfit,
        "outliers": result.outliers,
        "offsets": run.deviation.tolist(),
    }
