# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator as a ROS 2 lifecycle node.

Configure: robot and configuration; activate: topics, solver; deactivate: silence.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from ...config.parameters import Config
from ...errors import PrimeError
from ...robot import Robot
from ...transport.ros import RosTransport
from ..estimator import EstimatorNode
from . import parameters

if TYPE_CHECKING:  # reading recordings needs rosbags, which not everybody has
    from ..recorded_input import RecordedInput


# parameters beside those of the configuration: default and description
_OWN = {
    "robot": ("go2", "go1, go2, g1, ... or the path of a robot's YAML file"),
    "config": ("", "YAML file with changes to the defaults"),
    "autostart": (True, "configure and activate at once"),
    "bag": (
        "",
        "recording to estimate as fast as possible in place of topics; the node ends with it",
    ),
    "bag_topics": ("", "its topics of sensors where several could be: imu=NAME,..."),
}


class EstimatorLifecycle(LifecycleNode):
    """Estimator with a life cycle.

    Parameters: `robot`, `config` (YAML of changes), `autostart`, `bag` and `bag_topics` (recorded
    input), and all of the configuration as `noise.*`, `estimator.*`, `node.*`.

    Args:
        ended: called when recorded input has ended.
    """

    def __init__(self, ended: Callable[[], None] = lambda: None):
        super().__init__("prime")
        self._ended = ended
        for name, (default, description) in _OWN.items():
            described = ParameterDescriptor(description=description, read_only=True)
            parameters.declare_one(self, name, default, described)
        self._config = Config.load(
            self.get_parameter("robot").value, self.get_parameter("config").value or None
        )
        parameters.declare(self, self._config)
        self._robot: Robot | None = None
        self._node: EstimatorNode | None = None
        self._stopped = threading.Event()
        self._transport: RosTransport | None = None
        self._recording: RecordedInput | None = None
        self.add_on_set_parameters_callback(self._check)
        if hasattr(self, "add_post_set_parameters_callback"):
            self.add_post_set_parameters_callback(self._apply)

    def autostart(self) -> bool:
        """Configure and activate; False when one of them fails."""
        return (
            self.trigger_configure() == TransitionCallbackReturn.SUCCESS
            and self.trigger_activate() == TransitionCallbackReturn.SUCCESS
        )

    def set_parameters_atomically(self, parameter_list) -> SetParametersResult:
        """Set parameters, whole numbers where doubles are meant included."""
        return super().set_parameters_atomically(
            parameters.with_doubles(self._config, parameter_list)
        )

    def set_parameters(self, parameter_list) -> list[SetParametersResult]:
        """Set parameters one by one."""
        return super().set_parameters(parameters.with_doubles(self._config, parameter_list))

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the robot, check the configuration."""
        try:
            self._config = parameters.configured(self, self._config)
            self._robot = Robot(self._config.robot)
        except Exception as error:  # noqa: BLE001 - see _failed
            return self._failed(error)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to listen and to estimate."""
        try:
            self._begin()
        except Exception as error:  # noqa: BLE001 - see _failed
            return self._failed(error)
        return super().on_activate(state)

    def _begin(self) -> None:
        self._transport = RosTransport(self)
        bag, given, config = self.get_parameter("bag").value, None, self._config
        if bag:
            from .programs import need_rosbags, topics_of

            need_rosbags()
            from ..recorded_input import RecordedInput

            topics = topics_of(self.get_parameter("bag_topics").value)
            frame = self._robot.config.imu_frame
            given = self._recording = RecordedInput(self._transport, bag, topics, frame)
            # what a raw message holds comes as topics of a recording
            config = config.updated({"node": {"input": "topics"}}, "bag")
        self._node = EstimatorNode(given or self._transport, self._robot, config)
        self._node.start()
        if given is not None:
            self._stopped = threading.Event()
            given.play(self._node, self._ended, self._stopped)

    @property
    def failure(self) -> Exception | None:
        """Why recorded input could not be read to its end."""
        return self._recording.failure if self._recording is not None else None

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop; nothing is published any more."""
        self.end()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robot."""
        self._robot = None
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        self.end()
        return TransitionCallbackReturn.SUCCESS

    def end(self) -> None:
        """Stop what is running."""
        self._stopped.set()
        if self._node is not None:
            self._node.stop()
        if self._transport is not None:
            self._transport.close()
        self._node = self._transport = None

    def _failed(self, error: Exception) -> TransitionCallbackReturn:
        """A transition's error into the log, which rclpy would keep to itself.

        What was begun is taken back.
        """
        kind = (
            ""
            if isinstance(error, PrimeError)
            else f"a bug, please report it: {type(error).__name__}: "
        )
        self.get_logger().error(f"{kind}{error}")
        self.end()
        return TransitionCallbackReturn.FAILURE

    def _check(self, changes) -> SetParametersResult:
        try:
            parameters.changed(self._config, changes)
        except PrimeError as error:
            return SetParametersResult(successful=False, reason=str(error))
        if not hasattr(self, "add_post_set_parameters_callback"):  # Humble
            self._apply(changes)
        return SetParametersResult(successful=True)

    def _apply(self, changes) -> None:
        self._config = parameters.changed(self._config, changes)
        if self._node is not None:
            self._node.retune(self._config)
