# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""State observer for controllers: base state from LowState messages or arrays, at any rate."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..config.parameters import Config
from ..errors import ConfigError, DataError, RobotError
from ..estimator import Estimator
from ..io.topics import LOWSTATE
from ..io.unitree import family_of
from ..nodes.solver_thread import SolverThread
from ..recordings.pipeline import Intake, Node
from ..robot import Robot
from ..sensors.choice import sensor_names, switch
from ..sensors.joint_targets import NAME as TARGETS
from ..sensors.joint_targets import TargetSample
from ..types import CommandSample, Estimate, ImuSample, JointSample, Sample
from .arguments import (
    check_together,
    checked_stamp,
    configuration,
    largest_deviation,
    lowstate_reader,
    numbers,
)
from .base_state import BaseState, Joints, base_state, no_state
from .contradictions import Contradictions
from .joint_order import JointArrays
from .readings import Readings
from .validity import Validity

LARGEST_STDDEV = 0.3  # m/s, of a velocity that a controller may still use


class StateObserver:
    """Observer of the base state for a controller that calls it 50 to 500 times a second.

    Alignment, estimator and prediction are those of node and replay. A call never waits for a
    solve, which runs in a separate thread; the IMU predicts its newest result to the present. For a
    simulation that waits, `threaded=False` solves within the call, which makes runs repeatable.

    Args:
        robot: name (`go2`, `g1`, ...), path of a YAML file, or a Robot.
        config: YAML file with changes to its configuration; or a whole Config.
        joints: order of all joint arrays in and out: `isaac_lab`, `isaac_gym`, `newton`, `mujoco`,
            `unitree`, `pinocchio`, or the names of the joints.
        sensors: optional sensors in addition to joints and IMU (`foot_force`, ...).
        mocap: use motion capture.
        threaded: solve in a separate thread.
        largest_stddev: standard deviation of the velocity above which a state is not valid [m/s].

    Attributes:
        joint_names: in the order of the arrays. feet: names, in the order of `BaseState.contacts`.
        estimator: the estimator, for everything that a policy does not need.

    Raises:
        RobotError: the robot has a fixed base, or no IMU.
        ConfigError: unknown joint order or sensor, `largest_stddev` out of range, or an argument of
            another type.
    """

    def __init__(
        self,
        robot: str | Robot,
        config: str | Path | Config | None = None,
        *,
        joints: str | Sequence[str] = "pinocchio",
        sensors: Collection[str] = (),
        mocap: bool = False,
        threaded: bool = True,
        largest_stddev: float = LARGEST_STDDEV,
    ):
        mocap, threaded = switch(mocap, "mocap"), switch(threaded, "threaded")
        config = configuration(robot, config)
        self.robot = robot if isinstance(robot, Robot) else Robot(config.robot)
        if not self.robot.config.floating_base or self.robot.imu_joint is None:
            raise RobotError(f"{self.robot.name}: a base state needs a floating base and an IMU")
        self._order = JointArrays(self.robot, joints)
        self.joint_names, self.feet = self._order.names, tuple(self.robot.feet)
        raw, self._sensors = lowstate_reader(self.robot), sensor_names(sensors)
        step, clock = config.estimator.step, config.estimator.adapt_imu_clock
        self._intake = Intake(self.robot, step, mocap, sensors, raw, imu_clock=clock)
        self.estimator = Estimator(self.robot, config, mocap, sensors)
        self._validity = Validity(largest_deviation(largest_stddev), wall_clock=threaded)
        self._readings, self._contradictions = Readings(self.robot), Contradictions()
        self._imu_apart = raw.family.imu_apart(self.robot.config.imu_frame) if raw else None
        self._closed = self._resetting = False
        self._joints = Joints(*np.full((2, self.robot.nj), np.nan))
        self._latest: Estimate | None = None
        self._predicted: Estimate | None = None
        self._solver: SolverThread | None = None
        if threaded:
            self._solver = SolverThread(self.estimator, self._solved, self._failed, self._forget)
            self._solver.start()

    # --- readings in ------------------------------------------------------------------------------

    def lowstate(self, message, arrival_ns: int | None = None) -> BaseState:
        """Take Unitree's LowState and say what is known now.

        Args:
            message: LowState of unitree_go, unitree_hg or ros2_unitree_legged_msgs, read by its
                fields: of unitree_sdk2py, of ROS 2, of a bag.
            arrival_ns: when it came; default: now. Its stamp is made from this and its `tick`.

        Raises:
            ConfigError: the robot is of no family with a known LowState.
            DataError: the message is no LowState.
        """
        if self._intake.reader.lowstate is None:
            family_of(self.robot.name)  # says which are known
        parts = ("tick", "motor_state", self._intake.reader.lowstate.family.imu)
        if lacks := [name for name in parts if not hasattr(message, name)]:
            kind = type(message).__name__
            raise DataError(f"no LowState: a {kind} has no '{lacks[0]}'; use arrays()", message)
        arrival = time.time_ns() if arrival_ns is None else checked_stamp(arrival_ns, "arrival_ns")
        self._readings.arrived(arrival)
        without = ("imu",) if self._imu_apart else ()
        for sample in self._intake.reader.samples(LOWSTATE, message, arrival, without):
            self._take(sample)
        return self.state()

    def imu_state(self, message, arrival_ns: int | None = None) -> BaseState:
        """Take Unitree's IMUState of an IMU that is not in the LowState, and say what is known now.

        It is that of a G1's torso (topic `secondary_imu`), where `robot.imu_frame` is its frame.

        Args:
            message: IMUState of unitree_hg.
            arrival_ns: when it came, which is its stamp; default: now.

        Raises:
            ConfigError: the robot's IMU is in its LowState.
        """
        if self._imu_apart is None:
            what = f"the IMU in {self.robot.config.imu_frame} (robot.imu_frame) has no IMUState"
            raise ConfigError(f"{self.robot.name}: {what} of its own: use lowstate()", message)
        arrival = time.time_ns() if arrival_ns is None else checked_stamp(arrival_ns, "arrival_ns")
        sample = self._intake.reader.sample("imu", message, arrival)
        if sample is not None:
            self._take(sample)
        return self.state()

    def arrays(
        self,
        stamp_ns: int,
        *,
        position=None,
        velocity=None,
        torque=None,
        command=None,
        gyro=None,
        accelerometer=None,
        quat_world_imu=None,
    ) -> BaseState:
        """Take readings of one instant and say what is known now; what was not read is left out.

        Args:
            stamp_ns: when they were measured, the same clock for all.
            position: (nj,) joint positions [rad], this and the next in the observer's order.
            velocity: (nj,) joint rates [rad/s].
            torque: (nj,) measured torques [Nm].
            command: (nj,) commanded torques [Nm], used where none are measured.
            gyro: (3,) angular rate [rad/s], this and the next in axes of the IMU.
            accelerometer: (3,) specific force [m/s^2], +9.81 upwards at rest.
            quat_world_imu: (4,) xyzw, of the IMU's own filter; where its heading begins does not
                matter.

        Raises:
            DataError: gyro and accelerometer do not come together, rates or torques without
                positions, an orientation without them, or a stamp or an array is none.
        """
        check_together(position, velocity, torque, gyro, accelerometer, quat_world_imu)
        stamp, to_robot = checked_stamp(stamp_ns), self._order.to_robot
        if command is not None:
            self.push(CommandSample(stamp, to_robot(command)))
        if position is not None:
            parts = (None if x is None else to_robot(x) for x in (position, velocity, torque))
            self.push(JointSample(stamp, *parts))
        if gyro is not None:
            parts = (gyro, accelerometer, quat_world_imu)
            parts = (None if x is None else numbers(x, "readings of the IMU") for x in parts)
            self.push(ImuSample(stamp, *parts))
        return self.state()

    def targets(
        self,
        position,
        stiffness,
        damping,
        *,
        velocity=None,
        effort=None,
        stamp_ns: int | None = None,
    ) -> None:
        """Take what the motors were told, for a robot that measures no torque.

        The observer must have been made with `sensors=["joint_targets"]`. Targets are in force
        until the next ones, for at most 0.1 s.

        Args:
            position: (nj,) rad, all in the observer's order.
            stiffness: (nj,) Nm/rad.
            damping: (nj,) Nm s/rad.
            velocity: (nj,) rad/s; default: 0.
            effort: (nj,) Nm, feed-forward; default: 0.
            stamp_ns: when, on the clock of the readings; default: now, the clock of `lowstate`.

        Raises:
            ConfigError: the observer was made without that sensor.
        """
        if TARGETS not in self._sensors:
            what = f"the observer does not use targets: make it with sensors=['{TARGETS}']"
            raise ConfigError(what, list(self._sensors))
        zero = np.zeros(self.robot.nj)
        parts = (position, velocity, effort, stiffness, damping)
        parts = (zero if x is None else self._order.to_robot(x) for x in parts)
        self.push(
            TargetSample(time.time_ns() if stamp_ns is None else checked_stamp(stamp_ns), *parts)
        )

    def push(self, sample: Sample) -> None:
        """Take one sample as it was stamped, with joints in the order of `Robot.joint_names`."""
        if isinstance(sample, ImuSample) and (late_ns := self._intake.reader.imu_late_ns):
            sample = replace(sample, stamp_ns=sample.stamp_ns - late_ns)
        self._take(sample)

    def _take(self, sample: Sample) -> None:
        """Take a sample whose stamp is corrected, as those of messages are."""
        if self._closed:
            return
        for node in self._intake.take(sample):
            if self._solver is not None:
                self._solver.put(node)
            else:
                self._solve(node)
        used = self._intake.sync.believes(sample)
        self._readings.take(sample, used)
        self._validity.heard(sample, used)
        if not used:
            return
        if isinstance(sample, JointSample):
            self._heard_joints(sample)
        if isinstance(sample, ImuSample):
            self._predicted = self.estimator.predict(sample)

    def _heard_joints(self, sample: JointSample) -> None:
        velocity, latest = sample.velocity, self._latest
        if velocity is None:
            velocity = np.full(self.robot.nj, np.nan) if latest is None else latest.joint_velocity
        parts = (self._order.from_robot(x) for x in (sample.position, velocity))
        self._joints = Joints(*parts)

    # --- state out --------------------------------------------------------------------------------

    def state(self) -> BaseState:
        """State of the base at the newest reading of the IMU; it waits for nothing."""
        latest, predicted, validity = self._latest, self._predicted, self._validity
        if latest is None or self._closed:
            return no_state(validity.newest_ns, self._why_nothing(), self.feet, self._joints)
        newer = predicted is not None and predicted.stamp_ns > latest.stamp_ns
        estimate = latest
        if newer and not validity.is_behind(latest):  # which knows nothing of the streams
            estimate = replace(predicted, status=latest.status)
        said = "; ".join(self._readings.plausibility.doubts) or self._contradictions.reason
        why = validity.doubt(latest, estimate, said, self._refusals)
        return base_state(estimate, why, self.feet, self._joints_beside(latest))

    def _joints_beside(self, latest: Estimate) -> Joints:
        """Newest readings; rates of an estimate that came after them, where none are measured."""
        if not np.isnan(self._joints.velocity).any():
            return self._joints
        return replace(self._joints, velocity=self._order.from_robot(latest.joint_velocity))

    def _why_nothing(self) -> str:
        """Why there is no estimate."""
        if self._closed:
            return "the observer is closed"
        refused = [self._refusals(name) for name in self._validity.missing]
        apart = self._imu_apart and f"that of {self._imu_apart.frame} comes by imu_state()"
        apart = apart if "imu" in self._validity.missing else ""
        told = ", ".join(filter(None, [self._intake.reader.reason, *refused, apart]))
        trouble = self._readings.trouble(self._intake.sync.counts)
        return self._validity.why_nothing(told, trouble or self.estimator.monitors.opposite.said)

    def _refusals(self, name: str) -> str:
        """How many readings of a stream were refused, and why; empty where none was."""
        return self._readings.refusals(name, self._intake.sync.counts)

    def reset(self) -> None:
        """Forget everything; the next state comes after a new start batch."""
        if self._solver is not None:
            self._resetting = True
            self._solver.post(self._begin_anew)  # after an update that is running
        else:
            self._begin_anew(self.estimator)
        self._forget()

    def _begin_anew(self, estimator: Estimator) -> None:
        estimator.reset()
        self._resetting = False
        self._forget()

    def close(self) -> None:
        """End the thread; the observer takes no readings and gives no state any more."""
        self._closed = True
        if self._solver is not None:
            self._solver.stop()

    def __enter__(self) -> StateObserver:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    # --- solving ----------------------------------------------------------------------------------

    def _solve(self, node: Node) -> None:
        """One node within the call."""
        if node.apart:
            self._forget()
        restarts = self.estimator.monitors.last_restart[0]
        estimate = self.estimator.update(node.measurement)
        now_restarts, reason = self.estimator.monitors.last_restart
        if now_restarts > restarts:
            self._failed(reason)
        if estimate is not None:
            self._solved(estimate)

    def _solved(self, estimate: Estimate) -> None:
        refused = self.estimator.problem.measurements.refused
        if self._resetting:
            return  # it is of what is being forgotten
        latest = self._intake.with_status(estimate, refused)
        self._contradictions.look(latest)
        self._latest = latest
        self._validity.failure = ""

    def _failed(self, error: Exception | str) -> None:
        text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        self._forget()
        self._validity.failure = f"the estimate was lost and starts anew: {text}"

    def _forget(self) -> None:
        self._latest = self._predicted = None
        self._contradictions.reset()
