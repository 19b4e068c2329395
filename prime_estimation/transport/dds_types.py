# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""DDS types made from the message store, under the names that ROS 2 gives them on the wire."""

from __future__ import annotations

from functools import cache

from rosbags.interfaces import Nodetype

from ..io.typestore import typestore

_BASE = {"bool": bool, "string": str, "byte": "uint8", "octet": "uint8", "char": "uint8"}


def wire_name(type_name: str) -> str:
    """`sensor_msgs::msg::dds_::JointState_` of `sensor_msgs/msg/JointState`."""
    package, kind, name = type_name.split("/")
    return f"{package}::{kind}::dds_::{name}_"


@cache
def idl_struct(type_name: str, *, raw: bool = False):
    """Class `cyclonedds.idl.IdlStruct` of a message type, members in the order of the .msg file.

    With `raw`, samples are the CDR bytes that go over the wire, `idl_struct(t, raw=True)(b).raw`:
    encoding is then the store's generated code, which has arrays as numpy arrays and is several
    times faster. Requests and responses of services then begin with the client's id and the
    sequence number, as rmw_cyclonedds has them.
    """
    from cyclonedds.idl import make_idl_struct, types

    members = {
        name: _member(description) for name, description in typestore().fielddefs[type_name][1]
    }
    if raw and "/srv/" in type_name:
        members = {"client": types.uint64, "sequence_number": types.int64, **members}
    kind = make_idl_struct(
        type_name.split("/")[-1] + "_", wire_name(type_name), members, dataclassify=not raw
    )
    if raw:  # not by inheritance: cyclonedds takes every base class for a part of the DDS type
        kind.__init__ = lambda self, data: setattr(self, "raw", data)
        kind.serialize = lambda self, *_, **__: self.raw
        kind.deserialize = kind.deserialize_key = classmethod(lambda cls, data, *_, **__: cls(data))
    return kind


def _member(description):
    from cyclonedds.idl import types

    kind, content = description
    if kind == Nodetype.NAME:
        return idl_struct(content)
    if kind == Nodetype.BASE:
        name, bound = content
        if name == "string" and bound:
            return types.bounded_str[bound]
        found = _BASE.get(name, name)
        return getattr(types, found) if isinstance(found, str) else found
    element, size = content
    if kind == Nodetype.ARRAY:
        return types.array[_member(element), size]
    return types.sequence[_member(element), size] if size else types.sequence[_member(element)]
