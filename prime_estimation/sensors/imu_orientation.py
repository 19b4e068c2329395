# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Orientation of the IMU's own filter: roll, pitch and heading in a world of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..declaration import param
from ..types import NO_DATA
from .frames import turned_about_vertical
from .past_poses import base_pose
from .sensor import Block, Sensor, Wearer, take_back

NAME, ROWS, FRAME = "imu_orientation", "orientation", "orientation_frame"
JUMP, JUMP_STDDEV = (
    0.1,
    6.0,
)  # rad, and in standard deviations: turn between readings that is a jump
AGREEING = 20  # readings in a row that lie apart, before they are followed


class OrientationFrame:
    """Keeps the heading of the filter's world in ours, and hands its readings to the nodes.

    The first reading defines it, by the heading that the base has then; what is known of the
    base's heading is known of the frame's, and no more. So does the first one after a jump.

    Attributes:
        jumps: how often the filter's heading has jumped. refused: readings that were not used.
    """

    block = FRAME

    def __init__(self, problem):
        self.problem = problem
        self.jumps = self.refused = 0
        self.reset()

    def reset(self) -> None:
        """Forget the frame: the window begins anew."""
        self._yaw: float | None = None  # of the filter's world in ours, nominal
        self._seen, self._apart, self._message = False, 0, ""

    def motions(self, x: np.ndarray) -> np.ndarray:
        """Change (3, 3) of `orientation_frame` by motions of the world, as of `FrameTracker`."""
        out = np.zeros((3, 3))
        out[:, 2] = turned_about_vertical(self.problem.parameter(x, FRAME))
        return out

    def health(self) -> str:
        """What is wrong with the orientation; empty when nothing is."""
        return self._message if self._seen else NO_DATA

    def give(self, reading: np.ndarray | tuple, window) -> None:
        """Hand an orientation (4,) xyzw to the newest node of a window that has just moved."""
        self._seen = len(reading) == 4
        if not self._seen:
            return
        seen = pin.Quaternion(np.array(reading, float)).toRotationMatrix()
        apart = self._rotation(window.xs[-1]) @ seen.T
        if self._yaw is None:
            self._anchor(window, apart)
        if self._has_jumped(window, apart):
            if self._apart < AGREEING:
                self.refused += 1
                return
            self.jumps += 1
            self._anchor(window, apart)
        self._fill(window.inputs[-1], reading)

    def _rotation(self, x: np.ndarray) -> np.ndarray:
        """World <- IMU of a state."""
        return base_pose(self.problem, x).rotation @ self.problem.imu_motion(x)[0].rotation

    def _has_jumped(self, window, apart: np.ndarray) -> bool:
        """Whether a reading lies apart from where its frame has it, by more than noise."""
        noise, x = self.problem.config.noise, window.xs[-1]
        frame = pin.exp3(np.array(self.problem.parameter(x, FRAME))) @ _about_z(self._yaw)
        error = pin.log3(apart @ frame.T)
        stddev = np.array([noise.orientation_tilt] * 2 + [noise.orientation_yaw])
        if (np.abs(error) < np.maximum(JUMP, JUMP_STDDEV * stddev)).all():
            self._apart, self._message = 0, ""
            return False
        self._apart += 1
        self._message = f"lies {np.linalg.norm(error):.2f} rad apart; not used"
        return True

    def _anchor(self, window, apart: np.ndarray) -> None:
        """Place the frame such that this reading has the heading of the newest node."""
        problem, arrival = self.problem, window.arrival
        self._yaw, self._apart = _heading(apart), 0
        rows = np.zeros((1, problem.ndx))
        reference = pin.Quaternion(np.array(problem.layout.part(arrival.reference, "rotation")))
        rows[0, problem.columns("rotation")] = reference.toRotationMatrix()[2]
        stddev = np.array([problem.config.noise.orientation_yaw])
        window.tie(FRAME, [2], rows, np.zeros(1), stddev)
        for given in window.inputs:
            take_back(given, ROWS)

    def _fill(self, given, reading: np.ndarray) -> None:
        """Write a reading into the input of its node, in place of its vertical alone."""
        noise = self.problem.config.noise
        weight = 1.0 / np.array([noise.orientation_tilt] * 2 + [noise.orientation_yaw])
        frame = pin.Quaternion(_about_z(self._yaw)).coeffs()
        given.set(ROWS, np.concatenate([frame, reading]), weight)
        for less in ("tilt", "heading"):
            take_back(given, less)


class ImuOrientation(Sensor):
    """Orientation in the messages of the IMU, of a filter whose roll and pitch have a slow error.

    Without this sensor its roll and pitch count as they are, and how fast its heading turns. With
    it the heading itself counts: that of the filter's world in ours is a parameter that walks at
    random, which is the filter's drift.
    """

    name = NAME
    residuals = (ROWS,)
    optional = True
    framed = True
    innovations = (ROWS,)

    @dataclass(frozen=True)
    class Noise:
        """Standard deviation of the filter's orientation, of its slow errors, and of its drift."""

        orientation_tilt: float = param(
            0.01, "roll and pitch of the IMU's own filter", "rad", 1e-5, 1.0, tunable=True
        )
        orientation_yaw: float = param(
            0.01, "its heading, from one reading to the next", "rad", 1e-5, 1.0, tunable=True
        )
        orientation_error: float = param(0.01, "its slow error of roll and pitch", "rad", 0.0, 1.0)
        orientation_error_walk: float = param(
            5e-4, "random walk of that", "rad/sqrt(s)", 0.0, 1.0, tunable=True
        )
        orientation_yaw_walk: float = param(
            0.002, "random walk of its heading", "rad/sqrt(s)", 0.0, 1.0, tunable=True
        )

    def blocks(self, noise, wearer: Wearer) -> dict[str, Block]:
        """How the filter's world lies in ours; its heading is defined by the first reading."""
        prior = np.array([noise.orientation_error] * 2 + [noise.orientation_yaw])
        walk = np.array([noise.orientation_error_walk] * 2 + [noise.orientation_yaw_walk])
        return {FRAME: Block(prior, walk)}

    def tracker(self, problem) -> OrientationFrame:
        """Keeps the frame."""
        return OrientationFrame(problem)


def _heading(R: np.ndarray) -> float:
    """Turn about the vertical that is nearest to a rotation [rad]."""
    return float(np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1]))


def _about_z(angle: float) -> np.ndarray:
    return pin.exp3(np.array([0.0, 0.0, angle]))
