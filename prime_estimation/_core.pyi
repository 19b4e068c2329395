# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
# Made by src/bindings/make_stub.py: do not edit.
"""The compiled core, as Python sees it; equations stand in front of the C++ classes, below src/."""

import crocoddyl
import numpy
import pinocchio as pin

class ContactDynamics:
    """Time step of a robot with contacts."""

    nv: int
    nc: int
    nfeet: int
    nxi: int
    ntheta: int
    ncone: int
    nparameters: int
    law: ContactLaw
    def step(
        self,
        q: numpy.ndarray,
        v: numpy.ndarray,
        force: numpy.ndarray,
        xi: numpy.ndarray,
        parameters: numpy.ndarray,
        guess: numpy.ndarray,
        derivatives: bool = False,
    ) -> dict: ...
    def residual(
        self,
        arg2: numpy.ndarray,
        arg3: numpy.ndarray,
        arg4: numpy.ndarray,
        arg5: numpy.ndarray,
        arg6: numpy.ndarray,
        arg7: numpy.ndarray,
    ) -> numpy.ndarray: ...

class ContactLaw:
    """Smoothed contact law: impulse of (c_t, a) [m/s]."""
    def __init__(self) -> None: ...
    def softened(self, softness: float) -> ContactLaw: ...
    kappa: float
    compliance: float
    smoothing: float
    correction: float
    def evaluate(self, c: numpy.ndarray, mu: float) -> tuple:
        """Impulse, its derivative in c and in mu."""

class ContactPoint:
    def __init__(self) -> None: ...
    name: str
    joint: int
    position: numpy.ndarray
    lever: numpy.ndarray
    radius: float
    foot: int

class DynamicsOptions:
    def __init__(self) -> None: ...
    dt: float
    law: ContactLaw
    manifold: InertiaManifold
    rolling: bool
    slopes: bool
    soft: bool
    midpoint: bool
    friction_velocity: float
    tolerance: float
    max_iterations: int

class ImuMount:
    """IMU on the base of a floating-base robot, or behind joints."""
    def __init__(self, model: pin.Model, joint: int, joint_M_imu: pin.SE3) -> None: ...
    size: int
    def pose(self, q: numpy.ndarray, v: numpy.ndarray) -> tuple:
        """Pose of the IMU in the base, and its twist relative to the base in its own frame."""

class Interruption:
    """Request of another thread to end what is being solved."""
    def __init__(self) -> None: ...
    def request(self) -> None: ...
    requested: bool

class InverseDynamics:
    """Joint torques of many instants of a fixed-base machine, and derivatives."""
    def __init__(self, model: pin.Model) -> None: ...
    def evaluate(
        self,
        pi: numpy.ndarray,
        gravity: numpy.ndarray,
        q: numpy.ndarray,
        v: numpy.ndarray,
        a: numpy.ndarray,
    ) -> None:
        """At (n, nv) displacements, rates and accelerations; the results are attributes."""
    torque: numpy.ndarray
    by_q: numpy.ndarray
    by_v: numpy.ndarray
    by_a: numpy.ndarray
    by_inertia: numpy.ndarray
    by_gravity: numpy.ndarray

class JointModel:
    """Losses and motors of all joints behind the base."""
    def __init__(self, damping: numpy.ndarray, dry_friction: numpy.ndarray) -> None: ...
    def set(self, quantity: JointQuantity, value: numpy.ndarray) -> None:
        """Constant (nj,) of all joints."""
    def estimate(
        self, quantity: JointQuantity, group: list, ratio: numpy.ndarray, softness: float
    ) -> None:
        """Make parameters of a quantity, one per group (-1: none) of joints."""

