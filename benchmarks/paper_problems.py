# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Test problems of Martinez, Griffin and Mastalli (docs/papers.md).

Robots of example-robot-data move by their joint torques, quadrotors by the wrench of their rotors.
All of their sensors are known, the inertia of none of their bodies is (of Borinot: that of what it
holds). The paper gives neither motions nor noise nor horizons; here:

- sensors: encoders and joint rates, torques or wrench of the rotors, gyro, specific force and
  orientation of the base;
- hardly anything is known of the inertias beforehand (the paper leaves this term out), and of the
  first state what `START` says;
- contacts follow the smoothed law of this package; ground and friction are known. Nothing says when
  a foot is put down, so its velocity may be disturbed in any step as much as the estimator allows
  where one may be: with a tenth of that a wrong guess of a hop is a local minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from paper_motion import MACHINES, Drive

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.inertia import from_theta, to_theta
from prime_estimation.mhe.knowledge import HELD_STDDEV
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.robot import Robot

HERE = Path(__file__).resolve().parent
EXPONENTIAL = "exponential_eigenvalue"
WRONG = 0.7  # relative error of the first guess of masses, centres of mass and second moments
UNKNOWN = 100.0  # prior std of the coordinates of an inertia, most of them logarithms
START = (0.01, 0.1)  # prior std of the first state [m or rad, m/s or rad/s]
# std of the guess of a state: base [m], angles [rad], velocities [m/s, rad/s]
GUESS = (0.01, 0.05, 0.2)
ENCODER, RATE, TORQUE = 0.001, 0.02, 0.1  # std of the sensors [rad, rad/s, Nm]
GYRO, SPECIFIC_FORCE, ROTATION = 0.005, 0.1, 0.005  # rad/s, m/s2, rad
BASE = np.array([0.1, 0.1, 0.1, 0.02, 0.02, 0.02])  # std of the wrench on a floating base [N, Nm]
# std of the disturbance of a foot's velocity in any step [m/s]
CONTACT = {"contact_normal": 0.1, "contact_tangential": 0.05}


def make(name: str, manifold: str = EXPONENTIAL) -> Problem:
    """Models of one of MACHINES.

    The inertia of every body, or of those that are `unknown`, is estimated.
    """
    machine = MACHINES[name]
    contacts = [
        {
            "name": f"{frame}/{i}",
            "frame": frame,
            "foot": frame,
            "position": list(p),
            "radius": machine.radius,
        }
        for frame, points in machine.soles.items()
        for i, p in enumerate(points)
    ]
    urdf = (
        str(HERE / machine.urdf)
        if machine.urdf.endswith(".urdf")
        else f"example-robot-data:{machine.urdf}"
    )
    settings = {"name": name, "urdf": urdf, "floating_base": machine.floating, "contacts": contacts}
    settings["armature"] = machine.armature or 0.0
    config = Config().updated(
        {
            "robot": settings,
            "estimator": {"terrain_slopes": False, "manifold": manifold, "step": machine.step},
            "noise": CONTACT,
        }
    )
    whole = Robot(config.robot)
    links = [
        whole.links[whole.model.getJointId(joint)] for joint in machine.unknown
    ] or whole.links[1:]
    changes = {"estimated_links": links, "imu_frame": whole.base_frame if machine.floating else ""}
    robot = Robot(config.updated({"robot": changes}).robot)
    for joint, (mass, com, moments) in machine.bodies.items():
        robot.model.inertias[robot.model.getJointId(joint)] = pin.Inertia(
            mass, np.array(com), np.diag(moments)
        )
    return Problem(robot, config, ("mocap",))  # whose poses give the orientation


# --- the motion and what the sensors say of it ----------------------------------------------------


@dataclass
class Run:
    """True states (nodes + 1) of a machine, readings with and without noise, prior of the start."""

    problem: Problem
    xs: list[np.ndarray]
    inputs: list
    exact: list
    first: np.ndarray


def simulate(name: str, manifold: str = EXPONENTIAL, nodes: int = 100, noise: float = 1.0) -> Run:
    """A motion of `nodes` steps.

    The sensors' noise is `noise` times what the estimator takes it for.
    """
    problem = make(name, manifold)
    rng, drive = np.random.default_rng(0), Drive(problem, MACHINES[name])
    node = problem.node()
    data, xs, inputs, exact = node.createData(), [drive.first], [], []
    for k in range(nodes + 1):
        wrench, torque = drive(k * problem.dt, xs[-1])
        node.input = _core.NodeInput(problem.measurements.core)
        node.input.base_wrench, node.input.torque = wrench, torque
        node.calc(data, xs[-1], np.zeros(problem.nu))
        xs.append(np.array(data.xnext))
        inputs.append(_readings(problem, *xs[-2:], wrench, torque, noise, rng))
        exact.append(_readings(problem, *xs[-2:], wrench, torque, 0.0, np.random.default_rng(0)))
    stddev = np.concatenate(
        [np.full(problem.nv, START[0]), np.full(problem.nv, START[1]), np.zeros(problem.np)]
    )
    return Run(
        problem,
        xs[:-1],
        inputs,
        exact,
        problem.state.integrate(xs[0], noise * stddev * rng.normal(size=problem.ndx)),
    )


