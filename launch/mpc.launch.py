# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The whole-body MPC on the estimate: `ros2 launch prime_estimation mpc.launch.py robot:=go2`.

It commands a velocity of zero until `cmd_vel` says otherwise; `mpc/gait` changes the gait. Nothing
moves before something hands `mpc/motor_commands` on to motors: the bridge with `commands`, or the
simulated robot.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from prime_estimation.nodes import launch_arguments
from prime_estimation.nodes.launch_arguments import RobotChoices

GAITS = ["stand", "trot", "walk", "bound"]
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
    DeclareLaunchArgument(
        "gait", default_value="stand", choices=GAITS, description="the first gait"
    ),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="false",
        choices=["true", "false"],
        description="take the time from /clock",
    ),
    DeclareLaunchArgument("rate", default_value="500.0", description="motor commands per second"),
]


def generate_launch_description() -> LaunchDescription:
    """The controller."""
    value = LaunchConfiguration
    mpc = Node(
        package="prime_estimation",
        executable="mpc",
        name="mpc",
        namespace=value("namespace"),
        output="screen",
        parameters=[
            {
                "robot": value("robot"),
                "config": ParameterValue(value("config"), value_type=str),
                "gait": value("gait"),
                "rate": ParameterValue(value("rate"), value_type=float),
                "use_sim_time": ParameterValue(value("use_sim_time"), value_type=bool),
            }
        ],
    )
    check = OpaqueFunction(function=check_before_anything_starts)
    return LaunchDescription([*ARGUMENTS, check, mpc])


def check_before_anything_starts(context) -> list:
    """A launch that fails later leaves nodes running."""
    given = (LaunchConfiguration(name).perform(context) for name in ("robot", "config"))
    launch_arguments.check_robot(*given)
    return []
