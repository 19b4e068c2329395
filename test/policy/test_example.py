# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The example of a policy runs on both robots, and with a network from a file."""

import re
import runpy
import time
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.lowstates import instants, lowstate

from prime_estimation.io.unitree import family_of
from prime_estimation.policy import observer as observer_module

pytest.importorskip("mujoco")


@pytest.fixture
def example(repository):
    return runpy.run_path(str(repository / "examples" / "06_policy.py"))


@pytest.mark.parametrize("name", ["go2", "g1"])
def test_it_stands_and_knows_its_velocity_while_it_is_pushed(example, name):
    errors, valid, height = example["run"](name, seconds=1.6)
    assert valid > 0.65  # after half a second, always
    assert height > 0.8
    assert np.sqrt(np.mean(errors**2, axis=0)).max() < 0.02


def test_network_from_a_file(example, tmp_path):
    rng = np.random.default_rng(1)
    sizes = [9 + 3 + 3 * 12, 16, 12]
    layers = []
    for size, following in zip(sizes, sizes[1:]):
        layers += [1e-3 * rng.normal(size=(following, size)), np.zeros(following)]
    np.savez(tmp_path / "actor.npz", *layers)
    hidden = layers[0] @ np.ones(sizes[0])
    expected = layers[2] @ np.where(hidden > 0.0, hidden, np.exp(hidden) - 1.0)
    actor = example["network"](tmp_path / "actor.npz")
    np.testing.assert_allclose(actor(np.ones(sizes[0])), expected)
    _, valid, height = example["run"]("go2", tmp_path / "actor.npz", seconds=0.8)
    assert valid > 0.3 and height > 0.8


def test_ten_lines_of_the_docs(repository, recorded_runs, monkeypatch):
    """They give the network 48 numbers of the right size at each instant that is valid."""
    text = (repository / "docs" / "policy.md").read_text()
    lines = re.search(r"```python\n(.*?)```", text, re.S)[1]
    seen = []

    def policy(observation):
        seen.append(observation)
        return np.zeros(12)

    run, family = recorded_runs / "go2_nominal", family_of("go2")
    room = dict(policy=policy, due=lambda: True, default=np.zeros(12), command=np.zeros(3))
    now = SimpleNamespace(time_ns=lambda: room["now_ns"])  # messages arrive as in the run
    monkeypatch.setattr(observer_module, "time", now)
    room["lowstates"] = unhurried(room, family, instants(run, 2.0))
    exec(compile(lines, "docs/policy.md", "exec"), room)
    assert seen and all(o.shape == (48,) and np.isfinite(o).all() for o in seen)
    assert np.abs([o[8] + 1.0 for o in seen]).max() < 0.1  # upright


def unhurried(room, family, run):
    """A message after the other, none while nodes wait: tests share their computer."""
    for instant in run:
        room["now_ns"] = instant.stamp_ns
        yield lowstate(family, instant)
        while room["observer"]._solver.pending > 1:
            time.sleep(0.001)
