# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A short simulated recording with a payload, and what the identification makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from prime_estimation.config.parameters import Config
from prime_estimation.identify import identify_run
from prime_estimation.identify.single import STEP
from prime_estimation.robot import Robot

CONFIG = Config.load("go2").updated({"estimator": {"step": STEP}})


@pytest.fixture(scope="session")
def recording(tmp_path_factory) -> Path:
    """Three seconds of a trotting Go2 with 3 kg that its model does not know."""
    pytest.importorskip("mujoco")
    from prime_estimation import simulate

    out = tmp_path_factory.mktemp("recording") / "trot"
    return simulate.run(
        "go2", "trot", 3.0, out, payload=simulate.Payload(3.0, (0.05, 0.02, 0.1)), start=1.0, seed=5
    )


@pytest.fixture(scope="session")
def truth(recording) -> np.ndarray:
    """Dynamic parameters of the base with its payload."""
    text = recording.with_name("trot.json").read_text()
    return np.array(json.loads(text)["bodies_true"]["base"]["pin_dynamic_parameters"])


@pytest.fixture(scope="session")
def run(recording):
    """The identification of the recording."""
    return identify_run(recording, Robot(CONFIG.robot), CONFIG)
