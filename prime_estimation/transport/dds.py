# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Transport over Cyclone DDS from PyPI: a ROS 2 node on machines without ROS 2.

Names, types, XCDR1 encoding, type hashes and the `ros_discovery_info` topic follow the conventions
of ROS 2's middleware layer. DDS types are made from the message store. Services are understood by
clients that use rmw_cyclonedds.
"""

from __future__ import annotations

import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

from ..io.typestore import typestore
from .base import Callback, Names, Qos, deliver
from .dds_entities import Subscription, entities_info, participant, reader_qos, writer_qos
from .dds_types import idl_struct, wire_name
from .environment import domain_id

_HEADER = struct.Struct("<Qq")  # request id of rmw_cyclonedds: client, sequence number


class DdsTransport:
    """One node on a DDS domain; see `Transport` for the verbs.

    Args:
        node, namespace, remap: see `Names`.
        domain: DDS domain; default: ROS_DOMAIN_ID.
        use_sim_time: take the time from /clock.

    Raises:
        ConfigError: cyclonedds is not installed, or the domain cannot be joined with the user's
            CYCLONEDDS_URI.
    """

    def __init__(
        self,
        node: str,
        namespace: str = "",
        remap: Mapping[str, str] | None = None,
        domain: int | None = None,
        use_sim_time: bool = False,
    ):
        self.names = Names(node, namespace, remap)
        self.rejected: Counter[str] = Counter()
        self.pause_s = 0.0
        self._participant = participant(domain_id(domain))
        self._subscriptions: list[Subscription] = []
        self._writers: list = []
        self._discovery = None
        self._lock = threading.Lock()
        self._clock_ns: int | None = 0 if use_sim_time else None
        self._announce = self.publish(
            "/ros_discovery_info",
            "rmw_dds_common/msg/ParticipantEntitiesInfo",
            Qos.LATCHED,
            prefix="",
        )
        if use_sim_time:
            self.subscribe("/clock", "rosgraph_msgs/msg/Clock", self._set_clock, Qos.SENSOR)

    def make(self, type_name: str) -> Callable:
        """The class of a message type."""
        return typestore().types[type_name]

    def full(self, name: str) -> str:
        """The name of a topic or service in the graph."""
        return self.names.full(name)

    def subscribe(
        self,
        topic: str,
        type_name: str,
        callback: Callback,
        qos: Qos = Qos.SENSOR,
        prefix: str = "rt",
    ) -> None:
        """Have `callback(message, arrival_ns)` called by `spin` for every message."""
        store, name = typestore(), self.names.full(topic)

        def decode(raw: bytes) -> None:
            try:
                message = store.deserialize_cdr(raw, type_name)
            except Exception:  # noqa: BLE001 - the decoder of foreign bytes raises whatever it stumbles over
                self.rejected[name] += 1
                return
            deliver(callback, (message, self.now_ns()), name, self.rejected)

        self._subscribe_raw(prefix + name if prefix else name[1:], type_name, decode, qos)

    def _subscribe_raw(
        self, topic: str, type_name: str, callback: Callable[[bytes], None], qos: Qos
    ) -> None:
        from cyclonedds.sub import DataReader

        reader = DataReader(
            self._participant, self._topic(topic, type_name), reader_qos(qos, type_name)
        )
        self._subscriptions.append(Subscription(topic, reader, callback))
        self._announce_endpoints()

    def publish(
        self, topic: str, type_name: str, qos: Qos = Qos.STATE, prefix: str = "rt"
    ) -> Callable[[object], None]:
        """Announce a topic; the returned function sends a message, from any thread."""
        name = self.names.full(topic)
        send = self._publish_raw(prefix + name if prefix else name[1:], type_name, qos)
        store = typestore()
        return lambda message: send(bytes(store.serialize_cdr(message, type_name)))

    def _publish_raw(self, topic: str, type_name: str, qos: Qos) -> Callable[[bytes], None]:
        from cyclonedds.pub import DataWriter

        kind = idl_struct(type_name, raw=True)
        writer = DataWriter(
            self._participant, self._topic(topic, type_name), writer_qos(qos, type_name)
        )
        self._writers.append(writer)
        self._announce_endpoints()
        return lambda raw: writer.write(kind(raw))

    def _topic(self, topic: str, type_name: str):
        from cyclonedds.topic import Topic

        return Topic(self._participant, topic, idl_struct(type_name, raw=True))

    def _announce_endpoints(self) -> None:
        """Tell ROS 2 which node the endpoints belong to, so that `ros2 node` shows it."""
        if not hasattr(self, "_announce"):
            return
        with self._lock:
            readers = [s.reader for s in self._subscriptions]
            own = (self._participant, readers, self._writers[1:])
            self._announce(entities_info(self.make, self.names, *own))

    def serve(self, service: str, type_name: str, handler: Callable[[object], dict]) -> None:
        """Answers a service.

        Request and response carry the client's id before their fields, as rmw_cyclonedds has it.
        """
        name, store = self.names.full(service), typestore()
        response = self.make(f"{type_name}_Response")
        send = self._publish_raw(f"rr{name}Reply", f"{type_name}_Response", Qos.STATE)

        def answer(raw: bytes) -> None:
            request = store.deserialize_cdr(
                raw[:4] + raw[4 + _HEADER.size :], f"{type_name}_Request"
            )
            out = bytes(store.serialize_cdr(response(**handler(request)), f"{type_name}_Response"))
            send(out[:4] + raw[4 : 4 + _HEADER.size] + out[4:])

        self._subscribe_raw(
            f"rq{name}Request",
            f"{type_name}_Request",
            lambda raw: deliver(answer, (raw,), name, self.rejected),
            Qos.STATE,
        )

    def spin(self, stop: threading.Event) -> None:
        """Deliver messages until `stop` is set."""
        from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState, WaitSet

        mask, attached = SampleState.NotRead | ViewState.Any | InstanceState.Any, 0
        waitset = WaitSet(self._participant)
        while not stop.is_set():
            for s in self._subscriptions[attached:]:
                s.condition = ReadCondition(s.reader, mask)
                waitset.attach(s.condition)
            attached = len(self._subscriptions)
            if waitset.wait(100_000_000):
                taken = [entry for s in self._subscriptions[:attached] for entry in s.take()]
                # after a pause the topics must not come one after the other: in the order in which
                # they were sent
                for _, callback, raw in sorted(taken, key=lambda entry: entry[0]):
                    callback(raw)
                if self.pause_s:
                    stop.wait(self.pause_s)

    def publishers(self, topic: str) -> int:
        """Number of publishers that the subscription to this topic hears."""
        wanted = "rt" + self.full(topic)
        return sum(
            s.reader.get_subscription_matched_status().current_count
            for s in self._subscriptions
            if s.topic == wanted
        )

    def lost(self, topic: str) -> int:
        """Samples that were sent and did not come, or came faster than they were taken."""
        wanted = "rt" + self.full(topic)
        return sum(
            s.reader.get_sample_lost_status().total_count
            + s.reader.get_sample_rejected_status().total_count
            for s in self._subscriptions
            if s.topic == wanted
        )

    def announced(self, topic: str) -> int:
        """Number of publishers of a topic in the domain."""
        wanted = "rt" + self.full(topic)
        return sum(e.topic_name == wanted for e in self._writers_in_domain())

    def topics_of(self, type_name: str) -> list[str]:
        """Topics of a type that anybody in the domain publishes."""
        return sorted(
            {
                e.topic_name[2:]
                for e in self._writers_in_domain()
                if e.type_name == wire_name(type_name) and e.topic_name.startswith("rt/")
            }
        )

    def _writers_in_domain(self) -> list:
        from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
        from cyclonedds.core import InstanceState

        if self._discovery is None:  # kept: a new reader every time would cost memory every time
            self._discovery = BuiltinDataReader(self._participant, BuiltinTopicDcpsPublication)
        found = self._discovery.read(N=10_000)
        return [e for e in found if e.sample_info.instance_state == InstanceState.Alive]

    def now_ns(self) -> int:
        """The system's time, or that of /clock."""
        return time.time_ns() if self._clock_ns is None else self._clock_ns

    def simulated(self) -> bool:
        """Whether the time is that of /clock."""
        return self._clock_ns is not None

    def _set_clock(self, message, _arrival_ns: int) -> None:
        self._clock_ns = message.clock.sec * 1_000_000_000 + message.clock.nanosec

    def close(self) -> None:
        """Leave the domain; other nodes notice at once."""
        # cyclonedds deletes an entity with its last reference; ours may be held by a node's
        # functions until the process ends
        for entity in (*self._writers, *(s.reader for s in self._subscriptions), self._participant):
            entity.__del__()
        self._subscriptions, self._writers = [], []
