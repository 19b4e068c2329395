# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Entities of Cyclone DDS: participant, subscription, quality of service as ROS 2 asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from ..errors import ConfigError
from ..io.typestore import typestore
from .base import Names, Qos
from .environment import domain_config

# samples taken at once, and the history of a best-effort subscription: half a second of a 500 Hz
# sensor
BATCH = 256


class Subscription:
    """Reader of one topic, with the function that its messages are for."""

    def __init__(self, topic: str, reader, callback: Callable[[bytes], None]):
        self.topic, self.reader, self.callback, self.condition = topic, reader, callback, None

    def take(self) -> list[tuple[int, Callable[[bytes], None], bytes]]:
        """What has come: time of sending, callback, bytes."""
        samples = self.reader.take(N=BATCH)
        return [
            (s.sample_info.source_timestamp, self.callback, s.raw)
            for s in samples
            if s.sample_info.valid_data
        ]


@cache
def _domain(number: int):
    """The domain of this process, configured once and kept alive."""
    from cyclonedds.core import DDSException
    from cyclonedds.domain import Domain

    try:
        return Domain(number, domain_config(os.environ))
    except DDSException as error:
        raise ConfigError(
            f"cannot join DDS domain {number}: {error}. Is CYCLONEDDS_URI valid? It is "
            f"'{os.environ.get('CYCLONEDDS_URI', '')}'",
            error,
        ) from error


def participant(number: int):
    """Participant in a DDS domain, by which other nodes see this one."""
    try:
        from cyclonedds.core import DDSException, Policy
        from cyclonedds.core import Qos as DdsQos
        from cyclonedds.domain import DomainParticipant
    except ImportError as error:
        raise ConfigError(
            f"Cyclone DDS is missing ({error}): pip install 'prime_estimation[dds]' (Python up to "
            "3.13)",
            error,
        ) from error
    _domain(number)
    try:
        return DomainParticipant(number, DdsQos(Policy.Userdata(b"enclave=/;")))
    except DDSException as error:
        raise ConfigError(f"cannot join DDS domain {number}: {error}", error) from error


def writer_qos(intent: Qos, type_name: str):
    """QoS of a writer: what is latched keeps its last message."""
    return _endpoint_qos(intent, type_name, 1 if intent is Qos.LATCHED else 10)


def _endpoint_qos(intent: Qos, type_name: str, depth: int):
    from cyclonedds.core import Policy
    from cyclonedds.core import Qos as DdsQos
    from cyclonedds.util import duration

    return DdsQos(
        Policy.Reliability.BestEffort
        if intent is Qos.SENSOR
        else Policy.Reliability.Reliable(duration(milliseconds=100)),
        Policy.Durability.TransientLocal if intent is Qos.LATCHED else Policy.Durability.Volatile,
        Policy.History.KeepLast(depth),
        Policy.DataRepresentation(use_cdrv0_representation=True),
        Policy.Userdata(f"typehash={typestore().hash_rihs01(type_name)};".encode()),
    )


def reader_qos(intent: Qos, type_name: str):
    """QoS of a reader.

    That of a sensor refuses what does not fit instead of replacing the oldest: it is counted.
    """
    from cyclonedds.core import Policy
    from cyclonedds.core import Qos as DdsQos

    qos = _endpoint_qos(intent, type_name, BATCH)
    if intent is not Qos.SENSOR:
        return qos
    return DdsQos(Policy.History.KeepAll, Policy.ResourceLimits(max_samples=BATCH), base=qos)


def entities_info(
    make: Callable[[str], Callable], names: Names, owner, readers: Iterable, writers: Iterable
):
    """Message that tells ROS 2 which node readers and writers belong to.

    Args:
        make: class of a message type, by its name.
        names: of the node.
        owner: participant that they belong to.
        readers: of the node.
        writers: of the node.
    """
    gid = make("rmw_dds_common/msg/Gid")

    def gids(entities: Iterable) -> list:
        return [gid(data=np.frombuffer(e.guid.bytes, np.uint8)) for e in entities]

    node = make("rmw_dds_common/msg/NodeEntitiesInfo")(
        node_namespace=names.namespace or "/",
        node_name=names.node,
        reader_gid_seq=gids(readers),
        writer_gid_seq=gids(writers),
    )
    info = make("rmw_dds_common/msg/ParticipantEntitiesInfo")
    return info(gid=gids([owner])[0], node_entities_info_seq=[node])
