# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A machine on a fixed base that nobody has measured: inertia and friction from its encoder.

    python examples/07_joint_parameters.py

A pendulum is let go and swings until friction stops it; torques are zero. No rates and no
accelerations are needed: they are estimated with the parameters. Recordings of a machine of yours:
`read_bag(PATH, robot)`.
"""

import tempfile
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from prime_estimation import Config, Robot
from prime_estimation.fixed_base import (
    JointRecording,
    Machine,
    Weights,
    estimate,
    noise_levels,
    notices,
    validate,
)

URDF = """<robot name="pendulum"><link name="stand"/><link name="rod"><inertial>
<origin xyz="0 0 -0.2"/><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="1e-4" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="hinge" type="continuous"><parent link="stand"/>
<child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
INERTIA, VISCOUS, DRY = 0.025, 0.002, 0.02  # about the hinge [kg m^2], [Nm s/rad], [Nm]


def swing(angle: float, seed: int) -> JointRecording:
    """Recording of a release, with an encoder of 1 mrad."""

    def motion(_: float, x: np.ndarray) -> list[float]:
        friction = VISCOUS * x[1] + DRY * np.tanh(x[1] / 0.02)
        return [x[1], (-0.5 * 9.81 * 0.2 * np.sin(x[0]) - friction) / INERTIA]

    t = np.arange(0.0, 6.0, 0.002)
    angles = solve_ivp(motion, (0.0, 6.0), [angle, 0.0], "Radau", t, rtol=1e-8, atol=1e-9).y[0]
    noise = np.random.default_rng(seed).normal(0.0, 1e-3, len(t))
    return JointRecording(t, (angles + noise)[:, None], np.zeros((len(t), 1)))


with tempfile.TemporaryDirectory() as folder:
    urdf = Path(folder) / "pendulum.urdf"
    urdf.write_text(URDF)  # its inertia is 20 % too large, it has no friction
    settings = {"name": "pendulum", "urdf": str(urdf), "floating_base": False}
    robot = Robot(Config().updated({"robot": settings}).robot)

machine, run = Machine(robot), swing(2.8, 0)
boxes = {"rod.Iyy": (0.0, 1.0), "hinge.viscous": (0.0, 0.1), "hinge.dry": (0.0, 1.0)}
weights, found = noise_levels(
    lambda w: estimate(machine, [run], boxes, w, step=0.01),
    Weights(position=np.array([2e-3]), torque=np.array([5e-3])),
)
print(f"{found.solution.iterations} iterations, encoder {1e3 * weights.position[0]:.2f} mrad")
for (name, value), true in zip(found.parameters.items(), (INERTIA, VISCOUS, DRY)):
    print(f"{name:>14} {value:.5f} +- {1.96 * found.stddev[name]:.5f} (true {true})")
print(*notices(found), sep="\n", end="")
again = validate(found, [swing(1.5, 1)])  # another run: only its motion is estimated
print(f"cost per node: {found.cost:.2f}, of a run it has not seen: {again.cost:.2f}")
