# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Torque prediction for real pendulums on held-out recordings, beside published parameters.

    python benchmarks/pendulums.py [FOLDER] [--json]

Recordings of the DFKI (torque_limited_simple_pendulum and double_pendulum, BSD-3). Each part of the
data is held out in turn: from the others come the inertia (physically consistent least squares on a
fixed-base robot), viscous and dry friction, and the delay between torque and position that fits
best. The published parameters of the double pendulum have no friction: beside them stands the same
with friction fitted to the training data. Those of the single pendulum come from all of its data,
the held-out part included.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from recordings import existing
from scipy.signal import butter, filtfilt

from prime_estimation.config.parameters import Config
from prime_estimation.identify.least_squares import Regression, consistent
from prime_estimation.identify.posterior import Posterior
from prime_estimation.mhe.problem import Problem
from prime_estimation.robot import Robot

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "real"
FILTER_STEP, CUT_OFF = 0.002, 10.0  # s, Hz
DELAYS = range(0, 22, 3)  # by which torque may lead position, in FILTER_STEP
SIGN_RATE = 0.05  # rad/s, smoothing of dry friction
ROD = 0.02  # m, thickness of the rods that stand for the links
# scales of the least squares
PRIOR = {"mass_stddev": 0.1, "com_stddev": 0.05, "inertia_stddev": 0.3}

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # regressor of the inertia, of the losses, torques


@dataclass(frozen=True)
class Machine:
    """A chain of pendulums: joints about y, zero hanging down.

    `published`: (m, r, I about the joint) per link, lengths [m].
    """

    name: str
    published: list[tuple[float, float, float]]
    lengths: list[float]
    parts: list[tuple[Path, float, float]]  # file, first and last share of it
    friction: tuple[float, float, float] | None = None  # published viscous, Coulomb (atan), offset

    def urdf(self) -> str:
        """URDF with rods of the published mass and com.

        Physical even where the published inertia is not.
        """
        parts, parent = ['<robot name="pendulum"><link name="stand"/>'], "stand"
        for i, (m, r, inertia) in enumerate(self.published):
            moment = max(inertia - m * r**2, 0.1 * m * r**2)
            tensor = (
                f'ixx="{moment}" iyy="{moment}" izz="{0.5 * m * ROD**2}" ixy="0" ixz="0" iyz="0"'
            )
            origin = 0.0 if i == 0 else -self.lengths[i - 1]
            body = f'<origin xyz="0 0 {-r}"/><mass value="{m}"/><inertia {tensor}/>'
            parts.append(f'<link name="link{i + 1}"><inertial>{body}</inertial></link>')
            parts.append(
                f'<joint name="joint{i + 1}" type="continuous">'
                f'<parent link="{parent}"/><child link="link{i + 1}"/>'
            )
            parts.append(f'<origin xyz="0 0 {origin}"/><axis xyz="0 1 0"/></joint>')
            parent = f"link{i + 1}"
        return "".join(parts) + "</robot>"

    def published_pi(self) -> np.ndarray:
        """Published parameters as dynamic parameters (10 per link).

        Only what a planar chain feels is meant.
        """
        return np.concatenate(
            [[m, 0, 0, -m * r, inertia, 0, inertia, 0, 0, 0] for m, r, inertia in self.published]
        )


def machines(folder: Path) -> list[Machine]:
    """The three machines and the parts of their data, each of which is held out once."""
    single = (
        folder / "pendulum_dfki/results/control_method_pd/system_identification/data_measured.csv"
    )
    quarters = [(single, k / 4, (k + 1) / 4) for k in range(4)]
    # only m r and the inertia are published
    out = [
        Machine(
            "pendulum", [(0.1022 / 0.4, 0.4, 0.06259)], [0.5], quarters, (0.04707, 0.1839, -0.07586)
        )
    ]
    designs = {
        "A.0": ([(0.55938, 0.3, 0.053471), (0.604346, 0.183777, 0.023924)], [0.3, 0.2], "11"),
        "C.0": ([(0.641694, 0.2, 0.026711), (0.563936, 0.321267, 0.053878)], [0.2, 0.3], "12"),
    }
    for design, (published, lengths, last) in designs.items():
        files = [
            folder / "double_pendulum_dfki" / f"design_{design}" / f"trajectory_{n}.csv"
            for n in ("00", "01", "02", last)
        ]
        out.append(
            Machine(
                f"double pendulum {design}",
                published,
                lengths,
                [(file, 0.0, 1.0) for file in files],
            )
        )
    return out


def columns(file: Path, first: float, last: float, joints: int) -> tuple[np.ndarray, ...]:
    """Time, position, velocity, torque of a part of a recording."""
    rows = np.genfromtxt(file, delimiter=",", names=True)
    kinds = (
        ("position", "velocity", "torque") if joints == 1 else ("pos_meas", "vel_meas", "tau_meas")
    )
    groups = [
        [kind] if joints == 1 else [f"{kind}{i + 1}" for i in range(joints)] for kind in kinds
    ]
    part = slice(int(first * len(rows)), int(last * len(rows)))
    return (
        rows["time"][part],
        *(np.column_stack([rows[name][part] for name in group]) for group in groups),
    )


