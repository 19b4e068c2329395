# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters of the live node: where its sensors come from and what it publishes."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param


@dataclass(frozen=True)
class NodeConfig:
    """The live node: where its sensors come from and what it publishes."""

    input: str = param(
        "topics",
        "joint_states and imu (topics), or Unitree's own message (lowstate)",
        choices=("topics", "lowstate"),
    )
    mocap: bool = param(True, "use motion capture (topic mocap/pose)")
    mocap_source: str = param(
        "pose",
        "message type of mocap/pose; of covariances and velocities nothing is used",
        choices=("pose", "pose_with_covariance", "odometry", "named_poses"),
    )
    mocap_body: str = param(
        "", "name of the tracked body among named_poses; default: that of the robot"
    )
    sensors: str = param(
        "", "further sensors to listen to (foot_force, joint_targets, ...), separated by commas"
    )
    world_frame: str = param(
        "odom", "frame of odometry and contact wrenches; map where motion capture defines the world"
    )
    frame_prefix: str = param(
        "",
        "before the names of all frames (robot1/); a world_frame that begins with / has none",
    )
    publish_tf: bool = param(True, "broadcast world -> base; off when another node owns that edge")
    odometry_rate: float = param(
        500.0, "largest rate of odometry; it follows the IMU up to this", "Hz", 1.0, 2000.0
    )
    inertia_rate: float = param(10.0, "largest rate of inertial parameters", "Hz", 0.1, 100.0)
    priority: int = param(
        0,
        "real-time priority (SCHED_FIFO) of the node's threads; 0: those of any program",
        "",
        0,
        98,
    )
    cpus: str = param("", "CPUs that the node may run on, as in 2,3; default: all")
    lock_memory: bool = param(False, "keep the node's memory from being swapped out")
    resume_age: float = param(
        10.0,
        "oldest inertia of an estimator before this one (kept_inertia) to go on with; 0: none",
        "s",
        0.0,
        1e6,
    )
    backlog: int = param(
        200, "nodes that may wait for the solver; older ones are dropped and counted", "", 10, 1000
    )