class LegForces:
    def __init__(
        self, model: pin.Model, contacts: list, columns: list, stretched: float
    ) -> None: ...
    def evaluate(
        self, q: numpy.ndarray, v: numpy.ndarray, a: numpy.ndarray, torque: numpy.ndarray
    ) -> tuple:
        """Soles (nf, 3) [m], their velocities (nf, 3) [m/s], normal forces (nf,) [N], upward force
        by the mass that such a motion needs [m/s2]; world axes.
        """
    def carried_at_rest(
        self,
        force: numpy.ndarray,
        position: numpy.ndarray,
        rate: numpy.ndarray,
        torque: numpy.ndarray,
    ) -> float:
        """Sum of the normal forces of a robot at rest whose base feels `force` as gravity [N]."""
    def set_losses(
        self,
        added_armature: numpy.ndarray,
        damping: numpy.ndarray,
        dry_friction: numpy.ndarray,
        gear_loss: numpy.ndarray,
        gain: numpy.ndarray,
        offset: numpy.ndarray,
        stribeck: numpy.ndarray,
        stribeck_velocity: numpy.ndarray,
    ) -> None:
        """Losses (nj,) of the joints, between readings and links."""

class LimbRegressors:
    def __init__(self, model: pin.Model, limbs: list) -> None: ...
    def evaluate(self, q: numpy.ndarray, v: numpy.ndarray, a: numpy.ndarray) -> list:
        """Torques of the joints of each limb by mass and first moment of its last link, (n, 4)."""

class MeasurementModel:
    """Dynamics, residuals of the sensors, layout of parameters and rows."""
    def __init__(
        self,
        dynamics: ContactDynamics,
        mount: ImuMount,
        residuals: list,
        mounts: bool = False,
        zeros: list = [],
    ) -> None: ...
    np: int
    def look_for_forces(
        self, joints: list, stddev: float, odds: float, least: float, stretched: float, stop: float
    ) -> None:
        """From now on torques of the legs tell forces that no contact law explains. By contact: ids
        of the three joints of its leg, none where not to look.
        """
    def parameters(self) -> list:
        """(name, size) of the parameter blocks, in order."""
    def rows(self) -> list:
        """(name, first row, size) of the parts of a node's residual, in order."""

class NodeInput:
    def __init__(self, arg2: MeasurementModel) -> None: ...
    def set(
        self,
        name: str,
        value: numpy.ndarray,
        weight: numpy.ndarray,
        age: float = 0.0,
        slot: int = 0,
    ) -> None:
        """Hand in a reading of a residual, of `encoders` or of `rates`; weights are reciprocal
        standard deviations.
        """
    def value(self, name: str, slot: int = 0) -> numpy.ndarray: ...
    def weight(self, name: str, slot: int = 0) -> numpy.ndarray: ...
    def nominal(self, name: str, slot: int = 0) -> numpy.ndarray:
        """Weights before the last reweighting."""
    def present(self, name: str, slot: int = 0) -> bool:
        """Whether a reading was handed in."""
    def age(self, name: str, slot: int = 0) -> float: ...
    torque: numpy.ndarray
    torque_change: numpy.ndarray
    base_wrench: numpy.ndarray
    outer_force: numpy.ndarray
    weight_force: numpy.ndarray
    weight_xi: numpy.ndarray
    nominal_force: numpy.ndarray
    nominal_xi: numpy.ndarray
    weighed: bool
    ground_depth: float
    height_offset: numpy.ndarray
    slope_offset: numpy.ndarray
    anchor_offset: numpy.ndarray
    law: ContactLaw
    stance: list

class RigidOptions:
    def __init__(self) -> None: ...
    damping: float
    velocity_share: float
    height_share: float
    restitution: float

class Strapdown:
    """Pose and velocity of an IMU in the world, carried on by its samples."""
    def __init__(self) -> None: ...
    gravity: numpy.ndarray
    gyro_bias: numpy.ndarray
    accelerometer_bias: numpy.ndarray
    def start(self, world_M_imu: pin.SE3, velocity: pin.Motion) -> None: ...
    def start_on_base(
        self,
        position: numpy.ndarray,
        quat_world_base: numpy.ndarray,
        linear: numpy.ndarray,
        angular: numpy.ndarray,
        base_M_imu: pin.SE3,
        relative: pin.Motion,
    ) -> None: ...
    def set_force(self, specific_force: numpy.ndarray) -> None: ...
    def step(
        self, dt: float, angular_velocity: numpy.ndarray, specific_force: numpy.ndarray
    ) -> None: ...
    def base(self, base_M_imu: pin.SE3, relative: pin.Motion) -> tuple:
        """Position, quaternion (xyzw), linear and angular velocity, and jumps of the base; the last
        three in its axes.
        """

