# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Messages of a recording as those of a transport, at another time."""

from __future__ import annotations

from ..io.messages import stamp_ns


class Converter:
    """From the bag's classes to those of a transport.

    Nothing to do where they are of the same kind.
    """

    def __init__(self, make, type_name: str):
        self._make = make
        self._same = isinstance(make(type_name), type) and hasattr(make(type_name), "__msgtype__")

    def __call__(self, message):
        """The message itself, or a copy of the other kind."""
        return message if self._same else self._copy(message)

    def _copy(self, value):
        if isinstance(value, list):
            return [self._copy(v) for v in value]
        if not hasattr(value, "__msgtype__"):
            return value
        fields = {
            name: self._copy(getattr(value, name))
            for name in value.__dataclass_fields__
            if not name.startswith("__")
        }
        return self._make(value.__msgtype__)(**fields)


def restamp(header, shift_ns: int) -> None:
    """Move the stamp of a std_msgs/Header by some nanoseconds."""
    if shift_ns and stamp_ns(header):  # none is none
        header.stamp.sec, header.stamp.nanosec = divmod(stamp_ns(header) + shift_ns, 1_000_000_000)


def clock(make, time_ns: int):
    """rosgraph_msgs/Clock."""
    seconds, nanoseconds = divmod(time_ns, 1_000_000_000)
    return make("rosgraph_msgs/msg/Clock")(
        clock=make("builtin_interfaces/msg/Time")(sec=seconds, nanosec=nanoseconds)
    )
