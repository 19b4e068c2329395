# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of the C++ contact dynamics, on Pinocchio's Python functions."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from helpers.models import SOFTNESS_LAG, SOFTNESS_SHARE, SOFTNESS_WIDTH, slope_reach

from .contact_law import impulse
from .inertia import dynamic_parameters


class ReferenceDynamics:
    """g(v+) = M (v+ - v) + dt (nle + losses - force) - sum J_i^T lambda_i(J_i^middle v+) at a
    `models.Point` of a `Problem`."""

    def __init__(self, problem, point):
        self.problem, self.point = problem, point
        robot, dt = problem.robot, problem.dt
        self.model = robot.model.copy()
        for i, link in enumerate(robot.estimated_links):
            pi = dynamic_parameters(
                point.theta[10 * i : 10 * i + 10], problem.config.estimator.manifold
            )
            self.model.inertias[robot.link_joint(link)] = pin.Inertia.FromDynamicParameters(pi)
        data = self.model.createData()
        upper = np.triu(pin.crba(self.model, data, point.q))
        self.M = upper + np.triu(upper, 1).T
        self.free = self.M @ point.v + dt * (
            point.force - pin.nonLinearEffects(self.model, data, point.q, point.v)
        )
        self._softness = sum(0.5 * (point.softness + np.hypot(point.softness, SOFTNESS_WIDTH)))
        self.contacts = [self._contact(robot, c) for c in robot.contacts]

    def _normal(self, contact):
        """Upward normal of the ground under a contact's foot."""
        foot = self.problem.robot.feet.index(contact.foot)
        slope = self.point.slope[2 * foot : 2 * foot + 2]
        n = np.array([*(-slope if len(slope) else (0.0, 0.0)), 1.0])
        return n / np.linalg.norm(n)

    def _placed(self, q, contact):
        """Pose of the contact's frame, centre of the sphere, Jacobian of the frame, at q."""
        data = self.model.createData()
        pin.computeJointJacobians(self.model, data, q)
        pin.framesForwardKinematics(self.model, data, q)
        frame = self.model.getFrameId(contact.frame)
        J = pin.getFrameJacobian(self.model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        return data.oMf[frame], data.oMf[frame].act(np.array(contact.position)), J

    def _jacobian(self, q, contact, radius):
        """Of the material point that far under the centre of the sphere, at q."""
        pose, center, J = self._placed(q, contact)
        under = center - radius * self._normal(contact)
        return J[:3] - pin.skew(under - pose.translation) @ J[3:]

    def _gap(self, robot, contact, center):
        """Height of the sphere above the ground of its foot."""
        foot = robot.feet.index(contact.foot)
        above = center - [0.0, 0.0, self.point.height[foot]]
        if len(self.point.slope):
            above[:2] -= self.problem.dynamics.anchor[foot]
            above[:2] /= np.sqrt(
                1.0 + above[:2] @ above[:2] / slope_reach(robot, contact.foot) ** 2
            )
        return self._normal(contact) @ above - contact.radius

    def _from_middle(self, robot, contact):
        """Centre of a sphere from the middle of its foot's, in the foot's frame."""
        spheres = [np.array(c.position) for c in robot.contacts if c.foot == contact.foot]
        return np.array(contact.position) - np.mean(spheres, axis=0)

    def _contact(self, robot, contact):
        """Jacobians of impulse (start of the step) and velocity (its middle), constant part of the
        contact velocity, gap, normal of the ground."""
        pose, center, _ = self._placed(self.point.q, contact)
        foot, normal = robot.feet.index(contact.foot), self._normal(contact)
        gap = self._gap(robot, contact, center)
        # rolls about the middle of its penetration, as far as the ground gives way
        hard = self._corrected(self._softness) * np.exp(-self._softness)
        hardest = self._corrected(0.5 * SOFTNESS_WIDTH) * np.exp(-0.5 * SOFTNESS_WIDTH)
        soft = (1.0 - min(1.0, hard / hardest)) ** 2
        radius = contact.radius - soft * 0.5 * 0.5 * (np.hypot(gap, 3e-4) - gap)
        if not self.problem.config.estimator.rolling:
            radius = 0.0
        middle = pin.integrate(self.model, self.point.q, 0.5 * self.problem.dt * self.point.v)
        J = self._jacobian(self.point.q, contact, radius)
        J_middle = self._jacobian(middle, contact, radius)
        width, factor = 3e-4, self._corrected(self._softness)
        softened = (
            gap - (1.0 - factor) * 0.5 * (gap - np.hypot(gap, width)) - (1.0 - factor) * 0.5 * width
        )
        sizes = [6 if sum(c.foot == f for c in robot.contacts) > 1 else 3 for f in robot.feet]
        xi = self.point.xi[sum(sizes[:foot]) : sum(sizes[: foot + 1])]
        disturbance = xi[:3] + (
            np.cross(xi[3:], pose.rotation @ self._from_middle(robot, contact))
            if len(xi) == 6
            else 0.0
        )
        return J, J_middle, disturbance + softened / self.problem.dt * normal, gap, normal

    def _corrected(self, sigma):
        """Share of a penetration that a step corrects."""
        return 0.682 / np.sqrt(1.0 + SOFTNESS_LAG * np.expm1(2.0 * sigma))

    def law(self, c, normal):
        """Impulse at contact velocity c, whose normal part includes the gap's."""
        e, r = self.problem.config.estimator, self.problem.config.robot
        up = np.array([0.0, 0.0, 1.0])
        R = pin.Quaternion.FromTwoVectors(normal, up).toRotationMatrix()
        convex = e.cone == "convex"
        kappa = r.kappa * np.exp(-SOFTNESS_SHARE * self._softness)
        compliance = r.compliance * np.exp(self._softness)
        return R.T @ impulse(R @ c, self.point.friction, kappa, compliance, convex=convex)

    def impulses(self, vplus):
        """(3 nc) [N s]."""
        return (
            np.concatenate([self.law(J @ vplus + c0, n) for _, J, c0, _, n in self.contacts])
            if self.contacts
            else np.zeros(0)
        )

    def residual(self, vplus):
        """g(v+) [N s, Nm s]."""
        robot, nj = self.problem.robot, self.problem.nj
        g = self.M @ vplus - self.free
        rate = 0.5 * (self.point.v + vplus)[-nj:]
        g[-nj:] += self.problem.dt * (
            robot.joint_damping * rate + robot.joint_friction * rate / np.hypot(rate, 0.05)
        )
        for (J, *_), impulse_ in zip(self.contacts, self.impulses(vplus).reshape(-1, 3)):
            g -= J.T @ impulse_
        return g

    def solve(self, guess, iterations=50):
        """Plain Newton with a difference matrix from `guess`; the smallest residual it came to."""
        v, best = np.array(guess), (np.inf, None)
        for _ in range(iterations):
            g = self.residual(v)
            size = np.linalg.norm(g)
            if size < best[0]:
                best = (size, v)
            h = 1e-7
            A = np.array(
                [
                    (self.residual(v + h * e) - self.residual(v - h * e)) / (2.0 * h)
                    for e in np.eye(len(v))
                ]
            ).T
            step, t = np.linalg.solve(A, g), 1.0
            if np.linalg.norm(step) < 1e-13 * max(1.0, np.linalg.norm(v)):
                break
            while np.linalg.norm(self.residual(v - t * step)) > size and t > 1e-4:
                t *= 0.5
            v = v - t * step
        return best[1]
