# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Choice of a recording's topics: which of them are the sensors of a robot."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..errors import DataError
from ..io.bag import BagReader
from ..io.topics import LOWSTATE, OPTIONAL, ROLES, describe_topics, find_sensor_topics
from ..io.typestore import typestore
from ..io.unitree import ROLES_IN_LOWSTATE, Family, LowStateReader, family_of_type
from ..robot import Robot
from ..sensors import optional_sensors as named_sensors

_REQUIRED = ("joint_states", "imu")


def choose_topics(
    bag: BagReader,
    robot: Robot,
    mocap: bool,
    given: Mapping[str, str] | None = None,
    without: Collection[str] = (),
) -> dict[str, str]:
    """Sensor topics of the bag by role.

    Unitree's raw `lowstate` stands in for joint states and IMU that are not there.

    Args:
        bag: the recording.
        robot: decides whether an IMU is needed.
        mocap: motion capture is wanted.
        given: topics chosen by the user, by role.
        without: sensors that are not wanted.

    Raises:
        DataError: a sensor that the robot needs is not in the bag, or several topics could be it.
    """
    given = dict(given or {})
    raw_wanted = LOWSTATE in given
    left_out = {*without, *(() if mocap else ("mocap",))}
    if named := [role for role in given if role in left_out]:
        raise DataError(
            f"a topic is given for {named[0]}, which is not to be used: leave out one of the two",
            named,
        )
    left_out |= {"imu"} if robot.imu_joint is None else set()
    roles = [r for r in ROLES if r not in left_out]
    looked_for = [r for r in roles if not (raw_wanted and r in ROLES_IN_LOWSTATE)]
    found = find_sensor_topics(bag.topics, given, looked_for)
    missing = [r for r in _REQUIRED if r in roles and r not in found]
    if missing and not raw_wanted:
        found.update(find_sensor_topics(bag.topics, {}, [LOWSTATE]))
    if LOWSTATE in found and "imu" in roles and "imu" not in found:
        family = family_of_type(bag.topics[found[LOWSTATE]].type)
        found.update(imu_beside_lowstate(bag, family, robot.config.imu_frame))
    if missing and LOWSTATE not in found:
        kinds = ", ".join(f"{r} ({' or '.join(ROLES[r].types)})" for r in missing)
        raise DataError(f"{bag.path} lacks {kinds}; it has {describe_topics(bag.topics)}", missing)
    return found


def imu_beside_lowstate(bag: BagReader, family: Family, frame: str) -> dict[str, str]:
    """Topic of the IMU in a frame, where that is not in a robot's raw messages.

    Args:
        bag: the recording.
        family: of its raw messages.
        frame: `robot.imu_frame`.

    Raises:
        DataError: the bag has not got it.
    """
    second = family.imu_apart(frame)
    if second is None:
        return {}
    fitting = [t.name for t in bag.topics.values() if t.type == second.type and t.count]
    named = [name for name in fitting if name.split("/")[-1] == second.topic]
    if not named:
        what = f"the IMU of {second.frame} (robot.imu_frame), which is not that of its lowstate"
        kinds = f"{second.topic} ({second.type}) or imu ({ROLES['imu'].types[0]})"
        raise DataError(
            f"{bag.path} lacks {what}: {kinds}; it has {describe_topics(bag.topics)}", second
        )
    return {"imu": named[0]}


def optional_sensors(
    topics: Mapping[str, str],
    lowstate: LowStateReader | None,
    without: Collection[str] = (),
    wanted: str = "",
) -> list[str]:
    """Optional sensors beside motion capture that a recording gives.

    Args:
        topics: of the recording, by role.
        lowstate: splits its raw messages.
        without: sensors that are not wanted.
        wanted: names of sensors (`node.sensors`), of which those count that have no topic of their
            own: they are in the messages of others.
    """
    given = {*topics, *(lowstate.family.roles if lowstate else ())}
    given |= set(named_sensors([wanted])) - set(ROLES)
    return [name for name in OPTIONAL if name in given - {"mocap", *without}]


def lowstate_reader(bag: BagReader, topics: Mapping[str, str]) -> LowStateReader | None:
    """Reader that splits the raw messages of a bag; None where there are none."""
    if LOWSTATE not in topics:
        return None
    family = family_of_type(bag.topics[topics[LOWSTATE]].type)
    return LowStateReader(family, typestore().types.__getitem__)
