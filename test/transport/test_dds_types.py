# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""DDS types made from the store.

The bytes are those of the .msg files, both ways, for every topic of the nodes.
"""

import numpy as np
import pytest

pytest.importorskip("cyclonedds")

from helpers.messages import random_message  # noqa: E402

from prime_estimation.io.topics import ROLES  # noqa: E402
from prime_estimation.io.typestore import interface_files, typestore  # noqa: E402
from prime_estimation.io.unitree import FAMILIES  # noqa: E402
from prime_estimation.output_messages import TOPICS  # noqa: E402
from prime_estimation.transport.dds_types import idl_struct, wire_name  # noqa: E402

TYPES = sorted(
    {
        *TOPICS.values(),
        *(t for role in ROLES.values() for t in role.types),
        *(f.type for f in FAMILIES.values()),
        *(
            f"std_srvs/srv/{n}_{part}"
            for n in ("Trigger", "SetBool")
            for part in ("Request", "Response")
        ),
        "geometry_msgs/msg/WrenchStamped",
        "tf2_msgs/msg/TFMessage",
        "diagnostic_msgs/msg/DiagnosticArray",
        "rosgraph_msgs/msg/Clock",
        "std_msgs/msg/UInt64",
        "unitree_hg/msg/IMUState",
        "rmw_dds_common/msg/ParticipantEntitiesInfo",
    }
)


@pytest.mark.parametrize("name", TYPES)
def test_bytes_equal_both_ways(name):
    store, rng = typestore(), np.random.default_rng(0)
    for _ in range(3):
        raw = bytes(store.serialize_cdr(random_message(name, rng), name))
        sample = idl_struct(name).deserialize(raw)
        assert sample.serialize(use_version_2=False) == raw


@pytest.mark.parametrize("name", TYPES)
def test_raw_samples_are_the_bytes(name):
    kind = idl_struct(name, raw=True)
    assert kind.deserialize(b"abc").raw == b"abc" == kind(b"abc").serialize(use_version_2=False)
    assert (
        kind.__idl_typename__.replace(".", "::")
        == wire_name(name)
        == idl_struct(name).__idl_typename__.replace(".", "::")
    )


def test_names_on_the_wire():
    assert wire_name("sensor_msgs/msg/JointState") == "sensor_msgs::msg::dds_::JointState_"
    assert wire_name("std_srvs/srv/Trigger_Request") == "std_srvs::srv::dds_::Trigger_Request_"


def test_every_interface_file_is_in_the_store():
    for path in interface_files():
        name = "/".join((path.parts[-3], path.parts[-2], path.stem))
        assert name in typestore().types or f"{name}_Request" in typestore().types


@pytest.mark.parametrize(
    ("name", "size"), [("unitree_go/msg/LowState", 1180), ("unitree_hg/msg/LowState", 2092)]
)
def test_lowstate_has_the_size_of_the_robots_own(name, size):
    # plain numbers only, so the encoded size is a constant of the layout
    assert (
        len(typestore().serialize_cdr(random_message(name, np.random.default_rng(1)), name)) == size
    )


def test_type_hash_of_a_standard_type():
    # as `ros2 topic info -v` prints it on Jazzy
    assert (
        typestore().hash_rihs01("std_msgs/msg/String")
        == "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
    )
