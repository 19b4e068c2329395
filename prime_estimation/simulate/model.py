# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Simulated world: a MuJoCo scene made of a `Robot`'s Pinocchio model, with stiff contacts.

Contact law and integrator are MuJoCo's own and share nothing with the smoothed law of the
estimator.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import mujoco
import numpy as np
import pinocchio as pin

from ..errors import ConfigError, RobotError
from ..robot import GRAVITY, Robot

PHYSICS = {  # as written to the run's JSON
    "dt": 0.001,
    "integrator": "semi-implicit Euler, eulerdamp off",
    "solver": "Newton, tol 1e-12",
    "cone": "elliptic",
    "impratio": 20,
    "solref": [0.005, 1.0],
    "solimp": [0.95, 0.99, 0.001, 0.5, 2],
    # dry friction of joints; MuJoCo's default lets it push along while an impact brakes the joint
    "solreffriction": [0.004, 1.0],
    "gravity": [0, 0, -GRAVITY],
}


POINT = 1e-5  # m, radius of a contact that is a point: MuJoCo wants one


@dataclass(frozen=True)
class Payload:
    """Extra mass that the robot's model does not know: a homogeneous box welded to a link.

    Attributes:
        mass: kg.
        position: centre of the box in the frame of `link` [m].
        link: any link of the URDF; None: the base.
        size: edges of the box [m]; they give its rotational inertia.
        t_on, t_off: s from the start of the recording; at most one of them. Default: there from the
            beginning.
    """

    mass: float
    position: tuple[float, float, float] = (0.0, 0.0, 0.1)
    link: str | None = None
    size: tuple[float, float, float] = (0.2, 0.16, 0.06)
    t_on: float | None = None
    t_off: float | None = None

    def __post_init__(self):
        numbers = np.array([self.mass, *self.position, *self.size], float)
        if not (np.isfinite(numbers).all() and self.mass > 0 and min(self.size) > 0):
            raise ConfigError(
                f"a payload needs a positive mass and size and finite numbers, got {self}", self
            )
        if self.t_on is not None and self.t_off is not None:
            raise ConfigError(
                "a payload is put on (t_on) or taken off (t_off) in one run, not both", self
            )

    def at(self, time: float) -> bool:
        """Whether it is on the robot at `time` s."""
        return not (
            self.t_on is not None
            and time < self.t_on
            or self.t_off is not None
            and time >= self.t_off
        )

    @property
    def switch(self) -> float | None:
        """When it is put on or taken off [s]; None: never."""
        return self.t_on if self.t_on is not None else self.t_off

    def inertia(self) -> pin.Inertia:
        """Spatial inertia in the frame of `link`."""
        x, y, z = self.size
        box = self.mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
        return pin.Inertia(self.mass, np.array(self.position, float), box)


@dataclass(frozen=True)
class Ground:
    """Floor at z = 0 with friction, and smooth bumps if wanted.

    Bumps are caps of buried spheres at seeded places, none near the start.
    """

    friction: float = 0.8
    bump_height: float = 0.0  # m
    bump_radius: float = 0.2  # m, of the cap at floor level
    spacing: float = 0.45  # m, between neighbours
    extent: float = 8.0  # m, half side of the square with bumps

    def __post_init__(self):
        if not (
            0 < self.friction <= 5
            and 0 <= self.bump_height <= 0.1
            and self.bump_height < self.bump_radius < self.spacing
        ):
            raise ConfigError(
                "ground out of range (friction 0..5, bump_height 0..0.1 m < bump_radius < "
                f"spacing), got {self}",
                self,
            )

    def spheres(self, seed: int) -> list[tuple[np.ndarray, float]]:
        """(centre, radius) of each bump."""
        if self.bump_height == 0.0:
            return []
        rng = np.random.default_rng([seed, 77])
        grid = np.arange(-self.extent, self.extent + 1e-9, self.spacing)
        xy = (
            np.array([(x, y) for x in grid for y in grid])
            + rng.uniform(-0.3, 0.3, (len(grid) ** 2, 2)) * self.spacing
        )
        xy = xy[np.linalg.norm(xy, axis=1) > 0.55]
        height = self.bump_height * rng.uniform(0.4, 1.0, len(xy))
        radius = (self.bump_radius**2 + height**2) / (2 * height)
        return [(np.array([*p, h - r]), float(r)) for p, h, r in zip(xy, height, radius)]


def loaded_model(robot: Robot, payload: Payload | None) -> pin.Model:
    """The robot's Pinocchio model with the payload lumped into the body that carries it."""
    model = robot.model.copy()
    if payload is not None:
        link = payload.link or robot.links[1]
        if not model.existBodyName(link):
            raise ConfigError(f"payload on unknown link '{link}' of {robot.name}", payload)
        frame = model.frames[model.getFrameId(link, pin.FrameType.BODY)]
        model.inertias[frame.parentJoint] += frame.placement.act(payload.inertia())
    return model


