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

from ..alignment.synchronizer import Synchronizer
from ..config.parameters import Config
from ..estimator import Estimator
from ..output_messages import Outputs
from ..robot import Robot
from ..transport.base import Qos, Transport
from ..types import Estimate, ImuSample, Sample
from .health import Health
from .housekeeping import Housekeeping
from .odometry import OdometryStream
from .sensors import Sensors
from .solver_thread import SolverThread

log = logging.getLogger("prime.estimator")


class EstimatorNode:
    """Glue: callbacks push samples into the synchronizer, the solver thread turns nodes into estimates, this publishes them.

    Args:
        transport: where topics live.
        robot, config: what is estimated, and how.
        name: of the node, in diagnostics.

    Attributes:
        latest, latest_at: the newest estimate, and when it came (time.monotonic).
        odometry: what is said between two estimates.
        send: functions that publish, by topic.
    """

    def __init__(self, transport: Transport, robot: Robot, config: Config, name: str = "prime"):
        self.transport, self.robot, self.config = transport, robot, config
        self.sync = Synchronizer.of(robot, config.estimator.step, config.node.mocap)
        self.estimator = Estimator(robot, config, config.node.mocap)
        self.solver = SolverThread(self.estimator, self._estimated, self._failed, self._parted)
        self.health = Health(transport, name)
        self.outputs = Outputs(robot, config.estimator, transport.make, config.node.world_frame)
        self.latest: Estimate | None = None
        self.latest_at = float("-inf")
        self._inertia_ns = 0
        self._announce()
        self.odometry = OdometryStream(
            self.send["odometry"], self.outputs.odometry, config.node.odometry_rate
        )
        self.sensors = Sensors(
            transport,
            robot,
            config.node.input == "lowstate",
            config.node.mocap,
            self.health,
            self._push,
        )
        self._housekeeping = Housekeeping(self)

    def start(self) -> None:
        """Begin to estimate."""
        self.solver.start()
        self._housekeeping.start()

    def stop(self) -> None:
        """End; the node cannot be started again."""
        self._housekeeping.stop()
        self.solver.stop()

    def retune(self, config: Config) -> None:
        """Use other values of the tunable parameters from the next update on."""
        self.config = config
        self.outputs.config = config.estimator
        self.solver.order(lambda estimator: estimator.retune(config))

    # --- wiring
    # ---------------------------------------------------------------------------------------------------

    def _announce(self) -> None:
        latched = {"inertial_parameters": Qos.LATCHED}
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
        self.solver.order(lambda estimator: estimator.reset())
        return {"success": True, "message": "the estimator starts anew with the next measurements"}

    def _freeze(self, request) -> dict:
        frozen = bool(request.data)
        self.solver.order(lambda estimator: setattr(estimator, "frozen", frozen))
        return {
            "success": True,
            "message": "inertia is frozen" if frozen else "inertia is estimated",
        }

    # --- sensors in, estimates out
    # -------------------------------------------------------------------------------------

    def _push(self, sample: Sample) -> None:
        self.sync.push(sample)
        while (measurement := self.sync.pop()) is not None:
            self.solver.put(measurement, self.sync.pop_discontinuity())
        if isinstance(sample, ImuSample):
            self.odometry.predicted(self.estimator.predict(sample))

    def _estimated(self, estimate: Estimate) -> None:
        estimate = self._with_status(estimate)
        self.health.failure = ""
        self.latest, self.latest_at = estimate, time.monotonic()
        for topic, message in self.outputs.messages(estimate):
            if topic == "odometry":
                self.odometry.estimated(estimate, message)
            elif topic == "inertial_parameters" and not self._inertia_due(estimate.stamp_ns):
                continue
            elif topic in self.send:
                self.send[topic](message)

    def _inertia_due(self, stamp_ns: int) -> bool:
        due = abs(stamp_ns - self._inertia_ns) >= 1e9 / self.config.node.inertia_rate
        if due:
            self._inertia_ns = stamp_ns
        return due

    def _with_status(self, estimate: Estimate) -> Estimate:
        s, troubles = estimate.status, self.health.troubles()
        self.health.doubt = next((text for text in s.sensors if text.startswith("robot: ")), "")
        if self.sensors.inbound.trouble:
            troubles.setdefault("joint_states", self.sensors.inbound.trouble)
        sensors = [
            f"{name}: {troubles.pop(name)}" if name in troubles else name for name in s.sensors
        ]
        sensors += [f"{name}: {trouble}" for name, trouble in troubles.items()]
        innovations = (
            *s.normalized_innovations,
            *[float("nan")] * (len(sensors) - len(s.normalized_innovations)),
        )
        dropped = self.dropped_samples()
        return replace(
            estimate,
            status=replace(
                s,
                sensors=tuple(sensors),
                normalized_innovations=innovations,
                dropped_samples=dropped,
            ),
        )

    def counts(self) -> Counter:
        """Everything that was refused, late or lost, by reason."""
        extra = Counter(
            {"solver: nodes dropped": self.solver.dropped, "solver: overruns": self.solver.overruns}
        )
        return Counter(self.sensors.inbound.counts) + Counter(self.sync.counts) + extra

    def dropped_samples(self) -> int:
        """Samples that were refused, late or lost."""
        return (
            sum(self.sensors.inbound.counts.values())
            + self.sync.dropped_samples
            + self.health.lost()
        )

    def _parted(self) -> None:
        self.latest = None
        self.odometry.forget()

    def _failed(self, error: Exception | str) -> None:
        if isinstance(error, str):
            self.health.failure = f"the estimate was lost and starts anew: {error}"
            log.warning(self.health.failure)
        else:
            self.health.failure = (
                f"the solver failed and starts anew: {type(error).__name__}: {error}"
            )
            log.exception("the solver failed", exc_info=error)
