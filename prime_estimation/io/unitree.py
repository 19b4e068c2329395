# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Unitree's LowState to standard messages: joint names, quaternion order, stamps by tick."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..errors import ConfigError
from .to_messages import Make, header

log = logging.getLogger("prime.unitree")
ROLES_IN_LOWSTATE = ("joint_states", "imu", "foot_force")
_LEGS = tuple(
    f"{leg}_{joint}_joint" for leg in ("FR", "FL", "RR", "RL") for joint in ("hip", "thigh", "calf")
)
_FEET = ("FR_foot", "FL_foot", "RR_foot", "RL_foot")
_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_ARM = (
    "shoulder_pitch",
    "shoulder_roll",
    "shoulder_yaw",
    "elbow",
    "wrist_roll",
    "wrist_pitch",
    "wrist_yaw",
)
_G1 = (
    *(f"{side}_{joint}_joint" for side in ("left", "right") for joint in _LEG),
    *(f"waist_{axis}_joint" for axis in ("yaw", "roll", "pitch")),
    *(f"{side}_{joint}_joint" for side in ("left", "right") for joint in _ARM),
)


@dataclass(frozen=True)
class SecondaryImu:
    """An IMU with a message of its own: `frame` of its measurements in the URDF."""

    topic: str
    type: str
    frame: str


@dataclass(frozen=True)
class Family:
    """Robots that share a wire format.

    Attributes:
        type: of the message. joints: their names by motor number. imu: name of its member.
        feet: with a force sensor, in the order of `foot_force`.
        secondary_imu: one that is not in the message.
    """

    type: str
    joints: tuple[str, ...]
    imu: str = "imu_state"
    feet: tuple[str, ...] = ()
    secondary_imu: SecondaryImu | None = None

    @property
    def roles(self) -> tuple[str, ...]:
        """What one message holds."""
        return tuple(r for r in ROLES_IN_LOWSTATE if r != "foot_force" or self.feet)

    def imu_apart(self, frame: str) -> SecondaryImu | None:
        """The IMU in this frame, where it has a message of its own; None: it is in the LowState."""
        second = self.secondary_imu
        return second if second is not None and second.frame == frame else None


FAMILIES = {
    "unitree_go": Family("unitree_go/msg/LowState", _LEGS, feet=_FEET),
    "unitree_hg": Family(
        "unitree_hg/msg/LowState",
        _G1,
        secondary_imu=SecondaryImu("secondary_imu", "unitree_hg/msg/IMUState", "imu_in_torso"),
    ),
    "unitree_legged": Family("ros2_unitree_legged_msgs/msg/LowState", _LEGS, "imu", _FEET),
}
_ROBOTS = {
    "go2": "unitree_go",
    "b2": "unitree_go",
    "g1": "unitree_hg",
    "go1": "unitree_legged",
    "a1": "unitree_legged",
}


def family_of_type(type_name: str) -> Family:
    """The wire format with this message type."""
    return next(f for f in FAMILIES.values() if f.type == type_name)


def family_of(robot_name: str) -> Family:
    """The wire format of a robot by its name (`go2`, `g1`, `go1`) or by the name of the family."""
    found = FAMILIES.get(_ROBOTS.get(robot_name, robot_name))
    if found is None:
        raise ConfigError(
            f"'{robot_name}' has no known LowState; known are {', '.join([*_ROBOTS, *FAMILIES])}. "
            "A robot of yours that speaks one of these is to be named so (robot.name)",
            robot_name,
        )
    return found