def build(robot: Robot, payload: Payload | None, ground: Ground, seed: int) -> mujoco.MjModel:
    """MuJoCo model of the robot with the inertias of its Pinocchio model and a payload.

    One body per joint, one sphere per contact of `robot.contacts`; nothing else collides. Forces
    enter through `qfrc_applied`.

    Raises:
        RobotError: fixed base, no contact spheres, continuous joints, or inertias that MuJoCo
            refuses.
    """
    if not robot.config.floating_base or not robot.contacts:
        raise RobotError(
            f"{robot.name}: only robots with a floating base and contact spheres can be simulated",
            robot.config,
        )
    if robot.model.nq != robot.nj + 7:
        raise RobotError(
            f"{robot.name}: robots with continuous joints cannot be simulated; give these joints "
            "limits in the URDF",
            robot,
        )
    model = loaded_model(robot, payload)
    root = ET.Element("mujoco", model=robot.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true")
    option = ET.SubElement(root, "option", timestep=_text(PHYSICS["dt"]), integrator="Euler")
    option.attrib.update(solver="Newton", tolerance="1e-12", iterations="50")
    option.attrib.update(
        cone="elliptic", impratio=_text(PHYSICS["impratio"]), gravity=_text(PHYSICS["gravity"])
    )
    ET.SubElement(option, "flag", eulerdamp="disable")
    friction = _text([ground.friction, 0.005, 0.0001])
    surface = dict(
        solref=_text(PHYSICS["solref"]),
        solimp=_text(PHYSICS["solimp"]),
        friction=friction,
        condim="3",
    )
    world = ET.SubElement(root, "worldbody")
    floor = dict(surface, contype="1", conaffinity="0")
    ET.SubElement(world, "geom", floor, name="floor", type="plane", size="0 0 1")
    for centre, radius in ground.spheres(seed):
        ET.SubElement(world, "geom", floor, type="sphere", pos=_text(centre), size=_text(radius))
    _add_bodies(robot, model, world, dict(surface, contype="0", conaffinity="1"))
    try:
        return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    except ValueError as error:
        raise RobotError(
            f"{robot.name}: MuJoCo refuses the model: {' '.join(str(error).split())}", robot
        ) from error


def _add_bodies(robot: Robot, model: pin.Model, world: ET.Element, surface: dict) -> None:
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    elements = {0: world}
    for i in range(1, model.njoints):
        placement = model.jointPlacements[i]
        body = ET.SubElement(
            elements[model.parents[i]],
            "body",
            name=robot.links[i],
            pos=_text(placement.translation),
        )
        body.set("quat", _wxyz(placement.rotation))
        elements[i] = body
        if i == 1:
            ET.SubElement(body, "freejoint", name="root")
        else:
            _add_joint(robot, model, data, i, body)
        inertia = model.inertias[i]
        tensor = inertia.inertia
        full = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
        ET.SubElement(
            body,
            "inertial",
            pos=_text(inertia.lever),
            mass=_text(inertia.mass),
            fullinertia=_text(full),
        )
    for contact in robot.contacts:
        frame = model.frames[model.getFrameId(contact.frame)]
        centre = frame.placement.act(np.array(contact.position, float))
        geom = ET.SubElement(
            elements[frame.parentJoint], "geom", surface, name=contact.name, type="sphere"
        )
        geom.attrib.update(pos=_text(centre), size=_text(max(contact.radius, POINT)))


def _add_joint(robot: Robot, model: pin.Model, data: pin.Data, i: int, body: ET.Element) -> None:
    k = i - 2
    subspace = pin.getJointJacobian(model, data, i, pin.ReferenceFrame.LOCAL)[
        :, model.joints[i].idx_v
    ]
    kind, axis = ("hinge", subspace[3:]) if np.any(subspace[3:]) else ("slide", subspace[:3])
    joint = ET.SubElement(
        body,
        "joint",
        name=model.names[i],
        type=kind,
        axis=_text(axis),
        damping=_text(robot.joint_damping[k]),
    )
    joint.set("armature", _text(model.armature[model.joints[i].idx_v]))
    joint.set("frictionloss", _text(robot.joint_friction[k]))
    joint.set("solreffriction", _text(PHYSICS["solreffriction"]))
    low, high = (
        model.lowerPositionLimit[model.joints[i].idx_q],
        model.upperPositionLimit[model.joints[i].idx_q],
    )
    if low < high and abs(low) < 1e3 and abs(high) < 1e3:
        joint.set("range", _text([low, high]))


def _text(value) -> str:
    """Numbers of an MJCF attribute; repr keeps all digits of a double."""
    return " ".join(repr(float(x)) for x in np.atleast_1d(value))


def _wxyz(rotation: np.ndarray) -> str:
    x, y, z, w = pin.Quaternion(rotation).coeffs()
    return _text([w, x, y, z])


def torque_limits(robot: Robot) -> np.ndarray:
    """(nj,) Nm: the robot's configured limits.

    Where unknown those of the URDF (infinite if it has none).
    """
    urdf = np.array([robot.model.effortLimit[robot.model.joints[i].idx_v] for i in robot.joint_ids])
    urdf = np.where(urdf > 0, urdf, np.inf)
    return np.where(robot.torque_limit > 0, robot.torque_limit, urdf)
