# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""What the posterior of a window does not know of pose, velocity and contact forces.

Its disturbances are white; the errors of a contact model are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..config.policies import INTERVAL
from ..contact.points import flat_feet, leg_joints
from ..robot import Robot
from ..sensors.imu import vertical
from ..sensors.mocap import ROLL, SWAY
from ..sensors.sensor import INSTANT
from ..types import Measurement

# (6, 6) of the pose of a robot whose sensors are not mounted as its YAML says
MOUNT_COVARIANCE = np.diag(np.repeat([INTERVAL.mount_place**2, INTERVAL.mount_tilt**2], 3))


class Intervals:
    """Covariances that come on top of the posterior's.

    Args:
        dt: time between nodes [s].
    """

    def __init__(self, dt: float):
        self.dt = dt
        self._jump = 0.0

    def velocity(
        self, m: Measurement, vibration: float, softness: float = 0.0, untold: float = 0.0
    ) -> float:
        """Variance of each component of the velocity at the stamp [m2/s2].

        Half a step of the specific force that falls between samples, and of the vibration that the
        rigid model does not have; after an impact, contact forces that are off for a few nodes; on
        soft ground, feet that creep otherwise than the contact law has it.

        Args:
            m: measurement at the stamp; those before it must have been given too.
            vibration: standard deviation of the specific force [m/s2].
            softness: of the ground.
            untold: deviation by what no torque tells (`untold_velocity`) [m/s].
        """
        change = max(np.ravel(m.accelerometer_change).tolist())
        self._jump = max(change, INTERVAL.shock_decay * self._jump)
        missed = math.hypot(vibration, INSTANT * change)
        creep = INTERVAL.soft * softness
        model = creep**2 + untold**2
        return (0.5 * self.dt * missed) ** 2 + INTERVAL.shock * self.dt * self._jump + model


def untold_velocity(speed: float, unweighed: float, tracked: bool) -> float:
    """Deviation of each component of the velocity by what no torque tells of the feet [m/s].

    Args:
        speed: of the base [m/s].
        unweighed: share of the window without torques: those of a single node tell little.
        tracked: motion capture or another sensor tells the place.
    """
    by_speed = 0.0 if tracked else INTERVAL.untold_speed * speed * unweighed
    return math.hypot(INTERVAL.untold_velocity, by_speed)


class ForceIntervals:
    """Variances of contact forces that come on top of the posterior's.

    A force that changes does so at some time within a node, which the contact law does not tell: of
    the second difference of the force, over three nodes, a share is not known, along the ground
    half of that, and the contact goes on so for a few nodes. What slides is held by friction that
    differs from spot to spot.

    Args:
        contacts: number nc of them.
    """

    def __init__(self, contacts: int):
        self._force, self._change = np.zeros((2, contacts, 3))
        self._mark = [0.0] * contacts

    def variances(self, force: np.ndarray, slides: Sequence[bool], late: float = 0.0) -> np.ndarray:
        """Of each component (3 nc,) [N2]; to be asked node by node.

        Torques that are read late by l steps are carried ahead by their change: of its second
        difference `l (1 + l)/2` is missing.

        Args:
            force: (3 nc,) of the node, world axes [N].
            slides: whether each of the nc contacts carries load and slides.
            late: l, by which torques are read late, in steps.
        """
        force = force.reshape(-1, 3)
        change = force - self._force
        bend = change - self._change
        self._force, self._change = force, change
        squares = [x * x + y * y + z * z for x, y, z in bend.tolist()]
        keep, ahead = INTERVAL.shock_decay**2, 0.5 * late * (1.0 + late)
        share = INTERVAL.force_change**2 + ahead**2
        self._mark = [max(new, keep * old) for new, old in zip(squares, self._mark)]
        out: list[float] = []
        for mark, normal, sliding in zip(self._mark, force[:, 2].tolist(), slides):
            up, slip = share * mark, INTERVAL.force_slip * normal
            along = 0.25 * up + sliding * (slip * slip)
            out += along, along, up
        return np.array(out)


