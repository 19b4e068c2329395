# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimation problem of one robot: C++ models, parameters with their priors, nodes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pinocchio as pin

from .. import _core
from ..config.parameters import Config, NoiseConfig
from ..contact.leg_forces import LegForces
from ..errors import ConfigError
from ..inertia import InertiaBelief, from_theta, theta_root, to_theta
from ..joint_friction import JointLosses
from ..robot import Robot
from ..robot.checks import check_configuration
from ..sensors.imu import vertical
from ..sensors.mocap import delayed
from ..sensors.mocap_mount import turned_back
from ..types import Measurement
from .contact_model import contact_model
from .first_state import FirstState
from .hold import Hold
from .imu_mount import ImuMount
from .joint_belief import JointBelief
from .joint_hold import JointHold, held_blocks, joint_holds, with_held_joints
from .joint_parameters import DELAY, ZEROS, JointBlock, joint_blocks
from .layout import StateLayout, block_diagonal
from .measurement_model import MeasurementModel, sensor_set
from .mount_hold import GEOMETRY, IMU_POSITION, IMU_ROTATION, MOCAP_DELAY, mount_holds
from .process_model import ProcessModel
from .random_walk import random_walks
from .situation import ON_ITS_FEET, Situation
from .unmodelled_forces import look_for_forces

DELAYED = 2e-3  # s, change of a delay from which readings are weighed anew
LATE = 2e-3  # s, delay of torques from which those that act in the newest step are not known yet


