# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Track of an estimator: what its output topics have said over time, as rows of numbers."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ...io.inertia_messages import inertia_parameters
from ...io.joint_order import JointOrder
from ...io.messages import stamp_ns
from ...robot import Robot
from ...types import ContactState
from .series import Series

RESTART_NS = 1_000_000_000  # stamps that go back by more are those of a new run, not a late message
STALE_NS = 500_000_000  # without a word for longer, a topic's last value says nothing about now
# by topic that a robot is drawn from: how many of its first fields must be numbers for that
_DRAWN = {"odometry": 2, "joint_states": 1}


@dataclass(frozen=True)
class Moment:
    """Moment of an estimate; a row is None where its topic is silent.

    Attributes:
        stamp_ns: of the state.
        odometry: row with `position` (3,), `quat` (4,) xyzw, `covariance` (3, 3) of the position in
            world axes.
        joints: row with `position` (nj,), in the robot's order.
        contacts: row with `position`, `force` (nc, 3) in world axes, `covariance` (nc, 3, 3),
            `probability`, `state`, `ground` (nc,): height at which each contact stood last.
        inertia: row with `total_mass`, `total_mass_stddev`, and of each estimated link `parameters`
            (nb, 10), `mass_stddev`, `observable` (nb,).
        status: row with `solve_time_ms`, `latency_ms`, `overruns`.
        push: row with `force`, `moment` (3,) in base axes.
        troubles: what is wrong with the sensors, by the newest status.
    """

    stamp_ns: int
    odometry: np.void
    joints: np.void | None
    contacts: np.void | None
    inertia: np.void | None
    status: np.void | None
    push: np.void | None
    troubles: tuple[str, ...]


class Track:
    """Everything that one estimator has said, for looking at any instant of it.

    Args:
        robot: whose estimator it is.
        longest_s: how much of the past is kept [s]; None keeps everything.
    """

    def __init__(self, robot: Robot, longest_s: float | None = None):
        self.robot = robot
        self.contact_names = [c.name for c in robot.contacts]
        self.links = robot.estimated_links
        self.restarts = 0  # of the estimator, by its stamps
        self.troubles: tuple[str, ...] = ()
        longest_ns = None if longest_s is None else int(longest_s * 1e9)
        fields = _fields(robot.nj, len(self.contact_names), len(self.links))
        self.series = {topic: Series(layout, longest_ns) for topic, layout in fields.items()}
        self._orders: dict[tuple, JointOrder] = {}
        self._heard_at = dict.fromkeys(_DRAWN, time.monotonic())
        self._ground = np.full(len(self.contact_names), np.nan)
        self._rows = {
            "odometry": _odometry,
            "joint_states": self._joint_states,
            "contact_wrenches": self._contact_wrenches,
            "inertial_parameters": self._inertial_parameters,
            "status": self._status,
            "external_wrench": _external_wrench,
        }

    def put(self, topic: str, message) -> None:
        """Take a message of one of `output_messages.TOPICS`.

        A stamp far back begins the track anew. A pose, or joints, that are no numbers are left out.

        Raises:
            DataError: joints of another robot.
        """
        stamp = stamp_ns(message.header)
        series = self.series[topic]
        span = series.span_ns
        if span is not None and stamp < span[1] - RESTART_NS:
            self.restarts += 1
            self._ground[:] = np.nan
            for other in self.series.values():
                other.clear()
        row = self._rows[topic](message)
        if all(np.all(np.isfinite(part)) for part in row[: _DRAWN.get(topic, 0)]):
            if series.append(stamp, *row) and topic in _DRAWN:
                self._heard_at[topic] = time.monotonic()

    @property
    def silent_s(self) -> float:
        """Time [s] on the wall since pose and joints have both been told anew."""
        return time.monotonic() - min(self._heard_at.values())

    @property
    def span_ns(self) -> tuple[int, int] | None:
        """First and last instant of which pose and joints are known; None before there is one."""
        spans = [self.series[topic].span_ns for topic in _DRAWN]
        if None in spans:
            return None
        begin, end = max(s[0] for s in spans), min(s[1] for s in spans)
        return (begin, end) if begin <= end else None

    def at(self, at_ns: int) -> Moment | None:
        """What was known at an instant: the newest node that is not younger."""
        joints = self.series["joint_states"].at(at_ns)
        # odometry comes more often than nodes: the posture's own decides where the robot is drawn
        odometry = None if joints is None else self.series["odometry"].nearest(joints["stamp_ns"])
        if odometry is None:
            return None
        now = int(joints["stamp_ns"])
        row = {topic: self._fresh(topic, now) for topic in ("contact_wrenches", "external_wrench")}
        return Moment(
            now,
            odometry,
            joints,
            row["contact_wrenches"],
            self.series["inertial_parameters"].at(now),
            self.series["status"].at(now),
            row["external_wrench"],
            self.troubles,
        )

    def positions(self, begin_ns: int, end_ns: int, at_most: int) -> np.ndarray:
        """Positions (n, 3) of the base in a span [m]."""
        return self.series["odometry"].between(begin_ns, end_ns, at_most)["position"]

    def _fresh(self, topic: str, now_ns: int) -> np.void | None:
        row = self.series[topic].at(now_ns)
        return row if row is not None and now_ns - row["stamp_ns"] <= STALE_NS else None

    def _joint_states(self, message) -> tuple:
        names = tuple(message.name)
        if names not in self._orders:
            self._orders[names] = JointOrder(self.robot.joint_names, names)
        position = self._orders[names].pick(message.position)
        return (np.nan if position is None else position,)

    def _contact_wrenches(self, message) -> tuple:
        by_name = {c.name: c for c in message.contacts}
        row = np.zeros((), self.series["contact_wrenches"].dtype)
        row["position"] = np.nan
        for k, name in enumerate(self.contact_names):
            if name in by_name:
                self._contact(row, k, by_name[name])
        row["ground"] = self._ground
        return tuple(row[name] for name in row.dtype.names[1:])

    def _contact(self, row: np.ndarray, k: int, c) -> None:
        p, f = c.position, c.wrench.force
        row["position"][k], row["force"][k] = (p.x, p.y, p.z), (f.x, f.y, f.z)
        row["covariance"][k] = np.reshape(c.force_covariance, (3, 3))
        row["probability"][k], row["state"][k] = c.probability, c.state
        if c.state != ContactState.OPEN:
            self._ground[k] = p.z

    def _inertial_parameters(self, message) -> tuple:
        by_link = {b.link: b for b in message.bodies}
        parameters = np.full((len(self.links), 10), np.nan)
        stddev, observable = np.full(len(self.links), np.nan), np.zeros(len(self.links), bool)
        for k, link in enumerate(self.links):
            if link in by_link:
                body = by_link[link]
                parameters[k] = inertia_parameters(body.inertia)
                stddev[k], observable[k] = body.mass_stddev, body.observable
        return message.total_mass, message.total_mass_stddev, parameters, stddev, observable

    def _status(self, message) -> tuple:
        self.troubles = troubles(message)
        return message.solve_time_ms, message.latency_ms, message.overruns