def smoothed(robot: Robot, part: tuple[Path, float, float]) -> tuple[np.ndarray, ...]:
    """(q, v, a, torque) on an even grid.

    Position and torque through the same zero-phase low pass, rates by differences.
    """
    t, q, _, tau = columns(*part, robot.nj)
    grid = np.arange(t[0], t[-1], FILTER_STEP)
    even = [
        np.column_stack([np.interp(grid, t, column) for column in values.T]) for values in (q, tau)
    ]
    low_pass = butter(4, CUT_OFF, fs=1.0 / FILTER_STEP)
    position, torque = (filtfilt(*low_pass, values, axis=0) for values in even)
    rate = np.gradient(position, FILTER_STEP, axis=0)
    acceleration = np.gradient(rate, FILTER_STEP, axis=0)
    inner = slice(round(0.2 / FILTER_STEP), -round(0.2 / FILTER_STEP))  # without the filter's ends
    return (
        np.array([robot.coordinates(p) for p in position[inner]]),
        rate[inner],
        acceleration[inner],
        torque[inner],
    )


def rows_of(robot: Robot, data: tuple[np.ndarray, ...], delay: int, offset: bool) -> Rows:
    """Regressors of inertia (n nj, 10 links) and losses (viscous, dry, constant), and torques."""
    q, v, a, torque = data
    if delay:
        q, v, a, torque = q[delay:], v[delay:], a[delay:], torque[:-delay]
    work, eye = robot.model.createData(), np.eye(robot.nj)
    inertia = [
        np.array(pin.computeJointTorqueRegressor(robot.model, work, *point))
        for point in zip(q, v, a)
    ]
    kinds = [v, v / np.hypot(v, SIGN_RATE)] + ([np.ones_like(v)] if offset else [])
    losses = np.concatenate([kind[:, :, None] * eye for kind in kinds], axis=2)
    return np.vstack(inertia), losses.reshape(-1, losses.shape[2]), torque.ravel()


def fit(robot: Robot, config: Config, parts: list[Rows]) -> tuple[np.ndarray, np.ndarray, float]:
    """Physically consistent inertia (10 per link), losses, and the rms of what is left [Nm]."""
    Y, Z, tau = (np.concatenate(columns) for columns in zip(*parts))
    problem = Problem(robot, config)
    prior = Posterior.of_problem(problem, problem.theta_nominal, problem.theta_prior_root)
    nominal, stddev = prior.pi_prior()
    # losses eliminated by projection: what they can explain says nothing about the inertia
    basis = np.linalg.qr(Z)[0]
    reduced = np.column_stack([Y - basis @ (basis.T @ Y), tau - basis @ (basis.T @ tau)])
    triangle = np.linalg.qr(reduced, mode="r")
    pi = consistent(
        Regression(prior.links, triangle[:, :-1], triangle[:, -1], nominal, len(tau)), stddev
    )
    losses = np.linalg.lstsq(Z, tau - Y @ pi, rcond=None)[0]
    return pi, losses, _rms(Y @ pi + Z @ losses - tau)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def score(machine: Machine) -> dict[str, float]:
    """RMSE of the torque on the parts that were held out [Nm], by parameters."""
    n, offset = len(machine.published), machine.friction is not None
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / "pendulum.urdf"
        urdf.write_text(machine.urdf())
        links = [f"link{i + 1}" for i in range(n)]
        settings = {
            "name": "pendulum",
            "urdf": str(urdf),
            "floating_base": False,
            "base_frame": "stand",
            "estimated_links": links,
        }
        config = Config().updated({"robot": settings, "estimator": PRIOR})
        robot = Robot(config.robot)
    data = [smoothed(robot, part) for part in machine.parts]
    by_delay = {delay: [rows_of(robot, d, delay, offset) for d in data] for delay in DELAYS}
    errors: dict[str, list[np.ndarray]] = {
        "published": [],
        "published, friction fitted": [],
        "ours": [],
        "torque": [],
    }
    for k in range(len(data)):
        found = {
            delay: fit(robot, config, rows[:k] + rows[k + 1 :]) for delay, rows in by_delay.items()
        }
        delay = min(found, key=lambda d: found[d][2])
        for name, error in _held_out(
            machine, by_delay[0], by_delay[delay][k], found[delay], k
        ).items():
            errors[name].append(error)
    return {name: _rms(np.concatenate(parts)) for name, parts in errors.items()}


def _held_out(
    machine: Machine, parts: list[Rows], delayed: Rows, found: tuple, k: int
) -> dict[str, np.ndarray]:
    """Errors of the torque on part k."""
    published = machine.published_pi()
    Y, Z, tau = parts[k]
    Yt, Zt, tt = (
        np.concatenate(columns) for columns in zip(*(p for i, p in enumerate(parts) if i != k))
    )
    friction = np.linalg.lstsq(Zt, tt - Yt @ published, rcond=None)[0]
    plain = Y @ published - tau
    if machine.friction:
        viscous, dry, offset = machine.friction
        plain = plain + viscous * Z[:, 0] + dry * np.arctan(100.0 * Z[:, 0]) + offset
    ours = delayed[0] @ found[0] + delayed[1] @ found[1] - delayed[2]
    return {
        "published": plain,
        "published, friction fitted": Y @ published + Z @ friction - tau,
        "ours": ours,
        "torque": tau,
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=existing, default=str(FOLDER))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    results = {machine.name: score(machine) for machine in machines(args.folder)}
    if args.json:
        print(json.dumps(results, indent=1))
        return
    names = list(next(iter(results.values())))
    print("| held-out torque RMSE [Nm] | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names))
    for machine, values in results.items():
        print(f"| {machine} | " + " | ".join(f"{values[name]:.3f}" for name in names) + " |")


if __name__ == "__main__":
    main()
