# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The sliding window: nodes, their smoothed states, the arrival cost in front of them.

All mathematics is in the C++ core.
"""

from __future__ import annotations

import crocoddyl
import numpy as np

from .. import _core
from ..config.policies import SOLVER
from ..contact.points import idle_rows
from ..sensors.imu import vertical
from .kept import Kept
from .place import Place
from .problem import Problem


class Window:
    """A fixed number N of running nodes behind an arrival node, warm-started from shift to shift.

    `xs[k]`, k = 0..N, are the smoothed states of the nodes (the last one is the head), `us[k]`
    their controls: disturbances (w, xi) in the forward form, (v+, xi) in the inverse form. The
    Crocoddyl problem has one node more in front: the arrival node, whose control is the correction
    of xs[0].

    Attributes:
        force_dof: degrees of freedom of the unmodelled forces' Student-t, other than the
            configured ones (infinite: their weights stay).
        creeping: some foot that carries load is bound to no plane: what it carries is uncertain.
        unevenness: of the ground under it: 0 on a floor, 1 where it is uneven, and its softness
            on top.
        place: keeps place and heading where nothing measures them.
        kept: knowledge of the inertia that is not in its arrival cost; None: there is none.

    Args:
        problem: models and noise.
        arrival: what is known of the first state and of the parameters.
        inputs: of the N running nodes and of the head.
        stamps: their times [ns].
        xs: N + 1 initial states.
        us: N initial controls; None: no disturbance.
        located: place and heading are measured.
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
        # dry friction of light joints that carry nothing leaves a gap at the head, whatever is done
        idle = idle_rows(problem.robot) if problem.floating else []
        self.solver.left_open = [*idle, *(problem.nv + i for i in idle)]

    def _control(self, x: np.ndarray) -> np.ndarray:
        """Control without disturbance: zeros, or a constant velocity in the inverse form."""
        u = np.zeros(self.problem.nu)
        if self.problem.config.estimator.form == "inverse":
            u[: self.problem.nv] = self.problem.layout.v(x)
        return u

    def _hold(self) -> None:
        """Solve for joint parameters and mounts, or leave them as they are while they are held.

        The arrival cost has them all the time: what leaves the window tells what they may be. Where
        that has changed, the next solution is the first that knows.
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
        """Forget the oldest node into the arrival cost; append a head without disturbance.

        Args:
            given: input of the new head. The dynamics part of the former head's input must be
                complete by now.
            stamp: its time [ns].
            noise: (ndx, k) root of the process noise of the parameters over one step.
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
        # on as fast as before, on feet that carry what they carried
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
        """At most so many Gauss-Newton steps, then new robust weights; True when converged."""
        self._hold()
        self.solver.reach = 0.0
        converged = self.solver.solve(*self._iterate(), iterations)
        self.solver.reweight(*self._tails())
        self._take_iterate()
        return converged

    def improve(self, iterations: int) -> None:
        """Take at most so many Gauss-Newton steps, each with the robust weights of the one before.

        A step is the last one where its quadratic model foresaw the change of the cost, it left no
        gap, and it hardly changed a weight. Nodes that have hardly moved since their derivatives
        were computed keep them.
        """
        self._hold()
        self.solver.reach = SOLVER.reach
        self.solver.settled = SOLVER.settled * self.problem.nv
        iterate = np.array(self.xs), np.array(self.us)
        xs, us = self.solver.improve(*iterate, iterations, *self._tails())
        self.look_anew()
        self.xs, self.us = list(xs.reshape(self.size + 1, -1)), list(us.reshape(self.size, -1))

    def strain(self) -> float:
        """Root mean square of the whitened correction of the first state and the parameters.

        `L^-1 (u - m)`: below 1 where the window fits what was known before it.
        """
        return self.arrival.strain(self.xs[0])

    def _iterate(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """States and controls of the problem, those of its arrival node in front."""
        return [self.xs[0], *self.xs], [self.arrival.correction(self.xs[0]), *self.us]

    def _take_iterate(self) -> None:
        self.look_anew()
        self.xs = self.solver.states()[1:]
        self.us = self.solver.controls()[1:]

    def look_anew(self) -> None:
        """Forget what has been asked of the nodes since they were evaluated last."""
        self._legs.clear()
        self._carried = self._unexplained = None

    def _tails(self) -> tuple[float, float, float]:
        """Degrees of freedom of contact disturbances, unmodelled forces, readings."""
        noise = self.problem.config.noise
        force_dof = noise.force_dof if self.force_dof is None else self.force_dof
        return noise.contact_dof, force_dof, noise.reading_dof

    def set_parameter(self, name: str, value: np.ndarray) -> None:
        """Value of a parameter block in all nodes."""
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
        """Give elements of a parameter block a new prior, and its mean as their value.

            p = value + rows dx + n

        Args:
            name: of the block.
            elements: n of it.
            rows: (n, ndx), how they go with the rest, dx from the present estimate.
            value: (n,) there.
            stddev: (n,) of what does not go with the rest.
        """
        problem, reference = self.problem, self.arrival.reference
        first = int(problem.columns(name).start)
        change = value - problem.parameter(reference, name)[elements]
        change = change - rows @ problem.state.diff(reference, self.xs[0])
        self.arrival.replace_prior([first + int(i) for i in elements], rows, stddev, change)
        block = problem.parameter(self.xs[0], name).copy()
        block[elements] = value
        self.set_parameter(name, block)

    def set_kappa(self, kappa: float) -> None:
        """Sharpness of the contact law in all nodes."""
        for given in self.inputs:
            law = given.law
            law.kappa = kappa
            given.law = law

    def direction(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The full step from here, not taken: tangents of the states xs, and of the controls us."""
        self._hold()
        dxs, dus = self.solver.direction(*self._iterate())
        self.look_anew()
        return dxs[1:], dus[1:]

    def bound(self, name: str, least: float, most: float) -> None:
        """Keep the first element of a parameter block between two values from now on."""
        if self._bounds.get(name) != (least, most):
            self._bounds[name] = least, most
            self.solver.set_bound(self.problem.layout.parameter_rows(name).start, least, most)

    def motion(self, k: int = -1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Configuration, velocity and acceleration of the robot's model at running node k."""
        layout, (before, after) = self.problem.layout, (self.xs[:-1][k], self.xs[1:][k])
        v = layout.v(before)
        return layout.q(before), v, (layout.v(after) - v) / self.problem.dt

    def torque(self, k: int = -1) -> np.ndarray:
        """(nj,) torques [Nm] that act in the step of running node k: readings come late."""
        given = self.inputs[:-1][k]
        return given.torque + self.problem.torque_delay * given.torque_change

    @property
    def told(self) -> int:
        """Running node, from the newest, of which the torques that act have been read: -1 or -2."""
        return -2 if self.problem.torques_late and self.size > 1 else -1

    def legs(self, k: int = -1) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Soles [m], their rates [m/s], normal forces [N], force felt at running node k.

        By the legs alone, as of `LegForces.evaluate`; not to be written to.
        """
        if k not in self._legs:
            self._legs[k] = self.problem.legs.evaluate(*self.motion(k), self.torque(k))
        return self._legs[k]

    def up(self) -> np.ndarray:
        """(3,) vertical of the world in the axes of the base, at the head."""
        return vertical(self.xs[-1][3:7])

    def weighed(self, k: int = -1) -> bool:
        """Whether there is a running node k, counted from the newest, with all its torques."""
        return self.size >= -k and bool(self.inputs[k - 1].weighed)

    def unexplained(self, nodes: slice = slice(None)) -> np.ndarray:
        """(n, nv) forces w [N, Nm] that the dynamics need beside the torques at the running nodes.

        Generalized ones, those on the base in its axes. The first nv rows of a node's residual are
        w times `weight_force`, the weight that outliers have by now; divided out here. Not to be
        written to.
        """
        if self._unexplained is None:
            self._unexplained = self.solver.unexplained()
        return self._unexplained[nodes]

    def slack(self, us: list[np.ndarray]) -> np.ndarray:
        """(N, nf) largest disturbance of each foot in controls, in standard deviations."""
        return self.solver.slack(us).reshape(len(us), self.problem.dynamics.nfeet)

    def foot_forces(self, k: int = -1) -> np.ndarray:
        """(nf,) vertical forces [N] at the feet at running node k, where it was evaluated last.

        Not to be written to.
        """
        if self._carried is None:
            feet = self.problem.dynamics.nfeet
            self._carried = self.solver.foot_forces().reshape(self.size, feet)
        return self._carried[k]

    def posterior(self, last: int | None = None) -> None:
        """Compute the covariances that `head_covariance`, `forces` and `errors` hand out.

        Args:
            last: running node up to which they are wanted; None: all of them, and the head.
        """
        if last is None:
            self.solver.compute_posterior()
        else:
            self.solver.compute_posterior(last + 1)

    def errors(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Whitened residuals r of running node k, expected squares (nr,), what is seen of them.

        `E e^2 = r^2 + diag(H P H^T)` over the posterior (after `posterior`): 1 where the noise has
        the level that it was given. Seen is `1 - diag(H P H^T)`: 1 where everything else is known,
        0 where the error could be anything, or its row is not in use.
        """
        spread = self.solver.residual_variance(k + 1)
        seen = np.where(spread > 0.0, np.clip(1.0 - spread, 0.0, 1.0), 0.0)
        r = np.array(self.data[k].r)
        return r, r**2 + spread, seen

    def head_covariance(self) -> np.ndarray:
        """(ndx, ndx) posterior covariance of the head's tangent (after `posterior`)."""
        covariance, theta = self.solver.posterior(self.size + 1), self.problem.columns("theta")
        return self._with_kept(covariance, theta)

    def _with_kept(self, covariance: np.ndarray, theta: slice) -> np.ndarray:
        """With what is known of the inertia beside the window, in columns theta."""
        if self.kept is None:
            return covariance
        wider = covariance.copy()
        wider[theta, theta] += self.kept.covariance
        return wider

    def forces(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Contact forces (3 nc) [N, world axes] of running node k, and their covariance.

        After `posterior`.
        """
        force, by_z = self.nodes[k].contact_forces(self.data[k])
        covariance = self.solver.covariance_of(k + 1, by_z)
        return force, covariance + self.nodes[k].unmodelled_covariance(self.data[k])

    def newest(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """The newest covariances and contacts, without the posterior of all nodes.

        Args:
            rows: Jacobian (n, ndx) of what is asked for in the tangent of the head.

        Returns:
            Covariances (n, n) of that and (np, np) of the parameters; at the newest running node,
            in world axes, contact points (nc, 3) [m], forces (3 nc) [N] with their covariance, and
            velocities (3 nc) [m/s] of the points.
        """
        of_rows, parameters, *contacts = self.solver.newest(rows)
        theta = self.problem.layout.parameter_rows("theta")
        return of_rows, self._with_kept(parameters, theta), *contacts
