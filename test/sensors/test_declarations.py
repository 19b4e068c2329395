# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What every declared sensor must agree on with the core, the configuration, the wire and time."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.models import config, robot
from helpers.streams import STEP, both, feed, milliseconds

from prime_estimation import _core, sensors
from prime_estimation.alignment import synchronizer as synchronizer_module
from prime_estimation.alignment.synchronizer import Synchronizer
from prime_estimation.config.parameters import ModelNoise, NoiseConfig
from prime_estimation.errors import DataError
from prime_estimation.io.typestore import typestore
from prime_estimation.mhe.problem import Problem
from prime_estimation.mhe.residual_rows import rows_by_sensor
from prime_estimation.mhe.window import Window
from prime_estimation.sensors import SENSORS
from prime_estimation.sensors.sensor import Alignment, Sensor
from prime_estimation.sensors.tracker import EstimationProblem, Gate, SlidingWindow, Tracker

every_sensor = pytest.mark.parametrize("sensor", SENSORS, ids=lambda s: s.name)


@pytest.fixture(scope="module")
def problem() -> Problem:
    """One with all optional sensors."""
    return Problem(robot("go2"), config("go2"), [s.name for s in SENSORS if s.optional])


def test_names_and_parameters_are_used_once():
    names = [s.name for s in SENSORS]
    assert len(set(names)) == len(names)
    declared = [f.name for s in SENSORS for f in fields(s.Noise)]
    assert len(set(declared)) == len(declared)
    of_the_model = {f.name for f in fields(ModelNoise)}
    assert {f.name for f in fields(NoiseConfig)} == of_the_model | set(declared)
    assert not of_the_model & set(declared)


@every_sensor
def test_noise_has_units_and_meaning(sensor):
    for parameter in fields(sensor.Noise):
        about = parameter.metadata
        assert about["doc"] and about["low"] <= parameter.default <= about["high"], parameter.name


@every_sensor
def test_messages_are_known(sensor):
    if sensor.role is not None:
        assert sensor.role.names and set(sensor.role.types) <= set(typestore().types)
    assert (sensor.sample is not None) == (sensor.optional and sensor.role is not None)


@every_sensor
def test_parameters_are_those_of_its_residuals(sensor, problem):
    """Prior and random walk of what the core adds for them, and of nothing else."""
    assert set(sensor.residuals) <= set(_core.residuals())
    model = _core.MeasurementModel(
        problem.dynamics, problem.mount.core, list(sensor.residuals), mounts=True
    )
    of_the_dynamics = {"theta", "height", "friction", "slope", "softness"}
    added = {name for name, _ in model.parameters()} - of_the_dynamics
    blocks = sensor.blocks(problem.config.noise, problem.sensors.wearer)
    of_the_imu = {"imu_rotation"} - set(blocks)  # which other residuals of an IMU share
    assert set(blocks) == added - of_the_imu
    for block in blocks.values():
        assert np.all(np.array(block.prior) > 0.0) and np.all(np.array(block.walk) >= 0.0)


@every_sensor
def test_innovations_are_rows_that_there_are(sensor, problem):
    rows = rows_by_sensor(SimpleNamespace(problem=problem))
    assert set(sensor.innovations) <= set(rows)


class Barometer(Sensor):
    """A stream of two values, which no robot here has."""

    @dataclass(frozen=True)
    class Sample:
        """Two pressures."""

        stamp_ns: int
        pressure: np.ndarray

    name = "barometer"
    sample = Sample
    alignment = Alignment.CENTRED
    optional = True

    def width(self, wearer) -> int:
        """Two."""
        return 2

    def values(self, sample) -> np.ndarray:
        """Both."""
        return sample.pressure


@pytest.fixture
def barometer(monkeypatch) -> Barometer:
    """Declared among the others."""
    sensor = Barometer()
    monkeypatch.setattr(synchronizer_module, "SENSORS", (*SENSORS, sensor))
    return sensor


def readings(sensor: Barometer, samples, **options) -> dict[int, object]:
    """Readings by time of the node [ms]; joints and IMU come beside."""
    nodes = feed(Synchronizer(STEP, 3, **options), samples)
    return {round(t): m.readings.get(sensor.name) for t, m in zip(milliseconds(nodes), nodes)}


def linear(sensor: Barometer, times) -> list:
    """Samples that grow by 1 and 2 in a second, ahead of those of joints and IMU, up to 0.2 s."""
    stamp = both([0.0])[0].stamp_ns
    own = [sensor.sample(stamp + round(1e6 * t), 1e-3 * t * np.array([1.0, 2.0])) for t in times]
    return sorted([*own, *both(np.arange(0, 200, 2.0))], key=lambda s: s.stamp_ns)


def test_centred_stream_is_a_mean_about_the_node_before(barometer):
    """With triangular weight over two steps: what is linear in time has its value in the middle."""
    found = readings(barometer, linear(barometer, np.arange(0, 200, 2.0)), sensors=("barometer",))
    assert found[10] is None  # two steps are not seen yet
    for t in range(30, 180, 10):
        middle = 1e-3 * (t - 10)
        np.testing.assert_allclose(found[t].value, [middle, 2.0 * middle], atol=1e-9)
        assert 6.0 < found[t].samples < 8.0


def test_centred_stream_that_is_silent_has_no_reading(barometer):
    times = [t for t in np.arange(0, 200, 2.0) if not 80 < t < 130]
    found = readings(barometer, linear(barometer, times), sensors=("barometer",))
    assert found[70] is not None and found[150] is not None
    assert all(found[t] is None for t in (110, 120, 130, 140))


def test_centred_stream_that_nobody_asked_for(barometer):
    samples = linear(barometer, np.arange(0, 200, 2.0))
    assert not any(readings(barometer, samples, sensors=("mocap",)).values())


def test_values_that_are_not_finite_or_too_many_are_refused(barometer):
    sync, stamp = Synchronizer(STEP, 3, sensors=("barometer",)), 10
    sync.push(barometer.sample(stamp, np.array([1.0, np.nan])))
    assert sync.counts == {"barometer_not_finite": 1}
    with pytest.raises(DataError, match="a barometer sample must have 2 values"):
        sync.push(barometer.sample(stamp, np.ones(3)))


def members(protocol: type) -> set[str]:
    return set(protocol.__annotations__) | {n for n in vars(protocol) if not n.startswith("_")}


def test_problem_and_window_are_what_trackers_expect(problem):
    x = problem.first.neutral()
    arrival = _core.ActionArrival(problem.state, x, np.eye(problem.ndx))
    inputs = [_core.NodeInput(problem.measurements.core) for _ in range(2)]
    assert isinstance(problem, EstimationProblem)
    assert isinstance(Window(problem, arrival, inputs, [0, 10_000_000], [x, x]), SlidingWindow)
    assert all(isinstance(tracker, Tracker) for tracker in problem.measurements.trackers.values())
    assert all(isinstance(gate, Gate) for gate in problem.measurements.gates.values())


def test_trackers_use_no_more_of_them_than_is_declared():
    used = {"problem": set(), "window": set()}
    for path in Path(sensors.__file__).parent.glob("*.py"):
        for name, attribute in re.findall(r"\b_?(problem|window)\.([a-z]\w*)", path.read_text()):
            used[name].add(attribute)
    assert used["problem"] <= members(EstimationProblem)
    assert used["window"] <= members(SlidingWindow)
