# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""One walk that many tests look at; simulating it costs a second."""

import pytest

pytest.importorskip("mujoco")

from prime_estimation.simulate import Payload, simulate

PAYLOAD = Payload(3.0, (0.05, 0.02, 0.1), t_on=1.0)


@pytest.fixture(scope="session")
def walk():
    """A Go2 that trots for 2 s; 3 kg are put on after 1 s."""
    return simulate("go2", "trot", 2.0, PAYLOAD, seed=3, start=2.0)


@pytest.fixture(scope="session")
def stand():
    """A Go1 that stands for 1 s with 2 kg beside its middle."""
    return simulate("go1", "stand", 1.0, Payload(2.0, (0.0, 0.05, 0.1), link="trunk"))
