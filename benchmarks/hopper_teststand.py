# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Contact force of a real leg on a vertical slider, without its force sensor.

    python benchmarks/hopper_teststand.py [FOLDER] [--json]

Recording of the Machines in Motion laboratory (mim_estimation, BSD-3): a two-joint leg squats on a
force plate, 1 kHz, 3 s. Used are the joint positions, rates and torques and the height of the
carriage; the force plate is only compared with, and so is the group's own estimate. Slider, leg and
foot are a fixed-base robot with one contact sphere, for the same core as everywhere; the carriage's
mass is an estimand.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from recordings import existing
from scipy.signal import savgol_filter

from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.config.parameters import Config
from prime_estimation.estimator import Estimator
from prime_estimation.identify.full_information import smooth_forward
from prime_estimation.identify.solution import Solution, converge
from prime_estimation.robot import Robot
from prime_estimation.types import JointSample, Measurement

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "real" / "hopper_teststand_mim"
TICK_NS = 1_000_000
# N, Nm: what is unknown of the carriage's guide and of the motors
SLIDER_FORCE, LEG_TORQUE = 0.5, 0.03
SETTINGS = {
    "robot": {
        "name": "teststand",
        "floating_base": False,
        "base_frame": "root",
        "contacts": [{"name": "contact", "frame": "contact", "radius": 0.008}],
        # rotor 4.5e-6 kg m2, gear ratio 9
        "armature": {"HFE": 3.6e-4, "KFE": 3.6e-4, "default": 0.0},
        "joint_friction": {"default": 0.0},
        "estimated_links": ["base_link"],
    },
    "noise": {
        "encoder": 0.002,
        "joint_velocity": 0.05,
        "joint_torque": 0.03,
        "joint_model": 0.1,
        "contact_tangential": 0.02,  # the force plate and its mount give way
        "contact_normal": 0.1,
    },
    "estimator": {"mass_stddev": 0.1, "com_stddev": 0.02, "terrain_stddev": 0.02},
}


def table(folder: Path, name: str) -> dict[int, np.ndarray]:
    """Columns of a file by tick [ms]."""
    rows = np.loadtxt(folder / name)
    return dict(zip(rows[:, 0].astype(int), rows[:, 1:]))


def recording(folder: Path) -> dict[str, np.ndarray]:
    """Arrays: t_ns, position (z, HFE, KFE), velocity, torque, force and estimate of the group."""
    names = {
        "joints": "dg_hopper_teststand-joint_positions.dat",
        "rates": "dg_hopper_teststand-joint_velocities.dat",
        "torques": "dg_hopper_teststand-joint_torques.dat",
        "height": "dg_hopper_teststand-height_sensors.dat",
        "force": "dg_hopper_teststand-ati_force.dat",
        "published": "dg_est_f_hopper-sout.dat",
    }
    tables = {key: table(folder, name) for key, name in names.items()}
    ticks = sorted(set.intersection(*(set(t) for t in tables.values())))
    columns = {key: np.array([t[tick] for tick in ticks]) for key, t in tables.items()}
    height = columns["height"]
    rate = savgol_filter(height[:, 0], 41, 2, deriv=1, delta=1e-3)[:, None]
    return {
        "t_ns": TICK_NS * np.array(ticks),
        "position": np.hstack([height, columns["joints"]]),
        "velocity": np.hstack([rate, columns["rates"]]),
        "torque": np.hstack([np.zeros_like(height), columns["torques"]]),
        "force": columns["force"],
        "published": columns["published"][:, :3],
    }


def nodes(data: dict[str, np.ndarray], step: float) -> list[Measurement]:
    """Measurements of all nodes."""
    out, sync = [], Synchronizer(round(step * 1e9), 3, sensors=(), use_imu=False)
    for t, q, v, tau in zip(data["t_ns"], data["position"], data["velocity"], data["torque"]):
        sync.push(JointSample(int(t), q, v, tau))
        while (measurement := sync.pop()) is not None:
            out.append(measurement)
    return out


def estimate(data: dict[str, np.ndarray], urdf: Path) -> Solution:
    """Full information, with a noise of its own for the slider, which has no motor."""
    config = Config().updated(SETTINGS).updated({"robot": {"urdf": str(urdf)}})
    estimator = Estimator(Robot(config.robot), config, mocap=False)
    window = smooth_forward(estimator, nodes(data, config.estimator.step)).window()
    for given in window.inputs:
        given.nominal_force = given.weight_force = 1.0 / np.array(
            [SLIDER_FORCE, LEG_TORQUE, LEG_TORQUE]
        )
    solution = Solution(window)
    solution.converged = converge(solution)
    return solution


def compare(data: dict[str, np.ndarray], solution: Solution) -> dict:
    """Vertical force against the plate, both as triangular means over the nodes."""
    window = solution.window
    force = np.array([node.contact_forces(d)[0] for node, d in zip(window.nodes, window.data)])
    stamps, dt = np.array(window.stamps[:-1]), window.problem.dt

    def means(values: np.ndarray) -> np.ndarray:
        weights = np.clip(1.0 - 1e-9 * np.abs(stamps[:, None] - data["t_ns"]) / dt, 0.0, None)
        return weights @ values / weights.sum(axis=1, keepdims=True)

    truth, published = means(data["force"])[:, 2], means(data["published"])[:, 2]
    raw = np.interp(data["t_ns"], stamps, force[:, 2])
    inside = (data["t_ns"] >= stamps[0]) & (data["t_ns"] <= stamps[-1])
    return {
        "nodes": int(window.size),
        "converged": solution.converged,
        "rmse_z_N": float(np.sqrt(np.mean((raw - data["force"][:, 2])[inside] ** 2))),
        "rmse_z_published_N": float(
            np.sqrt(np.mean((data["published"] - data["force"])[inside, 2] ** 2))
        ),
        "rmse_z_10ms_N": float(np.sqrt(np.mean((force[:, 2] - truth) ** 2))),
        "rmse_z_published_10ms_N": float(np.sqrt(np.mean((published - truth) ** 2))),
        "mean_error_z_N": float(np.mean(force[:, 2] - truth)),
        "carriage_mass_kg": float(window.problem.inertias(window.xs[-1])[0][0][0]),
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=existing, default=str(FOLDER))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    data = recording(args.folder)
    result = compare(data, estimate(data, args.folder / "teststand.urdf"))
    if args.json:
        print(json.dumps(result, indent=1))
        return
    print("| | ours | published |\n|---|---:|---:|")
    print(
        f"| vertical force RMSE, every sample [N] | {result['rmse_z_N']:.2f} | "
        f"{result['rmse_z_published_N']:.2f} |"
    )
    print(
        f"| 10 ms means [N] | {result['rmse_z_10ms_N']:.2f} | "
        f"{result['rmse_z_published_10ms_N']:.2f} |"
    )
    print(
        f"| mean error [N] | {result['mean_error_z_N']:+.2f} | |\n"
        f"| carriage mass [kg] | {result['carriage_mass_kg']:.3f} | |"
    )


if __name__ == "__main__":
    main()
