# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The same calibration from this process, from local workers, and from a cluster that loses one."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from helpers.swaying_robot import bent, go2_on_points, shipped_noise, sway

from prime_estimation.calibration.bilevel import NoiseObjective
from prime_estimation.calibration.frank_wolfe import frank_wolfe
from prime_estimation.calibration.fusion import fuse
from prime_estimation.calibration.single import calibrate_run
from prime_estimation.calibration.workers import Here, workers
from prime_estimation.errors import ConfigError

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def machine():
    robot = go2_on_points()
    truth, rng = bent(robot), np.random.default_rng(7)
    clean = sway(robot, truth, 80)
    noisy = [
        replace(
            clean,
            name=name,
            angle=clean.angle + 0.002 * rng.normal(size=clean.angle.shape),
            rate=clean.rate + 0.05 * rng.normal(size=clean.rate.shape),
        )
        for name in ("first", "second", "third")
    ]
    return robot, truth, noisy


@pytest.fixture(scope="module")
def cluster():
    """Two workers of another's cluster."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as there:
        yield there


def offsets(machine, crew, **options):
    robot, truth, recordings = machine
    rows = ((r, robot, truth, shipped_noise(), ("feet", "imu")) for r in recordings)
    return crew.run(calibrate_run, *zip(*rows), **options)


def everything(machine, crew):
    """Numbers of a calibration: offsets, their covariance, losses and blocks."""
    robot, _, recordings = machine
    runs = offsets(machine, crew)
    fused, noise = fuse(runs), shipped_noise()
    references = [r.result.trajectory.velocity for r in runs]
    objective = NoiseObjective(robot, recordings, fused.offsets, noise, references, workers=crew)
    found = frank_wolfe(objective, noise, "cholesky", iterations=1)
    blocks = [S.ravel() for S in found.noise.blocks.values()]
    return fused.deviation, fused.stddev, np.array([found.before, found.after]), *blocks


@pytest.fixture(scope="module")
def alone(machine):
    return everything(machine, Here())


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_two_local_workers_find_the_same(machine, alone):
    with workers(None, 2, len(machine[2])) as crew:
        assert not isinstance(crew, Here)
        assert_same(everything(machine, crew), alone)


@pytest.mark.slow
def test_a_cluster_finds_the_same(machine, alone, cluster):
    with workers(cluster.scheduler_address, None, len(machine[2])) as crew:
        assert_same(everything(machine, crew), alone)


def test_a_worker_that_is_killed_costs_time_only(machine, alone, cluster):
    """At the first sign of progress, in the middle of its task."""
    victims = [w.process.pid for w in cluster.workers.values()][:1]

    def kill(fraction: float) -> None:
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)

    with workers(cluster.scheduler_address, None, len(machine[2])) as crew:
        found = fuse(offsets(machine, crew, progress=kill))
        assert not victims
        assert_same((found.deviation, found.stddev), alone[:2])


def test_progress_and_stop_go_over_the_network(machine, cluster):
    told = []
    with workers(cluster.scheduler_address, None, len(machine[2])) as crew:
        runs = offsets(machine, crew, stop=lambda: bool(told), progress=told.append)
    assert told and all(0.0 <= f <= 1.0 for f in told)
    assert not all(r.result.converged for r in runs)


def test_an_interrupted_task_is_no_death_of_its_worker(cluster):
    """Of a task that is stopped before it has anything to keep."""

    def interrupted(number, stop, progress):  # local: it travels by value
        progress(0.5)
        while not stop():
            pass
        raise KeyboardInterrupt

    told = []
    with workers(cluster.scheduler_address, None, 2) as crew:
        before = set(crew._client.scheduler_info()["workers"])
        with pytest.raises(KeyboardInterrupt):
            crew.run(interrupted, [1, 2], stop=lambda: bool(told), progress=told.append)
        assert set(crew._client.scheduler_info()["workers"]) == before


def test_nobody_at_the_address(monkeypatch):
    monkeypatch.setattr("prime_estimation.calibration.workers.PATIENCE", 1)
    with pytest.raises(ConfigError, match="no Dask scheduler answers at tcp://127.0.0.1:9"):
        with workers("tcp://127.0.0.1:9", None, 2):
            pass


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr("prime_estimation.calibration.workers.PATIENCE", 1)
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as empty:
        with pytest.raises(ConfigError, match="has no workers"):
            with workers(empty.scheduler_address, None, 2):
                pass


def test_without_dask(monkeypatch):
    """The default goes on alone; who asks for workers is told."""
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with workers(None, None, 3) as crew:
        assert isinstance(crew, Here)
    for asked in (("tcp://127.0.0.1:8786", None), (None, 2)):
        with pytest.raises(ConfigError, match="needs Dask: pip install"):
            with workers(*asked, 3):
                pass
