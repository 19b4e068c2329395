# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""See what the estimator says.

`ros2 launch prime_estimation view.launch.py robot:=go2 rviz:=true rqt:=true`.

RViz gets the robot at its estimated posture, odometry with covariance, ground forces and inertia
ellipsoids. Where motion capture has a frame of its own, `mocap_frame` and `mocap_origin` tie it to
the estimator's world.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from prime_estimation.nodes.launch_arguments import RobotChoices

SHARE = Path(get_package_share_directory("prime_estimation"))
YES_NO = ["true", "false"]
RVIZ = SHARE / "config" / "rviz" / "prime.rviz"


def generate_launch_description() -> LaunchDescription:
    """Viewers, each on request."""
    value = LaunchConfiguration
    sim_time = {"use_sim_time": value("use_sim_time")}
    perspective = str(SHARE / "config" / "rqt" / "prime.perspective")
    return LaunchDescription(
        [
            DeclareLaunchArgument(
                "robot", default_value="go2", choices=RobotChoices(), description="which robot"
            ),
            DeclareLaunchArgument(
                "config",
                default_value="",
                description="YAML file with changes to the defaults, that of the estimator",
            ),
            DeclareLaunchArgument(
                "namespace", default_value="", description="that of the estimator"
            ),
            DeclareLaunchArgument(
                "use_sim_time",
                default_value="false",
                choices=YES_NO,
                description="take the time from /clock",
            ),
            DeclareLaunchArgument(
                "rviz",
                default_value="true",
                choices=YES_NO,
                description="RViz with robot, odometry, forces, inertia",
            ),
            DeclareLaunchArgument(
                "rqt",
                default_value="false",
                choices=YES_NO,
                description="rqt with mass, forces, solve time",
            ),
            DeclareLaunchArgument(
                "mocap_frame",
                default_value="",
                description="frame of the motion capture system, to be tied to odom",
            ),
            DeclareLaunchArgument(
                "mocap_origin",
                default_value="0 0 0 0 0 0",
                description="its pose in odom: x y z [m] roll pitch yaw [rad]",
            ),
            OpaqueFunction(function=robot_description),
            OpaqueFunction(function=rviz),
            OpaqueFunction(function=mocap_frame),
            Node(
                package="prime_estimation",
                executable="markers",
                name="markers",
                namespace=value("namespace"),
                parameters=[sim_time],
                condition=IfCondition(value("rviz")),
            ),
            ExecuteProcess(
                cmd=["rqt", "--force-discover", "--perspective-file", perspective],
                condition=IfCondition(value("rqt")),
            ),
        ]
    )


def robot_description(context) -> list:
    """robot_state_publisher with the estimator's URDF, moved by the estimated joint states."""
    from prime_estimation.robot import urdf_text

    urdf = urdf_text(configuration(context).robot)
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[
                {"robot_description": urdf, "use_sim_time": LaunchConfiguration("use_sim_time")}
            ],
            namespace=LaunchConfiguration("namespace"),
            remappings=[("joint_states", "prime/joint_states")],
            condition=IfCondition(LaunchConfiguration("rviz")),
        )
    ]


def rviz(context) -> list:
    """RViz, whose displays show the topics of this robot and namespace."""
    from prime_estimation.viz.rviz import shown

    topics = shown(RVIZ.read_text(), configuration(context))
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            arguments=["-d", str(RVIZ)],
            parameters=[{"use_sim_time": LaunchConfiguration("use_sim_time")}],
            remappings=[
                (display, [LaunchConfiguration("namespace"), topic])
                for display, topic in topics.items()
            ],
            condition=IfCondition(LaunchConfiguration("rviz")),
        )
    ]


def configuration(context):
    """That of the estimator."""
    from prime_estimation.config.parameters import Config

    robot, config = (LaunchConfiguration(name).perform(context) for name in ("robot", "config"))
    return Config.load(robot, config or None)


def mocap_frame(context) -> list:
    """Static transform between the origin of the motion capture and the estimator's world."""
    frame = LaunchConfiguration("mocap_frame").perform(context)
    if not frame:
        return []
    from tf_transformations import quaternion_from_euler

    numbers = [float(v) for v in LaunchConfiguration("mocap_origin").perform(context).split()]
    if len(numbers) != 6:
        raise RuntimeError(
            f"mocap_origin wants six numbers, x y z roll pitch yaw, got {len(numbers)}"
        )
    x, y, z, w = quaternion_from_euler(*numbers[3:])
    pose = dict(
        zip(
            ("--x", "--y", "--z", "--qx", "--qy", "--qz", "--qw"),
            (*numbers[:3], x, y, z, w),
            strict=True,
        )
    )
    arguments = [part for pair in pose.items() for part in map(str, pair)]
    return [
        Node(
            package="tf2_ros",
            executable="static_transform_publisher",
            arguments=[*arguments, "--frame-id", "odom", "--child-frame-id", frame],
        )
    ]
