# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What a node of the estimation problem is made of.

Robot and configuration -> C++ models, priors, weights.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from .. import _core
from ..config.parameters import Config
from ..contact.leg_forces import contact_points
from ..contact.schedule import Stances, unsupported
from ..errors import RobotError
from ..inertia import from_theta, theta_root, to_theta
from ..robot import GRAVITY, Robot
from ..types import Measurement, PoseSample
from .imu_mount import Mount

CARRIED_ARM = 0.5  # lever arm of what carries a robot that is not on its feet [m]
# factors on base and contact disturbances while torques are missing: the weight is unknown
UNWEIGHED = (10.0, 3.0)
# While joint positions are missing too, no contact is modelled, the base follows the IMU, and the
# legs are somewhere near:
UNSEEN = (250.0, 1.0)  # the same factors: contact forces become a disturbance of the base
UNSEEN_POSITION, UNSEEN_RATE = 0.5, 5.0  # std about the last reading and about rest [rad, rad/s]
OUT_OF_REACH = 10.0  # depth of the ground [m]
# standard deviation of an instant between two samples, as a share of their distance
INSTANT = 1.0 / np.sqrt(12.0)


class Problem:
    """Contact dynamics, state manifold, parameter layout and noise of one robot.

    Attributes:
        dynamics: C++ contact dynamics. `state`: manifold of x = (q, v, p). `layout`: where each
            parameter lies in p.
        mocap: motion capture is expected.
        carried_since_ns: from this stamp on something else than the feet carries the robot; None:
            they do.
        nq, nv, nj, np, ndx: dimensions; `columns(name)` gives the tangent indices of a parameter.
    """

    def __init__(self, robot: Robot, config: Config, mocap: bool):
        self.robot, self.mocap = robot, mocap
        self.dt = config.estimator.step
        self.floating = robot.config.floating_base
        self.carried_since_ns: int | None = None
        model = robot.model
        self.dynamics = contact_dynamics(robot, config)
        self.stances = Stances(robot) if config.estimator.contact_model == "rigid" else None
        imu = self.floating and robot.imu_joint is not None
        self.layout = _core.ParameterLayout.make(self.dynamics, imu, mocap and self.floating)
        self.nq, self.nv, self.nj, self.np = model.nq, model.nv, robot.nj, self.layout.size
        self.ndx = 2 * self.nv + self.np
        self.nu = self.nv + self.dynamics.nxi
        self.state = _core.StateParameters(model, self.np)
        self.mount = Mount(robot)
        self._pis = pis = [
            model.inertias[robot.link_joint(link)].toDynamicParameters()
            for link in robot.estimated_links
        ]
        self.retune(config)
        e = config.estimator
        self.theta_nominal = (
            np.concatenate([to_theta(pi, e.manifold) for pi in pis]) if pis else np.zeros(0)
        )
        self.theta_prior_root = self._theta_root(e.mass_stddev, e.com_stddev, e.inertia_stddev)
        self.nominal = np.concatenate(
            [self.theta_nominal, np.zeros(self.dynamics.nfeet), [np.log(e.friction)]]
        )

    def retune(self, config: Config) -> None:
        """Use other values of the tunable parameters from the next node on."""
        self.config, e = config, config.estimator
        self.theta_walk_root = self._theta_root(e.mass_walk, e.com_walk, e.inertia_walk)
        self._contact_weights()

    def _theta_root(self, mass: float, com: float, inertia: float) -> np.ndarray:
        return block_diagonal(
            [theta_root(pi, mass, com, inertia, self.config.estimator.manifold) for pi in self._pis]
        )

    def inertias(self, x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Per estimated link: dynamic parameters (10,) in x and their Jacobian (10, 10) in theta."""
        values = self.parameter(x, "theta")
        return [
            from_theta(values[i : i + 10], self.config.estimator.manifold)
            for i in range(0, len(values), 10)
        ]

    def _contact_weights(self) -> None:
        noise = self.config.noise
        point = [noise.contact_tangential, noise.contact_tangential, noise.contact_normal]
        flat = [noise.contact_roll, noise.contact_roll, noise.contact_yaw]
        counts = [sum(c.foot == f for c in self.robot.contacts) for f in self.robot.feet]
        std = [point + flat if n > 1 else point for n in counts]
        ends = np.cumsum([0, *map(len, std)])
        self._foot_parts = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]
        self._weight_xi = 1.0 / np.array([v for s in std for v in s])

    def node(self) -> "_core.ActionMeasurement":
        """A new running node without measurements."""
        inverse = self.config.estimator.form == "inverse"
        return _core.ActionMeasurement(
            self.state, self.dynamics, self.layout, self.mount.core, self.nominal, inverse
        )

    @property
    def carried(self) -> bool:
        """Something else than the feet carries the robot: its base may feel any force."""
        return self.carried_since_ns is not None

    def columns(self, name: str) -> slice:
        """Tangent indices of `theta`, `height`, `friction`, `gyro_bias`, `accelerometer_bias` or `mocap`; empty when absent."""
        size = {"theta": self.dynamics.ntheta, "height": self.dynamics.nfeet, "friction": 1}.get(
            name, 3
        )
        start = getattr(self.layout, name)
        return slice(2 * self.nv + start, 2 * self.nv + start + size) if start >= 0 else slice(0, 0)

    def parameter(self, x: np.ndarray, name: str) -> np.ndarray:
        """The values of a parameter block in x; none where it is no parameter."""
        columns = self.columns(name)
        shift = self.nq - self.nv
        return x[columns.start + shift : columns.stop + shift]

    # --- measurements -> node inputs
    # ------------------------------------------------------------------------------

    def state_input(self, m: Measurement, seen: np.ndarray | None = None) -> "_core.NodeInput":
        """Node input with the state part of a measurement; the dynamics part comes one node later.

        `seen`: last joint positions (nj,) [rad], for a measurement that has none.
        """
        noise, node = self.config.noise, _core.NodeInput(self.dynamics)
        if m.position is not None:
            position, stddev = self._joint_position(m)
            node.position, node.weight_position = self.robot.coordinates(position), 1.0 / stddev
        elif seen is not None:
            node.position = self.robot.coordinates(seen)
            node.weight_position, node.weight_velocity = (
                np.full(self.nj, 1.0 / UNSEEN_POSITION),
                np.full(self.nj, 1.0 / UNSEEN_RATE),
            )
            node.ground_depth = OUT_OF_REACH
        if m.velocity is not None:
            node.velocity = m.velocity
            missed = noise.joint_velocity_sampling * np.broadcast_to(m.velocity_change, self.nj)
            node.weight_velocity = 1.0 / np.hypot(
                noise.joint_velocity / np.sqrt(m.velocity_samples), missed
            )
        if m.gyro is not None and self.layout.gyro_bias >= 0:
            node.gyro = m.gyro
            missed = INSTANT * np.broadcast_to(m.gyro_change, 3)
            node.weight_gyro = 1.0 / np.hypot(noise.gyro / np.sqrt(m.gyro_samples), missed)
        if m.quat_world_imu is not None and self.layout.gyro_bias >= 0:
            node.orientation = pin.Quaternion(m.quat_world_imu).toRotationMatrix()
            node.weight_tilt = 1.0 / noise.imu_tilt
        self.dynamics_input(node, None)
        return node

    def _joint_position(self, m: Measurement) -> tuple[np.ndarray, np.ndarray]:
        """Joint positions (nj,) [rad] and their standard deviation.

        Per joint the last reading or all of the step, whichever is better.
        """
        noise, last = self.config.noise, np.full(self.nj, self.config.noise.encoder)
        if m.position_carried is None:
            return m.position, last
        samples = np.sqrt(m.velocity_samples)
        rate = np.hypot(
            noise.joint_velocity / samples, INSTANT * np.broadcast_to(m.velocity_change, self.nj)
        )
        carried = np.hypot(noise.encoder / samples, self.dt * rate)
        return np.where(carried < last, m.position_carried, m.position), np.minimum(carried, last)

    def dynamics_input(self, node: "_core.NodeInput", m: Measurement | None) -> None:
        """Torque, specific force and process noise of a node, from the measurement that follows it (None: not yet measured)."""
        noise = self.config.noise
        joint = np.full(self.nj, noise.joint_unmeasured)
        if m is not None and m.torque is not None:
            node.torque = m.torque / self.config.robot.torque_scale
            joint[:] = np.hypot(noise.joint_model, noise.joint_torque / np.sqrt(m.torque_samples))
        base_factor, contact_factor = 1.0, 1.0
        if m is not None and m.torque is None:
            base_factor, contact_factor = UNWEIGHED
            if m.position is None or node.ground_depth:
                base_factor, contact_factor = UNSEEN
                node.ground_depth = OUT_OF_REACH
        base = (
            [base_factor * noise.base_force] * 3 + [base_factor * noise.base_moment] * 3
            if self.floating
            else []
        )
        if self.carried and m is not None and m.stamp_ns >= self.carried_since_ns:
            base, joint = self._carried_force()
        node.nominal_force = node.weight_force = 1.0 / np.concatenate([base, joint])
        node.nominal_xi = node.weight_xi = self._weight_xi / contact_factor
        if m is not None and m.accelerometer is not None and self.layout.accelerometer_bias >= 0:
            node.accelerometer = m.accelerometer
            sampled = noise.accelerometer / np.sqrt(m.accelerometer_samples)
            missed = noise.accelerometer_sampling * np.broadcast_to(m.accelerometer_change, 3)
            node.weight_accelerometer = 1.0 / np.sqrt(
                sampled**2 + noise.accelerometer_model**2 + missed**2
            )
        self._set_stance(node, m)

    def _carried_force(self) -> tuple[list[float], np.ndarray]:
        """Std of the force on base [N, Nm] and joints [Nm] of a robot that something else than its feet carries, anywhere."""
        weight = GRAVITY * self.robot.total_mass
        return [weight] * 3 + [CARRIED_ARM * weight] * 3, np.full(
            self.nj, self.config.noise.joint_unmeasured
        )

    def _set_stance(self, node: "_core.NodeInput", m: Measurement | None) -> None:
        """Contact flags of rigid contacts.

        Without them, or where legs are not seen, no foot stands.
        """
        if self.stances is None:
            return
        node.weight_cone = 1.0 / self.config.noise.wrench_cone
        if m is not None and not node.ground_depth:
            node.stance = self.stances.before(m)
        if unsupported(node):  # the flags are wrong: the base follows the IMU
            node.nominal_force = node.weight_force = 1.0 / np.concatenate(self._carried_force())

    def expect_touchdown(self, node: "_core.NodeInput", unloaded: np.ndarray) -> None:
        """Widen the contact disturbance of feet that may be put down within the step.

        The law knows no instant inside a node.

        Args:
            node: input with its dynamics part.
            unloaded: (nf,) which feet carried nothing before.
        """
        weight = node.nominal_xi.copy()
        for part, lands in zip(self._foot_parts, unloaded):
            if lands:
                weight[part] /= self.config.noise.contact_landing
        node.nominal_xi = node.weight_xi = weight

    def set_pose(self, node: "_core.NodeInput", slot: int, pose: PoseSample, stamp_ns: int) -> None:
        """Give a node a motion capture pose taken within the step that ends at `stamp_ns`."""
        noise = self.config.noise
        rotation = pin.Quaternion(
            pose.quat_world_body / np.linalg.norm(pose.quat_world_body)
        ).toRotationMatrix()
        age, weights = (
            1e-9 * (stamp_ns - pose.stamp_ns),
            (1.0 / noise.mocap_position, 1.0 / noise.mocap_rotation),
        )
        node.set_pose(slot, age, pose.position_world, rotation, *weights)


def contact_dynamics(
    robot: Robot, config: Config, tolerance: float | None = None
) -> "_core.ContactDynamics":
    """The contact model that the configuration asks for.

    `tolerance` of its step other than the default [m/s, rad/s].
    """
    links = [robot.link_joint(link) for link in robot.estimated_links]
    options = _dynamics_options(config)
    options.tolerance = options.tolerance if tolerance is None else tolerance
    common = (
        robot.model,
        contact_points(robot),
        links,
        robot.joint_damping,
        robot.joint_friction,
        robot.config.floating_base,
        options,
    )
    if config.estimator.contact_model == "rigid":
        try:
            return _core.RigidDynamics(*common, _core.RigidOptions())
        except ValueError as error:
            raise RobotError(f"{robot.name}: {error}", robot.config) from error
    return _core.ContactDynamics(*common)


def _dynamics_options(config: Config) -> "_core.DynamicsOptions":
    options, law = _core.DynamicsOptions(), _core.ContactLaw()
    law.kappa, law.compliance = config.robot.kappa, config.robot.compliance
    law.correction = 0.0 if config.estimator.cone == "convex" else 1.0
    options.manifold = getattr(_core.InertiaManifold, config.estimator.manifold)
    options.law, options.dt, options.rolling = law, config.estimator.step, config.estimator.rolling
    return options


def block_diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    """The square matrix with these square blocks on its diagonal."""
    n = sum(len(b) for b in blocks)
    out, k = np.zeros((n, n)), 0
    for block in blocks:
        out[k : k + len(block), k : k + len(block)] = block
        k += len(block)
    return out
