# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What Crocoddyl's contact and impulse dynamics answer at random points: writes
crocoddyl_contacts.json.

    python crocoddyl_contacts.py

Stored because the wheel of Crocoddyl 3.2.1 is built against Pinocchio 4.0: beside 4.1 its contact
models read other memory than the frames of the model. Run where both fit (pip install
crocoddyl==3.2.1 pin==4.0.0); needs nothing of this project.
"""

from __future__ import annotations

import json
from pathlib import Path

import crocoddyl
import example_robot_data
import numpy as np
import pinocchio as pin

DT = 0.01
ARMATURE = 0.02
FEET = {
    "go2": [("FL_foot", False), ("FR_foot", False), ("RL_foot", False), ("RR_foot", False)],
    "g1": [("left_ankle_roll_link", True), ("right_ankle_roll_link", True)],
}
STANCES = {"go2": [(0, 1, 2, 3), (0, 3)], "g1": [(0, 1), (0,)]}
WORLD_ALIGNED = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def contact_dynamics(state, feet, held, q, v, tau, gain, damping):
    """Acceleration and contact forces (wrenches of flat feet)."""
    actuation = crocoddyl.ActuationModelFull(state)
    contacts = crocoddyl.ContactModelMultiple(state, actuation.nu)
    gains = np.array([0.0, gain])
    for foot in held:
        name, flat = feet[foot]
        kind, reference = (
            (crocoddyl.ContactModel6D, pin.SE3.Identity())
            if flat
            else (crocoddyl.ContactModel3D, np.zeros(3))
        )
        contacts.addContact(
            str(foot),
            kind(
                state,
                state.pinocchio.getFrameId(name),
                reference,
                WORLD_ALIGNED,
                actuation.nu,
                gains,
            ),
        )
    costs = crocoddyl.CostModelSum(state, actuation.nu)
    model = crocoddyl.DifferentialActionModelContactFwdDynamics(
        state, actuation, contacts, costs, damping, True
    )
    data = model.createData()
    model.calc(data, np.concatenate([q, v]), tau)
    return data.xout.tolist(), data.pinocchio.lambda_c.tolist()


def impulse_dynamics(state, feet, held, q, v, restitution, damping):
    """Velocity after the impact and impulses."""
    impulses = crocoddyl.ImpulseModelMultiple(state)
    for foot in held:
        name, flat = feet[foot]
        kind = crocoddyl.ImpulseModel6D if flat else crocoddyl.ImpulseModel3D
        impulses.addImpulse(str(foot), kind(state, state.pinocchio.getFrameId(name), WORLD_ALIGNED))
    costs = crocoddyl.CostModelSum(state, 0)
    model = crocoddyl.ActionModelImpulseFwdDynamics(
        state, impulses, costs, restitution, damping, True
    )
    data = model.createData()
    model.calc(data, np.concatenate([q, v]))
    return data.xnext[state.nq :].tolist(), data.pinocchio.impulse_c.tolist()


def main() -> None:
    rng, cases = np.random.default_rng(0), []
    for robot, feet in FEET.items():
        model = example_robot_data.load(robot).model
        model.armature[6:] = ARMATURE
        state = crocoddyl.StateMultibody(model)
        for held in STANCES[robot]:
            q = pin.integrate(model, pin.neutral(model), 0.4 * rng.normal(size=model.nv))
            v, tau = rng.normal(size=model.nv), 20.0 * rng.normal(size=model.nv)
            point = dict(robot=robot, held=list(held), q=q.tolist(), v=v.tolist(), tau=tau.tolist())
            for damping in (0.0, 1e-5):
                for share in (0.0, 0.4):
                    answer = contact_dynamics(state, feet, held, q, v, tau, share / DT, damping)
                    cases.append(
                        dict(
                            point,
                            kind="contact",
                            damping=damping,
                            share=share,
                            motion=answer[0],
                            force=answer[1],
                        )
                    )
                for restitution in (0.0, 0.3):
                    answer = impulse_dynamics(state, feet, held, q, v, restitution, damping)
                    cases.append(
                        dict(
                            point,
                            kind="impulse",
                            damping=damping,
                            share=restitution,
                            motion=answer[0],
                            force=answer[1],
                        )
                    )
    out = dict(
        crocoddyl=crocoddyl.__version__,
        pinocchio=pin.__version__,
        dt=DT,
        armature=ARMATURE,
        cases=cases,
    )
    Path(__file__).with_suffix(".json").write_text(
        json.dumps(out, indent=None).replace('{"robot"', '\n{"robot"') + "\n"
    )


if __name__ == "__main__":
    main()
