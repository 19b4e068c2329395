# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Ten seconds of a trotting Go2, and what the doctor finds in it once it is spoilt."""

from dataclasses import replace

import pytest
from helpers.spoiling import SENSORS, write

from prime_estimation.config.parameters import Config
from prime_estimation.doctor import examine
from prime_estimation.doctor.recording import read_recording
from prime_estimation.io.bag import BagReader
from prime_estimation.robot import Robot

SECONDS = 10.0


@pytest.fixture(scope="session")
def trot(tmp_path_factory):
    """Messages of the sensors as (topic, arrival_ns, message)."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    path = simulate.run(
        "go2", "trot", SECONDS, tmp_path_factory.mktemp("doctor") / "run", start=1.0
    )
    with BagReader(path) as bag:
        return list(bag.messages(SENSORS))


@pytest.fixture
def findings(trot, tmp_path):
    """Function from `spoil(topic, seconds, message)` to what is found; `radius` of the feet [m]."""

    def found(spoil=lambda topic, seconds, message: message, radius: float | None = None):
        config = Config.load("go2")
        if radius is not None:
            contacts = [replace(c, radius=radius) for c in config.robot.contacts]
            config = replace(config, robot=replace(config.robot, contacts=contacts))
        robot = Robot(config.robot)
        bag = write(tmp_path / "spoilt.mcap", trot, spoil)
        return examine(read_recording(bag, robot), robot, config)

    return found
