# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Entries of /diagnostics."""

from __future__ import annotations

from ..io.to_messages import Make


def diagnostic_status(
    make: Make, name: str, level, message: str, values: dict[str, object], hardware: str = ""
):
    """diagnostic_msgs/DiagnosticStatus of a part of a node, its values as words."""
    pair = make("diagnostic_msgs/msg/KeyValue")
    return make("diagnostic_msgs/msg/DiagnosticStatus")(
        level=level,
        name=name,
        message=message,
        hardware_id=hardware,
        values=[pair(key=str(key), value=str(value)) for key, value in values.items()],
    )
