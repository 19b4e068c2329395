# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Estimates to messages.

`make` is a function from a type's name (`nav_msgs/msg/Odometry`) to its class, so that the same
lines build the objects of rosbags, Cyclone DDS and rclpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin

from ..types import ContactEstimate, Estimate, ExternalWrench, SensorHealth

Make = Callable[[str], type]


def header(make: Make, stamp_ns: int, frame: str):
    """std_msgs/Header."""
    seconds, nanoseconds = divmod(int(stamp_ns), 1_000_000_000)
    return make("std_msgs/msg/Header")(
        stamp=make("builtin_interfaces/msg/Time")(sec=seconds, nanosec=nanoseconds), frame_id=frame
    )


def odometry(make: Make, estimate: Estimate, world_frame: str, base_frame: str):
    """nav_msgs/Odometry: pose of the base in the world, twist in the base frame (`child_frame_id`).

    The pose covariance is turned from the base's tangent into fixed axes: `B P B^T`, `B =
    blkdiag(R, R)`.
    """
    rotation = pin.Quaternion(*estimate.quat_world_base[[3, 0, 1, 2]]).matrix()
    turn = np.zeros((6, 6))
    turn[:3, :3] = turn[3:, 3:] = rotation
    pose = make("geometry_msgs/msg/PoseWithCovariance")(
        pose=make("geometry_msgs/msg/Pose")(
            position=_point(make, estimate.position_world),
            orientation=_quaternion(make, estimate.quat_world_base),
        ),
        covariance=(turn @ estimate.pose_covariance @ turn.T).ravel(),
    )
    twist = make("geometry_msgs/msg/TwistWithCovariance")(
        twist=make("geometry_msgs/msg/Twist")(
            linear=vector(make, estimate.linear_velocity_base),
            angular=vector(make, estimate.angular_velocity_base),
        ),
        covariance=np.array(estimate.twist_covariance, dtype=float).ravel(),
    )
    return make("nav_msgs/msg/Odometry")(
        header=header(make, estimate.stamp_ns, world_frame),
        child_frame_id=base_frame,
        pose=pose,
        twist=twist,
    )


def transform(make: Make, estimate: Estimate, world_frame: str, base_frame: str):
    """tf2_msgs/TFMessage with the edge world -> base."""
    edge = make("geometry_msgs/msg/Transform")(
        translation=vector(make, estimate.position_world),
        rotation=_quaternion(make, estimate.quat_world_base),
    )
    stamped = make("geometry_msgs/msg/TransformStamped")(
        header=header(make, estimate.stamp_ns, world_frame),
        child_frame_id=base_frame,
        transform=edge,
    )
    return make("tf2_msgs/msg/TFMessage")(transforms=[stamped])


def joint_states(make: Make, estimate: Estimate, joint_names: Sequence[str]):
    """sensor_msgs/JointState.

    Position at the stamp [rad], rate as mean over the node interval that ends there [rad/s], torque
    of the motors one node before the stamp [Nm], where the contact forces are.
    """
    return make("sensor_msgs/msg/JointState")(
        header=header(make, estimate.stamp_ns, ""),
        name=list(joint_names),
        position=np.array(estimate.joint_position, dtype=float),
        velocity=np.array(estimate.joint_velocity, dtype=float),
        effort=np.array(estimate.joint_torque, dtype=float),
    )


def contact_wrenches(make: Make, estimate: Estimate, world_frame: str):
    """prime_estimation_msgs/ContactWrenches, world axes, stamped one node before the state."""
    zero = np.zeros(3)
    contacts = [
        make("prime_estimation_msgs/msg/ContactWrench")(
            name=c.name,
            position=_point(make, c.position_world),
            wrench=_wrench(make, c.force_world, zero),
            force_covariance=np.array(c.force_covariance, dtype=float).ravel(),
            probability=float(c.probability),
            state=int(c.state),
        )
        for c in estimate.contacts
    ]
    return make("prime_estimation_msgs/msg/ContactWrenches")(
        header=header(make, estimate.contacts_stamp_ns, world_frame), contacts=contacts
    )


