# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the prime_estimation developers
"""Walks live: simulated robot, estimator and MPC as processes over Cyclone DDS, in real time.

    python benchmarks/live_walk.py --robot go2 --gait trot --seconds 60
    python benchmarks/live_walk.py --clock 0.3    # on a computer that is too slow, or busy

The robot stands, then walks with turns. One line every ten seconds: height and tilt of the trunk,
what its velocity is off the commanded one, which state the controller is in, solves and commands
that were left out because the ones before took too long, solve times, odometry and its age,
overruns of the estimator, and processor time of the three. A fall, or a controller that brakes,
ends it with exit code 1. When the computer is too slow the simulator lets time go, which others see
as gaps, or with --clock slows the time of all down: how much is said too.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque

import numpy as np
from live import end
from several import TICK, processor_ticks, start, wait

from prime_estimation.io.messages import stamp_ns
from prime_estimation.transport.base import Qos
from prime_estimation.transport.dds import DdsTransport

STAND = 5.0  # s, before it walks
LINE = 10.0  # s
COMMANDED = 0.05  # s between two velocity commands
RAMP = 3.0  # s of walking that are not judged
FALLEN = np.radians(40.0)
HEARD = {
    "/simulator/ground_truth": "nav_msgs/msg/Odometry",
    "/prime/odometry": "nav_msgs/msg/Odometry",
    "/prime/status": "prime_estimation_msgs/msg/EstimatorStatus",
    "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
}


class Walk:
    """Commands a velocity, and writes down what the robot makes of it.

    Args:
        domain: DDS domain.
        velocity: forwards [m/s]. turn: to the left [rad/s].
        clock: take the time from /clock.
    """

    def __init__(self, domain: int, velocity: float, turn: float, clock: bool):
        self._transport = DdsTransport("walk", domain=domain, use_sim_time=clock)
        self._stop = threading.Event()
        self._wish, self.walking_since = (velocity, turn), None
        self.truth: deque = deque(maxlen=200_000)
        self.ages: list[float] = []
        self.status, self.controller = None, {}
        publish, make = self._transport.publish, self._transport.make
        self._send_velocity = publish("cmd_vel", "geometry_msgs/msg/Twist", Qos.STATE)
        self._send_gait = publish("mpc/gait", "std_msgs/msg/String", Qos.STATE)
        self._vector = make("geometry_msgs/msg/Vector3")
        self._twist = make("geometry_msgs/msg/Twist")
        self._string = make("std_msgs/msg/String")
        callbacks = self._on_truth, self._on_odometry, self._on_status, self._on_diagnostics
        for (topic, kind), callback in zip(HEARD.items(), callbacks, strict=True):
            self._transport.subscribe(topic, kind, callback, Qos.STATE)
        for work in (self._command, lambda: self._transport.spin(self._stop)):
            threading.Thread(target=work, daemon=True).start()

    def now(self) -> float:
        """Time of the graph [s]."""
        return 1e-9 * self._transport.now_ns()

    def begin(self, gait: str) -> None:
        """Walk from now on."""
        self._send_gait(self._string(data=gait))
        self.ages, self.walking_since = [], self.now()

    def _command(self) -> None:
        while not self._stop.wait(COMMANDED):
            vx, yaw = self._wish if self.walking_since is not None else (0.0, 0.0)
            linear = self._vector(x=vx, y=0.0, z=0.0)
            self._send_velocity(
                self._twist(linear=linear, angular=self._vector(x=0.0, y=0.0, z=yaw))
            )

    def _on_truth(self, message, _arrival_ns: int) -> None:
        p, q, v = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
        tilt = np.arccos(np.clip(1.0 - 2.0 * (q.x**2 + q.y**2), -1.0, 1.0))
        self.truth.append((self.now(), p.z, tilt, v.linear.x, v.linear.y, v.angular.z))

    def _on_odometry(self, message, arrival_ns: int) -> None:
        self.ages.append((arrival_ns - stamp_ns(message.header)) * 1e-6)

    def _on_status(self, message, _arrival_ns: int) -> None:
        self.status = message

    def _on_diagnostics(self, message, _arrival_ns: int) -> None:
        for entry in message.status:
            if entry.name == "mpc: controller":
                values = {pair.key: pair.value for pair in entry.values}
                self.controller = {**values, "message": entry.message}

    def since(self, at: float) -> np.ndarray:
        """Truth from a time on: time, height, tilt, vx, vy, yaw rate."""
        return np.array([row for row in list(self.truth) if row[0] >= at]).reshape(-1, 6)

    def fallen(self) -> bool:
        """Whether the trunk lies on its side, or the controller brakes."""
        down = bool(self.truth) and self.truth[-1][2] > FALLEN
        return down or self.controller.get("mode") == "damping"

    def line(self, name: str, began: float, cores: list[float]) -> str:
        """A line of the table about what has been since `began`."""
        rows = self.since(began)
        ages = np.array(self.ages or [np.nan])
        c = self.controller
        s = self.status
        self.ages = []
        error = "-"
        if self.walking_since is not None and began >= self.walking_since + RAMP and len(rows):
            error = f"{np.sqrt(np.mean((rows[:, 3] - self._wish[0]) ** 2 + rows[:, 4] ** 2)):.3f}"
        height = f"{rows[:, 1].min():.3f}-{rows[:, 1].max():.3f}" if len(rows) else "-"
        tilt = f"{np.degrees(rows[:, 2].max()):.1f}" if len(rows) else "-"
        solve = f"{c.get('solve, median [ms]', '-')} / {c.get('solve, 99 % [ms]', '-')}"
        age = "{:.1f} / {:.1f}".format(*np.percentile(ages, (50, 99)))
        missed = f"{c.get('missed solves', '-')}", f"{c.get('missed commands', '-')}"
        cells = [name, height, tilt, error, c.get("message", "-"), *missed, solve]
        cells += [
            f"{len(ages) / (self.now() - began):.0f}",
            age,
            str(s.overruns if s else "-"),
        ]
        return "| " + " | ".join([*cells, *(f"{x:.2f}" for x in cores)]) + " |"


def arguments() -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", default="go2")
    parser.add_argument("--gait", default="trot")
    parser.add_argument("--velocity", type=float, default=0.4)
    parser.add_argument("--turn", type=float, default=0.1)
    parser.add_argument("--seconds", type=float, default=60.0, help="of walking")
    help_clock = "of the time that the simulator gives; 0: real time"
    parser.add_argument("--clock", type=float, default=0.0, metavar="SPEED", help=help_clock)
    return parser.parse_args()


def started(robot: str, clock: float) -> list[subprocess.Popen]:
    """Simulator, estimator, MPC, in one session, as a launch file starts them.

    Of sessions that share a processor (autogroups) Linux lets one wait for tens of ms while the
    others work, whatever the niceness of its threads.
    """
    command, taken = [sys.executable, "-m", "prime_estimation.cli"], ["--sim-time"] * bool(clock)
    verbs = (
        ["simulate", "--live", "--json", "--clock", str(clock)],
        ["node", "--no-mocap", *taken],
        ["node", "mpc", *taken],
    )
    options = {"stderr": None, "stdout": subprocess.PIPE, "start_new_session": False}
    return [start([*command, *verb, "--robot", robot], **options) for verb in verbs]


def walk_on(walk: Walk, args: argparse.Namespace, pids: list[int]) -> None:
    """Stand, walk, print a line now and then, until the time is over or the robot fell."""
    wait(lambda: walk.controller.get("mode") == "active")
    standing = walk.now()
    wait(lambda: walk.now() > standing + STAND)
    walk.begin(args.gait)
    while not walk.fallen() and walk.now() < walk.walking_since + args.seconds:
        began, at, ticks = walk.now(), time.monotonic(), [processor_ticks(pid) for pid in pids]
        while not walk.fallen() and walk.now() < began + LINE:
            time.sleep(0.02)
        period = time.monotonic() - at
        used = [processor_ticks(pid) - t for pid, t in zip(pids, ticks, strict=True)]
        cores = [u / TICK / period for u in used]
        print(walk.line(f"{began - walk.walking_since:.0f}", began, cores), flush=True)


def main() -> int:
    """Walk, print, judge."""
    args = arguments()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # through the end of main, which ends the programs too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    domain = os.environ.setdefault("ROS_DOMAIN_ID", str(100 + os.getpid() % 100))
    walk = Walk(int(domain), args.velocity, args.turn, args.clock > 0.0)
    programs = started(args.robot, args.clock)
    columns = "time [s] | height [m] | tilt [deg] | velocity off [m/s] | controller | missed solves"
    columns += " | missed commands | solve p50 / p99 [ms] | odometry [Hz] | age p50 / p99 [ms]"
    columns += " | overruns | simulator | estimator | MPC [cores]"
    print(f"| {columns} |\n" + "|---" * 14 + "|", flush=True)
    try:
        walk_on(walk, args, [program.pid for program in programs])
        fallen = walk.fallen()
    finally:
        end(*reversed(programs))
    late = json.loads(programs[0].stdout.read() or "{}").get("late_s", float("nan"))
    rows = walk.since(walk.walking_since + RAMP)
    errors = (rows[:, 3] - args.velocity) ** 2 + rows[:, 4] ** 2
    off = np.sqrt(np.mean(errors)) if len(rows) else np.nan
    said = f"{'FELL OR BRAKED: ' + walk.controller.get('message', '') if fallen else 'walked'}, "
    print(f"\n{said}velocity off by {off:.3f} m/s (rms), late in all: {late:.2f} s")
    return int(fallen)


if __name__ == "__main__":
    sys.exit(main())
