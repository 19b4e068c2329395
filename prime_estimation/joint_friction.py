# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torque that is lost between motors and links, as the dynamics of the core have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from . import _core
from .robot import Robot

FRICTION_VELOCITY = _core.DynamicsOptions().friction_velocity  # rad/s, smoothing of dry friction
TORQUE_WIDTH = 0.1  # Nm, smoothing of the size of a torque, as in the core


@dataclass(frozen=True)
class JointLosses:
    """Losses of the joints: the part of the motors' torque that does not reach the links.

    Attributes:
        added_armature: (nj,) kg m2, rotor inertia beyond that of the robot's model.
        damping: (nj,) Nm s/rad. dry_friction: (nj,) Nm. gear_loss: (nj,), share of the torque.
        gain: (nj,) true torque per reading, beyond `offset`: (nj,) Nm, of a motor without torque.
        stribeck: (nj,) Nm, dry friction of a joint that begins to move, beyond Coulomb's.
        stribeck_velocity: (nj,) rad/s, at which most of that is gone.
    """

    added_armature: np.ndarray
    damping: np.ndarray
    dry_friction: np.ndarray
    gear_loss: np.ndarray
    gain: np.ndarray
    offset: np.ndarray
    stribeck: np.ndarray
    stribeck_velocity: np.ndarray

    @classmethod
    def of(cls, robot: Robot, estimated: Mapping[str, np.ndarray] | None = None) -> "JointLosses":
        """Those of a robot's YAML, or values (nj,) by the names of estimated joint parameters."""
        told, nj = estimated or {}, robot.nj
        armature = robot.model.armature[robot.model.nv - nj :]
        return cls(
            told.get("armature", armature) - armature,
            told.get("damping", robot.joint_damping),
            told.get("dry_friction", robot.joint_friction),
            told.get("gear_loss", robot.gear_loss),
            np.exp(-told.get("torque_gain", np.zeros(nj))),
            told.get("torque_offset", np.zeros(nj)),
            told.get("stribeck", robot.stribeck),
            told.get("stribeck_velocity", robot.stribeck_velocity),
        )

    @cached_property
    def _lossy(self) -> bool:
        return bool(self.gear_loss.any())

    @cached_property
    def _breaks_away(self) -> bool:
        return bool(self.stribeck.any())

    def lost(self, rate: np.ndarray, torque: np.ndarray | None = None) -> np.ndarray:
        """Torque of damping, dry friction and gears [Nm]; as `joint_losses`."""
        friction = self.dry_friction
        if self._breaks_away:
            friction = friction + self.stribeck * np.exp(-((rate / self.stribeck_velocity) ** 2))
        if torque is not None and self._lossy:
            size = np.sqrt(torque**2 + TORQUE_WIDTH**2) - TORQUE_WIDTH
            friction = friction + self.gear_loss * size
        return self.damping * rate + friction * _direction(rate)

    def passed(self, torque: np.ndarray, rate: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Torque at the links (nj,) [Nm] of the motors' readings (nj,) [Nm].

        Of a model with its own armature, at joint rates and accelerations (nj,).
        """
        true = self.gain * (torque - self.offset)
        return true - self.lost(rate, true) - self.added_armature * acceleration


def dry_friction(robot: Robot, rate: np.ndarray) -> np.ndarray:
    """Torque of dry friction [Nm] at joint rates (..., nj) [rad/s].

    F rate / sqrt(rate^2 + FRICTION_VELOCITY^2); `robot.friction_lead` wants accelerations and is
    left out.
    """
    return robot.joint_friction * _direction(rate)


def joint_losses(robot: Robot, rate: np.ndarray, torque: np.ndarray | None = None) -> np.ndarray:
    """Torque of damping, dry friction and gears [Nm] at joint rates (..., nj) [rad/s].

    Gears lose a share of the motors' torque (..., nj) [Nm]; None: they are left out.
    """
    return JointLosses.of(robot).lost(rate, torque)


def _direction(rate: np.ndarray) -> np.ndarray:
    """Sign of joint rates, smoothed as in the core."""
    return rate / np.sqrt(rate * rate + FRICTION_VELOCITY**2)
