# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The sliding window: arrival cost, nodes, and their smoothed states.

All mathematics is in the C++ core.
"""

from __future__ import annotations

import crocoddyl
import numpy as np

from .. import _core
from ..config.policies import SOLVER
from ..contact.points import idle_rows
from ..sensors.imu import vertical
from .joint_parameters import GAINS, OFFSETS
from .kept import Kept
from .place import Place
from .problem import Problem

LARGEST_STEP = 0.5  # of a coordinate of theta in one iteration


class Window:
    """Arrival node and a fixed number N of running nodes, warm-started from shift to shift.

    `xs[k]`, k = 0..N, are the smoothed states of the nodes; the last one is the head. `us[k]`,
    k = 0..N-1, are their controls: disturbances (w, xi) in the forward form, (v+, xi) in the
    inverse form. In the Crocoddyl problem the arrival node comes first; its control is the
    correction of xs[0].

    Attributes:
        force_dof: replaces the configured degrees of freedom of the Student-t of unmodelled forces;
            None: as configured; infinite: their weights do not change.
        creeping: some loaded foot is bound to no ground plane, so that its load is uncertain.
        unevenness: of the ground: 0 on a floor, 1 on uneven ground; its softness is added.
        leaning: deviation of roll and pitch by feet that sink alike at each touch-down [rad].
        footholds: (n, nf, 3) [m] of the nodes of a start batch off a floor; None on one.
        guessed: deviation of roll and pitch that is left of a guess of this ground [rad].
        place: keeps position and heading while no sensor measures them.
        kept: knowledge of the inertia outside of the arrival cost; None: there is none.

    Args:
        problem: models and noise.
        arrival: prior of the first state and of the parameters.
        inputs: inputs of the N running nodes and of the head.
        stamps: times of these nodes [ns].
        xs: N + 1 initial states.
        us: N initial controls; None: no disturbance.
        located: a sensor measures position and heading.
    """

    def __init__(
        self,
        problem: Problem,
        arrival: "_core.ActionArrival",
        inputs: list,
        stamps: list[int],
        xs: list,
        us: list | None = None,
        located: bool = True,
    ):
        self.problem, self.arrival, self.place = problem, arrival, Place(problem, located)
        self.inputs, self.stamps, self.xs = list(inputs), list(stamps), [np.array(x) for x in xs]
        self.size = len(inputs) - 1
        self.nodes = [problem.node() for _ in range(self.size)]
        self.data = [node.createData() for node in self.nodes]
        self.terminal = problem.node()
        self._legs: dict[int, tuple[np.ndarray, ...]] = {}
        self._carried: np.ndarray | None = None
        self._unexplained: np.ndarray | None = None
        self.force_dof: float | None = None
        self.kept: Kept | None = None
        self._held = [False] * len(problem.holds)  # of which the solver has no columns
        self.creeping, self.unevenness = False, 0.0
        self.leaning, self.guessed = 0.0, 0.0
        self.footholds: np.ndarray | None = None
        self._bounds: dict[str, tuple[float, float]] = {}
        for node, given in zip([*self.nodes, self.terminal], self.inputs):
            node.input = given
        self.us = list(us) if us is not None else [self._control(x) for x in self.xs[:-1]]
        self._arrival_data = arrival.createData()
        shooting = crocoddyl.ShootingProblem(
            self.xs[0],
            [arrival, *self.nodes],
            self.terminal,
            [self._arrival_data, *self.data],
            self.terminal.createData(),
        )
        self._shooting = shooting
        self.solver = _core.SolverMultipleShooting(shooting)
        options = problem.config.estimator
        self.solver.threads = options.threads
        self.solver.interruption = problem.interruption
        self.solver.rollout = getattr(_core.Rollout, options.rollout)
        self.solver.method = getattr(_core.ParameterMethod, options.elimination)
        # dry friction of light, unloaded joints leaves a gap at the head that no iteration closes
        idle = idle_rows(problem.robot) if problem.floating else []
        self.solver.left_open = [*idle, *(problem.nv + i for i in idle)]

    def _control(self, x: np.ndarray) -> np.ndarray:
        """Control without disturbance: zeros; in the inverse form, constant velocity."""
        u = np.zeros(self.problem.nu)
        if self.problem.config.estimator.form == "inverse":
            u[: self.problem.nv] = self.problem.layout.v(x)
        return u

    def _hold(self) -> None:
        """Tell the solver which joint parameters and mounts are held at their values.

        The arrival cost always contains all of them, so that marginalized nodes keep informing
        held ones. A released parameter changes with the next solution.
        """
        problem = self.problem
        held = [hold.held for hold in problem.holds]
        if self._held == held:
            return
        self._held = held
        names = [name for hold in problem.holds if hold.held for name in hold.names]
        rows = [problem.layout.parameter_rows(name) for name in names]
        self.solver.hold([i for part in rows for i in range(part.start, part.stop)])

    def shift(self, given: "_core.NodeInput", stamp: int, noise: np.ndarray) -> None:
        """Marginalize the oldest node into the arrival cost; append a head without disturbance.

        Args:
            given: input of the new head. The input of the former head must be complete.
            stamp: time of the new head [ns].
            noise: (ndx, k) square root of the parameters' process noise over one step.
        """
        self.arrival.marginalize(
            self.nodes[0], self.data[0], self.xs[0], self.us[0], self.xs[1], noise
        )
        self.place.leave(self.arrival, self.xs[0], self.xs[1])
        self.solver.rotate()
        for entries in (self.nodes, self.data):
            entries.append(entries.pop(0))
        last, data = self.nodes[-1], self.data[-1]
        last.input = self.inputs[-1]
        self.terminal.input = given
        u, v = self._control(self.xs[-1]), self.problem.layout.v
        # prediction: constant acceleration, and feet that carry what they carried
        before = self.data[-2] if self.size > 1 else None
        last.expect_velocity(data, 2.0 * v(self.xs[-1]) - v(self.xs[-2]), before)
        last.calc(data, self.xs[-1], u)
        self.look_anew()
        for entries, new in (
            (self.inputs, given),
            (self.stamps, stamp),
            (self.xs, np.array(data.xnext)),
            (self.us, u),
        ):
            entries.pop(0)
            entries.append(new)

    def solve(self, iterations: int) -> bool:
        """At most `iterations` Gauss-Newton steps, then new robust weights; True if converged."""
        self._hold()
        self.solver.reach = 0.0
        converged = self.solver.solve(*self._iterate(), iterations)
        self.solver.reweight(*self._tails())
        self._take_iterate()
        return converged

    def improve(self, iterations: int) -> None:
        """At most `iterations` Gauss-Newton steps, with new robust weights after each.

        Iterations end early when the quadratic model predicted the change of the cost, no gap is
        left, and the weights hardly changed. A node that has hardly moved keeps its derivatives.
        """
        self._hold()
        self.solver.reach = SOLVER.reach
        self.solver.settled = SOLVER.settled * self.problem.nv
        iterate = np.array(self.xs), np.array(self.us)
        xs, us = self.solver.improve(*iterate, iterations, *self._tails())
        self.look_anew()
        self.xs, self.us = list(xs.reshape(self.size + 1, -1)), list(us.reshape(self.size, -1))

    def bound_inertia(self) -> None:
        """Bound the steps of theta in each iteration.

        A long step leads to where the logarithms of an inertia explain anything: a trunk of 6e9
        kg m^2 stays as it is whatever the feet do, and no later step comes back from there.
        """
        problem = self.problem
        theta = np.arange(problem.np) < problem.dynamics.ntheta
        self.solver.largest_step = np.where(theta, LARGEST_STEP, np.inf)

    def strain(self) -> float:
        """Root mean square of `L^-1 (u - m)`, the whitened change of first state and parameters.

        Below 1 if the window agrees with its prior.
        """
        return self.arrival.strain(self.xs[0])

    def _iterate(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """States and controls of the Crocoddyl problem, arrival node first."""
        return [self.xs[0], *self.xs], [self.arrival.correction(self.xs[0]), *self.us]

    def _take_iterate(self) -> None:
        self.look_anew()
        self.xs = self.solver.states()[1:]
        self.us = self.solver.controls()[1:]

    def look_anew(self) -> None:
        """Discard results cached since the last evaluation of the nodes."""
        self._legs.clear()
        self._carried = self._unexplained = None

    def _tails(self) -> tuple[float, float, float]:
        """Student-t degrees of freedom of contact disturbances, unmodelled forces, readings."""
        noise = self.problem.config.noise
        force_dof = noise.force_dof if self.force_dof is None else self.force_dof
        return noise.contact_dof, force_dof, noise.reading_dof

    def set_parameter(self, name: str, value: np.ndarray) -> None:
        """Set a parameter block in all nodes."""
        for x in self.xs:
            self.problem.parameter(x, name)[:] = value

    def tie(
        self,
        name: str,
        elements: list[int],
        rows: np.ndarray,
        value: np.ndarray,
        stddev: np.ndarray,
    ) -> None:
        """Replace the prior of some elements of a parameter block, and set them to its mean.

            p = value + rows dx + n,   n ~ N(0, stddev^2)

        Args:
            name: parameter block.
            elements: n indices within it.
            rows: (n, ndx) dependence on the other variables; dx from the present estimate.
            value: (n,) mean at the present estimate.
            stddev: (n,) standard deviation of the independent part, above 0.

        Raises:
            ValueError: it is not above 0.
        """
        problem, reference = self.problem, self.arrival.reference
        first = int(problem.columns(name).start)
        change = value - problem.parameter(reference, name)[elements]
        change = change - rows @ problem.state.diff(reference, self.xs[0])
        columns = [first + int(i) for i in elements]
        self.arrival.replace_prior(columns, rows, stddev, change)
        block = problem.parameter(self.xs[0], name).copy()
        block[elements] = value
        self.set_parameter(name, block)

    def set_kappa(self, kappa: float) -> None:
        """Set the sharpness of the contact law in all nodes."""
        for given in self.inputs:
            law = given.law
            law.kappa = kappa
            given.law = law

    def direction(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Full Gauss-Newton step, not taken: tangents of the states xs and of the controls us."""
        self._hold()
        dxs, dus = self.solver.direction(*self._iterate())
        self.look_anew()
        return dxs[1:], dus[1:]

    def bound(self, name: str, least: float, most: float) -> None:
        """Bound the first element of a parameter block from now on."""
        if self._bounds.get(name) != (least, most):
            self._bounds[name] = least, most
            self.solver.set_bound(self.problem.layout.parameter_rows(name).start, least, most)

    def motion(self, k: int = -1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Configuration, velocity and acceleration of the robot's model at running node k."""
        layout, (before, after) = self.problem.layout, (self.xs[:-1][k], self.xs[1:][k])
        v = layout.v(before)
        return layout.q(before), v, (layout.v(after) - v) / self.problem.dt

    def torque(self, k: int = -1) -> np.ndarray:
        """(nj,) torques [Nm] in the step of running node k, corrected for the readings' delay."""
        given = self.inputs[:-1][k]
        return given.torque + self.problem.torque_delay * given.torque_change

    def motor_torque(self, k: int = -1) -> np.ndarray:
        """(nj,) torques [Nm] of the motors in the step of running node k, as the window knows them.

        `exp(-g) (reading - o) + w`: without gain g and offset o of the readings, where they are
        estimated, and with what the dynamics need beside.
        """
        torque, problem, x = self.torque(k), self.problem, self.xs[-1]
        blocks = (b for b in problem.joints if b.name in (GAINS, OFFSETS))
        known = {b.name: b.per_joint(problem.parameter(x, b.name)) for b in blocks}
        torque = np.exp(-known.get(GAINS, 0.0)) * (torque - known.get(OFFSETS, 0.0))
        return torque + self.unexplained()[k][-problem.nj :]

    @property
    def told(self) -> int:
        """Newest running node whose torques have been read: -1, or -2 if readings are late."""
        return -2 if self.problem.torques_late and self.size > 1 else -1

    def legs(self, k: int = -1) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Soles [m], their rates [m/s], normal forces [N], upward force needed at running node k.

        From the legs alone, by `LegForces.evaluate`; where a stop may hold a joint, with the torque
        that the window lets it take off. Read-only.
        """
        if k not in self._legs:
            motion, torque = self.motion(k), self.torque(k)
            position = self.problem.robot.positions(motion[0])
            held = self.problem.process.stops.holding(position, torque, motion[1][-position.size :])
            if np.count_nonzero(held):
                torque = torque + held * self.unexplained()[k][-self.problem.nj :]
            self._legs[k] = self.problem.legs.evaluate(*motion, torque)
        return self._legs[k]

    def up(self) -> np.ndarray:
        """(3,) vertical of the world in base axes, at the head."""
        return vertical(self.xs[-1][3:7])

    def weighed(self, k: int = -1) -> bool:
        """Whether there is a running node k, negative: from the newest, with all its torques."""
        return self.size >= -k and bool(self.inputs[k if k >= 0 else k - 1].weighed)

    @property
    def unweighed(self) -> float:
        """Share of the running nodes that lack torques."""
        return sum(not given.weighed for given in self.inputs[:-1]) / max(self.size, 1)

    def unexplained(self, nodes: slice = slice(None)) -> np.ndarray:
        """(n, nv) generalized forces w [N, Nm] that the dynamics need in addition to the torques.

        One row per running node; forces on the base are in base axes. The first nv rows of a node's
        residual are w times its robust weight `weight_force`, which is divided out here. Read-only.
        """
        if self._unexplained is None:
            # eigenpy makes a vector of a matrix with one column: that of a single joint
            self._unexplained = self.solver.unexplained().reshape(self.size, self.problem.nv)
        return self._unexplained[nodes]

    def slack(self, us: list[np.ndarray]) -> np.ndarray:
        """(N, nf) largest disturbance of each foot in controls us, in standard deviations."""
        return self.solver.slack(us).reshape(len(us), self.problem.dynamics.nfeet)

    def foot_forces(self, k: int = -1) -> np.ndarray:
        """(nf,) vertical forces [N] at the feet at the last evaluation of node k. Read-only."""
        if self._carried is None:
            feet = self.problem.dynamics.nfeet
            self._carried = self.solver.foot_forces().reshape(self.size, feet)
        return self._carried[k]

    def posterior(self, last: int | None = None) -> None:
        """Compute the covariances that `head_covariance`, `forces` and `errors` return.

        Args:
            last: last running node for which they are computed; None: all nodes and the head.
        """
        if last is None:
            self.solver.compute_posterior()
        else:
            self.solver.compute_posterior(last + 1)

    def errors(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Whitened residuals r of running node k, expected squared errors, redundancy; each (nr,).

        Call `posterior` first. Expected squares are `E e^2 = r^2 + diag(H P H^T)` over the
        posterior, 1 on average if the noise level is right. Redundancy is `1 - diag(H P H^T)`: 1 if
        the other data determine the row, 0 if only its own reading does, or it is not in use.
        """
        spread = self.solver.residual_variance(k + 1)
        seen = np.where(spread > 0.0, np.clip(1.0 - spread, 0.0, 1.0), 0.0)
        r = np.array(self.data[k].r)
        return r, r**2 + spread, seen

    def reading(self, k: int, name: str, slot: int = 0) -> np.ndarray | None:
        """Error of a reading of running node k, in standard deviations; None: there is none.

        Without the robust weight that the residuals of `errors` have; 0 of an axis that is dead.
        """
        given, rows = self.inputs[k], self.problem.measurements.rows[name][slot]
        if not given.present(name, slot):
            return None
        weight = given.weight(name, slot)
        error = self.data[k].r[rows] * given.nominal(name, slot)
        return np.divide(error, weight, out=np.zeros(len(error)), where=weight > 0.0)

    def head_covariance(self) -> np.ndarray:
        """(ndx, ndx) posterior covariance of the head's tangent. Call `posterior` first."""
        covariance, theta = self.solver.posterior(self.size + 1), self.problem.columns("theta")
        return self._with_kept(covariance, theta)

    def _with_kept(self, covariance: np.ndarray, theta: slice) -> np.ndarray:
        """Add the covariance of the inertia that is kept outside of the window (columns theta)."""
        if self.kept is None:
            return covariance
        wider = covariance.copy()
        wider[theta, theta] += self.kept.covariance
        return wider

    def forces(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Contact forces (3 nc) [N, world axes] of running node k, and their covariance.

        Call `posterior` first.
        """
        force, by_z = self.nodes[k].contact_forces(self.data[k])
        covariance = self.solver.covariance_of(k + 1, by_z)
        return force, covariance + self.nodes[k].unmodelled_covariance(self.data[k])

    def newest(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Covariances and contacts of the newest node, without the posterior of all nodes.

        Args:
            rows: Jacobian (n, ndx) of the wanted quantities in the tangent of the head.

        Returns:
            Covariance (n, n) of these quantities and (np, np) of the parameters; then, at the
            newest running node and in world axes: contact points (nc, 3) [m], forces (3 nc) [N],
            their covariance, and velocities (3 nc) [m/s] of the points.
        """
        of_rows, parameters, points, *forces = self.solver.newest(rows)
        theta = self.problem.layout.parameter_rows("theta")
        # eigenpy makes vectors of a single point, and of the covariance of a single parameter
        parameters = parameters.reshape(self.problem.np, self.problem.np)
        return of_rows, self._with_kept(parameters, theta), points.reshape(-1, 3), *forces
