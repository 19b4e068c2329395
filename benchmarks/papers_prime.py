# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""PRIME's tables on recorded runs: contact models, sharpness of the law, identified payloads.

    python benchmarks/papers_prime.py [--part models kappa payloads] [--runs 'g1_*'] [--seconds 10]
    [--keep DIR] [--json]

Kang, Ren, Pang, Xiong, "PRIME: Physically-consistent Robotic Inertial and Motion Estimation for
Legged and Humanoid Robots" (2026).

- models: its comparison of contact models (supplement E), by `prime replay` with smoothed contacts
  (corrected and published cone) and rigid ones, with motion capture and without;
- kappa: its Fig. 11 and 12, full information with contact laws of different sharpness, from the
  sliding window's states and from the measured kinematics;
- payloads: its Tables I and II, by `prime identify`. Recorded runs where there are such, else
  `prime simulate`.

Its times are beside ours in speed.py. --keep: folder of the simulated runs, used again when it has
them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from ablation import Variant, online, row
from recordings import RUNS, table
from scores import batch_figures
from yardstick import find_runs

from prime_estimation import simulate
from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.estimator import Estimator
from prime_estimation.evaluation.inertia import true_parameters
from prime_estimation.evaluation.truth import load_truth
from prime_estimation.identify.full_information import smooth_forward
from prime_estimation.identify.single import STEP, identify_run
from prime_estimation.identify.solution import Solution, converge
from prime_estimation.identify.urdf import patch_urdf
from prime_estimation.mhe.batch_solution import HELD_ITERATIONS
from prime_estimation.mhe.initialization import start_window
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.window import Window
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot

# --- contact models -------------------------------------------------------------------------------

MODELS = [
    Variant("smoothed, corrected cone"),
    Variant("smoothed, published cone", {"estimator": {"cone": "convex"}}),
    Variant("rigid", {"estimator": {"contact_model": "rigid"}}),
]


def models(pattern: str, folder: Path) -> Iterator[dict]:
    """Each contact model on each recorded run that matches."""
    for bag, robot in find_runs(RUNS, pattern).values():
        for variant in MODELS:
            config = Config.load(robot).updated(variant.overlay)
            yield row(
                bag.name,
                "online",
                variant,
                lambda mocap: online(bag, bag, config, variant, mocap, folder),
            )


# --- sharpness of the law -------------------------------------------------------------------------

KAPPAS = (50, 100, 200, 500, 1000, 2000, 5000)
KAPPA_RUNS = {"go2_payload3": "go2", "g1_walk_payload29": "g1"}
LIMIT = 60  # iterations
CLOSED = 0.1  # largest gap of the dynamics of what counts as a solution [mixed SI]


def sharpness(end: float) -> Iterator[dict]:
    """Full information of the first `end` seconds for each kappa, from two guesses.

    What it costs, and how good it is.
    """
    for run, robot in KAPPA_RUNS.items():
        bag, base = RUNS / run, Config.load(robot)
        ms = measurements(bag, Robot(base.robot), base.estimator.step, span=(0.0, end))
        # one guess for all: with the default kappa
        passage = smooth_forward(Estimator(Robot(base.robot), base), ms)
        for kappa in KAPPAS:
            window = passage.window()
            window.set_kappa(kappa)
            config = base.updated({"robot": {"kappa": kappa}, "estimator": {"start_iterations": 1}})
            raw = solved(
                lambda: start_window(Problem(Robot(config.robot), config, ("mocap",)), ms),
                bag,
                end,
                HELD_ITERATIONS + 1,
            )
            yield {
                "run": run,
                "kappa": kappa,
                **solved(lambda: window, bag, end),
                **{f"{name}, raw": v for name, v in raw.items()},
            }


