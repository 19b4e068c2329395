# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator on a recording.

`ros2 launch prime_estimation replay.launch.py robot:=go2 bag:=/path/to/bag rviz:=true`.

The same graph as on the robot, with the time of the recording. `rate:=0` is as fast as possible:
the estimator reads the recording itself then, and estimates every node of it. `ros2 bag play
--clock` in place of the player works as well: start estimator.launch.py with use_sim_time:=true
then.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.conditions import IfCondition, UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from prime_estimation.nodes import launch_arguments
from prime_estimation.nodes.launch_arguments import RobotChoices
from prime_estimation.nodes.ros.launch_endings import ends_with

SHARE = Path(get_package_share_directory("prime_estimation"))
YES_NO = ["true", "false"]
PASSED_ON = ("robot", "config", "bag_topics", "mocap", "namespace", "frame_prefix", "rviz", "rqt")
ARGUMENTS = [
    DeclareLaunchArgument("bag", description="rosbag2 folder, .mcap or .db3 file"),
    DeclareLaunchArgument(
        "robot", default_value="go2", choices=RobotChoices(), description="which robot"
    ),
    DeclareLaunchArgument(
        "config", default_value="", description="YAML file with changes to the defaults"
    ),
    DeclareLaunchArgument(
        "bag_topics",
        default_value="",
        description="topics of sensors where several could be: imu=NAME,joint_states=NAME",
    ),
    DeclareLaunchArgument(
        "mocap",
        default_value="",
        choices=["", *YES_NO],
        description="use motion capture; default: as the configuration says",
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
        "rate",
        default_value="1.0",
        description="speed of time; 0: every node, as fast as the estimator goes, without loop",
    ),
    DeclareLaunchArgument(
        "loop", default_value="false", choices=YES_NO, description="begin again at the end"
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
    """Player with /clock, estimator on simulated time; all ends with the recording."""
    value = LaunchConfiguration
    unhurried = PythonExpression(["float('", value("rate"), "') != 0.0"])
    listening = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SHARE / "launch" / "estimator.launch.py")),
        launch_arguments={
            **{name: value(name) for name in PASSED_ON},
            "bag": "",
            "input": "topics",  # what the player makes of a raw message
            "use_sim_time": "true",
        }.items(),
        condition=IfCondition(unhurried),
    )
    reading = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SHARE / "launch" / "estimator.launch.py")),
        launch_arguments={
            **{name: value(name) for name in PASSED_ON},
            "bag": value("bag"),
            "use_sim_time": "true",
        }.items(),
        condition=UnlessCondition(unhurried),
    )
    player = Node(
        package="prime_estimation",
        executable="replay",
        namespace=value("namespace"),
        output="screen",
        parameters=[
            {
                "bag": ParameterValue(value("bag"), value_type=str),
                "bag_topics": ParameterValue(value("bag_topics"), value_type=str),
                "robot": ParameterValue(value("robot"), value_type=str),
                "config": ParameterValue(value("config"), value_type=str),
                "rate": ParameterValue(value("rate"), value_type=float),
                "loop": ParameterValue(value("loop"), value_type=bool),
                "clock": True,
            }
        ],
        condition=IfCondition(unhurried),
    )
    ended = ends_with(player, "player")
    check = OpaqueFunction(function=check_before_anything_starts)
    # the player first: what an included file is given holds for everything behind it
    return LaunchDescription([*ARGUMENTS, check, ended, player, listening, reading])


def check_before_anything_starts(context) -> list:
    """A launch that fails later leaves nodes running."""
    names = ("bag", "robot", "config", "rviz", "rqt")
    value = {name: LaunchConfiguration(name).perform(context) for name in names}
    launch_arguments.check_bag(value["bag"])
    launch_arguments.check_robot(value["robot"], value["config"])
    launch_arguments.check_packages({name: value[name] == "true" for name in ("rviz", "rqt")})
    return []
