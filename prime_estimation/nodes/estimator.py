# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The estimator on the network: sensors in, odometry, forces, inertia and status out.

Topics: see the README.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import replace

from ..config.parameters import Config
from ..estimator import Estimator
from ..io.unitree import LowStateReader, family_of
from ..output_messages import Outputs
from ..recordings.pipeline import Intake
from ..robot import Robot
from ..transport.base import Qos, Transport
from ..types import Estimate, ImuSample, Sample, SensorHealth
from .health import Health
from .housekeeping import Housekeeping
from .resumption import Resumption
from .scheduling import give_priority, schedule
from .sensors import SensorSubscriptions, expected_sensors
from .solver_thread import SolverThread
from .streams import PREDICTED_S, JointStream, OdometryStream

log = logging.getLogger("prime.estimator")
SLOW = ("inertial_parameters", "joint_parameters")  # latched, at `node.inertia_rate`


class EstimatorNode:
    """Glue between callbacks (samples in), solver thread (nodes to estimates), and topics.

    Args:
        transport: where topics live.
        robot, config: what is estimated, and how.

    Attributes:
        latest, latest_at: the newest estimate, and when it came (time.monotonic).
        odometry, joints: what is said between two estimates, and while they are late.
        send: functions that publish, by topic.
    """

    def __init__(self, transport: Transport, robot: Robot, config: Config):
        self.transport, self.robot, self.config = transport, robot, config
        optional = expected_sensors(config.node)
        lowstate = None
        if config.node.input == "lowstate":
            lowstate = LowStateReader(family_of(robot.name), transport.make)
        step, clock = config.estimator.step, config.estimator.adapt_imu_clock
        self.intake = Intake(robot, step, False, optional, lowstate, imu_clock=clock)
        self.estimator = Estimator(robot, config, False, optional)
        self.solver = SolverThread(self.estimator, self._estimated, self._failed, self._forget)
        self.health = Health(transport, robot.name)
        frames = config.node.world_frame, config.node.frame_prefix
        self.outputs = Outputs(robot, config.estimator, transport.make, *frames)
        self.latest: Estimate | None = None
        self.latest_at = float("-inf")
        self._inertia_ns = 0
        self._announce()
        self.odometry = OdometryStream(
            self.send["odometry"], self.outputs.odometry, config.node.odometry_rate
        )
        self.joints = JointStream(
            self.send["joint_states"], self.outputs.joint_states, step, config.node.backlog
        )
        self._resumption = Resumption(transport, robot, config, self.solver.post)
        self.sensors = SensorSubscriptions(
            transport, robot, config.node, self.intake.reader, self.health, self._push
        )
        self._housekeeping = Housekeeping(self)

    def start(self) -> None:
        """Begin to estimate.

        Raises:
            ConfigError: the scheduling that is configured is not permitted.
        """
        priority = self.config.node.priority
        schedule(self.config.node)
        self.solver.start()
        if priority > 1:  # what carries odometry on comes before the next estimate
            give_priority(self.solver.native_id, priority - 1)
        self._housekeeping.start()

    def stop(self) -> None:
        """End; the node cannot be started again."""
        self._housekeeping.stop()
        self.solver.stop()

    def retune(self, config: Config) -> None:
        """Use other values of the tunable parameters from the next update on."""
        self.config = config
        self.outputs.config = config.estimator
        self.solver.post(lambda estimator: estimator.retune(config))

    # --- wiring -----------------------------------------------------------------------------------

    def _announce(self) -> None:
        latched = dict.fromkeys(SLOW, Qos.LATCHED)
        topics = {
            t: k
            for t, k in self.outputs.topics().items()
            if t != "/tf" or self.config.node.publish_tf
        }
        self.send = {
            t: self.transport.publish(t if t[0] == "/" else f"~/{t}", k, latched.get(t, Qos.STATE))
            for t, k in topics.items()
        }
        self.transport.serve("~/reset", "std_srvs/srv/Trigger", self._reset)
        self.transport.serve("~/freeze_inertia", "std_srvs/srv/SetBool", self._freeze)

    def _reset(self, _request) -> dict:
        self.solver.post(self._begin_anew)
        return {"success": True, "message": "the estimator starts anew with the next measurements"}

    def _begin_anew(self, estimator: Estimator) -> None:
        estimator.reset()
        self.latest, self._resumption.over = None, True

    def _freeze(self, request) -> dict:
        frozen = bool(request.data)
        self.solver.post(lambda estimator: estimator.freeze(frozen))
        return {
            "success": True,
            "message": "inertia is frozen" if frozen else "inertia is estimated",
        }

    # --- sensors in, estimates out ----------------------------------------------------------------

    def _push(self, sample: Sample) -> None:
        self._resumption.judge()
        for node in self.intake.take(sample):
            self.joints.measured(node.measurement)
            self.solver.put(node)
        if isinstance(sample, ImuSample) and self.intake.sync.believes(sample):
            self.odometry.predicted(self.estimator.predict(sample, PREDICTED_S))

    def _estimated(self, estimate: Estimate) -> None:
        estimate = self._with_status(estimate)
        self.health.failure = ""
        self.health.estimated(estimate.status.latency_ms)
        self.latest, self.latest_at, self._resumption.over = estimate, time.monotonic(), True
        slowly = self._inertia_due(estimate.stamp_ns)
        for topic, message in self.outputs.messages(estimate):
            if topic == "odometry":
                self.odometry.estimated(estimate, message)
            elif topic == "joint_states":
                self.joints.estimated(estimate, message)
            elif topic in SLOW and not slowly:
                continue
            elif topic in self.send:
                self.send[topic](message)

    def _inertia_due(self, stamp_ns: int) -> bool:
        due = abs(stamp_ns - self._inertia_ns) >= 1e9 / self.config.node.inertia_rate
        if due:
            self._inertia_ns = stamp_ns
        return due

    def _with_status(self, estimate: Estimate) -> Estimate:
        """The estimate, with what the node knows of its sensors."""
        told = estimate.status.sensors
        self.health.doubt = next((str(h) for h in told if h.name == "robot"), "")
        refused = self.estimator.problem.measurements.refused
        estimate = self.intake.with_status(estimate, refused, self._lost())
        troubles = self.health.troubles()
        sensors = tuple(
            replace(h, ok=False, message=troubles.pop(h.name)) if h.name in troubles else h
            for h in estimate.status.sensors
        )
        sensors += tuple(SensorHealth(name, False, text) for name, text in troubles.items())
        return replace(estimate, status=replace(estimate.status, sensors=sensors))

    def counts(self) -> Counter:
        """Everything that was refused, late or lost, by reason."""
        nodes = {
            "solver: nodes dropped": self.solver.dropped,
            "solver: overruns": self.solver.overruns,
        }
        refused = self.intake.counts + self.estimator.problem.measurements.refused
        return refused + Counter(nodes) + self.health.lost()

    def dropped_samples(self) -> int:
        """Samples that were refused, late, lost, or missing at a node; nodes that were given up."""
        refused = self.intake.dropped + self.estimator.problem.measurements.refused.total()
        return refused + self._lost()

    def _lost(self) -> int:
        """Messages that were lost on the way, and nodes that were given up."""
        return self.solver.dropped + self.health.lost().total()

    def _forget(self) -> None:
        self._resumption.take_up(self.estimator)
        self.latest = None
        self.odometry.forget()
        self.joints.forget()

    def _failed(self, error: Exception | str) -> None:
        if isinstance(error, str):
            self.health.failure = f"the estimate was lost and starts anew: {error}"
            log.warning(self.health.failure)
        else:
            self.health.failure = (
                f"the solver failed and starts anew: {type(error).__name__}: {error}"
            )
            log.exception("the solver failed", exc_info=error)
            self._resumption.take_up(self.estimator)
            self.latest = None
