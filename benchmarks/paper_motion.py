# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Robots of the papers' test problems, moved by joint torques or the wrench of rotors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from backward import soles

from prime_estimation.mhe.problem import Problem

FLIGHT = 10.0  # bandwidth of the controller of a flying base [rad/s]
SLOW, FAST = 5.0, 12.0  # range of the frequencies of the reference motion [rad/s]


@dataclass(frozen=True)
class Machine:
    """A robot and how it moves.

    Attributes:
        urdf: a robot of example-robot-data, or a file beside this one. `step` between nodes [s].
        passive: of the first degrees of freedom, those that nothing drives: rotors only lift a
            base.
        posture: joint angles at rest [rad]. `swing`: from it and back [rad]; `bandwidth` of the
            controller [rad/s].
        soles: frame of each foot -> centres of its contact spheres in it [m]; `radius` of these
            [m].
        bodies: joint -> body in place of the URDF's: mass [kg], centre of mass [m], moments about
            it [kg m2].
        armature: rotor inertia by joint [kg m2]. `unknown`: joints whose bodies are estimated, if
            not all.
    """

    urdf: str
    posture: tuple = ()
    swing: float = 0.5
    bandwidth: float = 15.0
    floating: bool = True
    passive: int = 6
    step: float = 0.01
    soles: dict = field(default_factory=dict)
    radius: float = 0.02
    bodies: dict = field(default_factory=dict)
    armature: dict = field(default_factory=dict)
    unknown: tuple = ()


_SOLE = [(x, y, 0.005) for x in (-0.1, 0.1) for y in (-0.05, 0.05)]
_LEG, _ARM = [0.0, 0.0, -0.411, 0.859, -0.448, 0.0], [0.0, -0.525, 0.0, 0.0, 0.1, 0.0]
# 6.3 cm, homogeneous
_SPHERE = {"flying_arm_2__j_link1_link2": (0.5, (0.0, -0.15, 0.0), (8e-4, 8e-4, 8e-4))}
MACHINES = {
    "kinova": Machine("kinova", (0.5, 2.6, -1.6, -1.0, 0.3, 2.6), floating=False, passive=0),
    # symmetric in the URDF; with a load beside its middle, as in the paper
    "quadrotor": Machine(
        "hector",
        passive=2,
        swing=0.4,
        bodies={"root_joint": (1.777, (0.02, 0.01, -0.015), (0.0122, 0.0141, 0.0245))},
    ),
    "anymal": Machine(
        "anymal",
        (-0.1, 0.7, -1.0, -0.1, -0.7, 1.0, 0.1, 0.7, -1.0, 0.1, -0.7, 1.0),
        swing=0.2,
        bandwidth=40.0,
        soles={f"{foot}_FOOT": [(0.0, 0.0, 0.02)] for foot in ("LF", "LH", "RF", "RH")},
    ),
    "talos": Machine(
        "talos",
        (*_LEG, *_LEG, 0.0, 0.007, 0.258, 0.173, *_ARM, -0.258, -0.173, *_ARM, 0.0, 0.0),
        swing=0.2,
        soles={"left_sole_link": _SOLE, "right_sole_link": _SOLE},
        radius=0.005,
    ),
    "hopper": Machine(
        "planar_hopper.urdf",
        (0.0, 0.0, 0.6, -1.2),
        swing=1.0,  # off the ground a third of the time
        bandwidth=30.0,
        floating=False,
        passive=2,
        step=0.025,
        soles={"foot": [(0.0, 0.0, 0.0)]},
        armature={"default": 0.0, "hip": 0.03, "knee": 0.03},
        unknown=("z", "hip", "knee"),  # the guide in which it moves is not its own
    ),
    "borinot": Machine(
        "borinot", (0.3, 0.6), passive=2, swing=0.4, bodies=_SPHERE, unknown=tuple(_SPHERE)
    ),
}


class Drive:
    """Computed torques: joints swing from the posture and back, each at its own frequency.

    Rotors tilt the base to and fro.
    """

    def __init__(self, problem: Problem, machine: Machine):
        self._problem, self._machine, self._model = problem, machine, problem.robot.model
        self._data, self._base = self._model.createData(), problem.nv - problem.nj
        rng, n = np.random.default_rng(1), problem.nv
        self._frequency = rng.uniform(SLOW, FAST, n)
        self._swing = machine.swing * rng.choice([-0.5, 0.5], n)
        self._swing[: max(machine.passive, min(self._base, 3))] = 0.0
        self._bandwidth = np.concatenate(
            [np.full(self._base, FLIGHT), np.full(problem.nj, machine.bandwidth)]
        )
        self.first = self._first()
        self._support = self._weight_on_feet()

    def __call__(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Wrench of the rotors (nb,), axes of the base [N, Nm], and joint torques (nj,) [Nm]."""
        of, nb = self._problem, self._base
        q, v = x[: of.nq], x[of.nq : of.nq + of.nv]
        M = pin.crba(self._model, self._data, q)
        M = np.triu(M) + np.triu(M, 1).T
        goal, rate = self._reference(t)
        acceleration = self._bandwidth**2 * pin.difference(
            self._model, q, goal
        ) + 2.0 * self._bandwidth * (rate - v)
        bias = pin.nonLinearEffects(self._model, self._data, q, v) - self._support
        # what nothing drives accelerates as it must
        free, driven = np.split(np.arange(of.nv), [self._machine.passive])
        acceleration[free] = -np.linalg.solve(
            M[np.ix_(free, free)], M[np.ix_(free, driven)] @ acceleration[driven] + bias[free]
        )
        force = M @ acceleration + bias
        return force[:nb], force[nb:]

    def _reference(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Configuration (nq,) and velocity (nv,) at time t [s], at rest at first.

        The base stays, but for the tilt of a flying one.
        """
        angle = self._frequency * t
        return pin.integrate(
            self._model, self._posture, self._swing * (1.0 - np.cos(angle))
        ), self._swing * self._frequency * np.sin(angle)

    def _first(self) -> np.ndarray:
        """State at rest at the start of the reference, feet on the ground, true parameters."""
        of, model = self._problem, self._model
        self._posture = pin.neutral(model)
        self._posture[of.nq - len(of.robot.coordinates(np.zeros(of.nj))) :] = of.robot.coordinates(
            np.array(self._machine.posture)
        )
        x = of.first.neutral()
        x[: of.nq] = self._reference(0.0)[0]
        of.parameter(x, "height")[:] = soles(of.robot, x[: of.nq])
        return x

    def _weight_on_feet(self) -> np.ndarray:
        """Generalized force (nv,) of feet that share the weight.

        The least that balances what nothing drives.
        """
        of, model, data = self._problem, self._model, self._data
        q = self.first[: of.nq]
        if not of.robot.contacts:
            return np.zeros(of.nv)
        pin.computeJointJacobians(model, data, q)
        pin.framesForwardKinematics(model, data, q)
        frames = [model.getFrameId(c.frame) for c in of.robot.contacts]
        J = np.vstack(
            [pin.getFrameJacobian(model, data, f, pin.LOCAL_WORLD_ALIGNED)[:3] for f in frames]
        )
        weight = pin.computeGeneralizedGravity(model, data, q)
        passive = slice(0, self._machine.passive)
        return J.T @ np.linalg.lstsq(J[:, passive].T, weight[passive], rcond=None)[0]
