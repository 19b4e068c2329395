# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Motor commands to Unitree's LowCmd: motor numbers by joint name, modes, check sum."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError
from .to_messages import Make, header
from .unitree import FAMILIES, Family

SERVO = 1  # mode of a motor that obeys
STOP_POSITION, STOP_VELOCITY = 2.146e9, 16000.0  # of a motor that is not commanded
_HEAD, _LOW_LEVEL = (0xFE, 0xEF), 0xFF
_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


@dataclass(frozen=True)
class CommandLayout:
    """Layout of a family's LowCmd in the memory of its robots, which the check sum is of.

    Attributes:
        type: of the message.
        motors: number of motors in it.
        layout: of `struct`, little endian, with the padding of C; the last word is the check sum.
    """

    type: str
    motors: int
    layout: str


LAYOUTS = {
    "unitree_go": CommandLayout(
        "unitree_go/msg/LowCmd", 20, "<4B4IH2x" + 20 * "B3x5f3I" + "4B" + "55Bx2I"
    ),
    "unitree_hg": CommandLayout("unitree_hg/msg/LowCmd", 35, "<2B2x" + 35 * "B3x5fI" + "5I"),
}


def command_layout(family: Family) -> CommandLayout:
    """The LowCmd of a family; ConfigError where it has none on this network."""
    package = family.type.split("/")[0]
    if package not in LAYOUTS:
        known = ", ".join(LAYOUTS)
        raise ConfigError(f"{package} takes no LowCmd from this network; {known} do", family)
    return LAYOUTS[package]


class LowCmdWriter:
    """Builds the LowCmd of one family of robots.

    Args:
        family: its wire format.
        make: function from a message type's name to its class.

    Attributes:
        mode_machine: which robot of the family (unitree_hg), as its LowState says.
    """

    def __init__(self, family: Family, make: Make):
        self.layout, self._joints, self._make = command_layout(family), family.joints, make
        self._package = self.layout.type.split("/")[0]
        self.mode_machine = 0

    def write(
        self,
        names: Sequence[str],
        position: Sequence[float],
        velocity: Sequence[float],
        effort: Sequence[float],
        stiffness: Sequence[float],
        damping: Sequence[float],
    ):
        """LowCmd for these joints; motors that are not named get no torque.

        Raises:
            ConfigError: a joint that the robot does not have.
        """
        unknown = [name for name in names if name not in self._joints]
        if unknown:
            raise ConfigError(f"motor commands for unknown joints: {', '.join(unknown)}", unknown)
        motor = self._make(f"{self._package}/msg/MotorCmd")
        fields = zip(names, position, velocity, effort, stiffness, damping, strict=True)
        wanted = {
            name: motor(
                mode=SERVO,
                q=float(q),
                dq=float(dq),
                tau=float(tau),
                kp=float(kp),
                kd=float(kd),
                reserve=self._reserve(),
            )
            for name, q, dq, tau, kp, kd in fields
        }
        names_by_number = [*self._joints, *[""] * (self.layout.motors - len(self._joints))]
        command = self._frame([wanted.get(name) or self._idle(motor) for name in names_by_number])
        command.crc = checksum(self.layout, command)
        return command

    def _idle(self, motor):
        return motor(
            mode=SERVO if self._package == "unitree_go" else 0,
            q=STOP_POSITION if self._package == "unitree_go" else 0.0,
            dq=STOP_VELOCITY if self._package == "unitree_go" else 0.0,
            tau=0.0,
            kp=0.0,
            kd=0.0,
            reserve=self._reserve(),
        )

    def _reserve(self):
        return np.zeros(3, np.uint32) if self._package == "unitree_go" else 0

    def _frame(self, motors: list):
        def zeros(n: int, kind=np.uint8):
            return np.zeros(n, kind)

        if self._package == "unitree_hg":
            return self._make(self.layout.type)(
                mode_pr=0,
                mode_machine=self.mode_machine,
                motor_cmd=motors,
                reserve=zeros(4, np.uint32),
                crc=0,
            )
        return self._make(self.layout.type)(
            head=np.array(_HEAD, np.uint8),
            level_flag=_LOW_LEVEL,
            frame_reserve=0,
            sn=zeros(2, np.uint32),
            version=zeros(2, np.uint32),
            bandwidth=0,
            motor_cmd=motors,
            bms_cmd=self._make("unitree_go/msg/BmsCmd")(off=0, reserve=zeros(3)),
            wireless_remote=zeros(40),
            led=zeros(12),
            fan=zeros(2),
            gpio=0,
            reserve=0,
            crc=0,
        )


