# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots of all kinds for tests of the core, and random points at which to look at them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import pinocchio as pin

from prime_estimation.config.parameters import Config, RobotConfig
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot

ROBOTS = ("go1", "go2", "kinova", "kinova_free", "g1")  # kinova_free: without contact
SLOPE_REACH, SOLE_REACH = 0.05, 1.7  # of a slope around its anchor [m], and more under a sole
SOFTNESS_SHARE = 0.4  # of softness in the sharpness of the law
SOFTNESS_LAG = 0.118  # by which the lag of depth behind load grows with it
SOFTNESS_WIDTH = 0.2  # where its parameter sets in
SITUATIONS = ("stance", "air", "deep", "sliding")
_CORNERS = [(-0.05, 0.025), (-0.05, -0.025), (0.12, 0.03), (0.12, -0.03)]


def config(name: str, **estimator) -> Config:
    """Configuration of one of ROBOTS, with changes of its `estimator` section."""
    loaded = (
        Config.load(name)
        if name in ("go1", "go2")
        else replace(Config(), robot=_robot_config(name))
    )
    # these nodes keep Gaussian weights: room for the disturbances that the tests draw
    return loaded.updated(
        {"estimator": estimator, "noise": {"contact_tangential": 0.02, "contact_normal": 0.1}}
    )


def _robot_config(name: str) -> RobotConfig:
    """A fixed-base arm with continuous joints, or a humanoid with four spheres under each foot and
    its IMU above the waist."""
    losses = dict(armature=0.02, joint_friction=0.2, joint_damping=0.05)
    if name == "g1":
        contacts = [
            dict(
                name=f"{side}/{i}",
                frame=f"{side}_ankle_roll_link",
                position=[x, y, -0.03],
                radius=0.005,
            )
            for side in ("left", "right")
            for i, (x, y) in enumerate(_CORNERS)
        ]
        links = ["pelvis", "torso_link"]
        options = dict(
            urdf="example-robot-data:g1",
            imu_frame="imu_in_torso",
            kappa=8000.0,
            contacts=contacts,
            estimated_links=links,
        )
    else:
        contacts = (
            [dict(name="tip", frame="j2s6s200_end_effector", radius=0.02)]
            if name == "kinova"
            else []
        )
        options = dict(
            urdf="example-robot-data:kinova",
            floating_base=False,
            contacts=contacts,
            estimated_links=["j2s6s200_link_6"],
        )
    return Config().updated({"robot": dict(name=name, **options, **losses)}).robot


@lru_cache(maxsize=None)
def robot(name: str) -> Robot:
    return Robot(config(name).robot)


@lru_cache(maxsize=None)
def problem(
    name: str,
    form: str = "forward",
    cone: str = "coulomb",
    mocap: bool = True,
    holds: bool = False,
    **estimator: str,
) -> Problem:
    optional = ("mocap",) if mocap else ()
    return Problem(robot(name), config(name, form=form, cone=cone, **estimator), optional, holds)


@dataclass(frozen=True)
class Point:
    """Arguments of one step of the dynamics."""

    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    xi: np.ndarray
    theta: np.ndarray
    height: np.ndarray
    friction: float
    slope: np.ndarray = field(default_factory=lambda: np.zeros(0))
    softness: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def parameters(self) -> np.ndarray:
        """Theta, heights, logarithm of the friction coefficient, slopes, softness of the dynamics.

        Without feet there is only theta.
        """
        friction = [np.log(self.friction)] if len(self.height) else []
        return np.concatenate([self.theta, self.height, friction, self.slope, self.softness])


def sphere_bottoms(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Height of the lowest point of each contact sphere [m]."""
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    frames = [data.oMf[robot.model.getFrameId(c.frame)] for c in robot.contacts]
    return np.array(
        [f.act(np.array(c.position))[2] - c.radius for f, c in zip(frames, robot.contacts)]
    )


def slope_reach(robot: Robot, foot: str) -> float:
    """Distance from its anchor at which the slope under a foot levels off [m]."""
    places = np.array([c.position for c in robot.contacts if c.foot == foot])
    return SLOPE_REACH + SOLE_REACH * np.linalg.norm(places - places.mean(axis=0), axis=1).max()


def ground_under(problem: Problem, q: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Heights (nf,) [m] at which ground of these slopes, anchored at the origin, touches feet."""
    robot, heights = problem.robot, []
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    for foot, s in zip(robot.feet, slope.reshape(-1, 2) if slope.size else np.zeros((9, 2))):
        touching, reach = [], slope_reach(robot, foot)
        for c in (c for c in robot.contacts if c.foot == foot):
            center = data.oMf[robot.model.getFrameId(c.frame)].act(np.array(c.position))
            away = center[:2] / np.sqrt(1.0 + center[:2] @ center[:2] / reach**2)
            touching.append(center[2] - s @ away - c.radius * np.sqrt(1.0 + s @ s))
        heights.append(min(touching))
    return np.array(heights)


def random_configuration(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Joints near a bent posture, base anywhere, turned arbitrarily in yaw and by up to half a
    radian in roll and pitch."""
    model = robot.model
    dq = rng.normal(0.0, 0.4, model.nv)
    if not robot.config.floating_base:
        return pin.integrate(model, pin.neutral(model), 3.0 * dq)
    dq[:6] = 0.0
    q = pin.integrate(model, pin.neutral(model), dq)
    q[:3] = rng.normal(size=3)
    q[3:7] = pin.Quaternion(
        pin.rpy.rpyToMatrix(*rng.uniform(-0.5, 0.5, 2), rng.uniform(-3.0, 3.0))
    ).coeffs()
    return q


def random_point(problem: Problem, rng: np.random.Generator, situation: str) -> Point:
    """A random state whose feet are all in one situation.

    `stance`, `air`, `deep` penetration or `sliding` fast.
    """
    robot = problem.robot
    q = random_configuration(robot, rng)
    speed = 3.0 if situation == "sliding" else 1.0
    v = rng.normal(0.0, speed, problem.nv)
    gaps = {
        "stance": (-1e-3, 1e-3),
        "air": (0.005, 0.1),
        "deep": (-0.05, -0.005),
        "sliding": (-1e-3, 0.0),
    }[situation]
    slope = 0.2 * rng.normal(size=2 * len(robot.feet) if "slope" in problem.layout else 0)
    height = ground_under(problem, q, slope) - rng.uniform(*gaps, len(robot.feet))
    # the estimator keeps it below 1.2
    friction = float(min(1.2, np.exp(rng.normal(np.log(0.8), 0.3))))
    force = rng.normal(0.0, 20.0, problem.nv)
    theta = problem.theta_nominal + 0.1 * rng.normal(size=len(problem.theta_nominal))
    xi = rng.normal(0.0, 0.1, problem.dynamics.nxi)
    # a stream of its own leaves the other numbers as they are without it
    softness = rng.spawn(1)[0].uniform(-1.0, 3.0, int("softness" in problem.layout))
    return Point(q, v, force, xi, theta, height, friction, slope, softness)