class WholeBody:
    def __init__(
        self,
        model: pin.Model,
        joints: list,
        positions: numpy.ndarray,
        radii: numpy.ndarray,
        compliance: float,
    ) -> None: ...
    def take_inertias(self, model: pin.Model) -> None:
        """Take over the inertias of another model of this robot, between two solves."""

class WholeBodyTarget:
    def set_base(
        self,
        position: numpy.ndarray,
        rotation: numpy.ndarray,
        linear_velocity: numpy.ndarray,
        angular_velocity: numpy.ndarray,
    ) -> None: ...
    def set_joints(
        self, position: numpy.ndarray, velocity: numpy.ndarray, torque: numpy.ndarray
    ) -> None: ...
    def set_feet(
        self,
        stands: list,
        force: numpy.ndarray,
        position: numpy.ndarray,
        velocity: numpy.ndarray,
        weight: numpy.ndarray,
    ) -> None: ...

class WholeBodyWeights:
    def __init__(self, joints: int) -> None: ...
    position: numpy.ndarray
    orientation: numpy.ndarray
    linear_velocity: numpy.ndarray
    angular_velocity: numpy.ndarray
    joint_position: numpy.ndarray
    joint_velocity: numpy.ndarray
    torque: numpy.ndarray
    force: numpy.ndarray
    foot_position: numpy.ndarray
    foot_velocity: numpy.ndarray
    cone: float
    torque_limit: float
    joint_limit: float
    largest_torque: numpy.ndarray
    lowest_position: numpy.ndarray
    highest_position: numpy.ndarray
    friction: float
    smallest_force: float

class ActionDataLeastSquares(crocoddyl.ActionDataAbstract):
    Rx: numpy.ndarray
    Ru: numpy.ndarray

class ActionDataWholeBody(crocoddyl.ActionDataAbstract):
    pass

class ActionLeastSquares(crocoddyl.ActionModelAbstract):
    pass

class ActionWholeBody(crocoddyl.ActionModelAbstract):
    def __init__(
        self, state: crocoddyl.StateAbstract, body: WholeBody, weights: WholeBodyWeights, dt: float
    ) -> None: ...
    dt: float
    target: WholeBodyTarget
    def createData(self) -> crocoddyl.ActionDataAbstract: ...
    def calc(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray = ...
    ) -> None: ...
    def calcDiff(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray = ...
    ) -> None: ...
    def forces(self, arg2: crocoddyl.ActionDataAbstract) -> numpy.ndarray:
        """Forces (points, 3) of the ground at the last calc [N]."""
    def points(self, arg2: crocoddyl.ActionDataAbstract) -> numpy.ndarray:
        """Places (points, 3) of the points at the last calc [m]."""

class InertiaManifold(int):
    log_cholesky: InertiaManifold
    exponential_eigenvalue: InertiaManifold

class JointQuantity(int):
    armature: JointQuantity
    damping: JointQuantity
    dry_friction: JointQuantity
    gear_loss: JointQuantity
    friction_lead: JointQuantity
    torque_gain: JointQuantity
    stribeck: JointQuantity
    stribeck_velocity: JointQuantity
    torque_offset: JointQuantity
    torque_delay: JointQuantity

class ParameterMethod(int):
    schur: ParameterMethod
    nullspace: ParameterMethod

class RigidDynamics(ContactDynamics):
    def __init__(
        self,
        model: pin.Model,
        contacts: list,
        links: list,
        joints: JointModel,
        floating_base: bool,
        options: DynamicsOptions,
        rigid: RigidOptions,
    ) -> None: ...
    def step(
        self,
        q: numpy.ndarray,
        v: numpy.ndarray,
        force: numpy.ndarray,
        xi: numpy.ndarray,
        parameters: numpy.ndarray,
        stance: list,
        guess: numpy.ndarray,
        derivatives: bool = False,
    ) -> dict: ...

