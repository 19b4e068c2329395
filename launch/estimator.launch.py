# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator on a robot: `ros2 launch prime_estimation estimator.launch.py robot:=go2`.

Remap its inputs with a namespace, or topic by topic in a launch file of your own; `ros2 launch ...
--show-args` lists everything.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from prime_estimation.nodes.launch_arguments import RobotChoices

SHARE = Path(get_package_share_directory("prime_estimation"))
YES_NO = ["true", "false"]


def generate_launch_description() -> LaunchDescription:
    """The estimator, and on request RViz and rqt."""
    value = LaunchConfiguration
    arguments = [
        DeclareLaunchArgument(
            "robot", default_value="go2", choices=RobotChoices(), description="which robot"
        ),
        DeclareLaunchArgument(
            "config",
            default_value="",
            description="YAML file with changes to the defaults "
            "(sections robot, noise, estimator, node)",
        ),
        DeclareLaunchArgument(
            "mocap",
            default_value="true",
            choices=YES_NO,
            description="use motion capture on mocap/pose",
        ),
        DeclareLaunchArgument(
            "input",
            default_value="topics",
            choices=["topics", "lowstate"],
            description="joint_states and imu, or Unitree's own lowstate",
        ),
        DeclareLaunchArgument(
            "namespace", default_value="", description="before all relative topic names"
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
            "rviz", default_value="false", choices=YES_NO, description="show the robot in RViz"
        ),
        DeclareLaunchArgument(
            "rqt",
            default_value="false",
            choices=YES_NO,
            description="plot mass, forces and timing in rqt",
        ),
    ]
    estimator = Node(
        package="prime_estimation",
        executable="estimator",
        name="prime",
        namespace=value("namespace"),
        output="screen",
        parameters=[
            {
                "robot": value("robot"),
                "config": ParameterValue(value("config"), value_type=str),
                "node.mocap": ParameterValue(value("mocap"), value_type=bool),
                "node.input": value("input"),
                "use_sim_time": ParameterValue(value("use_sim_time"), value_type=bool),
                "autostart": ParameterValue(value("autostart"), value_type=bool),
            }
        ],
    )
    view = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SHARE / "launch" / "view.launch.py")),
        launch_arguments={
            name: value(name)
            for name in ("robot", "config", "namespace", "use_sim_time", "rviz", "rqt")
        }.items(),
        condition=IfCondition(
            PythonExpression(["'", value("rviz"), "' == 'true' or '", value("rqt"), "' == 'true'"])
        ),
    )
    return LaunchDescription([*arguments, estimator, view])
