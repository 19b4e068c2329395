# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Joint readings: joint samples without glitches and turns, averaged at nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..types import JointSample
from .averaging import (
    apart,
    bend_weights,
    between_samples,
    hold_correction,
    linear_weights,
    unseen,
)
from .bridging import bridged
from .encoder_glitches import GlitchCheck
from .filled_fields import FilledFields
from .held_samples import HeldCheck
from .node_window import FLAT, NEAR_NS, NOW, RAMP, TRIANGLE, NodeWindow
from .sample_checks import is_finite, vector
from .stream import Stream
from .unwrapping import AngleUnwrapper

# of usual changes that may come and go between samples (`averaging.unseen`)
UNSEEN_RATE, UNSEEN_TORQUE = 0.45, 0.9
GLITCH = "joint_glitch_"  # prefix of the counted joints


class JointReadings:
    """Takes joint samples and averages positions, rates and torques at nodes.

    Args:
        joint_names: in the order of the samples.
        counts: reasons of refusal are incremented here.
        gap_ns: longest interval between samples that is bridged [ns].
        use_effort: torques are read.
        turning: indices of continuous joints, whose readings may begin anew after a turn.

    Attributes:
        stream: rows (3 nj,) of positions [rad], rates [rad/s], torques [Nm]; NaN: not measured.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        counts: Counter,
        gap_ns: int,
        use_effort: bool,
        turning: Sequence[int],
    ):
        self._names, self._nj = joint_names, len(joint_names)
        self._counts, self._use_effort = counts, use_effort
        self.stream = Stream("joint", 3 * self._nj, counts, gap_ns, NEAR_NS)
        self._unwrapper, self._glitches = AngleUnwrapper(turning), GlitchCheck(self._nj)
        self._held, self._row = HeldCheck(), np.zeros(3 * self._nj)
        self._filled = FilledFields(counts)

    def reset(self) -> None:
        """Forget all samples; turns of continuous joints are remembered."""
        self.stream.reset()
        self._glitches.reset()
        self._held.reset()

    @property
    def rateless(self) -> list[str]:
        """Joints whose rate stays zero while they move: no rate is taken meanwhile."""
        dead = self._filled.dead
        return [] if dead is None else [n for n, is_dead in zip(self._names, dead) if is_dead]

    def push(self, sample: JointSample) -> bool:
        """Take a sample; True when the clock turns out to have been set back for good."""
        row, nj = self._row, self._nj
        effort = sample.effort if self._use_effort else None
        position, velocity, effort = (
            None if part is None else vector(part, nj, "joint", sample)
            for part in (sample.position, sample.velocity, effort)
        )
        self._filled.follow(position)
        parts = position, self._filled.rate(velocity), self._filled.torque(effort)
        for i, part in enumerate(parts):
            row[i * nj : (i + 1) * nj] = 0.0 if part is None else part
        if not is_finite(row, "joint", self._counts):
            return False
        if position is not None:
            self._unwrapper.unwrap(row[:nj])
        for i, part in enumerate(parts):
            if part is None:
                row[i * nj : (i + 1) * nj] = np.nan
        if self.stream.is_newer(sample.stamp_ns) and self._held.joints(row, nj):
            self._counts["joint_held"] += 1
            return False
        jumped = self._glitches.glitch(sample.stamp_ns, row[: 2 * nj])
        if jumped is not None:
            self._counts[f"{GLITCH}{self._names[jumped]}"] += 1
            return False
        before, back = self.stream.newest, self.stream.push(sample.stamp_ns, row)
        if before != self.stream.newest == sample.stamp_ns:
            self._glitches.believe(sample.stamp_ns, row[: 2 * nj])
            if position is not None:
                self._unwrapper.believe(row[:nj])
        return back

    def fields(self, seen: NodeWindow) -> dict:
        """Fields of the measurement at a node from the samples about it."""
        mean, nj, stamps = self._means(seen), self._nj, seen.stamps.tobytes()
        factor, come_and_gone = apart(stamps), unseen(stamps) * seen.changed
        fields = {"position": mean[NOW, :nj], "joint_interval": 1e-9 * seen.usual_ns}
        if seen.covers(1) and np.isfinite(mean[FLAT, nj]):
            fields["velocity"] = mean[FLAT, nj : 2 * nj]
            fields["velocity_samples"] = float(seen.samples[FLAT])
            rates = seen.rows[:, nj : 2 * nj]
            if not seen.has_burst:
                bend = bend_weights(stamps) @ rates
                fields["position"] = mean[NOW, :nj] - bend
                fields["position_change"] = np.abs(bend)
            missed = UNSEEN_RATE * come_and_gone[:, nj : 2 * nj]
            fields["velocity_change"] = between_samples(rates, seen.weights[FLAT], missed, factor)
            # mean of q(t) + (integral of dq from t to t_k): dq(s) counts in it for all t before
            # s, so with a growing weight
            moved = 0.5e-9 * seen.step_ns * mean[RAMP, nj : 2 * nj]
            fields["position_carried"] = mean[FLAT, :nj] + moved
        if seen.covers(2) and np.isfinite(mean[TRIANGLE, 2 * nj]):
            torque = seen.rows[:, 2 * nj :]
            anticipated = hold_correction(seen.stamps, torque, seen.step_ns)
            fields["torque"] = mean[TRIANGLE, 2 * nj :] - anticipated
            # what is missed between samples that are near each other is in `noise.joint_model`
            beyond = np.sqrt(factor**2 - 1.0)
            missed = UNSEEN_TORQUE * come_and_gone[:, 2 * nj :]
            change = between_samples(torque, seen.weights[TRIANGLE], missed, beyond)
            fields["torque_change"] = change
            fields["torque_samples"] = float(seen.samples[TRIANGLE])
        return fields

    def _means(self, seen: NodeWindow) -> np.ndarray:
        """Means (4, 3 nj) in the four kernels; lost samples are bridged."""
        if not seen.has_burst:
            return seen.weights @ seen.rows
        stamps, path = bridged(seen.stamps, seen.rows, self._nj, seen.near_ns)
        return linear_weights(stamps.tobytes(), seen.step_ns)[0] @ path
