# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Real machines of other laboratories: as good as what their builders publish.

Skipped where the recordings are not.
"""

from __future__ import annotations

import hopper_teststand
import joint_parameters_real
import pendulums
import pytest


def test_force_of_the_hopper_without_its_force_sensor(real):
    folder = real / "hopper_teststand_mim"
    data = hopper_teststand.recording(folder)
    result = hopper_teststand.compare(
        data, hopper_teststand.estimate(data, folder / "teststand.urdf")
    )
    assert result["converged"] and result["rmse_z_N"] < 1.3 and result["rmse_z_published_N"] > 1.9


def test_held_out_torque_of_a_double_pendulum(real):
    pytest.importorskip("cvxpy")
    pytest.importorskip("clarabel")
    result = pendulums.score(pendulums.machines(real)[2])
    assert result["ours"] < result["published, friction fitted"] < result["published"]


@pytest.mark.parametrize(
    ("machine", "torque"), [(0, 0.2), pytest.param(1, 0.08, marks=pytest.mark.slow)]
)
def test_held_out_torque_with_the_motion_estimated(real, machine, torque):
    """Better than least squares on filtered positions, also where the states come from these."""
    bench = joint_parameters_real.Bench.of(pendulums.machines(real)[machine])
    held_out = bench.held_out(joint_parameters_real.Setting(torque_time=0.0))
    assert held_out.torque < torque
    assert held_out.from_positions < joint_parameters_real.BEFORE[bench.name]
    assert held_out.position < 0.01
