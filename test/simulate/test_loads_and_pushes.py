# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Pushes, sliding loads and loads that come and go: the momentum of the robot accounts for them."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest

from prime_estimation.evaluation.inertia import payload_changes, true_parameters
from prime_estimation.io.bag import BagReader
from prime_estimation.io.messages import stamp_ns
from prime_estimation.robot import GRAVITY
from prime_estimation.simulate import Payload, Push, run, simulate
from prime_estimation.simulate.push import force_at

PUSHES = (Push((-25.0, 10.0, 0.0), 0.1, 0.2), Push((0.0, 60.0, 5.0), 0.25, 0.1))
SLIDING = Payload(2.5, (0.03, 0.0, 0.09), stiffness=260.0, damping=5.0)


def test_pushes_add_up():
    assert force_at(PUSHES, 0.0).tolist() == [0.0, 0.0, 0.0]
    assert force_at(PUSHES, 0.2).tolist() == [-25.0, 10.0, 0.0]
    assert force_at(PUSHES, 0.27).tolist() == [-25.0, 70.0, 5.0]


def test_the_equation_of_motion_holds_while_pushed():
    recording = simulate("go2", "sway", 0.5, pushes=PUSHES, start=1.0, seed=2)
    model = recording.robot.model.copy()
    model.armature[:] = 0.0
    data = model.createData()
    for k in range(0, len(recording.t), 7):
        q, v, a = recording.q[k], recording.v[k], recording.a[k]
        rate = pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a).linear
        forces = recording.contact_force[k].sum(axis=0) + recording.external[k, :3]
        weight = np.array([0.0, 0.0, -GRAVITY * recording.robot.total_mass])
        np.testing.assert_allclose(rate, forces + weight, atol=1e-3)
        np.testing.assert_allclose(recording.external[k, 3:], 0.0, atol=0.02)
        np.testing.assert_allclose(
            recording.external[k, :3], force_at(PUSHES, recording.t[k]), atol=1e-12
        )


@pytest.fixture(scope="module")
def sliding(tmp_path_factory):
    """A Go2 that sways with a load on springs, on disk: (folder, truth)."""
    out = tmp_path_factory.mktemp("runs") / "sliding"
    run("go2", "sway", 1.0, out, payload=SLIDING, pushes=PUSHES, seed=3, start=1.0)
    return out, json.loads(out.with_name("sliding.json").read_text())


def test_a_sliding_load_moves_and_is_carried(sliding):
    recording = simulate("go2", "sway", 1.0, SLIDING, seed=3, start=1.0)
    assert recording.load_shift.std(axis=0).max() > 1e-4
    weight = GRAVITY * (recording.robot.total_mass + 2.5)
    assert recording.contact_force[:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.03)
    assert recording.q.shape[1] == recording.robot.model.nq  # its joints are not the robot's


def test_the_truth_has_a_sliding_load_at_its_mean_place(sliding):
    _, truth = sliding
    moves = truth["payload"]["moves"]
    loaded, bare = (truth[f"bodies_{kind}"]["base"] for kind in ("true", "nominal"))
    assert loaded["mass"] - bare["mass"] == pytest.approx(2.5)
    lever = np.array(loaded["com"]) * loaded["mass"] - np.array(bare["com"]) * bare["mass"]
    place = np.array([0.03, 0.0, 0.09]) + [*moves["mean_m"], 0.0]
    np.testing.assert_allclose(lever / 2.5, place, atol=1e-9)


def test_the_bag_has_the_external_wrench(sliding):
    out, truth = sliding
    with BagReader(out) as bag:
        rows = [
            (stamp_ns(m.header) - bag.start_ns, m.wrench.force.y, m.wrench.torque.z)
            for _, _, m in bag.messages(["/ground_truth/external_wrench"])
        ]
    t, y, moment = np.array(rows).T
    assert len(t) == 250 and set(np.diff(t)) == {4_000_000.0} and t[0] == 2_000_000.0
    assert y[(t > 0.11e9) & (t < 0.24e9)] == pytest.approx(10.0)
    assert y[t > 0.36e9] == pytest.approx(0.0) and np.abs(moment).max() < 0.05
    assert truth["external"][0] == {"t": 0.1, "duration": 0.2, "force": [-25.0, 10.0, 0.0]}


@pytest.mark.parametrize("on, off, masses", [(0.1, 0.2, [0, 4, 0]), (0.2, 0.1, [4, 0, 4])])
def test_a_load_that_comes_and_goes(tmp_path, on, off, masses):
    out = run("go2", "stand", 0.3, tmp_path / "cycle", payload=Payload(4.0, t_on=on, t_off=off))
    truth = json.loads(out.with_name("cycle.json").read_text())
    assert payload_changes(truth) == [0.1, 0.2]
    nominal = truth["bodies_nominal"]["base"]["mass"]
    found = [true_parameters(truth, "base", t)[0] - nominal for t in (0.05, 0.15, 0.25)]
    assert found == pytest.approx(masses)
