# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Writer of estimates that are made here and now, into a bag like that of a replay."""

from __future__ import annotations

from pathlib import Path

from ..config.parameters import Config
from ..io.bag import BagWriter
from ..output_messages import Outputs
from ..robot import Robot
from ..types import Estimate
from .replay import absolute


class EstimateWriter(BagWriter):
    """Bag of estimates, its topics named as by `prime replay`.

    Args:
        path: the file, `*.mcap`.
        robot: whose estimates.
        config: of the estimator.
    """

    def __init__(self, path: str | Path, robot: Robot, config: Config):
        super().__init__(path)
        self._outputs = Outputs(robot, config.estimator, self.message_class)
        for topic, kind in self._outputs.topics().items():
            self.add_topic(absolute(topic), kind)

    def add(self, estimate: Estimate) -> None:
        """Write all messages of an estimate."""
        for topic, message in self._outputs.messages(estimate):
            self.write(absolute(topic), estimate.stamp_ns, message)
