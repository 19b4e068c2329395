# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Tables of friction: what of it the model lacks, and what that does to the other parameters."""

from __future__ import annotations

FRICTION_TRUTH = replace(
    f.TABLE_5, dry=(0.003, 0.0006), stribeck=(0.003, 0.0006), stribeck_velocity=1.0
)
MODELS = {
    "viscous": ("viscous",),
    "dry": ("viscous", "dry"),
    "Stribeck": ("viscous", "dry", "stribeck", "stribeck_velocity"),
}


def friction_boxes(joints: tuple[str, ...], model: str) -> dict[str, tuple[float, float]]:
    """Boxes of the friction of a model."""
    wide = {"stribeck_velocity": (0.05, 10.0)}
    return {f"{j}.{kind}": wide.get(kind, WIDE) for j in joints for kind in MODELS[model]}


def mismodelled() -> str:
    """Furuta pendulum with Stribeck friction, estimated with less of a model."""
    recording = release(FRICTION_TRUTH)
    rows = []
    for model in MODELS:
        box = boxes(("A.Izz", "B.Ixx")) | friction_boxes((f.ARM, f.ROD), model)
        start = {n: START[n] for n in RELEASED} | dict.fromkeys(
            [n for n in box if n.endswith(("dry", "stribeck"))], 1e-4
        )
        start |= {n: 0.5 for n in box if n.endswith("stribeck_velocity")}
        weights = ratio_weights(KAPPA, STEP, 2)
        found = estimate(Machine(f.furuta()), [recording], box, weights, STEP, start)
        for name in ("A.Izz", "B.Ixx"):
            value, stddev = found.parameters[name], found.stddev[name]
            white = deviations(found, TRUE | dict.fromkeys(found.boxes, 0.0) | TRUE, "white")[name]
            percent = 100.0 * (value / TRUE[name] - 1.0)
            own = (value - TRUE[name]) / stddev
            rows.append([model, name, f"{percent:+.2f}", f"{white:+.1f}", f"{own:+.1f}"])
    head = ["friction modelled", "parameter", "error [%]", "as in the paper [sd]", "here [sd]"]
    return table(head, rows)


def pendulum_runs() -> list[JointRecording]:
    """Five releases of a pendulum with Stribeck friction, encoder of 4096 pulses."""
    truth = f.Truth((2e-4,), dry=(0.0055,), stribeck=(0.004,), stribeck_velocity=2.0)
    runs = []
    for seed, angle in enumerate((3.10, 3.05, 3.0, 2.95, 2.9)):
        run = f.simulate(f.pendulum(), truth, 12.0, (angle,), noise=0.0, seed=seed)
        steps = np.round(run.position / f.ENCODER) * f.ENCODER
        runs.append(JointRecording(run.time, steps, run.torque))
    return runs


def pendulum() -> str:
    """Tables 2 and 3: costs, cross-validation, spread of the inertia, for three models."""
    runs, machine, weights = pendulum_runs(), Machine(f.pendulum()), ratio_weights(KAPPA, STEP, 1)
    rows, before = [], None
    true = 0.0039 + f.MASS_B * f.L2**2
    for model in MODELS:
        box = {"B.Iyy": WIDE} | friction_boxes((f.ROD,), model)
        start = {n: 1e-4 for n in box} | {"B.Iyy": 0.01 + B, "hinge2.stribeck_velocity": 0.5}
        found = [estimate(machine, [run], box, weights, STEP, start) for run in runs]
        cost = np.mean([e.cost for e in found])
        others = [
            validate(e, [run]).cost
            for i, e in enumerate(found)
            for k, run in enumerate(runs)
            if k != i
        ]
        inertia = np.array([e.parameters["B.Iyy"] for e in found])
        spread = 100.0 * (inertia.max() - inertia.min()) / inertia.mean()
        ratio = "" if before is None else f"{cost / before:.2f}"
        error = 100.0 * (inertia.mean() / true - 1.0)
        rows.append([model, f"{cost:.3g}", f"{np.mean(others):.3g}", ratio])
        rows[-1] += [f"{error:+.2f}", f"{spread:.2f}"]
        before = cost
    head = ["friction", "cost", "cross-validation", "cost ratio", "inertia, mean error [%]"]
    return table([*head, "spread over five runs [%]"], rows)


