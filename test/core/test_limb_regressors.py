# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Regressors of limbs against the torques of a robot whose last link carries something."""

import numpy as np
import pinocchio as pin
import pytest
from helpers import models

from prime_estimation import _core
from prime_estimation.config.parameters import Config
from prime_estimation.mhe.problem import Problem
from prime_estimation.monitors.limb_load import limbs


def test_torques_of_a_load_in_a_hand():
    config = Config.load("g1")
    robot = models.robot("g1")
    model, chains = robot.model, limbs(Problem(robot, config))
    rng = np.random.default_rng(2)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-0.7, 0.7, model.nv))
    v, a = rng.normal(size=(2, model.nv))
    regressors = _core.LimbRegressors(model, chains).evaluate(q, v, a)
    assert len(chains) == len(regressors) == 2
    for joints, Y in zip(chains, regressors):
        mass, place = 1.5, np.array([0.1, 0.02, -0.03])
        loaded = model.copy()
        loaded.inertias[joints[-1]] += pin.Inertia(mass, place, np.zeros((3, 3)))
        lacks = pin.rnea(loaded, loaded.createData(), q, v, a)
        lacks -= pin.rnea(model, model.createData(), q, v, a)
        # a point mass also turns about the link's origin: m |c|^2 is what Y leaves out
        turning = pin.Inertia(mass, place, np.zeros((3, 3))).toDynamicParameters()
        turning[:4] = 0.0
        full = pin.computeJointTorqueRegressor(model, model.createData(), q, v, a)
        columns = slice(10 * (joints[-1] - 1), 10 * joints[-1])
        rows = [model.joints[j].idx_v for j in joints]
        known = full[rows, columns] @ turning
        np.testing.assert_allclose(Y @ [mass, *mass * place] + known, lacks[rows], atol=1e-9)


def test_a_limb_has_joints_of_the_model():
    model = models.robot("g1").model
    with pytest.raises(ValueError, match="no joint 99"):
        _core.LimbRegressors(model, [[1, 99]])
    with pytest.raises(ValueError, match="has joints"):
        _core.LimbRegressors(model, [[]])
