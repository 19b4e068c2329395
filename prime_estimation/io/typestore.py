# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""All message types in one store.

The standard ones of Jazzy, ours from `prime_estimation_msgs`, a few foreign ones.

The .msg files are the only place where a message is written down; bag types and DDS types derive
from this store.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from ..errors import DataError


@cache
def typestore() -> Typestore:
    """The store (one per process).

    Jazzy's messages, prime_estimation_msgs, unitree_go, unitree_hg and std_srvs.

    Raises:
        DataError: the .msg files of prime_estimation_msgs are not installed.
    """
    store = get_typestore(Stores.ROS2_JAZZY)
    types = {}
    for path in interface_files():
        types.update(_types_of(path))
    store.register(types)
    return store


def interface_files() -> list[Path]:
    """The .msg and .srv files that the store adds to the standard ones.

    Ours first, then those under `interfaces/`.
    """
    ours = _messages_dir()
    foreign = Path(__file__).resolve().parent / "interfaces"
    return sorted(ours.glob("*.msg")) + sorted(
        p for p in foreign.rglob("*") if p.suffix in (".msg", ".srv")
    )


def _types_of(path: Path) -> dict:
    package, kind = path.parts[-3], path.parts[-2]
    name = f"{package}/{kind}/{path.stem}"
    if path.suffix == ".msg":
        return get_types_from_msg(path.read_text(), name)
    # a service is two messages, which rosidl names so; an empty one has one byte on the wire
    types = {}
    for part, text in zip(("Request", "Response"), path.read_text().split("---"), strict=True):
        fields = text if text.strip() else "uint8 structure_needs_at_least_one_member"
        types[f"{name}_{part}"] = next(iter(get_types_from_msg(fields, name).values()))
    return types


def _messages_dir() -> Path:
    package = Path(__file__).resolve().parents[1]
    # <prefix>/lib/pythonX.Y/site-packages/prime_estimation, whatever the depth of the platform's
    # layout
    prefixes = [
        *package.parents[2:5],
        Path(sys.prefix),
        *map(Path, filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))),
    ]
    candidates = [package.parent / "prime_estimation_msgs" / "msg"] + [
        p / "share" / "prime_estimation_msgs" / "msg" for p in prefixes
    ]
    for candidate in candidates:
        if (candidate / "ContactWrenches.msg").is_file():
            return candidate
    places = ", ".join(map(str, candidates))
    raise DataError(
        f"the message definitions of prime_estimation_msgs are missing; looked in {places}. "
        "Reinstall prime_estimation."
    )
