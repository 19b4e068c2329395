# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Tables of friction: what of it the model lacks, and what that does to the other parameters."""

from __future__ import annotations

from dataclasses import replace

import furuta as f
import numpy as np
from joint_parameters_problems import (
    KAPPA,
    RELEASED,
    START,
    STEP,
    TRUE,
    WIDE,
    B,
    boxes,
    ratio_weights,
    release,
)
from tables import table

from prime_estimation.fixed_base import Estimate, JointRecording, Machine, estimate, validate

MODELS = {
    "viscous": ("viscous",),
    "dry": ("viscous", "dry"),
    "Stribeck": ("viscous", "dry", "stribeck", "stribeck_velocity"),
}
STUCK = replace(f.TABLE_5, dry=(0.003, 0.0006), stribeck=(0.003, 0.0006), stribeck_velocity=1.0)
ROD = f.Truth((2e-4,), dry=(0.0055,), stribeck=(0.004,), stribeck_velocity=2.0)
DRAWS = 20  # of the sensors' noise
WITHIN = 1.96  # standard deviations: 95 %
ANGLES = (3.10, 3.05, 3.0, 2.95, 2.9)  # rad, of the five releases

COVERAGE = f"""Released Furuta pendulums whose hinges have viscous or Stribeck friction, estimated
with a model of friction that may lack some of it. Share of 95 % intervals of J_A,zz and J_B,yy
that contain the truth, {DRAWS} draws of the noise. Where the dynamics are trusted (large state
error weight) a model that lacks friction makes the paper's intervals wrong.
"""
PENDULUM = """A pendulum with Stribeck friction and an encoder of 4096 pulses, released five times.
Cost per node in variances of the encoder; spread of the inertia over the five estimates in
percent and in standard deviations (the paper, on its own pendulum: 0.8 %, 10 deviations, cost
ratios 0.77 and 0.80).
"""


def friction_boxes(joints: tuple[str, ...], model: str) -> dict[str, tuple[float, float]]:
    """Boxes of the friction of a model."""
    wide = {"stribeck_velocity": (0.05, 10.0)}
    return {f"{j}.{kind}": wide.get(kind, WIDE) for j in joints for kind in MODELS[model]}


def beginnings(box: dict[str, tuple[float, float]]) -> dict[str, float]:
    """Start values: Table 1, friction 1e-4, Stribeck velocity 0.5 rad/s."""
    kinds = {"stribeck_velocity": 0.5}
    return {name: START.get(name, kinds.get(name.split(".")[-1], 1e-4)) for name in box}


def white(found: Estimate) -> np.ndarray:
    """Standard deviations as in the paper."""
    return found.posterior.deviations("white")


def mismodelled() -> str:
    """Intervals of the inertias of released Furuta pendulums, noise drawn anew."""
    rows = []
    for name, truth in {"viscous": f.TABLE_5, "Stribeck": STUCK}.items():
        clean = release(truth, noise=0.0)
        for model in MODELS if name == "Stribeck" else ["viscous"]:
            for kappa in (100.0 * KAPPA, 1e4 * KAPPA):
                rows.append([name, model, f"{kappa:g}", *_coverage(clean, model, kappa)])
    head = ["friction", "modelled", "state error weight", "worst mean error [%]"]
    return (
        COVERAGE + "\n" + table([*head, "intervals right, as in the paper [%]", "here [%]"], rows)
    )


def _coverage(clean: JointRecording, model: str, kappa: float) -> list[str]:
    box = boxes(("A.Izz", "B.Ixx")) | friction_boxes((f.ARM, f.ROD), model)
    machine, weights = Machine(f.furuta()), ratio_weights(kappa, STEP, 2)
    true = np.array([TRUE[n] for n in RELEASED[:2]])
    errors, stated, paper = [], [], []
    for seed in range(DRAWS):
        noise = np.random.default_rng(seed).normal(0.0, f.NOISE, clean.position.shape)
        run = replace(clean, position=clean.position + noise)
        found = estimate(machine, [run], box, weights, STEP, beginnings(box))
        errors.append(np.array(list(found.parameters.values()))[:2] - true)
        stated.append(found.posterior.stddev[:2])
        paper.append(white(found)[:2])
    size = np.abs(errors)
    right = [100.0 * np.mean(size < WITHIN * np.array(sd)) for sd in (paper, stated)]
    worst = 100.0 * np.max(np.abs(np.mean(errors, axis=0)) / true)
    return [f"{worst:.2f}", *(f"{r:.0f}" for r in right)]


def pendulum_runs() -> list[JointRecording]:
    """Five releases of a pendulum with Stribeck friction, encoder of 4096 pulses."""
    runs = []
    for angle in ANGLES:
        run = f.simulate(f.pendulum(), ROD, 12.0, (angle,), noise=0.0)
        pulses = np.round(run.position / f.ENCODER) * f.ENCODER
        runs.append(JointRecording(run.time, pulses, run.torque))
    return runs


def pendulum() -> str:
    """Tables 2 and 3: costs, cross-validation, spread of the inertia, for three models."""
    runs, true, rows = pendulum_runs(), 0.0039 + B, []
    for kappa in (KAPPA, 1e4 * KAPPA):
        before = None
        for model in MODELS:
            found = [_fit(run, model, kappa) for run in runs]
            cost = np.mean([e.cost for e in found])
            pairs = [(e, run) for e in found for run in runs if run is not e.recordings[0]]
            others = np.mean([validate(e, [run]).cost for e, run in pairs])
            inertia = np.array([e.parameters["B.Iyy"] for e in found])
            apart = 100.0 * np.ptp(inertia) / inertia.mean()
            sds = [min(sd(e) for e in found) for sd in (_white_inertia, _stated_inertia)]
            ratio = "" if before is None else f"{cost / before:.2f}"
            error = 100.0 * (inertia.mean() / true - 1.0)
            rows.append([model, f"{kappa:g}", f"{cost:.3f}", f"{others:.3f}", ratio])
            rows[-1] += [f"{error:+.3f}", f"{apart:.3f}"]
            rows[-1] += [f"{np.ptp(inertia) / sd:.1f}" for sd in sds]
            before = cost
    head = ["friction", "state error weight", "cost", "cross-validation", "cost ratio"]
    head += ["inertia, mean error [%]", "spread over five runs [%]"]
    return PENDULUM + "\n" + table([*head, "as in the paper [sd]", "here [sd]"], rows)


def _fit(run: JointRecording, model: str, kappa: float) -> Estimate:
    box = {"B.Iyy": WIDE} | friction_boxes((f.ROD,), model)
    start = beginnings(box) | {"B.Iyy": 0.01 + B}
    weights = ratio_weights(kappa, STEP, 1, f.ENCODER / np.sqrt(12.0))
    return estimate(Machine(f.pendulum()), [run], box, weights, STEP, start)


def _white_inertia(found: Estimate) -> float:
    return float(white(found)[0])


def _stated_inertia(found: Estimate) -> float:
    return float(found.posterior.stddev[0])
