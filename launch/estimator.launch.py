# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator on a robot: `ros2 launch prime_estimation estimator.launch.py robot:=go2`.

Remap its inputs with a namespace, or topic by topic in a launch file of your own; `ros2 launch ...
--show-args` lists everything.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from prime_estimation.nodes import launch_arguments
from prime_estimation.nodes.launch_arguments import RobotChoices
from prime_estimation.nodes.ros.launch_endings import ends_with

SHARE = Path(get_package_share_directory("prime_estimation"))
YES_NO = ["true", "false"]
RESPAWN_DELAY = 0.2  # s
SHARED = ("robot", "config", "namespace", "frame_prefix", "use_sim_time", "rviz", "rqt")
ARGUMENTS = [
    DeclareLaunchArgument(
        "robot", default_value="go2", choices=RobotChoices(), description="which robot"
    ),
    DeclareLaunchArgument(
        "config",
        default_value="",
        description="YAML file with changes to the defaults (robot, noise, estimator, node)",
    ),
    DeclareLaunchArgument(
        "mocap",
        default_value="",
        choices=["", *YES_NO],
        description="use motion capture on mocap/pose; default: as the configuration says",
    ),
    DeclareLaunchArgument(
        "input",
        default_value="",
        choices=["", "topics", "lowstate"],
        description="joint_states and imu, or Unitree's own lowstate; default: as the "
        "configuration says",
    ),
    DeclareLaunchArgument(
        "bag",
        default_value="",
        description="recording to estimate as fast as possible, in place of topics",
    ),
    DeclareLaunchArgument(
        "bag_topics",
        default_value="",
        description="its topics of sensors where several could be: imu=NAME,joint_states=NAME",
    ),
    DeclareLaunchArgument(
        "namespace", default_value="", description="before all relative topic names"
    ),
    DeclareLaunchArgument(
        "frame_prefix",
        default_value="",
        description="before the names of all frames (robot1/); default: as the configuration says",
    ),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="false",
        choices=YES_NO,
        description="take the time from /clock",
    ),
    DeclareLaunchArgument(
        "autostart",
        default_value="true",
        choices=YES_NO,
        description="configure and activate the lifecycle node at once",
    ),
    DeclareLaunchArgument(
        "respawn",
        default_value="false",
        choices=YES_NO,
        description="start the estimator again when it dies, with the inertia that it had learned",
    ),
    DeclareLaunchArgument(
        "rviz", default_value="false", choices=YES_NO, description="show the robot in RViz"
    ),
    DeclareLaunchArgument(
        "rqt",
        default_value="false",
        choices=YES_NO,
        description="plot mass, forces and timing in rqt",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """The estimator, and on request its keeper, RViz and rqt."""
    value = LaunchConfiguration
    keeper = Node(
        package="prime_estimation",
        executable="inertia_keeper",
        namespace=value("namespace"),
        condition=IfCondition(value("respawn")),
    )
    view = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SHARE / "launch" / "view.launch.py")),
        launch_arguments={name: value(name) for name in SHARED}.items(),
        condition=IfCondition(
            PythonExpression(["'", value("rviz"), "' == 'true' or '", value("rqt"), "' == 'true'"])
        ),
    )
    check = OpaqueFunction(function=check_before_anything_starts)
    return LaunchDescription([*ARGUMENTS, check, OpaqueFunction(function=estimator), keeper, view])


def estimator(context) -> list:
    """The estimator, whose end ends the launch; what is not given is as the configuration says."""
    value = LaunchConfiguration
    given = {name: value(name).perform(context) for name in ("input", "frame_prefix")}
    parameters = {
        "robot": value("robot"),
        "config": ParameterValue(value("config"), value_type=str),
        "bag": ParameterValue(value("bag"), value_type=str),
        "bag_topics": ParameterValue(value("bag_topics"), value_type=str),
        "use_sim_time": ParameterValue(value("use_sim_time"), value_type=bool),
        "autostart": ParameterValue(value("autostart"), value_type=bool),
        **{f"node.{k}": ParameterValue(text, value_type=str) for k, text in given.items() if text},
    }
    if mocap := value("mocap").perform(context):
        parameters["node.mocap"] = mocap == "true"
    node = Node(
        package="prime_estimation",
        executable="estimator",
        name="prime",
        namespace=value("namespace"),
        output="screen",
        respawn=value("respawn"),
        respawn_delay=RESPAWN_DELAY,
        parameters=[parameters],
    )
    return [ends_with(node, "estimator", respawn=value("respawn")), node]


def check_before_anything_starts(context) -> list:
    """A launch that fails later leaves nodes running."""
    names = ("robot", "config", "bag", "rviz", "rqt")
    value = {name: LaunchConfiguration(name).perform(context) for name in names}
    launch_arguments.check_robot(value["robot"], value["config"])
    launch_arguments.check_bag(value["bag"])
    launch_arguments.check_packages({name: value[name] == "true" for name in ("rviz", "rqt")})
    return []
