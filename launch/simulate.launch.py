# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A simulated robot that walks on its own estimate.

`ros2 launch prime_estimation simulate.launch.py robot:=go2 gait:=trot payload:=3 payload_at:=20`,
then `ros2 topic pub -r 10 cmd_vel geometry_msgs/msg/Twist "{linear: {x: 0.4}}"`.

Robot, estimator and MPC are connected by topics only, as on a real robot, in real time. On a
computer that is too slow for that `speed:=0.3` gives the graph the simulation's time, which nobody
can fall behind.
"""

import sys
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PythonExpression

from prime_estimation.nodes.launch_arguments import RobotChoices
from prime_estimation.nodes.ros.launch_endings import ends_with

LAUNCH = Path(get_package_share_directory("prime_estimation")) / "launch"
YES_NO = ["true", "false"]
GAITS = ["stand", "trot", "walk", "bound"]
PRIME = [sys.executable, "-m", "prime_estimation.cli"]
ESTIMATED = ("robot", "config", "rviz", "rqt")
CONTROLLED = ("robot", "config", "gait")
ARGUMENTS = [
    DeclareLaunchArgument(
        "robot", default_value="go2", choices=RobotChoices(), description="which robot"
    ),
    DeclareLaunchArgument(
        "config", default_value="", description="YAML file with changes to the defaults"
    ),
    DeclareLaunchArgument(
        "gait", default_value="stand", choices=GAITS, description="the first gait"
    ),
    DeclareLaunchArgument(
        "payload", default_value="0.0", description="mass of a load on the base [kg]"
    ),
    DeclareLaunchArgument(
        "payload_at", default_value="10.0", description="when the load is put on [s]"
    ),
    DeclareLaunchArgument(
        "speed",
        default_value="0.0",
        description="of the graph's time on /clock against the real one; 0: real time",
    ),
    DeclareLaunchArgument(
        "mpc", default_value="true", choices=YES_NO, description="walk, or stand still without"
    ),
    DeclareLaunchArgument(
        "browser", default_value="true", choices=YES_NO, description="view in the browser"
    ),
    DeclareLaunchArgument(
        "rviz", default_value="false", choices=YES_NO, description="show the robot in RViz"
    ),
    DeclareLaunchArgument(
        "rqt", default_value="false", choices=YES_NO, description="plot mass, forces and timing"
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Simulated robot, estimator without motion capture, MPC, views."""
    value = LaunchConfiguration
    use_sim_time = PythonExpression(["'true' if float('", value("speed"), "') > 0.0 else 'false'"])
    simulated = ExecuteProcess(
        cmd=[
            *PRIME,
            *("simulate", "--live", "--transport", "ros", "--robot", value("robot")),
            *("--payload", value("payload"), "--on", value("payload_at")),
            *("--clock", value("speed")),
        ],
        output="screen",
    )
    estimator = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH / "estimator.launch.py")),
        launch_arguments={
            "mocap": "false",
            "use_sim_time": use_sim_time,
            **{name: LaunchConfiguration(name) for name in ESTIMATED},
        }.items(),
    )
    mpc = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(LAUNCH / "mpc.launch.py")),
        launch_arguments={
            "use_sim_time": use_sim_time,
            **{name: LaunchConfiguration(name) for name in CONTROLLED},
        }.items(),
        condition=IfCondition(value("mpc")),
    )
    browser = ExecuteProcess(
        cmd=[*PRIME, "view", "--transport", "ros", "--robot", value("robot")],
        output="screen",
        condition=IfCondition(value("browser")),
    )
    # the estimator first: it checks what is asked for before anything starts
    ended = ends_with(simulated, "simulated robot")
    return LaunchDescription([*ARGUMENTS, estimator, ended, simulated, mpc, browser])
