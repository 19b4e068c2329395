# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The variables with which ROS 2 users choose a network.

Domain, range of discovery, peers, Cyclone's configuration.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..errors import ConfigError


def domain_id(given: int | None = None) -> int:
    """The DDS domain: the given one, else ROS_DOMAIN_ID, else 0."""
    text = os.environ.get("ROS_DOMAIN_ID", "").strip() or "0" if given is None else str(given)
    if not text.isdigit() or int(text) > 232:
        raise ConfigError(
            f"the DDS domain must be a number from 0 to 232, got '{text}' (option --domain or "
            "ROS_DOMAIN_ID)",
            text,
        )
    return int(text)


def domain_config(environment: Mapping[str, str]) -> str:
    """Cyclone's configuration: CYCLONEDDS_URI, and over it what ROS 2's variables ask for.

    Type information is ignored because Fast DDS sends type objects that differ from ours in the
    names of members only.
    """
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "").upper()
    local = reach in ("LOCALHOST", "OFF") or environment.get("ROS_LOCALHOST_ONLY") == "1"
    peers = [p for p in environment.get("ROS_STATIC_PEERS", "").split(";") if p] + (
        ["127.0.0.1"] if local else []
    )
    peers = [] if reach == "OFF" else peers
    general = (
        '<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
        "<AllowMulticast>false</AllowMulticast>"
        if local
        else ""
    )
    discovery = (
        "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>"
        if local
        else ""
    )
    discovery += (
        "".join(["<Peers>", *(f'<Peer address="{p}"/>' for p in peers), "</Peers>"])
        if peers
        else ""
    )
    ours = (
        "<CycloneDDS><Domain>"
        + (f"<General>{general}</General>" if general else "")
        + (f"<Discovery>{discovery}</Discovery>" if discovery else "")
        + "<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>"
        + "</Domain></CycloneDDS>"
    )
    return ",".join(filter(None, [environment.get("CYCLONEDDS_URI", "").strip(), ours]))
