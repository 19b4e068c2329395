# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Quality of service that a user gives, as rclpy asks whether it can be one; without rclpy."""

import sys
from types import SimpleNamespace

import pytest

from prime_estimation.errors import ConfigError
from prime_estimation.transport.ros_entities import qos_overriding


@pytest.fixture
def check(monkeypatch):
    """The function that rclpy calls with the profile after the overrides."""
    options = SimpleNamespace(with_default_policies=lambda *, callback: callback)
    result = SimpleNamespace(SetParametersResult=lambda **fields: SimpleNamespace(**fields))
    modules = {
        "rclpy": SimpleNamespace(),
        "rclpy.qos_overriding_options": SimpleNamespace(QoSOverridingOptions=options),
        "rcl_interfaces": SimpleNamespace(),
        "rcl_interfaces.msg": result,
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return qos_overriding("/robot1/imu")


@pytest.mark.parametrize("depth", [0, 1, 100])
def test_a_depth(depth, check):
    assert check(SimpleNamespace(depth=depth)).successful is True


@pytest.mark.parametrize("depth", [-1, -(2**31)])
def test_a_negative_depth_is_one_line_that_names_the_topic(depth, check):
    words = f"qos_overrides./robot1/imu: depth must be .* 0 or more, got {depth}$"
    with pytest.raises(ConfigError, match=words):
        check(SimpleNamespace(depth=depth))
