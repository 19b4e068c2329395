# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator as a ROS 2 lifecycle node.

Configure: robot and configuration; activate: topics, solver; deactivate: silence.
"""

from __future__ import annotations

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from ...config.parameters import Config
from ...errors import PrimeError
from ...robot import Robot
from ...transport.ros import RosTransport
from ..estimator import EstimatorNode
from . import parameters


class EstimatorLifecycle(LifecycleNode):
    """Lifecycle node of the estimator.

    Parameters: `robot`, `config` (YAML of changes), `autostart`, and all of the configuration as
    `noise.*`, `estimator.*`, `node.*`.
    """

    def __init__(self):
        super().__init__("prime")
        self.declare_parameter(
            "robot",
            "go2",
            ParameterDescriptor(
                description="go1, go2, g1, ... or the path of a robot's YAML file", read_only=True
            ),
        )
        self.declare_parameter(
            "config",
            "",
            ParameterDescriptor(
                description="YAML file with changes to the defaults", read_only=True
            ),
        )
        self.declare_parameter(
            "autostart",
            True,
            ParameterDescriptor(description="configure and activate at once", read_only=True),
        )
        self._config = Config.load(
            self.get_parameter("robot").value, self.get_parameter("config").value or None
        )
        parameters.declare(self, self._config)
        self._robot: Robot | None = None
        self._node: EstimatorNode | None = None
        self._transport: RosTransport | None = None
        self.add_on_set_parameters_callback(self._check)
        if hasattr(self, "add_post_set_parameters_callback"):
            self.add_post_set_parameters_callback(self._apply)

    def autostart(self) -> bool:
        """Configure and activate; False when one of them fails."""
        return (
            self.trigger_configure() == TransitionCallbackReturn.SUCCESS
            and self.trigger_activate() == TransitionCallbackReturn.SUCCESS
        )

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
            self._transport = RosTransport(self)
            self._node = EstimatorNode(self._transport, self._robot, self._config, self.get_name())
            self._node.start()
        except Exception as error:  # noqa: BLE001 - see _failed
            return self._failed(error)
        return super().on_activate(state)

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