class Rollout(int):
    multiple: Rollout
    feasible: Rollout
    single: Rollout

class SmoothedDynamics(ContactDynamics):
    def __init__(
        self,
        model: pin.Model,
        contacts: list,
        links: list,
        joints: JointModel,
        floating_base: bool,
        options: DynamicsOptions,
    ) -> None: ...
    anchor: numpy.ndarray
    def stiffness(self, softness: float) -> float:
        """Stiffness of ground of some softness under a contact [N/m]."""

class SolverMultipleShooting(crocoddyl.SolverAbstract):
    def __init__(self, arg2: crocoddyl.ShootingProblem) -> None: ...
    def solve(self, xs: list, us: list, maxiter: int, regularization: float = 0.0) -> bool: ...
    def direction(self, xs: list, us: list, regularization: float = 0.0) -> tuple:
        """Full step (dxs, dus) at (xs, us), not taken."""
    def redirect(self) -> tuple:
        """The full step for other residuals of the nodes, on the last linearization."""
    def backward(self) -> bool:
        """Repeat the backward pass on the last linearization."""
    def forward(self) -> None:
        """Repeat the forward pass after it: the full step."""
    def reweight(self, contact_dof: float, force_dof: float, reading_dof: float = ...) -> None:
        """New weights of the disturbances with heavy tails, for the next iteration."""
    def improve(
        self,
        xs: numpy.ndarray,
        us: numpy.ndarray,
        iterations: int,
        contact_dof: float,
        force_dof: float,
        reading_dof: float,
    ) -> tuple:
        """Iterations as of `solve`, each with `reweight` behind it, at most so many: from the states
        (N + 1, nx) and controls (N, nu) behind the arrival node to those that it returns.
        """
    def rotate(self) -> None:
        """The first running node behind the arrival node becomes the last."""
    def residual_squares(self) -> numpy.ndarray:
        """By row of a node's residual: sum of its squares over the running nodes, and how many there
        are, (nr, 2).
        """
    def first_residuals(self, size: int) -> numpy.ndarray:
        """The first rows of each running node's residual, (T, size)."""
    def newest(self, jx: numpy.ndarray) -> tuple:
        """Covariances of jx (dx, dp) at the last state and of the parameters; points (nc, 3), forces
        (3 nc), their covariance and velocities (3 nc) of the contacts at the last running node.
        """
    def unexplained(self) -> numpy.ndarray:
        """Generalized forces w [N, Nm] that the running nodes need beside the measured torques, (T,
        nv).
        """
    def slack(self, us: list) -> numpy.ndarray:
        """Largest contact disturbance of each foot in these controls, in standard deviations, (T,
        nf).
        """
    def residual_variance(self, k: int) -> numpy.ndarray:
        """Posterior variance of each row of the residual of running node k."""
    def foot_forces(self) -> numpy.ndarray:
        """Vertical forces [N] at the feet at the running nodes, (T, nf)."""
    def compute_posterior(self, last: int = 18446744073709551615) -> None:
        """Posterior covariances of the states up to `last`, by default of all."""
    def posterior(self, arg2: int) -> numpy.ndarray: ...
    def covariance_at(
        self, arg2: int, arg3: numpy.ndarray, arg4: numpy.ndarray
    ) -> numpy.ndarray: ...
    def covariance_of(self, k: int, jz: numpy.ndarray) -> numpy.ndarray:
        """Posterior covariance of jz dz at running node k, z = (xi, v+, q, v, p)."""
    def variance_of(self, k: int, jz: numpy.ndarray) -> numpy.ndarray:
        """Its diagonal."""
    def states(self) -> list: ...
    def controls(self) -> list: ...
    largest_gap: float
    refused: int
    rank: int
    largest_step: numpy.ndarray
    def set_bound(self, parameter: int, least: float, most: float) -> None:
        """Keep a parameter between two values from now on; infinite: no bound."""
    def hold(self, parameters: list) -> None:
        """Parameters that keep their values from now on, without a column in the recursion: for the
        posterior they are known.
        """
    interruption: Interruption
    settled: float
    left_open: list
    reach: float
    rollout: Rollout
    method: ParameterMethod
    threads: int