def _readings(
    of: Problem,
    x: np.ndarray,
    after: np.ndarray,
    wrench: np.ndarray,
    torque: np.ndarray,
    noise: float,
    rng,
):
    """What the sensors say of a node; `after`: the true state that follows it."""
    given = _core.NodeInput(of.measurements.core)
    q, v, v_next = of.layout.q(x), of.layout.v(x), of.layout.v(after)

    def disturbed(value: np.ndarray, stddev) -> np.ndarray:
        return value + noise * stddev * rng.normal(size=len(value))

    def give(name: str, value: np.ndarray, stddev: float) -> None:
        given.set(name, disturbed(value, stddev), np.full(len(value), 1.0 / stddev))

    of.process.unmeasured(given)
    base = of.nv - of.nj
    joints = np.concatenate([np.zeros(base), disturbed(np.zeros(of.nj), ENCODER)])
    position = pin.integrate(of.robot.model, q, joints)
    given.set("encoders", position, np.full(of.nj, 1.0 / ENCODER))
    give("rates", v[base:], RATE)
    given.torque = disturbed(torque, TORQUE)
    given.base_wrench = disturbed(wrench, BASE[:base])
    given.weight_force = 1.0 / np.concatenate([BASE[:base], np.full(of.nj, TORQUE)])
    if not of.floating:
        return given
    R = pin.Quaternion(q[3:7]).toRotationMatrix()
    middle, acceleration = 0.5 * (v + v_next), (v_next - v) / of.dt
    force = (
        acceleration[:3] + np.cross(middle[3:6], middle[:3]) - R.T @ of.robot.model.gravity.linear
    )
    give("gyro", v[3:6], GYRO)
    give("accelerometer", force, SPECIFIC_FORCE)
    seen = pin.Quaternion(R @ pin.exp3(disturbed(np.zeros(3), ROTATION))).coeffs()
    given.set("mocap", np.concatenate([np.zeros(3), seen]), np.repeat([0.0, 1.0 / ROTATION], 3))
    return given


# --- guesses --------------------------------------------------------------------------------------


def wrong(pi: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """A body (10,) whose mass, com (3) and second moments (3) are WRONG by 70 %.

    Up or down as the `signs` (7,) say.
    """
    theta, factors = to_theta(pi, EXPONENTIAL), 1.0 + WRONG * signs
    theta[[0, 7, 8, 9]] += np.log(factors[[0, 4, 5, 6]])
    theta[1:4] *= factors[0] * factors[1:4]
    return from_theta(theta, EXPONENTIAL)[0]


def random_guess(
    run: Run, rng: np.random.Generator, signs: np.ndarray | None = None
) -> list[np.ndarray]:
    """Guess: states about the first one, every body wrong by 70 % in random directions.

    Or in those of `signs`.
    """
    of = run.problem
    bodies = [
        wrong(pi, rng.choice([-1.0, 1.0], 7) if signs is None else signs)
        for pi, _ in of.inertias(run.xs[0])
    ]
    where = [GUESS[0]] * 3 + [GUESS[1]] * (of.nv - 3) if of.floating else [GUESS[1]] * of.nv
    stddev = np.concatenate([where, np.full(of.nv, GUESS[2]), np.zeros(of.dynamics.nparameters)])
    first, known = with_bodies(of, run.first, bodies), np.zeros(of.np - of.dynamics.nparameters)
    moves = [np.concatenate([stddev * rng.normal(size=len(stddev)), known]) for _ in run.xs]
    return [of.state.integrate(first, move) for move in moves]


def with_bodies(of: Problem, x: np.ndarray, bodies: list[np.ndarray]) -> np.ndarray:
    """The state x with these inertias (10,) of all links."""
    x, manifold = x.copy(), of.config.estimator.manifold
    of.parameter(x, "theta")[:] = np.concatenate([to_theta(pi, manifold) for pi in bodies])
    return x


def at_rest(of: Problem, x: np.ndarray) -> np.ndarray:
    """The state x without its velocity."""
    x = x.copy()
    x[of.nq : of.nq + of.nv] = 0.0
    return x


def holding(run: Run, x: np.ndarray) -> list[np.ndarray]:
    """Disturbance of every node but the last that keeps the robot at rest in the state x."""
    of, none = run.problem, np.zeros(run.problem.nv)
    known = of.layout.p(x)[: of.dynamics.nparameters]
    force = [np.concatenate([given.base_wrench, given.torque]) for given in run.inputs[:-1]]
    missing = [
        of.dynamics.residual(x[: of.nq], none, f, np.zeros(of.dynamics.nxi), known, none) / of.dt
        for f in force
    ]
    return [np.concatenate([w, np.zeros(of.dynamics.nxi)]) for w in missing]


def window(run: Run, guess: list[np.ndarray]) -> Window:
    """The estimation problem of a run, from a guess of all states.

    What is known beforehand of the inertias is centred there.
    """
    of = run.problem
    stddev = np.concatenate(
        [np.full(of.nv, START[0]), np.full(of.nv, START[1]), np.full(of.np, HELD_STDDEV)]
    )
    stddev[of.columns("theta")] = UNKNOWN
    reference = np.concatenate([run.first[: of.nq + of.nv], guess[0][of.nq + of.nv :]])
    arrival = _core.ActionArrival(of.state, reference, np.diag(stddev**2))
    return Window(of, arrival, run.inputs, list(range(len(guess))), guess)
