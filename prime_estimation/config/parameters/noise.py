# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Parameters of noise: what one sample of a sensor is worth, and what the model leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from ...declaration import param
from ...sensors import SENSORS, Sensor


@dataclass(frozen=True)
class ModelNoise:
    """Standard deviation of what the model leaves out."""

    base_force: float = param(2.0, "unmodelled force on the base", "N", 1e-3, 1e4, tunable=True)
    base_moment: float = param(0.5, "unmodelled moment on the base", "Nm", 1e-3, 1e4, tunable=True)
    joint_model: float = param(0.15, "unmodelled joint torque", "Nm", 1e-3, 1e3, tunable=True)
    joint_unmeasured: float = param(
        100.0, "joint torque where no torque is measured or commanded", "Nm", 1e-1, 1e4
    )
    contact_normal: float = param(
        0.008, "contact velocity disturbance, normal", "m/s", 1e-4, 10.0, tunable=True
    )
    contact_tangential: float = param(
        0.002, "contact velocity disturbance, tangential", "m/s", 1e-4, 10.0, tunable=True
    )
    contact_landing: float = param(
        10.0,
        "factor on these in the step in which a foot may be put down",
        "",
        1.0,
        100.0,
        tunable=True,
    )
    contact_dof: float = param(
        2.0, "degrees of freedom of its Student-t (large: Gaussian)", "", 1.0, 1e9, tunable=True
    )
    force_dof: float = param(
        4.0,
        "the same of the unmodelled force, moment and joint torques",
        "",
        1.0,
        1e9,
        tunable=True,
    )
    reading_dof: float = param(
        4.0, "the same of readings that can be outliers", "", 1.0, 1e9, tunable=True
    )
    contact_roll: float = param(
        1.0,
        "contact velocity disturbance of a flat foot, roll and pitch",
        "rad/s",
        1e-4,
        50.0,
        tunable=True,
    )
    contact_yaw: float = param(
        0.5, "contact velocity disturbance of a flat foot, yaw", "rad/s", 1e-4, 50.0, tunable=True
    )
    wrench_cone: float = param(
        5.0,
        "force of a rigid contact outside of its friction or wrench cone",
        "N",
        1e-2,
        1e4,
        tunable=True,
    )
    torque_scale: float = param(
        0.01,
        "common relative error of the torques: systematic part of the mass interval",
        "",
        0.0,
        0.5,
    )
    torque_scale_commanded: float = param(
        0.05,
        "the same where only commanded torques are known: gears and drives lose some",
        "",
        0.0,
        0.5,
    )
    torque_scale_spread: float = param(
        0.008,
        "relative difference of torque scale between legs: part of offline intervals",
        "",
        0.0,
        0.5,
    )
    encoder_offset: float = param(
        0.002,
        "constant error of a joint's zero: part of offline intervals, and of the tilt on flat feet",
        "rad",
        0.0,
        0.1,
    )
    joint_losses: float = param(
        0.1,
        "relative error of the joints' armature, friction, damping: part of offline intervals",
        "",
        0.0,
        2.0,
    )


def _declared_noise() -> tuple[type, ...]:
    """Noise of the sensors that have some; the first sensor's comes first in the configuration."""
    return tuple(s.Noise for s in reversed(SENSORS) if s.Noise is not Sensor.Noise)


@dataclass(frozen=True)
class NoiseConfig(ModelNoise, *_declared_noise()):
    """Standard deviation of one sample of each sensor, and of the model's disturbances.

    (`config/noise/<robot>.yaml`)
    """