class Stance(int):
    open: Stance
    closed: Stance
    landing: Stance

class StateParameters(crocoddyl.StateAbstract):
    def __init__(self, arg2: pin.Model, arg3: int) -> None: ...
    def zero(self) -> numpy.ndarray: ...
    def rand(self) -> numpy.ndarray: ...
    def integrate(self, arg2: numpy.ndarray, arg3: numpy.ndarray) -> numpy.ndarray: ...
    def diff(self, arg2: numpy.ndarray, arg3: numpy.ndarray) -> numpy.ndarray: ...

class ActionArrival(ActionLeastSquares):
    def __init__(
        self, state: crocoddyl.StateAbstract, reference: numpy.ndarray, covariance: numpy.ndarray
    ) -> None: ...
    def createData(self) -> crocoddyl.ActionDataAbstract: ...
    def calc(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray
    ) -> None: ...
    def calcDiff(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray
    ) -> None: ...
    reference: numpy.ndarray
    mean: numpy.ndarray
    L: numpy.ndarray
    covariance: numpy.ndarray
    def regression(self, own: int, others: list, ridge: float) -> tuple:
        """Row (ndx) of the variable `own` on others by the covariance, and the variance that it
        leaves.
        """
    def estimate(self) -> numpy.ndarray: ...
    def correction(self, arg2: numpy.ndarray) -> numpy.ndarray:
        """The control that takes the first state to x0."""
    def strain(self, arg2: numpy.ndarray) -> float:
        """Root mean square of the whitened correction that takes the first state to x0."""
    def marginalize(
        self,
        arg2: ActionLeastSquares,
        arg3: crocoddyl.ActionDataAbstract,
        arg4: numpy.ndarray,
        arg5: numpy.ndarray,
        arg6: numpy.ndarray,
        arg7: numpy.ndarray,
    ) -> None: ...
    def replace_prior(
        self, arg2: list, arg3: numpy.ndarray, arg4: numpy.ndarray, arg5: numpy.ndarray
    ) -> None: ...
    def release(
        self, motions: numpy.ndarray, axes: numpy.ndarray, carry: numpy.ndarray, stddev: float
    ) -> None:
        """Take place and heading, which nothing measures, out of what is known."""
    def restore(self, arg2: numpy.ndarray) -> None:
        """Give them back: the inverse of `release`."""
    displacement: numpy.ndarray
    def inflate_covariance(self, arg2: numpy.ndarray) -> None: ...

class ActionDataMeasurement(ActionDataLeastSquares):
    pass

class ActionLinear(ActionLeastSquares):
    def __init__(
        self,
        state: crocoddyl.StateAbstract,
        A: numpy.ndarray,
        B: numpy.ndarray,
        c: numpy.ndarray,
        C: numpy.ndarray,
        D: numpy.ndarray,
        z: numpy.ndarray,
        np: int = 0,
    ) -> None: ...
    def createData(self) -> crocoddyl.ActionDataAbstract: ...
    def calc(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray
    ) -> None: ...
    def calcDiff(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray
    ) -> None: ...

