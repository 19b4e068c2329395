# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The nodes as ROS 2 programs, with parameters, lifecycle and rosout."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Mapping

from ...errors import ConfigError, PrimeError
from ...transport.base import Names
from ...transport.environment import domain_id
from ...transport.ros import RosTransport
from .. import run_node as serve
from ..scheduling import precedence, uninterrupted
from .parameters import tell_unknown
from .rosout import log_to_rosout

# Fast DDS: of a program that was killed, others hold shared memory that they take the next one's
# for, for a second or two; it says what it says over UDP instead, unless the user chooses
_TRANSPORTS = ("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")

# parameters of the simple nodes: default and description
_ROBOT = {
    "robot": ("go2", "go1, go2, g1, ... or the path of a robot's YAML file"),
    "config": ("", "YAML file with changes to its defaults, that of the estimator"),
}
_PARAMETERS = {
    "unitree_bridge": {
        **_ROBOT,
        "imu_frame": (
            "",
            "frame of the IMU in the URDF (default: that of the robot's YAML)",
        ),
        "commands": (False, "hand on mpc/motor_commands as lowcmd: the robot moves"),
    },
    "inertia_listener": {
        **_ROBOT,
        "rate": (50.0, "of the control loop whose model is kept up to date [Hz]"),
    },
    "inertia_keeper": {},
    "markers": {"frame_prefix": ("", "that of the estimator, before the names of links")},
    "mpc": {
        **_ROBOT,
        "gait": ("stand", "stand, trot, walk or bound; topic ~/gait changes it"),
        "rate": (500.0, "of motor commands [Hz]"),
    },
    "replay": {
        "bag": ("", "rosbag2 folder, .mcap or .db3 file"),
        "robot": ("", "whose IMU is played (default: that of the raw messages)"),
        "config": ("", "YAML file with changes to its defaults"),
        "bag_topics": ("", "topics of sensors where several could be: imu=NAME,joint_states=NAME"),
        "rate": (1.0, "speed of time, 0 for as fast as possible"),
        "start": (0.0, "begin here [s]"),
        "duration": (0.0, "this much of the recording, 0: to the end [s]"),
        "loop": (False, "begin again at the end"),
        "clock": (False, "publish /clock and keep the recorded stamps"),
    },
}


def plain_transport(
    name: str, namespace: str, remap: Mapping[str, str], domain: int | None, use_sim_time: bool
) -> RosTransport:
    """Transport on a new rclpy node, for `prime node --transport ros`."""
    rclpy = _rclpy()
    Names(name, namespace, remap)  # says in one line what rclpy says in a traceback
    domain = None if domain is None else domain_id(domain)
    arguments = [
        "--ros-args",
        *(part for old, new in remap.items() for part in ("-r", f"{old}:={new}")),
    ]
    rclpy.init(
        args=[*arguments, "-p", f"use_sim_time:={str(use_sim_time).lower()}"],
        domain_id=domain,
        signal_handler_options=_no_signals(),
    )
    return RosTransport(uninterrupted(lambda: rclpy.create_node(name, namespace=namespace)))


def main(name: str) -> int:
    """Run a node until it is told to end; the exit code."""
    stop = serve.stop_on_signals()
    start = {"estimator": _estimator, "replay": _replay}.get(name, _serve)
    return _guarded(lambda rclpy: start(rclpy, name, stop))


def _estimator(_rclpy, _name: str, stop: threading.Event) -> None:
    from .lifecycle import EstimatorLifecycle

    os.environ.setdefault(*_TRANSPORTS)
    node = uninterrupted(lambda: EstimatorLifecycle(ended=stop.set))
    log_to_rosout(node)
    if stop.is_set():
        return
    with precedence():  # before the solver's thread begins, which takes turns
        if node.get_parameter("autostart").value and not node.autostart():
            raise PrimeError("the estimator could not be started, see above")
        with serve.without_pauses():
            RosTransport(node).spin(stop)
    node.end()
    if node.failure is not None:
        raise PrimeError(f"the recording could not be read to its end: {node.failure}")


def _replay(rclpy, name: str, stop: threading.Event) -> None:
    need_rosbags()
    from ...config.parameters import Config
    from ..replay import Playback, ReplayNode

    node, options = _node_with_parameters(rclpy, name)
    bag, topics = options.pop("bag"), topics_of(options.pop("bag_topics"))
    robot, changes = options.pop("robot"), options.pop("config")
    frame = Config.load(robot, changes or None).robot.imu_frame if robot else ""
    ReplayNode(RosTransport(node), bag, Playback(**options), topics, frame).run(stop)


def topics_of(text: str) -> dict[str, str]:
    """Topics of a recording by sensor, of the parameter `bag_topics`."""
    from ...io.topics import named_topics

    return named_topics(filter(None, text.replace(" ", "").split(",")), "bag_topics")


def need_rosbags() -> None:
    """No distribution has a package of rosbags: only those who read recordings need it.

    Raises:
        ConfigError: it is missing.
    """
    if importlib.util.find_spec("rosbags") is None:
        raise ConfigError("reading recordings needs rosbags: pip install 'rosbags>=0.11.9,<0.12'")


def _serve(rclpy, name: str, stop: threading.Event) -> None:
    node, options = _node_with_parameters(rclpy, name)
    transport = RosTransport(node)
    robot, changes = options.pop("robot", ""), options.pop("config", "")
    built = serve.build(name, transport, robot, changes, **options)
    serve.run(transport, built, stop=stop)


def _node_with_parameters(rclpy, name: str) -> tuple:
    from rcl_interfaces.msg import ParameterDescriptor

    # the player does not spin: whoever asked for its parameters would wait for an answer
    services = name != "replay"
    node = uninterrupted(lambda: rclpy.create_node(name, start_parameter_services=services))
    log_to_rosout(node)
    # typed by us: rclpy does not take `rate:=2` for a number with a point
    declared = {
        key: (
            node.declare_parameter(
                key, value, ParameterDescriptor(description=doc, dynamic_typing=True)
            ).value,
            type(value),
        )
        for key, (value, doc) in _PARAMETERS[name].items()
    }
    tell_unknown(node)
    return node, {key: _typed(key, value, kind) for key, (value, kind) in declared.items()}


def _typed(name: str, value, kind: type):
    if isinstance(value, kind) or (kind is float and type(value) is int):
        return kind(value)
    raise ConfigError(f"parameter {name} must be of type {kind.__name__}, got {value!r}", value)


def _guarded(start: Callable) -> int:
    rclpy = _rclpy()
    rclpy.init(args=sys.argv, signal_handler_options=_no_signals())
    try:
        start(rclpy)
        return 0
    except PrimeError as error:
        print(f"{sys.argv[0].rsplit('/', 1)[-1]}: error: {error}", file=sys.stderr)
        return 2
    finally:
        rclpy.try_shutdown()


def _no_signals():
    # ours end the spinning between two callbacks
    from rclpy.signals import SignalHandlerOptions

    return SignalHandlerOptions.NO


def _rclpy():
    try:
        import rclpy
    except ImportError as error:
        raise PrimeError(
            f"rclpy is missing ({error}): source a ROS 2 installation, or use --transport dds"
        ) from error
    return rclpy