def wrench_stamped(
    make: Make,
    contacts: Sequence[ContactEstimate],
    stamp_ns: int,
    frame: str,
    pose_world_frame: pin.SE3,
):
    """geometry_msgs/WrenchStamped of the contacts of one frame.

    On the robot by the ground, about the frame's origin, in its axes.

    The centre of pressure on a level sole at height z is `(z fx - ty, z fy + tx) / fz`.
    """
    rotation = pose_world_frame.rotation.T
    force, moment = np.zeros(3), np.zeros(3)
    for contact in contacts:
        fx, fy, fz = f = rotation @ contact.force_world
        rx, ry, rz = rotation @ (contact.position_world - pose_world_frame.translation)
        force += f
        moment += (ry * fz - rz * fy, rz * fx - rx * fz, rx * fy - ry * fx)
    return make("geometry_msgs/msg/WrenchStamped")(
        header=header(make, stamp_ns, frame), wrench=_wrench(make, force, moment)
    )


def external_wrench(make: Make, wrench: ExternalWrench, base_frame: str):
    """geometry_msgs/WrenchStamped of what pushes the robot, at the base and in its axes."""
    return make("geometry_msgs/msg/WrenchStamped")(
        header=header(make, wrench.stamp_ns, base_frame),
        wrench=_wrench(make, wrench.force_base, wrench.moment_base),
    )


def joint_parameters(make: Make, estimate: Estimate, world_frame: str):
    """prime_estimation_msgs/JointParameters of what is estimated of the joints."""
    told = estimate.joint_parameters
    return make("prime_estimation_msgs/msg/JointParameters")(
        header=header(make, estimate.stamp_ns, world_frame),
        kinds=[p.kind for p in told],
        names=[p.name for p in told],
        values=np.array([p.value for p in told]),
        stddevs=np.array([p.stddev for p in told]),
        observable=np.array([p.observable for p in told]),
    )


def estimator_status(make: Make, estimate: Estimate, world_frame: str):
    """prime_estimation_msgs/EstimatorStatus."""
    s, external = estimate.status, estimate.external
    covariance = np.zeros(36) if external is None else np.array(external.covariance).ravel()
    return make("prime_estimation_msgs/msg/EstimatorStatus")(
        header=header(make, estimate.stamp_ns, world_frame),
        solve_time_ms=float(s.solve_time_ms),
        latency_ms=float(s.latency_ms),
        iterations=int(s.iterations),
        cost=float(s.cost),
        feasibility=float(s.feasibility),
        window_nodes=int(s.window_nodes),
        overruns=int(s.overruns),
        dropped_samples=int(s.dropped_samples),
        sensors=sensor_health(make, s.sensors),
        external_wrench_covariance=covariance,
        activity=int(estimate.activity),
        base_contact=estimate.activity.base_contact,
    )


def sensor_health(make: Make, sensors: Sequence[SensorHealth]) -> list:
    """prime_estimation_msgs/SensorHealth of each sensor."""
    kind = make("prime_estimation_msgs/msg/SensorHealth")
    return [
        kind(
            name=s.name,
            ok=bool(s.ok),
            message=s.message,
            normalized_innovation=float(s.normalized_innovation),
        )
        for s in sensors
    ]


def contact_topic(name: str) -> str:
    """Topic `wrench/<contact>`, with a letter before a corner's number, as ROS names need."""
    return "/".join(
        ["wrench", *(f"c{part}" if part[:1].isdigit() else part for part in name.split("/"))]
    )


def vector(make: Make, v):
    """geometry_msgs/Vector3."""
    return make("geometry_msgs/msg/Vector3")(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def _point(make: Make, v):
    return make("geometry_msgs/msg/Point")(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def _quaternion(make: Make, q):
    return make("geometry_msgs/msg/Quaternion")(
        x=float(q[0]), y=float(q[1]), z=float(q[2]), w=float(q[3])
    )


def _wrench(make: Make, force, torque):
    return make("geometry_msgs/msg/Wrench")(force=vector(make, force), torque=vector(make, torque))
