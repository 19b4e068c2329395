# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimation problem of one robot: models of the core, parameters with their priors, nodes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from .. import _core
from ..config.parameters import Config, NoiseConfig
from ..contact.leg_forces import LegForces
from ..inertia import from_theta, theta_root, to_theta
from ..joint_friction import JointLosses
from ..robot import GRAVITY, Robot
from ..sensors import SENSORS, optional_sensors
from ..sensors.sensor import SensorSet, Wearer
from ..types import Measurement
from .contact_model import contact_model
from .imu_mount import ImuMount
from .joint_belief import Belief, JointBelief
from .joint_hold import JointHold, carriers, with_held_joints
from .joint_parameters import ZEROS, joint_blocks
from .layout import StateLayout
from .measurement_model import MeasurementModel
from .process_model import ON_ITS_FEET, ProcessModel, Situation

# standard deviations of a first state that nothing is known of but the readings
FIRST_JOINT, FIRST_JOINT_RATE = 0.01, 1.0  # rad, rad/s
FIRST_PLACE, FIRST_ATTITUDE, FIRST_VELOCITY = 0.05, 0.1, 0.5  # m, rad, m/s and rad/s
# without motion capture the first node defines place and heading of the world; the height of its
# ground is guessed from the legs
DEFINED, FIRST_HEIGHT = 1e-4, 0.02  # m and rad, m
FIRST_SLOPE = 1e-6  # of the ground under the first feet, taken to be level
# where an estimate goes on without its feet
CONTINUED_TILT, CONTINUED_VELOCITY = 0.01, 0.05  # rad, m/s and rad/s
CREDIBLE = 6.0  # prior standard deviations that parameters of a lost estimate may have gone
KEPT_GROWTH = 2.0  # of the standard deviations of what is kept of it


