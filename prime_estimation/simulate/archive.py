# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""A simulated run as files.

A bag of noisy sensors and ground truth, and a JSON of what is true about it.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Callable

from ..config.parameters import Config, NoiseConfig
from ..errors import DataError
from ..io.made_folders import none_left_empty
from ..robot import Robot
from . import bag
from .ground import Ground
from .payload import Payload
from .push import Push
from .recording import simulate
from .sensors import RATE, SensorFaults, faults_named, read_sensors
from .truth import metadata


def run(
    robot: str,
    motion: str,
    duration: float,
    out: Path,
    *,
    payload: Payload | None = None,
    terrain: Ground | None = None,
    noise: NoiseConfig | None = None,
    faults: str | SensorFaults = "default",
    seed: int = 0,
    start: float = 0.0,
    pushes: tuple[Push, ...] = (),
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Simulates a robot and writes the bag folder `out` (MCAP, noise.json) and `<out>.json`.

    Args:
        robot: name of a robot, or the path of its YAML.
        motion: one of `MOTIONS`.
        duration: s.
        out: folder to write; it must not exist.
        payload: extra mass; neither controller nor nominal model know it.
        terrain: floor; default: flat, friction 0.8.
        noise: white noise and IMU bias; default: that of `config/noise/<robot>.yaml`.
        faults: constant errors, delay and dropout: "default" (none), "hard", or SensorFaults.
        seed: of commands, terrain and noise.
        start: s of motion before the recording starts; 0: it starts standing.
        pushes: on the base; with any, the bag has `/ground_truth/external_wrench`.
        progress: called with the fraction done.

    Returns:
        The bag folder.

    Raises:
        ConfigError, SimulationError: see `simulate`. DataError: `out` exists or cannot be written.
    """
    out = Path(out)
    _check_free(out)
    faults = faults_named(faults)
    config = Config.load(robot)
    noise = noise or config.noise
    around = payload, terrain or Ground(), seed, start, progress, pushes
    recording = simulate(Robot(config.robot), motion, duration, *around)
    readings = read_sensors(recording, noise, faults)
    params = _parameters(noise, faults)
    drawn = {"run": out.name, "seed": seed, "params": params, "truth": readings.drawn}
    truth = metadata(recording, out.name)
    with none_left_empty(out.parent), _whole(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        bag.write(out, recording, readings, noise)
        (out / "noise.json").write_text(json.dumps(drawn, indent=1))
        _beside(out).write_text(json.dumps(truth, indent=1))
    return out


@contextmanager
def _whole(out: Path) -> Iterator[None]:
    """Leave nothing behind of a recording that is interrupted, or finds no room."""
    try:
        yield
    except BaseException as error:
        shutil.rmtree(out, ignore_errors=True)
        _beside(out).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise DataError(f"cannot write {out}: {error.strerror or error}", out) from error
        raise


def _beside(out: Path) -> Path:
    """Metadata of a recording, beside its folder."""
    return out.with_name(out.name + ".json")


def _check_free(out: Path) -> None:
    for beside in (False, True):  # "." and the root exist, and have no name to add to
        path = _beside(out) if beside else out
        if path.exists():
            raise DataError(f"{path} exists; choose another name or remove it", out)
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not (above.is_dir() and os.access(above, os.W_OK)):  # minutes before it is written
        raise DataError(f"cannot write {out}: {above} is no folder that can be written to", out)


def _parameters(noise: NoiseConfig, faults: SensorFaults) -> dict:
    """The noise of the run, under the names of the published recordings' noise.json."""
    return {
        "encoder_std": noise.encoder,
        "encoder_bias_std": faults.encoder_offset,
        "dq_std": noise.joint_velocity,
        "torque_std": noise.joint_torque,
        "torque_scale_std": faults.torque_scale,
        "gyro_std": noise.gyro,
        "gyro_bias_std": noise.gyro_bias,
        "gyro_bias_rw": noise.gyro_bias_walk,
        "acc_std": noise.accelerometer,
        "acc_bias_std": noise.accelerometer_bias,
        "acc_bias_rw": noise.accelerometer_bias_walk,
        "mocap_pos_std": noise.mocap_position,
        "mocap_rot_std_deg": math.degrees(noise.mocap_rotation),
        "mocap_rate": faults.mocap_rate,
        "mocap_rot_bias_deg": math.degrees(faults.mocap_rotation_offset),
        "mocap_dropout": faults.mocap_dropout,
        "mocap_dropout_mean_s": faults.mocap_dropout_length,
        "mocap_delay": faults.mocap_delay,
        "sensor_rate": RATE,
    }