class Problem:
    """Contact dynamics, sensors, state manifold and parameters of one robot.

    Attributes:
        contacts: contact model. dynamics: its C++ dynamics. state: manifold of x = (q, v, p).
        sensors: sensors of this problem. measurements: measurement model.
        process: process model (disturbances). mount: pose of the IMU on the robot.
        layout: named parts of x and of its tangent. nq, nv, nj, np, ndx, nu: dimensions.
        contact_feet: (nc,) index of each contact's foot. legs: forces from leg torques; None for a
            robot without feet or on a fixed base.
        holds: parameters of joints and mounts that keep their YAML values until released.
        delay: of motion capture, where it is estimated [s]. body_turn: (3, 3) by which its tracked
            body is turned beyond the YAML's mount; None: not at all. torque_delay: (nj,) by which
            torques are read late [s]. torques_late: the same in steps, at most; 0: what acts in a
            step is known at its end.
        interruption: ends, on request of another thread, what is being solved.
        one_ground: beside motion capture each foot has one ground height in a start batch, as in a
            window over all measurements.
        theta_nominal, theta_prior_root: mean and square root of the covariance of the inertia's
            prior. theta_walk_root: the same of its random walk, per sqrt(s). first: prior of the
            first state.

    Args:
        robot: model and contact points.
        config: noise, window, priors.
        optional: names of the optional sensors to use.
        holds: True: joint losses (if configured) and sensor mounts are parameters that are held at
            their YAML values until released. False: mounts are not parameters.
    """

    def __init__(
        self,
        robot: Robot,
        config: Config,
        optional: Collection[str] = (),
        holds: bool = False,
    ):
        check_configuration(robot, config)
        self.robot, self.dt = robot, config.estimator.step
        self.optional = tuple(optional)
        self.floating = robot.config.floating_base
        self._holds, given, self.delay = holds, config, 0.0
        self.one_ground = False
        config = self._with_joints(given)
        held = config is not given
        blocks = held_blocks if held else joint_blocks
        self.joints = blocks(robot, config.estimator.joint_parameters)
        self.contacts = contact_model(robot, config, self.joints)
        self.dynamics = self.contacts.dynamics
        self.legs = LegForces(robot) if self.floating and self.dynamics.nc else None
        self.mount = ImuMount(robot)
        self.sensors = sensor_set(robot, config, optional)
        self.joint_holds = joint_holds(self.joints, held)
        zeros = next((block.group for block in self.joints if block.name == ZEROS), ())
        self.measurements = MeasurementModel(self.dynamics, self.mount, self.sensors, zeros, holds)
        look_for_forces(self.measurements.core, robot, config.estimator)
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
        self.measurements.attach(self)
        self._fixed_mass = robot.total_mass - sum(float(pi[0]) for pi in self._links)
        self._inertias: tuple[bytes, list] = b"", []  # of the theta that was asked for last
        self.contact_feet = np.array([robot.feet.index(c.foot) for c in robot.contacts], int)
        late = robot.config.torque_delay != 0.0 or any(b.name == DELAY for b in self.joints)
        self.process = ProcessModel(robot, self.dynamics, self.contacts, late)
        self.interruption = _core.Interruption()
        self.measurements.noise = config.noise
        self.mount_holds = mount_holds(self.measurements)
        self.holds: list[Hold] = [*self.joint_holds, *self.mount_holds]
        self.retune(config)
        self._set_inertia_prior()
        self.first = FirstState(self)
        self.forget()

    def _set_inertia_prior(self) -> None:
        e = self.config.estimator
        nominal = [to_theta(pi, e.manifold) for pi in self._links]
        self.theta_nominal = np.concatenate(nominal) if nominal else np.zeros(0)
        self.theta_prior_root = self._theta_root(e.mass_stddev, e.com_stddev, e.inertia_stddev)

    @property
    def has_imu(self) -> bool:
        """The robot's IMU is part of the problem."""
        return "gyro_bias" in self.layout

    def forget(self) -> None:
        """Reset the prior of the next first state to nominal inertia and joint parameters."""
        self.first.forget()
        self.body_turn: np.ndarray | None = None
        self._forget_mounts()
        self._begin_with_joints(JointBelief(()))

    def _forget_mounts(self) -> None:
        for hold in self.mount_holds:
            hold.held = hold.possible
        self.mount.move(np.zeros(3), np.zeros(3))
        if self.delay:
            self.delay = 0.0
            self.use_noise(self._noise)

    def turn_body(self, turn: np.ndarray) -> None:
        """Rotate the tracked body by a further `turn` (3, 3) relative to its mount.

        Mount estimates made with the former rotation are discarded.
        """
        self.body_turn = turn if self.body_turn is None else self.body_turn @ turn
        self._forget_mounts()
        self.first.forget_sensors()

    def turned_back(self, m: Measurement) -> Measurement:
        """The measurement with motion capture poses corrected for `body_turn`."""
        if self.body_turn is None or not m.mocap:
            return m
        place = self.robot.mocap_placement.translation
        poses = tuple(turned_back(pose, self.body_turn, place) for pose in m.mocap)
        return replace(m, readings={**m.readings, "mocap": poses})

    @property
    def joints_let_go(self) -> bool:
        """Whether torque data have contradicted the joint parameters of the YAML."""
        return any(hold.let_go for hold in self.joint_holds)

    @property
    def free_joints(self) -> list[JointBlock]:
        """Parameters of the joints that are estimated, and not held."""
        return [block for hold in self.joint_holds if not hold.held for block in hold.blocks]

    @property
    def bent(self) -> bool:
        """Sensors are not mounted as the YAML says, nor need the legs be as it has them."""
        return any(h.let_go for h in self.mount_holds if h.names[0] in GEOMETRY)

    def begin_with(self, belief: InertiaBelief | JointBelief) -> None:
        """Use earlier knowledge as the prior of the next first state.

        Raises:
            ConfigError: it is none.
        """
        if isinstance(belief, InertiaBelief):
            self.first.begin_with_inertia(belief)
        elif isinstance(belief, JointBelief):
            self._begin_with_joints(belief)
        else:
            what = f"earlier knowledge is an InertiaBelief or a JointBelief, got {belief!r:.60}"
            raise ConfigError(what, belief)

    def _begin_with_joints(self, belief: JointBelief) -> None:
        self.first.begin_with_joints(belief)
        for hold in self.joint_holds:
            hold.held = hold.possible and not any(p.kind in hold.names for p in belief.told)
        if self.legs is not None:
            self.legs.losses = JointLosses.of(self.robot)
        self._read_torques_late(np.full(self.nj, self.robot.config.torque_delay))
        self._walk = random_walks(self)
        self.learn(self.first.neutral())

    def let_joints_go(self, hold: JointHold) -> None:
        """Release a hold: its parameters are estimated in future nodes and first states."""
        hold.held = False
        self._walk = random_walks(self)

    def learn(self, x: np.ndarray) -> None:
        """Copy estimated parameters of a state to the leg model, IMU mount and mocap delay."""
        turn, lever = self.parameter(x, IMU_ROTATION), self.parameter(x, IMU_POSITION)
        if np.count_nonzero(turn) or np.count_nonzero(lever):
            self.mount.move(turn, lever)
        for delay in self.parameter(x, MOCAP_DELAY).tolist():  # one, or none
            if delay and abs(delay - self.delay) > DELAYED:
                self.delay = delay
                self.use_noise(self._noise)
        self._learn_joints(x)

    def _learn_joints(self, x: np.ndarray) -> None:
        if self.legs is not None and (free := self.free_joints):
            told = {b.name: b.per_joint(self.parameter(x, b.name)) for b in free}
            self.legs.losses = JointLosses.of(self.robot, told)
            self._read_torques_late(told.get(DELAY, self.torque_delay))

    def _read_torques_late(self, delay: np.ndarray) -> None:
        late = float(delay.max(initial=0.0))
        self.torque_delay, self.torques_late = delay, late / self.dt if late > LATE else 0.0

    @property
    def anchors(self) -> np.ndarray:
        """Places (nf, 2) [m] about which the ground under the feet slopes, world axes."""
        return self.dynamics.anchor.reshape(-1, 2)  # eigenpy makes a vector of a single one

    def move_anchors(self, feet: np.ndarray, points: np.ndarray) -> None:
        """Let the ground under feet (nf,) slope about points (nf, 3) [m], world axes."""
        anchor = self.anchors
        anchor[feet] = points[feet, :2]
        self.dynamics.anchor = anchor

    def retune(self, config: Config) -> None:
        """Use other values of the tunable parameters from the next node on.

        Raises:
            ConfigError, RobotError: it is no configuration, or that of another robot.
        """
        check_configuration(self.robot, config)
        self.config, e = self._with_joints(config), config.estimator
        self.use_noise(config.noise)
        self.theta_walk_root = self._theta_root(e.mass_walk, e.com_walk, e.inertia_walk)
        self._walk = random_walks(self)

    def _with_joints(self, config: Config) -> Config:
        return with_held_joints(config, self.robot) if self._holds else config

    @property
    def noise(self) -> NoiseConfig:
        """Noise levels in use: those configured, or larger ones that are seen."""
        return self._noise

    def use_noise(self, noise: NoiseConfig) -> None:
        """Weight future nodes by these noise levels."""
        self._noise = noise
        self.measurements.noise = delayed(noise, self.delay) if self.delay else noise
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
        """Input of the node at `m.stamp_ns`. Readings of its step are added one node later.

        Args:
            m: measurement.
            last_position: last measured joint positions (nj,) [rad], used if m has none.
        """
        given = self.measurements.state_input(m, last_position)
        self.process.unmeasured(given)
        return given

    def coast(self, given, x: np.ndarray) -> None:
        """Let the base of a node at x (nx,) without readings keep its velocity and attitude."""
        if self.has_imu:
            up = vertical(self.layout.part(x, "rotation"))
            self.measurements.coast(given, self.imu_motion(x)[0].rotation.T @ up)

    def imu_motion(self, x: np.ndarray) -> tuple[pin.SE3, pin.Motion]:
        """Pose of the IMU in the base, and its twist relative to it, at a state (nx,)."""
        positions = self.robot.positions(self.layout.q(x))
        return self.mount.motion(positions, self.layout.part(x, "joint_rates"))

    def complete(self, given, m: Measurement, situation: Situation = ON_ITS_FEET) -> None:
        """Add to a node's input the readings of its step; `m`: measurement at the step's end."""
        self.measurements.complete(given, m)
        self.process.complete(given, m, situation)

    def columns(self, name: str) -> slice:
        """Tangent slice of a part of the state; empty when it is absent."""
        return self.layout.columns(name)

    def parameter(self, x: np.ndarray, name: str) -> np.ndarray:
        """View of a part of x; empty when it is absent."""
        return self.layout.part(x, name)

    def softness(self, x: np.ndarray) -> float:
        """Softness of the ground, from its parameter; 0: hard, or not estimated."""
        value = self.parameter(x, "softness")
        return max(float(value[0]), 0.0) if value.size else 0.0

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

    def process_noise(self, held: bool) -> np.ndarray:
        """Root (ndx, k) of the random walk of the parameters over one step.

        That of the inertia is left out while it is held.
        """
        return self._walk[held]