class Problem:
    """Contact dynamics, sensors, state manifold and parameters of one robot.

    Attributes:
        contacts: the contact model. dynamics: its C++ dynamics. state: manifold of x = (q, v, p).
        sensors: those of this problem. measurements: their model, readings of nodes.
        process: disturbances of nodes. mount: where the IMU is.
        layout: named parts of x and of its tangent. nq, nv, nj, np, ndx, nu: dimensions.
        contact_feet: (nc,) index of each contact's foot. legs: forces of its legs; None of a robot
            without feet, or on a fixed base, whose feet are not followed.
        interruption: ends, on request of another thread, what is being solved.
        theta_nominal, theta_prior_root: mean and covariance root of the inertia's prior.

    Args:
        robot: model and contact points.
        config: noise, window, priors.
        optional: names of the optional sensors that are expected.
        holds: losses of the joints stay at the YAML's values until they are let go, where the
            configuration wants that.
    """

    def __init__(
        self,
        robot: Robot,
        config: Config,
        optional: Collection[str] = (),
        holds: bool = False,
    ):
        self.robot, self.dt = robot, config.estimator.step
        self.optional = tuple(optional)
        self.floating = robot.config.floating_base
        self._holds, given = holds, config
        config = self._with_joints(given)
        held = config is not given
        only = carriers(robot) if held else None
        self.joints = joint_blocks(robot, config.estimator.joint_parameters, only)
        self.contacts = contact_model(robot, config, self.joints)
        self.dynamics = self.contacts.dynamics
        self.legs = LegForces(robot) if self.floating and self.dynamics.nc else None
        self.mount = ImuMount(robot)
        self.sensors = sensor_set(robot, config, optional)
        self.joint_hold = JointHold(self.joints, held)
        zeros = any(block.name == ZEROS for block in self.joints)
        self.measurements = MeasurementModel(self.dynamics, self.mount, self.sensors, zeros)
        model = robot.model
        self.layout = StateLayout(model.nq, model.nv, robot.nj, self.measurements.blocks)
        self.nq, self.nv, self.nj = model.nq, model.nv, robot.nj
        self.np, self.ndx = self.layout.np, self.layout.ndx
        self.nu = self.nv + self.dynamics.nxi
        self.state = _core.StateParameters(model, self.np)
        self._links = [
            model.inertias[robot.link_joint(link)].toDynamicParameters()
            for link in robot.estimated_links
        ]
        trackers = {s.name: s.tracker(self) for s in self.sensors}
        self.measurements.trackers = {name: t for name, t in trackers.items() if t is not None}
        gates = {s.name: s.gate(self) for s in self.sensors}
        self.measurements.gates = {name: g for name, g in gates.items() if g is not None}
        self._fixed_mass = robot.total_mass - sum(float(pi[0]) for pi in self._links)
        self._inertias: tuple[bytes, list] = b"", []  # of the theta that was asked for last
        self.contact_feet = np.array([robot.feet.index(c.foot) for c in robot.contacts], int)
        self.process = ProcessModel(robot, self.dynamics, self.contacts)
        self.interruption = _core.Interruption()
        self.retune(config)
        e = config.estimator
        nominal = [to_theta(pi, e.manifold) for pi in self._links]
        self.theta_nominal = np.concatenate(nominal) if nominal else np.zeros(0)
        self.theta_prior_root = self._theta_root(e.mass_stddev, e.com_stddev, e.inertia_stddev)
        self.forget()

    @property
    def has_imu(self) -> bool:
        """The robot's IMU is part of the problem."""
        return "gyro_bias" in self.layout

    def forget(self) -> None:
        """Begin the next first state with nominal inertia and the joints of the robot's YAML."""
        self._kept: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self.forget_inertia()
        self.begin_with(JointBelief(()))

    def forget_inertia(self) -> None:
        """Begin the next first state with nominal inertia."""
        self._theta_first, self._theta_first_root = self.theta_nominal, self.theta_prior_root

    def keep_inertia(self, mean: np.ndarray, covariance: np.ndarray) -> None:
        """Begin the next first state with theta (ntheta,) and its covariance (ntheta, ntheta)."""
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 1e-12 * values.max()))
        self._theta_first, self._theta_first_root = mean, root

    def keep(self, x: np.ndarray, stddev: np.ndarray) -> None:
        """Begin the next first state with what outlasts an estimate that is lost.

        Args:
            x: the state it had come to.
            stddev: (ndx,) of that; it grows, for the next start batch sees measurements once more.
        """
        for name, block in self.measurements.parameter_priors().items():
            mean, own = self.parameter(x, name), KEPT_GROWTH * stddev[self.columns(name)]
            if block.lasting and (np.abs(mean) < CREDIBLE * block.prior).all():
                self._kept[name] = mean.copy(), np.fmin(own, block.prior)

    def begin_with(self, belief: Belief) -> None:
        """Begin the next first state with what was learned, and its random walk since."""
        if isinstance(belief, JointBelief):
            self._joints_first = {block.name: belief.prior(block) for block in self.joints}
            self.hold_joints(self.joint_hold.possible and not belief.told)
            self.learn_joints(self.neutral())
            return
        mean, covariance = belief.in_theta(self.config.estimator.manifold)
        walk = np.sqrt(belief.age) * self.theta_walk_root
        self.keep_inertia(mean, covariance + walk @ walk.T)

    def hold_joints(self, held: bool) -> None:
        """Whether the nodes and first states that come hold the joint parameters."""
        self.joint_hold.held = held
        if held and self.legs is not None:
            self.legs.losses = JointLosses.of(self.robot)
        self._walk = self._walks()

    def learn_joints(self, x: np.ndarray) -> None:
        """Let the forces of the legs have the joint parameters of a state, where it tells them."""
        if self.legs is not None and self.joints and not self.joint_hold.held:
            told = {b.name: b.per_joint(self.parameter(x, b.name)) for b in self.joints}
            self.legs.losses = JointLosses.of(self.robot, told)

    def move_anchors(self, feet: np.ndarray, points: np.ndarray) -> None:
        """Let the ground under feet (nf,) slope about points (nf, 3) [m], world axes."""
        anchor = np.array(self.dynamics.anchor)
        anchor[feet] = points[feet, :2]
        self.dynamics.anchor = anchor

    def retune(self, config: Config) -> None:
        """Use other values of the tunable parameters from the next node on."""
        self.config, e = self._with_joints(config), config.estimator
        self.use_noise(config.noise)
        self.theta_walk_root = self._theta_root(e.mass_walk, e.com_walk, e.inertia_walk)
        self._walk = self._walks()

    def _with_joints(self, config: Config) -> Config:
        return with_held_joints(config, self.robot) if self._holds else config

    def use_noise(self, noise: NoiseConfig) -> None:
        """Weigh the nodes that come by these levels."""
        self.measurements.noise = noise
        self.process.retune(replace(self.config, noise=noise))

    def _theta_root(self, mass: float, com: float, inertia: float) -> np.ndarray:
        manifold = self.config.estimator.manifold
        return block_diagonal([theta_root(pi, mass, com, inertia, manifold) for pi in self._links])

    # --- nodes and states -------------------------------------------------------------------------

    def node(self) -> "_core.ActionMeasurement":
        """A new running node without readings."""
        inverse = self.config.estimator.form == "inverse"
        return _core.ActionMeasurement(self.state, self.measurements.core, inverse)

    def state_input(
        self, m: Measurement, last_position: np.ndarray | None = None
    ) -> "_core.NodeInput":
        """Input of the node at `m.stamp_ns`; what concerns its step comes one node later.

        Args:
            m: measurement.
            last_position: joint positions (nj,) [rad] seen last, for a measurement without them.
        """
        given = self.measurements.state_input(m, last_position)
        self.process.unmeasured(given)
        return given

    def complete(self, given, m: Measurement, situation: Situation = ON_ITS_FEET) -> None:
        """Give the input of a node what the measurement `m` at the end of its step says of it."""
        self.measurements.complete(given, m)
        self.process.complete(given, m, situation)

    def columns(self, name: str) -> slice:
        """Tangent slice of a part of the state; empty when it is absent."""
        return self.layout.columns(name)

    def parameter(self, x: np.ndarray, name: str) -> np.ndarray:
        """View of a part of x; empty when it is absent."""
        return self.layout.part(x, name)

    def softness(self, x: np.ndarray) -> float:
        """Parameter of the ground's softness; 0 where it is not estimated."""
        value = self.parameter(x, "softness")
        return float(value[0]) if value.size else 0.0

    def inertias(self, x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Dynamic parameters (10,) and their Jacobian (10, 10) in theta of the estimated links.

        Not to be written to.
        """
        values = self.parameter(x, "theta")
        theta = values.tobytes()
        if theta != self._inertias[0]:
            manifold = self.config.estimator.manifold
            links = range(0, len(values), 10)
            self._inertias = theta, [from_theta(values[i : i + 10], manifold) for i in links]
        return self._inertias[1]

    def total_mass(self, x: np.ndarray) -> float:
        """Total mass of the robot [kg] at a state."""
        return self._fixed_mass + sum(float(pi[0]) for pi, _ in self.inertias(x))

    # --- priors -----------------------------------------------------------------------------------

    def neutral(self) -> np.ndarray:
        """State at the origin at rest, its parameters at the means of their priors."""
        x = self.state.zero()
        self.parameter(x, "theta")[:] = self._theta_first
        self.parameter(x, "friction")[:] = np.log(self.config.estimator.friction)
        for name, (mean, _) in (*self._joints_first.items(), *self._kept.items()):
            self.parameter(x, name)[:] = mean
        return x

    def prior_root(self, located: bool, continued: bool = False) -> np.ndarray:
        """Square root (ndx, ndx) of the covariance of the first state.

        Wide, but for what defines the world where nothing measures it.

        Args:
            located: position and heading are measured.
            continued: tilt and velocity go on from an estimate that was still right.
        """
        std = np.ones(self.ndx)

        def put(name: str, value) -> None:
            std[self.columns(name)] = value

        put("joints", FIRST_JOINT)
        put("joint_rates", FIRST_JOINT_RATE)
        put("velocity", FIRST_VELOCITY)
        put("rate", FIRST_VELOCITY)
        place = [FIRST_PLACE] * 3 if located else [DEFINED, DEFINED, FIRST_HEIGHT]
        if self.floating:
            put("position", place)
            tilt = CONTINUED_TILT if continued else FIRST_ATTITUDE
            put("rotation", [tilt, tilt, FIRST_ATTITUDE if located else DEFINED])
        if continued:
            put("velocity", CONTINUED_VELOCITY)
            put("rate", CONTINUED_VELOCITY)
        e = self.config.estimator
        put("height", FIRST_HEIGHT if located else e.terrain_stddev)
        put("slope", FIRST_SLOPE)
        put("friction", e.friction_stddev)
        put("softness", e.softness_stddev)
        for name, block in self.measurements.parameter_priors().items():
            put(name, block.prior)
        for name, (_, own) in self._kept.items():
            put(name, own)
        root = np.diag(std)
        for name, (_, own) in self._joints_first.items():
            columns = self.columns(name)
            root[columns, columns] = self.joint_hold.share * own
        theta = self.columns("theta")
        root[theta, theta] = self._theta_first_root
        return root

    def process_noise(self, held: bool) -> np.ndarray:
        """Root (ndx, np) of the random walk of the parameters over one step.

        That of the inertia is left out while it is held.
        """
        return self._walk[held]

    def _walks(self) -> dict[bool, np.ndarray]:
        e, step = self.config.estimator, np.sqrt(self.dt)
        root = np.zeros((self.ndx, self.np))
        walks = {
            "height": e.terrain_walk,
            "friction": e.friction_walk * step,
            "softness": e.softness_walk * step,
        }
        for name, block in self.measurements.parameter_priors().items():
            walks[name] = block.walk * step
        for name, std in walks.items():
            columns, rows = self.columns(name), self.layout.parameter_rows(name)
            root[columns, rows] = np.diag(np.full(columns.stop - columns.start, std))
        for block in () if self.joint_hold.held else self.joints:
            columns, rows = self.columns(block.name), self.layout.parameter_rows(block.name)
            root[columns, rows] = step * block.walk_root
        estimated = root.copy()
        columns, rows = self.columns("theta"), self.layout.parameter_rows("theta")
        estimated[columns, rows] = step * self.theta_walk_root
        return {True: root, False: estimated}


def sensor_set(robot: Robot, config: Config, optional: Collection[str]) -> SensorSet:
    """The sensors of a robot: those that it always has, and the optional ones that are expected.

    Raises:
        ConfigError: there is no optional sensor of a name.
    """
    optional = optional_sensors(",".join(optional))
    floating = robot.config.floating_base
    has = {"imu": floating and robot.imu_joint is not None}
    chosen = tuple(
        s
        for s in SENSORS
        if has.get(s.name, True) and (not s.optional or (floating and s.name in optional))
    )
    weight = GRAVITY * robot.total_mass
    wearer = Wearer(robot.joint_names, robot.feet, config.estimator.step, weight, robot.coordinates)
    return SensorSet(chosen, wearer)


def block_diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    """The square matrix with these square blocks on its diagonal."""
    n = sum(len(b) for b in blocks)
    out, k = np.zeros((n, n)), 0
    for block in blocks:
        out[k : k + len(block), k : k + len(block)] = block
        k += len(block)
    return out
