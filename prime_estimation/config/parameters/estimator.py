# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters of the estimator: window, solver, priors, forgetting."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...declaration import param


@dataclass(frozen=True)
class EstimatorConfig:
    """The sliding window, its parameters and its policies."""

    step: float = param(0.01, "time between nodes", "s", 0.005, 0.05)
    window: int = param(10, "nodes of the sliding window", "", 1, 200)
    iterations: int = param(
        4, "solver iterations per node, at most; most need one or two", "", 1, 50, tunable=True
    )
    form: str = param(
        "forward",
        "what is decided: disturbance (forward) or next velocity (inverse)",
        choices=("forward", "inverse"),
    )
    contact_model: str = param(
        "smoothed",
        "smoothed law, or rigid contacts after contact flags",
        choices=("smoothed", "rigid"),
    )
    cone: str = param(
        "coulomb",
        "contact law: corrected (coulomb) or as published (convex)",
        choices=("coulomb", "convex"),
    )
    manifold: str = param(
        "log_cholesky",
        "coordinates of the estimated inertias",
        choices=("log_cholesky", "exponential_eigenvalue"),
    )
    rollout: str = param(
        "multiple",
        "rollout of a step: shooting or through the dynamics",
        choices=("multiple", "feasible", "single"),
    )
    elimination: str = param(
        "schur",
        "of the parameters; nullspace where some are unknown",
        choices=("schur", "nullspace"),
    )
    rolling: bool = param(True, "contact points move under their spheres")
    threads: int = param(1, "threads for the evaluation of the nodes", "", 1, 16)
    start_duration: float = param(0.5, "data gathered before the first estimate", "s", 0.1, 5.0)
    start_iterations: int = param(20, "iterations of the first batch", "", 1, 200)
    friction: float = param(0.8, "initial friction coefficient of the ground", "", 0.05, 3.0)
    friction_stddev: float = param(0.2, "its uncertainty (relative)", "", 1e-3, 2.0)
    friction_walk: float = param(
        0.02, "its random walk (relative)", "1/sqrt(s)", 0.0, 1.0, tunable=True
    )
    mass_stddev: float = param(
        3.0, "prior uncertainty of an estimated link's mass", "kg", 1e-3, 100.0
    )
    com_stddev: float = param(0.03, "prior uncertainty of its centre of mass", "m", 1e-4, 1.0)
    inertia_stddev: float = param(
        0.4, "prior uncertainty of its rotational inertia (relative)", "", 1e-3, 5.0
    )
    mass_walk: float = param(
        0.005, "forgetting: random walk of the mass", "kg/sqrt(s)", 0.0, 10.0, tunable=True
    )
    com_walk: float = param(
        0.0005, "forgetting: random walk of the centre of mass", "m/sqrt(s)", 0.0, 1.0, tunable=True
    )
    inertia_walk: float = param(
        0.005,
        "forgetting: random walk of the rotational inertia (relative)",
        "1/sqrt(s)",
        0.0,
        1.0,
        tunable=True,
    )
    payload_threshold: float = param(
        5.0,
        "alarm of the payload change detector, in standard deviations",
        "",
        1.0,
        50.0,
        tunable=True,
    )
    publish_mass_stddev: float = param(
        0.2,
        "inertia is valid when data tell its mass better than this",
        "kg",
        1e-3,
        100.0,
        tunable=True,
    )
    terrain_stddev: float = param(
        0.003, "ground height at touch-down, from the foot's height", "m", 1e-5, 0.5, tunable=True
    )
    terrain_slopes: bool = param(
        True, "the slope of the ground under each foot is estimated, else it is level"
    )
    terrain_walk: float = param(
        1e-5, "random walk of the ground height in stance, per node", "m", 0.0, 0.1, tunable=True
    )
    terrain_softness: bool = param(
        True, "how much the ground gives way is estimated, else it is as hard as the contact law"
    )
    softness_stddev: float = param(
        0.15, "prior uncertainty of the logarithm of the ground's compliance", "", 1e-3, 10.0
    )
    softness_walk: float = param(0.05, "its random walk", "1/sqrt(s)", 0.0, 10.0, tunable=True)

    joint_parameters: str = param(
        "",
        "what is estimated of the joints beside the inertia: losses, stribeck, gains, offsets, "
        "delay, zeros, a list with commas, or single ones: armature, damping, dry_friction, ...",
    )
    adapt_joints: bool = param(
        True,
        "rotor inertia, viscous and dry friction, offsets or delay of the torques, or zeros of the "
        "encoders, are estimated once torques or feet contradict them (joints between feet and "
        "estimated links; not beside joint_parameters)",
    )
    adapt_imu_clock: bool = param(
        True, "stamps of the IMU that are late against the joints are corrected, once it is certain"
    )
    adapt_noise: bool = param(
        True, "sensors and disturbances noisier than configured get less weight", tunable=True
    )

    @property
    def tells_joints(self) -> bool:
        """There may be estimates of joint parameters."""
        return bool(self.joint_parameters) or self.adapt_joints

    @property
    def start_nodes(self) -> int:
        """Nodes of the start batch."""
        return math.ceil(self.start_duration / self.step)
