# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""How far a pose that was seen is from a base that moves on, against a readable twin."""

import numpy as np
import pinocchio as pin

from prime_estimation import _core


def test_against_the_twin():
    rng = np.random.default_rng(1)
    for _ in range(20):
        base, seen, velocity = pin.SE3.Random(), pin.SE3.Random(), rng.normal(size=6)
        phi, age, stretch = 0.1 * rng.normal(size=3), 0.02 * rng.random(), 1.0 + rng.random()
        R, quaternion = base.rotation, stretch * pin.Quaternion(seen.rotation).coeffs()
        lever, then = rng.normal(size=3), R @ pin.exp3(-age * velocity[3:])
        psi, place = rng.normal(size=3), base.translation - age * R @ velocity[:3] + then @ lever
        world = pin.exp3(psi)
        body = world @ then @ pin.exp3(phi)
        expected = [*(world @ place - seen.translation), *pin.log3(seen.rotation.T @ body)]
        pose = pin.SE3ToXYZQUAT(base)
        error = _core.pose_error(pose, velocity, phi, lever, psi, age, seen.translation, quaternion)
        np.testing.assert_allclose(error, expected, rtol=0.0, atol=1e-9)
