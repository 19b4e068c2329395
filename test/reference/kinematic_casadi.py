# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The kinematic full-information problem written anew in CasADi, for IPOPT with exact Hessians.

The residuals are symbolic and share no code with the package; weights and data are taken from it.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

G = ca.DM([0.0, 0.0, -9.81])


def skew(v):
    """Cross product matrix."""
    return ca.vertcat(
        ca.horzcat(0, -v[2], v[1]), ca.horzcat(v[2], 0, -v[0]), ca.horzcat(-v[1], v[0], 0)
    )


def exp(w):
    """Rotation of a vector that is not zero."""
    angle = ca.sqrt(ca.dot(w, w) + 1e-20)
    W = skew(w)
    return ca.DM.eye(3) + ca.sin(angle) / angle * W + (1 - ca.cos(angle)) / angle**2 * W @ W


def sine(R):
    """Sine of the angle times the axis."""
    return 0.5 * ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])


def foot(robot, name, q, offset):
    """Place of a foot in the base by joint positions, and rotation of its link.

    The offset is that of a sphere, or of the ankle pitch of a foot of four of them.
    """
    model = robot.model
    spheres = [c for c in robot.contacts if c.foot == name]
    frame = model.frames[model.getFrameId(spheres[0].frame)]
    joints = [j for j in model.supports[frame.parentJoint] if j in robot.joint_ids]
    R, p = ca.DM.eye(3), ca.DM.zeros(3)
    for i, j in enumerate(joints):
        placement = model.jointPlacements[j]
        axis = ca.DM(np.eye(3)["XYZ".index(model.joints[j].shortname()[-1])])
        shift = offset if model.names[j].endswith("ankle_pitch_joint") else np.zeros(3)
        p = p + R @ ca.DM(placement.translation + shift)
        R = R @ ca.DM(placement.rotation) @ exp(axis * q[i])
    tip = frame.placement.act(sum(np.array(c.position) for c in spheres) / len(spheres))
    return p + R @ ca.DM(tip if len(spheres) == 4 else tip + offset), R, joints


def radius_of(robot, name):
    """Of the sphere that a foot rolls on; 0 of a sole of four."""
    spheres = [c for c in robot.contacts if c.foot == name]
    return spheres[0].radius if len(spheres) == 1 else 0.0


