# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Simulated world: a MuJoCo scene made of a `Robot`'s Pinocchio model, with stiff contacts.

Contact law and integrator are MuJoCo's own and share nothing with the smoothed law of the
estimator.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pinocchio as pin

from ..errors import ConfigError, RobotError
from ..robot import GRAVITY, Robot
from .ground import RIGID, RIGID_IMPEDANCE, Ground
from .payload import Payload

PHYSICS = {  # as written to the run's JSON
    "dt": 0.001,
    "integrator": "semi-implicit Euler, eulerdamp off",
    "solver": "Newton, tol 1e-12",
    "cone": "elliptic",
    "impratio": 20,
    "solref": [RIGID, 1.0],
    "solimp": RIGID_IMPEDANCE,
    # dry friction of joints; MuJoCo's default lets it push along while an impact brakes the joint
    "solreffriction": [0.004, 1.0],
    "gravity": [0, 0, -GRAVITY],
}


SLIDES = {"load_x": "1 0 0", "load_y": "0 1 0"}  # joints of a sliding load, and their axes
POINT = 1e-5  # m, radius of a contact that is a point: MuJoCo wants one


def loaded_model(robot: Robot, payload: Payload | None) -> pin.Model:
    """The robot's Pinocchio model with the payload lumped into the body that carries it.

    Inertias that no body has become those of the nearest body: URDFs have such.
    """
    model = robot.model.copy()
    for i in range(1, model.njoints):
        model.inertias[i] = consistent(model.inertias[i])
    if payload is not None:
        frame = _payload_frame(robot, model, payload)
        model.inertias[frame.parentJoint] += frame.placement.act(payload.inertia())
    return model


def consistent(inertia: pin.Inertia) -> pin.Inertia:
    """The inertia, or the nearest one of a body where it violates the triangle inequality.

    With the second moments of mass S = tr(I)/2 - I about the centre, a body has S >= 0.
    """
    tensor = inertia.inertia
    values, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    if values[0] >= 0.0:
        return inertia
    # a thousandth of the largest, for rounding
    moments = (axes * np.maximum(values, 1e-3 * values[2])) @ axes.T
    near = np.trace(moments) * np.eye(3) - moments
    return pin.Inertia(inertia.mass, inertia.lever, near)


def _payload_frame(robot: Robot, model: pin.Model, payload: Payload) -> pin.Frame:
    link = payload.link or robot.links[1]
    if not model.existBodyName(link):
        raise ConfigError(f"payload on unknown link '{link}' of {robot.name}", payload)
    return model.frames[model.getFrameId(link, pin.FrameType.BODY)]


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
    sliding = payload is not None and payload.slides
    model = loaded_model(robot, None if sliding else payload)
    root = ET.Element("mujoco", model=robot.name)
    ET.SubElement(root, "compiler", angle="radian", autolimits="true")
    option = ET.SubElement(root, "option", timestep=_text(PHYSICS["dt"]), integrator="Euler")
    option.attrib.update(solver="Newton", tolerance="1e-12", iterations="50")
    option.attrib.update(
        cone="elliptic", impratio=_text(PHYSICS["impratio"]), gravity=_text(PHYSICS["gravity"])
    )
    ET.SubElement(option, "flag", eulerdamp="disable")
    surface = _surface(ground)
    world = ET.SubElement(root, "worldbody")
    _add_ground(ground, seed, world, dict(surface, contype="1", conaffinity="0"))
    elements = _add_bodies(robot, model, world, dict(surface, contype="0", conaffinity="1"))
    if sliding:
        _add_sliding(robot, payload, elements)
    try:
        return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    except ValueError as error:
        raise RobotError(
            f"{robot.name}: MuJoCo refuses the model: {' '.join(str(error).split())}", robot
        ) from error


def _surface(ground: Ground) -> dict:
    """Attributes of a geom that touches or is touched; of two frictions the larger one counts."""
    solref, solimp = map(_text, ground.surface())
    return dict(
        solref=solref, solimp=solimp, friction=_text([ground.friction, 0.005, 0.0001]), condim="3"
    )


def _add_ground(ground: Ground, seed: int, world: ET.Element, floor: dict) -> None:
    if ground.patch_friction:  # the feet bring the friction of the place
        least = min(ground.friction, ground.patch_friction)
        floor = dict(floor, friction=_text([least, 0.005, 0.0001]))
    ET.SubElement(world, "geom", floor, name="floor", type="plane", size="0 0 1")
    for centre, radius in ground.spheres(seed):
        ET.SubElement(world, "geom", floor, type="sphere", pos=_text(centre), size=_text(radius))
    for centre, sides, pitch in ground.boxes():
        box = ET.SubElement(world, "geom", floor, type="box", pos=_text(centre), size=_text(sides))
        box.set("quat", _wxyz(pin.rpy.rpyToMatrix(0.0, pitch, 0.0)))


def _add_sliding(robot: Robot, payload: Payload, elements: dict[int, ET.Element]) -> None:
    """A load that slides on springs along x and y of its link."""
    frame = _payload_frame(robot, robot.model, payload)
    placement = frame.placement * pin.SE3(np.eye(3), np.array(payload.position, float))
    body = ET.SubElement(
        elements[frame.parentJoint], "body", name="load", pos=_text(placement.translation)
    )
    body.set("quat", _wxyz(placement.rotation))
    spring = dict(stiffness=_text(payload.stiffness), damping=_text(payload.damping))
    for name, axis in SLIDES.items():
        ET.SubElement(body, "joint", spring, name=name, type="slide", axis=axis)
    box = np.diag(payload.inertia().inertia)
    ET.SubElement(body, "inertial", pos="0 0 0", mass=_text(payload.mass), diaginertia=_text(box))


def _add_bodies(
    robot: Robot, model: pin.Model, world: ET.Element, surface: dict
) -> dict[int, ET.Element]:
    """Bodies and contact spheres of the robot; returns the bodies by the index of their joint."""
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
    return elements


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
    low, high = (limit[k] for limit in robot.joint_range)
    if np.isfinite([low, high]).all():
        joint.set("range", _text([low, high]))


def _text(value) -> str:
    """Numbers of an MJCF attribute; repr keeps all digits of a double."""
    return " ".join(repr(float(x)) for x in np.atleast_1d(value))


def _wxyz(rotation: np.ndarray) -> str:
    x, y, z, w = pin.Quaternion(rotation).coeffs()
    return _text([w, x, y, z])
