# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Refusals: of a sensor that gives no data, how many messages came and why they are not used."""

from __future__ import annotations

from collections.abc import Mapping

from ..alignment.node_window import NEAR_NS

# endings of counted reasons, and what they mean: of any stream, and of an optional sensor's
OF_ANY_STREAM = {
    "not_finite": "not finite (NaN, inf)",
    "duplicate": "with a stamp that was there before",
}
_MEANING = {
    "ahead": "stamped after joints and IMU: by another clock?",
    "late": "stamped before one that came earlier",
    "late_node": "stamped long before joints and IMU, or late: by another clock?",
    "sparse": f"more than {NEAR_NS // 1_000_000} ms apart, too slow for a mean",
    **OF_ANY_STREAM,
    "outlier": "outliers",
}


def by_reason(counts: Mapping[str, int]) -> str:
    """Counts in words: reasons and their numbers; empty where there are none."""
    return ", ".join(f"{reason} {n}" for reason, n in counts.items())


def most_refused(name: str, came: int, counts: Mapping[str, int], unread: int) -> str:
    """What became of the messages of a sensor; empty where fewer than half were refused.

    Args:
        name: of the sensor.
        came: samples that were read of its messages.
        counts: of all refusals, by reason: `<name>_<reason>` those of samples, `<name>: <reason>`
            those of messages.
        unread: messages that gave no sample.
    """
    refused = {}
    for reason, number in counts.items():
        sensor, _, message = reason.partition(": ")
        if sensor == name and message and unread:
            refused[message] = number
        elif reason.startswith(f"{name}_"):
            kind = reason.removeprefix(f"{name}_")
            if kind in _MEANING:
                refused[_MEANING[kind]] = refused.get(_MEANING[kind], 0) + number
    number, all_of_them = min(sum(refused.values()), came + unread), came + unread
    if not number or 2 * number < all_of_them:
        return ""
    why = max(refused, key=refused.__getitem__)
    told = f"{number} of {all_of_them} messages refused"
    return told if why == _MEANING["outlier"] else f"{told}: {why}"  # its gate says more of them