def troubles(status) -> tuple[str, ...]:
    """What a prime_estimation_msgs/EstimatorStatus says is wrong, as `sensor: what`."""
    return tuple(f"{s.name}: {s.message}" for s in status.sensors if not s.ok)


def _fields(joints: int, contacts: int, bodies: int) -> dict[str, list[tuple]]:
    return {
        "odometry": [("position", "f8", 3), ("quat", "f8", 4), ("covariance", "f4", (3, 3))],
        "joint_states": [("position", "f8", (joints,))],
        "contact_wrenches": [
            ("position", "f4", (contacts, 3)),
            ("force", "f4", (contacts, 3)),
            ("covariance", "f4", (contacts, 3, 3)),
            ("probability", "f4", (contacts,)),
            ("state", "u1", (contacts,)),
            ("ground", "f4", (contacts,)),
        ],
        "inertial_parameters": [
            ("total_mass", "f8"),
            ("total_mass_stddev", "f8"),
            ("parameters", "f8", (bodies, 10)),
            ("mass_stddev", "f8", (bodies,)),
            ("observable", "?", (bodies,)),
        ],
        "status": [("solve_time_ms", "f8"), ("latency_ms", "f8"), ("overruns", "i8")],
        "external_wrench": [("force", "f8", 3), ("moment", "f8", 3)],
    }


def _odometry(message) -> tuple:
    pose = message.pose.pose
    p, q = pose.position, pose.orientation
    covariance = np.reshape(message.pose.covariance, (6, 6))[:3, :3]
    return (p.x, p.y, p.z), (q.x, q.y, q.z, q.w), covariance


def _external_wrench(message) -> tuple:
    f, m = message.wrench.force, message.wrench.torque
    return (f.x, f.y, f.z), (m.x, m.y, m.z)
