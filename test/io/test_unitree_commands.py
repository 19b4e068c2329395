# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""LowCmd: motors by name, idle motors, check sum as robots compute it."""

import struct

import numpy as np
import pytest

from prime_estimation.errors import ConfigError
from prime_estimation.io.typestore import typestore
from prime_estimation.io.unitree import FAMILIES
from prime_estimation.io.unitree_commands import (
    LAYOUTS,
    STOP_POSITION,
    LowCmdWriter,
    _numbers,
    crc32_mpeg2,
)


def make(name: str) -> type:
    return typestore().types[name]


def bit_by_bit(words) -> int:
    """The check sum as the robots' makers write it, one bit after the other."""
    crc = 0xFFFFFFFF
    for word in words:
        for bit in range(31, -1, -1):
            crc = ((crc << 1) ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
            if word >> bit & 1:
                crc ^= 0x04C11DB7
    return crc


def command(package: str):
    writer = LowCmdWriter(FAMILIES[package], make)
    names = list(FAMILIES[package].joints)
    values = [np.linspace(-1.0, 1.0, len(names)) + k for k in range(5)]
    return writer, names, writer.write(names, *values)


def test_check_value_of_the_catalogue():
    assert crc32_mpeg2(b"123456789") == 0x0376E6E7


@pytest.mark.parametrize(("package", "size"), [("unitree_go", 812), ("unitree_hg", 1004)])
def test_check_sum(package, size):
    writer, _, message = command(package)
    packed = struct.pack(writer.layout.layout, *_numbers(message))
    assert len(packed) == size
    words = struct.unpack(f"<{size // 4}I", packed)
    assert words[-1] == message.crc == bit_by_bit(words[:-1])


@pytest.mark.parametrize("package", LAYOUTS)
def test_motors_by_name(package):
    writer, names, _ = command(package)
    value = [1.0, 2.0, 3.0, 4.0, 5.0]
    message = writer.write([names[3]], *[[v] for v in value])
    motor = message.motor_cmd[3]
    assert [motor.q, motor.dq, motor.tau, motor.kp, motor.kd] == value and motor.mode == 1
    others = [m for k, m in enumerate(message.motor_cmd) if k != 3]
    assert not any(m.tau or m.kp or m.kd for m in others)
    if package == "unitree_go":
        assert all(m.q == STOP_POSITION for m in others)
    with pytest.raises(ConfigError, match="unknown joints: tail"):
        writer.write(["tail"], *[[v] for v in value])