class Reference:
    """Problem on the first guess's tangents, offsets held.

    Args:
        robot, problem: those of the package.
        offsets: at which it is solved.
    """

    def __init__(self, robot, problem, offsets):
        self.robot, self.problem, self.offsets = robot, problem, offsets
        self.n, self.w = len(problem.recording), problem.origin.width
        d = ca.SX.sym("d", self.w, self.n)
        self.cost = 0
        self.states = [self._state(d[:, k], k) for k in range(self.n)]
        self._build()
        self.solver = ca.nlpsol(
            "reference",
            "ipopt",
            {"x": ca.vec(d), "f": self.cost},
            {"print_time": 0, "ipopt": {"print_level": 0, "tol": 1e-12, "sb": "yes"}},
        )

    def _state(self, d, k):
        x, feet = self.problem.origin, len(self.robot.feet)
        R = ca.DM(x.rotation[k]) @ exp(d[3:6])
        c = [ca.DM(x.feet[k, i]) + d[15 + 3 * i : 18 + 3 * i] for i in range(feet)]
        return ca.DM(x.position[k]) + d[:3], R, ca.DM(x.velocity[k]) + d[6:9], d[9:12], d[12:15], c

    def _add(self, name, row, residual):
        W = ca.DM(self.problem.information[name][row])
        self.cost += 0.5 * ca.bilin(W, residual, residual)

    def _build(self):
        problem, o = self.problem, self.offsets
        rec, pre, dt = problem.recording, problem.recording.imu, problem.recording.step
        C = ca.DM(o.imu_rotation)
        p, R, v, ba, bg, c = self.states[0]
        first = problem.origin
        start = ca.vertcat(
            p - ca.DM(first.position[0]),
            sine(ca.DM(first.rotation[0].T) @ R),
            v - ca.DM(first.velocity[0]),
            ba,
            bg,
        )
        self._add("start", 0, start)
        turning = [[None] * self.n for _ in self.robot.feet]
        for k in range(self.n):
            p, R, v, ba, bg, c = self.states[k]
            gyro = ca.DM(rec.gyro[k])
            for i, name in enumerate(self.robot.feet):
                r, turning[i][k] = self._leg(name, i, k, C, gyro)
                self._add(f"leg_{i}", k, r)
        for row, k in enumerate(rec.mocap.node):
            p, R = self.states[k][:2]
            turn = R @ C.T
            place = (
                p + turn @ ca.DM(o.mocap_position - o.imu_position) - ca.DM(rec.mocap.position[row])
            )
            rotation = ca.DM(rec.mocap.rotation[row].T) @ turn @ ca.DM(o.mocap_rotation)
            self._add("mocap", row, ca.vertcat(place, sine(rotation)))
        for k in range(self.n - 1):
            p, R, v, ba, bg, c = self.states[k]
            p1, R1, v1, ba1, bg1, c1 = self.states[k + 1]
            turned = ca.DM(pre.rotation[k]) @ exp(ca.DM(pre.rotation_gyro[k]) @ bg)
            dv = R.T @ (v1 - v - G * dt) - ca.DM(pre.velocity[k])
            dp = R.T @ (p1 - p - v * dt - 0.5 * G * dt**2) - ca.DM(pre.position[k])
            dv -= ca.DM(pre.velocity_accelerometer[k]) @ ba + ca.DM(pre.velocity_gyro[k]) @ bg
            dp -= ca.DM(pre.position_accelerometer[k]) @ ba + ca.DM(pre.position_gyro[k]) @ bg
            self._add("imu", k, ca.vertcat(sine(turned.T @ R.T @ R1), dv, dp))
            self._add("bias_walk", k, ca.vertcat(ba1 - ba, bg1 - bg))
            for i, name in enumerate(self.robot.feet):
                radius = radius_of(self.robot, name)
                mean = 0.5 * (turning[i][k] + turning[i][k + 1]) - bg
                rolled = radius * dt * ca.cross(R @ mean, ca.DM([0, 0, 1]))
                self._add(f"foothold_{i}", k, c1[i] - c[i] - rolled)

    def _leg(self, name, i, k, C, gyro):
        """Residual of a leg, and the turning of its link with the gyro's bias still in it."""
        rec, o = self.problem.recording, self.offsets
        p, R, v, _, bg, c = self.states[k]
        q = ca.SX.sym("q", len(self.problem.legs[i].joints))
        point, link, joints = foot(self.robot, name, q, o.feet[i])
        at = [self.robot.joint_ids.index(j) for j in joints]
        here, rate = ca.DM(rec.angle[k, at] - o.joints[at]), ca.DM(rec.rate[k, at])
        f = ca.Function(
            "f",
            [q],
            [
                point,
                ca.jtimes(point, q, rate),
                link,
                ca.reshape(ca.jtimes(ca.vec(link), q, rate), 3, 3),
            ],
        )
        y, speed, turn, change = f(here)
        W = change @ turn.T  # skew matrix of the angular velocity
        relative = C.T @ ca.vertcat(W[2, 1], W[0, 2], W[1, 0])
        y, speed = C.T @ (y - ca.DM(o.imu_position)), C.T @ speed
        radius = radius_of(self.robot, name)
        w = gyro - bg
        rolling = radius * ca.cross(w + relative, R.T @ ca.DM([0, 0, 1]))
        r = ca.vertcat(R.T @ (c[i] - p) - y, R.T @ v + speed + ca.cross(w, y) - rolling)
        turning = w + relative
        return (ca.vertcat(r, turning) if radius == 0.0 else r), gyro + relative

    def solve(self) -> tuple[np.ndarray, float]:
        """Tangents (n, w) from the first guess to the optimum, and its cost."""
        found = self.solver(x0=np.full(self.n * self.w, 1e-9))
        return np.array(found["x"]).reshape(self.n, self.w), float(found["f"])
