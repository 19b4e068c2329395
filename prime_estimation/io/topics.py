# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Topics of a recording, and which sensor each is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import ConfigError, DataError
from ..sensors import SENSORS
from ..sensors.sensor import Role


@dataclass(frozen=True)
class Topic:
    """A topic of a bag: `type` as in `sensor_msgs/msg/JointState`, `count` of its messages."""

    name: str
    type: str
    count: int


ROLES: dict[str, Role] = {s.name: s.role for s in SENSORS if s.role is not None}
OPTIONAL = tuple(s.name for s in SENSORS if s.optional)
# Unitree's raw message, which stands in for what it holds
LOWSTATE = "lowstate"
_LOWSTATE_TYPES = (
    "unitree_go/msg/LowState",
    "unitree_hg/msg/LowState",
    "ros2_unitree_legged_msgs/msg/LowState",
)
_EVERY_ROLE = {**ROLES, LOWSTATE: Role(_LOWSTATE_TYPES, ("lowstate",))}
# components of a topic's name: truth and our own output are never input
_NOT_SENSORS = {"ground_truth", "prime"}


def find_sensor_topics(
    topics: Mapping[str, Topic],
    given: Mapping[str, str] | None = None,
    roles: Iterable[str] = ROLES,
) -> dict[str, str]:
    """Topic of each role that the bag can fill, found by message type, then by name.

    Args:
        topics: `BagReader.topics`.
        given: topics chosen by the user, by role; they are checked, not guessed.
        roles: the roles to look for (of ROLES, or LOWSTATE).

    Raises:
        DataError: a given topic is absent or of another type, or several topics fit a role equally
            well.
    """
    found = {}
    for role, topic in (given or {}).items():
        if role not in _EVERY_ROLE:
            raise DataError(f"unknown sensor '{role}'; sensors are {', '.join(_EVERY_ROLE)}", role)
        if topic not in topics:
            raise DataError(
                f"no topic {topic} for {role} in the bag; it has {describe_topics(topics)}", topic
            )
        if topics[topic].type not in _EVERY_ROLE[role].types:
            raise DataError(
                f"{topic} is a {topics[topic].type}, but {role} needs "
                f"{' or '.join(_EVERY_ROLE[role].types)}",
                topic,
            )
        found[role] = topic
    for role in roles:
        candidates = [] if role in found else _candidates(_EVERY_ROLE[role], topics)
        if len(candidates) > 1:
            names = ", ".join(f"{t.name} ({t.count})" for t in candidates)
            raise DataError(
                f"several topics could be {role}: {names}; choose one with --topic {role}=NAME "
                f"(of a ROS 2 node or launch file: bag_topics:={role}=NAME)",
                candidates,
            )
        if candidates:
            found[role] = candidates[0].name
    return found


def named_topics(pairs: Iterable[str], option: str) -> dict[str, str]:
    """Topics that the user named, `SENSOR=NAME`, by sensor.

    Args:
        pairs: as given.
        option: that they were given with.

    Raises:
        ConfigError: one of them is no pair, or a sensor has none or two.
    """
    pairs = list(pairs)
    broken = [p for p in pairs if "=" not in p]
    if broken:
        raise ConfigError(f"{option} '{broken[0]}' has no '='; give SENSOR=NAME", broken)
    topics: dict[str, str] = {}
    for sensor, name in (p.split("=", 1) for p in pairs):
        if not name or sensor in topics:
            what = f"has the topics {topics[sensor]} and {name}" if name else "has no topic"
            raise ConfigError(f"{option}: {sensor} {what}; give SENSOR=NAME, one for each", pairs)
        topics[sensor] = name
    return topics


def _candidates(role: Role, topics: Mapping[str, Topic]) -> list[Topic]:
    fitting = [
        t
        for t in topics.values()
        if t.type in role.types and t.count and not _NOT_SENSORS & set(t.name.split("/"))
    ]
    fitting = [t for t in fitting if not any(word in t.name.lower() for word in role.not_words)]
    for name in role.names:
        exact = [t for t in fitting if t.name.lstrip("/") == name]
        named = exact or [t for t in fitting if t.name.endswith(f"/{name}")]
        if named:
            return named
    return [] if role.by_name_only else fitting


def describe_topics(topics: Mapping[str, Topic]) -> str:
    """One line: topics with types and counts."""
    return (
        ", ".join(f"{t.name} ({t.type.replace('/msg/', '/')}, {t.count})" for t in topics.values())
        or "none"
    )
