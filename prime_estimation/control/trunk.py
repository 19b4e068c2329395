# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Trunk reference: the motion that a velocity command asks of the base."""

from __future__ import annotations

import numpy as np

from .gait import Gait
from .motion_types import RobotState, VelocityCommand
from .parameters import ControlConfig

RISE = 0.15  # m/s, of the reference of the height
LEASH = 0.05  # m,
HEIGHT_LEASH = 0.02  # m, and
YAW_LEASH = 0.2  # rad: the reference waits for a robot that lags behind


class TrunkReference:
    """Integrates velocity commands to a pose that never runs away from the robot.

    Args:
        state: where it begins.
        height: of the base above the ground, where it begins [m].

    Attributes:
        position: (2,) world [m].
        yaw: [rad].
        height: of the base above the ground [m]; it follows a new one at `RISE`.
    """

    def __init__(self, state: RobotState, height: float):
        self.position, self.yaw, self.height = state.q[:2].copy(), state.heading, height

    def advance(
        self, state: RobotState, command: VelocityCommand, ground: float, height: float, dt: float
    ) -> None:
        """Move on by dt [s] and stay near the robot; ground and wanted height above it [m]."""
        self.position += dt * (about_z(self.yaw) @ np.array([command.vx, command.vy]))
        gap = self.position - state.q[:2]
        self.position = state.q[:2] + gap * min(1.0, LEASH / max(float(np.linalg.norm(gap)), 1e-9))
        error = wrap(self.yaw + dt * command.yaw_rate - state.heading)
        self.yaw = state.heading + float(np.clip(error, -YAW_LEASH, YAW_LEASH))
        rise = self.height + float(np.clip(height - self.height, -RISE * dt, RISE * dt))
        now = state.q[2] - ground
        self.height = float(np.clip(rise, now - HEIGHT_LEASH, now + HEIGHT_LEASH))

    def stand(self, position: np.ndarray) -> None:
        """Stay at a place (2,), world [m]: that of a robot that stands must not follow it."""
        self.position = np.array(position, float)

    def ahead(
        self, command: VelocityCommand, times: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions (n, 2), headings (n,), velocities (n, 2), world, so many seconds from now."""
        turned = command.yaw_rate * times
        # the chord of an arc: half the turn, and shorter than the arc
        chord = (times * np.sinc(0.5 * turned / np.pi))[:, None]
        travel = chord * _turned(command, self.yaw + 0.5 * turned)
        return self.position + travel, self.yaw + turned, _turned(command, self.yaw + turned)


class CommandLimiter:
    """Limits the rate of change of velocity commands, and their size to what a gait can do."""

    def __init__(self, config: ControlConfig):
        self._config = config
        self.reset()

    def reset(self) -> None:
        """Begin from rest."""
        self._now = np.zeros(3)

    def limit(self, wish: VelocityCommand, gait: Gait, dt: float) -> VelocityCommand:
        """The command that is followed for the next dt [s]."""
        config = self._config
        speed = float(np.hypot(wish.vx, wish.vy))
        scale = min(1.0, gait.top_speed / speed) if speed > 0.0 else 1.0
        top = config.top_yaw_rate if gait.period else 0.0
        wanted = np.array(
            [scale * wish.vx, scale * wish.vy, float(np.clip(wish.yaw_rate, -top, top))]
        )
        change = wanted - self._now
        largest = dt * np.array([config.acceleration, config.acceleration, config.yaw_acceleration])
        self._now = self._now + np.clip(change, -largest, largest)
        vx, vy, yaw_rate = self._now
        return VelocityCommand(float(vx), float(vy), float(yaw_rate), wish.height, wish.lean)


def _turned(command: VelocityCommand, yaw: np.ndarray) -> np.ndarray:
    """(n, 2) the commanded velocity at these headings, world [m/s]."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack([c * command.vx - s * command.vy, s * command.vx + c * command.vy], axis=1)


def about_z(yaw: float) -> np.ndarray:
    """(2, 2) rotation in the horizontal plane."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s], [s, c]])


def within(place: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """A place (2,), drawn into the ellipse about zero with these half axes (2,) [m]."""
    share = float(np.linalg.norm(place / np.maximum(reach, 1e-9)))
    return place * min(1.0, 1.0 / max(share, 1e-9))


def wrap(angle: float) -> float:
    """The same angle within +-pi."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