def solved(guess: Callable[[], Window], bag: Path, end: float, done: int = 0) -> dict:
    """Iterations until neither inertia nor cost move and gaps are closed; figures of the result.

    `done` of them are the guess's own.
    """
    try:
        solution, closed = Solution(guess()), False
        while not closed and len(solution.history) < LIMIT:
            closed = (
                converge(solution, iterations=LIMIT - len(solution.history))
                and solution.history[-1].gap < CLOSED
            )
    except (PrimeError, RuntimeError) as error:
        return {"error": " ".join(str(error).split())}
    last = solution.history[-1]
    effort = {
        "iterations": done + len(solution.history) if closed else None,
        "cost": last.cost,
        "gap": last.gap,
    }
    return effort | batch_figures(solution.window, bag, end)


# --- payloads -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A change of a robot's inertia that was published, and runs of ours with the same one.

    `published`: true and identified mass of the link and height of its centre of mass (kg, m; None:
        not known), as published.
    `recorded`: runs; `motions`: of `prime simulate`, with `payload` or the trunk's centre of mass
        moved by `shift` [m].
    """

    name: str
    robot: str
    published: tuple
    recorded: tuple[str, ...] = ()
    motions: tuple[str, ...] = ()
    payload: simulate.Payload | None = None
    shift: float = 0.0


PLATES = simulate.Payload(4.6, (0.0, 0.0, -0.1))  # two barbell plates under the trunk
CASES = [
    Case(
        "Go2, +3 kg, simulated",
        "go2",
        (9.927, 9.975, None, -0.012),
        ("go2_payload3", "go2_sway_payload3", "go2_hop_payload3"),
    ),
    Case(
        "Go2, com 0.1 m lower, simulated",
        "go2",
        (6.927, 6.865, -0.105, -0.105),
        motions=("trot", "sway", "hop"),
        shift=-0.1,
    ),
    Case(
        "Go2, +4.6 kg, hardware",
        "go2",
        (11.527, 11.74, None, -0.013),
        motions=("trot", "sway", "hop"),
        payload=PLATES,
    ),
    Case("G1, +2.914 kg, hardware", "g1", (12.514, 13.02, None, 0.1775), ("g1_walk_payload29",)),
]


def payloads(end: float, folder: Path) -> Iterator[dict]:
    """Identification of the first `end` seconds of each run, beside what was published."""
    for case in CASES:
        bags = [(RUNS / name, "recorded") for name in case.recorded]
        for bag, data in bags + [
            (simulated(case, motion, end, folder), "simulated") for motion in case.motions
        ]:
            yield {
                "case": case.name,
                "run": bag.name,
                "data": data,
                **identified(bag, case.robot, end),
                **_published(*case.published),
            }


def identified(bag: Path, robot: str, end: float) -> dict:
    """Mass and com of the estimated link by full information, beside the truth."""
    config = Config.load(robot).updated({"estimator": {"step": STEP}})
    run = identify_run(bag, Robot(config.robot), config, span=(0.0, end))
    link = run.posterior.links[0]
    mass, *com = run.posterior.quantities(link)[:4]
    true = true_parameters(load_truth(bag), link, end)
    return {
        "true mass [kg]": float(true[0]),
        "mass [kg]": mass.value,
        "+- 95 % [kg]": mass.interval[1] - mass.value,
        "mass error [kg]": mass.value - float(true[0]),
        "true com z [m]": float(true[3] / true[0]),
        "com z [m]": com[2].value,
        "com error [mm]": 1e3 * float(np.linalg.norm([c.value for c in com] - true[1:4] / true[0])),
        "iterations": len(run.result.history),
    }


def _published(true: float, mass: float, true_z: float | None, z: float) -> dict:
    values = {
        "true mass [kg]": true,
        "mass [kg]": mass,
        "mass error [kg]": mass - true,
        "true com z [m]": true_z,
        "com z [m]": z,
    }
    return {f"PRIME: {name}": value for name, value in values.items()}


def simulated(case: Case, motion: str, duration: float, folder: Path) -> Path:
    """A run of a case, made when it is not in the folder.

    The estimator knows neither payload nor shift.
    """
    out = folder / f"{case.robot}_{motion}_{'shift' if case.shift else 'payload'}"
    if out.exists():
        return out
    robot = str(shifted(case, folder)) if case.shift else case.robot
    return simulate.run(robot, motion, duration, out, payload=case.payload, seed=1)


def shifted(case: Case, folder: Path) -> Path:
    """YAML of the robot with the centre of mass of its first moving body shifted along z."""
    config = Config.load(case.robot)
    robot = Robot(config.robot)
    link = robot.links[1]
    inertia = robot.model.inertias[robot.link_joint(link)].copy()
    inertia.lever = inertia.lever + [0.0, 0.0, case.shift]
    urdf, path = folder / f"{case.robot}_shifted.urdf", folder / f"{case.robot}_shifted.yaml"
    patch_urdf(robot, {link: inertia.toDynamicParameters()}, urdf)
    path.write_text(
        yaml.safe_dump({"robot": config.updated({"robot": {"urdf": str(urdf)}}).to_dict()["robot"]})
    )
    return path


# --- the tables -----------------------------------------------------------------------------------

_ACCURACY = {"force 40 ms [%]": ".1f", "velocity [mm/s]": ".1f", "mass error [kg]": "+.3f"}
_RAW = {"iterations": "d", "cost": ".0f", "gap": ".0e", **_ACCURACY, "error": ""}
COLUMNS = {
    "models": {
        "run": "", "variant": "", "force [N]": ".1f", "force 10 ms [%]": ".1f",
        "force 40 ms [%]": ".1f", "F1": ".3f",
        "velocity [mm/s]": ".1f", "mass error [kg]": "+.3f", "com error [mm]": ".1f",
        "force 40 ms, no mocap": ".1f",
        "velocity, no mocap": ".1f", "drift, no mocap": ".2f", "mass, no mocap": "+.3f",
        "refused": "d", "restarts": "d", "error": "",
    },
    "kappa": {
        "run": "", "kappa": "d", "iterations": "d", "cost": ".0f", "gap": ".0e",
        "force 10 ms [%]": ".1f", "F1": ".3f", **_ACCURACY,
        **{f"{name}, raw": form for name, form in _RAW.items()},
    },
    "payloads": {
        "case": "", "run": "", "data": "", "true mass [kg]": ".3f", "mass [kg]": ".3f",
        "+- 95 % [kg]": ".3f", "mass error [kg]": "+.3f",
        "true com z [m]": ".3f", "com z [m]": ".3f", "com error [mm]": ".1f",
        "PRIME: true mass [kg]": ".3f", "PRIME: mass [kg]": ".3f",
        "PRIME: mass error [kg]": "+.3f", "PRIME: true com z [m]": ".3f", "PRIME: com z [m]": ".3f",
    },
}  # fmt: skip


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", nargs="+", default=list(COLUMNS), choices=list(COLUMNS))
    parser.add_argument(
        "--runs", default="*", metavar="GLOB", help="recorded runs of the part models"
    )
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="of each run in kappa and payloads"
    )
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the simulated runs there")
    parser.add_argument("--json", action="store_true", help="JSON instead of tables")
    args = parser.parse_args()
    out: dict[str, list] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        parts = {
            "models": lambda: models(args.runs, Path(scratch)),
            "kappa": lambda: sharpness(args.seconds),
            "payloads": lambda: payloads(args.seconds, folder),
        }
        for part in args.part:
            out[part] = []
            for figures in parts[part]():
                out[part].append(figures)
                print(table([figures], COLUMNS[part]).splitlines()[-1], file=sys.stderr, flush=True)
    print(
        json.dumps(out, indent=1)
        if args.json
        else "\n\n".join(table(rows, COLUMNS[part]) for part, rows in out.items())
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
