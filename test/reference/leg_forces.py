# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Readable twin of the C++ leg forces, on Pinocchio's Python functions."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from prime_estimation.contact.leg_forces import STRETCHED
from prime_estimation.joint_friction import joint_losses


def evaluate(robot, q, v, a, torque):
    """Soles (nf, 3), their velocities (nf, 3), normal forces (nf,), upward force by the mass.

    As `LegForces.evaluate`.
    """
    model, data = robot.model, robot.model.createData()
    tau = pin.rnea(model, data, q, v, a)
    tau[-robot.nj :] += joint_losses(robot, v[-robot.nj :]) - torque
    pin.computeJointJacobians(model, data, q)
    pin.framesForwardKinematics(model, data, q)
    pin.centerOfMass(model, data, q, v, a)
    felt = data.acom[0][2] - model.gravity.linear[2]
    soles, rates, normal = [], [], []
    for foot in robot.feet:
        spheres = [c for c in robot.contacts if c.foot == foot]
        frame = model.getFrameId(spheres[0].frame)
        bottoms = [
            data.oMf[frame].act(np.array(c.position, float)) - [0.0, 0.0, c.radius] for c in spheres
        ]
        sole = min(bottoms, key=lambda point: point[2])
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        J[:3] -= pin.skew(sole - data.oMf[frame].translation) @ J[3:]
        leg = [
            model.joints[j].idx_v
            for j in model.supports[model.frames[frame].parentJoint]
            if j in robot.joint_ids
        ]
        rows = 3 if len(spheres) == 1 else 6
        wrench = (
            np.linalg.pinv(J[:rows, leg].T, rcond=STRETCHED) @ tau[leg]
            if np.isfinite(tau[leg]).all()
            else np.full(rows, np.nan)
        )
        soles.append(sole)
        rates.append(J[:3] @ v)
        normal.append(wrench[2])
    return np.array(soles), np.array(rates), np.array(normal), felt
