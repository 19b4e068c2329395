# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Validity of a base state: whether a controller may use it, and if not, why."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from ..monitors.lift_off import PULL
from ..monitors.stance_motion import MOTION
from ..types import Estimate, Sample
from .readings import KINDS

SILENT_S = 0.05  # without a reading of joints or IMU, after which a state is not valid
# readings of a stream one after the other that were not used, 0.1 s at 500 Hz: stamps that stand
# still tell of no silence
IN_VAIN = 50
BEHIND_NS = 100_000_000  # by which an estimate may be older than the newest reading


class Validity:
    """Judges states from the readings that came, and from what the estimate says of itself.

    Args:
        largest_stddev: of the velocity in any direction [m/s].
        wall_clock: silence counts by the computer's clock, not only by stamps.

    Attributes:
        failure: why there is no estimate any more; empty while there is, or was none yet.
    """

    def __init__(self, largest_stddev: float, wall_clock: bool):
        self._largest, self._wall_clock = largest_stddev, wall_clock
        self.failure = ""
        self._last_ns: dict[str, int] = {}
        self._in_vain: Counter[str] = Counter()
        self._heard_at = time.monotonic()

    def heard(self, sample: Sample, used: bool) -> None:
        """Note that a reading came, and whether it entered its stream: in vain, if it did not."""
        if (name := KINDS.get(type(sample))) is None:
            return
        if not used or self._last_ns.get(name) == sample.stamp_ns:
            self._in_vain[name] += 1
            return
        self._in_vain[name] = 0
        self._last_ns[name] = sample.stamp_ns
        self._heard_at = time.monotonic()

    @property
    def newest_ns(self) -> int:
        """Stamp of the newest reading; a single wrong one counts until the next only."""
        return max(self._last_ns.values(), default=0)

    def is_behind(self, estimate: Estimate) -> bool:
        """The estimate is older than the IMU may carry it on."""
        return self.newest_ns - estimate.stamp_ns > BEHIND_NS

    @property
    def missing(self) -> list[str]:
        """Streams of which no reading has been used yet."""
        return [name for name in KINDS.values() if name not in self._last_ns]

    def why_nothing(self, refused: str, trouble: str) -> str:
        """Why there is no estimate.

        Args:
            refused: why readings of missing streams were.
            trouble: what keeps readings from being used.
        """
        if missing := self.missing:
            return f"no {' and no '.join(missing)} yet" + (f" ({refused})" if refused else "")
        return trouble or self.failure or "the start batch is being gathered"

    def doubt(
        self,
        latest: Estimate,
        said: Estimate,
        contradicted: str,
        refusals: Callable[[str], str] = lambda name: "",
    ) -> str:
        """Why a state is not to be used; empty when it is.

        Args:
            latest: the newest solved estimate.
            said: the same, possibly carried on by the IMU.
            contradicted: what speaks against readings or model; empty when nothing does.
            refusals: how many readings of a stream were refused, and why.
        """
        late_ns = self.newest_ns - latest.stamp_ns
        if self.is_behind(latest):
            return f"the estimate is {1e-9 * late_ns:.2f} s behind the readings"
        if late_ns < -BEHIND_NS:
            return f"stamps of the readings have gone back by {-1e-9 * late_ns:.2f} s"
        silence = self._silence(refusals)
        return silence or contradicted or _implausible(latest) or self._spread(said)

    def _silence(self, refusals: Callable[[str], str]) -> str:
        silent, why = time.monotonic() - self._heard_at, ""
        if self._wall_clock and silent > SILENT_S:
            why = f"no reading for {silent:.2f} s"
        for name, stamp_ns in self._last_ns.items():
            silent_ns, in_vain = self.newest_ns - stamp_ns, self._in_vain[name]
            if silent_ns > 1e9 * SILENT_S:
                since = f"for {1e-9 * silent_ns:.2f} s"
            elif in_vain > IN_VAIN:
                since = f"in the last {in_vain} readings"
            else:
                continue
            refused = refusals(name) if in_vain else ""
            return f"no {name} {since}" + (f" ({refused})" if refused else "")
        return why

    def _spread(self, said: Estimate) -> str:
        covariance, velocity = said.twist_covariance[:3, :3], said.linear_velocity_base
        if not (np.isfinite(covariance).all() and np.isfinite(velocity).all()):
            return "the velocity is not finite"
        stddev = float(np.sqrt(max(np.linalg.eigvalsh(covariance)[-1], 0.0)))
        return f"the velocity is known to {stddev:.2f} m/s only" if stddev > self._largest else ""


def _implausible(estimate: Estimate) -> str:
    """What the estimator itself says against its motion."""
    told = [s for s in estimate.status.sensors if not s.ok]
    said = (s for s in told if s.name == MOTION or s.message.startswith(PULL))
    return next((s.message if s.name == MOTION else str(s) for s in said), "")
