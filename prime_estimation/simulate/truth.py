# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The JSON beside a simulated run: true inertias, physics, conventions, and how the run went."""

from __future__ import annotations

from dataclasses import asdict

import mujoco
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from ..control.torque_limits import torque_limits
from ..robot import Robot
from .ground import Ground
from .model import PHYSICS, loaded_model
from .recording import Recording

CONVENTIONS = {
    "q": "pinocchio free-flyer: base position (world), quaternion xyzw (body->world), joints in "
    "the order of joint_names",
    "v": "pinocchio: base linear and angular velocity in the LOCAL base frame, joint rates",
    "a": "pinocchio: time derivative of v (local spatial acceleration, gravity not included), "
    "joint accelerations",
    "quat_order": "xyzw",
    "tau_motor": "motor torque at the joint (actuator output, after clipping); what a "
    "current-based sensor reads",
    "tau_damping": "-damping*qdot",
    "tau_friction": "Coulomb joint friction plus joint-limit torque (MuJoCo constraint)",
    "tau_link": "tau_motor+tau_damping+tau_friction-armature*qddot: equals rnea(q,v,a) - J^T f "
    "with the rigid-body inertias (no armature)",
    "foot_wrench": "world axes, force of the floor on the foot; moment about the origin of the "
    "foot frame",
    "contacts": "mean over the physics steps of [t_k, t_k + 4 ms), stamped with the middle",
    "imu": "specific force (acc) and angular rate (gyro) in the IMU frame, R^T (p_ddot - g)",
    "bodies": "per joint body, fixed links and payload lumped, about the joint frame; "
    "pin_dynamic_parameters = (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)",
    "time": "t is the state; accelerations, torques and forces are those acting at t",
}


def metadata(recording: Recording, name: str) -> dict:
    """Everything that is true about the run and not in its bag, ready for JSON."""
    robot, payload = recording.robot, recording.payload
    content = {
        "name": name,
        "robot": robot.name,
        "motion": recording.motion,
        "seed": recording.seed,
        "fell": False,
    }
    content |= {"duration_s": round(len(recording.t) * recording.dt, 9), **_statistics(recording)}
    content |= {
        "urdf": robot.config.urdf,
        "conventions": CONVENTIONS | {"base_frame": robot.base_frame},
        "joint_names": robot.joint_names,
        "foot_frames": list(dict.fromkeys(c.frame for c in robot.contacts)),
        "contact_spheres": {
            c.name: {"link": c.frame, "points": [list(c.position)], "radius": c.radius}
            for c in robot.contacts
        },
        "physics": {"engine": f"MuJoCo {mujoco.__version__}", **PHYSICS, **_ground(recording)},
        "torque_limit": torque_limits(robot).tolist(),
        "armature": robot.model.armature[-robot.nj :].tolist(),
        "frictionloss": robot.joint_friction.tolist(),
        "damping": robot.joint_damping.tolist(),
        "gear_loss": robot.gear_loss.tolist(),
        "stribeck": robot.stribeck.tolist(),
        "stribeck_velocity": robot.stribeck_velocity.tolist(),
        "torque_offset": robot.torque_offset.tolist(),
        "torque_delay": robot.config.torque_delay,
        "payload": _payload(recording),
    }
    where = payload
    if payload is not None and payload.slides:
        where = payload.moved(recording.load_shift.mean(axis=0))
    bare, loaded = loaded_model(robot, None), loaded_model(robot, where)
    switches = payload.switches if payload is not None else []
    before, after = (bare, loaded) if payload is None or payload.at(np.inf) else (loaded, bare)
    if len(switches) == 2:
        before = after
    content |= {
        "total_mass_true": pin.computeTotalMass(after),
        "total_mass_nominal": pin.computeTotalMass(bare),
    }
    content |= {"bodies_true": bodies(robot, after), "bodies_nominal": bodies(robot, bare)}
    if switches:
        content["total_mass_before"] = pin.computeTotalMass(before)
        content["bodies_before"] = bodies(robot, before)
        content["payload_events"] = _events(recording, bare, loaded)
    if len(switches) == 1:
        content["payload_time_s"] = switches[0]
    if recording.pushes:
        content["external"] = [
            {"t": p.begin, "duration": p.duration, "force": list(p.force)} for p in recording.pushes
        ]
    return content


def _events(recording: Recording, bare: pin.Model, loaded: pin.Model) -> list[dict]:
    """Load [kg] and inertias of the bodies from each change on."""
    robot, payload = recording.robot, recording.payload
    states = [(t, payload.at(t)) for t in payload.switches]
    return [
        {"t": t, "mass": payload.mass * on, "bodies": bodies(robot, loaded if on else bare)}
        for t, on in states
    ]


def bodies(robot: Robot, model: pin.Model) -> dict:
    """Inertia of each moving body, about its joint frame."""
    out = {}
    for link, inertia in zip(robot.links[1:], model.inertias[1:]):
        out[link] = {
            "mass": inertia.mass,
            "com": inertia.lever.tolist(),
            "inertia_origin": (
                inertia.inertia + inertia.mass * pin.skew(inertia.lever) @ pin.skew(inertia.lever).T
            ).tolist(),
            "inertia_com": inertia.inertia.tolist(),
            "pin_dynamic_parameters": inertia.toDynamicParameters().tolist(),
        }
    return out


def _ground(recording: Recording) -> dict:
    ground = recording.ground
    solref, solimp = ground.surface()
    terrain = None if ground == Ground(friction=ground.friction) else asdict(ground)
    return {"friction": ground.friction, "terrain": terrain, "solref": solref, "solimp": solimp}


def _payload(recording: Recording) -> dict | None:
    payload = recording.payload
    if payload is None:
        return None
    content = {
        "mass": payload.mass,
        "com": list(payload.position),
        "link": payload.link or recording.robot.links[1],
    }
    content |= {"box_size": list(payload.size), "t_on": payload.t_on, "t_off": payload.t_off}
    if payload.slides:
        shift = recording.load_shift
        content["moves"] = {
            "stiffness": payload.stiffness,
            "damping": payload.damping,
            "axes": "x and y of the link",
            "mean_m": shift.mean(axis=0).tolist(),
            "rms_m": shift.std(axis=0).tolist(),
        }
    return content | {"inertia_com": payload.inertia().inertia.tolist()}


def _statistics(recording: Recording) -> dict:
    q, v, force = recording.q, recording.v, recording.contact_force
    feet = list(dict.fromkeys(c.foot for c in recording.robot.contacts))
    of_foot = [
        [i for i, c in enumerate(recording.robot.contacts) if c.foot == foot] for foot in feet
    ]
    normal = np.stack([force[:, i, 2].sum(axis=1) for i in of_foot], axis=1)
    yaw = np.unwrap(Rotation.from_quat(q[:, 3:7]).as_euler("ZYX")[:, 0])

    def span(x):
        return [float(x.min()), float(x.max())]

    return {
        "path_length_m": float(np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1).sum()),
        "yaw_total_rad": float(np.abs(np.diff(yaw)).sum()),
        "rms_tau_motor_Nm": float(np.sqrt(np.mean(recording.tau_motor**2))),
        "max_abs_tau_motor_Nm": float(np.abs(recording.tau_motor).max()),
        "max_joint_speed": float(np.abs(v[:, 6:]).max()),
        "base_z_range": span(q[:, 2]),
        "vx_range": span(v[:, 0]),
        "wz_range": span(v[:, 5]),
        "duty": (normal > 1.0).mean(axis=0).tolist(),
        "mean_fz": normal.mean(axis=0).tolist(),
    }
