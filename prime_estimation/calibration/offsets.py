# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Constant kinematic offsets of a machine from its URDF, as parameters of an estimate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from ..errors import ConfigError
from ..robot import Robot
from .leg_kinematics import Leg
from .rotations import exp, sine_jacobian, sine_vector

GROUPS = ("feet", "joints", "imu", "mocap")


@dataclass(frozen=True)
class OffsetPriors:
    """Standard deviations of the offsets before any recording is seen."""

    foot: float = 0.03  # m, tip of a foot, leg length included, or ankle over a sole
    joint: float = 0.01  # rad, zero of an encoder
    imu_rotation: float = 0.05  # rad
    imu_position: float = 0.03  # m
    mocap_rotation: float = 1.0  # rad: markers are glued on in any direction
    mocap_position: float = 0.3  # m


@dataclass(frozen=True)
class Offsets:
    """Geometry of a machine where it departs from its URDF.

    The parameter vector is (feet, joints, IMU rotation, IMU position, mocap rotation, mocap
    position); rotations are moved by right tangents.

    Attributes:
        feet: (nf, 3) centre of the foot's sphere, axes of its link, or origin of the ankle over a
            sole (`Leg.ankle`), axes of the link before it; true minus URDF [m].
        joints: (nj,) reading minus true position [rad].
        imu_rotation: (3, 3) base from IMU. imu_position: (3,) of the IMU in the base [m].
        mocap_rotation: (3, 3) base from tracked body. mocap_position: (3,) in the base [m].
    """

    feet: np.ndarray
    joints: np.ndarray
    imu_rotation: np.ndarray
    imu_position: np.ndarray
    mocap_rotation: np.ndarray
    mocap_position: np.ndarray

    @staticmethod
    def nominal(robot: Robot) -> Offsets:
        """Geometry of the URDF; the tracked body is the base."""
        placement = robot.imu_placement
        return Offsets(
            np.zeros((len(robot.feet), 3)),
            np.zeros(robot.nj),
            np.array(placement.rotation),
            np.array(placement.translation),
            np.eye(3),
            np.zeros(3),
        )

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.feet.size + self.joints.size + 12

    @property
    def columns(self) -> dict[str, slice]:
        """Columns of the parts in the parameter vector."""
        sizes = {
            "feet": self.feet.size,
            "joints": self.joints.size,
            "imu_rotation": 3,
            "imu_position": 3,
            "mocap_rotation": 3,
            "mocap_position": 3,
        }
        ends = np.cumsum(list(sizes.values()))
        return {k: slice(int(e) - n, int(e)) for (k, n), e in zip(sizes.items(), ends)}

    def moved(self, d: np.ndarray) -> Offsets:
        """Offsets after a step (size,) of the parameter vector."""
        at = self.columns
        return Offsets(
            self.feet + d[at["feet"]].reshape(self.feet.shape),
            self.joints + d[at["joints"]],
            self.imu_rotation @ exp(d[at["imu_rotation"]]),
            self.imu_position + d[at["imu_position"]],
            self.mocap_rotation @ exp(d[at["mocap_rotation"]]),
            self.mocap_position + d[at["mocap_position"]],
        )

    def difference(self, origin: Offsets) -> tuple[np.ndarray, np.ndarray]:
        """Deviation (size,) from other offsets and its derivative (size, size).

        That of a rotation is the sine of its angle times its axis.
        """
        r, J, at = np.zeros(self.size, self.feet.dtype), np.eye(self.size), self.columns
        r[at["feet"]] = (self.feet - origin.feet).ravel()
        r[at["joints"]] = self.joints - origin.joints
        for name in ("imu_position", "mocap_position"):
            r[at[name]] = getattr(self, name) - getattr(origin, name)
        for name in ("imu_rotation", "mocap_rotation"):
            R = getattr(origin, name).T @ getattr(self, name)
            r[at[name]] = sine_vector(R)
            J[at[name], at[name]] = sine_jacobian(R)
        return r, J

    def stddev(self, priors: OffsetPriors) -> np.ndarray:
        """(size,) prior standard deviations."""
        out, at = np.zeros(self.size), self.columns
        out[at["feet"]], out[at["joints"]] = priors.foot, priors.joint
        for name in ("imu_rotation", "imu_position", "mocap_rotation", "mocap_position"):
            out[at[name]] = getattr(priors, name)
        return out

    def free(self, what: Collection[str]) -> np.ndarray:
        """(k,) columns of the groups that are to be estimated; ConfigError for an unknown one."""
        unknown = sorted(set(what) - set(GROUPS))
        if unknown:
            raise ConfigError(
                f"unknown offsets {', '.join(unknown)}; there are {', '.join(GROUPS)}"
            )
        chosen = [
            np.arange(s.start, s.stop) for k, s in self.columns.items() if k.split("_")[0] in what
        ]
        return np.concatenate([*chosen, np.zeros(0, int)]).astype(int)

    def names(self, robot: Robot) -> list[tuple[str, str]]:
        """(name, unit) of each parameter."""
        legs = [Leg(robot, foot) for foot in robot.feet]
        shifted = [
            leg.name if leg.ankle is None else robot.joint_names[leg.joints[leg.ankle]]
            for leg in legs
        ]
        out = [(f"{name} {axis}", "m") for name in shifted for axis in "xyz"]
        out += [(f"{joint} zero", "rad") for joint in robot.joint_names]
        for body in ("imu", "mocap"):
            out += [(f"{body} rotation {axis}", "rad") for axis in "xyz"]
            out += [(f"{body} position {axis}", "m") for axis in "xyz"]
        return out

    def values(self, origin: Offsets) -> np.ndarray:
        """(size,) deviations from other offsets, those of rotations as rotation vectors [rad]."""
        r, at = self.difference(origin)[0], self.columns
        for name in ("imu_rotation", "mocap_rotation"):
            R = getattr(origin, name).T @ getattr(self, name)
            r[at[name]] = Rotation.from_matrix(R).as_rotvec()
        return r
