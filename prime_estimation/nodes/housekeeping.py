# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Housekeeping of the estimator node: its work beside estimating.

Status when nothing comes, the waiting line in the log, /diagnostics.
"""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING

from ..transport.base import Qos
from .periodic import Periodic

if TYPE_CHECKING:
    from .estimator import EstimatorNode

log = logging.getLogger("prime.estimator")
_PERIOD_S = 0.2  # of the status while there are no estimates
_REPEAT = 50  # periods after which the log says the same again
_DIAGNOSE = 5  # periods between diagnostics


class Housekeeping(Periodic):
    """A thread that looks at the node a few times a second."""

    def __init__(self, node: EstimatorNode):
        super().__init__(_PERIOD_S, "housekeeping")
        self._node = node
        self._diagnose = node.transport.publish(
            "/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", Qos.STATE
        )
        self._said, self._since, self._passed = "", 0, 0

    def _work(self) -> None:
        self._passed += 1
        if time.monotonic() - self._node.latest_at > _PERIOD_S:
            self._send_standby_status()
        self._say()
        if self._passed % _DIAGNOSE == 0:
            self._node.health.measure()
            self._send_diagnostics()

    def _say(self) -> None:
        health = self._node.health
        # another number is no news
        said = f"{''.join(health.own_troubles)}{health.troubles() or ''}"
        trouble = re.sub(r"[0-9.]+", "", said)
        due = trouble and (trouble != self._said or self._passed - self._since >= _REPEAT)
        if due and (waiting := health.waiting()):  # which may have come meanwhile
            log.warning("waiting: %s", waiting)
            self._since = self._passed
        self._said = trouble

    def _send_standby_status(self) -> None:
        node = self._node
        stamp_ns, frame = node.transport.now_ns(), node.outputs.world_frame
        status = node.health.standby_status(
            node.transport.make, stamp_ns, frame, node.dropped_samples(), node.solver.overruns
        )
        node.send["status"](status)

    def _send_diagnostics(self) -> None:
        node, values = self._node, {}
        e = node.latest  # read once: another thread forgets it when time has gone back
        if e is not None:
            values = {
                "total mass [kg]": f"{e.total_mass:.3f} +- {e.total_mass_stddev:.3f}",
                "solve time [ms]": f"{e.status.solve_time_ms:.2f}",
            }
            values |= {"activity": e.activity.name.lower(), "base contact": e.activity.base_contact}
            values |= {"refused steps": e.status.refused_steps}
        restarts, reason = node.estimator.monitors.last_restart
        values |= {"restarts": restarts, "reason of the last restart": reason or "none"}
        values |= {"dropped samples": node.dropped_samples()}
        counts = node.counts()
        summary = "running" if e is not None else "gathering the first estimate"
        self._diagnose(
            node.health.diagnostics(
                node.transport.make, node.transport.now_ns(), summary, {**values, **counts}, counts
            )
        )
