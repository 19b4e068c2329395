# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Output bag and the run that it came from, as figures read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import DataError
from ..evaluation.truth import load_truth
from ..io.bag import BagReader
from ..io.messages import stamp_ns

# what figures are drawn of: in an hour of a run the other topics take gigabytes
_OUTPUTS = ("odometry", "contact_wrenches", "inertial_parameters", "status")
_TRUTH = ("/ground_truth/odom", "/ground_truth/contacts/")


@dataclass
class Recordings:
    """Messages of an output bag and of the run that it came from, by topic.

    Times are seconds from `start_ns`.
    """

    estimate: dict[str, list]
    reference: dict[str, list]
    truth: dict
    start_ns: int

    @staticmethod
    def load(estimate: str | Path, reference: str | Path | None = None) -> Recordings:
        """Read what the figures need. `reference` may be a recording without ground truth."""
        est = _messages(estimate, tuple(f"/prime/{name}" for name in _OUTPUTS))
        if "/prime/odometry" not in est:
            raise DataError(f"{estimate} has no /prime/odometry: nothing to draw", estimate)
        ref = _messages(reference, _TRUTH) if reference else {}
        first = (
            ref["/ground_truth/odom"][0]
            if "/ground_truth/odom" in ref
            else est["/prime/odometry"][0]
        )
        return Recordings(
            est, ref, load_truth(reference) if reference else {}, stamp_ns(first.header)
        )

    def times(self, messages: list) -> np.ndarray:
        """Stamps of messages [s]."""
        return np.array([stamp_ns(m.header) - self.start_ns for m in messages]) * 1e-9


def _messages(path: str | Path, prefixes: tuple[str, ...]) -> dict[str, list]:
    out: dict[str, list] = {}
    with BagReader(path) as bag:
        for topic, _, message in bag.messages([t for t in bag.topics if t.startswith(prefixes)]):
            out.setdefault(topic, []).append(message)
    return out
