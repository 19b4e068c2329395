# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Commanded torque: what the motors were told, for nodes without a measured torque."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..sensors.joint_targets import NAME as TARGETS
from ..sensors.joint_targets import HeldTargets
from ..types import CommandSample
from .averaging import hold_correction, hold_weights
from .held_targets import target_torque
from .node_window import NEAR_NS, TRIANGLE, NodeWindow
from .sample_checks import is_finite, vector
from .stream import Stream


class CommandedTorque:
    """Averages commanded torques, or those of joint targets, as if they were measured.

    Targets are used where no torque is commanded, which would say the same without gains.

    Args:
        nj: number of joints.
        step_ns: between nodes [ns].
        counts: reasons of refusal are incremented here.
        targets: stream of the joint targets, where there is one.
    """

    def __init__(self, nj: int, step_ns: int, counts: Counter, targets: Stream | None):
        self._nj, self._step_ns, self._counts = nj, step_ns, counts
        self._commands = Stream("command", nj, counts, NEAR_NS)
        self._targets = targets

    def reset(self) -> None:
        """Forget all commands."""
        self._commands.reset()

    def push(self, sample: CommandSample) -> None:
        """Take a sample; values that are not finite are refused and counted."""
        effort = vector(sample.effort, self._nj, "command", sample)
        if is_finite(effort, "command", self._counts) and self._commands.push(
            sample.stamp_ns, effort
        ):
            self._commands.reset()

    def fields(self, t_ns: int, joints: NodeWindow | None) -> dict:
        """Fields of the measurement at a node; none where nothing was in force.

        Args:
            t_ns: of the node.
            joints: joint samples about the node, where the targets are compared with them.
        """
        if self._commands.newest is not None:
            return self._of_commands(t_ns)
        if self._targets is not None and joints is not None and joints.covers(2):
            return self._of_targets(t_ns, joints)
        return {}

    def _of_commands(self, t_ns: int) -> dict:
        """A command is in force until the next one, so it is held, not interpolated."""
        window = self._commands.window(t_ns, 2 * self._step_ns, hold=True)
        if window is None or -window[0][0] < 2 * self._step_ns:
            return {}
        weights, samples = hold_weights(window[0].tobytes(), self._step_ns)
        return _commanded(weights @ window[1], samples)

    def _of_targets(self, t_ns: int, joints: NodeWindow) -> dict:
        """Torque at the joint samples from the targets in force there, averaged as if measured."""
        if self._targets.newest is None:
            return {}
        window = self._targets.window(t_ns, 3 * self._step_ns, hold=True)
        if window is None:
            return {}
        position, velocity = joints.rows[:, : self._nj], joints.rows[:, self._nj : 2 * self._nj]
        made = target_torque(joints.stamps, position, velocity, *window)
        if made is None:
            return {}
        torque, gains = made
        kernel = joints.weights[TRIANGLE]
        mean = kernel @ torque - hold_correction(joints.stamps, torque, self._step_ns)
        held = HeldTargets(*np.tensordot(kernel, gains, 1))
        known = float(joints.samples[TRIANGLE])
        return {**_commanded(mean, known), "readings": {TARGETS: held}}


def _commanded(torque: np.ndarray, samples: float) -> dict:
    known = {"torque_samples": samples, "torque_change": 0.0}
    return {"torque": torque, **known, "torque_commanded": True}
