# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""The configuration as ROS parameters.

Names, descriptors, ranges and validation all come from `config.py`.
"""

from __future__ import annotations

from dataclasses import fields

from ...config.parameters import ROS_SECTIONS, Config
from ...errors import ConfigError

_WIDE = 1e12  # stands for "no limit" in a range


def declare(node, config: Config) -> None:
    """Declare `noise.*`, `estimator.*` and `node.*`.

    What the configuration says is the default, what is not tunable is read-only.

    Raises:
        ConfigError: a value that the user gave is of another type or out of range, or belongs to a
            parameter that there is not.
    """
    overrides = getattr(node, "_parameter_overrides", {})
    overrides.update({p.name: p for p in with_doubles(config, overrides.values())})
    for section in ROS_SECTIONS:
        values = getattr(config, section)
        for field in fields(values):
            name = f"{section}.{field.name}"
            declare_one(node, name, getattr(values, field.name), descriptor(field))
    # rclpy says nothing about parameters in a file that nobody declares: misspelt ones would seem
    # to be set
    for name, given in overrides.items():
        section, _, key = name.partition(".")
        if section in ROS_SECTIONS and not node.has_parameter(name):
            config.updated({section: {key: given.value}}, "parameters")
    tell_unknown(node)


def declare_one(node, name: str, default, description) -> None:
    """Declare a parameter.

    Raises:
        ConfigError: a value that the user gave is of another type or out of range.
    """
    from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException

    try:
        node.declare_parameter(name, default, description)
    except (InvalidParameterTypeException, InvalidParameterValueException) as error:
        raise ConfigError(f"parameter {name}: {' '.join(str(error).split())}", name) from error


def tell_unknown(node) -> None:
    """Warn of parameters that the user gave and that the node does not have.

    It is no error: a file for several nodes has those of the others too.
    """
    given = getattr(node, "_parameter_overrides", {})
    unknown = [n for n in given if not (node.has_parameter(n) or n.startswith("qos_overrides."))]
    if unknown:
        names = ", ".join(sorted(unknown))
        node.get_logger().warning(f"this node has no parameter {names}: not used")


def with_doubles(config: Config, parameters) -> list:
    """ROS parameters with whole numbers as doubles where these are meant.

    `ros2 param set ... 1` and `-p noise.gyro:=1` send an integer, which ROS does not take for a
    double.
    """
    from rclpy.parameter import Parameter

    def meant(parameter) -> bool:
        section, _, name = parameter.name.partition(".")
        current = getattr(getattr(config, section, None), name, None)
        given = parameter.type_ == Parameter.Type.INTEGER
        return given and section in ROS_SECTIONS and isinstance(current, float)

    return [
        Parameter(p.name, Parameter.Type.DOUBLE, float(p.value)) if meant(p) else p
        for p in parameters
    ]


def descriptor(field):
    """rcl_interfaces/ParameterDescriptor of a configuration field."""
    from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor

    facts = field.metadata
    unit = f" [{facts['unit']}]" if facts["unit"] else ""
    out = ParameterDescriptor(description=facts["doc"] + unit, read_only=not facts["tunable"])
    if facts["choices"]:
        out.additional_constraints = "one of " + ", ".join(facts["choices"])
    low, high = facts["low"], facts["high"]
    if low is not None or high is not None:
        if field.type in ("int", int):
            out.integer_range = [IntegerRange(from_value=int(low), to_value=int(high), step=0)]
        else:
            limits = (-_WIDE if low is None else float(low), _WIDE if high is None else float(high))
            out.floating_point_range = [
                FloatingPointRange(from_value=limits[0], to_value=limits[1], step=0.0)
            ]
    return out


def configured(node, config: Config) -> Config:
    """The configuration with the values that the parameters have now.

    Raises:
        ConfigError: a value that the ranges of the descriptors could not exclude.
    """
    return config.updated(
        {
            s: {
                f.name: node.get_parameter(f"{s}.{f.name}").value
                for f in fields(getattr(config, s))
            }
            for s in ROS_SECTIONS
        },
        "parameters",
    )


def changed(config: Config, parameters) -> Config:
    """The configuration with changed parameters in it; others than ours are ignored.

    Raises:
        ConfigError: a value is wrong.
    """
    for parameter in parameters:
        section, _, name = parameter.name.partition(".")
        if section in ROS_SECTIONS and name:
            config = config.updated({section: {name: parameter.value}}, "parameters")
    return config
