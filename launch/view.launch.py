# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""See what the estimator says.

`ros2 launch prime_estimation view.launch.py robot:=go2 rviz:=true rqt:=true`.

RViz gets the robot at its estimated posture, odometry with covariance, ground forces and inertia
ellipsoids. Where motion capture has a frame of its own, `mocap_frame` and `mocap_origin` tie it to
the estimator's world.
"""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, OpaqueFunction, TimerAction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from prime_estimation.nodes import launch_arguments
from prime_estimation.nodes.launch_arguments import RobotChoices
from prime_estimation.nodes.ros.extrinsics import static_transform

SHARE = Path(get_package_share_directory("prime_estimation"))
YES_NO = ["true", "false"]
RQT_AFTER = 3.0  # s: within which the topics of an estimator that starts with it are found
RVIZ = SHARE / "config" / "rviz" / "prime.rviz"
ARGUMENTS = [
    DeclareLaunchArgument(
        "robot", default_value="go2", choices=RobotChoices(), description="which robot"
    ),
    DeclareLaunchArgument(
        "config",
        default_value="",
        description="YAML file with changes to the defaults, that of the estimator",
    ),
    DeclareLaunchArgument("namespace", default_value="", description="that of the estimator"),
    DeclareLaunchArgument("frame_prefix", default_value="", description="that of the estimator"),
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
]


def generate_launch_description() -> LaunchDescription:
    """Viewers, each on request."""
    value = LaunchConfiguration
    sim_time = {"use_sim_time": value("use_sim_time")}
    perspective = str(SHARE / "config" / "rqt" / "prime.perspective")
    aggregation = str(SHARE / "config" / "diagnostics" / "aggregator.yaml")
    return LaunchDescription(
        [
            *ARGUMENTS,
            OpaqueFunction(function=check_before_anything_starts),
            OpaqueFunction(function=robot_description),
            OpaqueFunction(function=rviz),
            OpaqueFunction(function=markers),
            OpaqueFunction(function=mocap_frame),
            Node(
                package="diagnostic_aggregator",
                executable="aggregator_node",
                name="analyzers",
                namespace=value("namespace"),
                parameters=[aggregation, sim_time],
                condition=IfCondition(value("rqt")),
            ),
            TimerAction(  # rqt_plot takes only topics that are there when it starts
                period=RQT_AFTER,
                actions=[
                    ExecuteProcess(
                        cmd=["rqt", "--force-discover", "--perspective-file", perspective]
                    )
                ],
                condition=IfCondition(value("rqt")),
            ),
        ]
    )


def check_before_anything_starts(context) -> list:
    """A launch that fails later leaves nodes running."""
    names = ("robot", "config", "rviz", "rqt", "mocap_frame", "mocap_origin")
    value = {name: LaunchConfiguration(name).perform(context) for name in names}
    launch_arguments.check_robot(value["robot"], value["config"])
    launch_arguments.check_packages({name: value[name] == "true" for name in ("rviz", "rqt")})
    if value["mocap_frame"]:
        static_transform(value["mocap_origin"], "odom", value["mocap_frame"])
    return []


def robot_description(context) -> list:
    """robot_state_publisher with the estimator's URDF, moved by the estimated joint states."""
    from prime_estimation.robot import urdf_text

    urdf = urdf_text(configuration(context).robot)
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            parameters=[
                {
                    "robot_description": ParameterValue(urdf, value_type=str),
                    "frame_prefix": ParameterValue(prefix_of(context), value_type=str),
                    "use_sim_time": LaunchConfiguration("use_sim_time"),
                }
            ],
            namespace=LaunchConfiguration("namespace"),
            remappings=[("joint_states", "prime/joint_states")],
            condition=IfCondition(LaunchConfiguration("rviz")),
        )
    ]


def rviz(context) -> list:
    """RViz, whose displays show the topics of this robot and namespace."""
    from prime_estimation.viz.rviz import shown, with_frames

    if LaunchConfiguration("rviz").perform(context) != "true":
        return []
    robot, prefix = configuration(context), prefix_of(context)
    content, frames = RVIZ.read_text(), frames_of(robot, prefix)
    path, topics = RVIZ, shown(content, robot)
    if frames != ("odom", "base"):
        path = Path(mkdtemp(prefix="prime_rviz_")) / RVIZ.name
        path.write_text(with_frames(content, *frames, prefix))
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            arguments=["-d", str(path)],
            parameters=[{"use_sim_time": LaunchConfiguration("use_sim_time")}],
            remappings=[
                (display, [LaunchConfiguration("namespace"), topic])
                for display, topic in topics.items()
            ],
        )
    ]


def markers(context) -> list:
    """Estimated inertia as markers."""
    return [
        Node(
            package="prime_estimation",
            executable="markers",
            name="markers",
            namespace=LaunchConfiguration("namespace"),
            parameters=[
                {
                    "use_sim_time": LaunchConfiguration("use_sim_time"),
                    "frame_prefix": ParameterValue(prefix_of(context), value_type=str),
                }
            ],
            condition=IfCondition(LaunchConfiguration("rviz")),
        )
    ]


def frames_of(config, prefix: str) -> tuple[str, str]:
    """World and base frame of the estimator."""
    from prime_estimation.output_messages import world_frame_of
    from prime_estimation.robot import Robot

    base = Robot(config.robot).base_frame
    return world_frame_of(config.node.world_frame, prefix), prefix + base


def prefix_of(context) -> str:
    """Before the names of the estimator's frames."""
    given = LaunchConfiguration("frame_prefix").perform(context)
    return given or configuration(context).node.frame_prefix


def configuration(context):
    """That of the estimator."""
    return loaded(*(LaunchConfiguration(name).perform(context) for name in ("robot", "config")))


@cache
def loaded(robot: str, config: str):
    """A configuration, for all that ask for it."""
    from prime_estimation.config.parameters import Config

    return Config.load(robot, config or None)


def mocap_frame(context) -> list:
    """Static transform between the origin of the motion capture and the estimator's world."""
    frame = LaunchConfiguration("mocap_frame").perform(context)
    if not frame:
        return []
    world, _ = frames_of(configuration(context), prefix_of(context))
    origin = LaunchConfiguration("mocap_origin").perform(context)
    return [
        Node(
            package="tf2_ros",
            executable="static_transform_publisher",
            arguments=static_transform(origin, world, frame),
        )
    ]
