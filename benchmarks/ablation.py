# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What each part of the model buys: the estimator with one part left out, full information and online, against ground truth.

    python benchmarks/ablation.py [RUN ...] [--robot go2] [--seconds 12] [--batch 3] [--only NAME ...] [--json]

RUN: bags with ground truth; default: go2_payload3 and go2_nominal beside this repository. Every variant is a change of the
configuration, where there is one to change. Needs prime_estimation installed, or PYTHONPATH set to the repository.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from recordings import RUNS, excerpt, ground_truth, measurements, swapped, table

from prime_estimation import problem as problem_module
from prime_estimation import replay as replay_module
from prime_estimation.config import Config
from prime_estimation.errors import PrimeError
from prime_estimation.estimator import Estimator
from prime_estimation.evaluate import evaluate, load_truth, true_parameters
from prime_estimation.full_information import full_information
from prime_estimation.inertia import from_theta
from prime_estimation.metrics import Motion, contact_figures, odometry_figures
from prime_estimation.robot import Robot
from prime_estimation.sync import Synchronizer
from prime_estimation.types import JointSample, Measurement
from prime_estimation.window import Window

SETTLE = 0.3  # s at the ends of a batch that its figures leave out
ONLINE_SETTLE = 2.0


class SampledSynchronizer(Synchronizer):
    """Rates, gyro and torque as the single sample nearest to their node, not as the means that the node's variables stand for."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._latest: deque[JointSample] = deque(maxlen=64)

    def push(self, sample) -> None:
        """Take a sample, and remember the joint samples."""
        super().push(sample)
        if isinstance(sample, JointSample):
            self._latest.append(sample)

    def pop(self) -> Measurement | None:
        """The next measurement with its means replaced by samples."""
        m = super().pop()
        if m is None or not self._latest:
            return m
        changes: dict = {}
        if m.velocity is not None:
            changes.update(velocity=self._at(m.stamp_ns).velocity, velocity_samples=1.0)
        if m.torque is not None:  # belongs to the node before
            changes.update(torque=self._at(m.stamp_ns - self.step_ns).effort, torque_samples=1.0)
        if m.gyro is not None:
            changes.update(gyro=m.gyro_now, gyro_samples=1.0)
        return replace(m, **changes)

    def _at(self, stamp_ns: int) -> JointSample:
        return min(self._latest, key=lambda s: abs(s.stamp_ns - stamp_ns))


def _options_without_midpoint(config: Config, original=problem_module._dynamics_options):
    options = original(config)
    options.midpoint = False
    return options


@dataclass(frozen=True)
class Variant:
    """A change of configuration, or of what no configuration offers."""

    name: str
    overlay: dict = field(default_factory=dict)
    synchronizer: type[Synchronizer] = Synchronizer
    midpoint: bool = True

    def active(self) -> ExitStack:
        """A context in which the program is this variant."""
        stack = ExitStack()
        stack.enter_context(swapped(replay_module, Synchronizer=self.synchronizer))
        if not self.midpoint:
            stack.enter_context(swapped(problem_module, _dynamics_options=_options_without_midpoint))
        return stack


VARIANTS = [
    Variant("full model"),
    Variant("published cone (convex)", {"estimator": {"cone": "convex"}}),
    Variant("no contact disturbance xi", {"noise": {"contact_normal": 1e-4, "contact_tangential": 1e-4}}),
    Variant("Gaussian xi", {"noise": {"contact_dof": 1e9}}),
    Variant("no rolling", {"estimator": {"rolling": False}}),
    Variant("no armature", {"robot": {"armature": 0.0}}),
    Variant("no joint friction and damping", {"robot": {"joint_friction": 0.0, "joint_damping": 0.0}}),
    Variant("rates and torque sampled", synchronizer=SampledSynchronizer),
    Variant("contact velocity at the start of the step", midpoint=False),
]


# --- full information ---------------------------------------------------------------------------------------------


def _header(stamp_ns: int):
    return SimpleNamespace(stamp=SimpleNamespace(sec=stamp_ns // 10**9, nanosec=stamp_ns % 10**9))


def _vector(v):
    return SimpleNamespace(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def motion(window: Window) -> Motion:
    """Motion of a window: poses at its nodes, velocity at a node as the mean of those of the steps on both sides."""
    nq, messages = window.problem.nq, []
    unknown = np.full(36, np.nan)
    for k, stamp in enumerate(window.stamps[:-1]):
        x, v = window.xs[k], 0.5 * (window.xs[k][nq : nq + 6] + window.xs[k + 1][nq : nq + 6])
        quat = SimpleNamespace(**dict(zip("xyzw", map(float, x[3:7]))))
        pose = SimpleNamespace(pose=SimpleNamespace(position=_vector(x), orientation=quat), covariance=unknown)
        twist = SimpleNamespace(twist=SimpleNamespace(linear=_vector(v), angular=_vector(v[3:])), covariance=unknown)
        messages.append(SimpleNamespace(header=_header(stamp), pose=pose, twist=twist))
    return Motion(messages, 0)


def contact_messages(window: Window) -> list:
    """Contact forces of all running nodes, in the shape of prime_estimation_msgs/ContactWrenches."""
    names, out = [c.name for c in window.problem.robot.contacts], []
    for node, data, stamp in zip(window.nodes, window.data, window.stamps):
        force = node.contact_forces(data)[0].reshape(-1, 3)
        contacts = [SimpleNamespace(name=n, wrench=SimpleNamespace(force=_vector(f))) for n, f in zip(names, force)]
        out.append(SimpleNamespace(header=_header(stamp), contacts=contacts))
    return out


def batch_figures(window: Window, bag: Path, end: float) -> dict:
    """Figures of a full-information window."""
    truth, (reference, start) = load_truth(bag), ground_truth(bag, end)
    robot, x = window.problem.robot, window.xs[-1]
    pi = from_theta(window.problem.parameter(x, "theta")[:10])[0]
    true = true_parameters(truth, robot.estimated_links[0], 0.0)
    moving = odometry_figures(motion(window), Motion(reference["/ground_truth/odom"], 0), SETTLE)
    loaded = contact_figures(contact_messages(window), reference, 9.81 * truth["total_mass_true"], start, SETTLE)
    return {
        "mass error [kg]": float(pi[0] - true[0]),
        "com error [mm]": 1e3 * float(np.linalg.norm(pi[1:4] / pi[0] - true[1:4] / true[0])),
        "force 40 ms [%]": 100 * loaded["mean_relative_rmse_40ms"],
        "F1": loaded["mean_contact_f1"],
        "velocity [mm/s]": 1e3 * moving["velocity_rmse_mps"],
        "drift [%]": moving["drift_percent"],
    }


def batch(bag: Path, config: Config, variant: Variant, end: float, mocap: bool) -> dict:
    """Full-information estimate of the first `end` seconds."""
    robot = Robot(config.robot)
    with variant.active():
        ms = measurements(bag, robot, config, end, mocap, variant.synchronizer)
        window = full_information(Estimator(robot, config, mocap), ms)
    return batch_figures(window, bag, end)


# --- online -------------------------------------------------------------------------------------------------------


def online(run: Path, bag: Path, config: Config, variant: Variant, mocap: bool, folder: Path) -> dict:
    """The sliding window through `run` (the bag or an excerpt of it), as `prime replay` does it."""
    out = folder / "online.mcap"
    with variant.active():
        summary = replay_module.replay(run, Robot(config.robot), config, out, mocap=mocap)
    scores = evaluate(out, run, ONLINE_SETTLE, bag.parent / f"{bag.name}.json")
    body = next(v for v in scores["inertia"].values() if "mass_error_final_kg" in v)
    return {
        "mass error [kg]": body["mass_error_final_kg"],
        "com error [mm]": 1e3 * body["com_error_final_m"],
        "force 40 ms [%]": 100 * scores["contacts"]["mean_relative_rmse_40ms"],
        "F1": scores["contacts"]["mean_contact_f1"],
        "velocity [mm/s]": 1e3 * scores["odometry"]["velocity_rmse_mps"],
        "drift [%]": scores["odometry"]["drift_percent"],
        "refused": summary.final.status.refused_steps,
        "restarts": summary.final.status.restarts,
    }


# --- the table ----------------------------------------------------------------------------------------------------

WITHOUT = {"mass error [kg]": "mass, no mocap", "velocity [mm/s]": "velocity, no mocap", "drift [%]": "drift, no mocap"}
COLUMNS = {
    "run": "", "data": "", "variant": "", "mass error [kg]": "+.3f", "com error [mm]": ".1f", "force 40 ms [%]": ".1f", "F1": ".3f",
    "velocity [mm/s]": ".1f", "drift [%]": ".2f", "mass, no mocap": "+.3f", "velocity, no mocap": ".1f", "drift, no mocap": ".2f",
    "refused": "d", "restarts": "d", "error": "s",
}  # fmt: skip


def row(run: str, data: str, variant: Variant, score) -> dict:
    """Figures with motion capture, and those of motion and mass without; a failure is a result too."""
    out: dict = {"run": run, "data": data, "variant": variant.name}
    for mocap in (True, False):
        try:
            figures = score(mocap)
        except (PrimeError, RuntimeError) as error:
            out["error"] = f"{'with' if mocap else 'without'} mocap: {' '.join(str(error).split())}"
            continue
        out.update(figures if mocap else {name: figures[key] for key, name in WITHOUT.items()})
    return out


def run_variants(bag: Path, robot: str, variants: list[Variant], batch_end: float, end: float, folder: Path):
    """Rows of all variants of one run: first full information, then online; a length of 0 leaves a part out."""
    base = Config.load(robot)
    run = excerpt(bag, end, folder) if end > 0 else bag
    for data, length in (("full information", batch_end), ("online", end)):
        for variant in variants if length > 0 else ():
            config = base.updated(variant.overlay, variant.name)
            if data == "online":
                yield row(bag.name, f"{data}, {length:g} s", variant, lambda m: online(run, bag, config, variant, m, folder))
            else:
                yield row(bag.name, f"{data}, {length:g} s", variant, lambda m: batch(bag, config, variant, batch_end, m))


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, default=[RUNS / "go2_payload3", RUNS / "go2_nominal"], metavar="RUN")
    parser.add_argument("--robot", default="go2")
    parser.add_argument("--seconds", type=float, default=12.0, help="of each run, online (0: leave out)")
    parser.add_argument("--batch", type=float, default=3.0, help="seconds of full information (0: leave out)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="variants whose name contains one of these")
    parser.add_argument("--json", action="store_true", help="JSON instead of the table")
    args = parser.parse_args()
    variants = [v for v in VARIANTS if not args.only or any(name in v.name for name in args.only)]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for bag in args.runs:
            try:
                for figures in run_variants(bag, args.robot, variants, args.batch, args.seconds, Path(scratch)):
                    rows.append(figures)
                    print(table([figures], COLUMNS).splitlines()[-1], file=sys.stderr, flush=True)
            except PrimeError as error:
                print(f"ablation: {error}", file=sys.stderr)
                return 2
    print(json.dumps(rows, indent=1) if args.json else table(rows, COLUMNS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