class ActionMeasurement(ActionLeastSquares):
    def __init__(
        self, state: StateParameters, model: MeasurementModel, inverse: bool = False
    ) -> None: ...
    input: NodeInput
    def createData(self) -> crocoddyl.ActionDataAbstract: ...
    def calc(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray = ...
    ) -> None: ...
    def calcDiff(
        self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray, arg4: numpy.ndarray = ...
    ) -> None: ...
    def linearize(self, arg2: crocoddyl.ActionDataAbstract, arg3: numpy.ndarray) -> None:
        """Implicit linearization at the last calc: what the window's solver uses instead of
        calcDiff.
        """
    def reweight(
        self,
        data: crocoddyl.ActionDataAbstract,
        u: numpy.ndarray,
        contact_dof: float,
        force_dof: float,
    ) -> numpy.ndarray:
        """New weights of the disturbances with heavy tails, and forces at the feet, at the last
        calc. Returns u less the latter.
        """
    def contact_force(self, arg2: crocoddyl.ActionDataAbstract) -> numpy.ndarray:
        """Forces (3 nc) [N] at the last calc."""
    def expect_velocity(
        self,
        data: crocoddyl.ActionDataAbstract,
        velocity: numpy.ndarray,
        before: crocoddyl.ActionDataAbstract | None = None,
    ) -> None:
        """Next velocity (nv) from which the next calc may start, with the contact forces of the node
        `before`, where it is given.
        """
    def unmodelled_covariance(self, arg2: crocoddyl.ActionDataAbstract) -> numpy.ndarray:
        """Covariance (3 nc, 3 nc) [N^2] of the unmodelled ones among the contact forces."""
    def unmodelled_force(self, arg2: crocoddyl.ActionDataAbstract) -> numpy.ndarray:
        """Forces (3 nc) [N] at the feet that no contact law explains, at the last reweight."""
    def contact_forces(self, arg2: crocoddyl.ActionDataAbstract) -> tuple:
        """Forces (3 nc) [N] at the last calc, with the unmodelled ones, and of the former their
        Jacobian in (xi, v+, q, v, p) at the last linearization.
        """
    def residual_jacobian(self, arg2: crocoddyl.ActionDataAbstract) -> numpy.ndarray:
        """Jacobian (nr, nz) of the whitened residual in (xi, v+, q, v, p) at the last linearization."""
    def contact_kinematics(self, arg2: crocoddyl.ActionDataAbstract) -> dict: ...

class Interrupted(Exception):
    """A solve was ended because somebody asked for it."""

class SolveError(Exception):
    """A step of the contact dynamics, or a window, has no solution at the data it was given."""

class SolverRecedingHorizon(crocoddyl.SolverFDDP):
    def __init__(self, arg2: crocoddyl.ShootingProblem) -> None: ...
    def improve(
        self, x0: numpy.ndarray, xs: numpy.ndarray, us: numpy.ndarray, iterations: int
    ) -> bool:
        """Improve the guess (nx, N + 1), (nu, N) from the state x0; True when a step was taken."""
    def states(self) -> numpy.ndarray: ...
    def controls(self) -> numpy.ndarray: ...
    refused: int

def eigen_threads() -> int:
    """Threads of Eigen's products, also in libcrocoddyl: must be one."""

def inertia_from_theta(theta: numpy.ndarray, manifold: InertiaManifold) -> tuple:
    """Dynamic parameters of theta, and their Jacobian."""

def joint_value(quantity: JointQuantity, softness: float, parameter: float) -> tuple:
    """Value of a joint quantity at its parameter, and its slope."""

def pose_error(
    pose: numpy.ndarray,
    velocity: numpy.ndarray,
    phi: numpy.ndarray,
    lever: numpy.ndarray,
    psi: numpy.ndarray,
    age: float,
    position: numpy.ndarray,
    quaternion: numpy.ndarray,
) -> numpy.ndarray:
    """Place [m, world axes] and rotation [rad] of a body on the base, at a lever arm, `age`
    before, less those of a pose that was seen of it in a world that is turned by psi, (6,).
    """

def residuals() -> list:
    """Names of the residuals that a measurement model can have."""

def theta_from_inertia(pi: numpy.ndarray, manifold: InertiaManifold) -> numpy.ndarray: ...
def velocity_at_end(
    linear: numpy.ndarray,
    angular: numpy.ndarray,
    quat_world_base: numpy.ndarray,
    base_M_imu: pin.SE3,
    gyro: numpy.ndarray,
    force: numpy.ndarray,
    gravity: numpy.ndarray,
    dt: float,
) -> tuple:
    """Linear and angular velocity (base axes) of a rigid base with IMU at the end of a step,
    from their means over it.
    """
