# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motion of the whole world, as when the origin of motion capture has been moved."""

from __future__ import annotations

from itertools import product

import numpy as np
import pinocchio as pin

from ..contact.footholds import Slope
from ..sensors.frames import WorldMotion
from ..sensors.mocap_mount import NAME
from .problem import Problem
from .window import Window


def move_window(problem: Problem, window: Window, motion: WorldMotion) -> None:
    """Move a window together with the world, with the uncertainty of one pose.

    Readings from before the motion are removed from the window. Without this function, the
    estimator would take the motion for a velocity and rotation of the base.

    Args:
        problem: its ground has anchors in the world.
        window: shifted, not solved yet.
        motion: motion of the world.
    """
    window.xs = [moved_state(problem, x, motion) for x in window.xs]
    arrival = window.arrival
    arrival.reference = moved_state(problem, arrival.reference, motion)
    if "slope" in problem.layout:
        problem.dynamics.anchor = motion.points(problem.anchors)
        turn = motion.turn[:2, :2]
        for given, name in product(window.inputs, ("slope_offset", "anchor_offset")):
            offset = np.array(getattr(given, name)).reshape(-1, 2)
            setattr(given, name, (offset @ turn.T).ravel())
    problem.measurements.withdraw(NAME, window.inputs)
    for frame in problem.measurements.frames:
        frame.reset()  # it is placed anew by the base's own pose
    arrival.inflate_covariance(_unknown(problem, window))
    window.look_anew()


def moved_state(problem: Problem, x: np.ndarray, motion: WorldMotion) -> np.ndarray:
    """A state (nx,), moved together with the world."""
    part, moved = problem.layout.part, np.array(x)
    part(moved, "position")[:] = motion.points(part(x, "position")[None])[0]
    turned = pin.Quaternion(motion.turn) * pin.Quaternion(np.array(part(x, "rotation")))
    part(moved, "rotation")[:] = turned.normalized().coeffs()
    part(moved, "height")[:] += motion.shift[2]
    slope = part(moved, "slope")
    slope[:] = (slope.reshape(-1, 2) @ motion.turn[:2, :2].T).ravel()
    return moved


def motion_between(problem: Problem, x: np.ndarray, other: np.ndarray) -> WorldMotion:
    """Motion of the world that takes the base at x (nx,) to place and heading of another state.

    And the ground under it to the height of that under the other.
    """
    part = problem.layout.part
    poses = [
        pin.SE3(pin.Quaternion(np.array(part(y, "rotation"))), np.array(part(y, "position")))
        for y in (x, other)
    ]
    motion = WorldMotion.between(poses[:1], poses[1:])
    motion.shift[2] = np.mean(part(other, "height")) - np.mean(part(x, "height"))
    return motion


def way_unseen(problem: Problem, x: np.ndarray, seconds: float) -> np.ndarray:
    """Deviations (3,) of a way in the plane [m] and of a turn [rad], if it went on as at x."""
    v, w = (problem.layout.part(x, name) for name in ("velocity", "rate"))
    way, turn = seconds * np.linalg.norm(v), seconds * np.linalg.norm(w)
    return np.array([way, way, turn])


def gone(problem: Problem, x: np.ndarray, seconds: float) -> np.ndarray:
    """A state (nx,) that has gone on in the plane as fast as it was."""
    part, on = problem.layout.part, np.array(x)
    R = pin.Quaternion(np.array(part(x, "rotation"))).toRotationMatrix()
    part(on, "position")[:2] += seconds * (R @ part(x, "velocity"))[:2]
    return on


def moved_slope(slope: Slope, motion: WorldMotion) -> Slope:
    """The slope of the ground carried along with the world."""
    return Slope(motion.turn[:2, :2] @ slope.mean, slope.stddev, slope.level)


def _unknown(problem: Problem, window: Window) -> np.ndarray:
    """Root (ndx, 4) of what is not known of a motion along x, y, about the vertical, along z."""
    x, noise = window.arrival.reference, problem.config.noise
    root = np.zeros((problem.ndx, 4))
    root[:, :3] = window.place.motions(x)
    root[:3, 3] = pin.Quaternion(np.array(x[3:7])).toRotationMatrix()[2]
    root[problem.columns("height"), 3] = 1.0
    place, turn = noise.mocap_position, noise.mocap_rotation
    return root * [place, place, turn, place]
