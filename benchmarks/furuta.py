# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Chains of passive and driven hinges with friction that sticks: a pendulum and a Furuta pendulum.

Constants of Marklund, Servin, Larson, "Joint parameter and state estimation for regularized
time-discrete multibody dynamics", Tables 1 and 5. The truth is simulated with steps of 0.1 ms
by the midpoint rule (Coriolis terms at the beginning of a step damp the arm by 4e-4 Nm s/rad, which
the estimation finds), dry friction with the impulse that stops the joint or, where it would take
more, the largest one. Nothing of it is shared with the estimation but the URDF.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin

from prime_estimation.config.parameters import Config
from prime_estimation.fixed_base import JointRecording
from prime_estimation.robot import Robot

STEP, SAMPLE = 1e-4, 1e-3  # s, of the simulation and of the recording
NOISE = 1e-3  # rad
ENCODER = 2.0 * np.pi / 4096  # rad, of the hardware in the paper
SWEEPS, STUCK = 30, 1e-12  # of Gauss-Seidel at a step's friction; change of an impulse [Nm s]
G = 9.82  # m/s^2

# the paper prints l2 = 0.92 m, a centre of mass outside a rod of the printed inertia (which is
# 0.33 m long); 0.092 m is taken
L1, LA, L2 = 0.128, 0.248, 0.092
MASS_A, MASS_B, SHAFT = 0.238, 0.428, 1e-4
INERTIA_A, INERTIA_B = (1e-4, 0.003, 0.003), (1e-4, 0.004, 0.004)
GAIN = 0.0728  # Nm/V, as found for the hardware
# joints of the URDF
ARM, ROD = "hinge1", "hinge2"
LINK_A, LINK_B = "A", "B"


@dataclass(frozen=True)
class Truth:
    """Friction of the simulated hinges, per joint: Nm s/rad, Nm, Nm, rad/s; gain of the motor."""

    viscous: tuple[float, ...]
    dry: tuple[float, ...] = ()
    stribeck: tuple[float, ...] = ()
    stribeck_velocity: float = 0.5
    gain: float = 1.0
    tilt: tuple[float, float, float] = (0.0, 0.0, 0.0)
    armature: tuple[float, ...] = field(default=())


TABLE_5 = Truth((1e-3, 1e-4), gain=GAIN, armature=(SHAFT, 0.0))


def furuta() -> Robot:
    """Furuta pendulum: arm A about the vertical, rod B about the arm; both hinges zero, B hangs.

    Axes of A: x along the arm, z its hinge; of B: x its hinge, z along the rod.
    """
    joints = [
        _joint(ARM, "stand", LINK_A, (0, 0, 0), (0, 0, 1)),
        _joint(ROD, LINK_A, LINK_B, (LA, 0, 0), (1, 0, 0)),
    ]
    return robot_of("furuta", _rigid_links(), joints, armature={ARM: SHAFT})


def _rigid_links() -> list[str]:
    return [
        _link(LINK_A, MASS_A, (L1, 0, 0), INERTIA_A),
        _link(LINK_B, MASS_B, (0, 0, -L2), INERTIA_B[::-1]),
    ]


def soft_furuta(compliance: float, damping_time: float = 0.02) -> tuple[Robot, dict[str, float]]:
    """Furuta pendulum whose hinges give way, as the paper's: five soft joints before each hinge.

    Returns the robot and the soft joints' stiffness 1 / compliance [m/N, rad/(Nm)] and damping.
    """
    joints, bodies, parent = [], [], "stand"
    for hinge, at, axis, link in ((ARM, 0.0, 2, LINK_A), (ROD, LA, 0, LINK_B)):
        soft = [("prismatic", i) for i in range(3)] + [("revolute", i) for i in {0, 1, 2} - {axis}]
        for kind, i in soft:
            name = f"{hinge}_{kind}{i}"
            bodies.append(_link(f"{name}_link", 1e-6, (0, 0, 0), (1e-9, 1e-9, 1e-9)))
            unit = tuple(float(i == k) for k in range(3))
            joints.append(_joint(name, parent, f"{name}_link", (at, 0, 0), unit, kind))
            parent, at = f"{name}_link", 0.0
        unit = tuple(float(axis == k) for k in range(3))
        joints.append(_joint(hinge, parent, link, (0, 0, 0), unit))
        parent = link
    robot = robot_of("soft_furuta", [*bodies, *_rigid_links()], joints, armature={ARM: SHAFT})
    soft = [name for name in robot.joint_names if name not in (ARM, ROD)]
    stiffness = {f"{name}.stiffness": 1.0 / compliance for name in soft}
    return robot, stiffness | {f"{name}.viscous": damping_time / compliance for name in soft}


def pendulum(mass: float = MASS_B, lever: float = L2, inertia: float = 0.0039) -> Robot:
    """Rod on one hinge."""
    body = _link(LINK_B, mass, (0, 0, -lever), (inertia, inertia, 1e-4))
    return robot_of("pendulum", [body], [_joint(ROD, "stand", LINK_B, (0, 0, 0), (0, 1, 0))])


def _link(name: str, mass: float, com: tuple, inertia: tuple) -> str:
    x, y, z = inertia
    tensor = f'ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"'
    return (
        f'<link name="{name}"><inertial><origin xyz="{com[0]} {com[1]} {com[2]}"/>'
        f'<mass value="{mass}"/><inertia {tensor}/></inertial></link>'
    )


