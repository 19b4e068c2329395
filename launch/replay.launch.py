# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator on a recording.

`ros2 launch prime_estimation replay.launch.py robot:=go2 bag:=/path/to/bag rviz:=true`.

The same graph as on the robot, with the time of the recording. `ros2 bag play --clock` in place of
the player works as well:
start estimator.launch.py with use_sim_time:=true then.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import (
    DeclareLaunchArgument,
    EmitEvent,
    IncludeLaunchDescription,
    RegisterEventHandler,
)
from launch.event_handlers import OnProcessExit
from launch.events import Shutdown
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from prime_estimation.nodes.launch_arguments import RobotChoices

SHARE = Path(get_package_share_directory("prime_estimation"))
YES_NO = ["true", "false"]
PASSED_ON = ("robot", "config", "mocap", "namespace", "rviz", "rqt")


def generate_launch_description() -> LaunchDescription:
    """Player with /clock, estimator on simulated time; all ends with the recording."""
    value = LaunchConfiguration
    arguments = [
        DeclareLaunchArgument("bag", description="rosbag2 folder, .mcap or .db3 file"),
        DeclareLaunchArgument(
            "robot", default_value="go2", choices=RobotChoices(), description="which robot"
        ),
        DeclareLaunchArgument(
            "config", default_value="", description="YAML file with changes to the defaults"
        ),
        DeclareLaunchArgument(
            "mocap", default_value="true", choices=YES_NO, description="use motion capture"
        ),
        DeclareLaunchArgument(
            "namespace", default_value="", description="before all relative topic names"
        ),
        DeclareLaunchArgument(
            "rate", default_value="1.0", description="speed of time, 0 for as fast as possible"
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
    estimator = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SHARE / "launch" / "estimator.launch.py")),
        launch_arguments={
            **{name: value(name) for name in PASSED_ON},
            "use_sim_time": "true",
        }.items(),
    )
    player = Node(
        package="prime_estimation",
        executable="replay",
        namespace=value("namespace"),
        output="screen",
        parameters=[
            {
                "bag": ParameterValue(value("bag"), value_type=str),
                "rate": ParameterValue(value("rate"), value_type=float),
                "loop": ParameterValue(value("loop"), value_type=bool),
                "clock": True,
            }
        ],
    )
    end = RegisterEventHandler(
        OnProcessExit(
            target_action=player,
            on_exit=[EmitEvent(event=Shutdown(reason="the recording has ended"))],
        )
    )
    return LaunchDescription([*arguments, estimator, player, end])
