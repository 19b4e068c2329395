# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A Unitree robot, everything at once: bridge, estimator, views, and on request the MPC.

`ros2 launch prime_estimation robot.launch.py robot:=go2` only listens. With `mpc:=true` the
controller plans; the robot moves only with `commands:=true` besides, its own sport mode being off:
hang it up the first time, and keep `ros2 service call /mpc/stop std_srvs/srv/Trigger` at hand.
"""

import sys
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from prime_estimation.nodes.launch_arguments import RobotChoices
from prime_estimation.nodes.ros.launch_endings import ends_with

LAUNCH = Path(get_package_share_directory("prime_estimation")) / "launch"
YES_NO = ["true", "false"]
GAITS = ["stand", "trot", "walk", "bound"]
ESTIMATED = ("robot", "config", "namespace", "mocap", "rviz", "rqt")
CONTROLLED = ("robot", "config", "namespace", "gait")
ARGUMENTS = [
    DeclareLaunchArgument(
        "robot", default_value="go2", choices=RobotChoices(), description="which robot"
    ),
    DeclareLaunchArgument(
        "config", default_value="", description="YAML file with changes to the defaults"
    ),
    DeclareLaunchArgument(
        "namespace", default_value="", description="before all relative topic names"
    ),
    DeclareLaunchArgument(
        "mocap", default_value="false", choices=YES_NO, description="use motion capture"
    ),
    DeclareLaunchArgument(
        "mpc", default_value="false", choices=YES_NO, description="plan with the MPC"
    ),
    DeclareLaunchArgument(
        "gait", default_value="stand", choices=GAITS, description="the MPC's first gait"
    ),
    DeclareLaunchArgument(
        "commands",
        default_value="false",
        choices=YES_NO,
        description="hand the MPC's commands on to the motors: the robot moves",
    ),
    DeclareLaunchArgument(
        "browser", default_value="false", choices=YES_NO, description="view in the browser"
    ),
    DeclareLaunchArgument(
        "rviz", default_value="false", choices=YES_NO, description="show the robot in RViz"
    ),
    DeclareLaunchArgument(
        "rqt", default_value="false", choices=YES_NO, description="plot mass, forces and timing"
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Bridge, estimator, MPC, views."""
    value = LaunchConfiguration
    bridge = Node(
        package="prime_estimation",
        executable="unitree_bridge",
        name="unitree_bridge",
        namespace=value("namespace"),
        output="screen",
        parameters=[
            {
                "robot": value("robot"),
                "config": ParameterValue(value("config"), value_type=str),
                "commands": ParameterValue(value("commands"), value_type=bool),
            }
        ],
    )
    estimator = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH / "estimator.launch.py")),
        launch_arguments={name: LaunchConfiguration(name) for name in ESTIMATED}.items(),
    )
    mpc = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH / "mpc.launch.py")),
        launch_arguments={name: LaunchConfiguration(name) for name in CONTROLLED}.items(),
        condition=IfCondition(value("mpc")),
    )
    browser = ExecuteProcess(
        cmd=[
            *(sys.executable, "-m", "prime_estimation.cli", "view", "--transport", "ros"),
            *("--robot", value("robot"), "--node", [value("namespace"), "/prime"]),
        ],
        output="screen",
        condition=IfCondition(value("browser")),
    )
    # the estimator first: it checks what is asked for before anything starts
    ended = ends_with(bridge, "bridge")
    return LaunchDescription([*ARGUMENTS, estimator, ended, bridge, mpc, browser])