def _joint(
    name: str, parent: str, child: str, at: tuple, axis: tuple, kind: str = "continuous"
) -> str:
    limit = "" if kind == "continuous" else '<limit lower="-9" upper="9" effort="0" velocity="0"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at[0]} {at[1]} {at[2]}"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
        f"{limit}</joint>"
    )


def robot_of(
    name: str, bodies: list[str], joints: list[str], armature: dict[str, float] | None = None
) -> Robot:
    """Fixed-base robot of bodies and joints, gravity as in the paper."""
    text = f'<robot name="{name}"><link name="stand"/>{"".join(bodies + joints)}</robot>'
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / f"{name}.urdf"
        urdf.write_text(text)
        settings = {
            "name": name,
            "urdf": str(urdf),
            "floating_base": False,
            "base_frame": "stand",
            "armature": armature or {},
        }
        robot = Robot(Config().updated({"robot": settings}).robot)
    robot.model.gravity.linear = np.array([0.0, 0.0, -G])
    return robot


def simulate(
    robot: Robot,
    truth: Truth,
    duration: float,
    start: tuple[float, ...],
    control: Callable[[float, np.ndarray, np.ndarray], np.ndarray] | None = None,
    noise: float = NOISE,
    seed: int = 0,
) -> JointRecording:
    """Recording of `duration` seconds from rest at `start`; control is held for a sample."""
    nj, model = robot.nj, robot.model.copy()
    model.armature[:] = 0.0
    model.gravity.linear = pin.exp3(np.array(truth.tilt)) @ model.gravity.linear
    machine = _Hinges(model, truth, nj)
    q, v, u = np.array(start, float), np.zeros(nj), np.zeros(nj)
    before = v
    every, positions, controls = round(SAMPLE / STEP), [], []
    for k in range(round(duration / STEP)):
        if k % every == 0:
            u = control(k * STEP, q, v) if control else u
            positions.append(q)
            controls.append(u)
        after = machine.step(q, v, 1.5 * v - 0.5 * before, truth.gain * u)
        q, before, v = q + 0.5 * STEP * (v + after), v, after
    time = SAMPLE * np.arange(len(positions))
    drawn = np.random.default_rng(seed).normal(0.0, noise, (len(positions), nj))
    return JointRecording(time, np.array(positions) + drawn, np.array(controls))


class _Hinges:
    """Time step of hinges with friction."""

    def __init__(self, model: pin.Model, truth: Truth, nj: int):
        self.model, self.data, self.neutral = model, model.createData(), pin.neutral(model)
        self.truth = truth
        self.extra = np.diag(np.array(truth.armature or np.zeros(nj)))
        self.viscous = np.diag(truth.viscous)
        self.dry = np.array(truth.dry or np.zeros(nj))
        self.rise = np.array(truth.stribeck or np.zeros(nj))

    def step(
        self, q: np.ndarray, v: np.ndarray, v_middle: np.ndarray, torque: np.ndarray
    ) -> np.ndarray:
        """Rates after a step; `v_middle` is what they are expected to be in its middle."""
        at = pin.integrate(self.model, self.neutral, q + 0.5 * STEP * v)
        M = np.array(pin.crba(self.model, self.data, at))
        M = np.triu(M) + np.triu(M, 1).T + self.extra
        bias = pin.rnea(self.model, self.data, at, v_middle, np.zeros(len(v)))
        inverse = np.linalg.inv(M + 0.5 * STEP * self.viscous)
        v_free = inverse @ ((M - 0.5 * STEP * self.viscous) @ v + STEP * (torque - bias))
        if not self.dry.any() and not self.rise.any():
            return v_free
        most = STEP * (self.dry + self.rise * np.exp(-((v / self.truth.stribeck_velocity) ** 2)))
        return v_free + inverse @ _friction_impulse(
            inverse.tolist(), v_free.tolist(), most.tolist()
        )


def _friction_impulse(inverse: list, rate: list, most: list) -> list[float]:
    """Impulses within [-most, most] that stop each joint, or do not suffice to (plain floats)."""
    joints, impulse = range(len(rate)), [0.0] * len(rate)
    for _ in range(SWEEPS):
        change = 0.0
        for j in joints:
            after = rate[j] + sum(inverse[j][i] * impulse[i] for i in joints)
            p = min(max(impulse[j] - after / inverse[j][j], -most[j]), most[j])
            change, impulse[j] = max(change, abs(p - impulse[j])), p
        if change < STUCK:
            break
    return impulse


def swing_up(robot: Robot) -> Callable[[float, np.ndarray, np.ndarray], np.ndarray]:
    """Control [V] that pumps energy into the rod, and keeps the arm near the middle.

    The signal is recorded and known to the estimation, the law is not.
    """
    height = MASS_B * G * L2
    inertia = INERTIA_B[1] + MASS_B * L2**2

    def control(time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        energy = 0.5 * inertia * v[1] ** 2 - height * (np.cos(q[1]) + 1.0)
        push = 60.0 * energy * np.tanh(10.0 * v[1] * np.cos(q[1])) if abs(v[1]) > 0.01 else 1.0
        arm = 2.0 * np.sin(2.0 * np.pi * 0.7 * time) - 3.0 * q[0] - 0.3 * v[0]
        return np.array([np.clip(push + arm, -5.0, 5.0), 0.0])

    return control