def open_variances(opens: np.ndarray, weight: float) -> np.ndarray:
    """Variances (..., nc, 3) that forces of contacts which carry nothing have at least [N2].

    The law of contacts has such a force exact, up to the node in which the foot touches down.

    Args:
        opens: (..., nc) bool, whether a contact seems to carry nothing; 0 for the others.
        weight: of the robot, divided by the contacts of a foot [N].
    """
    deviation = INTERVAL.force_open * weight * np.array([0.5, 0.5, 1.0])
    return opens[..., None] * deviation**2


def sole_tilt(robot: Robot, encoder_offset: float) -> float:
    """Variance of roll and of pitch by zeros of the joints between a flat sole and the base [rad2].

    The sole lies on the ground, and the joints' angles say how the base is tilted against it: half
    of a leg's joints turn about either axis. A robot that steps from one leg to the other has the
    mean of both, whose zeros have nothing to do with each other. Point feet tell the tilt by their
    heights: 0.

    Args:
        robot: with its contacts.
        encoder_offset: standard deviation of a joint's zero [rad].
    """
    flat = dict(zip(robot.feet, flat_feet(robot)))
    joints = [len(leg) for leg, c in zip(leg_joints(robot), robot.contacts) if flat[c.foot]]
    legs = max(sum(flat.values()), 1)
    return 0.5 * max(joints, default=0) / legs * encoder_offset**2


def creep_covariance(
    unevenness: float,
    quat_world_base: np.ndarray,
    measured: bool = True,
    zeros: float = 0.0,
    slipping: float = 0.0,
    late: float = 0.0,
    elsewhere: bool = False,
    poses: float = 0.0,
) -> np.ndarray:
    """Covariance (6, 6) of the pose, base axes: what feet that creep all alike do to it.

    Args:
        unevenness: of the ground: 0 (a floor), 1 (uneven), and its softness on top.
        quat_world_base: (4,) xyzw.
        measured: torques are, and tell what the feet carry.
        zeros: variance of roll and pitch by the zeros of joints (`sole_tilt`) [rad2].
        slipping: share of the feet that carry and slide.
        late: by which poses of motion capture are taken back to their time [s].
        elsewhere: links whose inertia is not estimated carry a load.
        poses: deviation of the positions that motion capture reads, times the root of the time
            from one to the next [m sqrt(s)]; 0: none tells the pose. The noisier or rarer they are,
            the longer the time of which the estimate is a mean, and the further feet creep
            meanwhile.
    """
    i, share = INTERVAL, unevenness**2
    place = i.place**2 + share * (i.place_uneven**2 - i.place**2)
    place *= max(poses / i.place_poses, 1.0)
    place += (i.slip_place * max(slipping - i.slip_usual, 0.0)) ** 2 + (SWAY * late**2) ** 2
    place += (elsewhere * i.elsewhere_place) ** 2
    uneven = i.tilt_tracked if poses else i.tilt_uneven
    tilt = i.tilt**2 + share * (uneven**2 - i.tilt**2)
    tilt += zeros + (0.0 if measured else i.untold_tilt**2)
    soft = max(unevenness - 1.0, 0.0)
    tilt += (i.tilt_soft * soft) ** 2
    heading = i.heading**2 + (i.heading_soft * soft) ** 2
    heading += (ROLL * late**2) ** 2 + (elsewhere * i.elsewhere_heading) ** 2
    turn = heading - tilt  # about the vertical
    x, y, z = vertical(quat_world_base).tolist()
    xy, xz, yz = turn * (x * y), turn * (x * z), turn * (y * z)
    out = np.zeros((6, 6))
    out.reshape(-1)[:15:7] = place
    out[3:, 3:] = [
        [tilt + turn * (x * x), xy, xz],
        [xy, tilt + turn * (y * y), yz],
        [xz, yz, tilt + turn * (z * z)],
    ]
    return out