class TickClock:
    """Time of a message that has no stamp, from its millisecond counter.

    The counter is regular but has an unknown origin and drifts; the arrival is absolute but comes
    late by a varying delay. `stamp = tick + offset`, the offset being the lower envelope of arrival
    - tick: it follows a smaller one at once (as far as stamps stay increasing) and a larger one by
    `DRIFT`. So stamps are regular, and late by the smallest delay only. Where the counter stands,
    as that of a simulator that does not fill it in, stamps are times of arrival.

    Attributes:
        jitter_ms: how much later than the stamp messages arrive, running mean.
        restarts: how often counter and arrival did not fit any more, because the robot or the clock
            was restarted.
        skipped: messages that are missing: the counter went on by several of its usual steps.
    """

    DRIFT = 1e-4
    TICK_NS = 1_000_000
    RESTART_NS = 500_000_000
    STEPS, SETTLED = 32, 10  # different ones that are remembered; before that, none is usual
    STANDING = 10  # messages with one counter: it comes twice where these come faster than it

    def __init__(self):
        self.jitter_ms = 0.0
        self.restarts = self.skipped = 0
        self._steps: Counter[int] = Counter()
        self._tick: int | None = None
        self._offset_ns = self._same = 0

    @property
    def stands(self) -> bool:
        """Whether the newest messages had all the same counter."""
        return self._same >= self.STANDING

    def stamp(self, tick: int, arrival_ns: int) -> int:
        """Stamp [ns] of the message with this tick that arrived then."""
        offset = arrival_ns - tick * self.TICK_NS
        late = offset - self._offset_ns
        step = 0 if self._tick is None else (tick - self._tick) * self.TICK_NS
        self._same = self._same + 1 if tick == self._tick else 0
        if self.stands:
            self._offset_ns = offset
        elif self._tick is None or step < 0 or abs(late) > self.RESTART_NS:
            self.restarts += self._tick is not None
            self._offset_ns, late = offset, 0
        else:
            self._offset_ns += int(
                max(late, -0.5 * step) if late < 0 else min(late, self.DRIFT * step)
            )
            self.jitter_ms += 0.01 * (max(late, 0) * 1e-6 - self.jitter_ms)
            self._count(tick - self._tick)
        self._tick = tick
        return tick * self.TICK_NS + self._offset_ns

    def _count(self, step: int) -> None:
        """The most frequent step of the counter is one message, a longer one is several."""
        self._steps[step] += step > 0
        if len(self._steps) > self.STEPS:
            self._steps = Counter(dict(self._steps.most_common(self.STEPS // 2)))
        usual = self._steps.most_common(1)[0][0]
        if self._steps.total() > self.SETTLED:  # half a step more is jitter
            self.skipped += max(0, math.ceil(step / max(usual, 1) - 1.5))


class LowStateReader:
    """Splits LowState messages of one robot into the standard messages that they hold.

    Args:
        family: the robot's wire format.
        make: function from a message type's name to its class.
        imu_frame: frame of the IMU's measurements.

    Attributes:
        clock: where the stamps come from.
        counts: refused messages by reason.
    """

    def __init__(self, family: Family, make: Make, imu_frame: str = "imu"):
        self.family, self.clock, self.counts = family, TickClock(), Counter()
        self._make, self._imu_frame = make, imu_frame
        self._names, self._stood = list(family.joints), False

    def read(
        self, message, arrival_ns: int, wanted: Collection[str] = ROLES_IN_LOWSTATE
    ) -> dict[str, object]:
        """Standard messages by wanted role.

        None when the joints are in motor coordinates, see `counts`.
        """
        if getattr(message, "mode_pr", 0) != 0:
            self.counts["lowstate: ankles and waist in motor coordinates (mode_pr is not 0)"] += 1
            return {}
        stamp_ns = self.clock.stamp(int(message.tick), arrival_ns)
        self._tell_standing()
        split = {"joint_states": self._joints, "imu": self._trunk_imu, "foot_force": self._feet}
        return {r: split[r](message, stamp_ns) for r in self.family.roles if r in wanted}

    def _tell_standing(self) -> None:
        if self.clock.stands and not self._stood:
            log.warning("lowstate: its counter (tick) stands: stamped as the messages arrive")
        self._stood = self.clock.stands

    def _trunk_imu(self, message, stamp_ns: int):
        return self.imu(getattr(message, self.family.imu), stamp_ns, self._imu_frame)

    def _feet(self, message, stamp_ns: int):
        return self._make("prime_estimation_msgs/msg/FootForces")(
            header=header(self._make, stamp_ns, ""),
            name=list(self.family.feet),
            force=np.array(message.foot_force, float),
        )

    def _joints(self, message, stamp_ns: int):
        motors = message.motor_state[: len(self._names)]
        return self._make("sensor_msgs/msg/JointState")(
            header=header(self._make, stamp_ns, ""),
            name=self._names,
            position=np.array([m.q for m in motors], float),
            velocity=np.array([m.dq for m in motors], float),
            effort=np.array([m.tau_est for m in motors], float),
        )

    def secondary_imu(self, state, arrival_ns: int):
        """sensor_msgs/Imu of the IMU that is not in the message, stamped when it came."""
        # it has no counter: what is known is that it did not come before it was measured
        return self.imu(state, arrival_ns, self.family.secondary_imu.frame)

    def imu(self, state, stamp_ns: int, frame: str):
        """sensor_msgs/Imu of an IMUState.

        Its quaternion is w, x, y, z; all zero means that there is none.
        """
        w, x, y, z = (float(v) for v in state.quaternion)
        unknown = np.zeros(9)
        known = any((w, x, y, z))
        vector = self._make("geometry_msgs/msg/Vector3")
        return self._make("sensor_msgs/msg/Imu")(
            header=header(self._make, stamp_ns, frame),
            orientation=self._make("geometry_msgs/msg/Quaternion")(
                x=x, y=y, z=z, w=w if known else 1.0
            ),
            orientation_covariance=unknown if known else np.array([-1.0, *unknown[1:]]),
            angular_velocity=vector(
                **{axis: float(v) for axis, v in zip("xyz", state.gyroscope, strict=True)}
            ),
            angular_velocity_covariance=unknown,
            linear_acceleration=vector(
                **{axis: float(v) for axis, v in zip("xyz", state.accelerometer, strict=True)}
            ),
            linear_acceleration_covariance=unknown,
        )