@dataclass(frozen=True)
class Commanded:
    """Motor commands of a LowCmd, by joint: fields of prime_estimation_msgs/MotorCommands."""

    name: tuple[str, ...]
    position: np.ndarray  # rad
    velocity: np.ndarray  # rad/s
    effort: np.ndarray  # Nm
    stiffness: np.ndarray  # Nm/rad
    damping: np.ndarray  # Nm s/rad


def commanded(message) -> Commanded:
    """Commands of a LowCmd by joint; a motor that is off, or is to stop, has no gains and torque.

    Args:
        message: unitree_go or unitree_hg LowCmd.

    Raises:
        ValueError: ankles and waist are in motor coordinates.
    """
    if getattr(message, "mode_pr", 0) != 0:
        raise ValueError("ankles and waist in motor coordinates (mode_pr is not 0)")
    family = FAMILIES["unitree_hg" if hasattr(message, "mode_pr") else "unitree_go"]
    rows = [
        (m.q, m.dq, m.tau, m.kp, m.kd) if m.mode == SERVO else (0.0,) * 5
        for m in message.motor_cmd[: len(family.joints)]
    ]
    q, dq, tau, kp, kd = np.array(rows, float).T
    q, dq = np.where(q == STOP_POSITION, 0.0, q), np.where(dq == STOP_VELOCITY, 0.0, dq)
    return Commanded(family.joints, q, dq, tau, kp, kd)


def checksum(layout: CommandLayout, command) -> int:
    """CRC-32/MPEG-2 of a LowCmd's 32-bit words but the last, most significant byte first."""
    packed = struct.pack(layout.layout, *_numbers(command))[:-4]
    words = struct.unpack(f"<{len(packed) // 4}I", packed)
    return crc32_mpeg2(struct.pack(f">{len(words)}I", *words))


def crc32_mpeg2(data: bytes) -> int:
    """CRC-32/MPEG-2: polynomial 0x04C11DB7, start 0xFFFFFFFF, nothing reflected.

    zlib has the same polynomial with everything reflected: bits in and out are turned round.
    """
    reflected = zlib.crc32(data.translate(_REVERSED)) ^ 0xFFFFFFFF
    return int(f"{reflected:032b}"[::-1], 2)


def motor_commands(make: Make, stamp_ns: int, message):
    """prime_estimation_msgs/MotorCommands of a LowCmd; ValueError as `commanded`."""
    c = commanded(message)
    return make("prime_estimation_msgs/msg/MotorCommands")(
        header=header(make, stamp_ns, ""),
        name=list(c.name),
        position=c.position,
        velocity=c.velocity,
        effort=c.effort,
        stiffness=c.stiffness,
        damping=c.damping,
    )


def _numbers(value):
    """The numbers of a message, depth first, in the order of its fields.

    Of rosbags, Cyclone DDS and rclpy alike.
    """
    if hasattr(value, "__dataclass_fields__"):
        names = [name for name in value.__dataclass_fields__ if not name.startswith("_")]
    elif hasattr(value, "get_fields_and_field_types"):
        names = list(value.get_fields_and_field_types())
    else:
        if hasattr(value, "__len__"):
            for item in value:
                yield from _numbers(item)
        else:
            yield value
        return
    for name in names:
        yield from _numbers(getattr(value, name))
