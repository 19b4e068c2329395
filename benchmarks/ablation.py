# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What each part of the model buys.

The estimator with one part left out, full information and online, against ground truth.

    python benchmarks/ablation.py [RUN ...] [--robot go2] [--seconds 12] [--batch 3] [--only NAME
    ...] [--json]

RUN: bags with ground truth; default: go2_payload3 and go2_nominal beside this repository. Every
    variant is a change of the
configuration, where there is one to change. Needs prime_estimation installed, or PYTHONPATH set to
the repository.
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

from recordings import add_runs, excerpt, swapped, table
from scores import batch_figures, online_figures

from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.config.parameters import Config
from prime_estimation.errors import PrimeError
from prime_estimation.estimator import Estimator
from prime_estimation.identify.full_information import full_information
from prime_estimation.mhe import contact_model as contact_module
from prime_estimation.recordings import pipeline as pipeline_module
from prime_estimation.recordings.samples import measurements
from prime_estimation.robot import Robot
from prime_estimation.types import JointSample, Measurement


class SampledSynchronizer(Synchronizer):
    """Rates, gyro and torque as the single sample nearest to their node, not as means."""

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
            changes.update(
                velocity=self._at(m.stamp_ns).velocity,
                velocity_samples=1.0,
                velocity_change=0.0,
                position_carried=None,
            )
        if m.torque is not None:  # belongs to the node before
            changes.update(
                torque=self._at(m.stamp_ns - self.step_ns).effort,
                torque_samples=1.0,
                torque_change=0.0,
            )
        if m.gyro is not None:
            changes.update(gyro=m.gyro_now, gyro_samples=1.0, gyro_change=0.0)
        return replace(m, **changes)

    def _at(self, stamp_ns: int) -> JointSample:
        return min(self._latest, key=lambda s: abs(s.stamp_ns - stamp_ns))


def _options_without_midpoint(config: Config, original=contact_module._options):
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
        stack.enter_context(swapped(pipeline_module, Synchronizer=self.synchronizer))
        if not self.midpoint:
            stack.enter_context(swapped(contact_module, _options=_options_without_midpoint))
        return stack


VARIANTS = [
    Variant("full model"),
    Variant("published cone (convex)", {"estimator": {"cone": "convex"}}),
    Variant(
        "no contact disturbance xi", {"noise": {"contact_normal": 1e-4, "contact_tangential": 1e-4}}
    ),
    Variant("Gaussian xi", {"noise": {"contact_dof": 1e9}}),
    Variant("no rolling", {"estimator": {"rolling": False}}),
    Variant("no armature", {"robot": {"armature": 0.0}}),
    Variant(
        "no joint friction and damping", {"robot": {"joint_friction": 0.0, "joint_damping": 0.0}}
    ),
    Variant("rates and torque sampled", synchronizer=SampledSynchronizer),
    Variant("contact velocity at the start of the step", midpoint=False),
]


def batch(bag: Path, config: Config, variant: Variant, end: float, mocap: bool) -> dict:
    """Full-information estimate of the first `end` seconds."""
    robot = Robot(config.robot)
    with variant.active():
        ms = measurements(bag, robot, config.estimator.step, mocap=mocap, span=(0.0, end))
        window = full_information(Estimator(robot, config, mocap), ms)
    return batch_figures(window, bag, end)


def online(
    run: Path, bag: Path, config: Config, variant: Variant, mocap: bool, folder: Path
) -> dict:
    """The sliding window through `run` (the bag or an excerpt of it)."""
    with variant.active():
        return online_figures(run, bag, config, mocap, folder)


# --- the table ------------------------------------------------------------------------------------

WITHOUT = {
    "mass error [kg]": "mass, no mocap", "velocity [mm/s]": "velocity, no mocap",
    "drift [%]": "drift, no mocap",
    "force 40 ms [%]": "force 40 ms, no mocap",
}  # fmt: skip
COLUMNS = {
    "run": "", "data": "", "variant": "", "mass error [kg]": "+.3f", "com error [mm]": ".1f",
    "force 40 ms [%]": ".1f", "F1": ".3f",
    "velocity [mm/s]": ".1f", "drift [%]": ".2f", "mass, no mocap": "+.3f",
    "velocity, no mocap": ".1f", "drift, no mocap": ".2f",
    "refused": "d", "restarts": "d", "error": "s",
}  # fmt: skip


def row(run: str, data: str, variant: Variant, score) -> dict:
    """Figures with motion capture, and those of motion and mass without.

    A failure is a result too.
    """
    out: dict = {"run": run, "data": data, "variant": variant.name}
    for mocap in (True, False):
        try:
            figures = score(mocap)
        except (PrimeError, RuntimeError) as error:
            out["error"] = f"{'with' if mocap else 'without'} mocap: {' '.join(str(error).split())}"
            continue
        out.update(figures if mocap else {name: figures[key] for key, name in WITHOUT.items()})
    return out


def run_variants(
    bag: Path, robot: str, variants: list[Variant], batch_end: float, end: float, folder: Path
):
    """Rows of all variants of one run: first full information, then online.

    A length of 0 leaves a part out.
    """
    base = Config.load(robot)
    run = excerpt(bag, end, folder) if end > 0 else bag
    for data, length in (("full information", batch_end), ("online", end)):
        for variant in variants if length > 0 else ():
            config = base.updated(variant.overlay, variant.name)
            if data == "online":
                yield row(
                    bag.name,
                    f"{data}, {length:g} s",
                    variant,
                    lambda m: online(run, bag, config, variant, m, folder),
                )
            else:
                yield row(
                    bag.name,
                    f"{data}, {length:g} s",
                    variant,
                    lambda m: batch(bag, config, variant, batch_end, m),
                )


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_runs(parser)
    parser.add_argument(
        "--seconds", type=float, default=12.0, help="of each run, online (0: leave out)"
    )
    parser.add_argument(
        "--batch", type=float, default=3.0, help="seconds of full information (0: leave out)"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="variants whose name contains one of these",
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of the table")
    args = parser.parse_args()
    variants = [v for v in VARIANTS if not args.only or any(name in v.name for name in args.only)]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for bag in args.runs:
            try:
                for figures in run_variants(
                    bag, args.robot, variants, args.batch, args.seconds, Path(scratch)
                ):
                    rows.append(figures)
                    print(table([figures], COLUMNS).splitlines()[-1], file=sys.stderr, flush=True)
            except PrimeError as error:
                print(f"ablation: {error}", file=sys.stderr)
                return 2
    print(json.dumps(rows, indent=1) if args.json else table(rows, COLUMNS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
